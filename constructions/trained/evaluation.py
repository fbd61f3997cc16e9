"""What a trained model achieves on fresh prompts, beside what is best possible."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import torch

from constructions.trained import objective
from constructions.trained.checkpoint import load, sidecar
from constructions.trained.configuration import Configuration, Hop, Regression
from constructions.trained.models import Model, TokenTransformer
from theory.regression import PrefixSpectrum, gaussian_prompts, ill_conditioned_prompts
from theory.retrieval import ngram

CHUNK = 250  # prompts at once


def evaluate(name: str | Path, prompts: int, seed: int) -> Iterator[str]:
    """Lines of a table: errors by the number of examples, or accuracy and entropy of tokens."""
    configuration = Configuration.from_json(sidecar(name)["configuration"])
    model = load(name)
    if isinstance(configuration.task, Regression):
        yield from _regression(model, configuration.task, prompts, seed)
        return
    assert isinstance(model, TokenTransformer)
    generator = torch.Generator().manual_seed(seed)
    tokens, wanted = objective.draw(configuration, prompts, generator, step=0)
    counted = wanted >= 0
    parts = [model.logits(chunk) for chunk in tokens.split(CHUNK)]
    logits = torch.cat(parts)[counted]
    entropy = torch.nn.functional.cross_entropy(logits, wanted[counted])
    right = (logits.argmax(-1) == wanted[counted]).double().mean()
    yield f"{prompts} sequences: {float(right):.2%} right, {float(entropy):.4f} nats a token"
    if isinstance(configuration.task, Hop):
        yield "best possible: 100.00% right, 0 nats"
    else:
        V = configuration.task.vocabulary_size
        chances = ngram(tokens.numpy(), V, 2, 1.0)
        given = np.take_along_axis(chances, wanted.numpy()[..., None], axis=-1)
        yield f"best possible (Bayes): {-np.log(given).mean():.4f} nats a token"


def _regression(model: Model, task: Regression, prompts: int, seed: int) -> Iterator[str]:
    """Squared errors over d, as published tables have them."""
    draw = gaussian_prompts if task.covariance == "isotropic" else ill_conditioned_prompts
    drawn = draw(prompts, task.points - 1, task.d, noise=task.noise, seed=seed)
    labels = np.concatenate([drawn.y, drawn.y_query[:, None]], axis=1)
    spectrum = PrefixSpectrum(drawn.x, drawn.y, drawn.x_query)
    # The Bayes predictor for w ~ N(0, I).
    best = spectrum.ridge([task.noise**2])[0] if task.noise else spectrum.ols()
    kind = f"ridge, {task.noise**2:g}" if task.noise else "least squares"
    parts = [slice(start, start + CHUNK) for start in range(0, prompts, CHUNK)]
    with torch.no_grad():
        answers = [model(drawn.x[i], drawn.y[i], drawn.x_query[i]) for i in parts]
    said = torch.cat(answers).double().numpy()
    yield f"{'examples':>8}  {'trained':>16}  {kind:>16}   (squared error over d)"
    if said.ndim == 1:  # it answers the query only
        said, labels, best = said[:, None], labels[:, -1:], best[:, -1:]
    for t in range(said.shape[1]):
        examples = t if said.shape[1] > 1 else task.points - 1
        cells = [_mean((answers[:, t] - labels[:, t]) ** 2 / task.d) for answers in (said, best)]
        yield f"{examples:8}  {cells[0]:>16}  {cells[1]:>16}"


def _mean(values: np.ndarray) -> str:
    """The mean and its standard error."""
    return f"{values.mean():.4f} ± {values.std(ddof=1) / len(values) ** 0.5:.4f}"
