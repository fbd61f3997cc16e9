"""The maximum margin of modular addition with quadratic neurons, and neurons that attain it.

The network with neurons i, its logits f(a, b)_c for residues a, b, c mod p, and its normalised
margin are

    f(a, b)_c = Σ_i w_i(c) (u_i(a) + v_i(b))²,     u_i, v_i, w_i ∈ R^p,
    min_{a, b, c ≠ a+b} (f_{a+b} − f_c) / Σ_i ‖θ_i‖³,     θ_i = (u_i, v_i, w_i).

**Theorem** ([Morwani2023] for primes).  For every odd p ≥ 3 the normalised margin is at most
γ* = √(2/27) / (√p (p − 1)).

*Proof.*  The minimum is at most the mean over a, b and c ≠ a + b, which is a sum over neurons.  For
one neuron

    mean of f_{a+b} − f_c = 2/((p − 1) p) Σ_{a,b} u_a v_b w̃_{a+b},   w̃ = w − mean of w,     (1)

since the terms with u_a² and v_b² vanish: Σ_b w̃_{a+b} = 0.  With x̂_k = Σ_a x_a e^{−2πika/p}, (1)
equals

    2/((p − 1) p²) Σ_{k≠0} û_k v̂_k conj(ŵ_k).                                             (2)

By the inequality of arithmetic and geometric means |xyz| ≤ ((x² + y² + z²)/3)^{3/2}, so (2) is at
most 2/((p − 1)p²) Σ_{k≠0} (t_k/3)^{3/2} with t_k = |û_k|² + |v̂_k|² + |ŵ_k|².  By Parseval
Σ_k t_k = p‖θ‖²; p is odd, so k ≠ −k, and t_k = t_{−k}.  A sum of convex functions of the t_k is
largest if one pair k, −k has the whole sum, so that t_k = t_{−k} = p‖θ‖²/2.  So the mean is at most

    2/((p − 1) p²) · 2 (p/6)^{3/2} ‖θ‖³ = γ* ‖θ‖³.  ∎                                      (3)

The bound is attained.  For z = 1, …, (p − 1)/2 and ω = 2πz/p let c and s be the vectors of cos ωx
and sin ωx, x = 0, …, p − 1.  Take (u, v, w) = (c, c, c), (s, s, −c), (s, c, s), (c, s, s) and for
each of these also (u, −v, −w): 4(p − 1) neurons with ‖θ‖² = 3p/2.  As w(u + v)² − w(u − v)² = 4uvw
and cc·c − ss·c + (sc + cs)·s = cos(ω(a + b − c)),

    f_c = 4 Σ_z cos(ω(a + b − c)) = 2(p [c = a + b] − 1),

so f_{a+b} − f_c = 2p for all a, b and c ≠ a + b.  For even p, the frequencies k and −k coincide at
k = p/2, and (3) fails.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory import machine
from theory.arithmetic.congruence import OddModulus
from theory.kinds import InputError, Integers, Reals, Within, checked
from theory.scaling import near_one

Rows: TypeAlias = Annotated[Any, Reals("neurons p")]
"""u, v or w of all neurons, shape (neurons, p)."""


class Neurons(NamedTuple):
    """The weights u, v and w of the neurons of a network that adds mod p, each (neurons, p).

    Each of the three arrays has one row for each neuron, and one column for each of the numbers
    0 … p − 1.  For inputs a and b, a neuron with rows u, v and w adds (u_a + v_b)²·w_c to the logit
    of each residue c mod p.
    """

    u: np.ndarray
    v: np.ndarray
    w: np.ndarray


@checked
def largest_margin_squared(p: OddModulus) -> Fraction:
    """The square 2/(27 p (p − 1)²) of the maximum normalised margin of addition mod p, for odd p.

    The maximum is over all networks with the logits f(a, b)_c = Σ_i (u_i(a) + v_i(b))²·w_i(c).  The
    margin is the minimum of f(a, b)_{a+b} − f(a, b)_c over residues a, b and c ≠ a + b mod p.  The
    normalised margin is the margin divided by Σ_i ‖(u_i, v_i, w_i)‖³.
    """
    return Fraction(2, 27 * p * (p - 1) ** 2)


@checked
def modular_neurons(p: OddModulus) -> Neurons:
    """The weights of the 4(p − 1) neurons with the maximum normalised margin for addition mod p.

    For inputs a and b, the network has the logits f(a, b)_c = Σ_i (u_i(a) + v_i(b))²·w_i(c).  Its
    margin is the minimum of f(a, b)_{a+b} − f(a, b)_c over residues a, b and c ≠ a + b mod p.  The
    normalised margin is the margin divided by Σ_i ‖(u_i, v_i, w_i)‖³.  The weights are in float64.
    Raises `ValueError` if the neurons do not fit in memory.
    """
    machine.fits_in_memory(f"the {4 * (p - 1)} neurons", 200 * p * p, "give a smaller p")
    angles = 2 * np.pi * (np.outer(np.arange(1, (p + 1) // 2), np.arange(p)) % p) / p
    c, s = np.cos(angles), np.sin(angles)
    u, v, w = (np.concatenate(parts) for parts in ((c, s, s, c), (c, s, c, s), (c, -c, s, s)))
    return Neurons(*(np.concatenate(pair) for pair in ((u, u), (v, -v), (w, -w))))


@checked
def network_logits(u: Rows, v: Rows, w: Rows) -> np.ndarray:
    """The logits Σ_i (u_i(a) + v_i(b))²·w_i(c) of a network with quadratic neurons, (p, p, p).

    The three axes are the residues a, b and c mod p, where a and b are the inputs and the logits
    are for the outputs c.  The sum is over the neurons i, whose weights are the rows of u, v and w
    (neurons, p).  Raises `ValueError` for p < 2, and for logits that overflow float64 or do not fit
    in memory.
    """
    count, p = _sizes(u)
    numbers = 3 * count * p * p + p**3
    machine.fits_in_memory(f"{count} neurons of p = {p}", 8 * numbers, "give a smaller p")
    with np.errstate(over="ignore", invalid="ignore"):
        f = np.asarray(np.einsum("iab,ic->abc", (u[:, :, None] + v[:, None, :]) ** 2, w))
    return _within_float64(f)


@checked
def normalised_margin(u: Rows, v: Rows, w: Rows) -> float:
    """The normalised margin of a network for addition mod p; 0.0 if all weights are 0.

    For inputs a and b, the logit of c is f(a, b)_c = Σ_i (u_i(a) + v_i(b))²·w_i(c), as in
    `network_logits`.  The weights u_i, v_i and w_i of neuron i are the rows of u, v and w (neurons,
    p).  The margin is the minimum of f(a, b)_{a+b} − f(a, b)_c over residues a, b and c ≠ a + b mod
    p.  The normalised margin is the margin divided by Σ_i ‖(u_i, v_i, w_i)‖³.  Raises `ValueError`
    for p < 2, and for logits that do not fit in memory.
    """
    p = u.shape[1]
    (u, v, w), _ = near_one(np.stack([u, v, w]), (0, 1, 2))
    f, right = network_logits(u, v, w), np.add.outer(np.arange(p), np.arange(p)) % p
    of_right = np.take_along_axis(f, right[..., None], axis=-1)
    apart = of_right - f
    np.put_along_axis(apart, right[..., None], np.inf, axis=-1)
    lengths = cubed_norms(u, v, w)
    return float(apart.min() / lengths.sum()) if lengths.any() else 0.0


@checked
def mean_over_cubes(u: Rows, v: Rows, w: Rows) -> np.ndarray:
    """The mean margin of each neuron divided by the cubed norm of its weights, (neurons,).

    The weights of the neurons are the rows of u, v and w (neurons, p), for odd p.  For inputs a and
    b, a neuron adds f_c = (u(a) + v(b))²·w(c) to the logit of c.  Its mean margin is the mean of
    f_{a+b} − f_c over all residues a, b and c ≠ a + b mod p.  The cubed norm is ‖(u, v, w)‖³.  The
    result is at most √(2/27)/(√p (p − 1)), the maximum normalised margin of networks of such
    neurons.

    Raises `ValueError` for an even p, and for a neuron that is 0.
    """
    p, neurons, lengths = _of_odd_modulus(u, v, w)
    hats = np.fft.fft(neurons, axis=2)[..., 1:]
    total = (hats[0] * hats[1] * hats[2].conj()).real.sum(1)
    return np.asarray(2 / ((p - 1) * p**2) * total / lengths)


@checked
def frequency_fractions(u: Rows, v: Rows, w: Rows) -> np.ndarray:
    """The fraction of each neuron's squared norm ‖(u, v, w)‖² at each Fourier frequency.

    The rows of u, v and w (neurons, p) are the weights of the neurons, for odd p.  The result has
    shape (neurons, (p + 1)/2) for the frequencies k = 0, …, (p − 1)/2.  The part of the squared
    norm at k ≠ 0 is 2(|û_k|² + |v̂_k|² + |ŵ_k|²)/p, where û, v̂ and ŵ are the discrete Fourier
    transforms of the rows u, v and w.  At k = 0, the part is half of this expression.  By
    Parseval's identity the parts sum to the squared norm.  Raises `ValueError` for an even p, and
    for a neuron that is 0.
    """
    p, neurons, lengths = _of_odd_modulus(u, v, w)
    squares = (np.abs(np.fft.rfft(neurons, axis=2)) ** 2).sum(0)
    squares[:, 1:] *= 2
    return np.asarray(squares / (p * lengths[:, None] ** (2 / 3)))


@checked
def few_frequencies_margin(
    p: OddModulus, K: Annotated[Any, Integers("k", Within(least=1, below="p"))]
) -> float:
    """The margin of the logits Σ_{k ∈ K} cos(2πk(c − s)/p) of the candidates c, for any sum s.

    The candidates are c = 0, …, p − 1, and K is a set of frequencies.  The margin is the logit of s
    minus the largest other logit.  It is the minimum of Σ_{k ∈ K} (1 − cos(2πkd/p)) over d ≠ 0 mod
    p.  The mean of this sum over d ≠ 0 is |K| p/(p − 1), where |K| is the number of frequencies, so
    the margin is at most |K| p/(p − 1).  Raises `ValueError` if a frequency is repeated, or if the
    cosines do not fit in memory.
    """
    if len(np.unique(K)) < len(K):
        raise InputError(f"K is {K.tolist()}: give each frequency once")
    machine.fits_in_memory(f"{len(K)} frequencies mod {p}", 40 * p * len(K), "give a smaller p")
    turns = np.outer(np.arange(1, p), K) % p
    # 1 − cos 2x = 2 sin² x, without cancellation; p − turns has the same cosine
    return float((2 * np.sin(np.pi * np.minimum(turns, p - turns) / p) ** 2).sum(1).min())


@checked
def cubed_norms(u: Rows, v: Rows, w: Rows) -> np.ndarray:
    """The cubed norm ‖(u_i, v_i, w_i)‖³ of the weights of each neuron i, (neurons,).

    The arrays u, v and w have shape (neurons, p), and u_i, v_i and w_i are their rows.  Raises
    `ValueError` for p < 2, and for cubed norms that overflow float64.
    """
    _sizes(u)
    with np.errstate(over="ignore"):
        return _within_float64(((u**2).sum(1) + (v**2).sum(1) + (w**2).sum(1)) ** 1.5)


def _sizes(u: np.ndarray) -> tuple[int, int]:
    count, p = u.shape
    if p < 2:
        raise InputError(f"u, v and w have shape {u.shape}: give matrices with at least 2 columns")
    return count, p


def _of_odd_modulus(
    u: np.ndarray, v: np.ndarray, w: np.ndarray
) -> tuple[int, np.ndarray, np.ndarray]:
    """p, which must be odd, the neurons scaled to numbers near 1, and their cubed norms, not 0."""
    neurons, _ = near_one(np.stack([u, v, w]), (0, 2))
    p, lengths = u.shape[1], cubed_norms(*neurons)
    if p % 2 == 0:
        raise InputError(
            f"u, v and w have shape {u.shape}: give matrices with an odd number of columns, at "
            "least 3"
        )
    if not lengths.all():
        raise InputError(f"neuron {lengths.argmin()} is 0: remove this neuron")
    return p, neurons, lengths


def _within_float64(array: np.ndarray) -> np.ndarray:
    if not np.isfinite(array).all():
        raise InputError("cubes of u, v and w overflow float64 (1.8e308): rescale u, v and w")
    return np.asarray(array)
