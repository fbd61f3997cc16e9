"""The proof, register by register: what every layer is said to hold, and the residual identity."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING

from verify.claim import Run
from verify.domains import (
    Domain,
    Modular,
    NotPolynomial,
    Rational,
    chance_of_missing,
    random_prime,
    streams,
)
from verify.domains.base import Entry, Matrix
from verify.finding import Evidence, Finding, Verdict
from verify.regression.algorithms import identity, power
from verify.regression.statement import Rows, Statement, rational_instance, tokens_of

if TYPE_CHECKING:
    from constructions.regression import InContextRegression, Stage


def layer_by_layer(run: Run, statement: Statement, d: int, n: int, k: int) -> Iterator[Finding]:
    """What the proof says each register holds, and the residual identity read off the registers.

    The unit vectors are the queries, so a register that holds M x is read as the whole matrix M;
    where a prompt has room for one query only, it is a random one.
    """
    model = statement.build(d, n, k)
    if statement.start is None:
        raise ValueError(f"{model.name} has no start M₀, so its registers hold no inverse")
    evidence: Evidence = "identity" if statement.polynomial else "exact"
    domain: Domain = Modular(random_prime(run.rng)) if statement.polynomial else Rational()
    try:
        if isinstance(domain, Modular):
            shapes = ((n, d), (n, 1), (1, d))
            X, y, Q = (domain.random_entries(run.rng, *shape) for shape in shapes)
            chance = chance_of_missing(partial(_all_sizes, statement, model, d, n))
            where = f"mod a random 61-bit prime, d={d}, n={n}"
            certain = f"; error probability ≤ {chance:.1e}"
        else:
            X, y, Q = rational_instance(run.rng, d, n)
            where, certain = f"over Q, d={d}, n={n}", ""
        if model.takes_several_queries:
            Q = identity(domain, d).tolist()
        sides = _sides(statement, model, domain, X, y, Q)
    except NotPolynomial as reason:
        yield Finding(
            f"every register holds what the proof says (d={d}, n={n})",
            evidence,
            f"no polynomial: {reason}",
            "as proved",
            Verdict.FAILS,
        )
        return
    wrong = [str(side.stage) for side in sides if side.held != side.wanted]
    yield Finding(
        f"every register holds what the proof says ({where})",
        evidence,
        f"register {wrong[0]} does not" if wrong else f"{len(sides)} registers{certain}",
        "as proved",
        Verdict.of(not wrong),
    )
    inverses = [side for side in sides if side.stage.kind == "inverse"]
    if not inverses:
        return
    broken = [str(side.stage) for side in inverses if side.residual != side.power]
    steps = [side.stage.power for side in inverses]
    what = (
        "squares in every step"
        if all(b == 2 * a for a, b in pairwise(steps))
        else f"is raised to the powers {', '.join(map(str, sorted(set(steps))))}"
    )
    yield Finding(
        f"residual I − S·M {what} ({where})",
        evidence,
        f"broken at {broken[0]}" if broken else f"{len(inverses)} layers{certain}",
        "(I − S·M₀)^p",
        Verdict.of(not broken),
    )


def first_difference(
    statement: Statement, model: InContextRegression, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> str:
    """The first register that does not hold what the proof says, in words."""
    if statement.start is None or not model.stages:
        return "the prediction"
    sides = _sides(statement, model, domain, X, y, Q)
    wrong = [f"register {side.stage}" for side in sides if side.held != side.wanted]
    return wrong[0] if wrong else "the read-out"


@dataclass(frozen=True)
class Side:
    """One stage: times · register at the queries, what the proof says it is, and, for the queries
    x, x (I − M S) as read from the register beside x (I − M₀S)^power."""

    stage: Stage
    held: Matrix
    wanted: Matrix
    residual: Matrix
    power: Matrix


def _sides(
    statement: Statement, model: InContextRegression, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> list[Side]:
    assert statement.start is not None
    x, queries = domain.matrix(X), domain.matrix(Q)
    S, moment = x.transpose() * x, x.transpose() * domain.matrix(y)
    first = statement.start(domain, S)
    E = identity(domain, S.nrows()) - first * S
    sides = []
    for stage, held in _registers(model, domain, X, y, Q):
        G = _inverse_of_power(domain, E, first, stage.power)
        if stage.kind == "inverse":
            residual, raised = queries - held * S, queries * power(domain, E, stage.power)
            sides.append(Side(stage, held, queries * G, residual, raised))
        else:
            sides.append(Side(stage, held, queries * (G * moment), held, held))
    return sides


def _all_sizes(
    statement: Statement, model: InContextRegression, d: int, n: int, domain: Domain, entry: Entry
) -> list[Entry]:
    """Every polynomial that `layer_by_layer` compares, in a number system of sizes."""
    X, y = [[entry] * d] * n, [[entry]] * n
    Q = identity(domain, d).tolist() if model.takes_several_queries else [[entry] * d]
    return [
        value
        for side in _sides(statement, model, domain, X, y, Q)
        for matrix in (side.held, side.wanted, side.residual, side.power)
        for row in matrix.tolist()
        for value in row
    ]


def _registers(
    model: InContextRegression, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> list[tuple[Stage, Matrix]]:
    """For each stage: times · register at the queries, a row for each query."""
    tokens, n_examples = tokens_of(model, domain, X, y, Q)
    passed = list(streams(model, tokens, n_examples, domain))
    read = []
    for stage in model.stages:
        span = model.stream[stage.register]
        rows = [row[span] for row in passed[stage.after].tolist()[-len(Q) :]]
        read.append((stage, domain.number(*stage.times.as_integer_ratio()) * domain.matrix(rows)))
    return read


def _inverse_of_power(domain: Domain, E: Matrix, first: Matrix, exponent: int) -> Matrix:
    """G with I − S·G = (I − S·M₀)^exponent: Σ_{i<exponent} E^i M₀, by the bits of the exponent."""
    total, raised = domain.number(0) * first, identity(domain, E.nrows())
    for bit in bin(exponent)[2:]:
        total, raised = total + raised * total, raised * raised
        if bit == "1":
            total, raised = first + E * total, E * raised
    return total
