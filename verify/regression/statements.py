"""What the claims of this topic say of its constructions, at every size, and how it is shown."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from math import log2
from typing import Any, Literal

from constructions import chebyshev, gradient_descent, hyperpower, newton, online_gradient_descent
from constructions.regression.chebyshev import chebyshev_plan
from constructions.regression.stages import Inverse
from constructions.transformer import Transformer
from theory.checks import InputError
from theory.regression import Start
from verify.claim import Run
from verify.domains import Domain, NotPolynomial
from verify.domains.base import Matrix
from verify.evidence.agreement import float_agreement, recursion_by_balls, transformer_in_float
from verify.evidence.identity import DomainName, equality
from verify.evidence.registers import (
    Side,
    chance,
    compared_finding,
    held_registers,
    point,
    registers_hold,
)
from verify.evidence.size import size
from verify.evidence.statement import OverExamples, Rows, predict, symbols
from verify.finding import Finding
from verify.regression import algorithms
from verify.regression.algorithms import identity, inverse_of_power, on_each_prefix, start_matrix
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


def powers_of(scale: float, start: Start) -> Callable[..., Callable[[Any], Matrix]]:
    """What stages hold, for constructions that start from M₀ = scale·S ("gram") or scale·I."""

    def holds(
        _: Transformer, domain: Domain, X: Matrix, y: Matrix, Q: Matrix
    ) -> Callable[[Any], Matrix]:
        S, b = X.transpose() * X, X.transpose() * y
        first = start_matrix(domain, S, scale, start)
        unit = identity(domain, S.nrows())
        E = unit - first * S

        def value(what: Any) -> Matrix:
            row = getattr(what, "row", None)
            queries = Q if row is None else domain.matrix([unit.tolist()[row - 1]] * Q.nrows())
            return what.value(S, inverse_of_power(domain, E, first, what.power), b, queries)

        return value

    return holds


def for_prefixes(held: Callable[..., Callable[[Any], Matrix]]) -> Callable[..., Any]:
    """What stages hold where every token does as if the examples before it were all there are."""

    def holds(model: Transformer, domain: Domain, *examples: Matrix) -> Callable[[Any], Matrix]:
        return lambda what: on_each_prefix(
            lambda *seen: held(model, domain, *seen)(what), domain, *examples
        )

    return holds


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
    causal, held = is_causal(layout), powers_of(alpha, start)

    def build(d: int, n: int, k: int) -> Transformer:
        if causal:
            every = {"causal": "direct", "causal-ladder": "ladder"}[layout]
            return run.build(newton, d, k, alpha, every, start=start, causal=True)
        rows = n if layout == "paper" else None
        return run.build(newton, d, k, alpha, layout, start=start, interleaved=interleaved, n=rows)

    def algorithm(domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int) -> Matrix:
        steps = partial(algorithms.newton, domain, k=k, alpha=alpha, start=start)
        return on_each_prefix(steps, domain, X, y, Q) if causal else steps(X, y, Q)

    more = " --interleaved" if interleaved else ""
    return OverExamples(
        build=build,
        algorithm=algorithm,
        command=lambda d, n, k: (
            f"python -m verify newton --d {d} --n {n} --k {k} --layout {layout} "
            f"--start {start} --alpha {alpha!r} --domain exact{more}"
        ),
        holds=for_prefixes(held) if causal else held,
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
        command=lambda d, n, k: (
            f"python -m verify hyperpower --d {d} --n {n} --k {k} --order {order} "
            f"--alpha {alpha!r} --domain exact"
        ),
        holds=powers_of(alpha, "gram"),
        theorem="hyperpower",
        parameters={"p": order},
    )


def chebyshev_statement(run: Run, smallest: float, largest: float) -> OverExamples:
    """k steps of Chebyshev's method by its product formulas, with coefficients as rounded."""

    def build(d: int, n: int, k: int) -> Transformer:
        return run.build(chebyshev, d, max(k, 1), smallest, largest)

    def inverses(domain: Domain, S: Matrix, k: int) -> dict[int, Matrix]:
        return algorithms.chebyshev(domain, S, chebyshev_plan(max(k, 1), smallest, largest))

    def holds(
        model: Transformer, domain: Domain, X: Matrix, y: Matrix, Q: Matrix
    ) -> Callable[[Any], Matrix]:
        S, b = X.transpose() * X, X.transpose() * y
        G = inverses(domain, S, model.stages[-1].holds.power)
        return lambda what: what.value(S, G[what.power], b, Q)

    def algorithm(domain: Domain, X: Matrix, y: Matrix, Q: Matrix, k: int) -> Matrix:
        G = inverses(domain, X.transpose() * X, k)
        return Q * (G[max(k, 1)] * (X.transpose() * y))

    return OverExamples(
        build=build,
        algorithm=algorithm,
        command=lambda d, n, k: (
            f"python -m verify chebyshev --d {d} --n {n} --k {max(k, 1)} "
            f"--smallest {smallest!r} --largest {largest!r} --domain exact"
        ),
        holds=holds,
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
    causal, held = layout == "causal", powers_of(eta, "identity")

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
        command=lambda d, n, k: (
            f"python -m verify gd --d {d} --n {n} --k {max(k, 1)} "
            f"--layout {layout} --step-size {eta!r} --domain exact"
        ),
        holds=for_prefixes(held) if causal else held,
        theorem=f"gradient-descent-{layout}".removesuffix("-direct"),
    )


def online_statement(run: Run) -> OverExamples:
    """One pass of online gradient descent; there is no step count."""

    def build(d: int, n: int, _: int) -> Transformer:
        return run.build(online_gradient_descent, d, n)

    return OverExamples(
        build=build,
        algorithm=lambda domain, X, y, Q, _: algorithms.online_gradient_descent(domain, X, y, Q),
        command=lambda d, n, _: f"python -m verify ogd --d {d} --n {n} --domain exact",
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


def degree_of(statement: OverExamples, k: int) -> int:
    """The degree of the (last) prediction as a polynomial in x₁, y₁ and x_q, for d = n = 1."""
    domain, *examples = symbols(1, 1)
    prediction = predict(statement.build(1, 1, k), domain, *examples)
    return int(prediction.tolist()[-1][0].total_degree())


def in_float64(statement: OverExamples, examples: Examples, k: int, what: str = "") -> Finding:
    """The transformer's predictions on examples beside the recursion's."""
    n, d = examples.x.shape[-2:]
    return float_agreement(
        f"equals the recursion in float64 ({what or f'{len(examples.x)} prompts'})",
        transformer_in_float(statement.build(d, n, k), *examples),
        recursion_by_balls(statement.algorithm, *examples, k),
    )


def computes(
    run: Run,
    statement: OverExamples,
    examples: Examples,
    k: int,
    domain: DomainName,
    scale: float,
    start: Start,
    *,
    most_steps: int | None = None,
    most_rows: int | None = None,
    what: str = "",
) -> Iterator[Finding]:
    """The size that the ledger states, k steps of the recursion in every domain asked for, and the
    proof layer by layer, from M₀ = scale·S ("gram") or scale·I.

    `what` the examples are, in words; exact domains take at most `most_rows` of them, the proof
    `most_steps`.
    """
    n, d = examples.x.shape[-2:]
    rows = min(n, most_rows or n)
    in_other_domains = equality(run, statement, d, rows, k, domain)
    parameters = {"d": d, "n": n, "k": k, **statement.parameters}
    yield size(statement.build(d, n, k), statement.theorem, **parameters)
    if domain in ("all", "float"):
        yield in_float64(statement, examples, k, what)
    yield from in_other_domains
    if domain == "all":
        steps = min(k, most_steps or k)
        yield from layer_by_layer(run, statement, scale, start, d, rows, steps)


def layer_by_layer(
    run: Run, statement: OverExamples, scale: float, start: Start, d: int, n: int, k: int
) -> Iterator[Finding]:
    """Every register holds what the proof says; and I − S·M is the stated power of I − S·M₀."""
    yield registers_hold(run, statement, d, n, k)
    model = statement.build(d, n, k)
    at = point(run, statement, model, d, n)

    def residuals(_: OverExamples, model: Transformer, domain: Domain, *given: Rows) -> list[Side]:
        """x (I − M S), as read from the registers that hold M x, beside x (I − M₀ S)^power."""
        X, _y, queries = map(domain.matrix, given)
        S = X.transpose() * X
        E = identity(domain, S.nrows()) - start_matrix(domain, S, scale, start) * S
        return [
            Side(stage, queries - M * S, queries * algorithms.power(domain, E, stage.holds.power))
            for stage, M in held_registers(model, domain, *given)
            if isinstance(stage.holds, Inverse)
        ]

    try:
        compared = residuals(statement, model, *at[:4])
        if not compared:
            return
        certain = chance(statement, model, d, n, at, residuals)
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
