"""What does not fit in memory, and what a table in a file may be."""

import json

import annotations
import numpy as np
import pytest
from beartype.roar import BeartypeCallHintViolation
from refusals import check_line, rejects

from constructions.computation import gridworld_walk
from constructions.decoding import PrunedDecoder
from constructions.retrieval import induction_heads
from theory import computation, json_table, machine
from theory.kinds import InputError


def test_what_does_not_fit_in_memory():
    machine.fits_in_memory("scores", 0, "pass fewer")
    with rejects("10 scores", "1.13e+15 GiB", "pass fewer"):
        machine.fits_in_memory("10 scores", 2**80, "pass fewer")


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: computation.gridworld(10**12), ["steps is 1000000000000"]),
        (lambda: computation.tree_sum(10**12, s=2), ["n_machines is 1000000000000", "s is 2"]),
        (lambda: computation.adder(10**12), ["n_bits is 1000000000000"]),
        (
            lambda: computation.window_sums(np.ones((3, 50), int), 2),
            ["x has shape (3, 50)", "width is 2"],
        ),
        (lambda: computation.benchmark_automaton("parity"), ["automaton is 'parity'"]),
        (lambda: gridworld_walk(10**12, 3), ["steps is 1000000000000", "max_length is 3"]),
    ],
)
def test_a_refusal_for_memory_names_what_the_caller_gave(call, names, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 10)
    with pytest.raises(InputError) as refused:
        call()
    check_line(str(refused.value), "GiB")
    assert str(refused.value).endswith(f" ({', '.join(names)})")


def test_so_does_that_of_a_decoder(monkeypatch):
    model = induction_heads(5, 10**4)
    monkeypatch.setattr(machine, "available_memory", lambda: 10)
    with rejects("GiB", "context is 10000"):
        model.decoder([], 10**4)
    with rejects("GiB", "context is 10000"):
        PrunedDecoder(model, 10**4)


def test_what_just_fits_in_memory(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 5)
    machine.fits_in_memory("scores", 5, "pass fewer")
    with rejects("scores"):
        machine.fits_in_memory("scores", 6, "pass fewer")


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


@pytest.mark.parametrize(("limit", "left"), [(5000, 5000), (0, 0), (-1, 0), (10**5, 8192)])
def test_the_limit_of_the_process_counts(limit, left, monkeypatch):
    resource = pytest.importorskip("resource")
    in_use = 3 * resource.getpagesize()
    said = {"meminfo": "MemAvailable: 8 kB", "memory.max": "max", "statm": "3 2 1"}
    monkeypatch.setattr(machine.Path, "read_text", lambda path, **_: said.get(path.name, "0"))
    monkeypatch.setattr(resource, "getrlimit", lambda _: (in_use + limit, in_use + limit))
    assert machine.available_memory() == left


def test_annotations_are_checked_while_tests_run():
    # a function of whose calls none was made yet
    first = annotations.checked(machine.fits_in_memory.__wrapped__)
    with pytest.raises(BeartypeCallHintViolation, match="fits_in_memory"):
        first(1, 0, "")
    with annotations.unchecked():
        machine.fits_in_memory(1, 0, "")


def test_a_table_is_a_file_of_some_size(tmp_path, monkeypatch):
    with rejects(str(tmp_path)):
        json_table.json_table(tmp_path, ("rows",))
    large = tmp_path / "large.json"
    large.write_text("[0, 1]", encoding="utf-8")
    assert json_table.json_table(large, ("rows",)) == {"rows": [0, 1]}
    monkeypatch.setattr(json_table, "MOST_BYTES", 5)
    with rejects("large.json", "5 bytes"):
        json_table.json_table(large, ("rows",))


@pytest.mark.parametrize(("name", "fits"), [("a" * 60, True), ("a" * 61, False), ("a\n", False)])
def test_the_name_in_a_table_is_short(name, fits, tmp_path):
    table = tmp_path / "table.json"
    table.write_text(json.dumps({"rows": [], "name": name}), encoding="utf-8")
    if fits:
        assert json_table.json_table(table, ("rows", "name"))["name"] == name
    else:
        with rejects("name", "table.json"):
            json_table.json_table(table, ("rows", "name"))
