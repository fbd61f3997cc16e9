"""The claim `chebyshev`: a transformer computes k steps of Chebyshev's method."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import prod
from typing import Annotated, Any

import numpy as np

from constructions.regression.chebyshev import chebyshev_plan
from theory.kinds import InputError
from verify.claim import Run, claim, option
from verify.evidence.examples import in_float64
from verify.evidence.formula import derivation, formula
from verify.evidence.identity import equality
from verify.evidence.registers import registers_hold
from verify.evidence.size import size
from verify.finding import Finding, Verdict, within_bounds
from verify.regression.data import gaussian_examples
from verify.regression.options import NUMBERS, Equality, Explain, Prompts, in_each_domain
from verify.regression.statements import chebyshev_statement

ROUNDINGS = 40  # roundings in a factor: a logarithm, at most five exponentials, products and sums
DEGREES = (1, 4, 13, 40)  # the largest degrees after 1, …, 4 layers
LEAST_COMPARED = 2.0**-30  # rounding of the factors may dominate smaller residuals
LEAST_BOUND = 1e-300  # the squares of inputs near the smaller bound are normal numbers
MOST_STEPS = 5000  # coefficients are compared with exact fractions, which become long
GRID = Fraction(1, 2**44)  # factors are multiples of 2^−47, and one factor is 1 minus the others


@claim(
    faults_seen=[*in_each_domain(k=4, d=2, n=3), {"domain": "formula", "k": 4, "d": 2}],
)
def chebyshev(
    run: Run,
    *,
    k: Annotated[int, option("number of steps of the algorithm", min=1, max=MOST_STEPS)] = 10,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[
        int,
        option("number of examples in a prompt", min=1, max=10**4, only={"domain": NUMBERS}),
    ] = 10,
    smallest: Annotated[float, option("lower end a of the interval")] = 1.0,
    largest: Annotated[float, option("upper end b of the interval")] = 32.0,
    domain: Equality = "all",
    samples: Prompts = 50,
    explain: Explain = False,
) -> Iterator[Finding]:
    """For all examples X with labels y and all queries x_q, ⌈log₃(2k + 1)⌉ layers of linear
    attention predict x_qᵀ G_k Xᵀ y, where the weights G_k Xᵀ y are the result of k steps of
    Chebyshev's method on [a, b]. With S = XᵀX, the matrix I − S G_k is Chebyshev's residual
    polynomial R_k(S) on [a, b]. Let k = (3^L − 1)/2, and consider all polynomials p, independent of
    the prompt, for which L layers of linear or ReLU attention compute the prediction x_qᵀ p(S) Xᵀ
    y. The maximum of |1 − λp(λ)| for λ in [a, b] is smallest for the p with p(S) = G_k.

    R_k(λ) = T_k(l(λ))/T_k(σ), where T_k is the Chebyshev polynomial of degree k, l is the
    decreasing affine map of [a, b] onto [−1, 1], and σ = (b + a)/(b − a) is the value of l at 0.

    The layers compute R_k by product formulas such as T_3m = 4T_m³ − 3T_m. After division by
    T_k(σ), the coefficients of these formulas are quotients of the numbers T_0(σ), …, T_k(σ). These
    quotients, rounded to float64, are weights of the transformer. Two things are checked: the
    transformer computes the product formulas with these rounded coefficients, and the rounded
    coefficients equal those of Chebyshev's method up to rounding.
    """
    if not LEAST_BOUND <= smallest < largest < np.inf:
        raise InputError(
            f"smallest is {smallest:g} and largest is {largest:g}: give bounds with "
            f"{LEAST_BOUND:g} ≤ smallest < largest"
        )
    case = chebyshev_statement(run, smallest, largest).at(d, n, k)
    in_other_domains = equality(run, case, domain)
    derived = [derivation(case)] if explain else []
    if domain in ("all", "float"):
        examples = gaussian_examples(run, samples, n, d)
        best = _best_of_its_layers(run, smallest, largest)
    if domain in ("all", "formula"):
        yield formula(
            run, case, "the product formulas with the coefficients rounded as in the weights"
        )
    yield from derived
    yield size(case.model, case.of.theorem, d=d, k=k)
    yield _coefficients(k, smallest, largest)
    if domain in ("all", "float"):
        yield best
        yield in_float64(case, examples)
    yield from in_other_domains
    if domain == "all":
        yield registers_hold(run, case)


def _best_of_its_layers(run: Run, smallest: float, largest: float) -> Finding:
    """Compares the worst residual after L layers with the minimum over polynomials of that degree.

    L layers give I − S·G of degree m ≤ (3^L − 1)/2 and value 1 at 0.  For any m + 1 points λ_j,
    1 = R(0) = Σ_j R(λ_j) ℓ_j(0) with Lagrange's polynomials ℓ_j, so that max |R| ≥ 1/Σ_j |ℓ_j(0)|,
    which is computed over Q at points near the extrema of the Chebyshev polynomial.
    """
    reached, least = [], []
    for degree in DEGREES[: 3 if run.quick else 4]:
        model = chebyshev_statement(run, smallest, largest).at(1, 1, degree).model
        angles = np.linspace(0, np.pi, 20 * degree + 1)
        points = (largest + smallest) / 2 - (largest - smallest) / 2 * np.cos(angles)
        # One example x with label 3x, and the query 1: the answer is 3x²G(x²) = 3 − 3R(x²).
        x = np.sqrt(np.clip(points, smallest, largest))
        residuals = 1 - model(x[:, None, None], 3 * x[:, None], np.ones((len(x), 1))).numpy() / 3
        reached.append(float(np.abs(residuals).max()))
        at = {Fraction(float(point)) for point in np.clip(points[::20], smallest, largest)}
        weights = (
            prod((other / (other - here) for other in at if other != here), start=Fraction(1))
            for here in at
        )
        # In a short interval points coincide, and R may be 0 at m points.
        least.append(float(1 / sum(map(abs, weights))) if len(at) > degree else 0.0)
    compared = [pair for pair in zip(reached, least, strict=True) if pair[1] >= LEAST_COMPARED]
    if smallest < LEAST_COMPARED * largest:  # R is 1 up to the rounding of 1 − R
        compared = []
    met = [abs(far - near) <= 2.0**-40 + 2.0**-20 * near for far, near in compared]
    few = f" ({len(compared)} of these are compared; rounding dominates the others)"
    few *= len(compared) < len(least)
    return Finding(
        "best",
        f"maximum of |R| on [{smallest:g}, {largest:g}] for the residual polynomial R that L "
        f"layers compute, L = 1 … {len(reached)}",
        "float",
        reached,
        least,
        Verdict.together(map(Verdict.of, met)),
        words=", ".join(f"{value:.4g}" for value in reached) + few,
        wanted="the minimum over polynomials R of degree (3^L − 1)/2 with R(0) = 1, for each L",
    )


def _coefficients(k: int, smallest: float, largest: float) -> Finding:
    """Compares the rounded factors of every layer with the factors of the product formulas, over Q.

    From degrees q − 1 and q, with l/σ = 1 − αS and α = 2/(a + b),

        T_{3q} = 4T_q³ − 3T_q
        T_{3q−1} = 4T_q²T_{q−1} − 2l T_q − T_{q−1}
        T_{3q−2} = 4T_{q−1}²T_q − 2l T_{q−1} − T_q
        T_{3q+1} = 8l T_q³ − 4T_q²T_{q−1} − 4l T_q + T_{q−1}
    """
    low, high = Fraction(smallest), Fraction(largest)
    sigma, alpha = (high + low) / (high - low), 2 / (low + high)
    tau = [Fraction(1), sigma]
    while len(tau) < k + 2:
        tau.append(2 * sigma * tau[-1] - tau[-2])
    ratios, at = [], {"low": 0}
    for rungs in chebyshev_plan(k, smallest, largest):
        place = {degree: slot for slot, degree in reversed(at.items())}
        q = max(place)
        for rung in rungs:
            n, here = rung.exponent, place[q]
            wanted: dict[tuple[str, Any], Fraction] = {}
            if n in place:
                wanted = {("unchanged", place[n]): tau[n]}
            elif q == 0:
                wanted = {("unchanged", here): sigma, ("once", here): sigma * alpha}
            elif n == 3 * q:
                wanted = {
                    ("products", (here, here)): 4 * tau[q] ** 3,
                    ("unchanged", here): -3 * tau[q],
                }
            elif n == 3 * q + 1:
                before = place[q - 1]
                wanted = {
                    ("products", (here, here)): 8 * sigma * tau[q] ** 3,
                    ("cubed", here): 8 * sigma * tau[q] ** 3 * alpha,
                    ("products", (here, before)): -4 * tau[q] ** 2 * tau[q - 1],
                    ("unchanged", here): -4 * sigma * tau[q],
                    ("once", here): -4 * sigma * tau[q] * alpha,
                    ("unchanged", before): tau[q - 1],
                }
            else:
                two, one = (q, q - 1) if n == 3 * q - 1 else (q - 1, q)
                wanted = {
                    ("products", (place[two], place[one])): 4 * tau[two] ** 2 * tau[one],
                    ("unchanged", place[two]): -2 * sigma * tau[two],
                    ("once", place[two]): -2 * sigma * tau[two] * alpha,
                    ("unchanged", place[one]): -tau[one],
                }
            wanted = {name: value / tau[n] for name, value in wanted.items()}
            factors = {
                (kind, name): Fraction(value)
                for kind in ("products", "unchanged", "once", "cubed")
                for name, value in getattr(rung, kind).items()
            }
            size = sum(map(abs, wanted.values()), start=Fraction(0))
            for name in factors.keys() | wanted.keys():
                off = abs(factors.get(name, Fraction(0)) - wanted.get(name, Fraction(0)))
                unit = alpha if name[0] in ("once", "cubed") else Fraction(1)
                allowed = unit * (Fraction(ROUNDINGS, 2**53) * size + GRID)
                ratios.append(float(off / allowed))
        at |= {rung.slot: rung.exponent for rung in rungs}
    return within_bounds(
        "coefficients",
        f"largest ratio of the rounding error of a coefficient in the weights to its bound, over "
        f"{len(ratios)} coefficients of the formulas for T_n as products of T_q and T_{{q−1}}, q ≈ "
        "n/3",
        "exact",
        max(ratios, default=0.0),
        words=f"{max(ratios, default=0.0):.1%}",
        wanted=f"at most 100 % of the bound, which is {ROUNDINGS} roundings plus 2^−44",
    )
