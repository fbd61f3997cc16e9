"""The claim `ols`: Newton and gradient descent tend to the minimum-norm least-squares solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from theory.regression import Start, gradient_descent_residual, newton_residual
from verify.claim import Run, claim, option
from verify.domains import Rational
from verify.evidence.agreement import transformer_in_float
from verify.evidence.statement import OverExamples, predict, rational_instance
from verify.finding import Finding, Verdict, equal, labelled
from verify.regression.algorithms import identity, power, start_matrix
from verify.regression.convergence import from_ols, safe_alpha
from verify.regression.data import Examples
from verify.regression.statements import gradient_descent_statement, newton_statement

ACCURACY = 1e-9  # the residual that the step counts below are chosen for
FAMILIES: dict[str, Callable[[int], list[int]]] = {
    "n > d": lambda d: list(range(2 * d)),
    "n < d": lambda d: list(range(max(1, d // 2))),
    "repeated rows": lambda d: [i % max(1, d // 2) for i in range(2 * d)],
}
"""Which of a prompt's drawn rows are taken, in d dimensions."""


class Method(NamedTuple):
    """k steps raise the residual of M₀ = scale·S ("gram") or scale·I to a power."""

    start: Start
    statement: Callable[[Run, float], OverExamples]
    residual: Callable[[Any, int, float], Any]
    power: Callable[[int], int]


METHODS = {
    "Newton": Method(
        "gram",
        lambda run, alpha: newton_statement(run, "ladder", "gram", alpha),
        newton_residual,
        lambda k: 2**k,
    ),
    "gradient descent": Method(
        "identity",
        lambda run, eta: gradient_descent_statement(run, "ladder", eta),
        gradient_descent_residual,
        lambda k: k,
    ),
}


@claim(
    source="[BenIsrael1965]; [Fu2024, section 3.1]",
    faults_seen=[{"d": 3, "domain": domain} for domain in ("float", "exact")],
)
def ols(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the inputs", min=2)] = 5,
    domain: Annotated[Literal["all", "float", "exact"], option("number system")] = "all",
) -> Iterator[Finding]:
    """The transformers for Newton and GD tend to the minimum-norm least-squares solution.

    Their weights w_k are polynomials in S applied to b = Xᵀy, so they stay in the range of Xᵀ,
    where the minimum-norm solution is the only solution of S w = b; and S w_k − b = −E^p b, where
    E = I − S M₀ has eigenvalues in (−1, 1) on that range. Shown for n > d, n < d, repeated rows.
    """
    for family, rows in FAMILIES.items():
        for name, method in METHODS.items():
            label = f"{name}, {family}"
            if domain in ("all", "exact"):
                yield from labelled(label, [_in_range(run, method, rows(d), d)])
            if domain in ("all", "float"):
                yield from labelled(label, [_reaches_least_squares(run, method, rows(d), d)])


def _in_range(run: Run, method: Method, rows: list[int], d: int) -> Finding:
    """rank [Xᵀ | w_k] = rank Xᵀ and S w_k − b = −E^p b, over Q, for the transformer's w_k."""
    domain, n, k, scale = Rational(), len(rows), 3, 2.0**-12
    drawn, labels, _ = rational_instance(run.rng, d, n)
    X, y = domain.matrix([drawn[i] for i in rows]), domain.matrix(labels)
    S, b, unit = X.transpose() * X, X.transpose() * y, identity(domain, d)
    model = method.statement(run, scale).build(d, n, k)
    w = predict(model, domain, X.tolist(), labels, unit.tolist())
    E = unit - S * start_matrix(domain, S, scale, method.start)
    as_stated = S * w - b == domain.number(-1) * (power(domain, E, method.power(k)) * b)
    wider = [[*row, *entry] for row, entry in zip(X.transpose().tolist(), w.tolist(), strict=True)]
    inside = domain.matrix(wider).rank() == X.rank()
    return equal(
        "range",
        f"w_k in range(Xᵀ), S w_k − b = −E^p b (d={d}, n={n}, rank {X.rank()})",
        None if inside and as_stated else f"inside: {inside}, residual as stated: {as_stated}",
        words="inside the range, residual as stated",
        wanted="both",
    )


def _reaches_least_squares(run: Run, method: Method, rows: list[int], d: int) -> Finding:
    """|ŷ − ŷ_OLS| ≤ ‖x_q‖ max_λ |R(λ)| ‖w_OLS‖ + rounding, with enough steps for R ≤ 1e−9."""
    n = len(rows)
    x, y, queries = (run.rng.standard_normal(shape) for shape in ((n, d), n, (1, d)))
    examples = Examples(x[rows], y, queries)
    singular = np.linalg.svd(examples.x, compute_uv=False)
    smallest = singular[singular > max(n, d) * np.finfo(float).eps * singular[0]][-1]
    scale = safe_alpha(examples.x, method.start)
    k = next(k for k in count() if abs(method.residual(smallest**2, k, scale)) <= ACCURACY)
    model = method.statement(run, scale).build(d, n, k)
    in_float = transformer_in_float(model, *examples)
    found = from_ols(examples, in_float, lambda lam: method.residual(lam, k, scale))
    near = (found.distance <= found.bound).all()
    telling = (found.bound <= 1e-6 * np.maximum(found.lengths, 1)).all()
    name = f"{k} steps in {model.n_layers} layers reach OLS (d={d}, n={n})"
    farthest, bound = float(found.distance.max()), float(found.bound.max())
    return Finding("reached", name, "float", farthest, bound, Verdict.of(bool(near and telling)))
