"""False and malformed certificates: each is rejected in one line, soon, and with little memory."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from refusals import rejects

from tests.evidence.test_certificates import SMALL, induction
from tests.evidence.test_checker_files import CHECKERS, each, run
from tests.evidence.test_formula_checker import stated
from tests.evidence.test_gap_checker import hops_said, induction_said
from tests.evidence.test_program_checker import program_said
from verify import checker

pytestmark = pytest.mark.usefixtures("unchecked")  # the checkers, and not their annotations
REJECTED = (ArithmeticError, LookupError, ValueError, TypeError, RecursionError)
MADE: dict[str, Callable[[], Any]] = {
    **SMALL,
    "hops": induction,
    "lookups": lambda: induction_said(2, 3),
    "formula": lambda: stated("direct"),
    "program": lambda: program_said("histogram"),
}


def kind_of(name: str) -> str:
    fields = {"lookups": "gaps", "formula": "formulas", "program": "programs"}
    return fields.get(name, "certificates")


def computed(name: str, statement: Any) -> Any:
    return CHECKERS[kind_of(name)].computed(statement)


def weight(value: Any) -> Callable[[Any], Any]:
    """Replaces a weight by this value."""

    def changed(statement: Any) -> Any:
        statement["model"]["b_unembed"][0] = value
        return statement

    return changed


def fields(**values: Any) -> Callable[[Any], Any]:
    return lambda statement: statement | values


def cubed(layers: int) -> dict[str, Any]:
    """A model whose numbers have 3^layers digits, none of which is read."""
    one = {"Q": [["1"]], "K": [["1"]], "V": [["1"]], "O": [["1"]], "b_Q": ["0"], "b_K": ["0"]}
    block = {"heads": [{"rule": "linear", "mask": "full", **one}], "mlp": []}
    model = {"embed": [["3"], ["0"]], "positions": [], "blocks": [block] * layers}
    return model | {"unembed": [["0"]], "b_unembed": ["0"]}


def junk_in_sequences(statement: Any) -> Any:
    automaton = {"automaton": [[0]], "start": 0, "letters": 1, "length": 1, "prefix": []}
    logits = {"unembed": [["0", "0"]], "b_unembed": ["1", "0"]}
    return statement | automaton | {"model": cubed(40) | logits}


def counter(size: int, symbols: int, latches: int) -> dict[str, Any]:
    """A cascade of one counter, and of flip-flops without a change."""
    stage = {"kind": "counter", "size": size, "first": 0, "reads": [], "rows": {"": 1}}
    latch = {"kind": "latch", "size": 1, "first": 0, "reads": [], "rows": {"": -1}}
    answer = {"reads": [], "rows": {"": 0}}
    automaton = {"automaton": [[0]] * symbols, "start": 0, "answer": answer}
    return {"kind": "cascade", "name": "x", **automaton, "stages": [stage] + [latch] * latches}


def gradient_step_without_terms(statement: Any) -> Any:
    """A model of M = αI, which is no sum of `order` = 0 terms."""
    head = {"rule": "linear", "mask": "context-only", "Q": [["1"], ["0"]], "K": [["1"], ["0"]]}
    head |= {"V": [["0"], ["1"]], "O": [["0", "1"]], "b_Q": ["0"], "b_K": ["0"]}
    model = {"embed": [["1", "0"], ["0", "1"]], "positions": [], "unembed": [["0"], ["1"]]}
    model |= {"blocks": [{"heads": [head], "mlp": []}], "b_unembed": ["0"]}
    sizes = {"start": "identity", "alpha": "1", "order": 0, "steps": 3}
    return statement | sizes | {"model": model, "prompt": [["x1_1", "y1"], ["q1", "0"]]}


def doubled(statement: Any, times: int) -> Any:
    """A selector that contains 2^times others."""
    operations, [[[[_, column]]]] = statement["operations"], statement["layers"]
    selector = next(k for k, op in enumerate(operations) if op["op"] == "select")
    more = [{"op": "and", "of": [selector, selector]}]
    more += [{"op": "and", "of": [len(operations) + k] * 2} for k in range(times)]
    operations = [*operations, *more, {"op": "width", "selector": len(operations) + times}]
    length = {"length": 9}
    return (
        statement
        | {"operations": operations, "layers": [[[[len(operations) - 1, column]]]]}
        | length
    )


def linear(statement: Any, times: int) -> Any:
    """Numbers of thousands of digits."""
    operations = [{"op": "tokens"}]
    operations += [{"op": "linear", "of": [k, k], "factors": ["9" * 30] * 2} for k in range(times)]
    return statement | {"operations": operations, "tokens": ["1", "2", "3"]}


STATEMENTS: dict[str, tuple[str, Callable[[Any], Any]]] = {
    "a sum of no terms": ("polynomial", gradient_step_without_terms),
    "sizes without inputs": ("polynomial", fields(n=0, steps=99999, order=99999)),
    "no points": ("polynomial", fields(points=0, steps=99999, order=99999)),
    "more examples than inputs": ("polynomial", fields(n=99999)),
    "more dimensions than inputs": ("polynomial", fields(n=1, d=9999, steps=0)),
    "a degree of 2^30": ("polynomial", fields(steps=30)),
    "a degree of 2^99999": ("polynomial", fields(steps=99999)),
    "points in a text": ("polynomial", fields(points="1", steps=99999, order=99999)),
    "points in a list": ("polynomial", fields(points=[[], []], steps=99999, order=99999)),
    "an input of another name": (
        "polynomial",
        fields(prompt=[["x01_1", "y1"], ["q1", "0"]]),
    ),
    "long numbers over Q": (
        "polynomial",
        fields(model=cubed(40), prompt=[["x1_1", "y1"], ["q1", "0"]]),
    ),
    "long numbers on sequences": ("sequences", junk_in_sequences),
    "a long prefix": ("sequences", lambda said: said | {"prefix": said["prefix"] * 50000}),
    "long sequences": ("sequences", fields(length=20)),
    "a start of a recursion": ("sequences", fields(start="gram")),
    "a symbol in a text": ("sequences", fields(letters="2")),
    "many stages and states": ("cascade", lambda said: counter(65536, 1, 10000)),
    "a name of another kind": ("cascade", fields(name=1.5)),
    "a long name": ("cascade", fields(name="x" * 10000)),
    "a power of ten": ("lookups", weight("1E99999999")),
    "spaces": ("lookups", weight(" 0 ")),
    "underscores": ("lookups", weight("0_0")),
    "digits of another script": ("lookups", weight("\u0660")),
    "a number of 5000 digits": ("lookups", weight("9" * 5000)),
    "thirds": ("lookups", weight("1/3")),
    "a denominator of 0": ("lookups", weight("1/0")),
    "a number without quotes": ("lookups", weight(0)),
    "hops in a boolean": ("lookups", fields(hops=True)),
    "a list of programs": ("lookups", fields(first=[])),
    "no positions": ("lookups", lambda said: (said["model"].update(positions=[]), said)[1]),
    "many terms": ("formula", fields(steps=99999, order=99999)),
    "a recursion of no terms": ("formula", fields(order=0)),
    "a degree of more than 4096 bits": ("formula", fields(steps=5000)),
    "scalars alone": ("formula", fields(registers=[1] * 8)),
    "registers of width 0": ("formula", lambda said: said | {"registers": said["registers"] + [0]}),
    "another width": ("formula", fields(registers=[3, 3])),
    "a bias": ("formula", weight("1")),
    "positions": ("formula", lambda said: (said["model"].update(positions=[["1"]]), said)[1]),
    "sequences without an end": ("program", fields(length=999)),
    "operations of all earlier ones": ("program", lambda said: doubled(said, 60)),
    "numbers that double": ("program", lambda said: linear(said, 900)),
    "a statement of no fields": ("lookups", lambda said: {}),
    "a statement of one number": ("lookups", lambda said: 5),
}


@pytest.mark.parametrize("what", STATEMENTS)
def test_a_hostile_statement_is_wrong_and_takes_no_time(what: str) -> None:
    """Each once took hours or more memory than there is, or was verified, or ended otherwise."""
    name, change = STATEMENTS[what]
    with rejects(error=ArithmeticError):
        computed(name, change(MADE[name]()))


@pytest.mark.parametrize("name", ["polynomial", "lookups", "formula"])
def test_a_wrong_value_is_named_with_its_field(name: str) -> None:
    for value in ("1/0", 3, None):
        with rejects("b_unembed", str(value), error=ArithmeticError):
            computed(name, weight(value)(MADE[name]()))
    with rejects("name", error=ArithmeticError):
        computed(name, MADE[name]() | {"name": 1})


@pytest.mark.parametrize("name", ["polynomial", "formula"])
def test_an_order_of_zero_is_named(name: str) -> None:
    with rejects("order", "0", error=ArithmeticError):
        computed(name, MADE[name]() | {"order": 0})


def texts(kind: str) -> dict[str, str]:
    """Files that are no certificates, or state something beside what is verified."""
    statement = MADE[
        {
            "certificates": "polynomial",
            "gaps": "lookups",
            "formulas": "formula",
            "programs": "program",
        }[kind]
    ]()
    one = {"statement": statement, "evidence": CHECKERS[kind].computed(statement)}
    good = json.dumps({kind: [one]})
    rounded = deepcopy(one)
    field = "contents" if kind in ("gaps", "programs") else "degree"
    rounded["evidence"][field] = float(one["evidence"][field])
    return {
        "two statements for one": f'{{"{kind}": [], {good[1:]}',
        "a size given twice": good.replace('"name"', '"hops": 3, "n": 3, "name"', 1).replace(
            '"name"', '"hops": 1, "n": 1, "name"', 1
        ),
        "an integer as a float": json.dumps({kind: [rounded]}),
        "a field beside the statement": json.dumps({kind: [one | {"theorem": "Fermat"}]}),
        "a field beside the certificates": json.dumps({kind: [one], "theorem": "Fermat"}),
        "two files": good + good,
        "lists in lists": f'{{"{kind}": ' + "[" * 100_000,
        "lists in a field": good.replace('"model": {', '"model": {"x": ' + "[" * 9999, 1),
        "a letter": f'{{"{kind}": "abc"}}',
        "nothing": "null",
    }


@each
def test_a_hostile_file_is_rejected(kind: str) -> None:
    for what, text in texts(kind).items():
        with pytest.raises(REJECTED):
            pytest.fail(f"{what}: {[*CHECKERS[kind].verified(text.encode())]}")


@each
def test_a_hostile_file_gets_one_line(kind: str, tmp_path: Path) -> None:
    for text in (texts(kind)["lists in lists"], texts(kind)["a size given twice"]):
        done = run(kind, tmp_path / "c.json", text)
        assert (done.returncode in (1, 2), done.stderr) == (True, "")
        assert len(done.stdout.splitlines()) == 1


def test_one_state_is_not_true(tmp_path: Path) -> None:
    """Python's True equals 1."""
    said = counter(1, 1, 0)
    evidence = checker.computed(said)
    assert evidence["states"] == 1
    one = {"statement": said, "evidence": evidence | {"states": True}}
    with rejects("True", error=ArithmeticError):
        [*checker.verified(json.dumps({"certificates": [one]}).encode())]


def test_primes_are_told_from_products_that_pass_fermats_test() -> None:
    carmichael = 211 * 421 * 631  # a^(N − 1) = 1 modulo N, for all a without these factors
    strong = 3215031751  # strong pseudoprime to the bases 2, 3, 5 and 7
    assert all(pow(a, carmichael - 1, carmichael) == 1 for a in range(2, 60))
    assert not checker.prime(carmichael)
    assert not checker.prime(strong)
    assert not checker.prime(2**60 + 1)
    assert checker.prime(2**61 - 1)
    by_definition = [p for p in range(41, 5000) if all(p % q for q in range(2, 71) if q < p)]
    assert [p for p in range(41, 5000) if checker.prime(p)] == by_definition


def mutants(text: bytes) -> Iterator[bytes]:
    """The texts that differ in one byte, or end before it."""
    for i, byte in enumerate(text):
        others = {byte ^ 1, byte ^ 8, *b'1-"'} - {byte}
        yield from (text[:i] + bytes([other]) + text[i + 1 :] for other in others)
        yield text[:i] + text[i + 1 :]
        yield text[:i]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["polynomial", "cascade", "lookups", "formula"])
def test_no_byte_can_be_changed_except_in_the_claim_and_in_spaces(name: str) -> None:
    statement = MADE[name]() if name != "lookups" else hops_said(1, 2, 2)
    made = [{"statement": statement, "evidence": computed(name, statement)}]
    file = {"claim": "some", kind_of(name): made}
    tried = 0
    for mutant in mutants(json.dumps(file).encode()):
        tried += 1
        try:
            [*CHECKERS[kind_of(name)].verified(mutant)]
        except REJECTED:
            continue
        read = json.loads(mutant)
        assert read == file | {"claim": read["claim"]}
    assert tried > 3000
