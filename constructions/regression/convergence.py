"""The condition on the inputs under which the iteration of a model converges."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, isinf, log2, sqrt
from typing import TypeVar

import torch
from torch import Tensor

from constructions.transformer import Transformer
from theory.regression import safe_step_size
from theory.regression.convergence import Method
from theory.regression.newton import Start

M = TypeVar("M", bound=Transformer)
FORMATS = (torch.float32, torch.float64)


@dataclass(frozen=True)
class Convergence:
    """The condition λmax(XᵀX) < limit under which an iteration converges on the inputs X.

    The model computes `steps` steps of the iteration. `bound` describes the condition in words, in
    terms of the argument of the construction that it limits. `method` and `start` are the arguments
    of `safe_step_size`; for Chebyshev's method, which has no step size, `method` is None.
    """

    limit: float
    steps: int
    argument: str
    bound: str
    method: Method | None = None
    start: Start = "gram"

    def holds(self, x: Tensor) -> bool:
        """Whether the iteration converges for all inputs x (…, n, d), float32 or float64."""
        return 0 in x.shape or self._holds(self._gram(x))

    def outside(self, x: Tensor) -> str:
        """How inputs x violate the condition, with the remedy, or "" if they do not.

        The text also names inputs for which α is so small that products in the iteration underflow.
        Numbers in other dtypes than float32 and float64 are not checked.
        """
        if not self.steps or x.dtype not in FORMATS or 0 in x.shape:
            return ""
        gram = self._gram(x.detach())
        if self._underflows(gram):
            return (
                f"its iteration underflows {x.dtype} on these inputs, as {self.argument} times "
                f"λmax(XᵀX){'²' * (self.power == 2)} does: rescale x, or build it with a larger "
                f"{self.argument}"
            )
        if self._holds(gram):
            return ""
        largest = _largest(gram)
        if isinf(largest):
            return f"its iteration overflows {x.dtype} on these inputs, as XᵀX does: rescale x"
        if self.method is None:
            value, remedy = 2.0 ** ceil(log2(largest)), ""
        else:
            descent = self.method == "gradient_descent"
            given: tuple[Method] | tuple[Method, Start]
            given = (self.method,) if descent else (self.method, self.start)
            value = safe_step_size(x.detach().cpu().double().numpy(), *given)
            words = ", ".join(["x", *(f'"{each}"' for each in given)])
            remedy = f", which is safe_step_size({words})"
        return (
            f"its iteration diverges on these inputs, because λmax(XᵀX) is {largest:.4g} and "
            f"{self.bound}: build it with {self.argument}={value:.17g}{remedy}"
        )

    def requirement(self, scale: float) -> str:
        """The condition as a bound on λmax(XᵀX), and on the largest singular value of X.

        The inputs X are divided by `scale` before the iteration.
        """
        if not self.steps:
            return ""
        if self.method is None:
            formula = "smallest + largest"
        elif self.power == 2:
            formula = f"√(2/{self.argument})"
        else:
            formula = f"2/{self.argument}"
        limit, of = self.limit * scale**2, "" if scale == 1 else f"{scale:g}²·"
        return (
            f"iff λmax(XᵀX) < {of}{formula} = {limit:.4g}, "
            f"a largest singular value of X below {sqrt(limit):.4g}"
        )

    @property
    def power(self) -> int:
        """The power of λmax in the condition on α or on the step size."""
        return 2 if self.method not in (None, "gradient_descent") and self.start == "gram" else 1

    def _holds(self, gram: Tensor) -> bool:
        if bool((torch.linalg.matrix_norm(gram) < self.limit).all()):  # at least λmax
            return True
        return _largest(gram) < self.limit

    def _underflows(self, gram: Tensor) -> bool:
        """Whether α·λmax^power is below the normal numbers for some prompt, and not 0.

        The layers multiply α by the products of which XᵀX consists. Layers of gradient descent and
        of Chebyshev's method multiply by labels first.
        """
        if self.method in (None, "gradient_descent"):
            return False
        least, sizes = torch.finfo(gram.dtype).tiny, gram.abs().amax((-2, -1)).double()
        return bool(((sizes > 0) & ((sizes / self.limit) ** self.power < least)).any())

    @staticmethod
    def _gram(x: Tensor) -> Tensor:
        """XᵀX or XXᵀ, which have the same non-zero eigenvalues: the smaller of them."""
        return x @ x.mT if x.shape[-2] < x.shape[-1] else x.mT @ x


def _largest(gram: Tensor) -> float:
    """The largest eigenvalue of matrices (…, k, k), ∞ if one of them overflows."""
    return float(torch.linalg.eigvalsh(gram).max()) if gram.isfinite().all() else inf


def with_step(model: M, method: Method, steps: int, size: float, start: Start) -> M:
    """The model, with the condition for `steps` steps of a method with a step size.

    The condition is size < 2/λmax² from M₀ = size·S (start "gram"), and otherwise size < 2/λmax.
    """
    argument = "step_size" if method == "gradient_descent" else "alpha"
    power = 2 if start == "gram" else 1
    limit = sqrt(2 / size) if power == 2 else 2 / size
    bound = f"{argument} = {size:g} is not below 2/λmax{'²' * (power == 2)}"
    condition = Convergence(limit, steps, argument, bound, method, start)
    model.interface.convergence = condition
    return model


def with_interval(model: M, steps: int, smallest: float, largest: float) -> M:
    """The model, with the condition for `steps` steps of Chebyshev's method: λmax < a + c.

    Here a = `smallest` and c = `largest` are the ends of the interval. At an eigenvalue λ ≥ a + c,
    the residual T_k(l(λ))/T_k(l(0)) is at least 1 in absolute value, because |l(λ)| ≥ |l(0)| ≥ 1;
    at 0 < λ < a + c it tends to 0.
    """
    bound = f"smallest + largest = {smallest + largest:g} is not above it"
    model.interface.convergence = Convergence(smallest + largest, steps, "largest", bound)
    return model
