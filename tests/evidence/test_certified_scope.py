"""What the findings of `certify` are about: this model, its dtype, these lengths, this number n."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import gradient_descent
from constructions.assembly import Head, block, rows
from constructions.blocks import Embed, Unembed
from constructions.margins import Margin
from constructions.stream import Stream, one
from constructions.tokens import Tokens, decode
from constructions.transformer import Transformer
from tests.evidence.own_models import earlier, earlier_model
from tests.evidence.test_certified import checks, descent, verdicts
from verify import certify, checker


def largest_of_all(max_length: int) -> Transformer:
    """The largest of three symbols in a sequence, at every token, without a causal mask."""
    values = np.arange(3.0)
    stream = Stream(token=1, answer=1)
    token, answer = stream.read("token"), stream.read("answer")
    head = Head(one, token, token, "answer", margin=Margin(1.0, graded=False, ties=True))
    return Transformer(
        Embed(rows(stream, token=values)),
        [block(stream, [head], normalise="hardmax", mask="full")],
        decode(stream, answer, 2 * values[:, None], bias=-(values**2)),
        interface=Tokens(3, max_length, margin=1.0),
        stream=stream,
        source="tests",
    )


def counting(base: float, at_most: dict[str, float] | None = None) -> Transformer:
    """Whether there is a 1: the logits are base, and base plus the number of them."""
    stream = Stream(token=1, count=1)
    counted = Head(one, one, stream.read("token"), "count")
    return Transformer(
        Embed(torch.tensor([[0.0, 0.0], [1.0, 0.0]], dtype=torch.float64)),
        [block(stream, [counted], normalise="linear", mask="causal")],
        Unembed(
            torch.tensor([[0.0, 0.0], [0.0, 1.0]], dtype=torch.float64),
            torch.tensor([base, base], dtype=torch.float64),
        ),
        interface=Tokens(2, 2),
        stream=stream,
        at_most=at_most,
        source="tests",
    )


def repeating(interface: Tokens) -> Transformer:
    """Outputs the current token."""
    V = interface.vocabulary_size
    codes = torch.eye(V, dtype=torch.float64)
    return Transformer(
        Embed(codes), [], Unembed(codes, None), interface=interface, stream=Stream(token=V),
        source="tests",
    )  # fmt: skip


def attn(model: Transformer) -> Any:
    return model.blocks[0].attn


CHANGES: dict[str, Callable[[Transformer], Any]] = {
    "a weight": lambda model: attn(model).W_Q.data.mul_(2.0),
    "the unembedding": lambda model: model.unembed.W_U.data.mul_(3.0),
    "a mask": lambda model: setattr(attn(model), "masks", ("full",) * attn(model).n_heads),
    "the scale": lambda model: setattr(attn(model), "scale", 2.0),
    "a normalisation": lambda model: setattr(attn(model), "normalise", "relu"),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_model_that_was_changed_has_no_certificate(change: str, tmp_path: Path) -> None:
    """Its formula, or its table, is not that of the function, or was not compared with it."""
    for model, against in (
        (gradient_descent(2, 2, 0.125), descent),
        (earlier_model(2, 3), earlier),
    ):
        found = certify(model, against=against)
        CHANGES[change](model)
        with rejects("changed", "certify"):
            found.write(tmp_path / "c.json")
        assert not (tmp_path / "c.json").exists()


def test_calls_do_not_change_a_model(tmp_path: Path) -> None:
    model = earlier_model(2, 3)
    found = certify(model, against=earlier)
    model([0, 1, 0])
    certify(model, against=earlier)
    found.write(tmp_path / "c.json")
    assert checks(checker, tmp_path / "c.json") == 0


def test_a_dtype_that_rounds_is_no_exact_evidence() -> None:
    """In float32, 2²⁴ + 1 is 2²⁴: the model outputs 0, and by its weights the answer is 1."""
    against = lambda tokens: int(sum(tokens) > 0)  # noqa: E731
    assert verdicts(certify(counting(2.0**24), against=against))["answers"] == "holds"
    model = counting(2.0**24).float()
    assert verdicts(certify(model, against=against))["answers"] == "fails"
    answers, rational = certify(model, against=lambda tokens: int(sum(tokens) > 1))
    assert (answers.evidence, str(answers.verdict)) == ("float", "holds")
    assert (rational.evidence, str(rational.verdict)) == ("exact", "fails")
    (answers, _) = certify(counting(2.0**23).float(), against=against)
    assert (answers.evidence, str(answers.verdict)) == ("exact", "holds")


def test_a_function_of_the_number_of_examples_is_a_hypothesis_of_the_formula() -> None:
    """The function differs for five and more examples; the certificate states a polynomial."""

    def other(of: Any, X: Any, y: Any, Q: Any) -> Any:
        found = descent(of, X, y, Q)
        return found if X.nrows() < 5 else found + Q * X.transpose() * y

    few, more = (certify(gradient_descent(2, 2, 0.125), against=other, n=n) for n in (4, 5))
    assert few.holds
    assert "assumes" in few.findings[0].words
    assert (verdicts(more)["formula"], verdicts(more)["modular"]) == ("holds", "fails")


def test_the_seed_chooses_the_instances() -> None:
    def drawn(seed: int) -> list[str]:
        seen = list[str]()

        def against(of: Any, X: Any, y: Any, Q: Any) -> Any:
            if type(of).__name__ == "Rational":
                seen.append(str([*map(str, (X.tolist(), y.tolist(), Q.tolist()))]))
            return descent(of, X, y, Q)

        assert certify(gradient_descent(2, 2, 0.125), against=against, seed=seed).holds
        return seen

    first, again, other = map(drawn, (1, 1, 2))
    assert len(first) >= 3
    assert first == again
    assert not {*first} & {*other}


def test_a_model_without_a_causal_mask_has_a_table_for_each_length(tmp_path: Path) -> None:
    found = certify(largest_of_all(3), against=lambda tokens: [max(tokens)] * len(tokens))
    assert found.holds
    found.write(tmp_path / "c.json")
    made = json.loads((tmp_path / "c.json").read_text())["certificates"]
    assert [each["statement"]["length"] for each in made] == [1, 2, 3]
    assert [len(each["statement"]["table"]) for each in made] == [3, 9, 27]
    assert checks(checker, tmp_path / "c.json") == 0

    def wrong(tokens: list[int]) -> list[int]:
        return [max(tokens) if tokens != [1] else 2] * len(tokens)

    assert verdicts(certify(largest_of_all(3), against=wrong)) == {"answers": "fails"}


def test_a_declared_bound_is_no_exact_evidence() -> None:
    """It is part of a proof, and not derived from the tensors."""
    for at_most, evidence in ((None, "exact"), ({"count": 2.0}, "float")):
        found = certify(counting(8.0, at_most), against=lambda tokens: int(sum(tokens) > 0))
        assert (found.findings[0].evidence, found.holds) == (evidence, True)


def test_all_sequences_that_the_model_takes_and_no_others() -> None:
    for interface, wanted in (
        (Tokens(3, 2, slots=[range(2, 3), range(2)]), {(2,), (2, 0), (2, 1)}),
        (Tokens(2, 3, least=2), {*product(range(2), repeat=2), *product(range(2), repeat=3)}),
        (Tokens(2, 3, length=2), {*product(range(2), repeat=2)}),
    ):
        seen = set()

        def against(tokens: list[int], seen: set[tuple[int, ...]] = seen) -> list[int]:
            seen.add(tuple(tokens))
            return tokens

        assert certify(repeating(interface), against=against).holds
        assert seen == wanted


@pytest.mark.parametrize("n", [1, 60, 257])
def test_the_evidence_is_the_same_for_any_number_of_examples(n: int) -> None:
    def one_step(of: Any, X: Any, y: Any, Q: Any) -> Any:
        return Q * (of.number(1, 8) * (X.transpose() * y))

    found = certify(gradient_descent(1, 1, 0.125), against=one_step, n=n)
    assert verdicts(found) == dict.fromkeys(("modular", "rational", "registers"), "holds")
