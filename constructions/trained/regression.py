"""In-context linear regression as a task to train on, and the prompt that trained models read.

The prompt is that of [Garg2022]: x₁, y₁, x₂, y₂, …, x_n, y_n, x_query, one token each, a label
padded with zeros to the width of an input.  What a model says at x_t is its prediction of y_t from
the examples before it, so one pass makes a prediction for every prefix.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import torch
from torch import Tensor, nn

from constructions.tensors import as_tensor
from constructions.trained.configuration import Regression
from theory import checks
from theory.checks import InputError

LARGE = 100.0  # the large eigenvalues of the ill-conditioned task


def draw(
    task: Regression, batch: int, generator: torch.Generator, *, d: int, points: int
) -> tuple[Tensor, Tensor]:
    """`batch` prompts, x (batch, points, task.d) and y (batch, points), on the generator's device.

    Coordinates beyond the first `d` are 0, as the curriculum of [Garg2022] has them.
    """
    device = generator.device

    def normal(*shape: int) -> Tensor:
        return torch.randn(shape, generator=generator, device=device)

    x, w = normal(batch, points, d), normal(batch, d, 1)
    if task.covariance == "ill-conditioned":
        large = torch.full((d // 2,), math.sqrt(LARGE), device=device)
        # Q of a Gaussian matrix is Haar-distributed if the signs of R's diagonal are made positive;
        # here they do not matter, since x is symmetric in every coordinate.
        basis = torch.linalg.qr(normal(batch, d, d)).Q
        x = (x * torch.cat([large, large.new_ones(d - d // 2)])) @ basis.mT
    y = (x @ w).squeeze(-1)
    if task.noise:
        y = y + task.noise * normal(batch, points)
    return nn.functional.pad(x, (0, task.d - d)), y


def scale(task: Regression) -> float:
    """√(E‖x‖²/d), by which inputs and labels are divided before a model sees them."""
    if task.covariance == "isotropic":
        return 1.0
    return math.sqrt(((task.d // 2) * LARGE + task.d - task.d // 2) / task.d)


def tokens(x: Tensor, y: Tensor) -> Tensor:
    """x (…, n + 1, d) and y (…, n) as the prompt (…, 2n + 1, d)."""
    labels = nn.functional.pad(y.unsqueeze(-1), (0, x.shape[-1] - 1))
    pairs = torch.stack([x[..., :-1, :], labels], dim=-2).flatten(-3, -2)
    return torch.cat([pairs, x[..., -1:, :]], dim=-2)


class InContextRegressor(nn.Module, ABC):
    """What trained models for regression share: how they are called.

    Subclasses have `n_layers`, `run` and `residual_stream` as the project's transformer has.
    """

    task: Regression

    @property
    @abstractmethod
    def n_layers(self) -> int:
        """The number of layers."""

    @abstractmethod
    def run(self, tokens: Tensor, n_examples: int) -> Tensor:
        """Outputs (…, T, d_out)."""

    @abstractmethod
    def residual_stream(self, tokens: Tensor, n_examples: int) -> Iterator[Tensor]:
        """The stream (…, T, D) after the embedding and after each layer."""

    def forward(self, x: Any, y: Any, x_query: Any) -> Tensor:
        """Predictions (…, n + 1) from examples x (…, n, d), y (…, n) and a query x_query (…, d).

        Entry t is the prediction for example t + 1 (at the end: for the query) from the first t.

        Raises ValueError for shapes that do not fit, NaN or infinite entries, a dimension other
        than the task's, and more examples than were trained on.
        """
        inputs, labels = self._inputs(x, y, x_query)
        return self.predict(inputs, labels) * scale(self.task)

    def predict(self, x: Tensor, y: Tensor) -> Tensor:
        """`forward` for x (…, n + 1, d), the query last, and y (…, n), in units of `scale`."""
        written = tokens(x, y)
        return self.run(written, written.shape[-2])[..., ::2, 0]

    def representations(self, x: Any, y: Any, x_query: Any) -> Iterator[Tensor]:
        """What a read-out would see (…, n + 1, D) where predictions are made.

        First of the embedding, then of each layer; through the final layer norm if there is one, so
        that the model's own read-out is a linear function of the last.
        """
        written = tokens(*self._inputs(x, y, x_query))
        for H in self.residual_stream(written, written.shape[-2]):
            yield self.seen(H[..., ::2, :])

    def seen(self, H: Tensor) -> Tensor:
        """The stream as the read-out sees it."""
        norm = getattr(self, "ln_final", None)
        return H if norm is None else norm(H)

    def _inputs(self, x: Any, y: Any, x_query: Any) -> tuple[Tensor, Tensor]:
        like = next(self.parameters())
        x, y, x_query = (as_tensor(array, like) for array in (x, y, x_query))
        checks.example_shapes(tuple(x.shape), tuple(y.shape), tuple(x_query.shape))
        for label, tensor in (("x", x), ("y", y), ("x_query", x_query)):
            checks.finite(label, bool(torch.isfinite(tensor).all()))
        n, d = x.shape[-2:]
        if d != self.task.d:
            raise InputError(f"x has dimension {d} but the model was trained for {self.task.d}")
        if n >= self.task.points:
            raise InputError(
                f"x has {n} examples but the model was trained with up to {self.task.points - 1}: "
                "give fewer"
            )
        query = x_query.expand(*x.shape[:-2], d).unsqueeze(-2)
        return torch.cat([x, query], dim=-2) / scale(self.task), y / scale(self.task)
