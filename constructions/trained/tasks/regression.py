"""In-context linear regression [Garg2022].

Transformers and LSTMs read x₁, y₁, x₂, y₂, …, x_query, and their output at x_t is the prediction of
y_t from the examples before it, so one pass gives predictions for every prefix.  Transformers of
linear attention read a token (x_i, y_i) for each example and predict at the queries after them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import pad

from constructions.examples import Examples, alternating, packed
from constructions.interface import Model
from constructions.seeds import torch_generator
from constructions.trained.configuration import LEARNING, presets
from constructions.trained.form import Form
from constructions.trained.lstm import LSTMShape
from constructions.trained.models import Shape
from constructions.trained.tasks.task import CHUNK, Batch, Curriculum, FreshPrompts, Task, Training
from constructions.trained.transformers import TransformerShape
from theory import machine
from theory.kinds import Count, InputError, NonNegative, Steps, checked, shown
from theory.regression import PrefixSpectrum, gaussian_prompts, ill_conditioned_prompts

LARGE = 100.0  # the large eigenvalues of the ill-conditioned task
NOISE = 1e-6, 1e6  # the range in which float32 adds noise to labels of about √d
QUERIES = 8  # after the same examples, for models that predict at queries only


@checked
@dataclass(frozen=True)
class Regression(Task, kind="regression"):
    """The task of in-context linear regression, y_t = ⟨w, x_t⟩ + noise·ε_t [Garg2022].

    A prompt has weights w ~ N(0, I) in d dimensions, and for t = 1, …, `points` inputs
    x_t ~ N(0, Σ) and noise ε_t ~ N(0, 1), all independent. If `covariance` is "isotropic", Σ is the
    identity I. If `covariance` is "ill-conditioned", ⌊d/2⌋ eigenvalues of Σ are 100 and the others
    are 1, with a new random eigenbasis for each prompt [Fu2024].
    """

    d: Count
    points: Count
    covariance: Literal["isotropic", "ill-conditioned"] = "isotropic"
    noise: NonNegative = 0.0

    models = "transformer", "lstm"
    taught = True

    def __post_init__(self) -> None:
        low, high = NOISE
        if self.noise and not low <= self.noise <= high:
            raise InputError(f"noise is {self.noise}: give 0, or a number from {low:g} to {high:g}")

    @property
    def scale(self) -> float:
        """The scale by which a model divides inputs and labels.

        It is the square root of the mean of ‖x‖²/d over inputs x in d dimensions.
        """
        if self.covariance == "isotropic":
            return 1.0
        large = self.d // 2
        return math.sqrt((large * int(LARGE) + self.d - large) / self.d)

    def form(self, shape: Shape) -> Form:
        n = self.points - 1
        if _queries(shape) > 1:
            if not n:
                raise InputError("points is 1: give at least 2 points for linear attention")
            interface = Examples(self.d, packed, n=n, scale=self.scale)
            return Form(interface, self.d + 1, 1, mask="context-only", scale=1 / n)
        interface = Examples(self.d, alternating, n=n, at_most=True, scale=self.scale)
        return Form(interface, self.d, 1, positions=2 * n + 1)

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns inputs x (count, points, d), labels y (count, points), and the mask of the loss.

        Inputs have d coordinates. The mask (count, predictions) is 1 for predictions that the loss
        contains, and otherwise 0. Under a curriculum, early training steps have inputs whose last
        coordinates are 0, and a loss that contains only the first predictions.
        """
        generator = torch_generator(seed)
        d, until = self.d, self.points
        if made.curriculum is not None:
            d, until = made.curriculum.reached(step)
        queries = _queries(made.shape)
        points = self.points - 1 + queries
        x, y = self.examples(count, generator, d=min(d, self.d), points=points)
        if queries > 1:
            return x, y, x.new_ones(count, queries)
        counted = torch.arange(points, device=x.device) < until
        return x, y, counted.expand(count, points).float()

    def examples(self, count: int, seed: int | Generator, *, d: int, points: int) -> Batch:
        """Returns inputs x (count, points, self.d) and labels y (count, points).

        Labels are linear in x with noise. Coordinates of x beyond the first `d` are 0 [Garg2022].
        The tensors are on the device of `seed`.
        """
        generator = torch_generator(seed)
        device = generator.device
        machine.fits_in_memory(
            f"prompts of points = {shown(points)} in d = {shown(self.d)} dimensions",
            4 * count * (points * (d + self.d) + (d * d) * (self.covariance != "isotropic")),
            "give smaller numbers",
        )

        def normal(*shape: int) -> Tensor:
            return torch.randn(shape, generator=generator, device=device)

        x, w = normal(count, points, d), normal(count, d, 1)
        if self.covariance == "ill-conditioned":
            large = torch.full((d // 2,), math.sqrt(LARGE), device=device)
            # Q of a Gaussian matrix is Haar-distributed if the diagonal of R is made positive; its
            # signs do not matter here, since x is symmetric in every coordinate.
            basis = torch.linalg.qr(normal(count, d, d)).Q
            x = (x * torch.cat([large, large.new_ones(d - d // 2)])) @ basis.mT
        y = (x @ w).squeeze(-1)
        if self.noise:
            y = y + self.noise * normal(count, points)
        return pad(x, (0, self.d - d)), y

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The mean squared error of the predictions in the mask, for labels divided by `scale`."""
        x, y, counted = batch
        n = self.points - 1
        queries = x[:, n:].transpose(0, 1).squeeze(0)  # a single query has no dimension
        predictions = model.run(model.interface.write(torch, x[:, :n], y[:, :n], queries))[..., 0]
        squares = (predictions - y[:, -predictions.shape[-1] :] / self.scale).square()
        return (squares * counted).sum() / counted.sum()

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields the mean squared error divided by d, for several numbers of examples."""
        draw = gaussian_prompts if self.covariance == "isotropic" else ill_conditioned_prompts
        drawn = draw(prompts, self.points - 1, self.d, noise=self.noise, seed=seed)
        labels = np.concatenate([drawn.y, drawn.y_query[:, None]], axis=1)
        spectrum = PrefixSpectrum(drawn.x, drawn.y, drawn.x_query)
        # The Bayes predictor for w ~ N(0, I).
        best = spectrum.ridge([self.noise**2])[0] if self.noise else spectrum.ols()
        kind = f"ridge, {self.noise**2:g}" if self.noise else "least squares"
        parts = [slice(start, start + CHUNK) for start in range(0, prompts, CHUNK)]
        outputs = [model(drawn.x[i], drawn.y[i], drawn.x_query[i]) for i in parts]
        predicted = torch.cat(outputs).detach().double().numpy().reshape(prompts, -1)
        yield f"{'examples':>8}  {'trained':>16}  {kind:>16}   (squared error over d)"
        for examples in range(self.points - predicted.shape[1], self.points):
            t = examples - self.points  # from the end, where every model has a prediction
            squares = [(each[:, t] - labels[:, t]) ** 2 / self.d for each in (predicted, best)]
            # The mean and its standard error.
            cells = [f"{e.mean():.4f} ± {e.std(ddof=1) / len(e) ** 0.5:.4f}" for e in squares]
            yield f"{examples:8}  {cells[0]:>16}  {cells[1]:>16}"

    def words(self, name: str, size: str, layers: str) -> list[str]:
        covariance = [self.covariance] * (self.covariance != "isotropic")
        noise = [f"noise{self.noise:g}"] * (self.noise > 0)
        return [*covariance, *noise, *[layers] * (size == "linear")]


def _queries(shape: Shape) -> int:
    """The number of queries after the examples of a prompt, for models of this shape."""
    linear = isinstance(shape, TransformerShape) and shape.normalise == "linear"
    return QUERIES if linear else 1


SHORT = LEARNING | {"steps": 12_000, "warmup": 500}
LONG = LEARNING | {"steps": 60_000, "warmup": 1000, "learning_rate": 5e-4}
TEN = LONG | {"learning_rate": 1e-3, "curriculum": Curriculum(5, 11, 1000)}
PAPER = {"steps": 500_001, "learning_rate": 1e-4, "curriculum": Curriculum(5, 11, 2000)}
LINEAR = TransformerShape(2, 4, 32, 0, layer_norm=False, normalise="linear")
PRESETS = presets(
    small=(Regression(5, 11), SHORT, TransformerShape(6, 4, 64, 256), LSTMShape(3, 128)),
    ten=(Regression(10, 21), TEN, TransformerShape(12, 4, 64, 256), LSTMShape(5, 128)),
    medium=(Regression(10, 21), LONG, TransformerShape(8, 8, 128, 512), LSTMShape(5, 256)),
    paper=(Regression(20, 41), PAPER, TransformerShape(12, 8, 256, 1024), LSTMShape(10, 256)),
    linear=(Regression(5, 21), SHORT | {"steps": 10_000}, LINEAR),
)
