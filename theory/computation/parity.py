"""The parity of the number of ones, and the margins of two transformers that compute it.

Words are arrays (…, n) of 0 and 1, and k is the number of ones of a word.  A signed logit is the
difference of the two logits with the sign of the right answer, so it is positive if the output is
right.  The functions of q and e apply to floats, fractions and Arb balls.
"""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from theory.kinds import Bits, Count, Steps, Within, checked


@checked
def parity(words: Bits) -> np.ndarray:
    """The parity (x₁ + … + x_i) mod 2 of each prefix x₁ … x_i of words of bits.

    The words and the result have shape (…, n). Entry i of the result belongs to the first i bits.
    """
    return np.cumsum(words, axis=-1) % 2


@checked
def signed_counts(n: Steps, q: Any) -> list[Any]:
    """The signed logits of a softmax head that computes the parity of n bits, for k = 0 … n ones.

    A signed logit is positive if the output is right.  The head attends to position k: it has the
    scores −β(j − k)² at positions j = 0 … n, where β is the inverse temperature, and the values
    (−1)^j.  With q = e^{−β} the signed logit of the head is
    Σ_j (−1)^{j−k} q^{(j−k)²} / Σ_j q^{(j−k)²}, with sums over j = 0 … n.  The signed logit is at
    least (1 − 2q)/(1 + 2q), for all n and k (see `least_signed_count`).
    """
    even, odd = [0 * q], [0 * q]  # sums of the weights at even and at odd distances 1 … m
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
    """The minimum (1 − 2q)/(1 + 2q) of `signed_counts` over all n and k, for 0 ≤ q ≤ 1.

    The minimum is attained at n = 2, k = 1.  Proof: position j has the weight q^{(j−k)²}.  Let E
    and O be the sums of the weights at even and at odd distances from k.  The signed logit is
    (E − O)/(E + O), so the claim is O ≤ 2qE.  There is at most one position at distance 1 on each
    side of k; together these have weight at most 2q·1, where 1 is the weight at distance 0.  A
    weight at distance m = 3, 5, … is q^{m²} ≤ 2q·q^{(m−1)²}, since m² ≥ 1 + (m − 1)², and distance
    m − 1 occurs on the same side.

    So the signed logit is positive at every length n if q < ½, that is, if the inverse temperature
    β is more than ln 2.  For n = 2 this condition is necessary.
    """
    return (1 - 2 * q) / (1 + 2 * q)


def one_side(r: int) -> dict[int, int]:
    """The coefficients of q + 2q Σ_{even m} q^{m²} − Σ_{odd m} q^{m²}, by power of the variable q.

    The sums are over m = 1 … r.  This polynomial occurs in the proof of `least_signed_count`, where
    position j has the weight q^{(j−k)²}, and E and O are the sums of the weights at even and at odd
    distances from k.  The polynomial is the contribution to 2qE − O of r positions on one side of k
    and of half of the weight at distance 0.
    """
    found = {1: 1}
    for m in range(1, r + 1):
        power, change = (m * m, -1) if m % 2 else (1 + m * m, 2)
        found[power] = found.get(power, 0) + change
    return found


@checked
def bounded_logit(n: Count, k: Annotated[Steps, Within(most="n")], e: Any) -> Any:
    """The signed logit of parity for k ones among n ≥ 1 bits, in the model of [ChiangCholak2022].

    Two heads with scores c·cos jπ and −c·cos jπ over positions j = 0 … n have the values
    (1/N)[j = k], where N = n + 1.  The logit is the difference of the outputs of the heads.  The
    parameter e is exp(c).  Let A and B be the numbers of even and of odd positions, and
    Z₊Z₋ = (Ae + B/e)(A/e + Be).  The signed logit is

        (e² − e⁻²)/(N Z₊Z₋) · {B if k is even, A if k is odd} > 0        for c > 0.
    """
    N = n + 1
    A, B = (N + 1) // 2, N // 2
    both = (A * e + B / e) * (A / e + B * e)
    return (A if k % 2 else B) * (e * e - 1 / (e * e)) / (N * both)


@checked
def mean_logit(n: Count, e: Any) -> Any:
    """The mean of `bounded_logit` over all words of n bits.

    With N = n + 1 and e = exp(c), the mean is sinh 2c/(N² cosh² c − [n even] sinh² c), where [n
    even] is 1 if n is even and 0 otherwise.
    """
    N, square = n + 1, e * e
    double, plus, minus = square - 1 / square, (e + 1 / e) ** 2, (e - 1 / e) ** 2
    return 2 * double / (N * N * plus - (1 - n % 2) * minus)
