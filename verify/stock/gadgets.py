"""The lemmas for the translation into stock models: exact, enclosed, or proved."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction

import numpy as np
from flint import arb

from constructions.stock import Gadgets
from constructions.stock.gadgets import GELU, kappa, lipschitz, stencil
from theory.balls import exactly
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS, all_hold, below, interval
from verify.finding import Finding, as_stated, at_least, at_most, same

ORDERS = range(1, 7)
OVER_Q = "equal over Q for p = 1 … 6"
THETAS = (0.1, 0.5)
ENDS = 8  # above this |x| the difference of GELU and ReLU has a bound by hand
LEAST = 2.0**-16  # the smallest width of the intervals
GAMMA = 2.0**-20


def lemmas(run: Run) -> Iterator[Finding]:
    """Yields the findings about norms, central differences, linear heads and GELU."""
    yield from stencils()
    yield neutral_norm(run)
    yield from linear_heads(run)
    yield gelu()


def stencils() -> Iterator[Finding]:
    """Yields the findings about the central difference of order 2p, over Q.

    For its coefficients c_m, the sum 2 Σ_m c_m m^{2i+1} is 1 for i = 0, 0 for 0 < i < p, and
    (−1)^{p+1} (2p + 1)!·κ_p for i = p. The constant Λ_p is Σ_m 2m|c_m|.
    """

    def moment(p: int, i: int) -> Fraction:
        terms = (2 * c * m ** (2 * i + 1) for m, c in enumerate(stencil(p), start=1))
        return sum(terms, start=Fraction(0))

    moments = [[moment(p, i) for i in range(p)] for p in ORDERS]
    wanted = [[Fraction(int(i == 0)) for i in range(p)] for p in ORDERS]
    name = (
        "central difference Σ_m c_m (f(m) − f(−m)) compared with f′(0) for polynomials f of degree "
        "at most 2p"
    )
    yield same("stencil", name, moments, wanted, words=OVER_Q)
    left = [(-1) ** (p + 1) * moment(p, p) / math.factorial(2 * p + 1) for p in ORDERS]
    constants = [kappa(p) for p in ORDERS] + [lipschitz(p) for p in ORDERS]
    sizes = [
        sum((2 * m * abs(c) for m, c in enumerate(stencil(p), start=1)), start=Fraction(0))
        for p in ORDERS
    ]
    name = (
        "remainder of the central difference compared with κ_p = (p!)²/(2p + 1)!, and Σ_m 2m|c_m| "
        "compared with Λ_p"
    )
    # The sign alternates, as the derivative of interpolation at 0 does.
    found = [abs(each) for each in left] + sizes
    yield same("remainder", name, found, constants, words=OVER_Q)


def gain(square: arb, constant: float, d: int) -> arb:
    """The factor g = (1 + ‖v‖²/(K² + dε/2))^(−1/2) by which a layer norm multiplies the stream v.

    `square` is ‖v‖², `constant` is K, and d is the width.
    """
    return 1 / (1 + square / (arb(constant) ** 2 + arb(d) * arb(EPSILON) / 2)).sqrt()


EPSILON = 2.0**-17  # a dyadic number near 1e-5, the ε of the stock norms


def neutral_norm(run: Run) -> Finding:
    """The finding that the layer norm of z = (v, K, 0, −v, −K, 0) is g·z, with 1 − γ ≤ g ≤ 1."""
    verdicts = []
    with Ball.precision(BITS):
        for exponent in (6, 18, 36):
            K = 2.0**exponent
            v = exactly(run.rng.normal(size=5))
            half = [*v, arb(K), arb(0)]
            z = half + [-each for each in half]
            d, square = len(z), sum((each * each for each in v), start=arb(0))
            mean = sum(z, start=arb(0)) / d
            variance = sum(((each - mean) ** 2 for each in z), start=arb(0)) / d
            weight = (2 * arb(K) ** 2 / d + arb(EPSILON)).sqrt()
            normed = [(each - mean) / (variance + arb(EPSILON)).sqrt() * weight for each in z]
            g = gain(square, K, d)
            # A float above ‖v‖²: γ then only takes powers of two, and rounding makes it no smaller.
            above = math.nextafter(float(square.upper()), math.inf)
            gamma = arb(Gadgets(1, 0.5, 8, K, 1.0).gamma(above))
            pairs = zip(normed, z, strict=True)
            verdicts += [below(abs(entry - g * each), arb(2) ** -200) for entry, each in pairs]
            verdicts += [below(1 - gamma, g), below(g, arb(1))]
    name = (
        "factor g by which a layer norm multiplies (v, K, 0, −v, −K, 0), compared with the bounds "
        "1 − ‖v‖²/(2K²) and 1"
    )
    finding = all_hold("norm", name, verdicts, words="g is between the bounds")
    return as_stated(finding, Gadgets(1, 0.5, 8, 3.0, 1.0).gamma(4.5), 4.5 / 18)


def linear_heads(run: Run) -> Iterator[Finding]:
    """Yields the findings about 2p softmax heads and a sink in place of one linear head.

    Their output is compared in ball arithmetic with Σ s_i v_i, the output of a linear head with
    scores s_i and values v_i.
    """
    plain, shrunk = [], []
    with Ball.precision(BITS):
        for p in ORDERS:
            for theta in THETAS:
                for bits in (12, 200):
                    numbers = Gadgets(p, theta, bits, 1.0, 1.0)
                    s, v = run.rng.uniform(-2, 2, size=6), run.rng.normal(size=6)
                    plain.append(below(*head_error(numbers, s, v)))
                    for gamma in (GAMMA, 0.25 / numbers.sink):
                        shrunk.append(below(*head_error(numbers, s, v, gamma)))
        worst, bound = head_error(Gadgets(1, 0.1, 200, 1.0, 1.0), np.array([2.0]), np.ones(1))
        fraction = interval(worst / bound)
    name = "error of 2p softmax heads in place of a linear head, compared with its bound"
    met = "the error is at most the bound"
    # The remainders of central differences are θ²/6 and θ⁴/30 times the largest derivative, and a
    # sink of score 12 ln 2 changes 3 tokens by slopes of at most 1 and 5/3.
    theta, few = 0.5, 1e-6
    two = [Gadgets(p, theta, 12, 1.0, 1.0) for p in (1, 2)]
    methods = [theta**2 / 6 * math.exp(theta), theta**4 / 30 * math.exp(2 * theta)]
    sinks = [6 * slope * math.exp(2 * p * theta) / 2**12 for p, slope in ((1, 1.0), (2, 5 / 3))]
    normed = [
        2 * a + 3 * b + few * (3 + 36 * math.log(2)) for a, b in zip(methods, sinks, strict=True)
    ]
    found = all_hold("linear-head", name, plain, words=met)
    heads = [numbers.head(theta, 3) for numbers in two]
    yield as_stated(found, heads, [a + b for a, b in zip(methods, sinks, strict=True)])
    name = (
        "error of 2p softmax heads in place of a linear head, after norms that multiply by 1 − γ, "
        "compared with its bound"
    )
    found = all_hold("linear-head/norms", name, shrunk, words=met)
    yield as_stated(found, [numbers.with_norms(theta, 3, few) for numbers in two], normed)
    name = (
        "error of 2 softmax heads in place of a linear head with one score, divided by its bound, "
        "for the largest scaled score θ = 0.1"
    )
    words = f"from {fraction[0]:.3f} to {fraction[1]:.3f}"
    yield at_least(
        "linear-head/met", name, "enclosure", fraction, 0.9, words=words, wanted="at least 0.9"
    )


def head_error(
    numbers: Gadgets, s: np.ndarray, v: np.ndarray, gamma: float = 0.0
) -> tuple[arb, arb]:
    """The distance of the output of 2p softmax heads from Σ s_i v_i, and the bound on it.

    s_i are scores, of which the largest is B in absolute value, and v_i are values. If γ = `gamma`
    > 0, layer norms multiply the query token, the sink and every second token by 1 − γ.
    """
    B = float(abs(s).max())
    delta, large = arb(numbers.theta) / arb(B), arb(2) ** numbers.bits
    gains = [1 - arb(gamma) * (i % 2) for i in range(len(s))]
    scores, values = exactly(s), exactly(v)
    seen = [g * value for g, value in zip(gains, values, strict=True)]
    total, sink = arb(0), (large.log() * (1 - arb(gamma)) ** 2).exp()
    for m, c in enumerate(stencil(numbers.order), start=1):
        for sign in (1, -1):
            read = [g * (1 - arb(gamma)) * each for g, each in zip(gains, scores, strict=True)]
            weights = [(sign * m * delta * each).exp() for each in read]
            mixed = sum((w * x for w, x in zip(weights, seen, strict=True)), start=arb(0))
            average = mixed / (sink + sum(weights, start=arb(0)))
            total += sign * arb(c.numerator) / c.denominator * large / delta * average
    exact = sum((a * b for a, b in zip(scores, values, strict=True)), start=arb(0))
    size, n = B * float(abs(v).sum()), len(s)
    off = numbers.with_norms(numbers.theta, n, gamma) if gamma else numbers.head(numbers.theta, n)
    return abs(total - exact), arb(size * off * (1 + 1e-12))


def distances(x: arb) -> tuple[arb, arb]:
    """|gelu(x) − relu(x)| for x ≥ 0, for GELU and for GPT-2's approximation of GELU.

    The distances are x·erfc(x/√2)/2 and x·(1 − tanh t)/2, where t = √(2/π)(x + 0.044715x³).
    """
    t = (arb(2) / arb.pi()).sqrt() * (x + arb("0.044715") * x**3)
    return x * (x / arb(2).sqrt()).erfc() / 2, x / ((2 * t).exp() + 1)


def gelu() -> Finding:
    """The finding on |gelu(x) − relu(x)| for all real x, for both forms of GELU.

    Both differences are even in x. For x > 8, they are at most x·e^{−x²/2}/2 and x·e^{−2t} with
    t ≥ √(2/π)x, and these bounds decrease.
    """
    largest, cells = 0.0, [(0.0, float(ENDS))]
    with Ball.precision(64):
        while cells:
            low, high = cells.pop()
            x = arb((low + high) / 2, (high - low) / 2)
            upper = float(arb.max(*distances(x)).upper())
            # the ball is too wide, or the bound is too small
            if not upper <= GELU and high - low > LEAST:
                cells += [(low, (low + high) / 2), ((low + high) / 2, high)]
            elif not upper <= largest:  # also for NaN, which is undecided
                largest = upper
        end = arb(ENDS)
        root = (arb(2) / arb.pi()).sqrt()
        beyond = arb.max(end * (-end * end / 2).exp() / 2, end * (-2 * root * end).exp())
        measured = max(largest, float(beyond.upper()))
    name = "largest |gelu(x) − relu(x)| over all x, for GELU and for GPT-2's approximation of GELU"
    return at_most("gelu", name, "proved", measured, GELU)
