"""What the checks accept, and the one line with which they refuse."""

import annotations
import numpy as np
import pytest
import torch
from beartype.roar import BeartypeCallHintViolation

from theory import checks, machine
from theory.checks import InputError


def test_shapes_that_fit():
    checks.example_shapes((5, 2), (5,))
    checks.example_shapes((3, 5, 2), (3, 5), (2,))
    checks.example_shapes((3, 5, 2), (3, 5), (7, 3, 2))
    checks.example_shapes((1, 1), (1,), (1,))


@pytest.mark.parametrize(
    ("shapes", "message"),
    [
        (((5, 3), (4,)), r"^y has 4 labels but x has 5 examples: x must be \(…, n, d\) and"),
        (((5,), (5,)), r"^x has shape \(5,\) and y has shape \(5,\)"),
        (((5, 3), ()), r"^x has shape \(5, 3\) and y has shape \(\)"),
        (((0, 3), (0,)), r"^x has 0 examples of dimension 3"),
        (((5, 0), (5,)), r"^x has 5 examples of dimension 0"),
        (((2, 5, 3), (4, 5)), r"^x has leading dimensions \(2,\) but y has \(4,\)"),
        (((5, 3), (5,), (2,)), r"^x_query has shape \(2,\) but the examples have dimension 3"),
        (((5, 3), (5,), ()), r"^x_query has shape \(\)"),
        (((2, 5, 3), (2, 5), (4, 3)), r"^x_query has leading dimensions \(4,\) and x has \(2,\)"),
    ],
)
def test_shapes_that_do_not(shapes, message):
    with pytest.raises(ValueError, match=message) as error:
        checks.example_shapes(*shapes)
    assert "\n" not in str(error.value)


def test_numbers_that_fit():
    assert checks.positive("alpha", 2) == 2.0
    assert checks.nonnegative("eigenvalue", [0.0, 1.0]).tolist() == [0, 1]
    assert checks.per_prompt("alpha", [[1.0], [2.0]], (2, 3)).shape == (2, 1)
    assert checks.nonnegative_number("noise", 0) == 0
    assert checks.step_size("alpha", 2.3e-308) == 2.3e-308
    assert checks.step_count("k", 0) == 0
    assert checks.step_counts("k", [0, 3]).tolist() == [0, 3]
    assert checks.dimension("d", 1) == 1
    checks.finite("x", True)
    checks.one_of("start", "gram", ["gram"])
    assert checks.signs("s", [[1.0, -1.0]]).dtype == np.int64
    assert checks.vectors("q", [[1, 2]], 2).dtype == np.float64
    machine.fits_in_memory("scores", 0, "pass fewer")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: checks.finite("x", False), "^x contains NaN or infinite entries: remove or"),
        *[
            (lambda bad=bad: checks.positive("alpha", bad), "^alpha is .*: give a finite number")
            for bad in (0.0, -1.0, np.nan, np.inf)
        ],
        (lambda: checks.positive("alpha", [1.0, -2.0]), r"^alpha contains -2.0"),
        (lambda: checks.nonnegative("eigenvalue", [-2.0]), r"^eigenvalue contains -2.0"),
        (lambda: checks.nonnegative("eigenvalue", np.inf), r"^eigenvalue contains inf"),
        (lambda: checks.nonnegative_number("noise", True), "^noise is True: give one number"),
        (lambda: checks.nonnegative_number("noise", [0.5]), r"^noise is \[0.5\]: give one number"),
        (lambda: checks.step_size("alpha", 1e-320), "^alpha is 9.99.*e-321, below the normal"),
        (lambda: checks.step_size("alpha", 0.0), "^alpha is 0.0: give a finite number"),
        (lambda: checks.per_prompt("alpha", [1.0, 2.0], (3,)), r"^alpha has shape \(2,\)"),
        (lambda: checks.per_prompt("alpha", [[1.0], [2.0]], (3,)), r"^alpha has shape \(2, 1\)"),
        (lambda: checks.step_count("k", -1), "^k is -1: give an integer that is at least 0"),
        (lambda: checks.step_count("k", True), "^k is True"),
        (lambda: checks.step_counts("k", [1, -1]), r"^k is \[1, -1\]"),
        (lambda: checks.step_counts("k", 0.5), r"^k is 0.5"),
        (lambda: checks.dimension("d", 0), "^d is 0: give an integer that is at least 1"),
        (lambda: checks.dimension("d", True), "^d is True"),
        (lambda: checks.one_of("start", "x", ["a", "b"]), "^start is 'x': give 'a' or 'b'"),
        (lambda: checks.signs("s", [1, 0]), r"^s contains 0: every entry must be −1 or \+1; for 0"),
        (lambda: checks.signs("s", [np.nan]), "^s contains nan"),
        (lambda: checks.signs("s", [True]), "^s has dtype bool"),
        (lambda: checks.signs("s", ["+"]), "^s has dtype <U1"),
        (lambda: checks.signs("s", 1), r"^s has shape \(\)"),
        (lambda: checks.signs("s", np.ones((3, 0))), r"^s has shape \(3, 0\)"),
        (lambda: checks.vectors("q", [1.0, np.inf]), "^q contains NaN or infinite"),
        (lambda: checks.vectors("q", [1.0], 2), r"^q has shape \(1,\) but the dimension is 2"),
        (lambda: checks.vectors("q", 1.0), r"^q has shape \(\): give vectors \(…, d\)"),
        (
            lambda: machine.fits_in_memory("10 scores", 2**80, "pass fewer"),
            r"^10 scores need .* GiB of memory and .* GiB are available: pass fewer$",
        ),
    ],
)
def test_refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("check", [checks.step_count, checks.dimension])
@pytest.mark.parametrize("value", [2.0, "2", None])
def test_only_integers_count(check, value):
    with pytest.raises(ValueError, match=r"^k is .*: give an integer that is at least"):
        check("k", value)


def test_a_system_that_does_not_say_how_much_memory_it_has(monkeypatch):
    monkeypatch.setattr(machine.Path, "read_text", lambda *_, **__: "max")
    assert machine.available_memory() is None
    machine.fits_in_memory("scores", 2**80, "pass fewer")


def test_the_smaller_of_machine_and_container_counts(monkeypatch):
    said = {"meminfo": "MemAvailable: 8 kB", "memory.max": "5000", "memory.current": "1000"}
    monkeypatch.setattr(machine.Path, "read_text", lambda path, **_: said[path.name])
    assert machine.available_memory() == 4000
    said["memory.max"] = "max"
    assert machine.available_memory() == 8192


def test_annotations_are_checked_while_tests_run():
    first = annotations.checked(checks.step_count.__wrapped__)  # of whose calls none was made yet
    with pytest.raises(BeartypeCallHintViolation, match="step_count"):
        first(1, "k")
    with annotations.unchecked():
        checks.finite(1, True)


def test_a_table_is_a_file_of_some_size(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="is no file: give one with rows"):
        checks.table(tmp_path, ("rows",))
    large = tmp_path / "large.json"
    large.write_text("[0, 1]", encoding="utf-8")
    assert checks.table(large, ("rows",)) == {"rows": [0, 1]}
    monkeypatch.setattr(checks, "MOST_BYTES", 5)
    with pytest.raises(InputError, match="has more than 5 bytes"):
        checks.table(large, ("rows",))


@pytest.mark.parametrize("value", [None, 1, 0, "True", float("nan"), [True]])
def test_what_is_no_truth_is_refused(value):
    with pytest.raises(InputError, match="give True or False"):
        checks.truth("flag", value)
    assert checks.truth("flag", np.bool_(True)) is True


def test_lists_kinds_and_generators(unchecked):
    assert checks.listed("p", (1, 2)) == checks.listed("p", iter([1, 2])) == [1, 2]
    assert checks.instance("x", 3, int, "a whole number") == 3
    drawn = [checks.generator("rng", of).random() for of in (5, np.int64(5))]
    given = np.random.default_rng(5)
    assert checks.generator("rng", given) is given
    assert drawn == [given.random()] * 2
    assert checks.dimension("n", 4, 4) == checks.step_count("n", 4, 4) == 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: checks.listed("p", 3), "^p cannot be read from this int: give a list"),
        (lambda: checks.listed("p", torch.tensor(3)), "from this Tensor"),
        (
            lambda: checks.instance("x", "y", int, "a whole number"),
            "^x is 'y': give a whole number",
        ),
        (lambda: checks.generator("rng", True), "^rng is True: give a seed"),
        (lambda: checks.generator("rng", -1), "^rng is -1"),
        (lambda: checks.generator("rng", 1.5), "^rng is 1.5"),
        (lambda: checks.generator("rng", np.random), "^rng is <module"),
        (lambda: checks.dimension("n", 5, 4), "^n is 5: give at most 4"),
        (lambda: checks.dimension("n", 10**5000, 4), "thousands of digits: give at most 4"),
        (lambda: checks.step_count("n", 5, 4), "^n is 5: give at most 4"),
    ],
)
def test_what_is_no_list_kind_or_generator(call, message, unchecked):
    with pytest.raises(InputError, match=message):
        call()
