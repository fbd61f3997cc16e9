"""The claim `random-weights`: how sensitive networks are before they are trained."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt
from typing import Annotated

import numpy as np

from theory.sensitivity import is_linear_threshold
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.evidence.statistics import ERRORS, Mean, errors_for, estimated, sign_of
from verify.finding import Finding, Verdict, labelled
from verify.sensitivity.random_table import (
    LAWS,
    LETTERS,
    THRESHOLDS,
    Row,
    Table,
    measured,
    sensitivities,
)

PAIRS = {"shallow": ("transformer 2", "LSTM 1"), "deep": ("transformer 6", "LSTM 4")}
SHALLOW = "LSTM 1"
EXACT = 1e-9  # sums of a few fractions in float64
FEW, FEWEST = 10, 5  # draws of quick runs, and below which no mean is judged


@claim(
    source="[Bhattamishra2023], whose law of the weights is the first (second hand); our own draws",
    picture="verify.sensitivity.random_weights_picture:draw",
)
def random_weights(
    run: Run, *, draws: Annotated[int, option("networks of each kind", min=FEW)] = 20
) -> Iterator[Finding]:
    """Published observation: transformers with random weights are less sensitive than LSTMs.

    Functions of all words of 8 bits: whether the output is above 0, or above its median, which
    makes the function balanced; with threshold 0 many networks are constant, and their sensitivity
    is 0 for no other reason.  Three distributions of the weights: uniform between −10 and 10,
    Xavier, and normal with standard deviation 0.02.

    For each distribution and threshold, transformers of two layers are compared with LSTMs of one,
    and those of six with LSTMs of four: is their mean lower, by 3 standard errors?  At the
    median only draws count whose outputs take more values than half the words; with fewer than 5 of
    them it is undecided, and with none there is nothing to compare.  Transformers are read at a
    last token of their own, LSTMs at its last bit.

    As controls, two halves of the transformers are compared with each other, and the functions f at
    the median with f ⊕ parity, whose sensitivity is 1 − Sens(f): a known difference that must be
    found.
    """
    table = measured(run, FEW if run.quick else draws)
    for law in LAWS:
        for threshold in THRESHOLDS:
            words = told(table[law], threshold)
            for depth, pair in PAIRS.items():
                low, high = (table[law][name].at[threshold] for name in pair)
                if len(low) and len(high):
                    found = _below(depth, pair, low, high, words)
                    yield from labelled(f"{law}/{threshold}", [found])
    yield _control(table)
    yield _planted(table)
    yield _linear(table["normal"])
    run.draw(table)


def linear_share(functions: np.ndarray) -> float:
    """The fraction of linear threshold functions among these."""
    return float(np.mean([is_linear_threshold(each) for each in functions]))


def _mean(values: np.ndarray) -> Mean:
    return estimated(values) if len(values) > 1 else Mean(np.nan, np.nan, 1)


def difference(low: np.ndarray, high: np.ndarray) -> Mean:
    """The difference of two means of independent draws, with the fewer's degrees of freedom."""
    a, b = _mean(low), _mean(high)
    return Mean(b.mean - a.mean, sqrt(a.error**2 + b.error**2), min(a.freedom, b.freedom))


def told(rows: dict[str, Row], threshold: str) -> str:
    """All architectures for one distribution of weights on one line."""
    parts = []
    for name, row in rows.items():
        values = row.at[threshold]
        share = f" ({row.constant:.0%} constant)" if threshold == "0" else ""
        few = f" ({len(values)} draws)" if len(values) < FEWEST else ""
        parts.append(f"{name}: {_mean(values):.3f}{share}{few}" if len(values) else f"{name}: none")
    return ", ".join(parts)


def _below(
    depth: str, pair: tuple[str, str], low: np.ndarray, high: np.ndarray, words: str
) -> Finding:
    """Whether the first of a pair is below the second, by how much it is found to be; undecided
    where few draws of one of them are left."""
    few = min(len(low), len(high)) < FEWEST
    found = Mean(np.nan, np.nan, 1) if few else difference(low, high)
    kept = f"; {len(low)} and {len(high)} draws are left, of {FEWEST} that it takes" * few
    return Finding(
        depth,
        f"sensitivity of {pair[0]} below that of {pair[1]}",
        "statistical",
        found.value,
        0.0,
        sign_of(*found),
        words + kept,
        f"less, by {ERRORS:g} standard errors; it is by {found:.3f}",
    )


def _control(table: Table) -> Finding:
    """Two halves of the same transformers, in standard errors."""
    apart = []
    for law in LAWS:
        for threshold in THRESHOLDS:
            for name, _ in PAIRS.values():
                values = table[law][name].at[threshold]
                if len(values) >= FEW and np.ptp(values):
                    found = difference(values[::2], values[1::2])
                    apart.append(abs(found.mean) / found.error / errors_for(found.freedom))
    most = max(apart, default=np.nan)
    verdict = Verdict.of(most <= 1) if apart else Verdict.UNDECIDED
    return Finding(
        "control",
        "two halves of the draws of transformers beside each other",
        "statistical",
        most,
        1.0,
        verdict,
        f"differ by at most {most:.2f} of what would tell them apart, in {len(apart)} comparisons",
        "no difference",
    )


def _planted(table: Table) -> Finding:
    """Transformers compared with the same functions ⊕ parity: a flip changes one of the two."""
    odd = all_sequences(LETTERS, 2).sum(axis=1) % 2 == 1
    wrong, told_apart, count = 0.0, 0, 0
    for law in LAWS:
        for name, _ in PAIRS.values():
            row = table[law][name]
            if len(row.balanced) >= FEW:
                low = row.at["median"]
                found = difference(low, sensitivities(row.balanced ^ odd))
                wrong = max(wrong, abs(float(found.mean - 1 + 2 * low.mean())))
                told_apart += sign_of(*found) is Verdict.HOLDS
                count += 1
    verdict = Verdict.of(told_apart == count and wrong < EXACT) if count else Verdict.UNDECIDED
    return Finding(
        "planted",
        "transformers at the median beside the same functions ⊕ parity",
        "statistical",
        told_apart,
        count,
        verdict,
        f"told apart in {told_apart} of {count} comparisons, off by at most {wrong:.0e}",
        f"all, by 1 − 2·Sens, {ERRORS:g} standard errors",
    )


def _linear(rows: dict[str, Row]) -> Finding:
    """Whether all but the shallow LSTM are half-spaces at their median, of the first draws."""
    shares = {name: linear_share(row.balanced[:FEW]) for name, row in rows.items()}
    least = min(share for name, share in shares.items() if name != SHALLOW)
    return Finding(
        "linear",
        "with normal weights, at the median, networks are linear threshold functions",
        "statistical",
        shares,
        1.0,
        Verdict.of(least >= 1) if np.isfinite(least) else Verdict.UNDECIDED,
        ", ".join(f"{name}: {share:.0%}" for name, share in shares.items()),
        f"all of the draws, but perhaps for {SHALLOW}",
    )
