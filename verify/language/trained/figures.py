"""The measures of a model trained on facts, from the probabilities of all strings."""

from __future__ import annotations

from fractions import Fraction
from typing import NamedTuple

import numpy as np

from constructions.trained.tasks.facts import Facts
from theory.language import printed_bound
from theory.language.documents import numbers, probabilities_of_seen
from theory.language.worlds import ModelName
from verify.language.bounds import shown

GAMMA = 0.01  # the probability with which the printed bound may fail
BINS = 10  # bins of equal g(B) for the miscalibration


class Figures(NamedTuple):
    """The measures of a model trained on facts.

    recall           recall of the seen facts
    hallucination    the hallucination rate: the probability of strings that are not facts
    over_confidence  the over-confidence at the threshold 1/(number of unseen strings)
    miscalibration   the miscalibration in ten bins
    deterministic    the deterministic bound on the hallucination rate
    printed          the bound of [KalaiVempala2024] on the hallucination rate, with this
                     miscalibration
    unseen           the probability of the unseen facts
    """

    recall: float
    hallucination: float
    over_confidence: float
    miscalibration: float
    deterministic: float
    printed: float
    unseen: float

    def __str__(self) -> str:
        return (
            f"recall {self.recall:.3f}, g(H) {self.hallucination:.3f}, "
            f"over-confidence {self.over_confidence:.3f}, deterministic bound "
            f"{shown(self.deterministic, 3)}, bound of [KalaiVempala2024] {shown(self.printed, 3)}"
        )


class Snapshot(NamedTuple):
    """The measures of a model after some training steps."""

    steps: int
    figures: Figures


def figures(task: Facts, probabilities: np.ndarray) -> Figures:
    """The measures of a model, from its probabilities of all strings.

    `probabilities` has an entry for each string, in lexicographic order.
    """
    of = task.levels(probabilities)
    tau, facts = 1 / int(of.unseen.sum()), len(task.facts)
    once = float((task.counts == 1).sum() / task.documents)
    apart = of.miscalibration_in(BINS)
    return Figures(
        task.recall(probabilities),
        float(of.hallucination),
        float(of.over_confidence(tau)),
        apart,
        float(of.deterministic_bound(tau)),
        printed_bound(once, apart, facts, len(probabilities) - facts, task.documents, GAMMA),
        float(of.unseen_mass),
    )


def string_distribution(task: Facts, name: ModelName) -> np.ndarray:
    """The probabilities of all strings under the model `name` of `theory.language.worlds`."""
    seen, strings = numbers(task.facts[task.counts > 0], task.base), task.base**task.length
    p = [Fraction(1, len(task.facts))] * len(task.facts)
    given = probabilities_of_seen(p, task.counts.tolist(), name)
    probabilities = np.full(strings, float(1 - sum(given)) / (strings - len(seen)))
    probabilities[seen] = [float(each) for each in given]
    return probabilities
