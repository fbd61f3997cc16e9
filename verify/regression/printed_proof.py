"""Demonstrations of the mistakes in the printed proof of [Fu2024, Theorem 5.1].

A finding holds if the printed statement is false and the corrected statement is true on the scope
of the finding. The theorem is true; `constructions/regression/newton_paper.py` has a corrected
proof.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import numpy as np
from flint import fmpq

from constructions import newton
from constructions.transformer import Transformer
from theory.regression.matrices import identity
from verify.claim import Run
from verify.domains import Rational, Symbolic
from verify.finding import Finding, Verdict, same, shown


def printed(run: Run) -> Iterator[Finding]:
    """Yields one finding for each mistake in the printed proof."""
    yield equal_signs(run)
    yield printed_alpha()
    yield printed_expansions()
    yield fixed_alpha()
    yield product_in_an_mlp()
    yield causal_remark(run)


def equal_signs(run: Run) -> Finding:
    """Equations (21) and (28): the printed heads compute |u| in place of u, by one Newton layer.

    Two heads of equal sign compute relu(u) + relu(−u) = |u|; heads of opposite sign compute relu(u)
    − relu(−u) = u. Here u is a score.
    """
    d, n = 20, 40
    x, query = run.rng.standard_normal((n, d)), run.rng.standard_normal(d)
    alpha = 1 / np.linalg.eigvalsh(x.T @ x)[-1] ** 2
    right = newton(d, 1, alpha, "paper", n=n)
    as_printed = deepcopy(right)
    step = as_printed.blocks[3].attn
    assert step is not None
    step.W_O[1] = step.W_O[0]

    def content(model: Transformer, layer: int, register: str) -> np.ndarray:
        H = [*model.streams(x, np.zeros(n), query)][layer]
        return H[:, model.stream[register]].numpy()

    m = content(right, 3, "m")
    scores = content(right, 3, "x") @ m[:n].T

    def error_of(model: Transformer, scores: np.ndarray) -> float:
        """The relative error of the layer against 2(m − ½ Σ score·m)."""
        wanted = 2 * (m - 0.5 * scores @ m[:n])
        return float(np.linalg.norm(content(model, 4, "m") - wanted) / np.linalg.norm(wanted))

    rounding = 1e3 * np.finfo(float).eps * n
    error, repaired = error_of(as_printed, scores), error_of(right, scores)
    is_absolute = error_of(as_printed, np.abs(scores)) <= rounding
    return Finding(
        "newton-signs",
        "relative error, in one layer, of the product that the proof computes by two ReLU heads of "
        "equal sign, which compute |u| in place of u (eq. 21, 28)",
        "float",
        {"as printed": error, "repaired": repaired},
        {"as printed": 0.01, "repaired": rounding},
        Verdict.of(bool(is_absolute and repaired <= rounding and error > 0.01)),
        f"{error:.0%} as printed; with heads of opposite sign, only rounding errors",
        "above 1 % as printed, and only rounding errors as corrected",
    )


def printed_alpha() -> Finding:
    """Equation (37): with α = 2/‖SSᵀ‖₂, the residual does not tend to 0 in the top eigendirection.

    Let λ be the largest eigenvalue of S. The residual after k steps is (1 − αλ²)^(2^k), where αλ² =
    2. So the residual is −1 for k = 0 and 1 for all k ≥ 1. For S = diag(1, 2, 3), where ‖SSᵀ‖₂ = 9,
    the residuals for α = 2/9 and α = 1/9 are computed over Q.
    """
    domain = Rational()
    S = domain.matrix([[domain.number(i * (i == j)) for j in (1, 2, 3)] for i in (1, 2, 3)])
    unit = identity(domain, 3)

    def top_residuals(numerator: int) -> list[int | str]:
        M, residuals = domain.number(numerator, 9) * S, []
        for _ in range(8):
            residual = (unit - S * M).tolist()[2][2]
            residuals.append(int(residual) if residual.q == 1 else str(residual))
            M = domain.number(2) * M - M * S * M
        return residuals

    as_printed, half = "as printed", "with half of it"
    return same(
        "newton-alpha",
        "residuals 1 − αλ² in the top eigendirection after 0 … 7 steps, for α = 2/‖SSᵀ‖₂ (eq. 37) "
        "and for half of it",
        {as_printed: top_residuals(2), half: top_residuals(1)},
        {as_printed: [-1, *[1] * 7], half: [0] * 8},
        words=f"for α = 2/‖SSᵀ‖₂ they are {shown(top_residuals(2))}; for half of this α they are "
        f"{shown(top_residuals(1))}",
        wanted="no convergence for α = 2/‖SSᵀ‖₂, so that α < 2/‖SSᵀ‖₂ is required",
    )


Coefficients = tuple[tuple[int, ...], tuple[int, ...]]
"""The coefficients of αS, α²S³, α³S⁵, α⁴S⁷ in M₁ and in M₂."""

PRINTED: Coefficients = ((2, -4), (4, -12, 16, -16))
RIGHT: Coefficients = ((2, -1), (4, -6, 4, -1))


def printed_expansions() -> Finding:
    """Equations (38) and (39): the coefficients of M₁ and M₂ in powers of S, with M₀ = αS.

    M₁ and M₂ are the matrices after one and two Newton–Schulz steps. They are polynomials in S, so
    the equations are identities of polynomials.
    """
    domain = Symbolic(["a", "s"])
    a, s = domain.variables
    M, found = a * s, []
    for _ in range(2):
        M = 2 * M - M * s * M
        found.append(M)

    def stated(both: Coefficients) -> list[Any]:
        return [sum(c * a * s * (a * s**2) ** i for i, c in enumerate(each)) for each in both]

    differ = all(ours != theirs for ours, theirs in zip(found, stated(PRINTED), strict=True))
    return Finding(
        "newton-expansions",
        "M₁ and M₂ of the Newton–Schulz iteration as polynomials in α and S (eq. 38, 39)",
        "identity",
        RIGHT,
        PRINTED,
        Verdict.of(found == stated(RIGHT) and differ),
        "M₁ = 2αS − α²S³, M₂ = 4αS − 6α²S³ + 4α³S⁵ − α⁴S⁷",
        "different from the printed 2αS − 4α²S³ and 4αS − 12α²S³ + 16α³S⁵ − 16α⁴S⁷",
    )


def fixed_alpha() -> Finding:
    """For every α, the iteration diverges on some examples: α = 1/λmax² diverges on doubled inputs.

    S = XᵀX for the examples X, and λmax is its largest eigenvalue. After k steps, the residual on
    an eigenvector of S with eigenvalue λ is (1 − αλ²)^(2^k), which diverges for αλ² > 2.
    """
    S, longer = fmpq(1**2), fmpq(2**2)  # for x = (1) and x = (2)
    alpha = 1 / S**2
    residual = int(1 - longer * (alpha * longer))
    return Finding(
        "newton-any-examples",
        'convergence "on any examples", as printed: residual 1 − αλ² of the start on the single '
        "example x = (2), for the α = 1/λmax² of the example x = (1)",
        "exact",
        residual,
        1,
        Verdict.of(abs(residual) > 1),
        f"{residual}",
        "an absolute value above 1, so that the iteration with this α diverges on x = (2)",
    )


def product_in_an_mlp() -> Finding:
    """Proposition B.4 (`mul` in one layer): every ReLU MLP multiplies with an error.

    Consider the products t·t for 0 ≤ t ≤ 1. On these inputs (t, t), an MLP of M ReLU neurons is
    linear on at most M + 1 intervals, and one interval has length h ≥ 1/(M + 1). On this interval,
    let c be the line through the end points of the curve t², lowered by h²/8. The difference of t²
    and c is h²/8, −h²/8 and h²/8 at the left end, the middle and the right end. By the theorem of
    de la Vallée Poussin, every line has at least the distance h²/8 to t². So the error is at least
    h²/8 ≥ 1/(8(M + 1)²) for all weights. The arithmetic is checked for M = 4, 16, 64, 256.
    """
    half, neurons, exact = fmpq(1, 2), (4, 16, 64, 256), 0
    for M in neurons:
        h, errors = fmpq(1, M + 1), set()
        for piece in range(M + 1):
            left, right = piece * h, (piece + 1) * h
            chord = half * (left * left + right * right)
            # The smallest error of a line is half the distance between chord and curve in the
            # middle.
            middle = half * (left + right)
            errors.add(half * abs(chord - middle * middle))
        exact += errors == {fmpq(1, 8 * (M + 1) ** 2)}
    return same(
        "newton-products",
        "error of a ReLU MLP of M neurons that multiplies two entries of [0, 1] (prop. B.4), "
        f"M = {', '.join(map(str, neurons))}",
        exact,
        len(neurons),
        words="at least 1/(8(M + 1)²), whereas attention multiplies exactly",
        wanted="an error above 0, so that the printed MLP is not exact",
    )


def causal_remark(run: Run) -> Finding:
    """Remark B.6, evaluated literally: causal ReLU attention, divided by t, coefficient −1/2.

    Let x_1, …, x_n be examples of dimension d. For the first t examples, let Σ̂_t = (1/t) Σ_{i≤t}
    x_i x_iᵀ, and let M^(t) be the matrix of the Newton–Schulz iteration on Σ̂_t after some steps.
    The remark is stated without proof. It claims that if n is sufficiently larger than d, token t
    stores M^(t) x_t, up to the error of Σ̂_t.

    But in each step, token t adds −½ (1/t) Σ_{i≤t} m_i ⟨m_i, x_t⟩, where m_i = M^(i) x_i contains
    the matrix of the prefix of token i. So the sum is (1/t) Σ_{i≤t} M^(i) x_i x_iᵀ M^(i) x_t, and
    not M^(t) Σ̂_t M^(t) x_t. In this finding, the start is αΣ̂_t, and α is small enough for the
    iteration on every Σ̂_t to converge. However, the evaluated layers diverge. At most 40 steps are
    computed, until the relative error exceeds 1000.
    """
    d, n = 20, 40
    x = run.rng.standard_normal((n, d))
    sigma = np.stack([x[:t].T @ x[:t] / t for t in range(1, n + 1)])
    alpha = 1 / np.linalg.eigvalsh(sigma)[:, -1].max() ** 2
    M, errors = alpha * sigma, []
    for m in _causal_stream(x, alpha, 40):
        wanted = np.einsum("tij,tj->ti", M, x)
        errors.append(float(np.linalg.norm(m - wanted) / np.linalg.norm(wanted)))
        if errors[-1] > 1e3:
            break
        M = 2 * M - M @ sigma @ M
    return Finding(
        "newton-causal-remark",
        "relative error of the layers that remark B.6 defines for causal attention, after 0, 1, 2, "
        "… steps, d = 20",
        "float",
        errors,
        0,
        Verdict.of(errors[0] < 1e-9 and errors[1] > 0.01 and errors[-1] > 1e3),
        ", ".join(f"{e:.0e}" for e in errors),
        "above 1 % after one step and above 1000 at the end; the remark claims small errors",
    )


def _causal_stream(x: np.ndarray, alpha: float, k: int) -> Iterator[np.ndarray]:
    """m_t after the start and after each step, with the attention of [Fu2024, equation (36)].

    As relu(s)·v + relu(−s)·(−v) = s·v, each pair of heads is evaluated as a linear head.
    """
    counts = np.arange(1, len(x) + 1)[:, None]
    m = alpha * (np.tril(x @ x.T) / counts) @ x
    yield m
    for _ in range(k):
        m = 2 * (m - 0.5 * (np.tril(x @ m.T) / counts) @ m)
        yield m
