"""Enumeration of all pairs of numbers, one row (first number) at a time, to bound memory."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from constructions.transformer import Transformer
from verify.claim import Run, option
from verify.evidence.sequences import exact_evidence
from verify.finding import Evidence, Finding, Verdict

MOST = 1250  # largest number that is added: the 4·10⁹ logits of all pairs take minutes
SMALL = 60  # largest number in quick runs

Largest = Annotated[int, option("the largest number that is added", min=10, max=MOST)]
Step = Annotated[
    int, option("sizes of numbers are rounded to multiples of this number", min=1, max=5)
]
Alpha = Annotated[
    float | None, option("the weight α of the bump; by default 64, or less for small numbers")
]


def of_size(run: Run, largest: int) -> int:
    """The largest number that is added in the given run."""
    return run.limited(SMALL, largest=largest)


def called_with(model: Transformer, *names: str) -> list[Any]:
    """The values of the named arguments in the call that built the model."""
    assert model.call is not None
    return [model.call.value(name) for name in names]


def rows_of_pairs(model: Transformer) -> Iterator[np.ndarray]:
    """For each number a, the pairs (a, 0), (a, 1), …, as an array (numbers, 2)."""
    numbers = np.arange(model.interface.vocabulary_size)
    for a in numbers:
        yield np.stack([np.full_like(numbers, a), numbers], axis=1)


@dataclass
class Enumerated:
    """The result of an enumeration of all pairs.

    The fields are the number of pairs, the number of wrong predictions, the smallest difference
    between the right logit and the largest other logit, and the first wrong prediction in words.
    """

    pairs: int = 0
    wrong: int = 0
    least: float = np.inf
    first: str = ""

    def add(self, pairs: np.ndarray, logits: np.ndarray, right: np.ndarray) -> None:
        """Add n pairs (n, 2), with logits (n, answers) and right answers (n,)."""
        answers = logits.argmax(1)
        wrong = answers != right
        self.pairs, self.wrong = self.pairs + len(right), self.wrong + int(wrong.sum())
        self.least = min(self.least, float(ahead(logits, right).min()))
        if wrong.any() and not self.first:
            i = int(wrong.argmax())
            (a, b), c = pairs[i], answers[i]
            self.first = (
                f"{a} + {b}: {c} is predicted with logit {logits[i, c]:.6g}, the logit of "
                f"{right[i]} is {logits[i, right[i]]:.6g}"
            )


def ahead(logits: np.ndarray, right: np.ndarray) -> np.ndarray:
    """The right logit minus the largest other logit of each pair, (pairs,).

    `logits` has shape (pairs, answers), and `right` contains the right answers (pairs,).
    """
    at = np.arange(len(right)), right
    others = logits.copy()
    others[at] = -np.inf
    return np.asarray(logits[at] - others.max(1))


def enumerated(
    model: Transformer,
    definition: Callable[[np.ndarray], np.ndarray],
    seen: Callable[[np.ndarray, np.ndarray, list[np.ndarray]], None] = lambda pairs, logits, H: (
        None
    ),
) -> Enumerated:
    """The result of running the model on all pairs.

    `definition` maps pairs (…, 2) to right answers (…,).  `seen` is called with the pairs, logits
    and states of the residual stream, for each first number.
    """
    found = Enumerated()
    for pairs in rows_of_pairs(model):
        streams = list(model.streams(pairs))
        logits = model.unembedding(streams[-1][:, 2]).numpy()
        found.add(pairs, logits, definition(pairs))
        seen(pairs, logits, [H.numpy() for H in streams])
    return found


def sums(pairs: np.ndarray) -> np.ndarray:
    """The sums a + b of pairs (a, b), (…,) for an array of pairs (…, 2)."""
    return np.asarray(pairs.sum(-1))


def all_right(model: Transformer, found: Enumerated, evidence: Evidence) -> Finding:
    """The finding that no prediction is wrong or a tie.

    All gaps are also at least the margin that the model declares.
    """
    declared = model.interface.margin or 0.0
    ties = found.least == 0
    return Finding(
        "all-pairs",
        f"number of wrong predictions on all {found.pairs} pairs of numbers, and smallest gap "
        "between the right logit and another logit",
        evidence,
        found.wrong,
        0,
        Verdict.of(found.wrong == 0 and found.least > 0 and found.least >= declared),
        f"{found.wrong} wrong; the right logit exceeds all others by at least {found.least:.4g}",
        f"none wrong; a positive gap of at least {declared:.4g}, the declared margin",
        found.first or "two logits tie" * ties,
    )


def rounds_nothing(model: Transformer) -> bool:
    """Whether logits are exact in float64 for all inputs, according to the bits of the tensors."""
    return exact_evidence(model) == "exact"
