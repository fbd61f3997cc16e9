"""The claim `random-weights`: the sensitivity of networks with random weights."""

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
    BITS,
    DISTRIBUTIONS,
    THRESHOLDS,
    Row,
    Table,
    measured,
    sensitivities,
)

PAIRS = {"shallow": ("transformer 2", "LSTM 1"), "deep": ("transformer 6", "LSTM 4")}
SHALLOW = "LSTM 1"
EXACT = 1e-9  # rounding of sums of a few fractions in float64
FEW, MOST = 10, 10_000  # draws of quick runs, and the largest number of draws
FEWEST = 5  # the smallest number of draws whose means are compared


@claim(
    picture="verify.sensitivity.random_weights_picture:draw",
)
def random_weights(
    run: Run,
    *,
    draws: Annotated[
        int, option("random networks of each architecture and distribution", min=FEW, max=MOST)
    ] = 20,
) -> Iterator[Finding]:
    """Published observation: transformers with random weights are less sensitive than LSTMs.

    A network defines a Boolean function of words of 8 bits: whether the output is above a
    threshold. The threshold is either 0 or the median of the outputs on all words. The median makes
    the function balanced. The sensitivity Sens is the probability that the flip of a random bit of
    a random word changes the value of the function. With threshold 0, many networks are constant
    and therefore have sensitivity 0. The weights have one of three distributions: uniform between
    −10 and 10, Xavier, and normal with standard deviation 0.02.

    For each distribution and threshold, transformers of two layers are compared with LSTMs of one
    layer, and transformers of six layers are compared with LSTMs of four layers. A comparison holds
    if the mean Sens of the transformers is lower than the mean Sens of the LSTMs, by 3 standard
    errors. With the median as threshold, only networks with more than 2^7 different outputs on the
    2^8 words are compared. If fewer than 5 networks of one kind remain, the comparison is
    undecided. If none remains, the comparison is omitted. The output of a transformer is read at a
    CLS token, and the output of an LSTM at the last bit.

    There are two controls. The first compares two halves of the transformers with each other. The
    second compares the functions f of the transformers, with the median as threshold, with the
    functions f ⊕ parity. Because Sens(f ⊕ parity) = 1 − Sens(f), the second control must find a
    difference of known size.
    """
    table = measured(run, run.limited(FEW, draws=draws))
    for distribution in DISTRIBUTIONS:
        for threshold in THRESHOLDS:
            words = shown(table[distribution], threshold)
            for depth, pair in PAIRS.items():
                low, high = (table[distribution][name].at[threshold] for name in pair)
                if len(low) and len(high):
                    limit = "0" if threshold == "0" else "the median output"
                    where = f"{distribution} weights and {limit} as threshold"
                    found = _below(depth, pair, low, high, words, where)
                    yield from labelled(f"{distribution}/{threshold}", [found])
    yield _control(table)
    yield _planted(table)
    yield _linear(table["normal"])
    run.draw(table)


def linear_fraction(functions: np.ndarray) -> float:
    """The fraction of linear threshold functions among `functions` (draws, 2^d) of d bits."""
    return float(np.mean([is_linear_threshold(each) for each in functions]))


def _mean(values: np.ndarray) -> Mean:
    return estimated(values) if len(values) > 1 else Mean(np.nan, np.nan, 1)


def difference(low: np.ndarray, high: np.ndarray) -> Mean:
    """The difference (mean of `high`) − (mean of `low`) of independent draws.

    The result contains the standard error of the difference, and the smaller of the degrees of
    freedom of the two means.
    """
    a, b = _mean(low), _mean(high)
    return Mean(b.mean - a.mean, sqrt(a.error**2 + b.error**2), min(a.freedom, b.freedom))


def named(architecture: str) -> str:
    """The kind of network in words, for an architecture and a number of layers."""
    kind, _, layers = architecture.partition(" ")
    return f"{kind}s with {layers} layer{'s' * (layers != '1')}"


def shown(rows: dict[str, Row], threshold: str) -> str:
    """The mean Sens of all architectures for one distribution of the weights, on one line."""
    parts = []
    for name, row in rows.items():
        values = row.at[threshold]
        constant = f" ({row.constant:.0%} constant functions)" if threshold == "0" else ""
        few = f" ({len(values)} networks)" if len(values) < FEWEST else ""
        mean = f"{_mean(values):.3f}" if len(values) else "not defined"
        parts.append(f"{mean} for {named(name)}{constant}{few}")
    return ", ".join(parts[:-1]) + " and " * (len(parts) > 1) + parts[-1]


def _below(
    depth: str,
    pair: tuple[str, str],
    low: np.ndarray,
    high: np.ndarray,
    words: str,
    where: str = "these weights and this threshold",
) -> Finding:
    """The mean Sens of the first of a pair compared with the mean Sens of the second.

    Undecided if fewer than 5 draws of one of them are left.
    """
    few = min(len(low), len(high)) < FEWEST
    found = Mean(np.nan, np.nan, 1) if few else difference(low, high)
    left = (
        f"; {len(high)} and {len(low)} networks have enough different outputs, and at least "
        f"{FEWEST} of each kind are required"
    ) * few
    return Finding(
        depth,
        f"(mean Sens of random {named(pair[1])}) − (mean Sens of random {named(pair[0])}), for "
        f"{where}, where Sens is the probability that a flip of a random bit changes the value",
        "statistical",
        found.value,
        0.0,
        sign_of(*found),
        f"{found:.3f}; the mean Sens is {words}{left}",
        f"above 0 by {ERRORS:g} standard errors",
    )


def _control(table: Table) -> Finding:
    """The null comparison: two halves of the same transformers, in standard errors."""
    apart = []
    for distribution in DISTRIBUTIONS:
        for threshold in THRESHOLDS:
            for name, _ in PAIRS.values():
                values = table[distribution][name].at[threshold]
                if len(values) >= FEW and np.ptp(values):
                    found = difference(values[::2], values[1::2])
                    apart.append(abs(found.mean) / found.error / errors_for(found.freedom))
    most = max(apart, default=np.nan)
    verdict = Verdict.of(most <= 1) if apart else Verdict.UNDECIDED
    return Finding(
        "control",
        "|mean Sens of one half of the random transformers − mean Sens of the other half|, divided "
        "by 3 standard errors of this difference",
        "statistical",
        most,
        1.0,
        verdict,
        f"at most {most:.2f} in {len(apart)} settings of depth, weights and threshold",
        "at most 1 in every setting",
    )


def _planted(table: Table) -> Finding:
    """The known difference: a flip changes exactly one of f and f ⊕ parity."""
    odd = all_sequences(BITS, 2).sum(axis=1) % 2 == 1
    wrong, distinguished, count = 0.0, 0, 0
    for distribution in DISTRIBUTIONS:
        for name, _ in PAIRS.values():
            row = table[distribution][name]
            if len(row.balanced) >= FEW:
                low = row.at["median"]
                found = difference(low, sensitivities(row.balanced ^ odd))
                wrong = max(wrong, abs(float(found.mean - 1 + 2 * low.mean())))
                distinguished += sign_of(*found) is Verdict.HOLDS
                count += 1
    verdict = Verdict.of(distinguished == count and wrong < EXACT) if count else Verdict.UNDECIDED
    return Finding(
        "planted",
        "(mean Sens of f ⊕ parity) − (mean Sens of f), where f are the functions of random "
        "transformers with the median output as threshold",
        "statistical",
        distinguished,
        count,
        verdict,
        f"above 0 in {distinguished} of {count} settings of depth and weights, and equal to "
        f"1 − 2·(mean Sens of f) up to {wrong:.0e}",
        f"above 0 by {ERRORS:g} standard errors in every setting",
    )


def _linear(rows: dict[str, Row]) -> Finding:
    """The fraction of linear threshold functions among the first draws, at the median."""
    fractions = {name: linear_fraction(row.balanced[:FEW]) for name, row in rows.items()}
    least = min(each for name, each in fractions.items() if name != SHALLOW)
    return Finding(
        "linear",
        "fraction of linear threshold functions among the functions of networks with normal "
        "weights, with the median output as threshold",
        "statistical",
        fractions,
        1.0,
        Verdict.of(least >= 1) if np.isfinite(least) else Verdict.UNDECIDED,
        ", ".join(f"{each:.0%} for {named(name)}" for name, each in fractions.items()),
        f"100% for every kind of network except {named(SHALLOW)}",
    )
