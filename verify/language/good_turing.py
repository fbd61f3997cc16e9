"""The claim `good-turing`: what was seen once, beside the chance of what was not seen."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import e, sqrt
from typing import Annotated

import numpy as np

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
from verify.claim import Run, claim, option
from verify.finding import Finding, at_most, no_counterexample, within
from verify.language.draws import law

SIZES = (2, 5), (3, 2), (3, 5), (4, 4)  # outcomes and documents of which all corpora are counted
GAMMA = 0.05


@claim(
    source="[KNVZ2025] for the deviation; proved in theory/language/good_turing.py",
    picture="verify.language.good_turing_picture:draw",
    faults_seen=[{"documents": 500}],
)
def good_turing(
    run: Run,
    *,
    facts: Annotated[int, option("facts of the worlds that are drawn", min=2, max=10**6)] = 2000,
    documents: Annotated[int, option("documents of each", min=2, max=50_000)] = 1000,
    worlds: Annotated[int, option("how many are drawn", min=20, max=10**4)] = 400,
) -> Iterator[Finding]:
    """The fraction of documents whose outcome occurs once, MF, beside the mass M of the unseen.

    For every distribution p and n independent documents, E MF − E M = Σ p²(1 − p)^{n−1}, which is
    at most (1/n)(1 − 1/n)^{n−1}, with equality iff p is uniform on n outcomes; E(MF − M)² has a
    closed form and is at most (1 + 1/e)/n + O(n⁻²).
    """
    yield from counted(run)
    yield most_mean()
    yield most_square(run)
    drawn = differences(run, facts, documents, 20 if run.quick else worlds)
    yield deviates(drawn, documents)
    yield typical(drawn, facts, documents)
    run.draw(drawn, documents)


def counted(run: Run) -> Iterator[Finding]:
    """Closed forms and all corpora, for even, random and lopsided laws."""
    laws = list[tuple[tuple[Fraction, ...], int]]()
    for outcomes, documents in SIZES:
        lopsided = (Fraction(9, 10), *[Fraction(1, 10 * (outcomes - 1))] * (outcomes - 1))
        for p in ((Fraction(1, outcomes),) * outcomes, lopsided, law(run.rng, outcomes)):
            laws.append((p, documents))
    words = f"equal to the sum over all corpora, {len(laws)} laws and sizes"
    for moment, (id, name, closed) in enumerate(
        (
            ("mean", "E MF − E M = Σ p²(1 − p)^(n−1)", mean_difference),
            ("square", "E(MF − M)² in closed form", mean_square),
        )
    ):
        wrong = (
            f"p = {p}, n = {n}"
            for p, n in laws
            if moments_by_definition(p, n)[moment] != closed(p, n)
        )
        yield no_counterexample(id, name, wrong, words=words)


def most_mean() -> Finding:
    """n equal facts reach the bound; fewer and more do not."""

    def wrong() -> Iterator[str]:
        for n in (2, 5, 20):
            for facts in (1, n - 1, n, n + 1, 3 * n):
                found = mean_difference((Fraction(1, facts),) * facts, n)
                most = most_mean_difference(n)
                if (found == most) != (facts == n) or found > most:
                    yield f"{facts} equal facts, n = {n}: {found}"

    name = "E MF − E M ≤ (1/n)(1 − 1/n)^(n−1), with equality for n equal facts alone"
    return no_counterexample(
        "most-mean", name, wrong(), words="n = 2, 5, 20 and 1 … 3n equal facts"
    )


def most_square(run: Run) -> Finding:
    """The bound for every p, at laws that are even, random and of one fact."""
    share, constants = Fraction(0), list[float]()
    for n in (2, 6, 20):
        laws = [(Fraction(1, k),) * k for k in (1, 2, n, 3 * n)] + [law(run.rng, 8)]
        share = max(share, *(mean_square(p, n) / most_mean_square(n) for p in laws))
        constants.append(n * float(most_mean_square(n)))
    return at_most(
        "most-square",
        "E(MF − M)² ≤ 1/n + (n/(n + 1))^n/(n + 1) + (4/n²)(1 − 2/n)^(n−2)",
        "exact",
        share,
        1,
        words=f"at most {float(share):.2f} of it, n = 2, 6, 20; n times it is "
        f"{', '.join(f'{each:.3f}' for each in constants)} → 1 + 1/e = {1 + 1 / e:.3f}",
    )


def differences(run: Run, facts: int, documents: int, worlds: int) -> np.ndarray:
    """MF − M of so many corpora of uniform facts."""
    drawn = (world(facts, facts, documents, "uniform", run.rng) for _ in range(worlds))
    return np.array([apart(each) for each in drawn])


def apart(of: World) -> float:
    """MF − M."""
    return of.seen_once - of.unseen_mass


def deviates(drawn: np.ndarray, documents: int) -> Finding:
    """How often the two differ by more than the bound that holds with probability 1 − γ."""
    reach = deviation_bound(documents, GAMMA)
    beyond = int((abs(drawn) > reach).sum())
    return at_most(
        "deviation",
        f"|MF − M| > 1/n + 2.42√(ln(4/γ)/n), γ = {GAMMA:g}, in {len(drawn)} corpora",
        "statistical",
        beyond,
        GAMMA * len(drawn),
        words=f"in {beyond}; the largest is {abs(drawn).max() / reach:.2f} of it",
        wanted="[KNVZ2025]",
    )


def typical(drawn: np.ndarray, facts: int, documents: int) -> Finding:
    """The mean square of sampled differences beside its closed form; five standard errors, as
    squares of nearly normal numbers have a deviation of √2 times their mean."""
    square, most = float((drawn**2).mean()), float(most_mean_square(documents))
    wanted, reach = uniform_mean_square(facts, documents), 5 * sqrt(2 / len(drawn))
    return within(
        "typical",
        f"mean square of MF − M in {len(drawn)} corpora of {documents} documents",
        "statistical",
        square,
        (wanted * (1 - reach), min(wanted * (1 + reach), most * (1 + reach))),
        words=f"{square * documents:.3f}/n",
        wanted=f"{wanted * documents:.3f}/n by 5 standard errors; of any law at most "
        f"{most * documents:.3f}/n",
    )
