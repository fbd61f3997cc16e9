"""Errata on attention dynamics: counterexamples to printed statements, and corrected statements."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from flint import arb, fmpq

from theory.memory.orthogonal_start import orthogonal_gap
from theory.memory.sphere import INTEGRATION
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import interval
from verify.finding import Finding, Verdict, at_most


def printed(run: Run) -> Iterator[Finding]:
    """Findings on two mistakes in [Geshkovski2023, Appendix D]: a decay bound and a constant.

    A Lean formalisation of arXiv:2312.10794v5 independently notes both mistakes.
    """
    yield decay_at_the_start()
    yield decay_later()
    yield pairs_from_a_point()


def decay_at_the_start() -> Finding:
    """The finding that the bound ½·exp((n²e^β/2 − nt)/(n + e^{β/2})) on 1 − γ(t) fails at early t.

    γ(t) is the inner product at time t of n tokens that start orthogonal, and β is the inverse
    temperature. For n = 2 and β = 0, γ(t) = tanh t, and the bound is false up to a time between
    0.0717 and 0.0718; until then, 1 − tanh t falls faster than the bound. At t = 0, where 1 − γ
    = 1, the bound is false if and only if the exponent is below ln 2. The exponent at t = 0
    is (n²e^β/2)/(n + e^{β/2}), which increases in n and in β. It is ln 2 at n = 2, β = 0.0468…,
    and 9/8 > ln 2 at n = 3, β = 0. So at t = 0 the bound is false only for n = 2 and β < 0.0468….
    """
    with Ball.precision(64):

        def bound(n: int, beta: arb, t: arb) -> arb:
            exponent = (n * n * beta.exp() / 2 - n * t) / (n + (beta / 2).exp())
            return exponent.exp() / 2

        def gap(t: arb) -> arb:  # for n = 2, β = 0
            return 1 - t.tanh()

        zero, early, later = arb(0), arb(fmpq(717, 10_000)), arb(fmpq(718, 10_000))
        violated = [
            bound(2, zero, zero) < 1,
            bound(2, arb(fmpq(468, 10_000)), zero) < 1,
            bound(2, zero, early) < gap(early),
        ]
        satisfied = [
            bound(2, arb(fmpq(469, 10_000)), zero) > 1,
            bound(3, zero, zero) > 1,
            bound(2, zero, later) > gap(later),
        ]
        wrong, at_start = Verdict.of(all(map(bool, violated + satisfied))), bound(2, zero, zero)
    name = "printed inequality 1 − γ(t) ≤ ½·exp((n²e^β/2 − nt)/(n + e^(β/2))) for all t ≥ 0"
    words = f"false until t = 0.0717 for n = 2, β = 0; it is 1 ≤ {float(at_start):.6f} at t = 0"
    wanted = "false at these t"
    found = interval(at_start)
    return Finding("clustering-decay", name, "enclosure", found, 1.0, wrong, words, wanted)


def decay_later() -> Finding:
    """The finding that the bound of `decay_at_the_start` on 1 − γ(t) holds for all t ≥ n·e^β/2.

    γ(t) is the inner product at time t of n tokens that start orthogonal, under softmax attention
    at inverse temperature β. Proof. Until γ = ½, γ' ≥ 1/(e^β + n − 1), because 1 − γ ≥ ½, (n − 1)γ
    + 1 ≥ 1 and e^β/e^{βγ} ≤ e^β.  So γ = ½ is reached at a time of at most (e^β + n
    − 1)/2 ≤ n·e^β/2. Afterwards the rate −(ln(1 − γ))' is at least its value at γ = ½, which is (n
    + 1)/(e^{β/2} + n − 1) ≥ n/(n + e^{β/2}).
    """
    fractions = []
    for n, beta in ((2, 0.0), (2, 2.0), (5, 1.0), (16, 0.5)):
        times = n * np.exp(beta) / 2 + np.linspace(0, 10, 21)
        bound = (n * n * np.exp(beta) / 2 - n * times) / (n + np.exp(beta / 2))
        fractions.append(orthogonal_gap(n, beta, times) / (0.5 * np.exp(bound)))
    fraction = float(np.max(fractions))
    name = (
        "1 − γ(t) as a fraction of ½·exp((n²e^β/2 − nt)/(n + e^(β/2))) for t ≥ n·e^β/2, for 4 "
        "pairs of n and β"
    )
    words = f"at most {fraction:.0%}"
    return at_most(
        "clustering-decay/corrected", name, "float", fraction, 1 + INTEGRATION, words=words
    )


def pairs_from_a_point() -> Finding:
    """The finding that a constant of a proof in [Geshkovski2023] must be 4 and not 1.

    Let x and x_i be unit vectors with 1 − ⟨x_i, x⟩ ≤ ε for all i. Then ‖x_i − x_j‖ ≤ 2√(2ε), so 1
    − ⟨x_i, x_j⟩ ≤ 4ε for all i and j. The proof in [Geshkovski2023] states 1 − ⟨x_i, x_j⟩ ≤ ε,
    which can be false.  In the example, two vectors x_i and x_j on opposite sides of x have the
    cosine c = (1 − q²)/(1 + q²) with x, for a rational number q. Then ε = 1 − c and 1 − ⟨x_i, x_j⟩
    = 2(1 − c²) = 2(1 + c)·ε. As q → 0, the factor 2(1 + c) = 4/(1 + q²) tends to 4.
    """
    ratios, factors = [], []
    for q in (fmpq(1, k) for k in (1, 2, 3, 10, 1000)):
        c, s = (1 - q * q) / (1 + q * q), 2 * q / (1 + q * q)
        ratios.append((1 - (c * c - s * s)) / (1 - c))
        factors.append(4 / (1 + q * q))
    found, name = (
        [float(r) for r in ratios],
        "largest 1 − ⟨x_i, x_j⟩ of tokens with 1 − ⟨x_i, x⟩ ≤ ε",
    )
    verdict = Verdict.of(ratios == factors and min(ratios) > 1)
    words = f"{', '.join(f'{r:.6g}' for r in found)} times ε for 5 rational pairs"
    wanted = "above ε, the printed bound, and at most 4 times ε"
    return Finding("clustering-pairs", name, "exact", found, [1, 4], verdict, words, wanted)
