"""The parity of some letters of a word, with the steps of its tree or as an answer alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.tokens import Tokens
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import CHUNK, Batch, Labelling
from constructions.trained.transformers import TransformerShape
from theory.kinds import Count, Steps, checked
from theory.language.parity_tree import ParityTree, parity_tree, tree_sizes


@checked
@dataclass(frozen=True)
class Parity(Labelling, kind="parity"):
    """Uniform words of `d` letters 0 and 1; wanted is the parity of `k` of them, which the seed
    `world` draws.  With `say` = "steps" the nodes of a tree over them are written and wanted one
    after the other, the last of them the parity [KimSuzuki2025]; with "answer" the parity alone."""

    d: Count
    k: Count
    say: Literal["steps", "answer"] = "steps"
    world: Steps = 0

    def __post_init__(self) -> None:
        tree_sizes(self.d, self.k)

    @cached_property
    def tree(self) -> ParityTree:
        """The letters, in the order of the leaves, and the nodes above them."""
        order = np.random.default_rng(self.world).permutation(self.d)
        return parity_tree(self.d, order[: self.k].tolist())

    @property
    def said(self) -> int:
        """How many tokens a model says, the parity last."""
        return self.k - 1 if self.say == "steps" else 1

    def form(self, shape: Shape) -> Form:
        read = self.d + self.said - 1
        return Form(Tokens(2, read), 2, 2, positions=read)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [self.say]

    def nodes(self, letters: Tensor) -> Tensor:
        """The nodes of words (…, d), as letters 0 and 1, (…, k − 1)."""
        tokens = list(letters.unbind(-1))
        for a, b in self.tree.children.tolist():
            tokens.append(tokens[a] ^ tokens[b])
        return torch.stack(tokens[self.d :], dim=-1)

    def sequences(self, count: int, generator: Generator) -> Batch:
        device = generator.device
        letters = torch.randint(2, (count, self.d), generator=generator, device=device)
        following = self.nodes(letters)[:, -self.said :]
        blank = torch.full((count, self.d - 1), -1, device=device)
        tokens = torch.cat([letters, following[:, :-1]], dim=1)
        return tokens, torch.cat([blank, following], dim=1)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The entropy of what is wanted, in nats a token that is said."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens))[:, self.d - 1 :]
        said = wanted[:, self.d - 1 :]
        total = cross_entropy(logits.flatten(0, 1), said.flatten(), reduction="sum")
        return total / said.numel()

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return "best possible: 100.00% right, 0 nats; by chance 50%"

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """As other tasks over tokens; then the parity, where the model goes on from its own
        steps."""
        yield from super().evaluate(model, prompts, seed)
        letters = self.sequences(prompts, Generator().manual_seed(seed))[0][:, : self.d]
        said = torch.cat([model.generate(each, self.said) for each in letters.split(CHUNK)])
        right = (said[:, -1] == self.nodes(letters)[:, -1]).double().mean()
        yield f"the parity, after its own steps: {float(right):.2%} right"


PRESETS = presets(
    small=(
        Parity(16, 8),
        {"steps": 1_000, "learning_rate": 3e-3, "batch_size": 128},
        TransformerShape(1, 2, 64, 128),
    ),
)
