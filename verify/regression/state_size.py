"""The claim `state-size`: layers and examples with O(d) and with d² numbers per token."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import pairwise
from math import acosh, ceil, log
from typing import Annotated

import numpy as np

from theory.regression import newton_steps, optimal_gradient_descent_steps
from verify.claim import Run, claim, option
from verify.domains import Modular, random_prime
from verify.evidence.examples import degree_of
from verify.evidence.identity import modulo_primes, over_the_rationals
from verify.evidence.statement import Case
from verify.evidence.statistics import ERRORS, estimated
from verify.finding import Finding, Verdict, at_least, same
from verify.ledger.theorems import theorem
from verify.regression.residuals import RESIDUALS
from verify.regression.statements import descent_statement, newton_statement, online_statement

CONDITIONS = tuple(4.0**i for i in range(2, 8))
SHRINK = 1e-3  # the residual
CAUSAL = "newton-causal-ladder-identity"
LAYERS = range(1, 7)  # numbers of layers after which degrees are computed


@claim(
    picture="verify.regression.pictures:state_size_picture",
    faults_seen=[{"samples": 16}],
)
def state_size(
    run: Run,
    *,
    samples: Annotated[
        int, option("number of random streams for the one-pass method", min=2, max=10**5)
    ] = 200,
) -> Iterator[Finding]:
    """For 0 < ε < 1 < κ, a polynomial R with R(0) = 1 and |R| ≤ ε on [1, κ] has degree at least k =
    arcosh(1/ε)/arcosh((κ + 1)/(κ − 1)) ≈ ½√κ ln(2/ε). If an algorithm computes weights p(S)Xᵀy with
    a polynomial p, where the eigenvalues of S = XᵀX are in [1, κ], its residual polynomial is R(t)
    = 1 − t·p(t). So at least k causal layers are necessary if each layer multiplies once by the
    matrix S of a prefix. In contrast, ½ log₃ κ + O(1) layers of full attention suffice, and log₃ κ
    + O(1) causal layers suffice if each token stores d² numbers, where d is the dimension of the
    inputs.

    The numbers of layers with O(1) are for a fixed accuracy ε and κ → ∞. With a state of d numbers,
    one pass of online gradient descent is observed to require a number of examples that is linear
    in κ. If each layer reads the examples once, L causal layers give a polynomial of degree L in
    the matrix S of a prefix, and Chebyshev's polynomial has the smallest residual among all
    polynomials of this degree. In two other cases the degree triples in every layer, so O(log κ)
    layers suffice: if tokens store d² numbers and multiply matrices of their prefix, or under full
    attention, where all tokens have the same matrix S. The findings report the numbers of steps of
    gradient descent, Chebyshev's method and the Newton–Schulz iteration, and check that no
    polynomial of a smaller degree than that of Chebyshev's method has a residual below ε. An
    argument, but not a proof, suggests that other causal constructions of width O(d) do not have
    fewer layers: the results of an earlier token depend on the matrix S of another prefix.
    """
    yield from _degrees(run)
    yield from _the_same_weights(run)
    counts = steps_against_condition()
    yield from _stated_counts(counts)
    yield _no_krylov_method_is_faster(counts["Chebyshev"])
    for name, steps in (("chebyshev", "Chebyshev"), (CAUSAL, "Newton from αI")):
        counts[name] = [theorem(name).sizes["layers"](k=k) for k in counts[steps]]
    yield from _few_layers(counts)
    conditions = CONDITIONS[1:4] if run.quick else CONDITIONS[2:]
    examples = one_pass_examples(run, conditions, run.limited(16, samples=samples))
    yield _one_pass(examples)
    run.draw(CONDITIONS, counts, examples)


def _degrees(run: Run) -> Iterator[Finding]:
    """Compares the degree in the prompt, d = n = 1, with 2L + 1 (causal) and 3^L (full).

    The predictions must be those of gradient descent, which is checked modulo a random prime.
    """
    causal, full = (descent_statement(run, mask, 0.5) for mask in ("causal", "ladder"))
    domain = Modular(random_prime(run.rng))

    def degree(case: Case) -> int | str:
        predicts = case.agrees(case.random(domain, run.rng))
        return degree_of(case) if predicts else f"{case}: not the prediction of gradient descent"

    yield same(
        "degree/causal",
        "degree, as a polynomial in the prompt, of the prediction after L = 1 … 6 causal layers",
        [degree(causal.at(1, 1, L)) for L in LAYERS],
        [2 * L + 1 for L in LAYERS],
        evidence="identity",
        wanted="2L + 1, that is, degree L − 1 in S",
    )
    yield same(
        "degree/full",
        "degree, as a polynomial in the prompt, of the prediction after L = 1 … 6 layers of full "
        "attention",
        # The ladder with (3^L − 1)/2 steps of gradient descent has L layers.
        [degree(full.at(1, 1, (3**L - 1) // 2)) for L in LAYERS],
        [3**L for L in LAYERS],
        evidence="identity",
        wanted="3^L, the upper bound",
    )


def _the_same_weights(run: Run) -> Iterator[Finding]:
    """Checks that the constructions of the argument compute the algorithms that it states."""
    causal, full = (descent_statement(run, mask, 2.0**-4) for mask in ("causal", "ladder"))
    rereading = modulo_primes(run, causal.at(2, 4, LAYERS[-1]))
    online = over_the_rationals(run, online_statement(run).at(2, 4, 0))
    tripling = modulo_primes(run, full.at(2, 4, (3 ** LAYERS[-1] - 1) // 2))
    steps = 2 if run.quick else 5
    inverse = newton_statement(run, "causal-ladder", "identity", 2.0**-4)
    own = modulo_primes(run, inverse.at(2, 4, steps))
    for found, id, name in (
        (
            rereading,
            "rereading",
            "in causal layers that each read the examples, for gradient descent on every prefix",
        ),
        (
            online,
            "sharing",
            "in causal layers that share the residuals of examples, for online gradient descent",
        ),
        (
            tripling,
            "tripling",
            "in layers of full attention, each of which triples the number of gradient steps",
        ),
        (
            own,
            "own",
            "in causal layers with d² numbers per token, each of which triples the power of the "
            "residual of a prefix",
        ),
    ):
        found.id, found.name = id, f"{found.name}, {name}"
        yield found


METHODS: dict[str, tuple[Callable[[float, float], int], str]] = {
    "gradient descent": (optimal_gradient_descent_steps, "≈ ½ κ ln(1/ε)"),
    # The smallest k with 1/T_k((κ + 1)/(κ − 1)) ≤ ε.
    "Chebyshev": (lambda c, e: ceil(acosh(1 / e) / acosh((c + 1) / (c - 1))), "≈ ½ √κ ln(2/ε)"),
    "Newton from αS": (newton_steps, "≈ 2 log₂κ + log₂ln(1/ε), and so 4 more steps for 4κ"),
    "Newton from αI": (
        partial(newton_steps, start="identity"),
        "≈ log₂κ + log₂ln(1/ε), and so 2 more steps for 4κ",
    ),
}
"""The steps stated for κ and ε, and their asymptotics in words."""


def steps_against_condition() -> dict[str, list[int]]:
    """The smallest number of steps that reduce the residual to 1e−3, for each method.

    For each κ in `CONDITIONS`, the residual polynomial R_k after k steps satisfies |R_k| ≤ 1e−3 on
    [1, κ]. The numbers are found by search.
    """
    return {name: [_least_steps(name, condition) for condition in CONDITIONS] for name in METHODS}


def _least_steps(method: str, condition: float) -> int:
    # Points equally spaced in the angle θ of T_k(cos θ) = cos kθ, including the ends.
    angles = np.linspace(0, np.pi, 20001)
    eigenvalues = (condition + 1) / 2 - (condition - 1) / 2 * np.cos(angles)
    residual = RESIDUALS[method + " at its best step" * (method == "gradient descent")]

    def enough(k: int) -> bool:
        return bool(np.abs(residual(eigenvalues, k, condition)).max() <= SHRINK)

    high = 1
    while not enough(high):
        high *= 2
    return bisect_left(range(high), True, lo=high // 2, key=enough)


def _stated_counts(counts: dict[str, list[int]]) -> Iterator[Finding]:
    for name, (stated, wanted) in METHODS.items():
        found = counts[name]
        growth = (
            f"on average, {per_factor_of_four(found):.2f} more steps for 4κ than for κ"
            if name.startswith("Newton")
            else f"the fitted exponent of κ is {fitted_exponent(found):.2f}"
        )
        yield same(
            f"steps/{name.replace(' ', '-')}",
            f"smallest number of steps of {name} that reduce the residual to ε = 1e−3, for "
            "condition numbers κ = 4², …, 4⁷",
            found,
            [stated(condition, SHRINK) for condition in CONDITIONS],
            evidence="float",
            words=f"{', '.join(map(str, found))}; {growth}",
            wanted=wanted,
        )


def fitted_exponent(counts: list[int]) -> float:
    """The exponent of κ in `counts`, fitted by least squares.

    `counts` are numbers of steps for the condition numbers κ in `CONDITIONS`. The exponent is the
    slope of their logarithms against log κ.
    """
    return float(np.polyfit(np.log(CONDITIONS), np.log(counts), 1)[0])


def per_factor_of_four(counts: list[int]) -> float:
    """The mean increase of `counts` from a condition number κ to the condition number 4κ.

    `counts` are numbers of steps for the condition numbers in `CONDITIONS`.
    """
    return float(np.diff(counts).mean())


def _no_krylov_method_is_faster(counts: list[int]) -> Finding:
    """Checks that Chebyshev's count is the smallest degree with R(0) = 1 and |R| ≤ ε on [1, κ].

    If a polynomial of degree k had a smaller maximum than T_k(l)/τ_k, their difference would change
    sign between the k + 1 extrema of T_k, which are checked, and vanish at 0. With k + 1 zeros, it
    would be 0.
    """
    alternate = []
    for condition, count in zip(CONDITIONS, counts, strict=True):
        angles = np.pi * np.arange(count) / max(count - 1, 1)
        extrema = (condition + 1) / 2 - (condition - 1) / 2 * np.cos(angles)
        values = RESIDUALS["Chebyshev"](extrema, count - 1, condition)
        signs = values[1:] * values[:-1] < 0
        alternate.append(bool((np.abs(values) > SHRINK).all() and signs.all()))
    return same(
        "krylov",
        "number of condition numbers for which no polynomial of a smaller degree than that of "
        "Chebyshev's method has a residual below 1e−3, so that no Krylov method is faster",
        sum(alternate),
        len(alternate),
        evidence="float",
        words=f"all {len(alternate)}; with one step fewer, Chebyshev's residual exceeds 1e−3 at "
        "all extrema, with alternating signs"
        if all(alternate)
        else "signs at the extrema do not alternate",
        wanted="all condition numbers, by the theorem of de la Vallée Poussin",
    )


def _few_layers(counts: Mapping[str, list[int]]) -> Iterator[Finding]:
    """Compares layers with their bounds by κ.

    The layers are ⌈log₃(2k + 1)⌉ for k ≤ ½√κ ln(2/ε) + 1 steps. With d² numbers per token they are
    ⌈k log₃2⌉ + 2 for k ≤ log₂(κ ln(1/ε)) + 1 steps, which equal 2^k gradient steps of size 1/κ.
    """
    for id, name, what, wanted, most in (
        (
            "ladder",
            "chebyshev",
            "the construction of Chebyshev's method under full attention",
            "½ log₃κ + O(1) layers",
            lambda c: log(c**0.5 * log(2 / SHRINK) + 3, 3) + 1,
        ),
        (
            "causal-ladder",
            CAUSAL,
            "the causal construction of the Newton–Schulz iteration with d² numbers per token",
            "log₃κ + O(1) layers",
            lambda c: log(2 * c * log(1 / SHRINK), 3) + 3,
        ),
    ):
        layers, limits = counts[name], [most(condition) for condition in CONDITIONS]
        yield Finding(
            id,
            f"number of layers of {what} that reduce the residual to 1e−3, for condition numbers "
            "κ = 4², …, 4⁷",
            "float",
            layers,
            limits,
            Verdict.of(all(count <= limit for count, limit in zip(layers, limits, strict=True))),
            wanted=wanted,
        )


def one_pass_examples(
    run: Run, conditions: Sequence[float], samples: int
) -> Mapping[float, tuple[float, float]]:
    """The mean number of examples that one pass requires, for each of the condition numbers κ.

    The standard error of each mean is returned as well. One pass of online gradient descent is run
    until its weights w satisfy ‖w − w*‖ ≤ ‖w*‖/10, where w* are the weights of the noiseless
    labels. Inputs x are Gaussian of dimension d = 8. Half of the eigenvalues of their covariance
    are κ, and half are 1, for each κ in `conditions`. A step reduces the error in a direction of
    eigenvalue 1 by the relative amount E[x_s²/‖x‖²] ≈ E[1/(κ χ²₄)] = 1/(2κ), where x_s is the
    component of x in this direction. (If only two eigenvalues were κ, the mean would have another
    factor ln κ.)
    """
    found: dict[float, tuple[float, float]] = {}
    for condition in run.progress(conditions, "one pass"):
        scale = np.sqrt(np.repeat([condition, 1.0], 4))
        target = run.rng.standard_normal((samples, 8))
        error, taken = target.copy(), np.zeros(samples)
        goal = np.linalg.norm(target, axis=-1) / 10
        active = np.ones(samples, dtype=bool)
        while active.any():
            x = run.rng.standard_normal((samples, 8)) * scale
            error -= x * ((error * x).sum(-1) / (x * x).sum(-1))[:, None]
            taken += active
            active &= np.linalg.norm(error, axis=-1) > goal
        found[condition] = estimated(taken)[:2]
    return found


def _one_pass(examples: Mapping[float, tuple[float, float]]) -> Finding:
    """Checks that 4κ requires more than twice as many examples as κ; four times is expected."""
    ends = []
    for (few, error), (many, further) in pairwise(examples.values()):
        ratio = many / few
        spread = ERRORS * ratio * float(np.hypot(error / few, further / many))
        ends.append((ratio - spread, ratio + spread))
    shown = ", ".join(f"{mean:.0f} ± {error:.0f}" for mean, error in examples.values())
    where = f"κ = {min(examples):g}, …, {max(examples):g}"
    ratios = ", ".join(f"{(low + high) / 2:.1f} ± {(high - low) / 2:.1f}" for low, high in ends)
    return at_least(
        "one-pass",
        "ratio of the numbers of examples that online gradient descent requires at the condition "
        f"numbers 4κ and κ, {where}",
        "statistical",
        min(ends, default=(float("nan"),) * 2),
        2.0,
        words=f"{ratios} (± three standard errors); the numbers of examples are {shown}",
        wanted="each ratio above 2, as for growth like √κ; 4 is expected, as for growth like κ",
    )
