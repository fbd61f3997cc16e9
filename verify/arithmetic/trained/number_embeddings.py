"""The claim `number-embeddings`: the periods of a published model's embeddings of numbers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Annotated, Literal

import numpy as np

from theory.arithmetic.fourier import bin_of, bin_sizes
from theory.arithmetic.probes import probe_accuracies
from theory.arithmetic.spectrum import (
    peak_ratios,
    permutation_maxima,
    without_confounds,
    without_trend,
)
from verify.arithmetic.trained import minilm
from verify.arithmetic.trained.minilm import NAME, NUMBERS, NumberTokens
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict, same

Source = Literal["package", "planted"]

FIRST = 29  # the bins from here on; below are the trends of size
LEVEL = 0.99
PEAKS = {"2": Fraction(2), "2.5": Fraction(5, 2), "5": Fraction(5), "10": Fraction(10)}
OTHERS = {"3": Fraction(3), "4": Fraction(4), "6": Fraction(6)}
THIRD = {"10/3": Fraction(10, 3)}
DEGREE, TEN = 5, 10
READ, NOT_READ = (2, 5, 10), (3, 7)  # moduli of the residues that a linear probe says, or does not
SHAPE = minilm.NUMBERS, minilm.FEATURES


@claim(
    source="[Zhou2024], for other models",
    picture="verify.arithmetic.trained.number_embeddings_picture:draw",
    faults_seen=[{"embeddings": "planted"}],
)
def number_embeddings(
    run: Run,
    *,
    embeddings: Annotated[
        Source, option("of the optional package, or noise with periods planted in it")
    ] = "package",
    permutations: Annotated[
        int, option("random orders of the numbers", min=100, max=100_000)
    ] = 500,
) -> Iterator[Finding]:
    """Published observation: number embeddings have spectral peaks at periods 2, 2.5, 5 and 10.

    Tested on the embeddings of 0 … 299 in all-MiniLM-L6-v2, a distilled BERT.  The bound is a 99 %
    quantile of the largest peak over random orders of the numbers, so it is one for all periods
    together.  Part of the peaks goes with the rank of a number among all words, which has the same
    periods.  Linear probes predict, for held-out numbers, the residues mod 2, 5 and 10 better than
    in 99 % of random orders, and not those mod 3 and 7; their ridge of 1 was chosen with published
    figures for mod 2, 7 and 10 known.
    """
    place = minilm.folder() if embeddings == "package" else None
    if embeddings == "package" and place is None:
        yield absent()
        return
    numbers = minilm.number_tokens(place) if place is not None else minilm.planted(run.rng)
    E, trials = numbers.rows, 100 if run.quick else permutations
    what = "planted noise, no embeddings: " * (embeddings == "planted")
    yield same("package", f"{what}numbers and features", list(E.shape), list(SHAPE))
    ratios, bound = measured(run, E, trials)
    peaks = above("peaks", "peaks over the median", PEAKS, ratios, bound)
    high = [k for k in range(FIRST, len(ratios)) if ratios[k] > bound]
    peaks.words += f"; all periods above the bound: {', '.join(f'{NUMBERS / k:.4g}' for k in high)}"
    yield peaks
    yield below_bound("others", "periods that are not among them", OTHERS, ratios, bound)
    yield third(ratios, bound, embeddings)
    name = f"the same without a polynomial of degree {DEGREE}"
    yield above("trend", name, PEAKS, peak_ratios(without_trend(E, DEGREE), FIRST), bound)
    yield from confound(run, numbers, trials)
    yield share(E)
    yield from probes(run, E, trials)
    of = "planted noise" if embeddings == "planted" else "embeddings"
    run.draw(ratios, bound, FIRST, {**PEAKS, **THIRD}, of)


def absent() -> Finding:
    """Nothing to measure: said in a word, and undecided."""
    return Finding(
        "package",
        "embeddings of numbers",
        "statistical",
        "none",
        "the package",
        Verdict.UNDECIDED,
        f"skipped: {NAME} is not installed",
        f"pip install --no-deps {NAME}",
    )


def measured(run: Run, E: np.ndarray, trials: int) -> tuple[np.ndarray, float]:
    """The statistic of every bin, and the bound that holds for all bins together."""
    maxima = permutation_maxima(E, FIRST, trials, run.rng)
    return peak_ratios(E, FIRST), float(np.quantile(maxima, LEVEL, method="higher"))


def at_periods(periods: dict[str, Fraction], ratios: np.ndarray) -> dict[str, float]:
    """The statistic at these periods."""
    return {name: float(ratios[bin_of(T, NUMBERS)]) for name, T in periods.items()}


def above(
    id: str, name: str, periods: dict[str, Fraction], ratios: np.ndarray, bound: float
) -> Finding:
    """All of these peaks are above the bound."""
    return _compared(id, name, at_periods(periods, ratios), bound, +1)


def below_bound(
    id: str, name: str, periods: dict[str, Fraction], ratios: np.ndarray, bound: float
) -> Finding:
    """None of these is."""
    return _compared(id, name, at_periods(periods, ratios), bound, -1)


def _compared(id: str, name: str, found: dict[str, float], bound: float, side: int) -> Finding:
    words = ", ".join(f"{period}: {value:.2f}" for period, value in found.items())
    holds = all(side * (value - bound) > 0 for value in found.values())
    return Finding(
        id,
        name,
        "statistical",
        found,
        bound,
        Verdict.of(holds) if np.isfinite(bound) else Verdict.UNDECIDED,
        words,
        f"{'above' if side > 0 else 'at most'} {bound:.2f}, the {LEVEL:.0%} bound of random orders",
    )


def third(ratios: np.ndarray, bound: float, embeddings: Source) -> Finding:
    """Period 10/3, which halving does not reach: just above the bound, below the four."""
    found = at_periods(THIRD, ratios)
    least = min(at_periods(PEAKS, ratios).values())
    value = found["10/3"]
    return Finding(
        "third",
        "period 10/3, which is not half of any of the four",
        "statistical",
        value,
        least,
        Verdict.of(value < least),
        f"{value:.2f}, {'just above' if value > bound else 'below'} the bound {bound:.2f}",
        f"less than the least of the four, {least:.2f}",
    )


def confound(run: Run, numbers: NumberTokens, trials: int) -> Iterator[Finding]:
    """The rank of a number in the vocabulary has the same periods; what is left without the
    means of groups of ten neighbours in rank, nearly all that a function of the rank can say."""
    ranks = numbers.ranks.astype(np.float64)
    ratios, bound = measured(run, ranks, trials)
    yield above("rank", "the same periods in the rank among words", PEAKS, ratios, bound)
    groups = np.argsort(np.argsort(ranks)) // TEN
    ratios, bound = measured(
        run, without_confounds(numbers.rows, np.eye(NUMBERS // TEN)[groups]), trials
    )
    name = f"peaks left without the means of {NUMBERS // TEN} groups of rank"
    yield above("without-rank", name, PEAKS, ratios, bound)


def probes(run: Run, E: np.ndarray, trials: int) -> Iterator[Finding]:
    """What linear probes read off numbers left out, beside random orders of the numbers."""
    found = read_off(E)
    orders = np.argsort(run.rng.random((trials, NUMBERS)), axis=1)
    by_chance = {m: probe_accuracies(E, orders % m) for m in found}
    bounds = {
        m: float(np.quantile(shares, LEVEL, method="higher")) for m, shares in by_chance.items()
    }
    for id, name, moduli, side in (
        ("probes", "residues that are read off", READ, +1),
        ("probes-others", "residues that are not", NOT_READ, -1),
    ):
        what = "above" if side > 0 else "at most"
        limits = ", ".join(f"{bounds[m]:.1%}" for m in moduli)
        yield Finding(
            id,
            f"{name} by linear probes, of numbers left out",
            "statistical",
            {f"mod {m}": found[m] for m in moduli},
            {f"mod {m}": bounds[m] for m in moduli},
            Verdict.of(all(side * (found[m] - bounds[m]) > 0 for m in moduli)),
            ", ".join(f"mod {m}: {found[m]:.1%}" for m in moduli),
            f"{what} {limits}, the {LEVEL:.0%} bounds of random orders",
        )


def read_off(E: np.ndarray) -> dict[int, float]:
    """The share of numbers whose residue a probe says, by modulus."""
    numbers = np.arange(NUMBERS)
    return {m: float(probe_accuracies(E, numbers % m)) for m in (*READ, *NOT_READ)}


def at_peaks(variances: np.ndarray) -> float:
    """The part of these variances (bins,) that is at the four periods."""
    return float(sum(variances[bin_of(T, NUMBERS)] for T in PEAKS.values()) / variances.sum())


def share(E: np.ndarray) -> Finding:
    """The part of the variance at the four periods."""
    found = at_peaks(bin_sizes(E - E.mean(0)) ** 2)
    flat = 7 / (NUMBERS - 1)
    return Finding(
        "share",
        "part of the variance at the four periods",
        "statistical",
        found,
        (flat, 0.1),
        Verdict.of(flat < found < 0.1),
        f"{found:.1%}",
        f"above {flat:.1%}, that of noise, and below 10 %",
    )
