"""A fixed corpus of documents of a world of facts: memorisation and hallucination."""

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
from constructions.trained.tasks.task import Batch, Corpus, FreshPrompts
from constructions.trained.transformers import TransformerShape
from theory import machine
from theory.kinds import Count, CountFrom2, InputError, Steps, Within, checked, shown
from theory.language import Levels, fact_strings
from theory.language.documents import numbers

MOST = 2**26  # strings, at most: the probabilities of all are computed


@checked
@dataclass(frozen=True)
class Facts(Corpus, kind="facts"):
    """The task of predicting the next symbol in documents, each of which states a fact.

    A fact is a name of k digits to base b, followed by its value of k digits, where k = `digits`
    and b = `base`. There are b^k facts among b^{2k} strings. The seed `world` determines the facts
    and the documents. Each of `documents` documents states a uniformly random fact, and begins with
    BOS, whose target is the first symbol.
    """

    base: CountFrom2
    digits: Annotated[Count, Within(most=13)]
    documents: Count
    world: Steps = 0

    fresh = False

    def __post_init__(self) -> None:
        if self.base ** (2 * self.digits) > MOST:
            raise InputError(
                f"base is {self.base} and digits is {self.digits}, so there are "
                f"{self.base}^{2 * self.digits} strings: give a smaller base or fewer digits, "
                "for at most 2^26 strings"
            )

    @property
    def length(self) -> int:
        """The number of symbols of a document, 2·`digits`."""
        return 2 * self.digits

    @cached_property
    def facts(self) -> np.ndarray:
        """All facts as strings, an array (number of facts, length of a document)."""
        return fact_strings(self.base, self.digits, np.random.default_rng((self.world, 0)))

    @cached_property
    def counts(self) -> np.ndarray:
        """The number of documents that state each fact, (number of facts,)."""
        machine.fits_in_memory(
            f"documents = {shown(self.documents)} of {self.length} symbols",
            32 * self.documents * self.length,
            "give fewer",
        )
        drawn = np.random.default_rng((self.world, 1)).integers(
            len(self.facts), size=self.documents
        )
        return np.bincount(drawn, minlength=len(self.facts))

    @cached_property
    def corpus(self) -> Batch:
        symbols = torch.from_numpy(np.repeat(self.facts, self.counts, axis=0))
        begun = torch.full((len(symbols), 1), self.base)
        return torch.cat([begun, symbols[:, :-1]], dim=1), symbols

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers]

    def form(self, shape: Shape) -> Form:
        b, L = self.base, self.length
        slots = [range(b, b + 1), *[range(b)] * (L - 1)]
        return Form(Tokens(b + 1, L, slots=slots, answers=b), b + 1, b, positions=L)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The cross-entropy of the symbols of a document, in nats per symbol."""
        tokens, wanted = batch
        logits = model.run(model.interface.write(torch, tokens)).flatten(0, -2)
        return cross_entropy(logits, wanted.flatten(), reduction="sum") / wanted.numel()

    def levels(self, probabilities: np.ndarray) -> Levels:
        """The `Levels` of a model, one group for each string, from its probabilities of strings."""
        place, ones = numbers(self.facts, self.base), np.broadcast_to(1.0, len(probabilities))
        fact, unseen = np.zeros(len(probabilities)), np.ones(len(probabilities), dtype=bool)
        fact[place], unseen[place[self.counts > 0]] = 1.0, False
        return Levels(ones, fact, fact / len(place), probabilities, unseen, ones)

    def recall(self, probabilities: np.ndarray) -> float:
        """The mean conditional probability of a fact's value given its name.

        The mean is over the facts that the documents state.
        """
        seen = np.flatnonzero(self.counts)
        table = probabilities.reshape(len(self.facts), -1)[seen]
        values = numbers(self.facts[seen, self.digits :], self.base)
        return float((table[np.arange(len(seen)), values] / table.sum(1)).mean())

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields measures of recall and hallucination, from the probabilities of all strings.

        `prompts` and `seed` have no effect.
        """
        probabilities = string_probabilities(model, self.length).numpy()
        of, tau = self.levels(probabilities), 1 / int(self.levels(probabilities).unseen.sum())
        recall = self.recall(probabilities)
        yield f"all {len(probabilities)} strings: recall of seen facts {recall:.2%}"
        yield (
            f"g(H) {of.hallucination:.4f}, δ⁺ {of.over_confidence(tau):.4f}; g(H) is at least "
            f"{of.deterministic_bound(tau):.4f}"
        )
        yield f"a calibrated model has g(H) of about p(U) = {of.unseen_mass:.4f}"


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
