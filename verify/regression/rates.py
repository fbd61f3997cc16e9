"""The claim `rates`: stated rates of convergence, checked at every step."""

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
from verify.finding import Finding, Verdict, at_least, no_counterexample, within_bounds
from verify.regression.residuals import RESIDUALS
from verify.regression.statements import chebyshev_statement

EPS = np.finfo(np.float64).eps


@claim(
    picture="verify.regression.pictures:rates_picture",
    faults_seen=[{"condition": 4.0, "d": 2, "digits": 50}],
)
def rates(
    run: Run,
    *,
    condition: Annotated[float, option("condition number κ of S, above 1 and below 1e8")] = 100.0,
    d: Annotated[int, option("dimension of the inputs", min=2, max=64)] = 8,
    digits: Annotated[
        int, option("decimal digits of the multiprecision run", min=20, max=10**5)
    ] = 5000,
) -> Iterator[Finding]:
    """Let S = XᵀX for the examples X, let λmax be the largest eigenvalue of S, and let κ be the
    condition number of S on its range. A step of gradient descent of size 1/λmax multiplies the
    error by at most 1 − 1/κ. Step k = 0, 1, … of the Newton–Schulz iteration multiplies the error
    by at most (1 − κ^−2)^(2^k) from the start S/λmax², and by at most (1 − 1/κ)^(2^k) from the
    start I/λmax. k steps of Chebyshev's method multiply the error by at most 2((√κ − 1)/(√κ +
    1))^k. For k steps of conjugate gradients, the same bound holds for the error in the energy
    norm.

    The error is the norm of the difference from the least-squares weights. Each inequality is
    checked at every step. For gradient descent, the Newton–Schulz iteration and Chebyshev's method,
    the steps are those of the hand-built transformers. Further findings state numbers of steps for
    a relative error ε. It is checked that each number suffices and, where the finding states so,
    that no smaller number does. It is also checked that each Newton step doubles the number of
    correct digits, up to thousands of digits.
    """
    if not 1 < condition < 1e8:
        raise InputError(f"condition is {condition}: give a number above 1 and below 1e8")
    problem = Problem(run.rng, condition, d)
    yield _gradient_descent_every_step(run, problem)
    yield from (_newton_every_step(run, problem, start) for start in STARTS)
    yield from _chebyshev_every_count(run, problem)
    yield _conjugate_gradient_every_step(problem)
    yield from map(_stated_count, COUNTS)
    yield _digits_double(run, run.limited(500, digits=digits))
    run.draw(problem.x, problem.y, problem.w, condition)


class Problem:
    """A noiseless regression problem of a given condition number.

    The d examples of dimension d are the rows of x (d, d). xᵀx has log-spaced eigenvalues from 1 to
    `condition` and a random eigenbasis. The labels are y = x w for random weights w.
    """

    def __init__(self, rng: np.random.Generator, condition: float, d: int) -> None:
        self.condition, self.eigenvalues = condition, np.geomspace(1, condition, d)
        root = np.sqrt(condition)
        self.rho = (root - 1) / (root + 1)
        basis, _ = np.linalg.qr(rng.standard_normal((d, d)))
        self.x = np.sqrt(self.eigenvalues)[:, None] * basis
        self.w = rng.standard_normal(d)
        self.y = self.x @ self.w
        # Rounding x and y changes the solution relatively by about κ·d·eps; eight times this
        # estimate is allowed.
        self.floor = 8 * d * EPS * condition * float(np.linalg.norm(self.w))

    def error(self, model: Any) -> tuple[float, float]:
        """The error of the weights that a model computes, and a bound on its rounding.

        The error is the norm of the difference from the weights w of the problem. The weights of
        the model are its predictions at unit vectors as queries.
        """
        d = len(self.w)
        x, y = np.broadcast_to(self.x, (d, d, d)), np.broadcast_to(self.y, (d, d))
        weights, rounding = transformer_in_float(model, x, y, np.eye(d))
        return float(np.linalg.norm(weights - self.w)), float(np.linalg.norm(rounding)) + self.floor


def _at_most_all(
    id: str, name: str, ratios: list[float], informative: list[bool], what: str, more: str = ""
) -> Finding:
    """Checks that no ratio of an error to its bound is above 1.

    A step is `informative` if rounding does not dominate its bound. The finding is undecided if
    rounding makes every step uninformative.
    """
    worst, hidden = float(np.max(ratios)), informative.count(False)
    words = f"at most {worst:.1%} of the bound over {len(ratios)} steps{more}"
    if hidden:
        words += f"; at {hidden} of them rounding dominates the bound"
    found = within_bounds(id, name, "float", worst, words=words, wanted=what)
    if hidden == len(ratios) and found.verdict is Verdict.HOLDS:
        found.verdict, found.detail = Verdict.UNDECIDED, "rounding dominates every bound"
    return found


def _every_step(
    id: str, name: str, errors: list[tuple[float, float]], factors: list[float], what: str
) -> Finding:
    """Checks error_{j+1} ≤ factor_j·error_j, up to the rounding of both.

    A step is informative if the identity map would violate its bound.
    """
    ratios, informative = [], []
    for ((before, slack), (after, slack_after)), factor in zip(
        pairwise(errors), factors, strict=True
    ):
        bound = factor * (before + slack) + slack_after
        ratios.append(after / bound)
        informative.append(bool(before > bound))
    return _at_most_all(id, name, ratios, informative, what)


def _gradient_descent_every_step(run: Run, problem: Problem) -> Finding:
    eta, d, steps = 1 / problem.eigenvalues[-1], len(problem.w), 10 if run.quick else 30
    errors = [problem.error(run.build(gradient_descent, d, k, eta)) for k in range(1, steps + 1)]
    errors.insert(0, (float(np.linalg.norm(problem.w)), problem.floor))
    factors, what = [1 - 1 / problem.condition] * steps, "‖e'‖ ≤ (1 − 1/κ)‖e‖ for every layer"
    name = "error ‖e'‖ after a layer of gradient descent, given the error ‖e‖ before the layer"
    return _every_step("gradient-descent", name, errors, factors, what)


def _newton_every_step(run: Run, problem: Problem, start: Start) -> Finding:
    """Checks e_{j+1} = E^{2^j} e_j, where the eigenvalues of E = I − S M₀ are in [0, ρ]."""
    power = 2 if start == "gram" else 1
    # ln ρ is computed directly, because 2^j would multiply the rounding of 1 − κ^−power.
    alpha, decay = problem.eigenvalues[-1] ** -power, np.log1p(-(problem.condition**-power))
    steps = newton_steps(problem.condition, 1e-12, start) + 1
    d = len(problem.w)
    errors = [problem.error(run.build(newton, d, k, alpha, start=start)) for k in range(steps + 1)]
    factors = [float(np.exp(2.0**j * decay)) for j in range(steps)]
    kind = "αS" if start == "gram" else "αI"
    name = f"error ‖e'‖ after Newton–Schulz step j from {kind}, given the error ‖e‖ before the step"
    rho = "1 − 1/κ²" if start == "gram" else "1 − 1/κ"
    what = f"‖e'‖ ≤ ρ^(2^j)‖e‖ with ρ = {rho}, for every step"
    return _every_step(f"newton/{start}", name, errors, factors, what)


def _chebyshev_every_count(run: Run, problem: Problem) -> Iterator[Finding]:
    """Checks the rate at every number of steps, and that the deepest model computes Chebyshev's
    method, since another method could have the same rate."""
    ratios, informative, first = [], [], float(np.linalg.norm(problem.w))
    most = 5 if run.quick else 40
    for k in range(1, most + 1):
        model = run.build(chebyshev, len(problem.w), k, 1.0, problem.condition)
        error, rounding = problem.error(model)
        bound = 2 * problem.rho**k * first
        ratios.append(error / (bound + rounding))
        informative.append(bool(rounding < bound))
    what = "‖e_k‖ ≤ 2ρ^k‖e_0‖ with ρ = (√κ − 1)/(√κ + 1), for every k"
    name = "error ‖e_k‖ after k steps of Chebyshev's method"
    yield _at_most_all("chebyshev", name, ratios, informative, what)
    found = modulo_primes(run, chebyshev_statement(run, 1.0, problem.condition).at(2, 3, most))
    found.id, found.name = "chebyshev/modular", f"Chebyshev's method, {found.name}"
    yield found


def _conjugate_gradient_every_step(problem: Problem) -> Finding:
    """Checks ‖e_k‖_S ≤ 2ρ^k ‖e_0‖_S at every step up to d."""
    first, S = problem.w, problem.x.T @ problem.x
    iterates, ratios = conjugate_gradient_iterates(problem.x, problem.y), list[float]()
    slack, informative = 8 * len(first) * EPS * problem.condition, list[bool]()
    for k, w in zip(range(len(first) + 1), iterates, strict=False):
        error = w - first
        energy = float(np.sqrt(error @ S @ error) / np.sqrt(first @ S @ first))
        bound = 2 * problem.rho**k
        ratios.append(energy / (bound + slack))
        informative.append(bool(slack < bound))
    name = "error ‖e_k‖_S after k steps of conjugate gradients"
    what = "‖e_k‖_S ≤ 2ρ^k‖e_0‖_S with ρ = (√κ − 1)/(√κ + 1), for every k"
    more = f"; the relative error after {len(first)} steps is {energy:.1e}"
    return _at_most_all("conjugate-gradient", name, ratios, informative, what, more)


class Count(NamedTuple):
    """A stated number of steps of a method for a condition number and a relative error.

    `steps` computes the number, and `words` is the formula for a condition number κ and a relative
    error ε. `least` is true if the number is stated to be the smallest. If `residual` is given, the
    residual of this method is evaluated in place of the residual of `method`.
    """

    method: str
    words: str
    steps: Callable[..., int]
    least: bool = True
    residual: str = ""


COUNTS = (
    Count("gradient descent", "⌈ln(1/ε)/−ln(1 − 1/κ)⌉", gradient_descent_steps),
    Count("Newton from αS", "⌈log₂(ln(1/ε)/−ln(1 − 1/κ²))⌉", newton_steps),
    Count(
        "Newton from αI", "⌈log₂(ln(1/ε)/−ln(1 − 1/κ))⌉", partial(newton_steps, start="identity")
    ),
    Count(
        "Newton",
        "⌈2 log₂κ + log₂ln(1/ε)⌉",
        lambda c, e: max(0, int(np.ceil(newton_steps_estimate(c, e)))),
        least=False,
        residual="Newton from αS",
    ),
    Count(
        "hyperpower of order 3", "⌈log₃(ln(1/ε)/−ln(1 − 1/κ²))⌉", partial(hyperpower_steps, order=3)
    ),
    Count(
        "Chebyshev",
        "the smallest k with 2ρ^k ≤ ε, where ρ = (√κ − 1)/(√κ + 1)",
        chebyshev_steps,
        least=False,
    ),
)


CASES = [(c, e) for c in (2.0, 10.0, 100.0, 1e4) for e in (1e-2, 1e-6, 1e-12)]


def _stated_count(count: Count) -> Finding:
    """Checks that the stated steps suffice on [1, κ], and are the fewest if the count is exact."""
    return no_counterexample(
        f"count/{count.method}".replace(" ", "-"),
        f"stated number of steps, {count.words}, in which {count.method} reaches the relative "
        "error ε at the condition number κ",
        _wrong_counts(count),
        evidence="float",
        words=f"this number suffices{', and no smaller number does,' * count.least} for "
        f"{len(CASES)} pairs of κ ≤ 1e4 and ε ≥ 1e−12",
        wanted="the smallest sufficient number" if count.least else "a sufficient number",
    )


def _wrong_counts(count: Count) -> Iterator[str]:
    """The pairs κ, ε for which the stated steps are too few, or fewer steps suffice."""
    for condition, epsilon in CASES:
        eigenvalues = np.geomspace(1, condition, 2001)
        k = count.steps(condition, epsilon)
        # The relative rounding error of a power with exponent N is about N·eps times its logarithm.
        allowance = 1 + 64 * EPS * np.log(1 / epsilon)

        def worst(k: int, lam: np.ndarray = eigenvalues, c: float = condition) -> float:
            return float(np.abs(RESIDUALS[count.residual or count.method](lam, k, c)).max())

        if worst(k) > epsilon * allowance:
            yield f"κ = {condition:g}, ε = {epsilon:g}: {k} steps are too few"
        if count.least and k > 1 and worst(k - 1) <= epsilon / allowance:
            yield f"κ = {condition:g}, ε = {epsilon:g}: {k - 1} steps suffice"


def _digits_double(run: Run, digits: int) -> Finding:
    """Checks that −log₁₀‖I − S M_j‖ at least doubles in every step, for thousands of digits."""
    x = run.rng.integers(-9, 10, size=(6, 3)).astype(float)
    norm = float(np.sqrt(((x.T @ x) ** 2).sum()))
    exponents = newton_digits(x, 1 / norm**2, digits=digits)
    # The inequality is trivial while the norm is above 1; precision limits the last exponent.
    ratios = [b / a for a, b in pairwise(exponents[:-1]) if a > 0]
    return at_least(
        "digits",
        "smallest ratio of the number of correct digits after a Newton–Schulz step to the number "
        f"before the step, in a computation with {digits} digits",
        "float",
        min(ratios, default=0.0),
        2 * (1 - 1e-12),
        words=f"{min(ratios, default=0.0):.6g}; the last numbers of correct digits are "
        + ", ".join(f"{e:.0f}" for e in exponents[-6:]),
        wanted="a ratio of at least 2",
    )
