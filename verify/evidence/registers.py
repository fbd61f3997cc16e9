"""Registers compared with the layer invariants of the proof."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from constructions.blocks import Stage
from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.claim import Run
from verify.domains import (
    Domain,
    Modular,
    NotPolynomial,
    miss_probability,
    random_prime,
    streams,
)
from verify.domains.base import Entry, Matrix
from verify.evidence.function_of_tokens import answered
from verify.evidence.statement import Case, Inputs, OverTokens
from verify.finding import Evidence, Finding, Verdict, equal, rounded_up


@dataclass(frozen=True)
class Side:
    """A layer invariant, the value of times·register at the answers, and the value by the proof."""

    stage: Stage
    held: Matrix
    wanted: Matrix


Compare = Callable[[Case, Inputs], list[Side]]


def point(run: Run, case: Case) -> Inputs:
    """Returns random inputs modulo a prime, or random rational inputs if the model is not
    polynomial.

    The queries are the unit vectors: a register that contains M x at each query x, for a matrix M,
    then contains all columns of M. If a prompt has only one query, the query is random.
    """
    if case.of.polynomial:
        given = case.random(Modular(random_prime(run.rng)), run.rng)
    else:
        given = case.rational(run.rng)
    return _with_unit_queries(case, given)


def registers_hold(run: Run, case: Case) -> Finding:
    """The finding that registers equal the layer invariants, at a random point."""
    name = "registers compared with the layer invariants of the proof"
    return invariants_hold(case, point(run, case), "registers", name, sides)


def invariants_hold(case: Case, given: Inputs, id: str, name: str, compare: Compare) -> Finding:
    """The finding that all layer invariants hold on given inputs.

    The finding is undecided if the model has no layer invariants.
    """
    modular = isinstance(given.domain, Modular)
    where = "modulo a random 61-bit prime" if modular else "over Q"
    evidence: Evidence = "identity" if modular else "exact"
    name, certain = f"{name} ({where}, d={case.d}, n={case.n})", ""
    try:
        compared = compare(case, given)
        if modular and compared:
            missed = miss_probability(partial(_all_sizes, case, compare))
            certain = f"; error probability ≤ {rounded_up(missed):.1e}"
    except NotPolynomial as reason:
        return equal(id, name, f"no polynomial: {reason}", evidence=evidence)
    wrong = [str(side.stage) for side in compared if side.held != side.wanted]
    agree = len(compared) - len(wrong)
    return Finding(
        id,
        name,
        evidence,
        agree,
        len(compared),
        Verdict.of(not wrong) if compared else Verdict.UNDECIDED,
        f"register {wrong[0]} differs"
        if wrong
        else f"{agree} of {agree} registers have the proved value{certain}",
        "as proved",
    )


def sides(case: Case, given: Inputs) -> list[Side]:
    """For each layer invariant, the value of times·register in the model and the value by the
    proof.
    """
    inputs = given.matrices
    return [
        Side(stage, held, _proved(stage, None, *inputs))
        for stage, held in held_registers(case, given)
    ]


def held_registers(case: Case, given: Inputs) -> Iterator[tuple[Stage, Matrix]]:
    """For each layer invariant, the values of times·register, one row for each answer."""
    model, domain, prompt = case.model, given.domain, case.prompt(given)
    passed = list(streams(model, prompt, domain))
    for stage in model.stages:
        span = model.stream[stage.register]
        rows = [row[span] for row in passed[stage.after].tolist()[prompt.answers]]
        yield stage, domain.number(*stage.times.as_integer_ratio()) * domain.matrix(rows)


def first_difference(case: Case, given: Inputs) -> str:
    """The first register that differs from its layer invariant, in words."""
    if not case.model.stages:
        return "the prediction"
    wrong = (f"register {side.stage}" for side in sides(case, given) if side.held != side.wanted)
    return next(wrong, "the unembedding")


def registers_in_float64(
    model: Transformer, *inputs: np.ndarray
) -> Iterator[tuple[Stage, np.ndarray, np.ndarray]]:
    """For each layer invariant, times·register at the answers in float64, and the proved value.

    The rows of an invariant for tokens before the answers are left out.
    """
    passed, answers = list(model.streams(*inputs)), model.prompt(*inputs).answers
    for stage in sorted(model.stages, key=lambda stage: stage.after):
        held = passed[stage.after][..., answers, model.stream[stage.register]].double().numpy()
        yield stage, stage.times * held, _proved(stage, held.shape, *inputs)


def _proved(stage: Stage, shape: tuple[int, ...] | None, *inputs: Any) -> Any:
    """The proved value of a register, for arrays with this shape (…, answers, width).

    The function of a stage may be that of a user. Raises InputError if it has no such value.
    """
    try:
        found = stage.holds(*inputs)
        if shape is None:
            return found
        return np.broadcast_to(np.asarray(found)[..., -shape[-2] :, :], shape)
    except (InputError, NotPolynomial):
        raise
    except Exception as error:
        what = " ".join(f"{type(error).__name__}: {error}".split())
        raise InputError(
            f"the stage for {stage} has no values of its register ({what}): correct the function "
            "of this stage"
        ) from error


def register_differences(
    statement: OverTokens, model: Transformer, rows: np.ndarray
) -> Iterator[str]:
    """Yields the differences of registers on sequences `rows` (…, T) from the layer invariants.

    Each difference is a text that names a layer, a register and a token.
    """
    for stage, held, wanted in registers_in_float64(model, rows):
        differs = (held != wanted).any(-1)
        if differs.any():
            row, position = at = tuple(map(int, np.argwhere(differs)[0]))
            token = answered(model, rows.shape[-1])[position] - len(model.interface.prefix) + 1
            yield (
                f"after layer {stage.after}, register {stage.register}, token {token} of "
                f"{statement.shown(rows[row])}: {held[at]}, should be {wanted[at]}"
            )


def _with_unit_queries(case: Case, given: Inputs) -> Inputs:
    if not case.model.interface.several_queries:
        return given
    number = given.domain.number
    return given._replace(Q=[[number(int(i == j)) for j in range(case.d)] for i in range(case.d)])


def _all_sizes(case: Case, compare: Compare, domain: Domain, entry: Entry) -> list[Entry]:
    """All polynomials that are compared, as their degrees and sizes of coefficients."""
    given = _with_unit_queries(case, case.filled(domain, entry))
    return [
        value
        for side in compare(case, given)
        for matrix in (side.held, side.wanted)
        for row in matrix.tolist()
        for value in row
    ]
