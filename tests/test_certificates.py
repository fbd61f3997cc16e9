"""Certificates and their checker: what is written is verified, and nothing that was changed is."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
import torch

from constructions import gradient_descent, hyperpower, induction_heads, newton
from constructions.computation import semiautomaton
from theory.checks import InputError
from theory.computation import Semiautomaton
from theory.computation.cascade import cascade
from theory.computation.zoo import cyclic, flip_flop
from verify import checker
from verify.certificates import (
    Recursion,
    for_all_inputs,
    for_every_length,
    on_all_sequences,
    write_certificate,
)
from verify.evidence.statement import OverTokens

CHECKER = Path(checker.__file__)


def steps_of_newton(layout: Any = "direct") -> dict[str, Any]:
    of = Recursion("a step", 1, 0.25)
    return for_all_inputs(newton(1, 1, 0.25, layout), 1, 1, of)


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


@pytest.mark.parametrize("kind", ["polynomial", "sequences"])
def test_weights_that_compute_something_else_are_refused_with_evidence_made_anew(kind: str) -> None:
    statement = SMALL[kind]()
    layer = next(block for block in statement["model"]["blocks"] if block["heads"])
    carried = layer["heads"][0]["O"]
    row, column = next(
        (i, j) for i, entries in enumerate(carried) for j, o in enumerate(entries) if o != "0"
    )
    carried[row][column] = str(-Fraction(carried[row][column]))
    with pytest.raises(ArithmeticError, match=r"differ|another answer"):
        checker.computed(statement)


def test_a_cascade_of_another_automaton_is_refused() -> None:
    statement = for_every_length(cascade(cyclic(2)))
    statement["automaton"] = [list(row) for row in flip_flop().transitions][:2]
    with pytest.raises((ArithmeticError, LookupError)):
        checker.computed(statement)


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
    checker.computed(for_all_inputs(model, model.interface.d, 2, recursion))
    for _, other in COMPUTED.values():
        if other != recursion:
            statement = for_all_inputs(model, model.interface.d, 2, other)
            with pytest.raises(InputError, match="differ"):
                write_certificate(Path("unused"), "x", [statement])


def test_degrees_and_heights_are_those_of_the_polynomial() -> None:
    # q·(2αs − α²s³)·x·y with s = x² and α = 1/4: degree 9, and coefficients 1/2 and 1/16.
    evidence = checker.computed(steps_of_newton())
    assert evidence["degree"] == 9
    assert evidence["bits"] >= 4


def test_a_point_too_few_is_refused() -> None:
    with pytest.raises(ArithmeticError, match="points may miss"):
        checker.computed(steps_of_newton() | {"points": 1})


def test_softmax_has_no_certificate() -> None:
    of = OverTokens("", lambda V, n: induction_heads(V, n).sharpened(30.0), lambda rows: rows, dict)
    with pytest.raises(InputError, match="scaled scores"):
        on_all_sequences(of, 2, {"hops": 1}, "induction")
    statement = states(cyclic(2))
    statement["model"]["blocks"][0]["heads"][0]["rule"] = "softmax"
    with pytest.raises(ArithmeticError, match="another rule"):
        checker.computed(statement)


def test_layers_that_compare_have_no_polynomial() -> None:
    statement = steps_of_newton()
    statement["model"]["blocks"][0]["heads"][0]["rule"] = "hardmax"
    with pytest.raises(ArithmeticError, match="no polynomial"):
        checker.computed(statement)


def run_checker(path: Path) -> subprocess.CompletedProcess[str]:
    """The file alone, without anything that is installed."""
    command = [sys.executable, "-I", "-S", str(CHECKER), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_the_file_alone_verifies(tmp_path: Path) -> None:
    write_certificate(tmp_path / "c.json", "three", [make() for make in SMALL.values()])
    done = run_checker(tmp_path / "c.json")
    assert (done.returncode, done.stderr, done.stdout.count("verified: ")) == (0, "", 3)
    changed = json.loads((tmp_path / "c.json").read_text())
    changed["certificates"][2]["evidence"]["states"] += 1
    (tmp_path / "c.json").write_text(json.dumps(changed))
    done = run_checker(tmp_path / "c.json")
    assert (done.returncode, done.stderr, done.stdout.splitlines()[-1][:6]) == (1, "", "wrong:")


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("no json", 2),
        ("[]", 2),
        ("{}", 2),
        ('{"certificates": []}', 1),
        ('{"certificates": [{"statement": {"kind": "x"}, "evidence": {}}]}', 2),
    ],
)
def test_what_is_no_certificate_gets_one_line(tmp_path: Path, text: str, code: int) -> None:
    (tmp_path / "c.json").write_text(text)
    done = run_checker(tmp_path / "c.json")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (code, "", 1)


def test_sizes_that_are_no_models_take_no_time() -> None:
    for size in ("n", "d", "order", "points", "steps"):
        for value in (10**12, -(10**12)):
            with pytest.raises(ArithmeticError, match="sizes too large"):
                checker.computed(steps_of_newton() | {size: value})
    with pytest.raises(IndexError):
        checker.computed(steps_of_newton() | {"examples": 10**15})
    with pytest.raises(ArithmeticError, match="too many"):
        checker.computed(states(cyclic(2)) | {"letters": 10**9, "length": 10**9})
    counter = {"kind": "counter", "size": 10**9, "first": 0, "reads": [], "rows": {"": 1}}
    constant = {"reads": [], "rows": {"": 0}}
    said = {"kind": "cascade", "automaton": [[0]], "start": 0, "answer": constant}
    with pytest.raises(ArithmeticError, match="too many"):
        checker.computed(said | {"stages": [counter]})


@pytest.mark.parametrize("text", ["1e9999999999", "nan", "0.25", 0.25, True])
def test_numbers_are_fractions_of_whole_ones(text: Any) -> None:
    with pytest.raises(ValueError, match="invalid literal"):
        checker.computed(steps_of_newton() | {"alpha": text})


def test_a_step_of_nothing_is_another_recursion() -> None:
    with pytest.raises(ArithmeticError, match="differ"):
        checker.computed(steps_of_newton() | {"alpha": "0"})


def test_hops_beyond_the_word_are_the_same_and_take_no_time() -> None:
    word = (0, 1, 1, 0, 1)
    for end in range(1, 6):
        answers = [checker.answer({"hops": hops}, word[:end]) for hops in (5, 6, 10**12)]
        assert len({*answers}) == 1


def test_what_is_verified_is_said_beside_the_name_that_the_writer_gave(tmp_path: Path) -> None:
    statement = steps_of_newton() | {"name": "anything\nverified: more"}
    write_certificate(tmp_path / "c.json", "x", [statement])
    (line,) = run_checker(tmp_path / "c.json").stdout.splitlines()
    assert line.startswith(r"verified: 'anything\nverified: more': d 1 n 1 ")


def test_several_files_are_not_taken_for_verified(tmp_path: Path) -> None:
    write_certificate(tmp_path / "c.json", "x", [steps_of_newton()])
    command = [sys.executable, "-I", "-S", str(CHECKER), *[str(tmp_path / "c.json")] * 2]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, len(done.stdout.splitlines())) == (2, 1)
    assert "python checker.py FILE" in done.stdout


def test_a_missing_file_gets_one_line(tmp_path: Path) -> None:
    done = run_checker(tmp_path / "none.json")
    assert (done.returncode, done.stderr, len(done.stdout.splitlines())) == (2, "", 1)


def test_it_is_short_and_needs_the_standard_library_alone() -> None:
    lines = CHECKER.read_text().splitlines()
    imported = {line.split()[1] for line in lines if line.startswith(("import", "from"))}
    assert len(lines) <= 200
    assert imported <= sys.stdlib_module_names
