"""What the registers of regression constructions hold, and the residual identity read off them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from theory.regression import Start
from verify.claim import Run
from verify.domains import Domain, NotPolynomial
from verify.domains.base import Matrix
from verify.evidence.registers import (
    Side,
    chance,
    compared_finding,
    held_registers,
    point,
    registers_hold,
)
from verify.evidence.statement import OverExamples, Rows
from verify.finding import Finding
from verify.regression.algorithms import identity, inverse_of_power, power, start_matrix

if TYPE_CHECKING:
    from constructions.transformer import Transformer


def powers_of(scale: float, start: Start) -> Callable[..., Callable[[Any], Matrix]]:
    """What stages hold, for constructions that start from M₀ = scale·S ("gram") or scale·I."""

    def holds(domain: Domain, X: Matrix, y: Matrix, Q: Matrix) -> Callable[[Any], Matrix]:
        S, b = X.transpose() * X, X.transpose() * y
        first = start_matrix(domain, S, scale, start)
        E = identity(domain, S.nrows()) - first * S
        return lambda what: what.value(inverse_of_power(domain, E, first, what.power), b, Q)

    return holds


def layer_by_layer(
    run: Run, statement: OverExamples, scale: float, start: Start, d: int, n: int, k: int
) -> Iterator[Finding]:
    """Every register holds what the proof says; and I − S·M is the stated power of I − S·M₀."""
    yield registers_hold(run, statement, d, n, k)
    model = statement.build(d, n, k)
    at = point(run, statement, model, d, n)
    compare = partial(_residuals, scale, start)
    try:
        compared = compare(statement, model, *at[:4])
        if not compared:
            return
        certain = chance(statement, model, d, n, at, compare)
    except NotPolynomial:  # which the registers' finding has said
        return
    steps = [side.stage.holds.power for side in compared]
    what = (
        "squares in every step"
        if all(b == 2 * a for a, b in pairwise(steps))
        else f"is raised to the powers {', '.join(map(str, sorted(set(steps))))}"
    )
    name = f"residual I − S·M {what} ({at.where})"
    found = compared_finding("residual", name, compared, at.evidence, certain)
    found.wanted = "(I − S·M₀)^p"
    yield found


def _residuals(
    scale: float,
    start: Start,
    statement: OverExamples,
    model: Transformer,
    domain: Domain,
    X: Rows,
    y: Rows,
    Q: Rows,
) -> list[Side]:
    """x (I − M S), as read from the registers that hold M x, beside x (I − M₀ S)^power."""
    from constructions.regression.stages import Inverse

    x, queries = domain.matrix(X), domain.matrix(Q)
    S = x.transpose() * x
    E = identity(domain, S.nrows()) - start_matrix(domain, S, scale, start) * S
    return [
        Side(stage, queries - held * S, queries * power(domain, E, stage.holds.power))
        for stage, held in held_registers(model, domain, X, y, Q)
        if isinstance(stage.holds, Inverse)
    ]
