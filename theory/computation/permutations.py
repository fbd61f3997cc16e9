"""Finite groups of permutations as lists of elements: commutators, derived series, cyclic factors.

A permutation p is a tuple, and p[i] is the image of i; products act from left to right. The groups
are small: they permute the tiles of the image sets of an automaton.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from theory.computation.semiautomata import Map, identity, then


def inverse(p: Map) -> Map:
    """The permutation q with p·q = id."""
    back = [0] * len(p)
    for i, to in enumerate(p):
        back[to] = i
    return tuple(back)


def generated(generators: Iterable[Map], n_points: int, most: int | None = None) -> frozenset[Map]:
    """The group of permutations of n_points points that `generators` generate.

    If the group has more than `most` elements, the result is some set of more than `most` elements.
    """
    generators = tuple(generators)
    found = [identity(n_points)]
    seen = set(found)
    for p in found:
        for g in generators:
            if (q := then(p, g)) not in seen:
                seen.add(q)
                found.append(q)
        if most is not None and len(seen) > most:
            break
    return frozenset(seen)


def commutator_subgroup(group: frozenset[Map]) -> frozenset[Map]:
    """The commutator subgroup G′, which all a⁻¹b⁻¹ab generate."""
    points = len(next(iter(group)))
    commutators = {then(then(inverse(a), inverse(b)), then(a, b)) for a in group for b in group}
    return generated(commutators, points)


def derived_series(group: frozenset[Map]) -> list[frozenset[Map]]:
    """The derived series G > G′ > G″ > … until it is constant.

    Its last group is {id} if G is solvable, and otherwise the perfect core of G.
    """
    series = [group]
    while len(below := commutator_subgroup(series[-1])) < len(series[-1]):
        series.append(below)
    return series


def cyclic_factors(group: frozenset[Map], below: frozenset[Map]) -> list[tuple[Map, int]]:
    """Elements a₁, a₂, … of G and orders m₁, m₂, … of a decomposition of G/G′ into cyclic groups.

    Every coset of G′ = `below` is G′a₁^{e₁}a₂^{e₂} … for exactly one choice of 0 ≤ eᵢ < mᵢ. Such
    elements exist since G/G′ is abelian.
    """

    def extended(factors: list[tuple[Map, int]]) -> list[tuple[Map, int]] | None:
        spanned = {coset for _, coset in powers(factors, below)}
        if len(spanned) * len(below) == len(group):
            return factors
        left = sorted((-_order(a, below), a) for a in group if _coset(a, below) not in spanned)
        for minus, a in left:
            more = [*factors, (a, -minus)]
            cosets = [coset for _, coset in powers(more, below)]
            if len(set(cosets)) == len(cosets) and (found := extended(more)):
                return found
        return None

    found = extended([])
    assert found is not None, "an abelian group is a product of cyclic ones"
    return found


def powers(
    factors: list[tuple[Map, int]], below: frozenset[Map]
) -> Iterator[tuple[tuple[int, ...], Map]]:
    """Yields all exponents (e₁, e₂, …), each with the first element of G′a₁^{e₁}a₂^{e₂} …."""
    points = len(next(iter(below)))

    def products(rest: list[tuple[Map, int]], head: Map) -> Iterator[tuple[tuple[int, ...], Map]]:
        if not rest:
            yield (), _coset(head, below)
            return
        (a, order), *others = rest
        for exponent in range(order):
            for exponents, coset in products(others, head):
                yield (exponent, *exponents), coset
            head = then(head, a)

    yield from products(factors, identity(points))


def _coset(p: Map, below: frozenset[Map]) -> Map:
    """The first element of the coset G′p in lexicographic order."""
    return min(then(n, p) for n in below)


def _order(p: Map, below: frozenset[Map]) -> int:
    """The smallest m ≥ 1 with p^m in G′."""
    power, m = p, 1
    while power not in below:
        power, m = then(power, p), m + 1
    return m
