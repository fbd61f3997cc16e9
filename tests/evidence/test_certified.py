"""`certify`: a model compared with a function, its findings and its certificates."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import (
    adder,
    gradient_descent,
    induction_heads,
    linear_adder,
    majority,
    modern_hopfield_update,
    modular_addition,
)
from constructions import newton as newton_model
from constructions.margins import Margin
from constructions.programs import chomsky_task
from tests.evidence.own_models import (
    distinct,
    distinct_model,
    earlier,
    earlier_model,
    largest_model,
)
from theory import machine, waiting
from verify import Certified, certify, checker, formula_checker
from verify.evidence import function_of_tokens
from verify.finding import Verdict

ROOT = Path(__file__).parents[2]


def verdicts(found: Certified) -> dict[str, str]:
    return {finding.id: str(finding.verdict) for finding in found}


def checks(by: Any, path: Path) -> int:
    """The exit code of a checker, as a file alone."""
    command = [sys.executable, "-I", "-S", str(by.__file__), str(path)]
    return subprocess.run(command, capture_output=True, check=False).returncode


def descent(of: Any, X: Any, y: Any, Q: Any) -> Any:
    """Two steps of gradient descent with step size 1/8, as a polynomial in S."""
    S, b, eta = X.transpose() * X, X.transpose() * y, of.number(1, 8)
    return Q * (of.number(2) * eta * b - eta * eta * (S * b))


# Models over tokens


def test_a_model_with_the_answers_of_the_function_holds() -> None:
    found = certify(earlier_model(2, 5), against=earlier)
    ids = ("answers", "rational", "margin", "gaps", "softmax", "registers")
    assert verdicts(found) == dict.fromkeys(ids, "holds")
    assert found.holds
    kinds = {finding.id: finding.evidence for finding in found}
    assert (kinds["answers"], kinds["rational"], kinds["softmax"]) == ("exact", "exact", "float")


def test_a_list_of_all_answers_is_the_same() -> None:
    def all_of(tokens: list[int]) -> list[int]:
        return [earlier(tokens[: t + 1]) for t in range(len(tokens))]

    assert verdicts(certify(earlier_model(2, 4), against=all_of)) == verdicts(
        certify(earlier_model(2, 4), against=earlier)
    )


def test_arrays_and_tensors_are_answers_too() -> None:
    model = induction_heads(2, 3)
    wanted = {tuple(row): model(row).tolist() for row in np.ndindex(2, 2, 2)}
    for make in (np.array, torch.tensor, tuple):
        found = certify(model, against=lambda t, m=make: m(model(t).tolist()), max_length=3)
        assert found.holds
    assert wanted


@pytest.mark.parametrize("wrong", [[0, 0, 0, 0, 0], [1, 0, 1, 1, 0], [1, 1, 1, 1, 1]])
def test_one_wrong_answer_at_the_longest_length_fails(wrong: list[int]) -> None:
    def almost(tokens: list[int]) -> int:
        return earlier(tokens) if tokens != wrong else (earlier(tokens) + 1) % 5

    found = certify(earlier_model(2, 5), against=almost)
    assert verdicts(found) == {"answers": "fails"}
    assert str(wrong) in found.findings[0].detail
    assert str(wrong) in str(found)
    assert certify(earlier_model(2, 5), against=almost, max_length=4).holds


def test_a_wrong_weight_fails() -> None:
    model = earlier_model(2, 4)
    with torch.no_grad():
        model.blocks[0].attn.W_Q[0, 0, 0] = 1.0  # type: ignore[union-attr]
    found = certify(model, against=earlier)
    assert found.findings[0].verdict is Verdict.FAILS
    assert "layer 1" in found.findings[0].detail


def test_a_gap_larger_than_that_of_the_scores_fails() -> None:
    found = certify(earlier_model(2, 4, gap=2.0), against=earlier)
    assert verdicts(found)["gaps"] == "fails"
    assert not found.holds


@pytest.mark.parametrize(
    ("ties", "graded", "max_length", "word"),
    [
        (True, False, 6, ""),
        (True, True, 5, ""),  # at most 4 tokens are below the largest
        (True, True, 6, "graded=False"),  # 5 tokens 0 after a token 1
        (False, False, 2, "ties=True"),
    ],
)
def test_ties_and_graded_scores_are_declared(
    ties: bool, graded: bool, max_length: int, word: str
) -> None:
    model = largest_model(2, max_length, Margin(1.0, graded, ties))
    gaps = next(each for each in certify(model, against=max) if each.id == "gaps")
    assert (gaps.verdict is Verdict.HOLDS) == (not word)
    assert word in gaps.detail


def test_a_margin_larger_than_that_of_the_logits_fails() -> None:
    model = earlier_model(2, 4)
    model.interface.margin = 0.75
    assert verdicts(certify(model, against=earlier))["margin"] == "fails"


def test_a_wrong_layer_invariant_fails() -> None:
    model = earlier_model(2, 3)
    (stage,) = model.stages
    model.stages = (type(stage)(1, "answer", lambda tokens: stage.holds(tokens[..., ::-1])),)
    found = certify(model, against=earlier)
    assert verdicts(found) == verdicts(certify(earlier_model(2, 3), against=earlier)) | {
        "registers": "fails"
    }


def test_sizes_are_compared() -> None:
    model = distinct_model(3, 3)
    assert certify(model, against=distinct, layers=2, heads=1, width=model.d_model).holds
    for wrong in ({"layers": 1}, {"heads": 2}, {"width": 5}):
        found = certify(model, against=distinct, **wrong)
        assert [each.id for each in found if each.verdict is Verdict.FAILS] == ["size"]


def test_a_model_with_softmax_has_answers_in_float64(tmp_path: Path) -> None:
    found = certify(earlier_model(2, 4).sharpened(8.0), against=earlier)
    assert [(each.id, each.evidence, found.holds) for each in found] == [("answers", "float", True)]
    with rejects("softmax"):
        found.write(tmp_path / "c.json")


def test_averages_are_not_exact_in_float64() -> None:
    model = majority(3)
    found = certify(model, against=lambda tokens: model(tokens).tolist())
    assert found.findings[0].evidence == "float"


@pytest.mark.parametrize(
    ("task", "against"),
    [
        ("parity check", lambda tokens: sum(tokens) % 2),
        ("reverse string", lambda tokens: tokens[::-1]),
        ("duplicate string", lambda tokens: tokens + tokens),
    ],
)
def test_registers_are_compared_at_the_answers(task: str, against: Any) -> None:
    """Their definitions are also about the tokens before the answers."""
    model = chomsky_task(task, 3)
    assert verdicts(certify(model, against=against))["registers"] == "holds"


def test_a_register_that_differs_names_its_token() -> None:
    model = chomsky_task("reverse string", 2)
    *stages, last = model.stages

    def other(tokens: np.ndarray) -> np.ndarray:
        found = last.holds(tokens).astype(float)
        found[..., 3:, :] += 1
        return found

    model.stages = (*stages, replace(last, holds=other))
    (wrong,) = (each for each in certify(model, against=lambda tokens: tokens[::-1]) if each.detail)
    assert wrong.id == "registers"
    assert "token 4 of" in wrong.detail


@pytest.mark.parametrize(
    ("model", "against"),
    [
        (adder(4), sum),
        (linear_adder(4), sum),
        (modular_addition(3), lambda tokens: sum(tokens) % 3),
    ],
)
def test_an_adder_has_its_answer_at_the_token_behind(model: Any, against: Any) -> None:
    found = certify(model, against=against)
    assert found.holds
    assert {"answers", "rational", "margin", "registers"} <= verdicts(found).keys()
    assert certify(model, against=lambda tokens: [against(tokens)]).holds
    wrong = certify(model, against=lambda tokens: against(tokens) + (tokens == [2, 1]))
    assert verdicts(wrong) == {"answers": "fails"}
    assert "[2, 1]" in wrong.findings[0].detail


# Certificates


@pytest.mark.parametrize(
    ("model", "against"), [(earlier_model(2, 4), earlier), (distinct_model(3, 3), distinct)]
)
def test_the_checker_accepts_the_certificate(model: Any, against: Any, tmp_path: Path) -> None:
    path = tmp_path / "c.json"
    text = certify(model, against=against).write(path)
    assert "verify/checker.py" in text
    assert checks(checker, path) == 0
    ((one,),) = [json.loads(path.read_text())["certificates"]]
    table = one["statement"]["table"]
    for place in ((0, 0), (-1, -1), (len(table) // 2, 1)):
        changed = json.loads(path.read_text())
        row = changed["certificates"][0]["statement"]["table"][place[0]]
        row[place[1]] = (row[place[1]] + 1) % 3
        (tmp_path / "wrong.json").write_text(json.dumps(changed))
        assert checks(checker, tmp_path / "wrong.json") == 1


def statement(tmp_path: Path) -> dict[str, Any]:
    certify(distinct_model(2, 2), against=distinct).write(tmp_path / "c.json")
    made: dict[str, Any] = json.loads((tmp_path / "c.json").read_text())
    return made["certificates"][0]["statement"]  # type: ignore[no-any-return]


@pytest.mark.parametrize(
    "table",
    [
        [],
        [[1, 1], [1, 2], [1, 2]],
        [[1, 1], [1, 2], [1, 2], [1, 1], [1, 1]],
        [[1, 1], [1, 2], [1, 2], []],
        [[1, 1], [1, 2], [1, 2], [1, 1, 1]],
        [[1, 1], [1, 2], [1, 2], [1, 3]],
        [[1, 1], [1, 2], [1, 2], [1, -2]],
        [[1, 1], [1, 2], [1, 2], [1, True]],
        [[1, 1], [1, 2], [1, 2], [1, "1"]],
        [[1, 1], [1, 2], [1, 2], 1],
        [[1, 1], [1, 2], [1, 2], [1, 2]],
        [[1, 1], [1, 1], [1, 2], [1, 1]],
        [[2], [2], [2], [2]],
    ],
)
def test_another_table_is_rejected(table: list[Any], tmp_path: Path) -> None:
    right = statement(tmp_path)
    checker.computed(right)
    assert right["table"] == [[1, 1], [1, 2], [1, 2], [1, 1]]
    with pytest.raises(ArithmeticError):
        checker.computed(right | {"table": table})


def test_a_table_may_have_the_last_answers_only(tmp_path: Path) -> None:
    checker.computed(statement(tmp_path) | {"table": [[1], [2], [2], [1]]})


def test_no_certificate_without_evidence(tmp_path: Path) -> None:
    found = certify(earlier_model(2, 3), against=lambda tokens: 0)
    with rejects("answers", "fails"):
        found.write(tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()
    with rejects("path", "None"):
        certify(earlier_model(2, 3), against=earlier).write(None)


def test_a_table_that_is_too_large_for_the_checker_is_rejected(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = certify(earlier_model(2, 3), against=earlier)
    monkeypatch.setattr(checker, "MOST_WORK", 1000)
    with rejects("smaller"):
        found.write(tmp_path / "c.json")
    assert not (tmp_path / "c.json").exists()


# Models over examples


def test_a_model_over_examples_has_the_formula_of_the_function(tmp_path: Path) -> None:
    found = certify(gradient_descent(2, 2, 0.125), against=descent, n=3, layers=2)
    ids = ("formula", "modular", "rational", "registers", "size")
    assert verdicts(found) == dict.fromkeys(ids, "holds")
    text = found.write(tmp_path / "c.json")
    assert "formula_checker.py" in text
    assert checks(formula_checker, tmp_path / "c.json") == 0
    made = json.loads((tmp_path / "c.json").read_text())
    said = made["formulas"][0]["statement"]
    assert said["coefficients"] == ["1/4", "-1/64"]
    for coefficients in (["1/4"], ["1/4", "-1/64", "1/2"], ["1/4", "-1/32"], ["0", "-1/64"], []):
        with pytest.raises(ArithmeticError):
            formula_checker.computed(said | {"coefficients": coefficients})
    formula_checker.computed(said | {"coefficients": ["1/4", "-1/64", "0"]})


@pytest.mark.parametrize("wrong", [["1/3"], ["0.25", "-1/64"], [0.25], "1/4", [["1/4"]], None])
def test_coefficients_of_another_form_are_rejected(wrong: Any, tmp_path: Path) -> None:
    certify(gradient_descent(2, 2, 0.125), against=descent).write(tmp_path / "c.json")
    said = json.loads((tmp_path / "c.json").read_text())["formulas"][0]["statement"]
    with pytest.raises(ArithmeticError):
        formula_checker.computed(said | {"coefficients": wrong})
    with pytest.raises(ArithmeticError):
        formula_checker.computed(said | {"steps": 2})


def test_another_function_of_examples_fails() -> None:
    found = certify(
        gradient_descent(2, 2, 0.125),
        against=lambda of, X, y, Q: (
            descent(of, X, y, Q) + of.number(1, 2**40) * (Q * X.transpose() * y)
        ),
    )
    wrong = {each.id for each in found if each.verdict is Verdict.FAILS}
    assert wrong == {"formula", "modular", "rational"}
    assert "smallest instance" in str(found)


@pytest.mark.parametrize(
    "against",
    [
        lambda of, X, y, Q: Q * (X.transpose() * y) * of.number(1, 2),
        lambda of, X, y, Q: -(of.number(-1, 2) * (Q * (X.transpose() * y))),
        lambda of, X, y, Q: -of.number(-1, 2) * (Q * (of.number(0) * X - -X).transpose() * y),
    ],
)
def test_numbers_on_either_side_and_negatives(against: Any) -> None:
    found = certify(gradient_descent(2, 1, 0.5), against=against)
    assert found.holds
    assert not certify(gradient_descent(2, 1, 0.25), against=against).holds


def test_a_plain_number_is_rejected_with_what_to_write() -> None:
    with rejects("of.number"):
        certify(
            gradient_descent(2, 1, 0.5), against=lambda of, X, y, Q: 2 * (Q * X.transpose() * y)
        )


def test_models_without_a_formula_have_the_other_evidence(tmp_path: Path) -> None:
    for model in (gradient_descent(1, 2, 0.125), gradient_descent(2, 2, 0.125, causal=True)):
        prefixes = model.interface.every_prefix

        def against(of: Any, X: Any, y: Any, Q: Any, prefixes: bool = prefixes) -> Any:
            if not prefixes:
                return descent(of, X, y, Q)
            rows, labels = [*X.tolist(), *Q.tolist()], y.tolist()
            zero = [[of.number(0)]]
            parts = [
                descent(of, of.matrix(rows[:t]), of.matrix(labels[:t]), of.matrix([rows[t]]))
                for t in range(1, len(rows))
            ]
            return of.matrix([*zero, *(part.tolist()[0] for part in parts)])

        found = certify(model, against=against, n=3)
        assert {*verdicts(found)} == {"modular", "rational", "registers"}
        assert found.holds
        reason = "(x_q, 0)" if prefixes else "d ≥ 2"
        with rejects("formula", reason):
            found.write(tmp_path / "c.json")


# Long runs


def test_a_long_run_is_announced(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The estimate for 10⁶ examples is from 10⁴: 200 s took 114 s by the estimate."""
    tokens, examples = earlier_model(2, 5), gradient_descent(2, 2, 0.125)
    certify(tokens, against=earlier)
    certify(examples, against=descent, n=300)
    assert capsys.readouterr().err == ""
    for name in ("MEASURED", "LONG"):
        monkeypatch.setattr(waiting, name, 0.0)
    certify(tokens, against=earlier)
    sequences, _ = capsys.readouterr().err.splitlines()
    assert str(sum(2**n for n in range(1, 6))) in sequences
    certify(examples, against=descent, n=300)
    (line,) = capsys.readouterr().err.splitlines()
    assert "300" in line


@pytest.mark.parametrize("causal", [False, True])
def test_too_many_examples_for_the_memory_are_rejected(
    causal: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "available_memory", lambda: 10**8)
    with rejects("n", "memory"):
        certify(gradient_descent(2, 2, 0.125, causal=causal), against=descent, n=10**9)
    with rejects("n", "memory"):
        n = 10**5 if not causal else 10**3
        certify(gradient_descent(2, 2, 0.125, causal=causal), against=descent, n=n)


# Wrong input


def test_the_function_is_a_function() -> None:
    with rejects("against", "3"):
        certify(earlier_model(2, 3), against=3)  # type: ignore[arg-type]
    with rejects("model"):
        certify(lambda tokens: 0, against=earlier)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("against", "names"),
    [
        (lambda tokens: 1 / 0, ("ZeroDivisionError",)),
        (lambda tokens: tokens[3], ("IndexError",)),
        (lambda: 0, ("TypeError",)),
        (lambda tokens: None, ("None",)),
        (lambda tokens: True, ("True",)),
        (lambda tokens: 1.0, ("1.0",)),
        (lambda tokens: "1", ()),
        (lambda tokens: [0.5] * len(tokens), ("0.5",)),
        (lambda tokens: tokens[1:], ("0 answers",)),
        (lambda tokens: [0, *tokens], ("2 answers",)),
        (lambda tokens: -1 if len(tokens) == 1 else tokens, ()),
        (lambda tokens: [-1] if len(tokens) == 1 else 0, ()),
        (lambda tokens: 2**63, ("64",)),
        (lambda tokens: [-(2**63) - 1] * len(tokens), ("64",)),
        (lambda tokens: np.uint64(2**63), ("64",)),
        (lambda tokens: np.zeros((1, len(tokens))), ()),
        (lambda tokens: torch.zeros(len(tokens), device="meta"), ()),
        (lambda tokens: torch.zeros(len(tokens)).to_sparse(), ()),
    ],
)
def test_other_values_of_the_function_are_rejected(against: Any, names: tuple[str, ...]) -> None:
    with rejects("against", *names):
        certify(earlier_model(2, 3), against=against)


def test_the_function_may_change_its_list() -> None:
    def changes(tokens: list[int]) -> int:
        found = earlier(tokens)
        tokens.clear()
        return found

    assert certify(earlier_model(2, 3), against=changes).holds


def test_too_many_sequences_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    model = earlier_model(4, 12)
    with rejects("max_length", "12", str(sum(4**n for n in range(1, 13))), "max_length=8"):
        certify(model, against=earlier)
    with rejects("max_length", "13"):
        certify(model, against=earlier, max_length=13)
    monkeypatch.setattr(function_of_tokens, "MOST_SEQUENCES", 3)
    with rejects("symbols", "20"):
        certify(earlier_model(4, 2), against=earlier)


def test_models_in_bfloat16_are_certified(tmp_path: Path) -> None:
    """Tensors in this dtype are read although numpy lacks it."""
    cases: tuple[tuple[Any, Any, Any], ...] = (
        (earlier_model(2, 3), earlier, checker),
        (gradient_descent(2, 2, 0.125), descent, formula_checker),
    )
    for model, function, by in cases:
        found = certify(model.to(torch.bfloat16), against=function)
        assert found.holds
        found.write(tmp_path / "c.json")
        assert checks(by, tmp_path / "c.json") == 0


def test_logits_are_those_in_the_dtype_of_the_model() -> None:
    for dtype in (torch.float32, torch.float64):
        found = certify(earlier_model(2, 3).to(dtype), against=earlier)
        words = next(each.words for each in found if each.id == "rational")
        assert f"the {dtype} logits".replace("torch.", "") in words


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["embed.W_E", "pos_embed.W_pos", "blocks.1.attn.b_K"])
def test_weights_without_numbers_are_rejected(name: str) -> None:
    model = induction_heads(2, 3)
    with torch.no_grad():
        dict(model.named_parameters())[name].fill_(torch.nan)
    with rejects(name):
        certify(model, against=earlier)
    with rejects("embed.W_E", "meta"):
        certify(induction_heads(2, 3).to("meta"), against=earlier)


@pytest.mark.parametrize("value", [0, -1, 1.5, "3", True])
@pytest.mark.parametrize("name", ["max_length", "n", "width"])
def test_numbers_are_counts(name: str, value: Any) -> None:
    with rejects(name):
        certify(earlier_model(2, 3), against=earlier, **{name: value})


def test_arguments_without_effect_are_rejected() -> None:
    with rejects("n", "max_length"):
        certify(earlier_model(2, 3), against=earlier, n=3)
    with rejects("max_length", "n"):
        certify(gradient_descent(2, 2, 0.125), against=descent, max_length=3)
    with rejects("n", "5"):
        model = newton_model(2, 1, 0.25, layout="paper", n=3)
        certify(model, against=descent, n=5)
    with rejects("model"):
        certify(modern_hopfield_update(np.eye(2), 1.0), against=descent)


@pytest.mark.parametrize(
    "against",
    [
        lambda of, X, y, Q: 1 / 0,
        lambda X, y, Q: Q,
        lambda of, X, y, Q: None,
        lambda of, X, y, Q: 0.5,
        lambda of, X, y, Q: X,
        lambda of, X, y, Q: Q,
        lambda of, X, y, Q: y.transpose(),
        lambda of, X, y, Q: np.linalg.inv(X),
    ],
)
def test_other_functions_of_examples_are_rejected(against: Any) -> None:
    with rejects("against"):
        certify(gradient_descent(2, 2, 0.125), against=against)


def test_the_list_of_claims_does_not_import_torch() -> None:
    code = "import sys, verify.ledger.written; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
    with pytest.raises(ImportError):
        from verify import nothing  # type: ignore[attr-defined]  # noqa: F401
