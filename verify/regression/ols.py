"""The claim `ols`: Newton and gradient descent converge to the minimum-norm OLS solution."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import count
from typing import Annotated, Any, Literal, NamedTuple

import numpy as np

from theory.regression import Start, gradient_descent_residual, newton_residual
from theory.regression.matrices import identity, matrix_power, start_matrix
from verify.claim import Run, claim, option
from verify.domains import Rational
from verify.evidence.agreement import WIDEST, transformer_in_float
from verify.evidence.examples import Examples
from verify.evidence.identity import modulo_primes
from verify.evidence.statement import Inputs, OverExamples, rational_instance
from verify.finding import Finding, Verdict, equal, labelled
from verify.regression.convergence import from_ols, relative, safe_alpha
from verify.regression.statements import descent_statement, newton_statement

ACCURACY = 1e-9  # the residual after the step counts below
FAMILIES: dict[str, Callable[[int], list[int]]] = {
    "tall": lambda d: list(range(2 * d)),
    "wide": lambda d: list(range(max(1, d // 2))),
    "repeated rows": lambda d: [i % max(1, d // 2) for i in range(2 * d)],
}
"""For each family and dimension d, the rows of X as indices of drawn rows."""


class Method(NamedTuple):
    """An iterative method whose steps raise the residual I − S M₀ to a power.

    After k steps, the exponent is `power`(k). M₀ is scale·S (start "gram") or scale·I ("identity")
    for a number `scale`, where S = XᵀX for the examples X.
    """

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
        lambda run, eta: descent_statement(run, "ladder", eta),
        gradient_descent_residual,
        lambda k: k,
    ),
}


@claim(
    faults_seen=[{"d": 2, "domain": domain} for domain in ("float", "exact")],
)
def ols(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the inputs", min=2, max=500)] = 5,
    domain: Annotated[Literal["all", "float", "exact"], option("number system")] = "all",
) -> Iterator[Finding]:
    """For examples X of any rank with labels y, transformers of linear attention compute the
    weights w_k after k steps of the Newton–Schulz iteration from αS with 0 < α < 2/λmax(S)², and
    after k steps of gradient descent with step size 0 < η < 2/λmax(S). Here S = XᵀX has the largest
    eigenvalue λmax(S). These weights lie in the range of Xᵀ and tend to the minimum-norm
    least-squares solution X⁺y. Exactly, S w_k − b = −E^N b for b = Xᵀy, where E = I − αS² and N =
    2^k for the Newton–Schulz iteration, and E = I − ηS and N = k for gradient descent.

    w_k is a polynomial in S applied to b = Xᵀy, so w_k is in the range of Xᵀ. On this range, X⁺y is
    the only solution of S w = b, and the eigenvalues of E are in (−1, 1), so w_k tends to X⁺y.
    Three kinds of X with n rows and d columns are checked: full rank with n > d, full rank with n <
    d, and repeated rows.
    """
    for family, rows in FAMILIES.items():
        for name, method in METHODS.items():
            label = f"{name}, {family}"
            if domain in ("all", "exact"):
                yield from labelled(label, [_in_range(run, method, rows(d), d)])
            if domain in ("all", "float"):
                yield from labelled(label, _reaches_least_squares(run, method, rows(d), d))


def _in_range(run: Run, method: Method, rows: list[int], d: int) -> Finding:
    """Checks rank [Xᵀ | w_k] = rank Xᵀ and S w_k − b = −E^p b over Q for the transformer's w_k."""
    domain, n, k, scale = Rational(), len(rows), 3, 2.0**-12
    _, drawn, labels, _ = rational_instance(run.rng, d, n)
    X, y = domain.matrix([drawn[i] for i in rows]), domain.matrix(labels)
    S, b, unit = X.transpose() * X, X.transpose() * y, identity(domain, d)
    case = method.statement(run, scale).at(d, n, k)
    w = case.predictions(Inputs(domain, X.tolist(), labels, unit.tolist()))
    E = unit - S * start_matrix(domain, S, scale, method.start)
    as_stated = S * w - b == domain.number(-1) * (matrix_power(domain, E, method.power(k)) * b)
    wider = [[*row, *entry] for row, entry in zip(X.transpose().tolist(), w.tolist(), strict=True)]
    inside = domain.matrix(wider).rank() == X.rank()
    return equal(
        "range",
        "the weights w_k that the transformer computes in k steps satisfy w_k ∈ range(Xᵀ) and "
        f"S w_k − b = −E^N b, over Q, for d = {d}, n = {n} and X of rank {X.rank()}",
        None
        if inside and as_stated
        else f"w_k ∈ range(Xᵀ): {inside}, S w_k − b = −E^N b: {as_stated}",
        words="both hold",
        wanted="both",
    )


def _reaches_least_squares(run: Run, method: Method, rows: list[int], d: int) -> Iterator[Finding]:
    """Checks ŷ_OLS − ŷ = x_qᵀE^p w_OLS up to rounding, after k steps with E^p at most ACCURACY.

    As Newton corrects errors of earlier steps, equality with the recursion is checked as well.
    """
    n = len(rows)
    x, y, queries = (run.rng.standard_normal(shape) for shape in ((n, d), n, (1, d)))
    examples = Examples(x[rows], y, queries)
    smallest = np.linalg.svd(examples.x, compute_uv=False)[Rational().weights(x[rows]).rank() - 1]
    scale = safe_alpha(examples.x, method.start)
    k = next(k for k in count() if abs(method.residual(smallest**2, k, scale)) <= ACCURACY)
    case = method.statement(run, scale).at(d, n, k)
    in_float = transformer_in_float(case.model, *examples)
    found = from_ols(examples, in_float, method.power(k), scale, method.start)
    relatively = relative(found)
    allowed = relatively["left"] + relatively["rounding"]
    verdict, detail = found.holds.verdict, found.holds.detail
    if verdict is Verdict.HOLDS and not allowed <= WIDEST:
        verdict, detail = (
            Verdict.UNDECIDED,
            f"the bound exceeds {WIDEST:g} of a prediction",
        )
    yield Finding(
        "reached",
        "relative distance of the prediction from that of least squares after "
        f"{k} steps in {case.model.n_layers} layers, d = {d}, n = {n}",
        "float",
        relatively["distance"],
        allowed,
        verdict,
        f"{relatively['distance']:.1e}",
        f"at most {relatively['left']:.1e} from the residual plus {relatively['rounding']:.1e} "
        "from rounding",
        detail,
    )
    yield modulo_primes(run, case)
