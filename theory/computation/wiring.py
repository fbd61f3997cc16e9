"""Threshold circuits built by arithmetic: affine forms over wires, and comparisons of these forms.

A number that depends on the input is an affine form k + Σ c_w·w over wires w that are 0 or 1, with
rational k and c_w.  Sums and multiples take no gates, and a comparison takes one gate:

    [form ≥ 0] = [Σ weights·wires ≥ t]      integer weights without a common divisor, the first
                                            one positive; t is rounded up to an integer

[S ≤ t] is written as ¬[S ≥ t + 1] for a sum S of this kind.  So comparisons that are the same
function of the same wires become one gate.  The gates of one sum S form a *chain*: [S ≥ t] does not
grow as t grows.

    A conjunction of comparisons of one sum S is a range lo ≤ S ≤ hi.  As a number it is
    [S ≥ lo] − [S ≥ hi + 1], which takes no AND.  Two conjunctions exclude each other if their
    ranges are disjoint.  The gates of a chain of m gates take m + 1 joint values, and not 2^m.

A symbol x_i in 0, …, V − 1 of a word is a chain too: [x_i ≥ 1], …, [x_i ≥ V − 1].
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, floor, gcd, inf, lcm
from typing import Any

from theory.computation.threshold_circuits import Gate, ThresholdCircuit, reachable
from theory.kinds import Count, InputError, checked

MOST_VALUES = 2_000  # the largest number of values of one form
MOST_GATES = 20_000  # the largest number of gates, including gates on which no output depends

Key = Any
"""An integer whose comparisons are a chain: a symbol, a sum of wires, or a mean."""

Ranges = Mapping[Key, tuple[float, float]]
"""A conjunction, as a range of integers for each key; None is a conjunction that never holds."""


@dataclass(frozen=True)
class Form:
    """An affine form in the wires of a circuit, with non-zero coefficients.

    The value of the form is constant + Σ_w terms[w]·w, with a sum over the wires w in `terms`.
    """

    constant: Fraction
    terms: Mapping[int, Fraction]

    def __add__(self, other: Form) -> Form:
        terms = dict(self.terms)
        for wire, c in other.terms.items():
            total = terms.pop(wire, 0) + c
            if total:
                terms[wire] = total
        return Form(self.constant + other.constant, terms)

    def __rmul__(self, factor: Fraction | int) -> Form:
        if not factor:
            return ZERO
        return Form(factor * self.constant, {w: factor * c for w, c in self.terms.items()})

    def __sub__(self, other: Form) -> Form:
        return self + Form(-other.constant, {wire: -c for wire, c in other.terms.items()})

    @property
    def is_constant(self) -> bool:
        """Whether the form is constant."""
        return not self.terms


def number(value: Fraction | int) -> Form:
    """The constant form with the given value."""
    return Form(Fraction(value), {})


ZERO, ONE = number(0), number(1)


@checked
class Wiring:
    """A circuit under construction, to which comparisons of forms add gates.

    The inputs of the circuit are words of n symbols from 0, …, V − 1.  The methods raise
    `ValueError` if the circuit has more than 20 000 gates, or if a form has more than 2000 values.
    """

    def __init__(self, vocabulary_size: Count, n: Count) -> None:
        V = vocabulary_size
        self.n_inputs = n * (V - 1)
        self.gates: list[Gate] = []
        self._wires: dict[tuple[Key, int], int] = {}  # [key ≥ t]
        self._chain: list[tuple[Key, int]] = []  # of each wire, its key and threshold
        self._ends: dict[Key, tuple[Fraction, Fraction]] = {}
        for wire in range(self.n_inputs):
            token, below = divmod(wire, V - 1)
            self._named(("symbol", token), below + 1, wire)
        self._V = V

    def symbol(self, token: int, symbol: int) -> Form:
        """The form that is 1 if the given token of the word is the given symbol, and 0 otherwise.

        For the token x the form is [x ≥ symbol] − [x ≥ symbol + 1], where [x ≥ v] is 1 if x ≥ v,
        and 0 otherwise.
        """
        key = "symbol", token
        above, over = (self._wires.get((key, v)) for v in (symbol, symbol + 1))
        found = ONE if symbol == 0 else self._wire(above)
        return found if symbol == self._V - 1 else found - self._wire(over)

    def at_least_zero(self, form: Form, *, strictly: bool = False) -> Ranges | None:
        """The condition form ≥ 0, or form > 0 if `strictly` is true, as ranges of sums of wires.

        The result maps each sum to the range in which it must be.  It is None if the condition
        never holds.
        """
        if form.is_constant:
            holds = form.constant > 0 or (form.constant == 0 and not strictly)
            return {} if holds else None
        if found := self._on_one_chain(form, strictly):
            return found[0]
        wires = sorted(form.terms)
        scale = Fraction(lcm(*(c.denominator for c in form.terms.values())))
        scale /= gcd(*(int(c * scale) for c in form.terms.values()))
        if form.terms[wires[0]] < 0:
            scale = -scale
        key = tuple((wire, int(scale * form.terms[wire])) for wire in wires)
        at = -scale * form.constant
        low: float
        high: float
        if scale > 0:
            low, high = (floor(at) + 1 if strictly else ceil(at)), inf
        else:
            low, high = -inf, (ceil(at) - 1 if strictly else floor(at))
        least, most = self._ends.get(key) or self._ends.setdefault(
            key, self.bounds(scale * (form - number(form.constant)))
        )
        if low > most or high < least:
            return None
        if low <= least and high >= most:
            return {}
        return {key: (low, high)}

    def holds(self, form: Form) -> Ranges | None:
        """The condition form = 1, as ranges of sums of wires, for a form whose values are 0 and 1.

        The result is None if the condition never holds.
        """
        return self.at_least_zero(form - ONE)

    def together(self, parts: Iterable[Ranges | None]) -> Ranges | None:
        """The conjunction of conditions, all given as ranges of sums; None if it never holds."""
        found: dict[Key, tuple[float, float]] = {}
        for part in parts:
            if part is None:
                return None
            for key, (low, high) in part.items():
                least, most = found.get(key, (-inf, inf))
                found[key] = max(low, least), min(high, most)
                if found[key][0] > found[key][1]:
                    return None
        return found

    def indicator(self, ranges: Ranges | None) -> Form:
        """The form that is 1 where a condition holds and 0 elsewhere.

        `ranges` is the condition: a range for each of several sums, or None for a condition that
        never holds.  If there are ranges of several sums, the form takes one AND gate.
        """
        if not ranges:
            return ZERO if ranges is None else ONE
        if len(ranges) == 1:
            ((key, (low, high)),) = ranges.items()
            return self._from(key, low) - self._from(key, high + 1)
        literals = []
        for key, (low, high) in ranges.items():
            literals += [self._from(key, low)] if low > -inf else []
            literals += [ONE - self._from(key, high + 1)] if high < inf else []
        return self._compared(sum(literals, start=number(-len(literals))))

    def all_of(self, forms: Iterable[Form]) -> Form:
        """The AND of forms that are 0 or 1."""
        return self.indicator(self.together(map(self.holds, forms)))

    def any_of(self, forms: Iterable[Form]) -> Form:
        """The OR of forms that are 0 or 1."""
        return ONE - self.all_of(ONE - form for form in forms)

    def product(self, a: Form, b: Form) -> Form:
        """The form a·b, where the product of two wires is their AND.

        If both wires are in one chain, so that one implies the other, their product takes no gate.
        """
        terms: dict[int, Fraction] = defaultdict(Fraction)
        for wire, c in a.terms.items():
            terms[wire] += c * b.constant
            for other, d in b.terms.items():
                terms[self._both(wire, other)] += c * d
        for other, d in b.terms.items():
            terms[other] += a.constant * d
        return Form(a.constant * b.constant, {wire: c for wire, c in terms.items() if c})

    def relu(self, form: Form) -> Form:
        """The form max(form, 0), which is the sum of (v_m − v_{m−1})·[form ≥ v_m] over m ≥ 1.

        Here v_0 = 0, and v_1 < v_2 < … are the positive values of the form. [form ≥ v] is 1 if form
        ≥ v, and 0 otherwise.
        """
        least, most = self.bounds(form)
        if least >= 0 or most <= 0:
            return form if least >= 0 else ZERO
        steps = [Fraction(0), *(value for value in self.values(form) if value > 0)]
        return self.staircase(steps, [form - number(value) for value in steps[1:]])

    def staircase(self, steps: list[Fraction], reached: list[Form]) -> Form:
        """The form steps[m], where m is the number of conditions reached[0] ≥ 0, … that hold.

        The form is steps[0] + Σ_{m ≥ 1} (steps[m] − steps[m − 1])·[reached[m − 1] ≥ 0], where
        [condition] is 1 if the condition holds, and 0 otherwise.  Each condition reached[m] ≥ 0
        must imply the previous condition.  If the conditions compare different sums, their gates
        become a new chain, in which each gate implies the previous gate.
        """
        found, first = number(steps[0]), len(self._chain)
        made = list[tuple[int, Form]]()
        for m, condition in enumerate(reached, start=1):
            before = len(self._chain)
            holds = self.indicator(self.at_least_zero(condition))
            found += (steps[m] - steps[m - 1]) * holds
            if {*holds.terms} == {before} == {len(self._chain) - 1}:  # a new gate
                made.append((m, holds))
        if len({self._chain[wire][0] for _, holds in made for wire in holds.terms}) > 1:
            for m, holds in made:
                (wire,) = holds.terms
                turned = -1 if holds.constant else 1  # ¬[value ≥ m] is a chain that falls with −m
                self._named(("stairs", first, turned), turned * m, wire)
        return found

    def bounds(self, form: Form) -> tuple[Fraction, Fraction]:
        """A lower and an upper bound on the values of a form."""
        parts = self._parts(form)
        least, most = (sum(map(end, parts), start=form.constant) for end in (min, max))
        return least, most

    def values(self, form: Form) -> list[Fraction]:
        """A sorted list of numbers that contains all values of a form."""
        found = {form.constant}
        for part in self._parts(form):
            found = {value + more for value in found for more in part}
            if len(found) > MOST_VALUES:
                raise InputError(
                    f"a number in the model has more than {MOST_VALUES} possible values: give a "
                    "smaller length n, or a model with fewer values"
                )
        return sorted(found)

    def exclude(self, a: Ranges | None, b: Ranges | None) -> bool:
        """Whether the ranges of two conditions show that the conditions never hold together."""
        return self.together([a, b]) is None

    def circuit(self, outputs: Iterable[Form], labels: tuple[int, ...]) -> ThresholdCircuit:
        """The circuit with the given outputs (forms that are 0 or 1), without unused gates."""
        literals = list(map(self._literal, outputs))
        gates, literals = reachable(self.gates, self.n_inputs, literals)
        return ThresholdCircuit(self.n_inputs, tuple(gates), tuple(literals), labels)

    def literal(self, form: Form) -> Form:
        """A wire, 1 minus a wire, or a constant, equal to a form whose values are 0 and 1."""
        if form.is_constant or (form.constant, *form.terms.values()) in ((0, 1), (1, -1)):
            return form
        return self._compared(form - ONE)

    def _literal(self, form: Form) -> int:
        form = self.literal(form)
        if form.is_constant:
            return self._gate((), 1 - int(form.constant))
        (wire,) = form.terms
        return ~wire if form.constant else wire

    def _wire(self, wire: int | None) -> Form:
        assert wire is not None
        return Form(Fraction(0), {wire: Fraction(1)})

    def _named(self, key: Key, t: int, wire: int) -> None:
        """Records that a wire is [key ≥ t]."""
        self._wires[key, t] = wire
        self._chain[wire : wire + 1] = [(key, t)]

    def _from(self, key: Key, t: float) -> Form:
        """The form [key ≥ t]; t may be infinite."""
        if t in (-inf, inf):
            return ONE if t < 0 else ZERO
        if (key, t) not in self._wires:
            self._gate(key, int(t))
        return self._wire(self._wires[key, int(t)])

    def _gate(self, key: Key, t: int) -> int:
        if (key, t) not in self._wires:
            if len(self.gates) >= MOST_GATES:
                raise InputError(
                    f"the circuit has more than {MOST_GATES} gates: give a smaller length n"
                )
            wires, weights = tuple(wire for wire, _ in key), tuple(weight for _, weight in key)
            self.gates.append(Gate(wires, weights, t))
            self._named(key, t, len(self._chain))
        return self._wires[key, t]

    def _both(self, a: int, b: int) -> int:
        """The wire of a ∧ b."""
        (key, s), (other, t) = self._chain[a], self._chain[b]
        if key == other:
            return a if s >= t else b
        pair = tuple(sorted(((a, 1), (b, 1))))
        self._ends.setdefault(pair, (Fraction(0), Fraction(2)))
        return self._gate(pair, 2)

    def _compared(self, form: Form) -> Form:
        """The comparison [form ≥ 0] as one literal."""
        ranges = self.at_least_zero(form)
        found = self.indicator(ranges)
        if len(found.terms) < 2:
            return found
        # A range of one chain is [S ≥ low] − [S ≥ high + 1] = [S ≥ low] ∧ ¬[S ≥ high + 1].
        key = tuple(sorted((wire, int(c)) for wire, c in found.terms.items()))
        return self._wire(self._gate(key, 1))

    def _parts(self, form: Form) -> list[list[Fraction]]:
        """The possible sums of the terms of each chain: always its first gates are 1."""
        chains: dict[Key, list[tuple[int, Fraction]]] = defaultdict(list)
        for wire, c in form.terms.items():
            key, t = self._chain[wire]
            chains[key].append((t, c))
        found = []
        for links in chains.values():
            sums = [Fraction(0)]
            for _, c in sorted(links):
                sums.append(sums[-1] + c)
            found.append(sums)
        return found

    def _on_one_chain(self, form: Form, strictly: bool) -> tuple[Ranges | None] | None:
        """The comparison [form ≥ 0] as a range of the only chain that the form reads, or None."""
        keys = {self._chain[wire][0] for wire in form.terms}
        if len(keys) > 1:
            return None
        links = sorted((self._chain[wire][1], c) for wire, c in form.terms.items())
        starts, value = [-inf, *(t for t, _ in links), inf], form.constant
        true = []
        for _, c in [*links, (0, Fraction(0))]:
            true.append(value > 0 or (value == 0 and not strictly))
            value += c
        if not any(true):
            return (None,)
        first, last = true.index(True), len(true) - 1 - true[::-1].index(True)
        if not all(true[first : last + 1]):
            return None
        low, high = starts[first], starts[last + 1] - 1
        return ({} if (low, high) == (-inf, inf) else {keys.pop(): (low, high)},)
