"""Certificates of programs: what is verified holds on all sequences, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from random_programs import programs
from refusals import rejects

from constructions.programs import compiled
from tests.evidence.test_certificates import numbers
from theory.kinds import InputError
from theory.programs import (
    Aggregate,
    Map,
    Select,
    SelectorWidth,
    SOp,
    evaluate,
    indices,
    length,
    tokens,
)
from theory.programs.library.examples import PROGRAMS
from verify import checker, program_checker
from verify.cli.main import main
from verify.programs.certified import computes_program, written

pytestmark = pytest.mark.usefixtures("unchecked")  # the checkers, and not their annotations
ERRORS = (ArithmeticError, LookupError, ValueError, TypeError)
CERTIFIED = [name for name in PROGRAMS if name not in ("shuffle_dyck", "second_largest")]


def program_said(name: str = "reverse", length: int = 2, *, causal: bool = False) -> dict[str, Any]:
    sop, vocabulary = PROGRAMS[name]
    model = compiled(sop, vocabulary, length, causal=causal)
    return computes_program(model, sop, name, causal=causal)


def evidence(statement: Any) -> Any:
    """Evidence, if there is any."""
    try:
        return program_checker.computed(statement)
    except ERRORS:
        return None


@pytest.mark.parametrize("names", ["tokens", "answers"])
def test_a_token_or_an_answer_given_twice_is_refused(names: str) -> None:
    """A second column of an answer could have the larger logit."""
    statement = program_said()
    statement[names] = [*statement[names], statement[names][0]]
    if names == "answers":
        for row in statement["model"]["unembed"]:
            row.append("0")
        statement["model"]["b_unembed"].append("-1000000")
    with rejects("given twice", error=ArithmeticError):
        program_checker.computed(statement)


def test_a_negation_of_several_selectors_is_refused() -> None:
    """Else the negation would be that of the first of them."""
    sop = SelectorWidth(~Select(tokens, tokens, "=="))
    statement = computes_program(compiled(sop, "ab", 3), sop, "none", causal=False)
    assert program_checker.computed(statement)["contents"] > 0
    (negation,) = (each for each in statement["operations"] if each["op"] == "not")
    negation["of"] *= 2
    with rejects("several", error=ArithmeticError):
        program_checker.computed(statement)


def test_an_answer_that_ties_with_another_is_refused() -> None:
    """The logit of each answer in turn is raised by the margin, or by a little less."""
    statement = program_said()
    margin = Fraction(program_checker.computed(statement)["margin"])
    ties = 0
    for answer in range(len(statement["answers"])):
        for share in (1 - Fraction(1, 2**20), Fraction(1)):
            raised = deepcopy(statement)
            bias = raised["model"]["b_unembed"]
            bias[answer] = str(Fraction(bias[answer]) + share * margin)
            found = evidence(raised)
            ties += found is None
            assert share == 1 if found is None else Fraction(found["margin"]) > 0
    assert ties > 0


def value(text: str) -> Any:
    try:
        return Fraction(text)
    except ValueError:
        return text


def by_definition(statement: Any, word: tuple[str, ...]) -> list[Any]:
    """The values of the program that a statement contains, operation by operation."""
    n, causal, of = len(word), statement["causal"], list[Any]()
    for op in statement["operations"]:
        parts = [of[k] for k in op["of"]] if isinstance(op.get("of"), list) else []
        match op["op"]:
            case "tokens":
                of.append([value(token) for token in word])
            case "indices":
                of.append([*range(n)])
            case "length":
                of.append([i + 1 if causal else n for i in range(n)])
            case "linear":
                factors = [*map(value, op["factors"])]
                rows = zip(*parts, strict=True)
                sums = ("None" if "None" in row else np.dot(factors, row) for row in rows)
                of.append([*sums])
            case "map":
                table = {(*map(value, row[:-1]),): value(row[-1]) for row in op["table"]}
                rows = zip(*parts, strict=True) if parts else [()] * n
                of.append(["None" if "None" in row else table[(*row,)] for row in rows])
            case "select":
                keys, queries = of[op["keys"]], of[op["queries"]]
                of.append([[holds(op["pairs"], k, q) for k in keys] for q in queries])
            case "and":
                of.append(np.logical_and(*parts).tolist())
            case "or":
                of.append(np.logical_or(*parts).tolist())
            case "not":
                of.append(np.logical_not(parts[0]).tolist())
            case "width" | "sum":
                of.append([sum(row) for row in seen(of[op["selector"]], causal)])
            case "mean":
                values = [value(op["default"]), of[op["of"]]]
                of.append([mean(row, *values) for row in seen(of[op["selector"]], causal)])
    return of[-1]


def seen(selector: Any, causal: bool) -> Iterator[list[bool]]:
    for i, row in enumerate(selector):
        yield [each and (j <= i or not causal) for j, each in enumerate(row)]


def holds(pairs: Any, key: Any, query: Any) -> bool:
    if not isinstance(pairs, str):
        return [key, query] in [[*map(value, pair)] for pair in pairs]
    if pairs in ("true", "false") or "None" in (key, query):
        return pairs == "true"
    signs = {"==": key == query, "!=": key != query}
    if pairs in signs:
        return signs[pairs]
    return {"<": key < query, "<=": key <= query, ">": key > query, ">=": key >= query}[pairs]


def mean(row: list[bool], default: Any, values: list[Any]) -> Any:
    selected = [v for v, each in zip(values, row, strict=True) if each]
    if not selected:
        return default
    return selected[0] if len({*selected}) == 1 else sum(selected) / Fraction(len(selected))


def answers(statement: Any, word: tuple[str, ...]) -> list[Any]:
    """The model's, as the other checker runs it, and "tie" where no logit is the largest."""
    R = checker.Numbers()
    model = R.read(statement["model"], "model")
    places = [statement["tokens"].index(token) for token in word]
    H = [model["embed"][v] for v in (-1, *places)]
    logits = checker.run(R, model, H, 0, [set() for _ in model["blocks"]])[1:]
    return [
        value(statement["answers"][row.index(max(row))]) if row.count(max(row)) == 1 else "tie"
        for row in logits
    ]


def right(statement: Any) -> bool:
    """Whether the answers are those of the program, on all sequences."""
    return all(
        answers(statement, word) == by_definition(statement, word)
        for n in range(1, statement["length"] + 1)
        for word in product(statement["tokens"], repeat=n)
    )


@pytest.mark.parametrize("name", CERTIFIED)
def test_programs_of_the_library_are_verified_with_the_margins_of_the_model(name: str) -> None:
    sop, vocabulary = PROGRAMS[name]
    model, statement = compiled(sop, vocabulary, 4), program_said(name, 4)
    found = program_checker.computed(statement)
    for block, gap in zip(model.blocks, found["gaps"], strict=True):
        declared = [margin.gap for margin in block.margins]
        assert not declared or Fraction(gap) >= Fraction(min(declared)) or gap == "0"
    assert Fraction(found["margin"]) >= Fraction(model.interface.margin) * Fraction(1, 2)
    assert by_definition(statement, (*statement["tokens"][:2],)) == [
        value(written(v)) for v in evaluate(sop, vocabulary[:2])
    ]


@pytest.mark.parametrize("name", ["prefix_count", "depth", "induction", "running_sum", "rank"])
def test_causal_programs_are_verified(name: str) -> None:
    assert right(statement := program_said(name, 3, causal=True))
    assert program_checker.computed(statement)["contents"] > 0


@settings(max_examples=60)
@given(programs())
def test_random_programs_that_are_verified_are_right(program: SOp) -> None:
    vocabulary = (0, 1, 2)
    try:
        model = compiled(program, vocabulary, 2)
        statement = computes_program(model, program, "random", causal=False)
    except InputError:
        return
    if evidence(statement):
        assert right(statement)


def changed_numbers(statement: Any, rng: np.random.Generator) -> Any:
    """The statement with one weight changed."""
    changed, paths = deepcopy(statement), list(numbers(statement["model"]))
    *path, last = paths[rng.integers(len(paths))]
    inner = changed["model"]
    for key in path:
        inner = inner[key]
    inner[last] = str(Fraction(inner[last]) + Fraction(int(rng.choice([-8, -4, -1, 1, 3, 8])), 4))
    return changed


@pytest.mark.slow
@pytest.mark.parametrize("name", ["reverse", "histogram", "sort", "depth"])
def test_changed_weights_that_are_verified_answer_rightly_on_every_sequence(name: str) -> None:
    statement, rng, verified = program_said(name, 3), np.random.default_rng(0), 0
    assert right(statement)
    for _ in range(60):
        if evidence(changed := changed_numbers(statement, rng)):
            verified += 1
            assert right(changed)
    assert 5 <= verified <= 50


def with_row(name: str, new: str) -> Any:
    """Another value in the last row of the last table."""
    statement = program_said(name)
    [*_, op] = (op for op in statement["operations"] if op["op"] == "map")
    op["table"][-1][-1] = new
    return statement


def operation(name: str, kind: str, **changes: Any) -> Any:
    statement = program_said(name)
    [*_, op] = (op for op in statement["operations"] if op["op"] == kind)
    op.update(changes)
    return statement


def weights(name: str, part: str, row: int, new: list[str]) -> Any:
    statement = program_said(name)
    statement["model"][part][row] = new
    return statement


def head(name: str, **changes: Any) -> Any:
    statement = program_said(name)
    statement["model"]["blocks"][0]["heads"][0].update(changes)
    return statement


def without_row(name: str) -> Any:
    statement = program_said(name)
    [*_, op] = (op for op in statement["operations"] if op["op"] == "map")
    op["table"].pop()
    return statement


def swapped(statement: Any, field: str) -> Any:
    statement[field] = statement[field][::-1]
    return statement


def columns(name: str, does: Any) -> Any:
    statement = program_said(name)
    statement["layers"][0][0] = does
    return statement


FALSE = {
    "another value of a map": lambda: with_row("reverse", "7"),
    "a map without a row": lambda: without_row("reverse"),
    "another default": lambda: operation("shift_by(1)", "mean", default="'a'"),
    "another comparison": lambda: operation("histogram", "select", pairs="!="),
    "other pairs": lambda: operation("histogram", "select", pairs=[["'a'", "'b'"]]),
    "another s-op that is averaged": lambda: operation("reverse", "mean", of=0),
    "a selector of a later operation": lambda: operation("reverse", "mean", selector=999),
    "an operation of itself": lambda: operation("reverse", "map", of=[3]),
    "other factors": lambda: operation("reverse", "linear", factors=["1", "1"]),
    "a factor less": lambda: operation("reverse", "linear", factors=["1"]),
    "the tokens in another order": lambda: swapped(program_said("reverse"), "tokens"),
    "the answers in another order": lambda: swapped(program_said("reverse"), "answers"),
    "an answer twice": lambda: program_said("reverse") | {"answers": ["'a'", "'a'", "'c'"]},
    "a token twice": lambda: program_said("histogram") | {"tokens": ["'a'", "'a'", "'c'"]},
    "a causal program": lambda: program_said("histogram") | {"causal": True},
    "a program that is not causal": lambda: (
        program_said("histogram", causal=True) | {"causal": False}
    ),
    "longer sequences": lambda: program_said("reverse") | {"length": 3},
    "sequences of no tokens": lambda: program_said("reverse") | {"length": 0},
    "no operations": lambda: program_said("reverse") | {"operations": []},
    "no program": lambda: program_said("reverse") | {"layers": [[], []]},
    "a head that computes nothing": lambda: columns("histogram", []),
    "a head that computes tokens": lambda: columns("histogram", [[0, 0]]),
    "another column": lambda: columns("histogram", [[2, 0]]),
    "linear attention": lambda: head("histogram", rule="linear"),
    "a masked token": lambda: head("histogram", mask="strictly causal"),
    "a field more": lambda: head("histogram", scale="2"),
    "a true for 1": lambda: program_said("reverse") | {"length": True},
    "a float": lambda: program_said("reverse") | {"length": 2.0},
    "a third": lambda: weights("reverse", "b_unembed", 0, "1/3"),  # type: ignore[arg-type]
    "another embedding": lambda: weights(
        "histogram", "embed", 0, program_said("histogram")["model"]["embed"][1]
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_what_is_false_is_rejected(what: str) -> None:
    assert evidence(FALSE[what]()) is None


def test_different_values_that_may_be_averaged_have_affine_entries() -> None:
    """The mean of two equal numbers is right, and that of different ones is not."""
    statement = program_said("mean_of_tokens")
    assert evidence(statement)
    token = next(k for k, op in enumerate(statement["operations"]) if op["op"] == "tokens")
    number = compiled(*PROGRAMS["mean_of_tokens"], 2).stream["tokens"].start
    assert token >= 0
    row = statement["model"]["embed"][2]
    row[number] = str(Fraction(row[number]) + 1)
    with pytest.raises(ArithmeticError, match="affine"):
        program_checker.computed(statement)


def test_widths_of_no_order_do_not_select_one_position() -> None:
    """The number of equal tokens does not decide which token it is."""
    count = SelectorWidth(Select(tokens, tokens, "=="))
    program = Aggregate(Select(count, indices, "=="), Map({0: 5, 1: 5, 2: 5}.get, tokens))
    model = compiled(program, [0, 1, 2], 3)
    assert evidence(computes_program(model, program, "constant", causal=False))
    of = program_checker.Program(program_checker.Exact(10**6), program_said("sort", 3))
    known = [
        program_checker.Token(i, of.at(i, symbol), ()) for i in range(3) for symbol in (0, 1, 2)
    ]
    of.n = 3
    [*_, last] = (k for k, op in enumerate(of.ops) if op["op"] == "mean")
    op = of.ops[last]
    assert of.alike(op["selector"], op["of"], known)
    symbols = of.ops.index({"op": "tokens"})
    r = of.ops[of.ops[op["selector"]]["keys"]]["selector"]
    of.ops[r] = {"op": "select", "keys": symbols, "queries": symbols, "pairs": "<"}
    assert of.alike(op["selector"], symbols, known)  # equal tokens have equal widths
    assert not of.alike(op["selector"], of.ops.index({"op": "indices"}), known)
    of.ops[r] = {"op": "select", "keys": symbols, "queries": symbols, "pairs": "<="}
    assert not of.alike(op["selector"], op["of"], known)


@pytest.mark.parametrize("terms", [{"of": [], "factors": []}, {"factors": ["3", "2"]}])
def test_numbers_of_positions_that_are_impossible_are_not_left_out(terms: Any) -> None:
    """A sum with other terms may be no number of positions for any token."""
    statement = program_said("rank", 3)
    [op] = (op for op in statement["operations"] if op["op"] == "sum")
    assert len(op["of"]) == 2
    op.update(terms)
    with pytest.raises(ArithmeticError, match=r"add up|before it is computed"):
        program_checker.computed(statement)


def test_a_statement_that_takes_too_much_work_is_rejected() -> None:
    with pytest.raises(program_checker.TooLarge):
        program_checker.computed(program_said("sort", 3), work=1000)


def test_shorter_sequences_are_followed() -> None:
    program = Map(lambda n: 10 * n, length)
    statement = computes_program(compiled(program, "ab", 3), program, "tens", causal=False)
    assert evidence(statement)
    [op] = (op for op in statement["operations"] if op["op"] == "map")
    assert op["table"][0] == ["1", "10"]
    op["table"][0][1] = "20"
    assert evidence(statement) is None


@pytest.mark.parametrize(("causal", "length"), [([], 4), (["--causal"], 5)])
def test_the_claim_writes_a_certificate_of_a_program(
    causal: list[str], length: int, tmp_path: Path
) -> None:
    options = ["--program", "histogram", "--max-length", str(length), "--samples", "2"]
    file = ["--certificate", str(path := tmp_path / "c.json"), "--quiet"]
    assert main(["program", *options, *causal, *file]) == 0
    [sentence] = program_checker.verified(path.read_bytes())
    statement = json.loads(path.read_text())["programs"][0]["statement"]
    assert statement["length"] == length
    assert statement["causal"] == bool(causal)
    assert f"up to {length} of 3 tokens" in sentence


OPERATIONS = [
    {"op": "tokens"},
    {"op": "select", "keys": 0, "queries": 0, "pairs": "=="},
    {"op": "width", "selector": 1},
    {"op": "mean", "selector": 1, "of": 0, "default": "None"},
    {"op": "select", "keys": 0, "queries": 0, "pairs": [[7, 8]]},
    {"op": "mean", "selector": 4, "of": 0, "default": "None"},
    {"op": "width", "selector": 4},
    {"op": "select", "keys": 0, "queries": 0, "pairs": "true"},
    {"op": "mean", "selector": 7, "of": 0, "default": "None"},
]
IDS = {(0, 7): 0, (1, 7): 1, (0, 8): 2, (1, 8): 2}  # by place and token; BOS is 3
COUNTED = np.array([[1, 1, 0, 1], [1, 1, 0, 1], [0, 0, 1, 1], [0, 0, 0, 1]])
AVERAGED = np.array([[2, 2, 0, 1], [2, 2, 0, 1], [0, 0, 2, 1], [0, 0, 0, 1]])
EVERY = np.array([[2, 2, 2, 1], [2, 2, 2, 1], [2, 2, 2, 1], [0, 0, 0, 1]])
ONE = np.array([[0, 0, 0, 1], [0, 0, 0, 1], [2, 2, 0, 1], [0, 0, 0, 1]])  # 8 attends to 7


def attended(
    scores: Any,
    does: Any,
    entries: tuple[int, ...] = (7, 7, 8, 0),
    other: int = 0,
    operations: Any = OPERATIONS,
) -> program_checker.Attended:
    """A head with these scores of queries (rows) and keys, in sequences of two tokens 7 or 8.

    It adds the entries of the keys to column 5, and `other` times these to column 6.
    """
    rows = [
        (*row, entry, 0, 0)
        for row, entry in zip(np.eye(4, dtype=int).tolist(), entries, strict=True)
    ]
    nothing = [[0] * 4] * 3
    head = {
        "rule": "hardmax",
        "mask": "full",
        "Q": [*np.eye(4, dtype=int).tolist(), *nothing],
        "K": [*np.transpose(scores).tolist(), *nothing],
        "b_Q": [0] * 4,
        "b_K": [0] * 4,
        "V": [[0], [0], [0], [0], [1], [0], [0]],
        "O": [[0, 0, 0, 0, 0, 1, other]],
    }
    spec = {"operations": operations, "causal": False}
    of = program_checker.Program(program_checker.Exact(10**6), spec)
    of.n = 2
    known = [program_checker.Token(i, of.at(i, v), rows[at]) for (i, v), at in IDS.items()]
    return program_checker.Attended(of, known, rows[3], head, does)


def changed(scores: np.ndarray, query: int, key: int, score: int) -> np.ndarray:
    scores = scores.copy()
    scores[query, key] = score
    return scores


def test_a_head_brings_all_numbers_of_tokens_that_are_possible() -> None:
    counted = attended(COUNTED, [[2, 5]], (0, 0, 0, 1))
    assert counted.after[0] == {((w, Fraction(1, w + 1)),) for w in (1, 2)}
    assert attended(AVERAGED, [[3, 5]]).after[2] == {((8, 8),)}
    assert attended(EVERY, [[8, 5]]).after[0] == {((v, v),) for v in (7, Fraction(15, 2), 8)}
    one = attended(ONE, [[5, 5]])
    assert [one.after[0], one.after[2]] == [{(("None", 0),)}, {(("None", 0),), ((7, 7),)}]


WRONG_HEADS = {
    "BOS counts more": lambda: attended(changed(COUNTED, 0, 3, 2), [[2, 5]], (0, 0, 0, 1)),
    "BOS does not count": lambda: attended(2 * changed(COUNTED, 0, 3, 0), [[2, 5]], (0, 0, 0, 1)),
    "equal tokens with two scores": lambda: attended(changed(AVERAGED, 0, 1, 3), [[3, 5]]),
    "an unselected token as high as the selected": lambda: attended(
        changed(AVERAGED, 0, 2, 2), [[3, 5]]
    ),
    "BOS as high as the selected": lambda: attended(changed(AVERAGED, 0, 3, 2), [[3, 5]]),
    "an unselected token as high as BOS": lambda: attended(changed(ONE, 0, 2, 1), [[5, 5]]),
    "an unselected token as high as BOS, which counts": lambda: attended(
        changed(ONE.clip(max=1), 0, 2, 1), [[6, 5]], (0, 0, 0, 1)
    ),
    "BOS attends to a token": lambda: attended(changed(AVERAGED, 3, 0, 1), [[3, 5]]),
    "two entries of one value": lambda: attended(AVERAGED, [[3, 5]], (7, 9, 8, 0)),
    "another column": lambda: attended(AVERAGED, [[3, 5]], other=1),
    "one column for two operations": lambda: attended(AVERAGED, [[3, 5], [3, 5]]),
    "two selectors": lambda: attended(
        np.vstack([AVERAGED[:2], EVERY[2:3], AVERAGED[3:]]), [[3, 5], [5, 6]], other=1
    ),
    "a mean and a width": lambda: attended(AVERAGED, [[3, 5], [2, 6]], other=1),
}


@pytest.mark.parametrize("what", WRONG_HEADS)
def test_a_head_that_does_not_compute_its_operation_is_rejected(what: str) -> None:
    with pytest.raises(ArithmeticError):
        WRONG_HEADS[what]()


def test_the_length_of_a_causal_program_is_the_number_of_tokens_so_far() -> None:
    model = compiled(length, "ab", 3, causal=True)
    statement = computes_program(model, length, "length", causal=True)
    assert right(statement)
    assert program_checker.computed(statement)["contents"] > 0


def small(*operations: dict[str, Any], causal: bool = False, n: int = 3) -> program_checker.Program:
    """A program that begins with the operations 0: indices and 1: tokens, in n tokens."""
    spec = {"operations": [{"op": "indices"}, {"op": "tokens"}, *operations], "causal": causal}
    of = program_checker.Program(program_checker.Exact(10**6), spec)
    of.n = n
    return of


def standing(of: program_checker.Program, symbols: Any = (7, 8)) -> list[program_checker.Token]:
    """All tokens that may stand at each position before the first layer."""
    return [
        program_checker.Token(i, of.at(i, symbol), ()) for i in range(of.n) for symbol in symbols
    ]


def select(keys: int, queries: int, pairs: Any) -> dict[str, Any]:
    return {"op": "select", "keys": keys, "queries": queries, "pairs": pairs}


REFERRING: dict[str, Callable[[int], dict[str, Any]]] = {
    "keys": lambda k: select(k, 0, "=="),
    "queries": lambda k: select(0, k, "=="),
    "selector": lambda k: {"op": "width", "selector": k},
    "of": lambda k: {"op": "mean", "selector": 2, "of": k, "default": "None"},
    "one of several": lambda k: {"op": "linear", "of": [0, k, 1], "factors": ["1"] * 3},
}


@pytest.mark.parametrize("what", REFERRING)
def test_operations_refer_to_earlier_ones_alone(what: str) -> None:
    """Else a value might be read before it is computed, or be defined by itself."""
    selector, last = select(0, 0, "=="), {"op": "width", "selector": 2}
    small(selector, REFERRING[what](2), last)
    for later in (3, 4):
        with rejects("3", f"{later}", error=ArithmeticError):
            small(selector, REFERRING[what](later), last)


def test_keys_are_alike_only_if_they_are_widths_of_an_order() -> None:
    """Each position has one width, by which it is found; all else may select several."""
    order = select(0, 0, "<"), {"op": "width", "selector": 2}, select(3, 0, "==")
    parts = *order, select(1, 0, "true")
    for both in ([4, 5], [5, 4]):
        of = small(*parts, {"op": "and", "of": both})
        assert of.alike(6, 0, standing(of))
    others = {
        "either": (*parts, {"op": "or", "of": [4, 5]}),
        "the others": (*order, {"op": "not", "of": [4]}),
        "neither of two": (*parts, select(1, 0, "=="), {"op": "and", "of": [5, 6]}),
        "more widths": (*order[:2], select(3, 0, "<=")),
        "pairs": (*order[:2], select(3, 0, [[0, 0]])),
        "no widths": (*order[:2], select(1, 0, "==")),
        "widths of one for two": (  # 7 at position 0 precedes itself: 7, 7, 7 have widths 1, 1, 2
            select(0, 0, "<"),
            select(0, 0, [[0, 0]]),
            select(1, 1, [[7, 7]]),
            {"op": "and", "of": [3, 4]},
            {"op": "or", "of": [2, 5]},
            {"op": "width", "selector": 6},
            select(7, 0, "=="),
        ),
    }
    for what, operations in others.items():
        of = small(*operations)
        assert not of.alike(len(of.ops) - 1, 0, standing(of)), what
    of = small(select(0, 0, [[0, 1], [0, 2], [1, 2]]), *order[1:])
    assert of.alike(4, 0, standing(of))
    of = small(*order, causal=True)  # widths of what is seen: the last of them is unknown
    assert not of.alike(4, 0, standing(of))


def test_maps_and_linear_combinations_of_no_value_are_none() -> None:
    """And those of a value that no head has computed yet are not known."""
    of = small(
        {"op": "mean", "selector": 0, "of": 0, "default": "None"},
        {"op": "map", "of": [1, 2], "table": [[7, 5, 9]]},
        {"op": "linear", "of": [1, 2], "factors": [2, 3]},
    )
    unknown = program_checker.UNKNOWN
    assert of.filled([0, 7, 5, unknown, unknown]) == (0, 7, 5, 9, 29)
    assert of.filled([0, 7, "None", unknown, unknown]) == (0, 7, "None", "None", "None")
    assert of.filled([0, 7, unknown, unknown, unknown]) == (0, 7, *[unknown] * 3)
    assert of.filled([0, "None", unknown, unknown, unknown]) == (0, "None", *[unknown] * 3)


@pytest.mark.parametrize("causal", [False, True])
def test_no_number_of_positions_that_is_possible_is_left_out(causal: bool) -> None:
    """A token sees all positions, or those up to its own."""
    of = small(
        select(0, 0, "true"),
        {"op": "width", "selector": 2},
        {"op": "sum", "selector": 2, "of": [3], "factors": [1]},
        causal=causal,
    )
    found = [
        program_checker.Token(i, (i, 7, ..., v, v), ()) for i in range(3) for v in range(-1, 5)
    ]
    kept = of.occurring(found, found[0].labels)
    assert [(t.place, t.labels[4]) for t in kept] == [
        (i, v) for i in range(3) for v in range((i + 1 if causal else 3) + 1)
    ]


def test_selectors_of_a_sum_are_compared_once_it_is_known() -> None:
    """Twice the number of all positions is not that number."""
    of = small(
        select(0, 0, "true"),
        {"op": "width", "selector": 2},
        {"op": "sum", "selector": 2, "of": [3], "factors": [2]},
    )
    unknown, known = ([program_checker.Token(0, (0, 7, ..., *v), ())] for v in ((...,) * 2, (1, 2)))
    assert of.occurring(unknown, unknown[0].labels) == unknown
    assert of.occurring(known, known[0].labels) == known  # after another layer
    with rejects("sum", error=ArithmeticError):
        of.occurring(known, unknown[0].labels)


def test_one_head_computes_a_width_and_the_length() -> None:
    of = [*OPERATIONS, {"op": "width", "selector": 7}, {"op": "length"}]
    scores = np.vstack([np.ones((3, 4), int), [[0, 0, 0, 1]]])
    found = attended(scores, [[9, 5], [10, 6]], (0, 0, 0, 1), other=1, operations=of)
    assert found.after == [{((2, Fraction(1, 3)),) * 2}] * 4


@pytest.mark.parametrize("rows", [[[1, 2], [1, 2, 3]], [[1, 2, 3], [1, 2]], [[1], [1]]])
def test_rows_that_are_longer_or_shorter_than_a_matrix_do_not_fit(rows: Any) -> None:
    assert program_checker.Exact(100).mul([[1, 2], [3, 4]], [[5], [6]]) == [[17], [39]]
    with rejects("shapes", error=ArithmeticError):
        program_checker.Exact(100).mul(rows, [[5], [6]])


def test_there_is_one_row_for_each_token_and_enough_for_positions() -> None:
    """Else a token would be left out, or have the row of BOS."""
    statement = program_said("histogram", 3)
    model = statement["model"]
    rows = len(model["embed"])
    assert rows == len(statement["tokens"]) + 1
    positions = [["0"] * len(model["embed"][0])] * 4  # of BOS and three tokens
    statement["model"] = model | {"positions": positions}
    found = program_checker.computed(statement)
    statement["model"] = model | {"positions": [*positions, positions[0]]}
    assert program_checker.computed(statement)["margin"] == found["margin"]
    embed = model["embed"]
    wrong: list[dict[str, Any]] = [{"positions": positions[1:]}]
    for place in range(rows):
        wrong.append({"embed": [*embed[:place], *embed[place + 1 :]]})
        wrong.append({"embed": [*embed[: place + 1], *embed[place:]]})
    for change in wrong:
        statement["model"] = model | change
        with rejects("rows", error=ArithmeticError):
            program_checker.computed(statement)


def test_the_largest_number_of_contents_may_be_that_of_shorter_sequences() -> None:
    """Only of two tokens are those counted that are 'a'."""
    program = SelectorWidth(Select(tokens, length, lambda token, n: token == "a" and n == 2))
    statement = computes_program(compiled(program, "ab", 3), program, "of two", causal=False)
    found = [program_checker.computed(statement | {"length": n})["contents"] for n in (1, 2, 3)]
    assert found[0] < found[1] == found[2]


def test_its_limits_are_where_they_are_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = program_checker.Exact(10)
    exact.spend(8)
    with pytest.raises(program_checker.TooLarge):
        exact.spend(0)
    statement = program_said("histogram", 3)
    contents = program_checker.computed(statement)["contents"]
    monkeypatch.setattr(program_checker, "MOST_CONTENTS", contents + 1)
    assert program_checker.computed(statement)["contents"] == contents
    monkeypatch.setattr(program_checker, "MOST_CONTENTS", contents)
    with pytest.raises(program_checker.TooLarge):
        program_checker.computed(statement)


def test_equal_rows_are_multiplied_once() -> None:
    """So many tokens of few contents are within the limit."""
    one, many = (program_checker.Exact(10**6) for _ in range(2))
    one.mul([[1, 2]], [[5], [6]])
    many.mul([[1, 2]] * 9, [[5], [6]])
    assert many.work == one.work + 8


def test_the_length_is_that_of_the_sequence_unless_the_program_is_causal() -> None:
    """A model that answers 1 + i by its positions computes the length of causal programs alone."""
    rows = [["1", "0"], ["0", "1"]]
    model = {"embed": [["0", "0"]] * 3, "positions": [["0", "0"], *rows], "blocks": []}
    model |= {"unembed": rows, "b_unembed": ["0", "0"]}
    statement = {"kind": "program", "name": "", "operations": [{"op": "length"}], "layers": []}
    statement |= {"tokens": ["a", "b"], "answers": ["1", "2"], "length": 2, "model": model}
    assert program_checker.computed(statement | {"causal": True})["margin"] == "1"
    with rejects("answer", error=ArithmeticError):
        program_checker.computed(statement | {"causal": False})
