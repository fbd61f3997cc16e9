"""The proof, register by register: what every layer is said to hold, beside what it holds."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from constructions.blocks import Stage
from constructions.transformer import Transformer
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
from verify.evidence.statement import (
    OverExamples,
    OverTokens,
    Rows,
    matrices,
    prompt_of,
    rational_instance,
)
from verify.finding import Evidence, Finding, Verdict, equal


@dataclass(frozen=True)
class Side:
    """One stage: times·register at the answers, and what the proof says it is."""

    stage: Stage
    held: Matrix
    wanted: Matrix


Compare = Callable[..., "list[Side]"]  # as `sides`


class Point(NamedTuple):
    """Inputs at which registers are compared: a random point mod p, or a random rational one."""

    domain: Domain
    X: Rows
    y: Rows
    Q: Rows
    where: str

    @property
    def evidence(self) -> Evidence:
        """What equality there establishes."""
        return "identity" if isinstance(self.domain, Modular) else "exact"


def point(run: Run, statement: OverExamples, model: Transformer, d: int, n: int) -> Point:
    """The unit vectors are the queries, so a register that holds M x is read as the whole matrix M;
    where a prompt has room for one query only, it is a random one."""
    domain: Domain = Modular(random_prime(run.rng)) if statement.polynomial else Rational()
    if isinstance(domain, Modular):
        shapes = ((n, d), (n, 1), (1, d))
        X, y, Q = (domain.random_entries(run.rng, *shape) for shape in shapes)
        where = f"mod a random 61-bit prime, d={d}, n={n}"
    else:
        X, y, Q = rational_instance(run.rng, d, n)
        where = f"over Q, d={d}, n={n}"
    return Point(domain, X, y, _unit_queries(model, domain, d) or Q, where)


def registers_hold(run: Run, statement: OverExamples, d: int, n: int, k: int) -> Finding:
    """Every register holds what the proof says, at a random point."""
    model = statement.build(d, n, k)
    at = point(run, statement, model, d, n)
    name = f"every register holds what the proof says ({at.where})"
    try:
        compared = sides(statement, model, *at[:4])
        certain = chance(statement, model, d, n, at, sides)
    except NotPolynomial as reason:
        return equal("registers", name, f"no polynomial: {reason}", evidence=at.evidence)
    return compared_finding("registers", name, compared, at.evidence, certain)


def compared_finding(
    id: str, name: str, compared: list[Side], evidence: Evidence, certain: str
) -> Finding:
    """How many sides agree; nothing to compare decides nothing."""
    wrong = [str(side.stage) for side in compared if side.held != side.wanted]
    agree = len(compared) - len(wrong)
    return Finding(
        id,
        name,
        evidence,
        agree,
        len(compared),
        Verdict.of(not wrong) if compared else Verdict.UNDECIDED,
        f"register {wrong[0]} does not" if wrong else f"{agree} registers{certain}",
        "as proved",
    )


def chance(
    statement: OverExamples, model: Transformer, d: int, n: int, at: Point, compare: Compare
) -> str:
    """The error probability of comparing these sides at one point mod p, in words."""
    if not isinstance(at.domain, Modular):
        return ""
    missed = chance_of_missing(partial(_all_sizes, statement, model, d, n, compare))
    return f"; error probability ≤ {missed:.1e}"


def sides(
    statement: OverExamples, model: Transformer, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> list[Side]:
    """For each stage what stands there and what should."""
    if statement.holds is None:
        raise ValueError(f"nothing is said of what the registers of {model.name} hold")
    says = statement.holds(model, domain, *matrices(domain, X, y, Q))
    return [
        Side(stage, held, says(stage.holds))
        for stage, held in held_registers(model, domain, X, y, Q)
    ]


def held_registers(
    model: Transformer, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> Iterable[tuple[Stage, Matrix]]:
    """For each stage: times·register at the answers, a row for each."""
    prompt = prompt_of(model, domain, X, y, Q)
    passed = list(streams(model, prompt, domain))
    for stage in model.stages:
        span = model.stream[stage.register]
        rows = [row[span] for row in passed[stage.after].tolist()[prompt.answers]]
        yield stage, domain.number(*stage.times.as_integer_ratio()) * domain.matrix(rows)


def first_difference(
    statement: OverExamples, model: Transformer, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> str:
    """The first register that does not hold what the proof says, in words."""
    if statement.holds is None or not model.stages:
        return "the prediction"
    compared = sides(statement, model, domain, X, y, Q)
    wrong = [f"register {side.stage}" for side in compared if side.held != side.wanted]
    return wrong[0] if wrong else "the read-out"


def register_difference(statement: OverTokens, model: Transformer, rows: np.ndarray) -> str | None:
    """The first layer and register, and the place, where the streams of sequences (…, T) are not
    what the proof says."""
    says = statement.holds(model, rows)
    passed = list(model.streams(rows))
    answers = model.prompt(rows).answers
    for stage in sorted(model.stages, key=lambda stage: stage.after):
        held = passed[stage.after][..., answers, model.stream[stage.register]].double().numpy()
        wanted = says[stage.holds]
        differs = (stage.times * held != wanted).any(-1)
        if differs.any():
            row, position = at = tuple(map(int, np.argwhere(differs)[0]))
            return (
                f"after layer {stage.after}, register {stage.register}, token {position + 1} of "
                f"{statement.shown(rows[row])}: {held[at]}, should be {wanted[at]}"
            )
    return None


def _unit_queries(model: Transformer, domain: Domain, d: int) -> Rows | None:
    if not model.interface.several_queries:
        return None
    return [[domain.number(int(i == j)) for j in range(d)] for i in range(d)]


def _all_sizes(
    statement: OverExamples,
    model: Transformer,
    d: int,
    n: int,
    compare: Compare,
    domain: Domain,
    entry: Entry,
) -> list[Entry]:
    """Every polynomial that is compared, in a number system of sizes."""
    X, y = [[entry] * d] * n, [[entry]] * n
    Q = _unit_queries(model, domain, d) or [[entry] * d]
    return [
        value
        for side in compare(statement, model, domain, X, y, Q)
        for matrix in (side.held, side.wanted)
        for row in matrix.tolist()
        for value in row
    ]
