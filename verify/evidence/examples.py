"""A construction on examples and queries compared with its definition."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from constructions.regression.stages import Inverse
from theory.kinds import InputError
from theory.regression.matrices import identity, matrix_power, start_matrix
from verify.claim import Run
from verify.evidence.agreement import float_agreement, recursion_by_balls, transformer_in_float
from verify.evidence.formula import derivation, formula
from verify.evidence.identity import DomainName, equality
from verify.evidence.registers import (
    Side,
    held_registers,
    invariants_hold,
    point,
    registers_hold,
)
from verify.evidence.size import size
from verify.evidence.statement import Case, Inputs
from verify.finding import Finding


class Examples(NamedTuple):
    """Examples x (…, n, d) and y (…, n) with queries (…, d).

    If x has shape (n, d), there may be m queries, of shape (m, d).
    """

    x: np.ndarray
    y: np.ndarray
    queries: np.ndarray


def degree_of(case: Case) -> int:
    """The degree of the last prediction as a polynomial in all inputs."""
    return int(case.predictions(case.symbols()).tolist()[-1][0].total_degree())


def in_float64(
    case: Case,
    examples: Examples,
    what: str = "",
    predicted: tuple[np.ndarray, np.ndarray] | None = None,
) -> Finding:
    """The finding that transformer and recursion predict equally, up to rounding in float64.

    `predicted` is the result of `transformer_in_float`, if known.
    """
    return float_agreement(
        f"predictions of transformer and recursion in float64 "
        f"({what or f'{len(examples.x)} prompts'})",
        predicted or transformer_in_float(case.model, *examples),
        recursion_by_balls(case.of.algorithm, *examples, case.k),
    )


def computes(
    run: Run,
    case: Case,
    examples: Examples,
    domain: DomainName,
    *,
    most_steps: int | None = None,
    most_rows: int | None = None,
    what: str = "",
    explain: bool = False,
    predicted: tuple[np.ndarray, np.ndarray] | None = None,
) -> Iterator[Finding]:
    """Yields the findings that a construction has the stated size and computes the stated
    algorithm.

    Further findings are about the layer invariants. `what` describes the examples in words. Exact
    domains use at most `most_rows` examples, and the layer invariants are checked for at most
    `most_steps` steps. With `explain`, a finding contains the formulas of all registers.
    `predicted` is as in `in_float64`.
    """
    of, d, n, k = case.of, case.d, case.n, case.k
    rows = min(n, most_rows or n)
    in_other_domains = equality(run, of.at(d, rows, k), domain)
    if explain and not of.formula:
        raise InputError(
            f"explain is True, and no formula is read from {case.model.name}: omit explain, or "
            "give a model without a causal mask and with one token for each example"
        )
    derived = [derivation(case)] if explain else []
    sizes = {"d": d, "n": n, "k": k, **of.parameters}
    if of.formula and domain in ("all", "formula"):
        yield formula(run, case)
    yield from derived
    yield size(case.model, of.theorem, "", **sizes)
    if domain in ("all", "float"):
        yield in_float64(case, examples, what, predicted)
    yield from in_other_domains
    if domain == "all":
        yield from layer_by_layer(run, of.at(d, rows, min(k, most_steps or k)))


def layer_by_layer(run: Run, case: Case) -> Iterator[Finding]:
    """Yields the findings that registers equal the layer invariants of the proof.

    If the registers of a model contain M x for the inputs x, where M is the layer's estimate of the
    inverse of S = XᵀX, a further finding is that I − S·M is a power of I − S·M₀, where M₀ is the
    first estimate.
    """
    yield registers_hold(run, case)
    given = point(run, case)
    invariants: list[Any] = [stage.holds for stage in case.model.stages]
    steps = [each.power for each in invariants if _is_inverse(each)]
    if not steps:
        return
    what = (
        "is squared in every step"
        if all(b == 2 * a for a, b in pairwise(steps))
        else f"is raised to the powers {', '.join(map(str, sorted(set(steps))))}"
    )
    name = f"residual I − S·M of the estimates M in registers, with S = XᵀX; the residual {what}"
    found = invariants_hold(case, given, "residual", name, residuals)
    found.wanted = "a power (I − S·M₀)^p of the residual at the start"
    yield found


def residuals(case: Case, given: Inputs) -> list[Side]:
    """The residuals x (I − M S) of the estimates M after each layer, and their values by the proof.

    M is an estimate of the inverse of S = Xᵀ X, and M x is read from a register at the queries x.
    By the proof, the residual is x (I − M₀ S)^power, where M₀ is the first estimate.
    """
    domain, X, _, queries = given.matrices
    S = X.transpose() * X
    compared = []
    for stage, M in held_registers(case, given):
        invariant: Any = stage.holds
        if _is_inverse(invariant):
            of = invariant.residuals
            E = identity(domain, S.nrows()) - start_matrix(domain, S, of.alpha, of.start) * S
            wanted = queries * matrix_power(domain, E, invariant.power)
            compared.append(Side(stage, queries - M * S, wanted))
    return compared


def _is_inverse(invariant: Any) -> bool:
    """Whether the invariant is M x for the M of all examples."""
    return isinstance(invariant, Inverse) and invariant.row is None
