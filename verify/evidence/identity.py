"""Equality of transformer and algorithm, checked in every number system."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from math import comb
from typing import Any, Literal

import numpy as np

from theory.kinds import InputError
from verify.claim import Run
from verify.domains import (
    Degrees,
    Domain,
    Modular,
    NotPolynomial,
    Symbolic,
    SymbolicBySympy,
    error_probability,
    miss_probability,
    random_prime,
)
from verify.domains.base import Entry
from verify.evidence.registers import first_difference
from verify.evidence.statement import Case, OverExamples, shown
from verify.finding import Finding, Verdict, equal, rounded_up

DomainName = Literal["all", "formula", "float", "exact", "modular", "symbolic"]

WANTED_ERROR = 1e-20  # random primes are added until the error probability is below this
# coefficients of a dense polynomial of the prediction's degree, for the symbolic domain
MOST_TERMS = 3e7
LARGEST_SYMBOLIC = 3e8  # of these, beyond which FLINT may take minutes
MOST_EXACT = 1e7  # n·d·degree beyond which the rationals take hours
LARGEST_MODULAR = 2**40  # degree for which the error probability of a 61-bit prime is small
LARGEST_EXACT = 5e4  # n·d·degree beyond which the rationals take seconds, and modular takes over


def equality(run: Run, case: Case, domain: DomainName) -> Iterator[Finding]:
    """Yields the findings that transformer and algorithm are equal, in the exact domains named.

    `domain` names the domains; for the domains float and formula the generator yields no finding.
    Raises ValueError, before the first finding, for sizes that are too large for a domain, and for
    the domain formula if the prediction has no formula.
    """
    _affordable(case, domain)
    return _in_domains(run, case, domain)


def _affordable(case: Case, domain: DomainName) -> None:
    sizes, (d, n) = f"d = {case.d}, n = {case.n}, k = {case.k}", (case.d, case.n)
    if domain == "formula" and not case.of.formula:
        raise InputError(
            f"domain is 'formula', and no formula is read from {case.model.name}: give another "
            "domain, or a model without a causal mask and with one token for each example"
        )
    if domain == "exact" and n * d * _degree(case.of.at(1, 1, case.k)) > MOST_EXACT:
        raise InputError(
            f"{sizes} is too large for the domain of rationals (numbers have millions of "
            "digits): give a smaller k, or the modular domain"
        )
    if domain == "modular" and not case.of.polynomial:
        raise InputError(
            "the model has hardmax attention, which the modular domain cannot run: give "
            "the domain float or exact"
        )
    if domain == "symbolic" and _terms(case) > MOST_TERMS:
        raise InputError(
            f"{sizes} is too large for the symbolic domain ({n * d + n + d} variables, degree "
            f"{_degree(case)}): give smaller d, n and k, or give the modular domain"
        )


def _in_domains(run: Run, case: Case, domain: DomainName) -> Iterator[Finding]:
    of, d, n, k = case.of, case.d, case.n, case.k
    if domain in ("all", "exact"):
        smaller = (
            k
            if domain == "exact"
            else _largest(of, k, lambda case: n * d * _degree(case) <= LARGEST_EXACT)
        )
        yield over_the_rationals(run, of.at(d, n, smaller))
    if domain == "modular" or (domain == "all" and of.polynomial):
        # A formula is compared for all n; the forward pass is compared for fewer steps.
        fewer = domain == "all" and of.formula
        smaller = _largest(of, k, lambda case: _degree(case) <= LARGEST_MODULAR) if fewer else k
        yield modulo_primes(run, of.at(d, n, smaller))
    if domain == "symbolic":
        yield symbolically(run, case)
    if domain == "all":
        few, tries = (min(d, 2), min(n, 2)), range(min(k, 2), 0, -1)
        sizes = [*((*few, j) for j in tries), (1, 1, 1), (1, 1, 0)] if k else [(*few, 0)]
        cases = (of.at(*each) for each in sizes)
        yield symbolically(run, next(each for each in cases if _terms(each) <= LARGEST_SYMBOLIC))


def _largest(of: OverExamples, k: int, affordable: Callable[[Case], bool]) -> int:
    """The largest number of steps ≤ k for which a case with d = n = 1 is affordable, at least 1."""
    low, high = min(k, 1), k + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if affordable(of.at(1, 1, middle)) else (low, middle)
    return low


def over_the_rationals(run: Run, case: Case) -> Finding:
    """The finding that transformer and algorithm are equal over Q, on random small fractions."""
    wrong = 0
    for _ in run.progress(range(3), "over Q"):
        given = case.rational(run.rng)
        if case.model.interface.several_queries:
            # A ReLU head may be 0 on one side of 0, and hide an error there.
            given = given._replace(Q=[*given.Q, [-entry for entry in given.Q[0]]])
        wrong += not case.agrees(given)
    return equal(
        "rational",
        f"predictions of transformer and algorithm over Q ({case}, 3 instances)",
        smallest_failure(run, case) if wrong else None,
    )


def modulo_primes(run: Run, case: Case) -> Finding:
    """The finding that transformer and algorithm are equal for all inputs of these sizes.

    Both are compared at random points modulo random primes.
    """
    id = "modular"
    name = (
        f"predictions of transformer and algorithm modulo random 61-bit primes, all inputs ({case})"
    )
    try:
        per_point = chance_of_error(case)
        if per_point > 0.5:
            return Finding(
                id,
                name,
                "identity",
                "undecided",
                "equal",
                Verdict.UNDECIDED,
                f"error probability of one point {min(per_point, 1.0):.2g}, above ½",
                detail="the degree is too large for primes of 61 bits: give a smaller k",
            )
        points, missed = 0, 1.0
        agree = True
        while agree and missed > WANTED_ERROR:
            points, missed = points + 1, missed * per_point
            agree = case.agrees(case.random(Modular(random_prime(run.rng)), run.rng))
    except NotPolynomial as reason:
        if not case.of.polynomial:
            raise InputError(
                f"the modular domain cannot run the model ({reason}): give another domain"
            ) from None
        return _no_polynomial(id, name, reason, smallest_failure(run, case))
    return equal(
        id,
        name,
        None if agree else smallest_failure(run, case),
        evidence="identity",
        words=f"equal at {points} random points; error probability ≤ {rounded_up(missed):.1e}",
    )


def symbolically(run: Run, case: Case) -> Finding:
    """The finding that transformer and algorithm are equal as polynomials in all inputs.

    FLINT checks the size of the case, and SymPy checks a small size.
    """
    small = case.of.at(1, min(case.n, 2), min(case.k, 1))
    variables = case.n * case.d + case.n + case.d
    name = (
        f"predictions of transformer and algorithm as polynomials ({case}, {variables} variables)"
    )
    try:
        agree = case.agrees(case.symbols(Symbolic)) and small.agrees(small.symbols(SymbolicBySympy))
    except NotPolynomial as reason:
        return _no_polynomial("symbolic", name, reason, smallest_failure(run, case))
    return equal(
        "symbolic",
        name,
        None if agree else smallest_failure(run, case),
        evidence="identity",
        words=f"equal by FLINT; for {small}, also by SymPy",
    )


def _no_polynomial(id: str, name: str, reason: NotPolynomial, detail: str) -> Finding:
    words = f"no polynomial: {reason}"
    return Finding(id, name, "identity", "different", "equal", Verdict.FAILS, words, detail=detail)


def smallest_failure(run: Run, case: Case) -> str:
    """The smallest instance on which transformer and algorithm differ, in words.

    The text contains the values of transformer and algorithm, and the first register that differs
    from its layer invariant. The text is empty in runs that do not explain failures.
    """
    if not run.explains:
        return ""
    of = case.of
    most = of.only_d or min(case.d, 3), min(case.n, 4), min(case.k, 3)
    sizes = product(range(of.only_d or 1, most[0] + 1), range(1, most[1] + 1), range(most[2] + 1))
    for size in sorted(sizes, key=lambda size: (sum(size), size)):
        small = case.of.at(*size)
        given = small.rational(np.random.default_rng([run.seed, *size]))
        got, wanted = small.predictions(given), small.by_definition(given)
        if got == wanted:
            continue
        again = dict(d=small.d, n=small.n, k=small.k, domain="exact", **case.of.repeat)
        repeat = f"\nrepeat with: {run.command(**again)}" if run.runs else ""
        return (
            f"smallest instance: {small}, {given}\n"
            f"transformer {shown(got.tolist())}, algorithm {shown(wanted.tolist())}\n"
            f"first difference: {first_difference(small, given)}{repeat}"
        )
    return "equal at all sizes up to d={}, n={}, k={}".format(*most)


def chance_of_error(case: Case) -> float:
    """A bound on the probability that a random point modulo a random prime misses a difference."""
    if case.of.rational_size:
        return error_probability(*case.of.rational_size(case.d, case.n, case.k))

    def both(domain: Domain, entry: Entry) -> list[Any]:
        given = case.filled(domain, entry)
        theirs, ours = case.by_definition(given), case.predictions(given)
        return [value for matrix in (ours, theirs) for row in matrix.tolist() for value in row]

    return miss_probability(both)


def _terms(case: Case) -> int:
    """The number of coefficients of a dense polynomial of the prediction's degree in all inputs."""
    variables = case.n * case.d + case.n + case.d
    return comb(variables + _degree(case), variables)


def _degree(case: Case) -> int:
    result = case.by_definition(case.filled(Degrees(), 1))
    return int(max(max(row) for row in result.tolist()))
