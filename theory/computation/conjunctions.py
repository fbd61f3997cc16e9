"""Boolean combinations of symbols and comparisons, rewritten as sums of disjoint conjunctions.

A comparison is an inequality of counts (`counting.py`).  Given the symbol at a position, a
combination depends only on comparisons, and a decision tree evaluates the combination.  Each path
of the tree to "true" is a conjunction of a set of symbols, comparisons and negated comparisons.  At
most one path is taken, so the combination is the sum of the conjunctions of all paths, and one
layer of gates computes it.

The level of a formula is the number of layers of a transformer that compute it.  The attention of a
layer counts formulas of lower level.  Its MLP computes conjunctions of formulas of lower level with
one comparison of the new counts.  The level of a comparison is 1 more than the highest level of the
formulas that it counts.  The level of a combination is the highest level of its comparisons, or 1
more if one of its conjunctions has two comparisons of this highest level.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from theory.computation.counting import FALSE, TRUE, And, Count, Formula, Not, Or, Symbol
from theory.kinds import InputError

MOST = 2_000  # conjunctions of a formula
START = ""  # used instead of a symbol before the first symbol


@dataclass(frozen=True)
class Conjunction:
    """A conjunction of conditions on the symbol and on truth values of comparisons.

    The symbol must be in `symbols`.  Each of the `literals` is a pair of a comparison and the truth
    value that the comparison must have.
    """

    symbols: frozenset[str]
    literals: tuple[tuple[Count, bool], ...]


class Conjunctions:
    """The conjunctions and levels of formulas of counting logic over an alphabet.

    The level of a formula is the number of layers of the transformer that computes the formula.
    """

    def __init__(self, alphabet: str) -> None:
        self.symbols = (*alphabet, START)
        self._of: dict[Formula, list[Conjunction]] = {}
        self._levels: dict[Formula, int] = {}

    def __call__(self, formula: Formula) -> list[Conjunction]:
        """The disjoint conjunctions of a Boolean combination; comparisons of low level come first.

        Raises `ValueError` for more than 2000 conjunctions.
        """
        if formula not in self._of:
            by_rest = dict[Formula, set[str]]()
            for symbol in self.symbols:
                rest = simplified(formula, symbol, {})
                by_rest.setdefault(rest, set()).add(symbol)
            found = list[Conjunction]()
            for rest, symbols in by_rest.items():
                for path in self._paths(rest):
                    found.append(Conjunction(frozenset(symbols), path))
                    if len(found) > MOST:
                        raise InputError(
                            "a Boolean combination of comparisons in the formula expands to more "
                            f"than {MOST} conjunctions: give a formula with fewer comparisons"
                        )
            self._of[formula] = found
        return self._of[formula]

    def _paths(self, rest: Formula) -> Iterator[tuple[tuple[Count, bool], ...]]:
        if rest == TRUE:
            yield ()
        elif rest != FALSE:
            first = min(comparisons(rest), key=self.level)
            for value in (True, False):
                for path in self._paths(simplified(rest, START, {first: value})):
                    yield ((first, value), *path)

    def level(self, formula: Formula) -> int:
        """The level of a formula: the number of layers of the transformer that computes it.

        The level is 0 if the formula depends only on the symbol.
        """
        if formula not in self._levels:
            if isinstance(formula, Count):
                found = 1 + max((self.level(each) for _, each in formula.terms), default=0)
            else:
                paths = [path.literals for path in self(formula)]
                levels = [[self.level(each) for each, _ in path] for path in paths]
                found = max((max(path, default=0) for path in levels), default=0)
                found += any(path.count(found) > 1 for path in levels) if found else 0
            self._levels[formula] = found
        return self._levels[formula]

    def at_start(self, formula: Formula) -> bool:
        """Whether a formula holds before the first symbol of a word, where all counts are 0."""
        known = {each: (each.low or 0) <= 0 <= (each.high or 0) for each in comparisons(formula)}
        return simplified(formula, START, known) == TRUE


def stripped(formula: Formula) -> tuple[Formula, bool]:
    """A formula without its leading negations, and whether the number of negations is odd."""
    no = False
    while isinstance(formula, Not):
        formula, no = formula.of, not no
    return formula, no


def comparisons(formula: Formula) -> list[Count]:
    """The different comparisons in a Boolean combination, in the order of first occurrence."""
    match formula:
        case Count():
            return [formula]
        case Not(of):
            return comparisons(of)
        case And(parts) | Or(parts):
            return list(dict.fromkeys(each for part in parts for each in comparisons(part)))
        case Symbol():
            return []


def simplified(formula: Formula, symbol: str, known: dict[Count, bool]) -> Formula:
    """A Boolean combination, simplified for a given symbol and known values of comparisons."""
    match formula:
        case Symbol(a):
            return TRUE if a == symbol else FALSE
        case Count():
            return formula if formula not in known else TRUE if known[formula] else FALSE
        case Not(of):
            inner = simplified(of, symbol, known)
            return FALSE if inner == TRUE else TRUE if inner == FALSE else Not(inner)
        case And(parts):
            return _joined(And, TRUE, FALSE, [simplified(each, symbol, known) for each in parts])
        case Or(parts):
            return _joined(Or, FALSE, TRUE, [simplified(each, symbol, known) for each in parts])


def _joined(
    kind: type[And] | type[Or], neutral: Formula, settles: Formula, parts: list[Formula]
) -> Formula:
    left = tuple(dict.fromkeys(part for part in parts if part != neutral))
    if settles in left:
        return settles
    return left[0] if len(left) == 1 else kind(left)
