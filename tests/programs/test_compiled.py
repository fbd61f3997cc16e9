"""Compiled programs against the definitions of the library's programs, in every register."""

from __future__ import annotations

from contextlib import nullcontext, suppress
from fractions import Fraction
from functools import reduce
from itertools import count, product

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from library_by_definition import PROGRAMS
from random_programs import programs
from refusals import rejects

from constructions import compiled, load, save
from constructions.primitives import Interpolation
from constructions.programs.functions import bends_of, fewest_bends, limited
from constructions.stream import one
from theory.programs import (
    Aggregate,
    Full,
    LinearSequenceMap,
    Map,
    NoValue,
    Select,
    SelectorWidth,
    SequenceMap,
    evaluate,
    indices,
    length,
    tokens,
)
from theory.programs.depth import most_layers
from theory.programs.domains import Domains
from theory.programs.library import (
    detect_pattern,
    fraction_of_previous,
    histogram,
    mean_of_tokens,
    reverse,
    shift_by,
    sort,
)
from theory.programs.library.examples import PROGRAMS as EXAMPLES
from theory.programs.simplify import simplified

EVERYWHERE = Select(indices, indices, "true")
EQUAL, LESS = Select(tokens, tokens, "=="), Select(tokens, tokens, "<")
BEFORE, UP_TO_HERE = Select(indices, indices, "<"), Select(indices, indices, "<=")
DIAGONAL, NUMERIC = Select(indices, indices, "=="), Select(tokens, Full("x"), "!=")


def sequences(vocabulary, longest, more, rng):
    """All sequences of at most `longest` tokens, and a random one of each further length."""
    for n in range(1, longest + 1):
        yield from (list(x) for x in product(vocabulary, repeat=n))
    for n in more:
        yield [vocabulary[i] for i in rng.integers(len(vocabulary), size=n)]


def values(program, x, causal=False):
    try:
        return evaluate(program, x, causal=causal)
    except NoValue:
        return None


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_of_the_library(name, causal):
    """Answers against plain Python or, for causal programs, against the interpreter."""
    program, vocabulary, definition = PROGRAMS[name]
    if name == "most_frequent" and causal:
        pytest.skip("the program has no value at some sequences if selectors are causal")
    model = compiled(program, vocabulary, 9, causal=causal)
    for x in sequences(vocabulary, 3, (6, 9), np.random.default_rng(0)):
        assert model(x) == (evaluate(program, x, causal=True) if causal else definition(x)), x
    assert model.is_causal or not causal


@pytest.mark.parametrize("name", PROGRAMS)
def test_registers_are_exact(name):
    """All registers equal the numbers of their s-ops; means are rounded less than steps allow."""
    program, vocabulary, _ = PROGRAMS[name]
    model = compiled(program, vocabulary, 7)
    for n in (1, 4, 7):
        rows = torch.tensor(np.random.default_rng(n).integers(len(vocabulary), size=(20, n)))
        streams = list(model.streams(rows))
        for stage in model.stages:
            held = streams[stage.after][:, 1:, model.stream[stage.register]].numpy()
            off = np.abs(held - stage.holds(rows)).max()
            mean = stage.register.startswith("mean of ")
            assert off <= (model.interface.averages[1] / 8 if mean else 0), stage


@pytest.mark.parametrize("name", ["reverse", "sort", "depth", "induction", "fraction_of_previous"])
def test_answers_with_softmax(name):
    program, vocabulary, definition = PROGRAMS[name]
    model = compiled(program, vocabulary, 5)
    beta = 1.001 * model.least_sharpness()
    soft = compiled(program, vocabulary, 5, sharpness=beta)
    assert all(attn.normalise == "softmax" for attn in soft.attentions)
    assert "hardmax" not in str(soft)
    assert f"β = {beta:g}" in str(soft)
    assert str(model.sharpened(beta).sharpened(None)) == str(model)
    for x in sequences(vocabulary, 3, (5, 5, 5), np.random.default_rng(0)):
        assert soft(x) == definition(x)
    with rejects("sharpness", "too small"):
        compiled(program, vocabulary, 5, sharpness=beta / 8)


@pytest.mark.slow
def test_means_with_rounding_errors_above_the_margin_are_numbered():
    """Values that differ by 1/30, with rounding errors of up to 2^−24 times the largest, 1800."""
    assert compiled(mean_of_tokens(), [0, 1, 1800], 6).interface.margin == 1


LAYERS = {
    "reverse": 2,
    "histogram": 1,
    "sort": 3,
    "fraction_of_previous": 1,
    "detect_pattern": 1,
    "induction": 4,
    "most_frequent": 4,
    "place_in_run": 3,
    "depth": 2,
    "shuffle_dyck": 3,
}


@pytest.mark.parametrize("name", LAYERS)
def test_numbers_of_layers(name):
    assert compiled(*EXAMPLES[name], 6).n_layers == LAYERS[name]


@pytest.mark.parametrize("name", ["reverse", "histogram", "sort", "majority", "rank"])
def test_long_sequences(name):
    program, vocabulary, definition = PROGRAMS[name]
    model = compiled(program, vocabulary, 90)
    for x in sequences(vocabulary, 1, (30, 89, 90), np.random.default_rng(0)):
        assert model(x) == definition(x)


@given(programs(), st.booleans())
def test_random_programs(program, causal):
    """Every program that compiles has the right answers at all short sequences."""
    with suppress(NoValue):
        for x in sequences((0, 1, 2), 4, (), np.random.default_rng(0)):
            evaluate(program, x, causal=causal)
        model = compiled(program, (0, 1, 2), 4, causal=causal)
        _compare(program, model, causal)


def _compare(program, model, causal):
    domains = Domains(tokens, (0, 1, 2), model.interface.max_length, causal=causal)
    assert model.n_layers <= most_layers(simplified(program, domains), domains)
    for n in (1, 2, 4):
        rows = torch.tensor(list(product(range(3), repeat=n))[:: max(1, 3 ** (n - 2))])
        for row, answers in zip(rows.tolist(), model.interface.decoded(model(rows)), strict=True):
            wanted = values(program, row, causal)
            assert wanted is None or answers == wanted, (row, wanted)


NEVER = ~Select(tokens, Full(2), "<=")
SOME = Select(tokens, Aggregate(EVERYWHERE, tokens), "<=")  # never empty, which is not proved
FOUND = {
    "a prefix inside another": SelectorWidth(BEFORE & UP_TO_HERE),
    "one relation inside another": SelectorWidth(
        Select(tokens, tokens, lambda key, query: key * query == 1) & Select(tokens, tokens, "==")
    ),
    "the same score for all keys": SelectorWidth(
        Select(tokens, Aggregate(NEVER, Full(2)), lambda key, query: key * query == 2)
    ),
    "a constant function of a width": Map(
        lambda value: value > 1, SelectorWidth(Select(indices, indices, "=="))
    ),
    "a default that no position has": Aggregate(NEVER, indices, 7),
    "a default that does not occur": LinearSequenceMap(Aggregate(SOME, tokens, "z"), tokens, 2, -1),
    "a union of overlapping selectors": SelectorWidth(
        Select(tokens, tokens, "<=") | Select(indices, indices, ">=")
    ),
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("causal", [False, True])
def test_programs_that_were_wrong_or_could_be(name, causal):
    _compare(FOUND[name], compiled(FOUND[name], (0, 1, 2), 4, causal=causal), causal)


IS_A = Map(lambda token: token == "a", tokens)
CLASSES = Select(IS_A, IS_A, "==")


def moved(k, default):
    return Aggregate(Select(indices, indices - k, "=="), indices, default)


def mixed(a, b):
    return hash((a, b)) % 10**6


ONE_OR_TRUE = SequenceMap(lambda a, i: True if a == "a" else 1, tokens, indices)
DEFAULTS = [moved(k, 1000 + k) for k in (1, 2, 3, 4)]
UNUSUAL = {
    "equal integers beyond int64": (SelectorWidth(EQUAL), [2**63, 2**63 + 1, -1]),
    "order of integers beyond int64": (SelectorWidth(LESS), [2**63, 2**63 + 1, -1]),
    "means of integers beyond int64": (Aggregate(UP_TO_HERE, tokens) > 0, [2**70, 1 - 2**70]),
    "positions beyond int64": (
        Aggregate(Select(indices, indices + 2**70, "=="), tokens, 0),
        [1, 2],
    ),
    "a bool and an integer": (Map(str, Aggregate(DIAGONAL, ONE_OR_TRUE)), "ab"),
    "a default that is a bool": (Map(str, Aggregate(BEFORE, tokens, True)), [1]),
    "bools in tuples": (Map(str, Map(lambda a: (a == "a" or 1,), tokens)), "ab"),
    "strings at positions that are not selected": (
        Aggregate(NUMERIC, tokens, 0) - Aggregate(NUMERIC, tokens, 0),
        [1, 2, "x"],
    ),
    "means of some tokens": (Aggregate(NUMERIC, tokens), [1, 2, "x"]),
    "means of classes": (
        Map(str, Aggregate(CLASSES, tokens, "none")),
        ["a", 1, 2, 4],
    ),
    "a large default of a mean": (Aggregate(BEFORE, indices, 2**40), "a"),
    "a small default of a mean": (Aggregate(BEFORE, indices, -1e300), "a"),
    "a fraction as default of a mean": (Aggregate(BEFORE, indices, -0.1), "a"),
    "two defaults": (SequenceMap(mixed, moved(1, 2**40), moved(2, -(2**41))), "a"),
    "four defaults": (
        SequenceMap(mixed, SequenceMap(mixed, *DEFAULTS[:2]), SequenceMap(mixed, *DEFAULTS[2:])),
        "a",
    ),
    "tokens of many digits are moved": (
        Aggregate(Select(indices, indices - 1, "=="), tokens),
        [0.5, 0.1, -2],
    ),
    "a mean of one token": (Aggregate(UP_TO_HERE, tokens), [0.5, 0.1, -2], 1),
    "many maps": (
        reduce(lambda sop, _: Map(lambda v: (v * 3 + 1) % 7, sop), range(3000), indices),
        "a",
    ),
}


@pytest.mark.parametrize("name", UNUSUAL)
@pytest.mark.parametrize("causal", [False, True])
def test_unusual_values(name, causal):
    program, vocabulary, *longest = UNUSUAL[name]
    n = longest[0] if longest else 5
    model = compiled(program, vocabulary, n, causal=causal)
    for x in sequences(vocabulary, min(n, 3), (n,), np.random.default_rng(0)):
        if (wanted := values(program, x, causal)) is not None:
            assert model(x) == wanted, x


@pytest.mark.parametrize(
    ("program", "length", "compiles"),
    [
        (indices == length, 223, True),
        (indices == length, 224, False),  # 224² combinations
        (Aggregate(UP_TO_HERE, tokens == "a"), 405, True),
        (Aggregate(UP_TO_HERE, tokens == "a"), 406, False),  # 1 + φ(1) + … + φ(406) fractions
    ],
)
def test_at_most_50_000_values_and_combinations(program, length, compiles):
    with nullcontext() if compiles else rejects("50000"):
        Domains(program, "ab", length)


@pytest.mark.parametrize("name", ["sort", "induction(3)", "shuffle_dyck", "most_frequent"])
def test_tables_have_the_values_of_functions(name):
    program, vocabulary, _ = PROGRAMS[name]
    model = compiled(program, vocabulary, 5)
    held = model.stages[0].holds.program
    for x in sequences(vocabulary, 2, (4, 5), np.random.default_rng(1)):
        assert evaluate(held, x) == evaluate(program, x)


def test_a_saved_model_has_all_invariants(tmp_path):
    model = compiled(sort(), (3, 1, 2), 4)
    save(model, tmp_path / "sort.safetensors")
    loaded = load(tmp_path / "sort.safetensors")
    assert loaded([2, 3, 1]) == [1, 2, 3]
    rows = torch.tensor([[0, 1, 2, 0]])
    for stage, other in zip(model.stages, loaded.stages, strict=True):
        assert np.array_equal(stage.holds(rows), other.holds(rows))


def test_inputs_and_answers():
    model = compiled(reverse(), "abc", 4)
    assert model("abc") == ["c", "b", "a"] == model(("a", "b", "c"))
    assert model(["ab", "ca"]) == [["b", "a"], ["a", "c"]] == model([["a", "b"], ["c", "a"]])
    indices_of = torch.tensor([[0, 1, 2], [2, 2, 0]])
    assert torch.equal(model(indices_of), indices_of.flip(-1))
    assert torch.equal(model(indices_of.numpy()), indices_of.flip(-1))
    moved = compiled(shift_by(1), "abc", 4)
    assert moved("abc") == [None, "a", "b"]
    assert moved(indices_of).tolist() == [[-1, 0, 1], [-1, 2, 2]]
    nested = compiled(tokens, [(0, 1), "a", 7], 3)
    assert nested([(0, 1), 7, "a"]) == [(0, 1), 7, "a"]
    assert compiled(reverse(), (5, Fraction(1, 2)), 3)([0.5, 5]) == [5, Fraction(1, 2)]


def test_attention_patterns_of_an_input():
    """The second head of reverse attends to the position that the program selects, after BOS."""
    *_, pattern = compiled(reverse(), "abc", 4).patterns("cab")
    assert pattern[0, 1:].argmax(-1).tolist() == [3, 2, 1]


def test_several_arguments_are_no_sequence():
    with rejects("2", "list"):
        compiled(reverse(), "abc", 4)("ab", "ca")
    for sequences, name in ((["ab", 5], "5"), (["ab", ""], "sequence"), (["ab", "a"], "lengths")):
        with rejects(name):
            compiled(reverse(), "abc", 4)(sequences)


def test_decoding():
    model = compiled(
        Aggregate(Select(indices, indices - 1, "=="), tokens, "a"), "ab", 8, causal=True
    )
    assert model.generate("ab", 3) == ["a", "b", "a"]
    assert model.generate(torch.tensor([0, 1]), 3).tolist() == [0, 1, 0]
    for program in (histogram(), Map(lambda token: "z" if token == "b" else "a", tokens)):
        with rejects("not tokens of the vocabulary"):
            compiled(program, "ab", 8, causal=True).generate("ab", 2)


def test_sizes_do_not_grow_with_patterns_of_positions():
    """A sum of means over the same positions is one head, and equal s-ops are computed once."""
    assert compiled(PROGRAMS["pair_balance"][0], "(.)", 8).n_heads == 1
    assert compiled(detect_pattern([*"abc"]), "abc", 8).n_layers == 1
    twice = SequenceMap(lambda a, b: a + b, histogram(), histogram())
    assert compiled(twice, "ab", 8).n_heads == 1
    assert compiled(sort(), range(3), 9).d_model == 11  # functions of one leaf are combined


def test_bos_attends_to_itself_alone():
    for program, vocabulary, _ in PROGRAMS.values():
        model = compiled(program, vocabulary, 5)
        rows = torch.tensor(np.random.default_rng(0).integers(len(vocabulary), size=(50, 5)))
        for block, H in zip(model.blocks, model.streams(rows), strict=False):
            if block.attn is not None:
                assert (block.attn.pattern(H, 0)[..., 0, 0] == 1).all()


def test_logits_differ_by_the_margin():
    """Fractions as numbers of values: floats close to them, whose differences are smaller."""
    model = compiled(fraction_of_previous("a"), "ab", 5)
    for n in range(1, 6):
        logits = model.logits(torch.tensor(list(product((0, 1), repeat=n))))
        largest = logits.topk(2, dim=-1).values
        assert (largest[..., 0] - largest[..., 1]).min() >= model.interface.margin


CALLS = count()
LATE = Map(lambda n: 1 // (n - 7), length)
HASHES = LinearSequenceMap(
    Map(lambda width: pow(7919, width, 2**30 - 1), SelectorWidth(EQUAL)), tokens, 1, 1
)
WRONG = [
    ((EVERYWHERE, "ab", 3), ("selector",)),
    ((tokens, "", 3), ("vocabulary", "empty")),
    ((tokens, "aba", 3), ("vocabulary", "twice")),
    ((tokens, [1, 1.0], 3), ("vocabulary", "twice")),
    ((tokens, ["a", None], 3), ("vocabulary", "None")),
    ((tokens, [float("nan")], 3), ("nan",)),
    ((tokens, [[1], [2]], 3), ("hashable",)),
    ((tokens, 5, 3), ("vocabulary",)),
    ((tokens, range(10**9), 3), ("vocabulary",)),
    ((tokens, "ab", 10**6), ("max_length",)),
    ((tokens, "ab", 0), ("max_length",)),
    ((3, "ab", 3), ("s-op",)),
    ((Map(lambda t: t + 1, tokens), "ab", 3), ("map", "TypeError", "['a']")),
    ((Aggregate(EVERYWHERE, tokens), "ab", 3), ("aggregate", "['a', 'b']")),
    ((Aggregate(Select(tokens, tokens, lambda k, q: k < q), indices), ("a", 1), 3), ("select",)),
    ((Map(lambda t: float("inf"), tokens), "ab", 3), ("map", "finite")),
    ((Map(lambda token: next(CALLS), tokens), "ab", 3), ("map", "equal")),
    ((SequenceMap(lambda *a: (*a,), indices * 1, length * length), "ab", 300), ("300",)),
    ((LinearSequenceMap(indices, length, 2**50, 1), "a", 60), ("linear_sequence_map", "bits")),
    ((LATE, "a", 20), ("'a', 'a', 'a', 'a', 'a', 'a', 'a'", "ZeroDivisionError")),
    ((HASHES, range(8), 150), ("selector_width", "float64")),
]


@pytest.mark.parametrize(("arguments", "words"), WRONG)
def test_what_is_not_compiled(arguments, words):
    with rejects(*words):
        compiled(*arguments)


def test_integers_of_registers_have_at_most_31_bits():
    limited("f")
    limited("f", 2**31 - 1, 1 - 2**31)
    for number in (2**31, -(2**31)):
        with rejects("f", "32", "31"):
            limited("f", 0, number)


def test_sums_that_are_not_exact():
    """A function of two integers of 31 bits, and one with 2000 steps at integers of 40 bits."""
    codes = np.array([[0, 0, 2**31, 2**31], [0, 2**31, 0, 2**31]])
    with rejects("f", "2^52"):
        fewest_bends(codes, np.arange(4), "f")
    at = np.arange(2000) * 2**29
    jumps = Interpolation(one, *bends_of(at, (np.arange(2000) * 7919 % 2003)[:, None]), ("f",))
    assert jumps.most(float(at[-1])) > 2**53
    assert Interpolation(one, np.arange(2), np.arange(2)[:, None], ("f",)).most(1) == 1


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("abx", ("x",)),
        ("", ("empty",)),
        ("abcab", ("5", "4")),
        (["ab", "abc"], ("lengths",)),
        ([""], ("empty",)),
        ([["a", "x"]], ("x",)),
        (7, ("7",)),
        (None, ("None",)),
        (["a", ["b"]], ("vocabulary",)),
        (torch.tensor([0, 3]), ("3",)),
        (np.array([-1]), ("-1",)),
    ],
)
def test_wrong_sequences(given, words):
    with rejects(*words):
        compiled(reverse(), "abc", 4)(given)


def test_short_dtypes_are_refused():
    """The means of widths must be told apart."""
    assert compiled(shift_by(1), "ab", 8).float()("ab") == [None, "a"]
    with rejects("float64"):
        compiled(histogram(), "ab", 40).float()
