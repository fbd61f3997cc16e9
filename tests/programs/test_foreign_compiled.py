"""Programs built from classes with the names and attributes of Tracr's are compiled as they are."""

from __future__ import annotations

import copy
import enum
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from refusals import rejects

from constructions.programs import compiled
from theory.programs import evaluate, program_of

# Stand-ins for Tracr's classes: plain objects, with operators and annotations as there.


class RASPExpr:
    def __init__(self):
        self.annotations = {}

    @property
    def name(self):
        return self.annotations.get("name", type(self).__name__.lower())

    def annotated(self, **annotations):
        new = copy.copy(self)
        new.annotations = {**self.annotations, **annotations}
        return new

    def named(self, name):
        return self.annotated(name=name)


class SOp(RASPExpr):
    def __lt__(self, other):
        return Map(lambda x: x < other, self)

    def __eq__(self, other):
        return Map(lambda x: x == other, self)

    def __add__(self, other):
        if isinstance(other, SOp):
            return SequenceMap(lambda x, y: x + y, self, other)
        return Map(lambda x: x + other, self)

    def __sub__(self, other):
        if isinstance(other, SOp):
            return SequenceMap(lambda x, y: x - y, self, other)
        return Map(lambda x: x - other, self)

    def __rsub__(self, other):
        return Map(lambda x: other - x, self)

    def __rmul__(self, other):
        return Map(lambda x: other * x, self)

    def __invert__(self):
        return Map(lambda x: not x, self)

    def __and__(self, other):
        return SequenceMap(lambda x, y: x and y, self, other)

    def __or__(self, other):
        return SequenceMap(lambda x, y: x or y, self, other)


class TokensType(SOp):
    pass


class IndicesType(SOp):
    pass


class LengthType(SOp):
    pass


class Map(SOp):
    def __init__(self, f, inner, simplify=True):
        super().__init__()
        self.f, self.inner = f, inner
        if simplify and isinstance(inner, Map):  # two maps are one
            own = inner.f
            self.f, self.inner = lambda x: f(own(x)), inner.inner


class SequenceMap(SOp):
    def __init__(self, f, fst, snd):
        super().__init__()
        self.f, self.fst, self.snd = f, fst, snd


class LinearSequenceMap(SequenceMap):
    def __init__(self, fst, snd, fst_fac, snd_fac):
        super().__init__(lambda x, y: fst_fac * x + snd_fac * y, fst, snd)
        self.fst_fac, self.snd_fac = fst_fac, snd_fac


class Full(SOp):
    def __init__(self, fill):
        super().__init__()
        self.fill = fill


class Aggregate(SOp):
    def __init__(self, selector, sop, default=None):
        super().__init__()
        self.selector, self.sop, self.default = selector, sop, default


class SelectorWidth(SOp):
    def __init__(self, selector):
        super().__init__()
        self.selector = selector


class Comparison(enum.Enum):
    EQ, LT, LEQ, GT = "==", "<", "<=", ">"
    GEQ, NEQ, TRUE, FALSE = ">=", "!=", "True", "False"


class Selector(RASPExpr):
    def __and__(self, other):
        return SelectorAnd(self, other)

    def __or__(self, other):
        return SelectorOr(self, other)

    def __invert__(self):
        return SelectorNot(self)


class Select(Selector):
    def __init__(self, keys, queries, predicate):
        super().__init__()
        self.keys, self.queries, self.predicate = keys, queries, predicate


class SelectorAnd(Selector):
    def __init__(self, fst, snd):
        super().__init__()
        self.fst, self.snd = fst, snd


class SelectorOr(SelectorAnd):
    pass


class SelectorNot(Selector):
    def __init__(self, inner):
        super().__init__()
        self.inner = inner


class ConstantSOp(SOp):
    def __init__(self, value):
        super().__init__()
        self.value = value


tokens, indices = TokensType(), IndicesType()


def numerical(sop):
    return sop.annotated(encoding="numerical")


# The programs of its library.


def make_length():
    return SelectorWidth(Select(tokens, tokens, Comparison.TRUE)).named("length")


def make_reverse():
    opposite = (make_length() - indices).named("opp_idx") - 1
    return Aggregate(Select(indices, opposite, Comparison.EQ), tokens).named("reverse")


def make_frac_prevs(bools):
    prevs = Select(indices, indices, Comparison.LEQ)
    return numerical(Aggregate(prevs, numerical(bools), default=0)).named("frac_prevs")


def make_pair_balance(opening, closing):
    opens, closes = (make_frac_prevs(tokens == each) for each in (opening, closing))
    return numerical(LinearSequenceMap(opens, closes, 1, -1)).named("pair_balance")


def make_shuffle_dyck(pairs):
    balances = [make_pair_balance(*pair).named(f"balance_{pair}") for pair in pairs]
    negative, zero = balances[0] < 0, balances[0] == 0
    for balance in balances[1:]:
        negative, zero = negative | (balance < 0), zero & (balance == 0)
    negative = numerical(Map(lambda x: x, negative)).named("any_negative")
    everywhere = Select(indices, indices, Comparison.TRUE).named("select_all")
    has_negative = numerical(Aggregate(everywhere, negative, default=0)).named("has_neg")
    last = Select(indices, make_length() - 1, Comparison.EQ).named("select_last")
    return (Aggregate(last, zero) & ~has_negative).named("shuffle_dyck")


def shift_by(offset, sop):
    moved = Select(indices, indices, lambda key, query: query == key + offset)
    return Aggregate(moved, sop, default=None).named(f"shift_by({offset})")


def detect_pattern(pattern):
    found = [tokens == pattern[-1]]
    found += [shift_by(i, tokens == token) for i, token in enumerate(pattern[-2::-1], 1)]
    detected = found.pop()
    while found:
        detected = detected & found.pop()
    return detected.named(f"detect_pattern({pattern})")


def make_hist():
    return SelectorWidth(Select(tokens, tokens, Comparison.EQ).named("same_tok")).named("hist")


def make_sort_unique(keys):
    smaller = Select(keys, keys, Comparison.LT).named("smaller")
    target = SelectorWidth(smaller).named("target_pos")
    return Aggregate(Select(target, indices, Comparison.EQ), tokens).named("sort")


def make_sort(keys, n):
    return make_sort_unique(SequenceMap(lambda x, i: x + i / n, keys, indices))


def make_count_less_freq(n):
    hist = make_hist()
    return SelectorWidth(Select(hist, hist, lambda x, y: x <= n)).named("count_less_freq")


def make_nary_sequencemap(f, *sops):
    values, *others = sops
    for each in others:
        values = SequenceMap(lambda x, y: (*x, y) if isinstance(x, tuple) else (x, y), values, each)
    return Map(lambda values: f(*values), values)


FOUR = 1, 2, 3, 4
F = Fraction
# program, vocabulary, largest length, a sequence and its values
CASES = {
    "length": (make_length(), "abcd", 3, "abc", [3, 3, 3]),
    "length type": (LengthType(), "ab", 3, "ab", [2, 2]),
    "reverse": (make_reverse(), "abcd", 5, "abcd", [*"dcba"]),
    "frac_prevs": (
        *(make_frac_prevs(tokens == "l"), "helo", 5),
        *("hello", [0, 0, F(1, 3), F(1, 2), F(2, 5)]),
    ),
    "pair_balance": (
        *(make_pair_balance("(", ")"), "abc()", 10),
        *("a()b(c))", [0, F(1, 2), 0, 0, F(1, 5), F(1, 6), 0, F(-1, 8)]),
    ),
    "shuffle_dyck": (make_shuffle_dyck(["()", "{}"]), "(){}", 5, "({)}", [1, 1, 1, 1]),
    "shuffle_dyck3": (make_shuffle_dyck(["()", "{}", "[]"]), "(){}[]", 6, "{}[(]", [0] * 5),
    "shift_by": (shift_by(2, tokens), "abcd", 5, "abcd", [None, None, "a", "b"]),
    "detect_pattern": (
        *(detect_pattern("abc"), "abc", 6),
        *("abcabc", [None, None, True, False, False, True]),
    ),
    "hist": (make_hist(), "abcd", 5, "abac", [2, 1, 2, 1]),
    "sort_unique": (make_sort_unique(tokens), FOUR, 5, [2, 4, 3, 1], [1, 2, 3, 4]),
    "sort_unique by keys": (make_sort_unique(1 - indices), "abcd", 5, "abcd", [*"dcba"]),
    "sort": (make_sort(tokens, 5), FOUR, 5, [2, 4, 1, 2], [1, 2, 2, 4]),
    "sort_freq": (make_sort(-1 * make_hist(), 5), FOUR, 5, [2, 4, 2, 1], [2, 2, 4, 1]),
    "count_less_freq": (make_count_less_freq(2), "abcd", 6, "aaabbc", [3] * 6),
    "count": (
        *(SelectorWidth(Select(tokens, tokens, lambda key, query: key == "a")), "abc", 8),
        *("caba", [2] * 4),
    ),
    "sequence map of three": (
        make_nary_sequencemap(lambda x, y, z: x + y - z, tokens, tokens, indices),
        *((1, 2, 3), 5, [1, 2, 3], [2, 3, 4]),
    ),
    "full": (SelectorWidth(Select(tokens, Full("a"), Comparison.NEQ)), "ab", 4, "abb", [2] * 3),
    "selectors": (
        SelectorWidth(
            Select(tokens, tokens, Comparison.EQ) & ~Select(indices, indices, Comparison.GEQ)
            | Select(indices, indices, Comparison.GT)
        ),
        *("ab", 4, "aba", [2, 1, 1]),
    ),
    "false": (SelectorWidth(Select(tokens, tokens, Comparison.FALSE)), "ab", 3, "ab", [0, 0]),
    # These raise NotImplementedError in Tracr.
    "numerical tokens": (numerical(tokens), (1, 2, 3), 5, [2, 1], [2, 1]),
    "mean with a default": (
        Aggregate(Select(indices, indices, Comparison.LT), numerical(tokens), default=1),
        *((1, 2, 3), 5, [3, 2, 1], [1, 3, F(5, 2)]),
    ),
    "numerical sequence map": (
        numerical(SequenceMap(lambda x, y: x + y, numerical(indices), numerical(tokens))),
        *((1, 2, 3), 5, [3, 1], [3, 2]),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_they_compile_and_give_the_values(name):
    program, vocabulary, n, sequence, values = CASES[name]
    model = compiled(program, vocabulary, n)
    assert model(sequence) == values
    rng = np.random.default_rng(0)
    rows = [*map(list, product(vocabulary, repeat=2))]
    drawn = [[vocabulary[i] for i in row] for row in rng.integers(len(vocabulary), size=(20, n))]
    for each in (rows, drawn):
        assert model(each) == [evaluate(program_of(program), row) for row in each]


def test_causal_programs_compile():
    width = SelectorWidth(Select(tokens, tokens, Comparison.TRUE))
    assert compiled(width, "abcd", 5, causal=True)("abcd") == [1, 2, 3, 4]
    for name in ("frac_prevs", "shift_by", "detect_pattern"):
        program, vocabulary, n, sequence, values = CASES[name]
        assert compiled(program, vocabulary, n, causal=True)(sequence) == values


def test_names_of_annotations_are_names_of_registers():
    model = compiled(make_reverse(), "abcd", 5)
    assert any("reverse" in name for name in model.stream)


def test_other_objects_are_named_in_the_message():
    with rejects("ConstantSOp"):
        compiled(ConstantSOp([1, 2]), "ab", 2)
    with rejects("selector"):
        compiled(Select(tokens, tokens, Comparison.EQ), "ab", 2)
