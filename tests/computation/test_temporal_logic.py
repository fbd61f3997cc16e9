"""Past LTL: text, semantics, automata, flip-flops, truth tables."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from theory.computation import (
    bounded_dyck,
    cascade,
    cyclic,
    formula,
    from_cascade,
    language_of,
    monoid,
    random_formula,
    regular_expression,
)
from theory.computation.temporal_logic import (
    FALSE,
    TRUE,
    And,
    Formula,
    Not,
    Or,
    Since,
    Symbol,
    holds,
    outermost,
    sinces,
    size,
    temporal_depth,
    yesterday,
)
from theory.computation.temporal_program import program
from theory.computation.truth_tables import truth_table
from theory.sequences import all_sequences

WORDS = all_sequences(6, 2)
LANGUAGES = {  # formula, alphabet, expression
    "a": ("ab", ".*a"),
    "true": ("ab", "..*"),
    "false": ("ab", "~.*"),
    "yesterday a": ("ab", ".*a."),
    "not yesterday true": ("ab", "."),
    "once a": ("ab", ".*a.*."),
    "historically a": ("ab", "a*."),
    "historically false": ("ab", "."),
    "a and historically a": ("ab", "a+"),
    "a since b": ("abc", ".*ba*."),
    "(a or b) since c": ("abc", ".*c(a|b)*."),
    "b and yesterday a and historically (a and not yesterday a or b and yesterday a)": (
        "ab",
        "(ab)+",
    ),
    "a and yesterday a or once (a and yesterday a)": ("ab", ".*aa.*"),
    "(b or not once b) and historically (b or not once b)": ("ab", "~(.*ba.*)&~()"),
}


def naive(of: Formula, word: str, i: int) -> bool:
    """The definition, word for word."""
    if isinstance(of, Symbol):
        return word[i] == of.symbol
    if isinstance(of, Not):
        return not naive(of.of, word, i)
    if isinstance(of, And):
        return all(naive(part, word, i) for part in of.parts)
    if isinstance(of, Or):
        return any(naive(part, word, i) for part in of.parts)
    assert isinstance(of, Since)
    return any(
        naive(of.then, word, j) and all(naive(of.throughout, word, k) for k in range(j + 1, i))
        for j in range(i)
    )


seeds = st.integers(0, 10**6)


@given(seeds, st.integers(0, 3))
def test_truth_by_definition(seed, depth):
    of = random_formula("ab", depth, seed)
    assert temporal_depth(of) <= depth
    rows = WORDS[np.random.default_rng(seed).integers(len(WORDS), size=3)]
    found = holds(of, rows, "ab")
    for row, truth in zip(rows, found, strict=True):
        word = "".join("ab"[a] for a in row)
        assert truth.tolist() == [naive(of, word, i) for i in range(len(word))]


@settings(max_examples=20)
@given(seeds, st.integers(0, 3), st.sampled_from(["ab", "abc"]))
def test_a_formula_is_an_automaton_and_it_is_aperiodic(seed, depth, alphabet):
    of = random_formula(alphabet, depth, seed)
    language = language_of(of, alphabet)
    words = all_sequences(5, len(alphabet))
    assert (language.contains_prefixes(words) == holds(of, words, alphabet)).all()
    assert monoid(language.automaton).is_aperiodic
    again = from_cascade(cascade(language.automaton), language.accepting, alphabet)
    assert language_of(again, alphabet, "again").differs(language) is None


@given(seeds, st.integers(0, 3))
def test_what_is_written_is_read(seed, depth):
    of = random_formula("ab", depth, seed)
    if len(str(of)) <= 2000:
        assert str(formula(str(of), "ab")) == str(of)
        assert language_of(formula(str(of), "ab"), "ab").differs(language_of(of, "ab")) is None


@pytest.mark.parametrize(
    "text",
    [
        *("yesterday a", "once a", "historically a", "a since b", "not (a since not b)"),
        *("not ((a and b) since not a)", "not ((a or b) since not a)", "not yesterday not a"),
    ],
)
def test_each_operator_is_written_by_its_name(text):
    assert str(formula(text, "ab")) == text


@pytest.mark.parametrize("text", LANGUAGES)
def test_formulas_and_expressions_define_the_same_languages(text):
    alphabet, expression = LANGUAGES[text]
    found = language_of(formula(text, alphabet), alphabet)
    assert found.differs(regular_expression(expression, alphabet)) is None


def test_operators_bind_as_stated():
    def same(one, other):
        languages = [language_of(formula(text, "abc"), "abc") for text in (one, other)]
        return languages[0].differs(languages[1]) is None

    assert same("a or b and not c", "a ∨ (b ∧ (¬c))")
    assert same("not a since b", "(! a) since b")
    assert same("once a since b", "(once a) since b")
    assert same("a since b since c", "a since (b since c)")
    assert not same("a since b since c", "(a since b) since c")
    assert same("a since b and c", "(a since b) & c")
    assert same("not not a | c", "a or c")
    assert same("yesterday a", "false since a")
    assert same("once a", "true since a")
    assert same("historically a", "not once not a")


@pytest.mark.parametrize("n", [60, 200])
def test_symbols_far_back_count(n):
    words = [[0] + [2] * n, [0] + [2] * (n - 1) + [1], [0] + [2] * (n - 2) + [1, 2]]
    for text, wanted in (
        ("once a", [True, True, True]),
        ("c since a", [True, True, False]),
        ("historically c", [False, False, False]),
        ("yesterday b", [False, False, True]),
    ):
        assert holds(formula(text, "abc"), words, "abc")[:, -1].tolist() == wanted


def test_since_is_strict_in_both():
    # b then c: at c, "a since b" holds, as there is no symbol between; at b itself it does not.
    assert holds(formula("a since b", "abc"), [1, 2, 2], "abc").tolist() == [False, True, False]


@pytest.mark.parametrize("text", ["(ab)+", "(a(ab)*b)*", ".*abba.*", "a*b*", "a(a|b)*b&~(.*aa.*)"])
def test_star_free_expressions_are_formulas(text):
    language = regular_expression(text, "ab")
    found = from_cascade(cascade(language.automaton), language.accepting, "ab")
    assert language_of(found, "ab", text).differs(language) is None


def test_compact_cascades_are_formulas_too():
    language = regular_expression("(a(ab)*b)*")
    found = from_cascade(cascade(language.automaton, compact=True), language.accepting, "ab")
    assert language_of(found, "ab", "compact").differs(language) is None


def test_what_counts_is_no_formula():
    with rejects("parity"):
        from_cascade(cascade(cyclic(2)), [0], "ab")
    with rejects("alphabet", "2"):
        from_cascade(cascade(bounded_dyck(1)), [0], "abc")


def test_shared_parts_are_counted_and_not_written_out():
    of: Formula = Symbol("a")
    for _ in range(100):
        of = And((of, of))
    assert size(of) == 2**101 - 1
    assert str(of) == f"a formula of {2**101 - 1} parts"
    assert holds(of, [0, 1], "ab").tolist() == [True, False]
    assert (temporal_depth(of), sinces(of)) == (0, [])


def test_constants_and_single_parts():
    assert [str(f) for f in (TRUE, FALSE, And((Symbol("a"),)), Or((Symbol("b"),)))] == [
        "true", "false", "a", "b",
    ]  # fmt: skip
    assert holds(TRUE, [0, 1], "ab").tolist() == [True, True]


@settings(max_examples=20)
@given(st.integers(1, 4), st.integers(0, 4), seeds)
def test_cubes_exclude_each_other_and_cover_the_table(n_symbols, bits, seed):
    values = np.array(np.random.default_rng(seed).random((n_symbols, *[2] * bits)) < 0.4)
    table = truth_table(tuple(range(bits + 1)), values)
    for state in product(range(n_symbols), *[range(2)] * bits):
        holding = [all(state[v] in among for v, among in cube.items()) for cube in table.cubes()]
        assert sum(holding) == values[state]
        assert table.values[tuple(state[v] for v in table.reads)] == values[state]
    # Every variable that is left matters.
    for axis in range(len(table.reads)):
        assert (table.values != table.values.take([0], axis=axis)).any()


@given(seeds)
def test_a_program_is_as_deep_as_its_formula_or_less(seed):
    of = random_formula("ab", 3, seed)
    found = program(of, "ab")
    assert found.depth(found.answer) <= temporal_depth(of)
    assert len(found.steps) <= len(sinces(of))
    assert set(outermost(of)) <= set(sinces(of))


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("once a or not once a", 0),
        ("yesterday a and yesterday a", 1),
        ("once false", 0),
        ("b since (a and a) or b since (a or a)", 1),
        ("once once a and yesterday true", 3),
    ],
)
def test_what_does_not_matter_is_left_out(text, steps):
    assert len(program(formula(text, "ab"), "ab").steps) == steps


def test_a_table_that_is_too_large_is_rejected():
    parts, part = list[Formula](), Symbol("a")
    for _ in range(16):
        part = yesterday(part)
        parts.append(part)
    assert len(program(Or(tuple(parts[:15])), "ab").steps) == 15  # 2·2^15 rows
    for count, alphabet in ((16, "ab"), (15, "abc")):
        with rejects(str(count)):
            program(Or(tuple(parts[:count])), alphabet)


@pytest.mark.parametrize(
    ("text", "alphabet", "names"),
    [
        ("a b", "ab", "character 3"),
        ("a and", "ab", "character 6"),
        ("since a", "ab", "character 1"),
        ("a since", "ab", "character 8"),
        ("(a", "ab", "character 3"),
        ("a)", "ab", "character 2"),
        ("aa", "ab", "character 1"),
        ("a and  c", "ab", "character 8"),
        ("a → b", "ab", "character 3"),
        ("", "ab", "formula"),
        ("not " * 51 + "a", "ab", "50"),
        ("a" + " or a" * 400, "ab", "2001 2000"),
    ],
)
def test_what_is_no_formula_is_rejected(text, alphabet, names):
    with rejects(*names.split()):
        formula(text, alphabet)


def test_words_are_checked():
    with rejects("words"):
        holds(Symbol("a"), [0, 2], "ab")


@pytest.mark.parametrize("function", [language_of, program, lambda of, ab: holds(of, [0], ab)])
def test_an_alphabet_has_the_symbols_of_the_formula(function):
    with rejects("alphabet", "c"):
        function(Since(Symbol("a"), Symbol("c")), "ab")


def test_a_formula_without_an_operator_is_refused():
    with rejects("operator"):
        Formula()
