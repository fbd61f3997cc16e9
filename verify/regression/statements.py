"""What the claims of this topic say of its constructions, at every size, and how it is shown."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import pairwise
from math import log2
from typing import Any, Literal

from constructions import chebyshev, gradient_descent, hyperpower, newton, online_gradient_descent
from constructions.regression.chebyshev import Combinations, chebyshev_plan
from constructions.regression.stages import Inverse
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression import Start
from theory.regression.matrices import identity, matrix_power, on_each_prefix, start_matrix
from verify.claim import Run
from verify.domains import Domain
from verify.domains.base import Matrix
from verify.evidence.agreement import float_agreement, recursion_by_balls, transformer_in_float
from verify.evidence.identity import DomainName, equality
from verify.evidence.registers import (
    Side,
    held_registers,
    invariants_hold,
    point,
    registers_hold,
)
from verify.evidence.size import size
from verify.evidence.statement import Case, Inputs, OverExamples
from verify.finding import Finding
from verify.regression import algorithms
from verify.regression.data import Examples

Packed = Literal["direct", "ladder", "paper"]
Causal = Literal["causal", "causal-ladder"]
Layout = Literal[Packed, Causal]
Layouts = Literal["all", Layout]
Descent = Literal["direct", "causal", "ladder"]

CAUSAL: tuple[Causal, ...] = ("causal", "causal-ladder")
LAYOUTS: dict[Start, tuple[Packed, ...]] = {
    "gram": ("direct", "ladder", "paper"),
    "identity": ("direct", "ladder"),
}
"""The constructions of Newton's method for a whole prompt, by what they start from."""

STEPS = 12  # of Newton at most, register by register: each doubles the degree
MOST_PAIRS = 5e6  # pairs of tokens that attention other than linear may look at in a few seconds


def is_causal(layout: Layouts) -> bool:
    """Whether it computes on every prefix of the examples at once."""
    return layout in CAUSAL


def newton_theorem(layout: Layout, start: Start, interleaved: bool = False) -> str:
    """The entry of the ledger about a construction of Newton's method."""
    name = "newton-interleaved" if interleaved else f"newton-{layout}".removesuffix("-paper")
    return name + "-identity" * (start == "identity")


def newton_statement(
    run: Run, layout: Layout, start: Start, alpha: float, interleaved: bool = False
) -> OverExamples:
    """k steps of Iterative Newton, under a causal mask for every prefix of the examples."""
    causal = is_causal(layout)

    def build(d: int, n: int, k: int) -> Transformer:
        if causal:
            every = {"causal": "direct", "causal-ladder": "ladder"}[layout]
            return run.build(newton, d, k, alpha, every, start=start, causal=True)
        rows = n if layout == "paper" else None
        return run.build(newton, d, k, alpha, layout, start=start, interleaved=interleaved, n=rows)

    def algorithm(domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int) -> Matrix:
        steps = partial(algorithms.newton, domain, k=k, alpha=alpha, start=start)
        return on_each_prefix(steps, domain, X, y, Q) if causal else steps(X, y, Q)

    return OverExamples(
        build=build,
        algorithm=algorithm,
        repeat={"layout": layout, "start": start, "alpha": alpha, "interleaved": interleaved},
        polynomial=not interleaved,
        theorem=newton_theorem(layout, start, interleaved),
    )


def hyperpower_statement(run: Run, order: int, alpha: float) -> OverExamples:
    """k hyperpower steps of this order, from αS."""

    def build(d: int, n: int, k: int) -> Transformer:
        return run.build(hyperpower, d, k, order, alpha)

    return OverExamples(
        build=build,
        algorithm=lambda domain, X, y, Q, k: algorithms.hyperpower(
            domain, X, y, Q, k, order, alpha
        ),
        repeat={"order": order, "alpha": alpha},
        theorem="hyperpower",
        parameters={"p": order},
    )


def chebyshev_statement(run: Run, smallest: float, largest: float) -> OverExamples:
    """k steps of Chebyshev's method by its product formulas, with coefficients as rounded."""

    def build(d: int, n: int, k: int) -> Transformer:
        return run.build(chebyshev, d, max(k, 1), smallest, largest)

    def algorithm(domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int) -> Matrix:
        residuals = Combinations(tuple(chebyshev_plan(max(k, 1), smallest, largest)))
        G = residuals.inverse(domain, X.transpose() * X, max(k, 1))
        return Q * (G * (X.transpose() * y))

    return OverExamples(
        build=build,
        algorithm=algorithm,
        repeat={"smallest": smallest, "largest": largest},
        theorem="chebyshev",
    )


def newton_statements(
    run: Run, layout: Layouts, start: Start, alpha: float, pairs: float, interleaved: bool = False
) -> dict[Layout, OverExamples]:
    """Those to check; ReLU attention looks at all pairs of tokens, linear does not."""
    if interleaved and layout not in ("all", "direct"):
        raise InputError(f"interleaved prompts need layout 'direct', not '{layout}'")
    if start == "identity" and layout == "paper":
        raise InputError("layout 'paper' starts from αS: leave --start at gram")
    if is_causal(layout):
        return {
            name: newton_statement(run, name, start, alpha) for name in CAUSAL if name == layout
        }
    if (layout == "paper" or interleaved) and pairs > MOST_PAIRS:
        raise InputError(
            f"{pairs:.1e} pairs of tokens are too many for attention that is not linear: at most "
            f"{MOST_PAIRS:.0e} (prompts × n²); take fewer of either, or layout 'direct'"
        )
    return {
        name: newton_statement(run, name, start, alpha, interleaved)
        for name in (("direct",) if interleaved else LAYOUTS[start])
        if layout == name or (layout == "all" and (name != "paper" or pairs <= MOST_PAIRS))
    }


def gradient_descent_statement(run: Run, layout: Descent, eta: float) -> OverExamples:
    """k steps of gradient descent, under a causal mask for every prefix of the examples."""
    causal = layout == "causal"

    def build(d: int, n: int, k: int) -> Transformer:
        # The ladder has no layer for zero steps, which the direct layout makes with zero layers.
        chosen = "ladder" if layout == "ladder" and k else "direct"
        return run.build(gradient_descent, d, k, eta, chosen, causal=causal)

    def algorithm(domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int) -> Matrix:
        rows = partial(algorithms.gradient_descent, domain, k=k, step_size=eta)
        return on_each_prefix(rows, domain, X, y, Q) if causal else rows(X, y, Q)

    return OverExamples(
        build=build,
        algorithm=algorithm,
        repeat={"layout": layout, "step_size": eta},
        theorem=f"gradient-descent-{layout}".removesuffix("-direct"),
    )


def online_statement(run: Run) -> OverExamples:
    """One pass of online gradient descent; there is no step count."""

    def build(d: int, n: int, _: int) -> Transformer:
        return run.build(online_gradient_descent, d, n)

    return OverExamples(
        build=build,
        algorithm=lambda domain, X, y, Q, _: algorithms.online_gradient_descent(domain, X, y, Q),
        rational_size=_size_over_common_denominator,
        theorem="online-gradient-descent",
    )


def _size_over_common_denominator(d: int, n: int, _: int) -> tuple[int, float]:
    """Degree and bits of (transformer − algorithm)·Π‖x_i‖^{2n}, plus the degree of Πᵢ‖xᵢ‖².

    A layer multiplies by at most one key, so after n layers Π_i ‖x_i‖^{2n} clears every
    denominator. Each of the n layers adds at most key · x, of degree 2 over its denominator, to
    the degree 1 of y; the product has degree 2n².  A random point with some ‖x_i‖² = 0 could not
    be used, so the degree 2n of Π‖x_i‖² is added.  In each layer the sum of the absolute values
    of the coefficients grows at most by 2 + nd over the denominators, whose own is d each; the
    algorithm's is smaller.
    """
    degree = 2 * n * n + 2 * n + 1 + 2 * n
    return degree, n * n * log2(d) + n * log2(2 + n * d) + log2(n) + 1


def degree_of(case: Case) -> int:
    """The degree of the (last) prediction as a polynomial in all inputs."""
    return int(case.predictions(case.symbols()).tolist()[-1][0].total_degree())


def in_float64(case: Case, examples: Examples, what: str = "") -> Finding:
    """The transformer's predictions on examples beside the recursion's."""
    return float_agreement(
        f"equals the recursion in float64 ({what or f'{len(examples.x)} prompts'})",
        transformer_in_float(case.model, *examples),
        recursion_by_balls(case.of.algorithm, *examples, case.k),
    )


def computes(
    run: Run,
    statement: OverExamples,
    examples: Examples,
    k: int,
    domain: DomainName,
    *,
    most_steps: int | None = None,
    most_rows: int | None = None,
    what: str = "",
) -> Iterator[Finding]:
    """The size that the ledger states, k steps of the recursion in every domain asked for, and the
    proof layer by layer.

    `what` the examples are, in words; exact domains take at most `most_rows` of them, the proof
    `most_steps`.
    """
    n, d = examples.x.shape[-2:]
    rows = min(n, most_rows or n)
    case = statement.at(d, n, k)
    in_other_domains = equality(run, statement.at(d, rows, k), domain)
    sizes = {"d": d, "n": n, "k": k, **statement.parameters}
    yield size(case.model, statement.theorem, **sizes)
    if domain in ("all", "float"):
        yield in_float64(case, examples, what)
    yield from in_other_domains
    if domain == "all":
        yield from layer_by_layer(run, statement.at(d, rows, min(k, most_steps or k)))


def layer_by_layer(run: Run, case: Case) -> Iterator[Finding]:
    """Every register holds what the proof says; and I − S·M is the stated power of I − S·M₀."""
    yield registers_hold(run, case)
    given = point(run, case)
    invariants: list[Any] = [stage.holds for stage in case.model.stages]
    steps = [each.power for each in invariants if _is_inverse(each)]
    if not steps:
        return
    what = (
        "squares in every step"
        if all(b == 2 * a for a, b in pairwise(steps))
        else f"is raised to the powers {', '.join(map(str, sorted(set(steps))))}"
    )
    found = invariants_hold(case, given, "residual", f"residual I − S·M {what}", residuals)
    found.wanted = "(I − S·M₀)^p"
    yield found


def residuals(case: Case, given: Inputs) -> list[Side]:
    """x (I − M S), as read from the registers that hold M x, beside x (I − M₀ S)^power."""
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
    """Whether it is M x, of all examples."""
    return isinstance(invariant, Inverse) and invariant.row is None
