"""All pairs of numbers, row by row: one first number at a time, so that memory stays small."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.claim import Run, option
from verify.evidence.sequences import exact_evidence
from verify.finding import Evidence, Finding, Verdict

MOST = 4 * 10**9  # logits, which take minutes
SMALL = 60  # the largest number of quick runs

Largest = Annotated[int, option("the largest number that is added", min=10)]
Step = Annotated[int, option("sizes of numbers are known to the nearest multiple of this", min=1)]
Alpha = Annotated[
    float | None, option("the weight α of the bump; by default 64, or less where that is too much")
]


def of_size(run: Run, largest: int) -> int:
    """The largest number of this run; ValueError for so many logits that no one would wait."""
    largest = min(largest, SMALL) if run.quick else largest
    if (count := 2 * float(largest) ** 3) > MOST:
        raise InputError(
            f"the pairs up to {largest} have {count:.3g} logits, of at most {MOST:.0e} that are "
            "enumerated: give at most a largest number of 1250, with alpha = 12"
        )
    return largest


def called_with(model: Transformer, *names: str) -> list[Any]:
    """The values of these arguments in the call that built the model."""
    assert model.call is not None
    return [model.call.value(name) for name in names]


def rows_of_pairs(model: Transformer) -> Iterator[np.ndarray]:
    """The pairs (a, 0), (a, 1), …, for each a, (numbers, 2)."""
    numbers = np.arange(model.interface.vocabulary_size)
    for a in numbers:
        yield np.stack([np.full_like(numbers, a), numbers], axis=1)


@dataclass
class Enumerated:
    """What became of all pairs: how many were answered wrongly, by how much the right logit is
    ahead at least, and the first mistake in words."""

    pairs: int = 0
    wrong: int = 0
    least: float = np.inf
    first: str = ""

    def add(self, pairs: np.ndarray, logits: np.ndarray, right: np.ndarray) -> None:
        """Logits (pairs, answers) whose right answers are these (pairs,)."""
        answers = logits.argmax(1)
        wrong = answers != right
        self.pairs, self.wrong = self.pairs + len(right), self.wrong + int(wrong.sum())
        self.least = min(self.least, float(ahead(logits, right).min()))
        if wrong.any() and not self.first:
            i = int(wrong.argmax())
            (a, b), c = pairs[i], answers[i]
            self.first = (
                f"{a} + {b}: {c} wins with logit {logits[i, c]:.6g}, {right[i]} has "
                f"{logits[i, right[i]]:.6g}"
            )


def ahead(logits: np.ndarray, right: np.ndarray) -> np.ndarray:
    """By how much the right logit is ahead of the next, (pairs,), of logits (pairs, answers)."""
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
    """Every pair through the model; `definition` maps pairs (…, 2) to answers (…,), and `seen`
    looks at the pairs, logits and streams of every row."""
    found = Enumerated()
    for pairs in rows_of_pairs(model):
        streams = list(model.streams(pairs))
        logits = model.unembedding(streams[-1][:, 2]).numpy()
        found.add(pairs, logits, definition(pairs))
        seen(pairs, logits, [H.numpy() for H in streams])
    return found


def sums(pairs: np.ndarray) -> np.ndarray:
    """a + b."""
    return np.asarray(pairs.sum(-1))


def all_right(model: Transformer, found: Enumerated, evidence: Evidence) -> Finding:
    """No pair is answered wrongly, nor by a tie, and all by the margin that the model declares."""
    declared = model.interface.margin or 0.0
    ties = found.least == 0
    return Finding(
        "all-pairs",
        f"all {found.pairs} pairs of numbers",
        evidence,
        found.wrong,
        0,
        Verdict.of(found.wrong == 0 and found.least > 0 and found.least >= declared),
        f"{found.wrong} wrong, the right logit ahead by at least {found.least:.4g}",
        f"none wrong, no tie, the declared margin {declared:.4g}",
        found.first or "two logits tie" * ties,
    )


def rounds_nothing(model: Transformer) -> bool:
    """Whether float64 adds exactly whatever the numbers, by the bits of the tensors."""
    return exact_evidence(model) == "exact"
