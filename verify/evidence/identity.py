"""The transformer equals the algorithm: the same statement, tried in every number system."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from math import comb
from typing import Any, Literal

import numpy as np

from constructions.transformer import Transformer
from theory.checks import InputError
from verify.claim import Run
from verify.domains import (
    Degrees,
    Domain,
    Modular,
    NotPolynomial,
    Rational,
    Symbolic,
    SymbolicBySympy,
    chance_of_missing,
    error_probability,
    random_prime,
)
from verify.domains.base import Entry
from verify.evidence.registers import first_difference
from verify.evidence.statement import (
    OverExamples,
    Rows,
    matrices,
    predict,
    rational_instance,
    symbols,
)
from verify.finding import Finding, Verdict, equal

DomainName = Literal["all", "float", "exact", "modular", "symbolic"]

WANTED_ERROR = 1e-20  # random primes are added until the error probability is below this
MOST_TERMS = 3e7  # of a dense polynomial of the prediction's degree, for the symbolic domain
MOST_EXACT = 1e7  # n·d·degree beyond which the rationals take hours
LARGEST_EXACT = 5e4  # n·d·degree beyond which the rationals take seconds, and modular takes over


def equality(
    run: Run, statement: OverExamples, d: int, n: int, k: int, domain: DomainName
) -> Iterator[Finding]:
    """Findings in the exact domains that were asked for (`float` is not one of them).

    Raises ValueError, before the first of them, for what is too large for a domain.
    """
    _affordable(statement, d, n, k, domain)
    return _in_domains(run, statement, d, n, k, domain)


def _affordable(statement: OverExamples, d: int, n: int, k: int, domain: DomainName) -> None:
    sizes = f"d = {d}, n = {n}, k = {k}"
    if domain == "exact" and n * d * _degree(statement, 1, 1, k) > MOST_EXACT:
        raise InputError(
            f"{sizes} is too large for the rationals (numbers of millions of "
            "digits): take a smaller k, or the modular domain"
        )
    if domain == "modular" and not statement.polynomial:
        raise InputError(
            "the modular domain has no hardmax, which this model needs: take float or exact"
        )
    if domain == "symbolic":
        variables, degree = n * d + n + d, _degree(statement, d, n, k)
        if comb(variables + degree, variables) > MOST_TERMS:
            raise InputError(
                f"{sizes} is too large for the symbolic domain ({variables} "
                f"variables, degree {degree}): try d = 2, n = 2, k = 2, or the modular domain"
            )


def _in_domains(
    run: Run, statement: OverExamples, d: int, n: int, k: int, domain: DomainName
) -> Iterator[Finding]:
    if domain in ("all", "exact"):
        smaller = k
        while (
            domain == "all"
            and smaller > 1
            and n * d * _degree(statement, 1, 1, smaller) > LARGEST_EXACT
        ):
            smaller -= 1
        yield over_the_rationals(run, statement, d, n, smaller)
    if domain == "modular" or (domain == "all" and statement.polynomial):
        yield modulo_primes(run, statement, d, n, k)
    if domain == "symbolic":
        yield symbolically(run, statement, d, n, k)
    if domain == "all":
        yield symbolically(run, statement, min(d, 2), min(n, 2), min(k, 2))


def over_the_rationals(run: Run, statement: OverExamples, d: int, n: int, k: int) -> Finding:
    """Equal on random instances with small rational entries, exactly."""
    domain = Rational()
    wrong = 0
    for _ in run.progress(range(3), "over Q"):
        X, y, Q = rational_instance(run.rng, d, n)
        model = statement.build(d, n, k)
        if model.interface.several_queries:
            # A ReLU head may be silent on one side of 0, and a fault in it with it.
            Q = [*Q, [-entry for entry in Q[0]]]
        wrong += not _agree(statement, model, domain, X, y, Q, k)
    return equal(
        "rational",
        f"exactly over Q (d={d}, n={n}, k={k}, 3 instances)",
        smallest_failure(run, statement, d, n, k) if wrong else None,
    )


def modulo_primes(run: Run, statement: OverExamples, d: int, n: int, k: int) -> Finding:
    """Equal for all inputs of these sizes, by random points modulo random primes."""
    id, name = "modular", f"mod random 61-bit primes, all inputs (d={d}, n={n}, k={k})"
    model = statement.build(d, n, k)
    try:
        per_point = chance_of_error(statement, model, d, n, k)
        if per_point > 0.5:
            return Finding(
                id,
                name,
                "identity",
                "undecided",
                "equal",
                Verdict.UNDECIDED,
                f"error probability of one point {min(per_point, 1.0):.2g}, above ½",
                detail="the degree is too large for primes of 61 bits: take a smaller k",
            )
        points, chance = 0, 1.0
        agree = True
        while agree and chance > WANTED_ERROR:
            points, chance = points + 1, chance * per_point
            domain = Modular(random_prime(run.rng))
            X, y, Q = (domain.random_entries(run.rng, *shape) for shape in ((n, d), (n, 1), (1, d)))
            agree = _agree(statement, model, domain, X, y, Q, k)
    except NotPolynomial as reason:
        if not statement.polynomial:
            raise InputError(f"the modular domain cannot run this model: {reason}") from None
        return _no_polynomial(id, name, reason, smallest_failure(run, statement, d, n, k))
    return equal(
        id,
        name,
        None if agree else smallest_failure(run, statement, d, n, k),
        evidence="identity",
        words=f"equal at {points} points; error probability ≤ {chance:.1e}",
    )


def symbolically(run: Run, statement: OverExamples, d: int, n: int, k: int) -> Finding:
    """The identity of polynomials itself, in the entries of x, y and x_query; by FLINT at this
    size, and by SymPy at a small one."""
    small = (1, min(n, 2), min(k, 1))
    name = f"symbolically (d={d}, n={n}, k={k}, {n * d + n + d} variables)"
    try:
        by_flint = _same_polynomial(statement, Symbolic, d, n, k)
        agree = by_flint and _same_polynomial(statement, SymbolicBySympy, *small)
    except NotPolynomial as reason:
        return _no_polynomial("symbolic", name, reason, smallest_failure(run, statement, d, n, k))
    size = ", ".join(f"{name}={value}" for name, value in zip("dnk", small, strict=True))
    return equal(
        "symbolic",
        name,
        None if agree else smallest_failure(run, statement, d, n, k),
        evidence="identity",
        words=f"the same polynomial, by FLINT and (at {size}) by SymPy",
    )


def _same_polynomial(statement: OverExamples, ring: Any, d: int, n: int, k: int) -> bool:
    domain, X, y, Q = symbols(d, n, ring)
    return _agree(statement, statement.build(d, n, k), domain, X, y, Q, k)


def _no_polynomial(id: str, name: str, reason: NotPolynomial, detail: str) -> Finding:
    words = f"no polynomial: {reason}"
    return Finding(id, name, "identity", "different", "equal", Verdict.FAILS, words, detail=detail)


def smallest_failure(run: Run, statement: OverExamples, d: int, n: int, k: int) -> str:
    """The smallest instance on which the two differ, both values, and where they part."""
    domain = Rational()
    sizes = product(range(1, min(d, 3) + 1), range(1, min(n, 4) + 1), range(min(k, 3) + 1))
    for d_, n_, k_ in sorted(sizes, key=lambda size: (sum(size), size)):
        rng = np.random.default_rng([run.seed, d_, n_, k_])
        X, y, Q = rational_instance(rng, d_, n_)
        model = statement.build(d_, n_, k_)
        got = predict(model, domain, X, y, Q)
        wanted = statement.algorithm(domain, *matrices(domain, X, y, Q), k_)
        if got == wanted:
            continue
        return (
            f"smallest instance: d={d_}, n={n_}, k={k_}, "
            f"x={_text(X)}, y={_text(y)}, x_query={_text(Q)}\n"
            f"transformer {_text(got.tolist())}, algorithm {_text(wanted.tolist())}\n"
            f"first difference: {first_difference(statement, model, domain, X, y, Q)}\n"
            f"repeat with: {statement.command(d_, n_, k_)} --seed {run.seed}"
        )
    return f"equal at all sizes up to d={min(d, 3)}, n={min(n, 4)}, k={min(k, 3)}"


def chance_of_error(statement: OverExamples, model: Transformer, d: int, n: int, k: int) -> float:
    """The chance that a random point modulo a random prime misses a difference between the two."""
    if statement.rational_size:
        return error_probability(*statement.rational_size(d, n, k))

    def both(domain: Domain, entry: Entry) -> list[Any]:
        X, y, Q = (
            [[entry] * columns for _ in range(rows)] for rows, columns in ((n, d), (n, 1), (1, d))
        )
        theirs = statement.algorithm(domain, *matrices(domain, X, y, Q), k)
        ours = predict(model, domain, X, y, Q)
        return [value for matrix in (ours, theirs) for row in matrix.tolist() for value in row]

    return chance_of_missing(both)


def _agree(
    statement: OverExamples,
    model: Transformer,
    domain: Domain,
    X: Rows,
    y: Rows,
    Q: Rows,
    k: int,
) -> bool:
    wanted = statement.algorithm(domain, *matrices(domain, X, y, Q), k)
    return bool(predict(model, domain, X, y, Q) == wanted)


def _degree(statement: OverExamples, d: int, n: int, k: int) -> int:
    domain = Degrees()
    X, y, Q = ([[1] * columns for _ in range(rows)] for rows, columns in ((n, d), (n, 1), (1, d)))
    result = statement.algorithm(domain, *matrices(domain, X, y, Q), k)
    return max(max(row) for row in result.tolist())


def _text(rows: Rows) -> str:
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
