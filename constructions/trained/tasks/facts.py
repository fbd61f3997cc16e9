"""Documents of a world of facts, a fixed corpus: what is learned by heart, and what is made up."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.language.sampling import string_probabilities
from constructions.tokens import Tokens
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import Batch, Corpus
from constructions.trained.transformers import TransformerShape
from theory.kinds import Count, CountFrom2, InputError, Steps, Within, checked
from theory.language import Levels, fact_strings
from theory.language.documents import numbers

MOST = 2**26  # strings, all of which are scored


@checked
@dataclass(frozen=True)
class Facts(Corpus, kind="facts"):
    """A name of k = `digits` digits to `base`, and its value: b^k facts among b^{2k} strings, of
    which `documents` are drawn uniformly, both by the seed `world`.  Wanted after BOS and each
    letter but the last is the next letter."""

    base: CountFrom2
    digits: Annotated[Count, Within(most=13)]
    documents: Count
    world: Steps = 0

    def __post_init__(self) -> None:
        if self.base ** (2 * self.digits) > MOST:
            raise InputError(
                f"there are {self.base}^{2 * self.digits} strings: give at most 2^26, "
                "as all are scored"
            )

    @property
    def length(self) -> int:
        """L, the letters of a document."""
        return 2 * self.digits

    @cached_property
    def facts(self) -> np.ndarray:
        """All facts as strings (b^k, L)."""
        return fact_strings(self.base, self.digits, np.random.default_rng((self.world, 0)))

    @cached_property
    def counts(self) -> np.ndarray:
        """How many of the documents have each fact (b^k,)."""
        drawn = np.random.default_rng((self.world, 1)).integers(
            len(self.facts), size=self.documents
        )
        return np.bincount(drawn, minlength=len(self.facts))

    @cached_property
    def corpus(self) -> Batch:
        letters = torch.from_numpy(np.repeat(self.facts, self.counts, axis=0))
        begun = torch.full((len(letters), 1), self.base)
        return torch.cat([begun, letters[:, :-1]], dim=1), letters

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers]

    def form(self, shape: Shape) -> Form:
        b, L = self.base, self.length
        slots = [range(b, b + 1), *[range(b)] * (L - 1)]
        return Form(Tokens(b + 1, L, slots=slots, answers=b), b + 1, b, positions=L)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The entropy of the letters of a document, in nats a letter."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens)).flatten(0, -2)
        return cross_entropy(logits, wanted.flatten(), reduction="sum") / wanted.numel()

    def said(self, chances: np.ndarray) -> Levels:
        """A model of these chances of all strings (b^L,): each string a group of its own."""
        place, ones = numbers(self.facts, self.base), np.broadcast_to(1.0, len(chances))
        fact, unseen = np.zeros(len(chances)), np.ones(len(chances), dtype=bool)
        fact[place], unseen[place[self.counts > 0]] = 1.0, False
        return Levels(ones, fact, fact / len(place), chances, unseen, ones)

    def recall(self, chances: np.ndarray) -> float:
        """Given the name of a fact that was seen, the chance of its value; the mean over them."""
        seen = np.flatnonzero(self.counts)
        table = chances.reshape(len(self.facts), -1)[seen]
        values = numbers(self.facts[seen, self.digits :], self.base)
        return float((table[np.arange(len(seen)), values] / table.sum(1)).mean())

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """What the model says of all strings; `prompts` and `seed` have no part in it."""
        chances = string_probabilities(model, self.length).numpy()
        of, tau = self.said(chances), 1 / int(self.said(chances).unseen.sum())
        yield f"all {len(chances)} strings: {self.recall(chances):.2%} of what was seen is known"
        yield (
            f"g(H) {of.hallucination:.4f}, over-confident by {of.over_confidence(tau):.4f}: at "
            f"least {of.deterministic_bound(tau):.4f} is made up"
        )
        yield f"calibrated: g(H) about {of.unseen_mass:.4f}, the chance of what was not seen"


PRESETS = presets(
    small=(
        Facts(64, 2, 2048),
        {"steps": 1_536, "learning_rate": 3e-3, "batch_size": 128, "final_rate": 0.01},
        TransformerShape(2, 4, 64, 256),
    ),
    tiny=(
        Facts(16, 2, 128),
        {"steps": 600, "learning_rate": 3e-3, "batch_size": 32, "final_rate": 0.01},
        TransformerShape(2, 2, 32, 64),
    ),
)
