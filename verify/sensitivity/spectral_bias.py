"""The claim `spectral-bias`: eigenvalues of inner-product kernels decrease every two degrees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Annotated

import numpy as np

from theory.sensitivity import (
    by_minus_ones,
    eigenvalues,
    eigenvalues_by_definition,
    on_two_fewer_bits,
    power_series,
    shift_polynomial,
    walks,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim, option
from verify.finding import Finding, at_least, labelled, same

WORDS = 8  # largest d for which all words are enumerated
MOST_BITS = 32  # largest d of a cube
DEGREE = 12  # degree of a random polynomial
SQUARE, SQUARE_BITS = [Fraction(0), Fraction(0), Fraction(1)], 6  # the counterexample


@claim(
    picture="verify.sensitivity.spectral_bias_picture:draw",
)
def spectral_bias(
    run: Run,
    *,
    d: Annotated[int, option("bits of the largest cube", min=6, max=MOST_BITS)] = 16,
    draws: Annotated[int, option("random polynomials Φ", min=20, max=10**4)] = 200,
) -> Iterator[Finding]:
    """If Φ has non-negative coefficients, the kernel Φ(⟨x, y⟩/d) on {±1}^d has μ_k ≥ μ_{k+2} ≥ 0.

    Here Φ(t) = Σ_m c_m t^m is a power series with c_m ≥ 0 and Σ_m c_m < ∞, and μ_k is the
    eigenvalue of the kernel, under the uniform distribution, for the characters χ_S(x) = Π_{i ∈ S}
    x_i of sets S of k bits. The statement holds for 0 ≤ k ≤ d − 2. Each step of the proof is
    checked as an identity of integer vectors, for all Φ at once, and the statement is checked on
    random polynomials Φ. The inequality μ_k ≥ μ_{k+1} may fail: for Φ(t) = t² and d = 6 the
    eigenvalues μ_0, …, μ_6 are 1/6, 0, 1/18, 0, 0, 0, 0.
    """
    sizes = range(1, run.limited(8, d=d) + 1)
    yield from labelled("proof", _steps(sizes))
    series = [random_series(run.rng) for _ in range(run.limited(20, draws=draws))]
    cubes = [int(run.rng.integers(3, d + 1)) for _ in series]
    found = [eigenvalues(c, size) for c, size in zip(series, cubes, strict=True)]
    yield _on_cubes(series, cubes, found)
    yield from _lemma(found)
    yield _counterexample()
    yield _by_definition(series[:5])
    yield _eigenfunctions(series[0])
    run.draw(d)


def random_series(rng: np.random.Generator) -> list[Fraction]:
    """Nonnegative coefficients of a random polynomial; each is 0 with probability 2/5."""
    tops = rng.integers(0, 10, DEGREE + 1) * (rng.random(DEGREE + 1) > 1 / 3)
    below = rng.integers(1, 6, DEGREE + 1)
    return [Fraction(int(a), int(b)) for a, b in zip(tops, below, strict=True)]


def _steps(sizes: range) -> Iterator[Finding]:
    """The identities (1) – (4) of the proof, for all sizes and degrees."""
    most = sizes[-1]

    def counted(right: Callable[[int, int], bool], least: int = 1) -> tuple[int, int]:
        each = [
            right(d, k) for d in sizes if d >= least for k in range(d + 1 if least == 1 else d - 1)
        ]
        return sum(each), len(each)

    def found(id: str, name: str, counts: tuple[int, int], wanted: str) -> Finding:
        words = f"as required for {counts[0]} pairs (d, k) with d ≤ {most}"
        agree, count = (np.nan, np.nan) if counts[1] == 0 else counts  # undecided if there are none
        return same(id, name, agree, count, evidence="identity", words=words, wanted=wanted)

    yield found(
        "shifts",
        "step (1), the sum of χ_S(x) = Π_{i ∈ S} x_i over the words x in {±1}^d with "
        "j entries −1, for a set S of k bits",
        counted(lambda d, k: shift_polynomial(k, d - k) == by_minus_ones(d, k)),
        "the coefficient of T^j in the polynomial (I − T)^k (I + T)^{d−k}",
    )
    yield found(
        "difference",
        "step (2), the difference of the polynomials (I − T)^k (I + T)^{d−k} of step (1) for k and "
        "for k + 2",
        counted(_difference, 2),
        "4T (I − T)^k (I + T)^{d−k−2}",
    )
    yield found(
        "smaller-cube",
        "step (3), the mean 1 − 2(j + 1)/d of d bits ±1, of which j + 1 are −1, compared with the "
        "mean 1 − 2j/(d − 2) of d − 2 bits, of which j are −1",
        counted(_same_points, 3),
        "the first mean is (d − 2)/d times the second mean, for every j",
    )
    yield found(
        "walks",
        "step (4), the mean of (Σ_i x_i/d)^m·χ_S(x) over all words x in {±1}^d, for a "
        f"set S of k bits and m ≤ {DEGREE}",
        counted(_walks),
        "d^−m times the number of walks of m steps from ∅ to S on the cube, and so at least 0",
    )


def _difference(d: int, k: int) -> bool:
    """Identity (2) at d and k."""
    low, high = shift_polynomial(k, d - k), shift_polynomial(k + 2, d - k - 2)
    common = [0, *(4 * c for c in shift_polynomial(k, d - k - 2)), 0]
    return [a - b for a, b in zip(low, high, strict=True)] == common


def _same_points(d: int, k: int) -> bool:
    """Identity (3) for all j; it does not depend on k."""
    return all(
        1 - Fraction(2 * (j + 1), d) == Fraction(d - 2, d) * (1 - Fraction(2 * j, d - 2))
        for j in range(d - 1)
    )


def _walks(d: int, k: int) -> bool:
    """Identity (4) at d and k, with the words grouped by their number of bits −1."""
    signs, counts = by_minus_ones(d, k), [walks(d, m)[k] for m in range(DEGREE + 1)]
    sums = [sum(c * (d - 2 * j) ** m for j, c in enumerate(signs)) for m in range(DEGREE + 1)]
    return all(total == 2**d * n >= 0 for total, n in zip(sums, counts, strict=True))


def _on_cubes(
    series: list[list[Fraction]], cubes: list[int], found: list[list[Fraction]]
) -> Finding:
    """All four identities together: μ_k − μ_{k+2} is an eigenvalue on the smaller cube."""
    agree = 0
    for c, d, mu in zip(series, cubes, found, strict=True):
        smaller = eigenvalues(on_two_fewer_bits(c, d), d - 2)
        agree += [a - b for a, b in zip(mu, mu[2:], strict=False)] == smaller
    return same(
        "differences",
        "μ_k − μ_{k+2} for the eigenvalues μ_k of a kernel Φ(⟨x, y⟩/d) on d bits, compared with "
        "the eigenvalue of degree k of the kernel on d − 2 bits that has Φ((d − 2)t/d) in place "
        "of Φ(t)",
        agree,
        len(series),
        words=f"equal for all k, for {agree} random polynomials Φ",
        wanted=f"equal for all {len(series)} polynomials",
    )


def _lemma(found: list[list[Fraction]]) -> Iterator[Finding]:
    """The lemma on random Φ, and μ_k < μ_{k+1} for some of them."""
    weak = sum(all(a >= b for a, b in zip(mu, mu[2:], strict=False)) for mu in found)
    least = min(min(mu) for mu in found)
    kernels = "kernels Φ(⟨x, y⟩/d) on {±1}^d with a random polynomial Φ"
    name = f"number of {kernels} whose eigenvalues satisfy μ_k ≥ μ_{{k+2}} for all k"
    wanted = f"all {len(found)}"
    yield same("lemma", name, weak, len(found), words=f"{weak}", wanted=wanted)
    name = f"smallest eigenvalue of all {len(found)} {kernels}"
    yield at_least("positive", name, "exact", least, 0, words=f"{least}", wanted="at least 0")
    full = sum(not all(a >= b for a, b in pairwise(mu)) for mu in found)
    yield at_least(
        "not-monotone",
        f"number of {kernels} whose eigenvalues satisfy μ_k < μ_{{k+1}} for some k",
        "exact",
        full,
        1,
        words=f"{full} of {len(found)}",
        wanted="at least 1, so that the eigenvalues do not always decrease with the degree k",
    )


def _counterexample() -> Finding:
    """The eigenvalues of t², which are not monotone."""
    found = eigenvalues(SQUARE, SQUARE_BITS)
    wanted = ["1/6", "0", "1/18", *["0"] * (SQUARE_BITS - 2)]
    return same(
        "counterexample",
        f"eigenvalues μ_0, …, μ_{SQUARE_BITS} of the kernel (⟨x, y⟩/d)² on {{±1}}^d for "
        f"d = {SQUARE_BITS}, where μ_1 < μ_2",
        [str(mu) for mu in found],
        wanted,
        words=", ".join(map(str, found)),
        wanted=", ".join(wanted),
    )


def _by_definition(series: list[list[Fraction]]) -> Finding:
    """Eigenvalues by shifts compared with means over all words."""
    cases = [(c, d) for c in series for d in range(1, WORDS + 1)]
    agree = sum(eigenvalues(c, d) == eigenvalues_by_definition(c, d) for c, d in cases)
    return same(
        "definition",
        f"eigenvalues of a kernel Φ(⟨x, y⟩/d) on {{±1}}^d by shifts of Φ, compared with means over "
        f"all words, d ≤ {WORDS}",
        agree,
        len(cases),
        words=f"equal for {agree} pairs of a random polynomial Φ and d",
        wanted=f"equal for all {len(cases)} pairs",
    )


def _eigenfunctions(c: list[Fraction], d: int = 4) -> Finding:
    """K χ_S = μ_{|S|} χ_S for every set S, at every word."""
    words, mu = all_sequences(d, 2), eigenvalues(c, d)
    cube = 1 - 2 * words
    values = {s: power_series(c, Fraction(s, d)) for s in range(-d, d + 1)}
    kernel = [[values[s] for s in row] for row in (cube @ cube.T).tolist()]
    agree = 0
    for chosen in words:
        chi = (1 - 2 * (words @ chosen % 2)).tolist()
        images = [sum(k * s for k, s in zip(row, chi, strict=True)) / 2**d for row in kernel]
        agree += images == [mu[int(chosen.sum())] * s for s in chi]
    return same(
        "eigenfunctions",
        "number of sets S of bits for which K χ_S = μ_|S| χ_S, where χ_S(x) = Π_{i ∈ S} x_i and K "
        f"is the matrix of a random kernel Φ(⟨x, y⟩/d) on {{±1}}^d, d = {d}",
        agree,
        2**d,
        words=f"{agree}",
        wanted=f"all {2**d} sets",
    )
