"""Chebyshev's method: k steps in ⌈log₃(2k + 1)⌉ layers, the smallest possible number.

For eigenvalues in [a, b], the best residual polynomial of degree k with R(0) = 1 is

    R_k(λ) = T_k(l(λ)) / τ_k,   l(λ) = σ − 2λ/(b − a),   σ = (b + a)/(b − a),   τ_k = T_k(σ).

The obvious construction has one layer per step. But T_k satisfies product formulas that triple the
degree, and a trilinear head computes them. From T_{q−1} and T_q one obtains polynomials of degree
up to 3q + 1:

    T_{3q}   = 4 T_q³ − 3 T_q
    T_{3q−1} = 4 T_q² T_{q−1} − 2l T_q − T_{q−1}        T_{3q−2} = 4 T_{q−1}² T_q − 2l T_{q−1} − T_q
    T_{3q+1} = 8l T_q³ − 4 T_q² T_{q−1} − 4l T_q + T_{q−1}

The first three follow from 4T_a T_b T_c = T_{a+b+c} + T_{a+b−c} + T_{a−b+c} + T_{b+c−a} and the
three-term recurrence. The last equals 2l T_{3q} − T_{3q−1}.  The layers of `ladder.py` compute the
products R_a²R_c, S R and S R³ of residuals R, together with G such that S G = I − R. Here l = σ·R₁
with R₁ = I − αS and α = 2/(a + b). After division by τ, the factors of each formula sum to 1, since
R(0) = 1.

**Layers.**  From degree 0, L layers compute every pair of degrees n − 1, n with n ≤ M_L = (3^L −
1)/2. Proof: let q = ⌊(n + 1)/3⌋. Then n − 1 and n are among 3q − 2, …, 3q + 1, and q ≤ M_{L−1}
because 3q − 1 ≤ n ≤ 3M_{L−1} + 1. The pair 0, 1 is computed from degree 0. Fewer layers do not
suffice, because the prediction has degree 2k + 1.

**Optimality.**  M_L is the largest degree of a residual after L layers, and T_k/τ_k has the
smallest maximum on [a, b] among polynomials of degree k with value 1 at 0. So among all predictions
x_qᵀp(S)Xᵀy with a fixed polynomial p that L layers of linear or ReLU attention can compute, the
smallest possible maximum of the residual on [a, b] is 1/T_{M_L}(σ). This construction attains it.

**Rounding.**  Let σ = cosh θ. Then τ_q = cosh qθ = ½e^{qθ}(1 + e^{−2qθ}), so quotients of τ's are
computed without overflow. The quotients are rounded to multiples of 2^−47, so that factors sum to
exactly 1 and every sum of weights is exact. The transformer computes the rounded formulas exactly.
The rounding limits the residual: |R| ≤ 1/τ_k + 15^L·2^−44 after L layers, since the absolute
partial derivatives of each formula with respect to its T's sum to at most 15 on [a, b].
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from math import exp, frexp, log, log1p, sqrt
from typing import Annotated, Any, TypeAlias

from constructions.call import construction
from constructions.regression.convergence import with_interval
from constructions.regression.ladder import Plan, Rung, ladder, powers
from constructions.regression.ladder_layers import SLOTS, check_memory
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, Positive, Steps, Within
from theory.regression.matrices import NumberSystem, identity

FewerSteps: TypeAlias = Annotated[Steps, Within(most=10**100)]
"""An integer from 0 to 10¹⁰⁰, for which 211 layers suffice."""

# If 2/(a + b) is between MINUTE and 1/MINUTE, it is a normal float64.
MINUTE = 2.0**-960


@dataclass(frozen=True)
class Combinations:
    """The Chebyshev residuals R_n that a plan of layers computes, by degree n.

    R_n is the polynomial of degree n with R_n(0) = 1 that has the smallest maximum on the interval
    of the eigenvalues.
    """

    plan: tuple[tuple[Rung, ...], ...]

    def inverse(self, of: NumberSystem, S: Any, power: int) -> Any:
        """The matrix G with S·G = I − R, where R is the residual of degree `power` at the matrix S.

        Let R_n be the residual of degree n, and G_n the matrix with S·G_n = I − R_n. The plan gives
        R as a combination R = Σ f·R_a²R_c + Σ f·R_b − Σ f·S R_b − Σ f·S R_b³. Each sum is over
        degrees a, b, c smaller than `power`, with a factor f for each term, and the factors of the
        first two sums add up to 1. Hence G = Σ f·(G_a + R_a G_a + R_a²G_c) + Σ f·G_b + Σ f·R_b + Σ
        f·R_b³.
        """
        zero, unit = of.number(0) * S, identity(of, S.nrows())
        slots, found = {"low": zero, "high": zero}, {0: zero}

        def number(value: float) -> Any:
            return of.number(*value.as_integer_ratio())

        for rungs in self.plan:
            R, made = {slot: unit - S * G for slot, G in slots.items()}, {}
            for rung in rungs:
                G = zero
                for (a, c), f in rung.products.items():
                    G = G + number(f) * (slots[a] + R[a] * slots[a] + R[a] * R[a] * slots[c])
                for slot, f in rung.unchanged.items():
                    G = G + number(f) * slots[slot]
                for slot, f in rung.once.items():
                    G = G + number(f) * R[slot]
                for slot, f in rung.cubed.items():
                    G = G + number(f) * R[slot] * R[slot] * R[slot]
                made[rung.slot] = found[rung.exponent] = G
            if power in found:
                return found[power]
            slots |= made
        return found[power]


@construction
def chebyshev(d: Count, k: FewerSteps, smallest: Positive, largest: Positive) -> Transformer:
    """A transformer that computes k steps of Chebyshev's method for least squares.

    `chebyshev(d, k, smallest, largest)(x, y, x_query)` is the prediction x_qᵀ Q_k(S) Xᵀ y, where
    Q_k is a polynomial of degree k − 1, and Q_0 = 0. The rows of X are the examples x (…, n, d), y
    (…, n) are their labels, x_q = x_query (…, d) is the query, and S = XᵀX. Among all polynomials Q
    of degree k − 1, Q_k is the polynomial for which the residual R(λ) = 1 − λ·Q(λ) has the smallest
    maximum of |R| on [smallest, largest]. The formulas are in `chebyshev.py`. The model has
    ⌈log₃(2k + 1)⌉ layers of at most 9 linear heads and width at most 5d + 3. The model accepts any
    number of examples.

    If every non-zero eigenvalue λ of S lies in [smallest, largest], then |R(λ)| is at most 2((√κ −
    1)/(√κ + 1))^k with κ = largest/smallest, plus the rounding of the weights (see `chebyshev.py`).
    For |R(λ)| ≤ ε, ⌈log₃(√κ ln(2/ε) + 1)⌉ layers suffice. Newton's method requires j steps with
    2^j ≈ κ ln(1/ε). These steps require ⌈log₃(2·2^j + 1)⌉ ≈ ⌈log₃(2κ ln(1/ε) + 1)⌉ layers.

    Raises ValueError if smallest > largest, and if 2/(smallest + largest) or (smallest + largest)/2
    is outside the range of float64.

    Source: [Saad2003, Algorithm 12.1] for the method; the number of layers is proved in
    `chebyshev.py`.
    """
    if smallest > largest:
        raise InputError(
            f"smallest is {smallest:g} and largest is {largest:g}: "
            "give bounds with smallest ≤ largest"
        )
    if not MINUTE < smallest + largest < 1 / MINUTE:
        raise InputError(
            f"smallest is {smallest:g} and largest is {largest:g}, and their sum or the inverse of "
            "their sum is outside the range of float64: rescale the inputs and both bounds"
        )
    check_memory(d, log(k + 1, 3))
    plan = chebyshev_plan(k, smallest, largest)
    model = ladder(d, plan, Combinations(tuple(plan)), "[Saad2003, Algorithm 12.1]")
    return with_interval(model, k, smallest, largest)


def chebyshev_plan(k: int, smallest: float, largest: float) -> Plan:
    """The combinations of Chebyshev residuals, by layer, that lead from degree 0 to degree k.

    The residuals belong to the interval [smallest, largest].
    """
    if smallest == largest:  # σ is infinite, and T_k(l)/τ_k tends to (1 − λ/b)^k
        return powers(k, 1 / largest)
    wanted: list[tuple[int, ...]] = [(k,)]
    while wanted[0] != (0,):
        q = (wanted[0][-1] + 1) // 3
        alone = q == 0 or wanted[0] == (3 * q,)
        wanted.insert(0, (q,) if alone else (q - 1, q))
    return [
        tuple(
            _rung(dict(zip(below, SLOTS, strict=False)), n, slot, smallest, largest)
            for slot, n in zip(SLOTS, above, strict=False)
        )
        for below, above in pairwise(wanted)
    ]


def _rung(at: dict[int, str], n: int, slot: str, smallest: float, largest: float) -> Rung:
    """The rung of T_n/τ_n, from the degrees `at` in the slots of the previous layer."""
    alpha, q = 2 / (smallest + largest), max(at)
    if n in at:
        return Rung(slot, n, unchanged={at[n]: 1.0})
    if q == 0:  # T₀, and T₁/σ = 1 − αλ
        return Rung(slot, n, unchanged={"low": 1.0}, once={"low": alpha})
    # e^θ − 1 without cancellation, for κ near 1 and for large κ.
    growth = 2 * sqrt(smallest) * (sqrt(smallest) + sqrt(largest)) / (largest - smallest)
    angle = log1p(growth)

    def decay(degree: int) -> float:
        return exp(-min(degree, 2**1000) * angle)

    def times(factor: float, *degrees: int) -> float:
        """The product of factor and the 2τ of `degrees`, divided by 2τ_n and rounded to 2^−47."""
        product = factor * decay(n - sum(degrees)) / (1 + decay(2 * n))
        for degree in degrees:
            product *= 1 + decay(2 * degree)
        return round(product * 2**47) / 2**47

    def of_alpha(factor: float) -> float:
        """factor·α, rounded to 48 bits of α: sums of two such numbers are exact."""
        unit = 2.0 ** (frexp(alpha)[1] - 48)
        return round(factor * alpha / unit) * unit

    high = at[q]
    if n == 3 * q:
        cubic = times(1, q, q, q)
        return Rung(slot, n, {(high, high): cubic}, {high: 1 - cubic})
    low = at[q - 1]
    if n == 3 * q + 1:
        cubed, mixed, other = times(1, 1, q, q, q), times(1, q, q, q - 1), times(1, q - 1)
        left = 1 - cubed + mixed - other
        products = {(high, high): cubed, (high, low): -mixed}
        return Rung(
            slot,
            n,
            products,
            {high: left, low: other},
            {high: of_alpha(left)},
            {high: of_alpha(cubed)},
        )
    twice, single = (q, q - 1) if n == 3 * q - 1 else (q - 1, q)
    cubic, other = times(1, twice, twice, single), times(1, single)
    left = 1 - cubic + other
    a, c = at[twice], at[single]
    return Rung(slot, n, {(a, c): cubic}, {a: left, c: -other}, {a: of_alpha(left)})
