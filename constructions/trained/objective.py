"""What training lowers: a loss for each task, on prompts drawn on the device.

Losses are sums over what is predicted divided by a number that does not depend on the data, so that
the mean over the parts of a batch is the loss of the whole.
"""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, mse_loss

from constructions.regression.regressor import InContextRegression
from constructions.trained import regression
from constructions.trained.configuration import Bigrams, Configuration, Hop, Regression
from constructions.trained.models import Model, TokenTransformer
from constructions.trained.sequences import draw_bigrams, draw_hops

Batch = tuple[Tensor, Tensor]
QUERIES = 8  # for the same examples, where a model answers queries only


def draw(
    configuration: Configuration, batch: int, generator: torch.Generator, *, step: int
) -> Batch:
    """`batch` prompts for a step, on the generator's device."""
    task = configuration.task
    if isinstance(task, Hop):
        return draw_hops(task, batch, generator)
    if isinstance(task, Bigrams):
        return draw_bigrams(task, batch, generator)
    curriculum = configuration.curriculum
    d = task.d if curriculum is None else min(task.d, curriculum.d + step // curriculum.every)
    further = QUERIES - 1 if configuration.answers_queries else 0
    x, y = regression.draw(task, batch, generator, d=d, points=task.points + further)
    return x / regression.scale(task), y / regression.scale(task)


def loss(model: Model, inputs: Tensor, wanted: Tensor, counted: Tensor) -> Tensor:
    """The mean squared error of the predictions that are counted, or the entropy of tokens.

    inputs x (batch, n, d) and wanted y (batch, n), or tokens and tokens, both (batch, T); counted
    (n,) is 1 for the labels that count and else 0, and is for regression on every prefix.
    """
    if isinstance(model, TokenTransformer):
        logits = model.run(inputs, inputs.shape[-1])
        total = cross_entropy(
            logits.flatten(0, -2), wanted.flatten(), ignore_index=-1, reduction="sum"
        )
        return total / wanted.numel()
    if isinstance(model, InContextRegression):
        assert model.n is not None
        x, y = inputs[:, : model.n], wanted[:, : model.n]
        tokens, n = model.encode(torch, x, y, inputs[:, model.n :])
        return mse_loss(model.run(tokens, n)[:, n:, 0], wanted[:, n:])
    squares = (model.predict(inputs, wanted[:, :-1]) - wanted).square()
    return (squares.mean(0) * counted).sum() / counted.sum()


def counted(configuration: Configuration, step: int) -> Tensor:
    """Which points of a prompt count at a step: all, or the first ones under a curriculum."""
    task, curriculum = configuration.task, configuration.curriculum
    total = task.points if isinstance(task, Regression) else task.length
    if curriculum is None:
        return torch.ones(total)
    return (torch.arange(total) < curriculum.points + 2 * (step // curriculum.every)).float()
