"""The parity of some bits of a word, with or without a chain of thought."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.seeds import TorchSeed
from constructions.tokens import Tokens
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, Labelling, PromptCount
from constructions.trained.transformers import TransformerShape
from theory.kinds import Count, Steps, checked
from theory.language.parity_tree import ParityTree, parity_tree, tree_sizes


@checked
@dataclass(frozen=True)
class Parity(Labelling, kind="parity"):
    """The task of computing the parity of k fixed positions of d uniform random bits.

    The seed `world` determines the k positions. With `say` = "steps", the tokens after the bits are
    a chain of thought [KimSuzuki2025]: the values of the nodes of a tree over the k bits. The last
    of these values is the parity. With `say` = "answer", the only token after the bits is the
    parity.
    """

    d: Count
    k: Count
    say: Literal["steps", "answer"] = "steps"
    world: Steps = 0

    def __post_init__(self) -> None:
        tree_sizes(self.d, self.k)

    @cached_property
    def tree(self) -> ParityTree:
        """The tree of the chain of thought; its leaves are the k positions of the bits."""
        order = np.random.default_rng(self.world).permutation(self.d)
        return parity_tree(self.d, order[: self.k].tolist())

    @property
    def n_generated(self) -> int:
        """The number of tokens that a model generates; the last token is the parity."""
        return self.k - 1 if self.say == "steps" else 1

    def form(self, shape: Shape) -> Form:
        read = self.d + self.n_generated - 1
        return Form(Tokens(2, read), 2, 2, positions=read)

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [self.say]

    def nodes(self, bits: Tensor) -> Tensor:
        """The values (…, k − 1), 0 or 1, of the nodes of the tree for `bits` (…, d)."""
        tokens = list(bits.unbind(-1))
        for a, b in self.tree.children.tolist():
            tokens.append(tokens[a] ^ tokens[b])
        return torch.stack(tokens[self.d :], dim=-1)

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        device = seed.device
        bits = torch.randint(2, (count, self.d), generator=seed, device=device)
        following = self.nodes(bits)[:, -self.n_generated :]
        blank = torch.full((count, self.d - 1), -1, device=device)
        tokens = torch.cat([bits, following[:, :-1]], dim=1)
        return tokens, torch.cat([blank, following], dim=1)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The mean cross-entropy of the generated tokens, in nats per token."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens))[:, self.d - 1 :]
        targets = wanted[:, self.d - 1 :]
        total = cross_entropy(logits.flatten(0, 1), targets.flatten(), reduction="sum")
        return total / targets.numel()

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        return "best possible: 100.00% right, 0 nats; guessing 50%"

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields accuracy and cross-entropy of the tokens, then the accuracy of the parity."""
        yield from super().evaluate(model, prompts, seed)
        bits = self.sequences(prompts, seed)[0][:, : self.d]
        found = torch.cat([model.generate(each, self.n_generated) for each in bits.split(CHUNK)])
        right = (found[:, -1] == self.nodes(bits)[:, -1]).double().mean()
        yield f"the parity by autoregressive decoding: {float(right):.2%} right"


PRESETS = presets(
    small=(
        Parity(16, 8),
        {"steps": 1_000, "learning_rate": 3e-3, "batch_size": 128},
        TransformerShape(1, 2, 64, 128),
    ),
)
