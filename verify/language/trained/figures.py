"""What is measured of a model trained on facts, all strings scored."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from constructions.trained.tasks.facts import Facts
from theory.language import printed_bound
from theory.language.documents import numbers, probabilities_of_seen
from theory.language.worlds import ModelName
from verify.language.bounds import shown

CHANCE = 0.01  # with which the printed bound may fail
BINS = 10  # of equal g, for miscalibration


class Figures(NamedTuple):
    """Of one model: recall of what was seen, g(H), δ⁺ at 1/|U|, Mis in ten bins, the bounds (with
    that Mis for the printed one), and p(U)."""

    recall: float
    said: float
    over: float
    miscalibration: float
    sure: float
    printed: float
    unseen: float

    def __str__(self) -> str:
        return (
            f"recall {self.recall:.3f}, g(H) {self.said:.3f}, δ⁺ {self.over:.3f}, "
            f"sure {shown(self.sure, 3)}, printed {shown(self.printed, 3)}"
        )


class Kept(NamedTuple):
    """A model that was kept after so many steps."""

    steps: int
    figures: Figures


def figures(task: Facts, chances: np.ndarray) -> Figures:
    """The figures of a model that gives these chances to all strings (b^L,)."""
    of = task.said(chances)
    tau, facts = 1 / int(of.unseen.sum()), len(task.facts)
    once = float((task.counts == 1).sum() / task.documents)
    apart = of.miscalibration_in(BINS)
    return Figures(
        task.recall(chances),
        float(of.hallucination),
        float(of.over_confidence(tau)),
        apart,
        float(of.deterministic_bound(tau)),
        printed_bound(once, apart, facts, len(chances) - facts, task.documents, CHANCE),
        float(of.unseen_mass),
    )


def law(task: Facts, name: ModelName) -> np.ndarray:
    """The chances of all strings that a model of `theory.language.worlds` gives."""
    seen, strings = numbers(task.facts[task.counts > 0], task.base), task.base**task.length
    p = [Fraction(1, len(task.facts))] * len(task.facts)
    given = probabilities_of_seen(p, task.counts.tolist(), name)
    chances = np.full(strings, float(1 - sum(given)) / (strings - len(seen)))
    chances[seen] = [float(each) for each in given]
    return chances
