"""The test programs of Tracr [Lindner2023], with the vocabularies and lengths of its tests.

They are written with the expressions of Tracr's own programs, so that compiled sizes compare two
compilers of one program: `length` is a width, predicates are functions where they are functions
there, and `sort` makes its keys different by fractions of the position.
"""

from __future__ import annotations

from collections.abc import Sequence

from theory.programs.language import (
    Aggregate,
    LinearSequenceMap,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    tokens,
)
from theory.programs.values import Value

_length = SelectorWidth(Select(tokens, tokens, "true"), name="length")


def _reverse() -> SOp:
    opposite = (_length - indices - 1).named("opposite")
    return Aggregate(Select(indices, opposite, "=="), tokens, name="reverse")


def _frac_prevs(flags: SOp) -> SOp:
    return Aggregate(Select(indices, indices, "<="), flags, 0, name="frac_prevs")


def _pair_balance(opening: str, closing: str) -> SOp:
    opens = _frac_prevs(tokens == opening).named("opens")
    closes = _frac_prevs(tokens == closing).named("closes")
    return LinearSequenceMap(opens, closes, 1, -1, name="pair_balance")


def _shuffle_dyck(pairs: Sequence[str]) -> SOp:
    balances = [_pair_balance(*pair).named(f"balance {pair}") for pair in pairs]
    any_negative, all_zero = balances[0] < 0, balances[0] == 0
    for balance in balances[1:]:
        any_negative = any_negative | (balance < 0)
        all_zero = all_zero & (balance == 0)
    has_negative = Aggregate(
        Select(indices, indices, "true"), any_negative.named("any_negative"), 0, name="has_negative"
    )
    last_zero = Aggregate(
        Select(indices, _length - 1, "=="), all_zero.named("all_zero"), name="last_zero"
    )
    return (last_zero & ~has_negative).named("shuffle_dyck")


def _shift_by(offset: int, sop: SOp) -> SOp:
    moved = Select(indices, indices, lambda key, query: query == key + offset)
    return Aggregate(moved, sop, name=f"shift_by({offset})")


def _detect_pattern(pattern: Sequence[Value]) -> SOp:
    detectors = [
        _shift_by(i, tokens == token) if i else tokens == token
        for i, token in enumerate(reversed(pattern))
    ]
    found = detectors.pop()
    while detectors:
        found = found & detectors.pop()
    return found.named("detect_pattern")


def _hist() -> SOp:
    return SelectorWidth(Select(tokens, tokens, "=="), name="hist")


def _sort_unique(values: SOp, keys: SOp) -> SOp:
    target = SelectorWidth(Select(keys, keys, "<"), name="target")
    return Aggregate(Select(target, indices, "=="), values, name="sort")


def _sort(values: SOp, keys: SOp, max_length: int) -> SOp:
    different = SequenceMap(lambda key, i: key + i / max_length, keys, indices, name="keys")
    return _sort_unique(values, different)


def _count_less_freq(n: int) -> SOp:
    hist = _hist()
    return SelectorWidth(Select(hist, hist, lambda key, query: key <= n), name="count_less_freq")


TRACR: dict[str, tuple[SOp, Sequence[Value], int]] = {
    "frac_prevs": (_frac_prevs(tokens == "l"), "helo", 5),
    "shift_by(1)": (_shift_by(1, tokens), "abcd", 5),
    "detect_pattern": (_detect_pattern("abc"), "abc", 6),
    "length": (_length, "abcd", 3),
    "reverse": (_reverse(), "abcd", 5),
    "pair_balance": (_pair_balance("(", ")"), "abc()", 10),
    "shuffle_dyck, 2 pairs": (_shuffle_dyck(["()", "{}"]), "(){}", 5),
    "shuffle_dyck, 3 pairs": (_shuffle_dyck(["()", "{}", "[]"]), "(){}[]", 6),
    "hist": (_hist(), "abcd", 5),
    "sort_unique": (_sort_unique(tokens, tokens), (1, 2, 3, 4), 5),
    "sort": (_sort(tokens, tokens, 5), (1, 2, 3, 4), 5),
    "sort_freq": (_sort(tokens, -1 * _hist(), 5), (1, 2, 3, 4), 5),
    "count_less_freq": (_count_less_freq(2), "abcd", 6),
}
"""Program, vocabulary and length by name."""
