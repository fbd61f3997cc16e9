"""Past counting logic: formulas and their text, disjoint conjunctions, the weights, the claim."""

from __future__ import annotations

import operator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import from_formula
from theory.computation import ABC, DYCK_1, MAJORITY, is_dyck
from theory.computation.conjunctions import Conjunctions
from theory.computation.counting import (
    FALSE,
    LARGEST,
    TRUE,
    And,
    Count,
    Not,
    Or,
    Symbol,
    counting_depth,
    counting_words,
    holds,
    random_formula,
    symbols,
)
from theory.computation.counting_syntax import in_language, parse
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation import counting as claims
from verify.computation.counting import counting
from verify.finding import Verdict

A, B = Symbol("a"), Symbol("b")
MORE = "#(#a = 2 & #b > 0) - #b < 1 | b"


def by_hand(formula, word, i):
    """Whether a formula holds at position i of a word of symbols: read off its definition."""
    match formula:
        case Symbol(symbol):
            return word[i] == symbol
        case Not(of):
            return not by_hand(of, word, i)
        case And(parts):
            return all(by_hand(part, word, i) for part in parts)
        case Or(parts):
            return any(by_hand(part, word, i) for part in parts)
        case Count(terms, low, high):
            total = sum(a * sum(by_hand(f, word, j) for j in range(i + 1)) for a, f in terms)
            return (low is None or low <= total) and (high is None or total <= high)


formulas = st.tuples(st.sampled_from(["ab", "abc"]), st.integers(0, 3), st.integers(0, 10**6))
"""What random formulas are drawn from."""


@settings(max_examples=30, deadline=None)
@given(formulas, st.text("abc", min_size=1, max_size=5))
def test_semantics_by_hand(drawn, word):
    formula = random_formula(*drawn)
    tokens = np.array(["abc".index(sign) for sign in word])
    wanted = [by_hand(formula, word, i) for i in range(len(word))]
    assert holds(formula, tokens, "abc").tolist() == wanted


@settings(max_examples=20, deadline=None)
@given(formulas)
def test_the_text_of_a_formula_is_equivalent(drawn):
    formula = random_formula(*drawn)
    words = all_sequences(4, 3)
    again = parse(str(formula))
    assert (holds(again, words, "abc") == holds(formula, words, "abc")).all()
    assert str(parse(str(again))) == str(again)


@pytest.mark.parametrize(
    ("text", "formula"),
    [
        ("a", A),
        (" !a&b | a ", Or((And((Not(A), B)), A))),
        ("#a>#b", Count(((1, A), (-1, B)), 1, None)),
        ("2#a + 3 <= 2*#b - #(a|b)", Count(((2, A), (-2, B), (1, Or((A, B)))), None, -3)),
        ("#a == 1", Count(((1, A),), 1, 1)),
        ("#a != 1", Not(Count(((1, A),), 1, 1))),
        ("-#a < -2", Count(((-1, A),), None, -3)),
        ("#a - #a >= 0", TRUE),
        ("1 != 1", FALSE),
        ("2 < 3", TRUE),
        ("#true >= 1", Count(((1, TRUE),), 1, None)),
        ("#false = 0", Count(((1, FALSE),), 0, 0)),
    ],
)
def test_texts(text, formula):
    assert parse(text) == formula


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("", "formula"),
        ("   ", "formula"),
        ("a b", "character 3"),
        ("a & $", "character 5"),
        ("a & ²", "character 5"),
        ("A", "character 1"),
        ("#a", "character 3"),
        ("#a > ", "character 5"),
        ("#a > #", "character 7"),
        ("#a > 1 > 2", "character 8"),
        ("(a", "character 3"),
        ("a)", "character 2"),
        ("a |", "character 4"),
        ("#a >= -", "character 8"),
        ("a\n&\n&", "character 5"),
        ("!" * 51 + "a", "50"),
        ("(" * 5000, "character 51"),
        ("9" * 5000 + "#a > 1", "5000"),
        ("#a > 1048577", "1048577"),
        ("#a > " + "#a + " * 3000, "10000"),
    ],
)
def test_what_is_no_formula(text, names):
    with rejects(*names.split()):
        parse(text)


def doubled(times):
    formula = A
    for _ in range(times):
        formula = And((formula, formula))
    return formula


def negated(times):
    formula = A
    for _ in range(times):
        formula = Not(formula)
    return formula


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: Symbol("ab"), "symbol ab"),
        (lambda: Symbol(1), "symbol 1"),
        (lambda: Not("a"), "Not str"),
        (lambda: And([A]), "And list"),
        (lambda: Or((A, None)), "Or NoneType"),
        (lambda: Count(((1, A),), None, None), "comparison"),
        (lambda: Count(((1, A),), 3, 1), "3 1"),
        (lambda: Count(((0.5, A),), 1, None), "0.5"),
        (lambda: Count(((True, A),), 1, None), "True"),
        (lambda: Count(((1, A),), float("nan"), None), "nan"),
        (lambda: Count(((LARGEST + 1, A),), 1, None), "1048577"),
        (lambda: doubled(100), "10000 100"),
        (lambda: negated(100), "101"),
        (lambda: holds(A, [2], "ab"), "words"),
        (lambda: random_formula("ab", -1, 0), "depth"),
        (lambda: random_formula("ab", 1, 0, 0), "size"),
        (lambda: random_formula("", 1, 0), "alphabet"),
        (lambda: counting_words(2, 0, 0), "length"),
        (lambda: counting_words(2, 10**15, 0), "1000000000000000"),
        (lambda: from_formula("#a > ", "ab", 5), "character 5"),
        (lambda: from_formula("#a > #b", "a", 5), "alphabet b"),
        (lambda: from_formula(A, "aba", 5), "alphabet"),
        (lambda: from_formula(A, "a1", 5), "alphabet"),
        (lambda: from_formula(A, "", 5), "alphabet"),
        (lambda: from_formula(f"{2**20}#a > {2**20 - 1}", "a", 2**24), "float64"),
        (lambda: from_formula(A, "ab", 5)([0, 2]), "tokens"),
        (lambda: from_formula(MAJORITY, "ab", 5)([0] * 6), "max_length"),
        (lambda: list(counting.findings(Run(), formula="#a")), "character 3"),
        (lambda: list(counting.findings(Run(), formula="a", alphabet="b")), "alphabet a"),
        (lambda: list(counting.findings(Run(), alphabet="!")), "alphabet"),
    ],
)
def test_what_makes_no_sense_is_rejected(call, names):
    with rejects(*names.split()):
        call()


def test_too_many_cases_are_rejected():
    counts = [parse(f"#a = {n}") for n in range(24)]
    pairs = tuple(Or((counts[n], counts[n + 1])) for n in range(0, 24, 2))
    assert len(Conjunctions("ab")(And(pairs[:6]))) == 2**6
    with rejects("2000"):
        Conjunctions("ab")(And(pairs))


@settings(max_examples=20, deadline=None)
@given(formulas)
def test_conjunctions_are_disjoint_and_equivalent(drawn):
    formula = random_formula(*drawn)
    split, words = Conjunctions("abc"), all_sequences(4, 3)
    total = np.zeros(words.shape, dtype=int)
    for case in split(formula):
        here = np.isin(words, ["abc".index(symbol) for symbol in case.symbols if symbol])
        for comparison, value in case.literals:
            here &= holds(comparison, words, "abc") == value
        total += here
    assert (total == holds(formula, words, "abc")).all()
    assert counting_depth(formula) >= (split.level(formula) > 0)
    assert split.level(formula) <= 2 * counting_depth(formula)


def test_levels():
    level = Conjunctions("ab").level
    wanted = {
        "a | !b": 0,
        "#a > 1": 1,
        "a & #a > 1": 1,
        "a & #a > 1 | b & #b > 1": 1,  # one symbol stands, so one comparison counts
        "#a > 1 & #b > 1": 2,
        "#a > 1 & (#b > 1 | #b > #a)": 2,
        "#(a & #a > 1) = 0": 2,
        "#(#a > 1 & #b > 1) = 0": 3,
        "#a > 1 & #(#b > 1) = 0": 2,
        "!(#a > 1)": 1,
        "#a > 1 | true": 0,
    }
    assert {text: level(parse(text)) for text in wanted} == wanted


def test_languages_by_python():
    """The languages once more, on the words themselves."""
    words = all_sequences(6, 3)
    texts = ["".join("abc"[a] for a in word) for word in words]
    majority = [[2 * t[:i].count("a") > i for i in range(1, 7)] for t in texts]
    abc = [[t[:i] == "a" * (i // 3) + "b" * (i // 3) + "c" * (i // 3) and i % 3 == 0
            for i in range(1, 7)] for t in texts]  # fmt: skip
    two = words[(words < 2).all(1)]
    assert (in_language("abc", words) == abc).all()
    assert (in_language("majority", two) == np.array(majority)[(words < 2).all(1)]).all()
    assert (in_language("dyck-1", two) == is_dyck(two, 1)).all()


@pytest.mark.parametrize(
    ("formula", "alphabet", "size"),
    [
        (MAJORITY, "ab", (1, 1, 5)),
        (DYCK_1, "ab", (2, 1, 8)),
        (ABC, "abc", (2, 1, 16)),
        ("a", "ab", (0, 0, 3)),
        ("!(a | #a > #b)", "abc", (1, 1, 6)),
        ("#(#a > 1 & #b > 1) = 0", "ab", (3, 1, 11)),
        (MORE, "ab", (3, 1, 11)),
        ("true", "a", (0, 0, 2)),
        ("false", "ab", (0, 0, 3)),
        ("#true = 3 | #a = #true", "ab", (1, 1, 8)),
        ("#(!(#a > #b)) > 2 & !(#a = 3)", "ab", (2, 1, 10)),
    ],
)
def test_all_short_words(formula, alphabet, size):
    T = {1: 9, 2: 9, 3: 6}[len(alphabet)]
    formula = parse(formula) if isinstance(formula, str) else formula
    model, words = from_formula(formula, alphabet, T), all_sequences(T, len(alphabet))
    wanted = holds(formula, words, alphabet)
    assert (model(words).numpy() == wanted).all()
    assert (model.n_layers, model.n_heads, model.d_model) == size


@settings(max_examples=20, deadline=None)
@given(formulas, st.sampled_from([1, 5, 40]), st.integers(0, 10**6))
def test_random_formulas(drawn, T, seed):
    formula = random_formula(*drawn)
    alphabet = "abc" if "c" in symbols(formula) or seed % 2 else "ab"
    model = from_formula(formula, alphabet, T)
    rng = np.random.default_rng(seed)
    words = [rng.integers(len(alphabet), size=(10, T))]
    words = np.vstack([*words, *counting_words(len(alphabet), T, rng).values()])
    assert (model(words).numpy() == holds(formula, words, alphabet)).all()
    logits = model.logits(words).numpy()
    assert (logits % 2 == [0, 1]).all()  # integers, and odd where they differ
    d = counting_depth(formula)
    assert model.n_layers <= 2 * d
    assert model.softmax_error(1e-3).logits == 0


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(formulas)
def test_many_random_formulas_on_all_short_words(drawn):
    formula = random_formula(*drawn)
    words = all_sequences(6, 3)
    model = from_formula(formula, "abc", 6)
    assert (model(words).numpy() == holds(formula, words, "abc")).all()


def test_softmax_at_any_sharpness():
    words = np.vstack([*counting_words(3, 60, 0).values()])
    model = from_formula(ABC, "abc", 60)
    for sharpness in (1e-3, 1.0, 100.0):
        soft = model.sharpened(sharpness)
        assert (soft(words).numpy() == holds(ABC, words, "abc")).all()


def test_in_float32():
    words = np.vstack([*counting_words(3, 60, 0).values()])
    model = from_formula(ABC, "abc", 60).to(torch.float32)
    assert (model(words).numpy() == holds(ABC, words, "abc")).all()
    with rejects("bfloat16"):
        from_formula("1000#a > 999#b", "ab", 60).to(torch.bfloat16)


@pytest.mark.parametrize(("T", "V"), [(1, 1), (1, 3), (2, 3), (7, 2), (12, 3)])
def test_words_on_which_counts_nearly_tie(T, V):
    families = counting_words(V, T, 0)
    for words in families.values():
        assert words.shape[1] == T
        assert ((words >= 0) & (words < V)).all()
    if T % V == 0:
        assert (np.apply_along_axis(np.bincount, 1, families["shuffled"]) == T // V).all()
    if (T, V) == (12, 3):
        assert in_language("abc", families["equal runs"])[0, -1]


@pytest.mark.parametrize(
    "options",
    [
        {"formula": MORE},
        {"formula": "a"},
        {"formula": "#a > 1 | true"},
        {"formula": "a", "alphabet": "ba"},
        {"alphabet": "abcd"},
    ],
)
def test_the_claim_holds_for_formulas_and_alphabets_of_ones_own(options):
    run = Run(quick=True)
    assert counting.verdict(run, max_length=5, samples=2, **options) is Verdict.HOLDS


def test_the_seed_draws_the_formulas():
    def random(seed):
        found = counting.findings(
            Run(seed=seed, quick=True), max_length=3, samples=1, alphabet="ab"
        )
        return next(found).words

    assert random(1) == random(1) != random(2)


@pytest.mark.parametrize(
    ("id", "name", "wrong"),
    [
        ("layers", "layers_stated", lambda d: d - 1),
        ("apart", "apart", lambda model, words: 0.999 * model.interface.margin),
        ("language", "in_language", lambda name, words: words >= 0),
    ],
)
def test_a_deep_model_close_logits_and_another_language_fail(id, name, wrong, monkeypatch):
    def verdict():
        found = counting.findings(Run(quick=True), max_length=4, samples=1)
        return next(f.verdict for f in found if f.id == f"majority/{id}")

    assert verdict() is Verdict.HOLDS
    monkeypatch.setattr(claims, name, wrong)
    assert verdict() is Verdict.FAILS


@pytest.mark.parametrize("sign", ["=", "==", "!=", "<", "<=", ">", ">="])
def test_comparisons_of_numbers_are_constants(sign):
    holds = {"=": operator.eq, "==": operator.eq, "!=": operator.ne, "<": operator.lt}
    holds |= {"<=": operator.le, ">": operator.gt, ">=": operator.ge}
    for a in range(3):
        for b in range(3):
            assert parse(f"{a} {sign} {b}") == (TRUE if holds[sign](a, b) else FALSE)
