"""Words of the even process, whose next symbol depends on an unbounded past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Tensor

from constructions.seeds import TorchSeed
from constructions.tokens import Tokens
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import Batch, Labelling, PromptCount
from constructions.trained.transformers import TransformerShape
from theory.kinds import Count, Within, checked
from theory.language import conditional_entropy, even_process

BOS, LONGEST = 2, 20  # the token before a word; the largest length, as all words are enumerated


@checked
@dataclass(frozen=True)
class EvenProcess(Labelling, kind="even-process"):
    """The task of predicting the next symbol of the even process, on words of `length` symbols.

    The process is stationary, and runs of 1s between 0s have even length
    (`theory.language.even_process`). Each word begins with BOS, whose target is the first symbol.
    """

    length: Annotated[Count, Within(most=LONGEST)]

    def form(self, shape: Shape) -> Form:
        T = self.length
        slots = [range(BOS, BOS + 1), *[range(BOS)] * (T - 1)]
        return Form(Tokens(BOS + 1, T, slots=slots, answers=BOS), BOS + 1, BOS, positions=T)

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        source, device = even_process(), seed.device
        first = float(source.start[1])
        drawn = torch.rand((self.length + 1, count), generator=seed, device=device)
        owed, symbols = drawn[0] < first, []  # whether the source is in B, which emits 1
        stops = float(source.steps[0][0][0])  # from A, a 0
        for uniform in drawn[1:]:
            symbol = owed | (uniform >= stops)
            symbols.append(symbol)
            owed = symbol & ~owed
        wanted = torch.stack(symbols, dim=-1).long()
        begun = torch.full((count, 1), BOS, device=device)
        return torch.cat([begun, wanted[:, :-1]], dim=1), wanted

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        """The exact entropy per symbol of the even process, as text."""
        T = self.length
        least = sum(float(conditional_entropy(even_process(), t)) for t in range(1, T + 1)) / T
        return f"best possible: {least:.4f} nats a token, the entropy of the source"


PRESETS = presets(
    small=(
        EvenProcess(10),
        {"steps": 1_500, "learning_rate": 3e-3, "batch_size": 128, "final_rate": 0.01},
        TransformerShape(2, 2, 32, 64),
    ),
)
