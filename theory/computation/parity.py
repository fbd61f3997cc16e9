"""The parity of the number of ones, and the margins of two transformers that compute it.

Words are arrays (…, n) of 0 and 1; k is the number of ones of one of them. Signed logits are those
of the right answer: positive where it is given. The functions of q, e and s are written for floats,
fractions and balls alike.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from theory.kinds import Bits, Count, Steps, Within, checked


@checked
def parity(words: Bits) -> np.ndarray:
    """(x₁ + … + x_i) mod 2 for each symbol of words (…, n), (…, n)."""
    return np.cumsum(words, axis=-1) % 2


@checked
def signed_counts(n: Steps, q: Any) -> list[Any]:
    """Σ_j (−1)^{j−k} q^{(j−k)²} / Σ_j q^{(j−k)²} over j = 0 … n, for k = 0 … n: (−1)^k times the
    sign (−1)^j that softmax attention with scores −β(j − k)², q = e^{−β}, finds.

    At least (1 − 2q)/(1 + 2q), for all n and k: see `least_signed_count`.
    """
    even, odd = [0 * q], [0 * q]  # the weights at even and at odd distances 1 … m
    for m in range(1, n + 1):
        power = q ** (m * m)
        even.append(even[-1] + (0 if m % 2 else power))
        odd.append(odd[-1] + (power if m % 2 else 0))
    found = []
    for k in range(n + 1):
        near, far = 1 + even[k] + even[n - k], odd[k] + odd[n - k]
        found.append((near - far) / (near + far))
    return found


def least_signed_count(q: Any) -> Any:
    """(1 − 2q)/(1 + 2q), the least of `signed_counts` over all n and k, 0 ≤ q ≤ 1, reached at
    n = 2, k = 1.

    With E and O the sums of the weights at even and at odd distances the bound is O ≤ 2qE.  On each
    side of k there is one weight q at distance 1, half of 2q·1; each of distance m = 3, 5, … has
    m − 1 before it, and q^{m²} ≤ 2q·q^{(m−1)²}, as m² ≥ 1 + (m − 1)².  So it is positive at every
    length if, and for n = 2 only if, q < ½, that is β > ln 2.
    """
    return (1 - 2 * q) / (1 + 2 * q)


def one_side(r: int) -> dict[int, int]:
    """q + 2q Σ_{even m} q^{m²} − Σ_{odd m} q^{m²}, m = 1 … r, as coefficients by power: a half of
    2qE − O, of the positions on one side of k."""
    found = {1: 1}
    for m in range(1, r + 1):
        power, change = (m * m, -1) if m % 2 else (1 + m * m, 2)
        found[power] = found.get(power, 0) + change
    return found


@checked
def bounded_logit(n: Count, k: Annotated[Steps, Within(most="n")], e: Any) -> Any:
    """The signed logit of the parity of k ones among n symbols, n ≥ 1, of [ChiangCholak2022].

    Two heads of scores ±c·cos jπ over positions 0 … n carry (1/N)[j = k], N = n + 1, and the answer
    is the difference of what they find. With e = e^c, A even and B odd ones among the N positions,
    and Z₊Z₋ = (Ae + B/e)(A/e + Be), it is

        (e² − e⁻²)/(N Z₊Z₋) · {B if k is even, A if k is odd} > 0        for c > 0.
    """
    N = n + 1
    A, B = (N + 1) // 2, N // 2
    both = (A * e + B / e) * (A / e + B * e)
    return (A if k % 2 else B) * (e * e - 1 / (e * e)) / (N * both)


@checked
def mean_logit(n: Count, e: Any) -> Any:
    """The mean of `bounded_logit` over all words of n letters: with N = n + 1 and e = e^c,

    sinh 2c/(N² cosh² c − [n even] sinh² c)
    """
    N, square = n + 1, e * e
    double, plus, minus = square - 1 / square, (e + 1 / e) ** 2, (e - 1 / e) ** 2
    return 2 * double / (N * N * plus - (1 - n % 2) * minus)
