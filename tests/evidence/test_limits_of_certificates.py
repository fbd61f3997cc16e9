"""What has no certificate, or no answers to compare: one reason at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from refusals import rejects
from torch import nn

from constructions import conjunction, gradient_descent, scratchpad
from constructions.blocks import LayerNorm
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from tests.evidence.test_certified_scope import largest_of_all, repeating
from tests.evidence.test_checker_files import CHECKERS, STATED
from theory.kinds import InputError
from verify import certify, checker
from verify.claim import Run
from verify.evidence import certificates
from verify.evidence.certificates import Recursion, weights, write_certificate
from verify.evidence.function_of_tokens import Answers, lengths_up_to
from verify.evidence.statement import OverExamples
from verify.evidence.tables import by_table


class Ends(Tokens):
    """Answers at other tokens than those of the sequence, and tokens 0 behind it."""

    def __init__(self, skipped: int, behind: int, answers_behind: bool = True) -> None:
        super().__init__(2, 4, margin=1.0)
        self.skipped, self.behind, self.answers_behind = skipped, behind, answers_behind
        self.context += behind

    def ends(self, n: int) -> tuple[tuple[int, ...], slice]:
        most = None if self.answers_behind else n
        return (0,) * self.behind, slice(self.skipped, most)


def last(tokens: list[int]) -> int:
    return tokens[-1]


def test_the_last_answer_is_enough_for_a_causal_model_that_answers_at_every_token() -> None:
    assert certify(repeating(Ends(0, 0)), against=last).holds
    model = largest_of_all(3)
    assert not model.is_causal
    assert certify(model, against=lambda tokens: [max(tokens)] * len(tokens)).holds
    with rejects("against"):
        certify(model, against=max)


def test_the_last_answer_is_not_enough_for_a_causal_model_with_other_answers() -> None:
    model = repeating(Ends(0, 1))
    assert model.is_causal
    assert certify(model, against=lambda tokens: [*tokens, 0]).holds
    with rejects("against"):
        certify(model, against=last)


def table(model: Transformer, length: int) -> list[Any]:
    def answers(tokens: list[int]) -> Any:
        return model(np.array(tokens)).tolist()

    return [*by_table(model, Answers(model, answers), range(length, length + 1))]


def test_tables_are_about_all_sequences_and_the_last_tokens() -> None:
    assert table(repeating(Ends(0, 0)), 3)
    assert table(repeating(Ends(1, 0)), 3)
    assert repeating(Ends(0, 1, answers_behind=False))([1, 0, 1]).tolist() == [1, 0, 1]
    for model, length in (
        (scratchpad("parity", 2), 3),  # not all sequences
        (repeating(Ends(0, 1, answers_behind=False)), 3),  # a token behind, not answered
        (repeating(Ends(0, 1)), 3),  # the token behind is answered
        (conjunction(3, [0, 2]), 3),  # the answer is at the first token
    ):
        with rejects(model.name):
            table(model, length)


@pytest.mark.parametrize("name", ["norm", "ln1", "ln2", "ln_final", "scale"])
def test_weights_of_models_that_normalise_are_not_exact(name: str) -> None:
    model: Any = gradient_descent(2, 2, 0.125)
    assert weights(model)
    of = {"ln_final": model, "scale": model.blocks[1].attn}.get(name, model.blocks[1])
    setattr(of, name, 2.0 if name == "scale" else nn.LayerNorm(1))
    with rejects(model.name):
        weights(model)


@pytest.mark.parametrize("kind", CHECKERS)
def test_a_file_has_at_most_so_many_bytes(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, statements = tmp_path / "c.json", STATED[kind]()[:1]
    write_certificate(path, "some", statements)
    text, by = path.read_bytes(), CHECKERS[kind]
    monkeypatch.setattr(by, "MOST_BYTES", len(text))
    assert [*by.verified(text)]
    with pytest.raises(ValueError, match="bytes"):
        [*by.verified(text + b" ")]


def test_what_the_checkers_cannot_read_is_not_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, statements = tmp_path / "c.json", STATED["gaps"]()[:1]
    write_certificate(path, "some", statements)
    size = path.stat().st_size
    path.unlink()
    monkeypatch.setattr(checker, "MOST_BYTES", size - 1)
    with pytest.raises(InputError, match="bytes"):
        write_certificate(path, "some", statements)
    assert not path.exists()
    monkeypatch.setattr(checker, "MOST_BYTES", size)
    write_certificate(path, "some", statements)


@pytest.mark.parametrize(
    ("of", "longest", "fits"),
    [
        (Tokens(1, 2**18), 2**18, None),
        (Tokens(1, 2**18 + 1), 2**18, f"max_length={2**18}"),
        (Tokens(2, 17), 17, None),
        (Tokens(2, 18), 17, "max_length=17"),
        (Tokens(2, 10**6), 17, "max_length=17"),
        (Tokens(4, 9, least=9), 9, None),
        (Tokens(4, 300, least=9), 9, "max_length=9"),
        (Tokens(4, 300, least=8), 8, "max_length=8"),
        (Tokens(2, 18, length=18), 18, None),
        (Tokens(2, 19, length=19), None, "symbols"),
        (Tokens(2, 10**4, length=10**4), None, "symbols"),
        (Tokens(9, 40, slots=[range(3, 5), range(9)] + [range(1)] * 38), 40, None),
        (Tokens(9, 40, slots=[range(3, 5), range(9)] * 20), 8, "max_length=8"),
    ],
)
def test_the_sequences_of_all_lengths_are_counted(
    of: Tokens, longest: int | None, fits: str | None
) -> None:
    first = of.length or of.least
    if longest is not None:
        assert lengths_up_to(of, longest) == range(first, longest + 1)
    if fits is None:
        assert lengths_up_to(of, None) == range(first, of.max_length + 1)
    else:
        with rejects("max_length", fits):
            lengths_up_to(of, None)
    for wrong in (first - 1, of.max_length + 1):
        with rejects("max_length", f"{wrong}"):
            lengths_up_to(of, wrong)


OTHER_VALUES: dict[str, Any] = {
    "a list": [1],
    "a list of more": [1] * 9,
    "nothing": None,
    "a truth value": True,
    "an array of arrays": [[0]],
    "a float": 1.0,
}


@pytest.mark.parametrize("what", OTHER_VALUES)
@pytest.mark.parametrize("listed", [False, True])
def test_the_function_is_checked_on_the_last_sequence_too(what: str, listed: bool) -> None:
    model = repeating(Tokens(2, 8, margin=1.0))
    ones = [1] * 8

    def against(tokens: list[int]) -> Any:
        right = tokens if listed else tokens[-1]
        return OTHER_VALUES[what] if tokens == ones else right

    with rejects("against"):
        Answers(model, against)(np.array([*np.ndindex((2,) * 8)]))
    answers = Answers(model, lambda tokens: tokens if listed else tokens[-1])
    rows = np.array([*np.ndindex((2,) * 8)])
    assert (answers(rows) == rows).all()


def test_a_layer_norm_is_not_rational_and_one_logit_has_no_margin() -> None:
    def ids(model: Transformer) -> list[str]:
        found = certify(model, against=last)
        assert found.holds
        return [each.id for each in found.findings]

    assert ids(repeating(Tokens(2, 3, margin=1.0))) == ["answers", "rational", "margin"]
    assert ids(repeating(Tokens(1, 3, margin=1.0))) == ["answers", "rational"]
    model = repeating(Tokens(2, 3, margin=1.0))
    model.ln_final = LayerNorm(2)
    assert ids(model) == ["answers"]


@pytest.mark.parametrize(
    ("d", "steps", "statements"), [(1, 2, 1), (1, 10, 1), (2, 2, 2), (2, 10, 1)]
)
def test_all_inputs_of_a_size_are_left_out_beside_the_formula_only(
    d: int, steps: int, statements: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """2^10 powers of the residual are too many, if there is a statement on the formula."""
    stated: list[Any] = []
    monkeypatch.setattr(Run, "certify", lambda _, state: stated.append(state))
    of = OverExamples(lambda *_: gradient_descent(2, 2, 0.125), lambda *_: None, formula=True)
    certificates.certify(Run(), of.at(d, 3, 1), Recursion("Newton", steps, 0.25))
    assert len(stated) == statements
