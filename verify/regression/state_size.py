"""The claim `memory`: what a method can reach with d numbers, and with d² numbers."""

from __future__ import annotations

from collections.abc import Iterator
from math import acosh, ceil, log, log2
from typing import Annotated

import numpy as np

from theory.regression import (
    ceil_log3,
    chebyshev_residual,
    gradient_descent_residual,
    newton_residual,
)
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.regression.equality import modulo_primes, over_the_rationals
from verify.regression.gradient_descent import gradient_descent_statement
from verify.regression.online_gradient_descent import online_statement
from verify.regression.statement import predict, symbols

CONDITIONS = tuple(4.0**i for i in range(2, 8))
SHRINK = 1e-3  # the residual to be reached


@claim(
    source="[Gatmiry2024]; [Ding2024]; [Saad2003, section 6.11]; the causal argument: this module",
    draws=True,
    faults_seen=[{"samples": 4}],
)
def memory(
    run: Run,
    *,
    samples: Annotated[int, option("streams for the one-pass method", min=2)] = 200,
) -> Iterator[Finding]:
    """A fixed accuracy takes about κ examples in one pass, √κ causal layers, log κ full layers.

    With d numbers kept, one pass of online gradient descent needs a number of examples linear in κ;
    rereading the raw pairs once a layer gives a polynomial of degree L in a prefix's own S after L
    causal layers, so √κ layers at best, and Chebyshev attains them. With d² numbers, or with full
    attention where all tokens share one S, the degree triples in every layer: log κ. That a causal
    construction of width O(d) cannot do better is an argument, not a proof: what earlier tokens
    computed belongs to their own S_j.
    """
    yield from _degrees(run)
    yield from _the_same_weights(run)
    counts = steps_against_condition()
    for name, stated in STATED.items():
        wanted = [stated(condition) for condition in CONDITIONS]
        slope = fitted_exponent(counts[name]) if name in ("gradient descent", "Chebyshev") else None
        exponent = (
            f"; fitted exponent of κ {slope:.2f}"
            if slope is not None
            else f"; {per_factor_of_four(counts[name]):.2f} more for 4κ"
        )
        yield Finding(
            f"{name}: steps for κ = 4², …, 4⁷",
            "float",
            ", ".join(map(str, counts[name])) + exponent,
            BOUNDS[name],
            Verdict.of(counts[name] == wanted),
        )
    yield _no_krylov_method_is_faster(counts["Chebyshev"])
    ladders = [ceil_log3(degree) + 1 for degree in counts["Chebyshev"]]
    yield Finding(
        "Chebyshev under full attention (ladder): layers for κ = 4², …, 4⁷",
        "float",
        ", ".join(map(str, ladders)),
        "½ log₃κ + O(1)",
        Verdict.of(
            all(
                layers <= 0.5 * log(c, 3) + log(log(2 / SHRINK) / 2, 3) + 2
                for layers, c in zip(ladders, CONDITIONS, strict=True)
            )
        ),
    )
    examples = one_pass_examples(run, 16 if run.quick else samples)
    yield _one_pass(examples)
    if run.plot:
        from verify.regression.memory_picture import draw

        draw(run.plot, CONDITIONS, counts, examples)


def _chebyshev_count(condition: float) -> int:
    """The least k with 1/T_k((κ + 1)/(κ − 1)) ≤ ε."""
    return ceil(acosh(1 / SHRINK) / acosh((condition + 1) / (condition - 1)))


STATED = {
    "gradient descent": lambda c: ceil(log(1 / SHRINK) / -log((c - 1) / (c + 1))),
    "Chebyshev": _chebyshev_count,
    "Newton from αS": lambda c: ceil(log2(log(1 / SHRINK) / -np.log1p(-(c**-2)))),
    "Newton from αI": lambda c: ceil(log2(log(1 / SHRINK) / -np.log1p(-1 / c))),
}
BOUNDS = {
    "gradient descent": "≈ ½ κ ln(1/ε)",
    "Chebyshev": "≈ ½ √κ ln(2/ε)",
    "Newton from αS": "≈ 2 log₂κ + log₂ln(1/ε), 4 more for 4κ",
    "Newton from αI": "≈ log₂κ + log₂ln(1/ε), 2 more for 4κ",
}


def steps_against_condition() -> dict[str, list[int]]:
    """The least k with |R_k| ≤ 1e−3 on [1, κ], found by trying, for each κ and method."""
    residuals = {
        "gradient descent": lambda lam, k, c: gradient_descent_residual(lam, k, 2 / (1 + c)),
        "Chebyshev": lambda lam, k, c: chebyshev_residual(lam, k, 1.0, c),
        "Newton from αS": lambda lam, k, c: newton_residual(lam, k, 1 / c**2),
        "Newton from αI": lambda lam, k, c: newton_residual(lam, k, 1 / c, "identity"),
    }
    found: dict[str, list[int]] = {}
    for name, residual in residuals.items():
        found[name] = []
        for condition in CONDITIONS:
            # Dense in the angle at which Chebyshev polynomials oscillate evenly, ends included.
            angles = np.linspace(0, np.pi, 20001)
            eigenvalues = (condition + 1) / 2 - (condition - 1) / 2 * np.cos(angles)

            def enough(
                k: int, residual=residual, eigenvalues=eigenvalues, condition=condition
            ) -> bool:
                return bool(np.abs(residual(eigenvalues, k, condition)).max() <= SHRINK)

            low, high = 0, 1
            while not enough(high):
                low, high = high, 2 * high
            while high - low > 1:
                middle = (low + high) // 2
                low, high = (low, middle) if enough(middle) else (middle, high)
            found[name].append(high)
    return found


def fitted_exponent(counts: list[int]) -> float:
    """The least-squares slope of log count against log κ."""
    return float(np.polyfit(np.log(CONDITIONS), np.log(counts), 1)[0])


def per_factor_of_four(counts: list[int]) -> float:
    """The mean increase of the count when κ is multiplied by four."""
    return float(np.diff(counts).mean())


def _no_krylov_method_is_faster(counts: list[int]) -> Finding:
    """Chebyshev's count is the least degree of any R with R(0) = 1 and |R| ≤ ε on [1, κ].

    If a polynomial of degree k did better than T_k(l)/τ_k, their difference would change sign at
    the k + 1 extrema of T_k and vanish at 0 too: k + 1 zeros, so it is zero.  The extrema are
    checked.
    """
    alternate = True
    for condition, k in zip(CONDITIONS, counts, strict=True):
        nodes = (condition + 1) / 2 - (condition - 1) / 2 * np.cos(
            np.pi * np.arange(k) / max(k - 1, 1)
        )
        values = chebyshev_residual(nodes, k - 1, 1.0, condition)
        alternate &= bool(
            (np.abs(values) > SHRINK).all() and (np.sign(values[1:]) != np.sign(values[:-1])).all()
        )
    return Finding(
        "no method with one S-product a layer is faster than Chebyshev",
        "float",
        "one step fewer leaves |R| > 1e−3 with alternating signs at all its extrema"
        if alternate
        else "the extrema do not alternate",
        "de la Vallée Poussin",
        Verdict.of(alternate),
    )


def _degrees(run: Run) -> Iterator[Finding]:
    """Degree in the prompt, d = n = 1: 2L + 1 in L causal layers, up to 3^L under a full mask."""
    layers = range(1, 7)
    domain, *rows = symbols(1, 1)
    causal, full = [], []
    for count in layers:
        model = gradient_descent_statement(run, "causal", 0.5).build(1, 1, count)
        causal.append(int(predict(model, domain, *rows).tolist()[-1][0].total_degree()))
        # The ladder with 3^{L−1} steps of gradient descent has L layers.
        model = gradient_descent_statement(run, "ladder", 0.5).build(1, 1, 3 ** (count - 1))
        full.append(int(predict(model, domain, *rows).tolist()[0][0].total_degree()))
    yield Finding(
        "degree in the prompt after L = 1 … 6 causal layers",
        "identity",
        ", ".join(map(str, causal)),
        "2L + 1: degree L − 1 in S",
        Verdict.of(causal == [2 * count + 1 for count in layers]),
    )
    yield Finding(
        "degree in the prompt after L = 1 … 6 layers of full attention",
        "identity",
        ", ".join(map(str, full)),
        "2·3^{L−1} + 1: degree 3^{L−1} − 1 in S",
        Verdict.of(full == [2 * 3 ** (count - 1) + 1 for count in layers]),
    )


def _the_same_weights(run: Run) -> Iterator[Finding]:
    """The constructions that the argument speaks of compute what it says."""
    causal = modulo_primes(run, gradient_descent_statement(run, "causal", 2.0**-4), 2, 4, 4)
    causal.name = f"rereading raw pairs is gradient descent on every prefix, {causal.name}"
    yield causal
    online = over_the_rationals(run, online_statement(run), 2, 4, 0)
    online.name = f"shared residuals under a causal mask are online gradient descent, {online.name}"
    yield online


def one_pass_examples(run: Run, samples: int) -> dict[float, tuple[float, float]]:
    """For each κ: the mean number of examples after which one pass has ‖w − w*‖ ≤ ‖w*‖/10, and its
    standard error; Gaussian inputs, d = 8, half of the eigenvalues κ and half 1, no noise.

    A step shrinks the slow directions by E[x_s²/‖x‖²] ≈ E[1/(κ χ²₄)] = 1/(2κ).  (With only two
    large eigenvalues that mean has a further ln κ.)
    """
    found = {}
    for condition in run.progress(CONDITIONS[2:], "one pass"):
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
        found[condition] = (float(taken.mean()), float(taken.std(ddof=1) / np.sqrt(samples)))
    return found


def _one_pass(examples: dict[float, tuple[float, float]]) -> Finding:
    """The count grows faster than the √κ of methods that may reread; κ is expected."""
    conditions = np.log(list(examples))
    means, errors = np.array(list(examples.values())).T
    weights = means / errors
    (slope, _), covariance = np.polyfit(conditions, np.log(means), 1, w=weights, cov="unscaled")
    spread = 3 * float(np.sqrt(covariance[0, 0]))
    shown = ", ".join(f"{mean:.0f} ± {error:.0f}" for mean, error in examples.values())
    if slope - spread > 0.5:
        verdict = Verdict.HOLDS
    else:
        verdict = Verdict.FAILS if slope + spread < 0.5 else Verdict.UNDECIDED
    return Finding(
        f"online gradient descent: examples for κ = 4⁴, …, 4⁷ ({shown})",
        "statistical",
        f"fitted exponent of κ {slope:.2f} ± {spread:.2f} (three standard errors)",
        "> ½, the exponent of methods that reread; 1 expected",
        verdict,
    )
