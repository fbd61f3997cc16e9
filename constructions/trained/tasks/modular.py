"""The task modular: the sum modulo p of all pairs of numbers below p, with a norm penalty."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from constructions.arithmetic.sums import Sums
from constructions.interface import Model
from constructions.seeds import TorchSeed
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.quadratic import QuadraticShape
from constructions.trained.tasks.task import Batch, Corpus, Labelling, PromptCount
from theory import machine
from theory.arithmetic.congruence import odd_modulus
from theory.kinds import Count, NonNegative, Within, checked, shown


@checked
@dataclass(frozen=True)
class ModularAddition(Corpus, Labelling, kind="modular"):
    """The task of adding two numbers modulo p, trained on all pairs with a norm penalty.

    The loss is the cross-entropy plus `penalty` · Σ_i ‖θ_i‖³, where θ_i = (u_i, v_i, w_i) are the
    input weights u_i and v_i and the output weights w_i of neuron i. [Morwani2023] divides the
    margin by this norm to define the normalised margin.
    """

    p: Annotated[Count, Within(least=3)]
    penalty: NonNegative

    models = ("quadratic",)

    def __post_init__(self) -> None:
        odd_modulus(self.p)

    def form(self, shape: Shape) -> Form:
        return Form(Sums(self.p, self.p, None), self.p + 1, self.p)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return []

    @property
    def corpus(self) -> Batch:
        """All pairs of numbers below p, (p², 2), and their sums modulo p, (p², 1)."""
        machine.fits_in_memory(
            f"pairs below p = {shown(self.p)}", 40 * self.p**2, "give a smaller p"
        )
        pairs = torch.cartesian_prod(torch.arange(self.p), torch.arange(self.p))
        return pairs, pairs.sum(-1, keepdim=True) % self.p

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        corpus = self.corpus
        chosen = torch.randint(self.p**2, (count,), generator=seed, device=seed.device)
        return tuple(part.to(seed.device)[chosen] for part in corpus)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        squares = sum((table**2).sum(1) for table in model.parameters())
        return super().loss(model, *batch) + self.penalty * (squares**1.5).sum()

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return "best possible: 100.00% right, 0 nats"


def _preset(p: int, n_neurons: int, penalty: float, steps: int) -> tuple:
    learned = {"steps": steps, "learning_rate": 1e-2, "batch_size": p * p, "final_rate": 0.0}
    return ModularAddition(p, penalty), learned, QuadraticShape(n_neurons)


PRESETS = presets(
    p7=_preset(7, 48, 1e-4, 4000),
    p11=_preset(11, 80, 1e-4, 4000),
    p23=_preset(23, 352, 1e-5, 8000),
)
