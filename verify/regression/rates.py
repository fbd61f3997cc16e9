"""The claim `rates`: the stated rates of convergence, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np

from constructions import chebyshev, gradient_descent, newton
from theory.kinds import InputError
from theory.regression import (
    Start,
    chebyshev_steps,
    conjugate_gradient_iterates,
    gradient_descent_steps,
    hyperpower_steps,
    newton_digits,
    newton_steps,
    newton_steps_estimate,
)
from theory.regression.newton import STARTS
from verify.claim import Run, claim, option
from verify.evidence.agreement import transformer_in_float
from verify.evidence.identity import modulo_primes
from verify.finding import Finding, Verdict, at_least, at_most, no_counterexample
from verify.regression.residuals import RESIDUALS
from verify.regression.statements import chebyshev_statement

EPS = np.finfo(np.float64).eps


@claim(
    source="[Schulz1933]; [BenIsrael1965]; [Saad2003, sections 4.2, 6.11]; [Fu2024, section 3.1]",
    picture="verify.regression.pictures:rates_picture",
    faults_seen=[{"condition": 4.0, "d": 2, "digits": 50}],
)
def rates(
    run: Run,
    *,
    condition: Annotated[float, option("condition number κ of S")] = 100.0,
    d: Annotated[int, option("dimension of the inputs", min=2)] = 8,
    digits: Annotated[int, option("decimal digits of the high-precision run", min=20)] = 5000,
) -> Iterator[Finding]:
    """With κ the condition number of S, on its range: a step of gradient descent of size 1/λmax
    multiplies the error by at most 1 − 1/κ; step k of the Newton–Schulz iteration by at most
    (1 − κ^−2)^(2^k) from S/λmax² and (1 − 1/κ)^(2^k) from I/λmax; and k steps of Chebyshev's method
    or, in the energy norm, of conjugate gradients leave at most 2((√κ − 1)/(√κ + 1))^k of it.

    Each is checked by its own inequality at every step (of the hand-built transformers for gradient
    descent, Newton and Chebyshev), never by a fitted slope; the stated step counts are seen to be
    enough, and one step fewer not to be; and Newton's digits double up to thousands of them.
    """
    if not 1 < condition < 1e8:
        raise InputError(f"condition is {condition}: give a number between 1 and 1e8")
    problem = Problem(run.rng, condition, d)
    yield _gradient_descent_every_step(run, problem)
    yield from (_newton_every_step(run, problem, start) for start in STARTS)
    yield from _chebyshev_every_count(run, problem)
    yield _conjugate_gradient_every_step(problem)
    yield from map(_stated_count, COUNTS)
    yield _digits_double(run, 500 if run.quick else digits)
    run.draw(problem.x, problem.y, problem.w, condition)


class Problem:
    """x (d, d) with XᵀX of eigenvalues 1 … κ, log-spaced in a random basis, and y = X w."""

    def __init__(self, rng: np.random.Generator, condition: float, d: int) -> None:
        self.condition, self.eigenvalues = condition, np.geomspace(1, condition, d)
        root = np.sqrt(condition)
        self.rho = (root - 1) / (root + 1)
        basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
        self.x = np.sqrt(self.eigenvalues)[:, None] * basis
        self.w = rng.standard_normal(d)
        self.y = self.x @ self.w
        # Rounding x and y moves the solution by about κ·d·eps, relatively: an estimate, eight times
        # of which is allowed.
        self.floor = 8 * d * EPS * condition * float(np.linalg.norm(self.w))

    def error(self, model: Any) -> tuple[float, float]:
        """‖w_model − w‖ and a bound on the rounding in it; the unit vectors are the queries."""
        d = len(self.w)
        x, y = np.broadcast_to(self.x, (d, d, d)), np.broadcast_to(self.y, (d, d))
        weights, rounding = transformer_in_float(model, x, y, np.eye(d))
        return float(np.linalg.norm(weights - self.w)), float(np.linalg.norm(rounding)) + self.floor


def _at_most_all(
    id: str, name: str, shares: list[float], told: list[bool], what: str, more: str = ""
) -> Finding:
    """Errors as fractions of their bounds, none above 1; undecided if rounding hides every step.

    A step is `told` where a method that makes no step would miss the bound.
    """
    worst, hidden = float(np.max(shares)), told.count(False)
    words = f"{len(shares)} steps, at most {worst:.1%} of the bound{more}"
    if hidden:
        words += f"; at {hidden} of them the bound is that of rounding"
    found = at_most(id, name, "float", worst, 1.0, words=words, wanted=what)
    if hidden == len(shares) and found.verdict is Verdict.HOLDS:
        found.verdict, found.detail = Verdict.UNDECIDED, "rounding hides every step"
    return found


def _every_step(
    id: str, name: str, errors: list[tuple[float, float]], factors: list[float], what: str
) -> Finding:
    """error_{j+1} ≤ factor_j·error_j, up to the rounding in both."""
    shares, told = [], []
    for ((before, slack), (after, slack_after)), factor in zip(
        pairwise(errors), factors, strict=True
    ):
        bound = factor * (before + slack) + slack_after
        shares.append(after / bound)
        told.append(bool(before > bound))
    return _at_most_all(id, name, shares, told, what)


def _gradient_descent_every_step(run: Run, problem: Problem) -> Finding:
    eta, d, steps = 1 / problem.eigenvalues[-1], len(problem.w), 10 if run.quick else 30
    errors = [problem.error(run.build(gradient_descent, d, k, eta)) for k in range(1, steps + 1)]
    errors.insert(0, (float(np.linalg.norm(problem.w)), problem.floor))
    factors, what = [1 - 1 / problem.condition] * steps, "‖e'‖ ≤ (1 − 1/κ)‖e‖"
    return _every_step("gradient-descent", "gradient descent, every layer", errors, factors, what)


def _newton_every_step(run: Run, problem: Problem, start: Start) -> Finding:
    """e_{j+1} = E^{2^j} e_j with E = I − S M₀, whose eigenvalues lie in [0, ρ]."""
    power = 2 if start == "gram" else 1
    # ln ρ: 1 − κ^−power would be rounded, and 2^j makes much of it.
    alpha, decay = problem.eigenvalues[-1] ** -power, np.log1p(-(problem.condition**-power))
    steps = newton_steps(problem.condition, 1e-12, start) + 1
    d = len(problem.w)
    errors = [problem.error(run.build(newton, d, k, alpha, start=start)) for k in range(steps + 1)]
    factors = [float(np.exp(2.0**j * decay)) for j in range(steps)]
    name = f"Newton from {'αS' if start == 'gram' else 'αI'}, every step"
    return _every_step(f"newton/{start}", name, errors, factors, "‖e'‖ ≤ ρ^(2^j)‖e‖")


def _chebyshev_every_count(run: Run, problem: Problem) -> Iterator[Finding]:
    """The rate at every number of steps; and that the deepest model makes Chebyshev's, since one
    that makes other steps may be as fast."""
    shares, told, first = [], [], float(np.linalg.norm(problem.w))
    most = 5 if run.quick else 40
    for k in range(1, most + 1):
        model = run.build(chebyshev, len(problem.w), k, 1.0, problem.condition)
        error, rounding = problem.error(model)
        shares.append(error / (2 * problem.rho**k * first + rounding))
        told.append(bool(rounding < 2 * problem.rho**k * first))
    what = "‖e_k‖ ≤ 2ρ^k‖e_0‖"
    yield _at_most_all("chebyshev", "Chebyshev, every step count", shares, told, what)
    found = modulo_primes(run, chebyshev_statement(run, 1.0, problem.condition).at(2, 3, most))
    found.id, found.name = "chebyshev/modular", f"Chebyshev, {found.name}"
    yield found


def _conjugate_gradient_every_step(problem: Problem) -> Finding:
    """‖e_k‖_S ≤ 2ρ^k ‖e_0‖_S, and the exact solution after d steps."""
    first, S = problem.w, problem.x.T @ problem.x
    iterates, shares = conjugate_gradient_iterates(problem.x, problem.y), list[float]()
    slack, told = 8 * len(first) * EPS * problem.condition, list[bool]()
    for k, w in zip(range(len(first) + 1), iterates, strict=False):
        error = w - first
        energy = float(np.sqrt(error @ S @ error) / np.sqrt(first @ S @ first))
        shares.append(energy / (2 * problem.rho**k + slack))
        told.append(bool(slack < 2 * problem.rho**k))
    name, what = "conjugate gradient, every step", "‖e_k‖_S ≤ 2ρ^k‖e_0‖_S"
    more = f"; {energy:.1e} after {len(first)} steps"
    return _at_most_all("conjugate-gradient", name, shares, told, what, more)


class Count(NamedTuple):
    """The number of steps that is stated for (κ, ε), in words, and whether no fewer do.

    The residual is that of the method, unless another is named.
    """

    method: str
    words: str
    steps: Callable[..., int]
    least: bool = True
    residual: str = ""


COUNTS = (
    Count("gradient descent", "ln(1/ε)/−ln(1 − 1/κ)", gradient_descent_steps),
    Count("Newton from αS", "log₂(ln(1/ε)/−ln(1 − 1/κ²))", newton_steps),
    Count("Newton from αI", "log₂(ln(1/ε)/−ln(1 − 1/κ))", partial(newton_steps, start="identity")),
    Count(
        "Newton",
        "rounded up from 2 log₂κ + log₂ln(1/ε)",
        lambda c, e: max(0, int(np.ceil(newton_steps_estimate(c, e)))),
        least=False,
        residual="Newton from αS",
    ),
    Count(
        "hyperpower of order 3", "log₃(ln(1/ε)/−ln(1 − 1/κ²))", partial(hyperpower_steps, order=3)
    ),
    Count("Chebyshev", "2ρ^k ≤ ε", chebyshev_steps, least=False),
)


CASES = [(c, e) for c in (2.0, 10.0, 100.0, 1e4) for e in (1e-2, 1e-6, 1e-12)]


def _stated_count(count: Count) -> Finding:
    """The stated number of steps is enough on all of [1, κ], and the exact ones are the least."""
    return no_counterexample(
        f"count/{count.method}".replace(" ", "-"),
        f"stated step count of {count.method}, {count.words}",
        _wrong_counts(count),
        evidence="float",
        words=f"{len(CASES)} pairs of κ ≤ 1e4 and ε ≥ 1e−12",
        wanted="enough, and the least" if count.least else "enough",
    )


def _wrong_counts(count: Count) -> Iterator[str]:
    """The κ and ε for which there are too few or too many steps."""
    for condition, epsilon in CASES:
        eigenvalues = np.geomspace(1, condition, 2001)
        k = count.steps(condition, epsilon)
        # Relative rounding of a power with exponent N is about N·eps of its logarithm.
        allowance = 1 + 64 * EPS * np.log(1 / epsilon)

        def worst(k: int, lam: np.ndarray = eigenvalues, c: float = condition) -> float:
            return float(np.abs(RESIDUALS[count.residual or count.method](lam, k, c)).max())

        if worst(k) > epsilon * allowance:
            yield f"κ = {condition:g}, ε = {epsilon:g}: {k} is too few"
        if count.least and k > 1 and worst(k - 1) <= epsilon / allowance:
            yield f"κ = {condition:g}, ε = {epsilon:g}: {k - 1} is enough"


def _digits_double(run: Run, digits: int) -> Finding:
    """−log₁₀‖I − S M_j‖ at least doubles in every step of a run with thousands of digits."""
    x = run.rng.integers(-9, 10, size=(6, 3)).astype(float)
    norm = float(np.sqrt(((x.T @ x) ** 2).sum()))
    exponents = newton_digits(x, 1 / norm**2, digits=digits)
    # While the residual's norm is above 1 the inequality says nothing; the last is cut short.
    ratios = [b / a for a, b in pairwise(exponents[:-1]) if a > 0]
    return at_least(
        "digits",
        f"Newton's digits double, in {digits} digits",
        "float",
        min(ratios, default=0.0),
        2 * (1 - 1e-12),
        words="correct digits: …, " + ", ".join(f"{e:.0f}" for e in exponents[-6:]),
        wanted="each at least twice the one before",
    )
