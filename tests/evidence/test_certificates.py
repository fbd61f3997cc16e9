"""Certificates and their checker: what is written is verified, and nothing that was changed is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import gradient_descent, hop, hyperpower, induction_heads, newton
from constructions.attention import Attention
from constructions.computation import semiautomaton
from constructions.transformer import Transformer
from theory.computation import Semiautomaton
from theory.computation.benchmark_automata import cyclic, flip_flop
from theory.computation.cascade import cascade
from verify import checker
from verify.evidence.certificates import (
    Recursion,
    for_all_inputs,
    for_every_length,
    on_all_sequences,
    write_certificate,
)
from verify.evidence.statement import Case, OverExamples, OverTokens

CHECKER = Path(checker.__file__)


def sized(model: Transformer, d: int, n: int) -> Case:
    """This very model, on n examples in d dimensions."""
    return OverExamples(lambda *_: model, lambda *_: None).at(d, n, 1)


def steps_of_newton(layout: Any = "direct") -> dict[str, Any]:
    of = Recursion("a step", 1, 0.25)
    return for_all_inputs(sized(newton(1, 1, 0.25, layout), 1, 1), of)


def states(automaton: Semiautomaton) -> dict[str, Any]:
    says = {"automaton": [list(row) for row in automaton.transitions], "start": automaton.start}
    of = OverTokens("", lambda V, n: semiautomaton(automaton, 2), automaton.run, dict, symbols=2)
    return on_all_sequences(of, 2, says, "states") | {"length": 2}


SMALL = {
    "polynomial": steps_of_newton,
    "sequences": lambda: states(cyclic(2)),
    "cascade": lambda: for_every_length(cascade(flip_flop())),
}


def certificate(statement: dict[str, Any]) -> dict[str, Any]:
    return {"statement": statement, "evidence": checker.computed(statement)}


def rejected(changed: Any) -> bool:
    """Whether the checker does not verify it."""
    try:
        return bool(checker.computed(changed["statement"]) != changed["evidence"])
    except (ArithmeticError, LookupError, ValueError, TypeError):
        return True


def numbers(of: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The paths of all numbers, those in texts included."""
    if isinstance(of, dict | list):
        for key, value in of.items() if isinstance(of, dict) else enumerate(of):
            yield from numbers(value, (*path, key))
    elif not isinstance(of, str) or of.replace("/", "").removeprefix("-").isdigit():
        yield path


def with_another(of: Any, path: tuple[Any, ...]) -> Any:
    """The same with another number at this path."""
    changed = deepcopy(of)
    inner = changed
    for key in path[:-1]:
        inner = inner[key]
    number = inner[path[-1]]
    inner[path[-1]] = str(Fraction(number) + 1) if isinstance(number, str) else number + 1
    return changed


@pytest.mark.parametrize("kind", SMALL)
def test_no_number_can_be_changed(kind: str) -> None:
    made = certificate(SMALL[kind]())
    assert not rejected(made)
    paths = list(numbers(made))
    assert len(paths) > 20
    assert [path for path in paths if not rejected(with_another(made, path))] == []


# What may be larger: more points; a stage that is not read, and a larger flip-flop.
FREE = {
    "polynomial": [("prompt", 1, 1), ("points",)],
    "sequences": [("examples",)],
    "cascade": [("stages", 0, "size")],
}


@pytest.mark.parametrize("kind", SMALL)
def test_numbers_are_checked_and_not_their_hash_alone(kind: str) -> None:
    made, free = SMALL[kind](), []
    for path in numbers(made):
        if path[0] != "model":
            changed = with_another(made, path)
            if not rejected({"statement": changed, "evidence": anew(changed)}):
                free.append(path)
    assert free == FREE[kind]


def anew(statement: Any) -> Any:
    """Evidence, if there is any."""
    try:
        return checker.computed(statement)
    except (ArithmeticError, LookupError, ValueError, TypeError):
        return None


def induction() -> dict[str, Any]:
    of = OverTokens("", induction_heads, lambda rows: rows, dict)
    return on_all_sequences(of, 2, {"hops": 1}, "induction") | {"length": 3}


def itself(kind: str) -> dict[str, Any]:
    """A stage that reads its own value, and so can be any automaton."""
    rows = {f"{a} {q}": (q + a) % 2 for a in range(2) for q in range(2)}
    given = rows if kind != "counter" else {key: int(key[0]) for key in rows}
    stage = {"kind": kind, "size": 2, "first": 0, "reads": [0, 1], "rows": given}
    return {
        "kind": "cascade",
        "name": "x",
        "automaton": [[0, 1], [1, 0]],
        "start": 0,
        "stages": [stage],
        "answer": {"reads": [0, 1], "rows": rows},
    }


def no_bottom() -> dict[str, Any]:
    """It maps 0 and 1 to 1 where there was nothing before."""
    model: dict[str, Any] = {"embed": [["1"], ["1"]], "positions": [], "blocks": []}
    model |= {"unembed": [["0", "0"]], "b_unembed": ["0", "1"]}
    return induction() | {"length": 1, "prefix": [], "model": model}


def hidden_field(field: str) -> dict[str, Any]:
    statement = steps_of_newton()
    statement["model"]["blocks"][0]["heads"][0][field] = "30"
    return statement


def hidden_mlp() -> dict[str, Any]:
    statement = steps_of_newton()
    zero = {"in": [], "b_in": [], "out": [], "b_out": []}
    statement["model"]["blocks"][0]["mlp"] = [{"rule": "linear", **zero}]
    return statement


def on_prefixes() -> dict[str, Any]:
    """A model on all prefixes, whose first MLP is a constant."""
    model = newton(1, 1, 0.25, "ladder", causal=True)
    case = OverExamples(lambda *_: model, lambda *_: None).at(1, 2, 1)
    return for_all_inputs(case, Recursion("a step", 1, 0.25))


def with_a_neuron() -> dict[str, Any]:
    """A neuron of weight 0, which changes no answer."""
    statement = on_prefixes()
    mlp = statement["model"]["blocks"][0]["mlp"][0]
    mlp |= {"in": [["0"]] * len(mlp["in"]), "b_in": ["0"], "out": [["0"] * len(mlp["b_out"])]}
    return statement


def test_an_mlp_without_neurons_is_a_constant_of_the_polynomial() -> None:
    statement = on_prefixes()
    (mlp,) = statement["model"]["blocks"][0]["mlp"]
    assert mlp["b_in"] == []
    assert {*mlp["b_out"]} == {"0", "1"}
    assert anew(statement) is not None
    mlp["b_out"] = [str(1 - int(b)) for b in mlp["b_out"]]
    assert anew(statement) is None


def shifted_states() -> dict[str, Any]:
    """State 0 is −2, which Python finds in a list of 2."""
    statement = states(cyclic(2))
    return statement | {"automaton": [[q or -2 for q in row] for row in statement["automaton"]]}


FALSE = {
    "a model without ⊥": no_bottom,
    "two equal logits": lambda: (
        made := no_bottom(),
        made["model"].update(unembed=[["0"] * 3], b_unembed=["0", "1", "1"]),
    )[0],
    "a counter of itself": lambda: itself("counter"),
    "a flip-flop of itself": lambda: itself("latch"),
    "a stage of no kind": lambda: itself("magic"),
    "a value without a place": lambda: (
        made := SMALL["cascade"](),
        made["stages"][0].update(size=1),
    )[0],
    "no symbols": lambda: SMALL["cascade"]() | {"automaton": []},
    "negative states": shifted_states,
    "a negative start": lambda: states(cyclic(2)) | {"start": -2},
    "no steps": lambda: steps_of_newton() | {"steps": -1},
    "scaled scores": lambda: hidden_field("scale"),
    "an MLP in a polynomial": hidden_mlp,
    "a neuron in a polynomial": with_a_neuron,
    "two definitions": lambda: induction() | {"automaton": [[0], [0]], "start": 0},
    "true for 1": lambda: steps_of_newton() | {"steps": True},
    "0.25 for 1/4": lambda: steps_of_newton() | {"alpha": 0.25},
    "a number too long to write": lambda: steps_of_newton() | {"alpha": "1e99999999"},
    "other inputs": lambda: steps_of_newton() | {"prompt": [["x2_1", "y1"], ["q1", "0"]]},
    "fewer steps": lambda: steps_of_newton() | {"steps": 2},
    "no sequence": lambda: induction() | {"length": 0},
    "more symbols": lambda: induction() | {"letters": 3},
    "another model": lambda: (
        steps_of_newton()
        | {"model": for_all_inputs(sized(gradient_descent(1, 3, 0.25), 1, 1), NEWTON)["model"]}
    ),
}


@pytest.mark.parametrize("what", FALSE)
def test_what_is_false_or_says_less_than_it_seems_is_refused(what: str) -> None:
    assert anew(FALSE[what]()) is None


@pytest.mark.parametrize("kind", ["polynomial", "sequences"])
def test_weights_that_compute_something_else_are_refused_with_evidence_made_anew(kind: str) -> None:
    statement = SMALL[kind]()
    layer = next(block for block in statement["model"]["blocks"] if block["heads"])
    carried = layer["heads"][0]["O"]
    row, column = next(
        (i, j) for i, entries in enumerate(carried) for j, o in enumerate(entries) if o != "0"
    )
    carried[row][column] = str(-Fraction(carried[row][column]))
    with rejects(error=ArithmeticError):
        checker.computed(statement)


def test_a_cascade_of_another_automaton_is_refused() -> None:
    statement = for_every_length(cascade(cyclic(2)))
    statement["automaton"] = [list(row) for row in flip_flop().transitions][:2]
    with pytest.raises((ArithmeticError, LookupError)):
        checker.computed(statement)


@pytest.mark.filterwarnings("ignore::theory.kinds.OutsideHypotheses")
def test_the_answers_of_a_certificate_are_the_models() -> None:
    made = certificate(steps_of_newton())
    names = ("x1_1", "y1", "q1")
    key = {
        name: int(
            checker.sha256(
                json.dumps([made["statement"], 0, name], sort_keys=True).encode()
            ).hexdigest(),
            16,
        )
        % 19
        for name in names
    }
    x, y, q = (torch.tensor(float(key[name])) for name in names)
    answer = newton(1, 1, 0.25)(x.view(1, 1), y.view(1), q.view(1))
    assert Fraction(float(answer)) == Fraction(made["evidence"]["answers"]["0"])


NEWTON, IDENTITY = Recursion("", 1, 0.25), Recursion("", 1, 0.25, "identity")
DESCENT = Recursion("", 1, 0.25, "identity", 3)
COMPUTED = {
    "ladder": (newton(1, 1, 0.25, "ladder"), NEWTON),
    "causal": (newton(1, 1, 0.25, causal=True), NEWTON),
    "identity": (newton(1, 1, 0.25, start="identity"), IDENTITY),
    "order 3": (hyperpower(1, 1, 3, 0.25), Recursion("", 1, 0.25, order=3)),
    "descent": (gradient_descent(1, 3, 0.25), DESCENT),
    "causal descent": (gradient_descent(1, 3, 0.25, causal=True), DESCENT),
    "two steps": (newton(2, 2, 0.25), Recursion("", 2, 0.25)),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_a_recursion_is_told_from_the_others(name: str) -> None:
    model, recursion = COMPUTED[name]
    case = sized(model, model.interface.d, 2)
    checker.computed(for_all_inputs(case, recursion))
    for _, other in COMPUTED.values():
        if other != recursion:
            with rejects():
                write_certificate(Path("unused"), "x", [for_all_inputs(case, other)])


def test_degrees_and_heights_are_those_of_the_polynomial() -> None:
    # q·(2αs − α²s³)·x·y with s = x² and α = 1/4: degree 9, and coefficients 1/2 and 1/16.
    evidence = checker.computed(steps_of_newton())
    assert evidence["degree"] == 9
    assert evidence["bits"] >= 4


def test_sizes_of_sums_are_bounds() -> None:
    five = [(1, 0, 0)] * 5  # (x_1² + … + x_5²): its coefficients are 5 in all
    assert checker.Sizes().dot(five, five) == (2, 0, 3)


def test_primes_and_points_are_drawn_from_the_whole_statement() -> None:
    one, other = steps_of_newton(), steps_of_newton() | {"name": "other"}
    answers = [checker.computed(each)["answers"] for each in (one, other)]
    assert {*answers[0]} & {*answers[1]} == {"0"}
    assert answers[0]["0"] != answers[1]["0"]


@pytest.mark.parametrize("rule", ["linear", "hardmax"])
@pytest.mark.parametrize("mask", ["full", "causal", "strictly causal", "context-only", "diagonal"])
def test_heads_attend_as_ours_do(mask: Any, rule: Any) -> None:
    generator = torch.Generator().manual_seed(0)
    shapes = (1, 2, 2), (1, 2, 2), (1, 2, 1), (1, 1, 2), (1, 2), (1, 2)
    W = [torch.randint(-1, 2, shape, generator=generator).double() for shape in shapes]
    names = ("Q", "K", "V", "O", "b_Q", "b_K")
    head = {name: each[0].int().tolist() for name, each in zip(names, W, strict=True)}
    H = torch.tensor([[1, 0], [0, 1], [1, 0], [1, 1], [0, 1]])
    model = {
        "positions": [],
        "blocks": [{"heads": [head | {"rule": rule, "mask": mask}], "mlp": []}],
        "unembed": [[1, 0], [0, 1]],
        "b_unembed": [0, 0],
    }
    found = checker.run(checker.Numbers(), model, H.tolist(), 3, [set()])
    ours = H + Attention(*W, normalise=rule, mask=mask)(H.double(), 3)
    np.testing.assert_allclose(np.array(found, dtype=float), ours.detach(), rtol=1e-15)


def test_gaps_and_margins_are_those_of_the_construction() -> None:
    model, evidence = induction_heads(2, 3), checker.computed(induction())
    gaps = [min(margin.gap for margin in block.margins) for block in model.blocks]
    assert [*map(Fraction, evidence["gaps"])] == [*map(Fraction, gaps)]
    assert Fraction(evidence["margin"]) == Fraction(str(model.interface.margin))


def test_a_counter_counts_round() -> None:
    assert checker.computed(for_every_length(cascade(cyclic(3))))["states"] == 3


def test_a_point_too_few_is_refused() -> None:
    # (9 + 2·5 + 99)/2^60, for the degree and bits above
    with rejects(str(118 / 2**60), error=ArithmeticError):
        checker.computed(steps_of_newton() | {"points": 1})


def test_softmax_has_no_certificate() -> None:
    of = OverTokens("", lambda V, n: induction_heads(V, n).sharpened(30.0), lambda rows: rows, dict)
    with rejects("scores"):
        on_all_sequences(of, 2, {"hops": 1}, "induction")
    statement = states(cyclic(2))
    statement["model"]["blocks"][0]["heads"][0]["rule"] = "softmax"
    with rejects("softmax", error=ArithmeticError):
        checker.computed(statement)


def test_layers_that_compare_have_no_polynomial() -> None:
    statement = steps_of_newton()
    statement["model"]["blocks"][0]["heads"][0]["rule"] = "hardmax"
    for wrong in (statement, with_a_neuron()):
        with rejects("polynomial", error=ArithmeticError):
            checker.computed(wrong)


def test_sizes_that_are_no_models_take_no_time() -> None:
    for size in ("n", "d", "order", "points", "steps", "examples"):
        for value in (10**12, -(10**12)):
            with rejects(size, str(value), error=ArithmeticError):
                checker.computed(steps_of_newton() | {size: value})
    with rejects(error=ArithmeticError):
        checker.computed(steps_of_newton() | {"order": 99999, "steps": 99999})
    with rejects(error=ArithmeticError):
        checker.computed(states(cyclic(2)) | {"letters": 99999, "length": 99999})
    counter = {"kind": "counter", "size": 99999, "first": 0, "reads": [], "rows": {"": 1}}
    constant = {"reads": [], "rows": {"": 0}}
    said = {"kind": "cascade", "name": "x", "automaton": [[0]], "start": 0, "answer": constant}
    with rejects(error=ArithmeticError):
        checker.computed(said | {"stages": [counter]})


@pytest.mark.parametrize("text", ["1e9999999999", "NaN", "0.25", 0.25, True])
def test_numbers_are_fractions_of_whole_ones(text: Any) -> None:
    with rejects("alpha", error=ArithmeticError):
        checker.computed(steps_of_newton() | {"alpha": text})


def test_a_step_of_nothing_is_another_recursion() -> None:
    with rejects(error=ArithmeticError):
        checker.computed(steps_of_newton() | {"alpha": "0"})


def test_hops_beyond_the_word_are_the_same_and_take_no_time() -> None:
    of = OverTokens("", lambda V, n: hop(4, V, n), lambda rows: rows, dict)
    said = on_all_sequences(of, 2, {"hops": 4}, "hop") | {"length": 4}
    one, many = (checker.computed(said | {"hops": count}) for count in (4, 99999))
    assert one | {"sha256": ""} == many | {"sha256": ""}
