"""Both sides of limits within claims; large ones are lowered to what a small call needs."""

from importlib import import_module
from importlib.metadata import EntryPoint
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from refusals import rejects

from constructions import (
    connected_components,
    nearest_neighbour,
    newton,
    online_gradient_descent,
)
from constructions.transformer import Transformer
from tests.evidence.own_models import earlier, earlier_model
from theory.computation import components, shuffled_path
from theory.kinds import InputError
from verify import certify
from verify.claim import Run
from verify.evidence import identity
from verify.evidence.function_of_examples import case_of
from verify.evidence.statement import OverExamples
from verify.ledger.build import parameters_of
from verify.ledger.claims import installed, loaded
from verify.programs import chomsky
from verify.programs.program import Case
from verify.regression.statements import descent_statement, layouts_of

QUICK = Run(quick=True)


def first(name: str, **options: Any) -> Any:
    claim = loaded(installed()[name])
    return next(iter(claim.findings(QUICK, **{**claim.defaults, **options})))


def scratchpad() -> Any:
    return first("scratchpad", automaton="A5", length=2)


def local() -> Any:
    from verify.computation.pram import works_locally

    return works_locally(connected_components(2, 1, 1), components(2, 1))


def picture() -> Any:
    from verify.computation.components_picture import draw

    return draw(connected_components(5, 4, 1), shuffled_path(5, 0))


CASE = descent_statement(QUICK, "direct", 0.125).at(2, 3, 2)  # of degree 5, in 11 variables
LIMITS = {
    "rules": ("verify.computation.scratchpad", "MOST_RULES", 5 * 2, scratchpad, "states"),
    "states": ("verify.computation.pram", "MOST_STATES", 4**6 * 2, local, "registers"),
    "nodes": ("verify.computation.components_picture", "MOST", 5, picture, "nodes"),
    "sequences": (
        *("verify.evidence.function_of_tokens", "MOST_SEQUENCES", 2 + 4 + 8),
        *(lambda: certify(earlier_model(2, 3), against=earlier), "max_length"),
    ),
    "rationals": (
        *("verify.evidence.identity", "MOST_EXACT", 2 * 3 * 5),
        *(lambda: [identity.equality(QUICK, CASE, "exact")], "k"),
    ),
    "terms": (
        *("verify.evidence.identity", "MOST_TERMS", 4368),  # 11 + 5 choose 5
        *(lambda: [identity.equality(QUICK, CASE, "symbolic")], "k"),
    ),
}


@pytest.mark.parametrize("name", LIMITS)
def test_as_much_as_the_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    module, constant, value, call, word = LIMITS[name]
    monkeypatch.setattr(import_module(module), constant, value)
    assert call()
    monkeypatch.setattr(import_module(module), constant, value - 1)
    with rejects(word):
        call()


def test_the_most_pairs_of_relu_attention() -> None:
    assert layouts_of("paper", "gram", 5e6) == ["paper"]
    assert layouts_of("direct", "gram", 5e6, interleaved=True) == ["direct"]
    for layout, interleaved in (("paper", False), ("direct", True)):
        with rejects("prompts"):
            layouts_of(layout, "gram", 5e6 + 1, interleaved)


def test_hardmax_is_not_run_modulo_primes() -> None:
    statement = OverExamples(
        lambda d, n, k: nearest_neighbour(d), lambda of, X, y, Q, k: Q, polynomial=False
    )
    with pytest.raises(InputError):
        identity.modulo_primes(QUICK, statement.at(2, 3, 0))


def test_parameters_have_a_name_and_at_most_18_digits() -> None:
    assert parameters_of(["k=" + 18 * "9", "d=-" + 17 * "9"]) == {"k": 10**18 - 1, "d": 1 - 10**17}
    for wrong in ("k=" + 19 * "9", "=5", "k=", "k"):
        with rejects("--at"):
            parameters_of([wrong])


def test_numbers_that_are_not_given() -> None:
    claim = loaded(installed()["program"])
    claim.check_options({"samples": None})
    for wrong in ({"max_length": None}, {"max_length": "3"}, {"samples": "3"}):
        with rejects(*wrong):
            claim.check_options(dict(wrong))


def test_a_claim_of_this_package_that_is_broken_raises_its_own_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    point = EntryPoint("new", "verify.no_such_module:new", "weightwright.claims")
    for ours, error in ((True, ModuleNotFoundError), (False, InputError)):
        monkeypatch.setattr("verify.ledger.claims.plugins.is_ours", lambda point, ours=ours: ours)
        with pytest.raises(error):
            loaded(point)


def test_answers_are_compared_on_some_inputs() -> None:
    own: Any = SimpleNamespace(sop="mine")
    with rejects("mine", "vocabulary"):
        Case.answers(own, "a", "short sequences", [np.zeros((0, 2), dtype=int)])
    model = earlier_model(2, 2)
    with rejects("max_length"):
        chomsky._right("a", "short inputs", "even pairs", model, lambda *_: [], [[], []])


def test_programs_of_files_need_a_vocabulary(tmp_path: Any) -> None:
    file = tmp_path / "own.py"
    file.write_text("from theory.programs import tokens as mine")
    assert first("program", program=f"{file}:mine", vocabulary="ab", max_length=2)
    with rejects("mine", "vocabulary"):
        first("program", program=f"{file}:mine", max_length=2)


def test_the_most_mutants_of_one_run(monkeypatch: pytest.MonkeyPatch) -> None:
    commands = import_module("verify.selftest.commands")
    monkeypatch.setattr(commands, "random_entries", lambda *_: [])

    def run(count: int) -> None:
        commands.check_entries(["newton"], count, 0, "", True, lambda entries, _: entries)

    run(10**6)
    with rejects("--random"):
        run(10**6 + 1)


@pytest.mark.parametrize(
    ("model", "accepted"),
    [
        (newton(2, 1, 0.0625, "paper", n=3), {None: 3, 3: 3}),
        (online_gradient_descent(2, 3), {None: 3, 1: 1, 2: 2, 3: 3}),
    ],
)
def test_numbers_of_examples_for_which_weights_are(
    model: Transformer, accepted: dict[int | None, int]
) -> None:
    def against(of: Any, X: Any, y: Any, Q: Any) -> Any:
        return Q

    assert {n: case_of(model, against, n).n for n in accepted} == accepted
    for n in {1, 2, 4, 5} - accepted.keys():
        with rejects("n"):
            case_of(model, against, n)
