"""The claim `good-turing`: the Good–Turing estimate of the probability of unseen outcomes."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import e, exp, log, log1p, sqrt
from typing import Annotated

import numpy as np
from scipy.special import xlog1py

from theory.kinds import InputError
from theory.language import (
    World,
    deviation_bound,
    mean_difference,
    mean_square,
    moments_by_definition,
    most_mean_difference,
    most_mean_square,
    uniform_mean_square,
    world,
)
from theory.waiting import announced
from verify.claim import Run, claim, option
from verify.finding import Finding, as_stated, at_most, no_counterexample, within
from verify.language.draws import random_distribution

SIZES = (2, 5), (3, 2), (3, 5), (4, 4)  # outcomes and documents whose corpora are enumerated
GAMMA = 0.05
FEWEST = 10  # expected facts that occur once, so that the errors are nearly normal


@claim(
    picture="verify.language.good_turing_picture:draw",
    faults_seen=[{"documents": 500}],
)
def good_turing(
    run: Run,
    *,
    facts: Annotated[int, option("number of facts in each world", min=2, max=10**6)] = 2000,
    documents: Annotated[int, option("documents in each world", min=2, max=50_000)] = 1000,
    worlds: Annotated[int, option("number of random worlds", min=20, max=10**4)] = 400,
) -> Iterator[Finding]:
    """The fraction MF of documents whose outcome occurs only once estimates the unseen mass M.

    Each of n documents is one outcome, drawn independently from a distribution p, and E is the mean
    over these draws.  M is the total probability of the outcomes that do not occur in the
    documents.  For every p, E MF − E M = Σ_i p_i²(1 − p_i)^{n−1}, where p_i is the probability of
    outcome i.  This difference is at most (1/n)(1 − 1/n)^{n−1}, with equality iff p is uniform on n
    outcomes.  The mean square error E(MF − M)² has a closed form and is at most (1 + 1/e)/n +
    O(n⁻²).
    """
    if documents > facts and documents * (1 - 1 / facts) ** (documents - 1) < FEWEST:
        raise InputError(
            f"documents is {documents} and facts is {facts}: give fewer documents or more facts, "
            f"since fewer than {FEWEST} facts are expected to occur once"
        )
    yield from counted(run)
    yield most_mean()
    yield most_square(run)
    drawn = differences(run, facts, documents, run.limited(20, worlds=worlds))
    yield deviates(drawn, documents)
    yield typical(drawn, facts, documents)
    run.draw(drawn, documents)


def counted(run: Run) -> Iterator[Finding]:
    """The findings that two closed forms equal sums over all corpora.

    The closed forms are the mean error and the mean square error of the Good–Turing estimate, and
    the distributions are uniform, random and skewed.
    """
    distributions = list[tuple[tuple[Fraction, ...], int]]()
    for outcomes, documents in SIZES:
        lopsided = (Fraction(9, 10), *[Fraction(1, 10 * (outcomes - 1))] * (outcomes - 1))
        for p in (
            (Fraction(1, outcomes),) * outcomes,
            lopsided,
            random_distribution(run.rng, outcomes),
        ):
            distributions.append((p, documents))
    words = f"true for {len(distributions)} pairs of a distribution and a number of documents"
    for moment, (id, name, closed) in enumerate(
        (
            (
                "mean",
                "the mean error E MF − E M of the Good–Turing estimate MF of the unseen mass M, as "
                "a sum over all corpora of n documents, equals Σ p²(1 − p)^(n−1)",
                mean_difference,
            ),
            (
                "square",
                "the mean square error E(MF − M)² of the Good–Turing estimate MF of the unseen "
                "mass M, as a sum over all corpora, equals its closed form",
                mean_square,
            ),
        )
    ):
        wrong = (
            f"p = {p}, n = {n}"
            for p, n in distributions
            if moments_by_definition(p, n)[moment] != closed(p, n)
        )
        yield no_counterexample(id, name, wrong, words=words)


def most_mean() -> Finding:
    """The finding that n equally likely facts, and no other number, attain the largest mean error.

    The error is MF − M for n documents: MF is the fraction of documents whose fact occurs once, and
    M is the total probability of the facts that do not occur.
    """

    def wrong() -> Iterator[str]:
        for n in (2, 5, 20):
            for facts in (1, n - 1, n, n + 1, 3 * n):
                found = mean_difference((Fraction(1, facts),) * facts, n)
                most = most_mean_difference(n)
                if (found == most) != (facts == n) or found > most:
                    yield f"{facts} equal facts, n = {n}: {found}"

    name = (
        "mean error E MF − E M of the Good–Turing estimate MF of the unseen mass M is at most "
        "(1/n)(1 − 1/n)^(n−1), with equality only for n equally likely facts"
    )
    return no_counterexample(
        "most-mean",
        name,
        wrong(),
        words="true for n = 2, 5, 20 documents and 1, n − 1, n, n + 1 and 3n equally likely facts",
        wanted="no counterexample",
    )


def most_square(run: Run) -> Finding:
    """The largest ratio of the mean square error of the Good–Turing estimate to its bound.

    The ratio is the largest over uniform distributions, a random distribution and a distribution on
    one fact.
    """
    sizes = (2, 6, 20)
    ratio, constants = Fraction(0), list[float]()
    for n in sizes:
        distributions = [(Fraction(1, k),) * k for k in (1, 2, n, 3 * n)] + [
            random_distribution(run.rng, 8)
        ]
        ratio = max(ratio, *(mean_square(p, n) / most_mean_square(n) for p in distributions))
        constants.append(n * float(most_mean_square(n)))
    finding = at_most(
        "most-square",
        "largest ratio of the mean square error E(MF − M)² of the Good–Turing estimate MF of the "
        "unseen mass M from n documents to its bound "
        "1/n + (n/(n + 1))^n/(n + 1) + (4/n²)(1 − 2/n)^(n−2)",
        "exact",
        ratio,
        1,
        words=f"{float(ratio):.2f} over n = 2, 6, 20; n times the bound is "
        f"{', '.join(f'{each:.3f}' for each in constants)}, with the limit "
        f"1 + 1/e = {1 + 1 / e:.3f}",
        wanted="a ratio of at most 1",
    )
    return as_stated(finding, constants, [n * square_bound(n) for n in sizes])


def square_bound(n: int) -> float:
    """The bound of `most_square` for n documents, in floating point."""
    # x^n for a rounded number x has n times its relative rounding error.
    powers = exp(-n * log1p(1 / n)), exp(xlog1py(n - 2, -2 / n))
    return (1 + powers[0] / (1 + 1 / n) + 4 / n * powers[1]) / n


def differences(run: Run, facts: int, documents: int, worlds: int) -> np.ndarray:
    """The errors of the Good–Turing estimate for random corpora of equally likely facts."""
    drawn = (
        world(facts, facts, documents, "uniform", run.rng)
        for _ in announced(range(worlds), "random worlds")
    )
    return np.array([apart(each) for each in drawn])


def apart(of: World) -> float:
    """The error of the Good–Turing estimate for one corpus: (estimate) − (unseen mass)."""
    return of.seen_once - of.unseen_mass


def deviates(drawn: np.ndarray, documents: int) -> Finding:
    """The number of corpora whose Good–Turing error exceeds the bound of [KNVZ2025].

    `drawn` are the errors, and the bound holds with probability ≥ 1 − γ, γ = 0.05.
    """
    reach = deviation_bound(documents, GAMMA)
    beyond = int((abs(drawn) > reach).sum())
    finding = at_most(
        "deviation",
        f"number of corpora of n = {documents} documents in which the Good–Turing estimate MF of "
        f"the unseen mass M has |MF − M| > 1/n + 2.42√(ln(4/γ)/n), the bound of [KNVZ2025] for "
        f"γ = {GAMMA:g}",
        "statistical",
        beyond,
        GAMMA * len(drawn),
        words=f"{beyond} of {len(drawn)} corpora; the largest |MF − M| is "
        f"{abs(drawn).max() / reach:.2f} times the bound",
        wanted=f"at most γ·{len(drawn)} = {GAMMA * len(drawn):g} corpora",
    )
    return as_stated(finding, reach, (1 + 2.42 * sqrt(documents * log(4 / GAMMA))) / documents)


def typical(drawn: np.ndarray, facts: int, documents: int) -> Finding:
    """The mean square of the Good–Turing error over random corpora, compared with its closed form.

    `drawn` are the errors.  The tolerance is five standard errors, as the square of a nearly
    normal number has a standard deviation of √2 times its mean.
    """
    square, most = float((drawn**2).mean()), float(most_mean_square(documents))
    wanted, reach = uniform_mean_square(facts, documents), 5 * sqrt(2 / len(drawn))
    finding = within(
        "typical",
        "mean square of the error MF − M of the Good–Turing estimate MF of the unseen mass M, "
        f"over {len(drawn)} corpora of n = {documents} documents",
        "statistical",
        square,
        (wanted * (1 - reach), min(wanted * (1 + reach), most * (1 + reach))),
        words=f"{square * documents:.3f}/n",
        wanted=f"the closed form {wanted * documents:.3f}/n within 5 standard errors, and at most "
        f"{most * documents:.3f}/n, the bound for every distribution",
    )
    return as_stated(finding, most, square_bound(documents))
