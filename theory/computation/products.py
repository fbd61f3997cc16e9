"""The running product in a solvable group of permutations, computed by counters.

Let G be the group of a class of the holonomy decomposition (`holonomy.py`). Assume that G is
solvable, with derived series G = G₀ > G₁ > … > {id}. Let g be the product of the permutations so
far, and let a₁, a₂, … generate the cyclic factors of G₀/G₁. Then g = n·t(e) for an element n of G₁
and a vector e of exponents, where t(e) = a₁^{e₁}a₂^{e₂} … represents a coset of G₁. Let e(x) be the
exponents of the coset of x. If g is multiplied by x on the right, n and e become

    e′ = e + e(x)   mod the orders,          n′ = n·[t(e) x t(e′)⁻¹].

So counters compute the exponents e. The bracket is in G₁ and is the input of the running product in
G₁, which is computed in the same way. An exponent mod m takes one counter mod m/gcd(m, v) for each
value v ≠ 0 that can be added to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import gcd

from theory.computation.holonomy import Class
from theory.computation.permutations import cyclic_factors, derived_series, inverse, powers
from theory.computation.semiautomata import Map, Semiautomaton, identity, then
from theory.kinds import InputError


class NotSolvable(InputError):
    """The error raised if an automaton has a holonomy group that is not solvable.

    Such an automaton has no cascade of counters and flip-flops. A holonomy group is a group of
    permutations of certain sets of states, which are called tiles. Words induce these permutations.
    For the group that is not solvable, `tiles` are the sets that the group permutes, `group` is the
    set of its permutations, and `order` is the number of these permutations. `core` is the order of
    the perfect core of the group, which is the largest subgroup that equals its commutator
    subgroup.
    """

    def __init__(self, automaton: Semiautomaton, of: Class, core: int) -> None:
        self.tiles, self.group = of.tiles, of.group
        self.order, self.core = len(of.group), core
        shown = ", ".join("{" + ", ".join(map(str, sorted(tile))) + "}" for tile in of.tiles)
        super().__init__(
            f"{automaton.name} has no cascade of counters and flip-flops, since words permute the "
            f"sets {shown} in a group of order {self.order} with a perfect core of order {core}, "
            "which is not solvable: use semiautomaton(…), which has ⌈log₂T⌉ layers (other models "
            "of constant depth are excluded only if TC⁰ ≠ NC¹, which is open)"
        )


class Product:
    """The running product in the holonomy group of one class of image sets, computed by counters.

    Raises `NotSolvable` if the group is not solvable. The module's docstring has the formulas.
    """

    def __init__(self, automaton: Semiautomaton, of: Class) -> None:
        series = derived_series(of.group)
        if len(series[-1]) > 1:
            raise NotSolvable(automaton, of, len(series[-1]))
        self.number, self.points = of.number, len(of.tiles)
        # For each step of the derived series: orders, factors, subgroup, exponents of each coset.
        self.steps = []
        for group, below in pairwise(series):
            factors = cyclic_factors(group, below)
            exponents = {coset: e for e, coset in powers(factors, below)}
            self.steps.append(([m for _, m in factors], factors, below, exponents))
        # Counters: step, factor, value.
        self.counters = [
            (j, i, v)
            for j, (orders, *_) in enumerate(self.steps)
            for i, m in enumerate(orders)
            for v in range(1, m)
        ]
        self.sizes = [
            self.steps[j][0][i] // gcd(self.steps[j][0][i], v) for j, i, v in self.counters
        ]

    def exponents(self, counts: Sequence[int], j: int) -> tuple[int, ...]:
        """The exponents (e₁, e₂, …) of the coset at step j of the derived series.

        `counts` are the values of the counters.
        """
        orders = self.steps[j][0]
        sums = [0] * len(orders)
        for (step, i, v), count in zip(self.counters, counts, strict=True):
            if step == j:
                sums[i] += v * count
        return tuple(total % m for total, m in zip(sums, orders, strict=True))

    def representative(self, j: int, exponents: Sequence[int]) -> Map:
        """The product a₁^{e₁}a₂^{e₂} … that represents a coset at step j of the derived series.

        Here a₁, a₂, … are the generators of the cyclic factors at this step, and `exponents` are
        e₁, e₂, ….
        """
        found = identity(self.points)
        for (a, _), e in zip(self.steps[j][1], exponents, strict=True):
            for _ in range(e):
                found = then(found, a)
        return found

    def element(self, counts: Sequence[int]) -> Map:
        """The running product, an element of the group, from the values of the counters.

        The running product is … t₁ t₀, where t_j is the representative of a coset at step j of the
        derived series.
        """
        found = identity(self.points)
        for j in reversed(range(len(self.steps))):
            found = then(found, self.representative(j, self.exponents(counts, j)))
        return found

    def inputs(self, counts: Sequence[int], x: Map) -> list[int]:
        """The inputs, 0 or 1, of the counters when the running product is multiplied by x.

        The multiplication is on the right, and `counts` are the values of the counters before the
        multiplication.
        """
        given = dict.fromkeys(self.counters, 0)
        for j, (orders, _, below, exponents) in enumerate(self.steps):
            coset = min(then(n, x) for n in below)
            added, e = exponents[coset], self.exponents(counts, j)
            for i, v in enumerate(added):
                if v:
                    given[j, i, v] = 1
            after = [(a + b) % m for a, b, m in zip(e, added, orders, strict=True)]
            x = then(then(self.representative(j, e), x), inverse(self.representative(j, after)))
        return [given[counter] for counter in self.counters]
