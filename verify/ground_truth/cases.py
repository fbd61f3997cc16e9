"""The circuits of the benchmark: models over tokens, small enough to try all interventions."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any, Literal

import numpy as np

import constructions as c
from constructions.circuits import circuit
from constructions.programs import compiled
from constructions.stock.translated import all_gaps_known
from constructions.tokens import Tokens
from constructions.trained import load
from constructions.transformer import Transformer
from theory.computation import S3, flip_flop
from theory.kinds import Count, InputError, NonNegative, checked, shown
from theory.programs.library.examples import PROGRAMS
from theory.sequences import random_sequences
from verify.ground_truth.decoys import beside
from verify.ground_truth.truth import Truth, links_of, true_links

SAMPLE = 512  # prompts of trained models
MOST_PROMPTS = 2**20  # of hand-built models
MARK = ", with decoys: "  # between the name of a model and the kind of its decoys
Decoys = Literal["silent", "faint"]
DECOYS = {"silent": 0.0, "faint": 0.1}  # of decoys, with the argument `faint` of `beside`


@checked
@dataclass(frozen=True)
class Case:
    """A model, the number of tokens of its prompts, and how its circuit is known.

    The circuit of a hand-built model is known by all interventions on all prompts of at most
    `length` tokens. For a trained model, the links of the model `built` count as true; that both
    have the same circuit is supported by the claim `induction-trained`, and not proved. `decoys` is
    the argument `faint` of `beside`, for a model with decoys, or None.
    """

    name: str
    build: Callable[[], Transformer]
    length: Count
    built: Callable[[], Transformer] | None = None
    decoys: NonNegative | None = None

    def model(self) -> Transformer:
        """The model in float64, with softmax at a β at which all answers are those of hardmax.

        Raises ValueError if a hand-built model is not one over tokens with proved score gaps.
        """
        model = self._made().double()
        if self.built is not None:
            return model
        if not all_gaps_known(model) or model.interface.margin is None:
            raise InputError(
                f"{self.name} is no model over tokens of hard attention with proved score gaps: "
                "give such a model, for example induction_heads"
            )
        model = model.sharpened(max(1.0, 1.01 * model.least_sharpness()))
        return model if self.decoys is None else beside(model, self.prompts(), self.decoys)

    @checked
    def with_decoys(self, kind: Decoys) -> Case:
        """The model with decoys of a kind in `DECOYS`.

        Raises ValueError for another kind, and for a trained model.
        """
        if self.built is not None:
            raise InputError(f"{self.name} is a trained model: give decoys to a hand-built model")
        return replace(self, name=f"{self.name}{MARK}{kind}", decoys=DECOYS[kind])

    def prompts(self) -> np.ndarray:
        """All sequences of `length` tokens; for a trained model, random ones.

        Raises ValueError for a model that is not over tokens, and for too many sequences.
        """
        V = self._made().interface.vocabulary_size
        if self.built is not None:
            return random_sequences(SAMPLE, self.length, V, seed=0)
        if self.length * math.log2(max(V, 2)) > math.log2(MOST_PROMPTS):
            raise InputError(
                f"{self.name} has {shown(V)}^{shown(self.length)} prompts of {shown(self.length)} "
                f"tokens, more than {MOST_PROMPTS}: give a smaller length"
            )
        return np.array([*product(range(V), repeat=self.length)])

    def _made(self) -> Transformer:
        made: Any = self.build()
        if not isinstance(made, Transformer) or not isinstance(made.interface, Tokens):
            raise InputError(
                f"{self.name} builds {shown(made)}: give a function that builds a model over tokens"
            )
        return made

    def truth(self, model: Transformer) -> Truth:
        """The links that matter and those that exist; `model` is that of `to_lens`."""
        if self.built is None:
            return true_links(model, self.length)
        return Truth(links_of(circuit(self.built()).live_edges), links_of(circuit(model).edges))


def _programs() -> tuple[Case, ...]:
    """Programs of the library, compiled for vocabularies of their examples."""

    def case(name: str, length: int) -> Case:
        program, vocabulary = PROGRAMS[name]
        return Case(f"program {name}", lambda: compiled(program, vocabulary, length), length)

    return tuple(case(name, length) for name, length in PROGRAM_LENGTHS.items())


def _trained(name: str) -> Transformer:
    model = load(name)
    assert isinstance(model, Transformer)
    return model


PROGRAM_LENGTHS = {
    "reverse": 4,
    "shift_by(1)": 4,
    "rotate(2)": 4,
    "last_token": 4,
    "swap_pairs": 4,
    "palindrome": 4,
    "histogram": 4,
    "fraction_of_previous": 4,
    "majority": 4,
    "parity": 4,
    "first_occurrence": 4,
    "distinct": 4,
    "has_repeats": 3,
    "most_frequent": 4,
    "maximum": 4,
    "rank": 4,
    "sort": 4,
    "is_sorted": 4,
    "argmax": 4,
    "detect_pattern": 5,
    "induction": 4,
    "runs": 4,
    "depth": 4,
    "balanced": 4,
}

CASES: tuple[Case, ...] = (
    Case("induction, latest", lambda: c.induction_heads(3, 4), 4),
    Case("induction, first", lambda: c.induction_heads(3, 4, "first"), 4),
    Case("induction, mean", lambda: c.induction_heads(3, 4, "mean"), 4),
    Case("1 hop", lambda: c.hop(1, 3, 4), 4),
    Case("2 hops", lambda: c.hop(2, 2, 6), 6),
    Case("3 hops", lambda: c.hop(3, 2, 6), 6),
    Case("n-grams, order 2", lambda: c.in_context_ngram(3, 4, 2), 4),
    Case("n-grams, order 3", lambda: c.in_context_ngram(2, 5, 3), 5),
    Case("gridworld", lambda: c.gridworld_walk(2, 5), 5),
    Case("Dyck, 1 type", lambda: c.dyck(1, 6), 6),
    Case("Dyck, 2 types", lambda: c.dyck(2, 4), 4),
    Case("past LTL", lambda: c.from_formula("once (a and yesterday b)", "ab", 5), 5),
    Case("parity", lambda: c.parity(5), 5),
    Case("parity at each symbol", lambda: c.parity(5, causal=True), 5),
    Case("majority", lambda: c.majority(5), 5),
    Case("S3", lambda: c.semiautomaton(S3, 5), 5),
    Case("flip-flop", lambda: c.semiautomaton(flip_flop(2), 4), 4),
    Case("S3 by shortcut", lambda: c.shortcut(S3, 4), 4),
    Case("conjunction", lambda: c.conjunction(5, [0, 3]), 5),
    *_programs(),
    *(
        Case(
            f"trained induction, seed {seed}",
            partial(_trained, f"induction-small-2-layers-seed{seed}"),
            16,
            lambda: c.induction_heads(16, 64),
        )
        for seed in range(3)
    ),
)
"""The circuits of the benchmark."""
