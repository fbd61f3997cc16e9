"""Models as pages have them: weights bit by bit, and code that builds what is shown."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import compiled, hop, induction_heads, newton
from constructions.programs import chomsky_scratchpad, chomsky_task
from constructions.programs.interface import ProgramTokens
from constructions.trained import load
from theory.programs import Full
from theory.programs.library import fraction_of_previous, reverse
from verify.ledger.build import built
from verify.ledger.theorems import entries, ledger, theorem
from verify.site.exported import USUAL, exported, matrix, runs, sample
from verify.site.shown import MOST, code, model_of, weights

BUILT = [entry for entry in ledger().values() if entry.build]


def restored(written):
    dense = np.zeros(written["shape"])
    dense.ravel()[written["at"]] = written["is"]
    return dense


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (4, 0)])
def test_matrices_come_back_bit_by_bit(shape):
    given = torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    given[given < -0.5] = 0.0
    back = restored(json.loads(json.dumps(matrix(given))))
    assert np.array_equal(back, given.numpy())


def test_all_that_a_model_is_made_of_is_exported():
    model = induction_heads(5, 12)
    data = json.loads(json.dumps(exported(model)))
    assert [name for name, *_ in data["registers"]] == [*model.stream]
    assert np.array_equal(restored(data["W_pos"]), model.pos_embed.W_pos.numpy())
    for block, own in zip(data["blocks"], model.blocks, strict=True):
        assert block["normalise"] == "hardmax"
        assert block["mlp"] is None
        (head,) = block["heads"]
        for name in ("W_Q", "W_K", "W_V", "W_O"):
            assert np.array_equal(restored(head[name]), getattr(own.attn, name)[0].numpy())
        assert head["b_Q"] == own.attn.b_Q[0].tolist()
    assert data["tokens"]["prefix"] == list(model.interface.prefix)


def smallest(name):
    entry = theorem(name)
    return built(entry, **{parameter: values[0] for parameter, values in entry.over.items()})


def test_scales_masks_norms_and_answers_are_those_of_the_model():
    model = smallest("first-layer-norm")
    last = exported(model)["blocks"][1]
    assert (last["scale"], last["unit"]) == (model.blocks[1].attn.scale, True)
    assert last["scale"] != 1
    assert exported(model)["tokens"]["whole"]
    turing = exported(smallest("turing"))
    masks = [[head["mask"] for head in block["heads"]] for block in turing["blocks"]]
    assert ["strictly causal", "causal"] in masks
    assert not any(block["unit"] for block in turing["blocks"])
    assert turing["tokens"]["bottom"]
    assert not turing["tokens"]["whole"]


@pytest.mark.parametrize("norm", ["ln1", "ln2"])
def test_a_layer_norm_anywhere_is_refused(norm):
    model = induction_heads(2, 4)
    setattr(model.blocks[1], norm, torch.nn.LayerNorm(1))
    with rejects("layer norms"):
        exported(model)


def test_what_a_page_runs_takes_tokens():
    assert runs(induction_heads(3, 4))
    assert not runs(newton(2, 1, 0.5))
    sums, _ = model_of(theorem("modular-addition"), {"p": 3})
    assert exported(sums)["tokens"]["ends"][2] == [[3], 2]  # "=" behind two numbers below 3
    with rejects("layer norms"):
        exported(load("regression-small-seed0"))


def test_a_page_shows_the_largest_model_that_can_be_looked_at():
    entry = theorem("induction")
    model, values = model_of(entry, {})
    assert weights(model) <= MOST
    assert values == {"V": 8, "n": 30}
    _, given = model_of(entry, {"V": 2})
    assert given == {"V": 2, "n": 30}
    _, given = model_of(theorem("graph-search"), {})  # 20 nodes have more
    assert given == {"n": 5, "m": 30}
    _, given = model_of(theorem("hop"), {"k": 2, "n": 128})  # all have more
    assert given == {"k": 2, "V": 8, "n": 128}
    assert model_of(theorem("rates"), {}) is None


def test_a_page_begins_with_tokens_that_are_told_something():
    model, values = model_of(theorem("hop"), {})
    assert values["k"] > 2  # it is no induction head
    tokens, share = sample(model)
    answers = model(tokens).tolist()
    told = [a >= 0 and a != token for a, token in zip(answers, tokens, strict=True)]
    assert share == sum(told) / len(tokens) > 1 / 2
    assert exported(model)["sample"] == tokens
    assert exported(newton(2, 1, 0.5))["sample"] is None
    assert len(sample(induction_heads(8, 40))[0]) == USUAL
    assert len(sample(hop(12, 8, 11))[0]) == 11  # ⊥ everywhere, for all words


def test_tokens_and_answers_have_the_names_of_a_program():
    model = compiled(fraction_of_previous("b"), "ab", 2)
    data = exported(model)["tokens"]
    values = ["0", "1/2", "1"]
    assert data["objects"] == {"names": ["a", "b"], "code": ["'a'", "'b'"], "values": values}
    assert (data["ends"], data["continues"]) == (None, False)
    assert exported(compiled(reverse(), "ab", 2))["tokens"]["continues"]
    assert exported(induction_heads(3, 4))["tokens"]["objects"] is None


@pytest.mark.parametrize(
    ("vocabulary", "names"),
    [
        ([3, "x"], ["3", "x"]),
        ([0, "0"], ["0", "'0'"]),
        (["a b", (1, 2)], ["ab", "(1,2)"]),
        (["", "a"], ["''", "'a'"]),
        (["ab", "a b", 0], None),
    ],
)
def test_names_of_tokens_differ_and_have_no_spaces(vocabulary, names):
    model = compiled(Full(1), vocabulary, 2)
    assert runs(model) == (names is not None)
    if names:
        assert exported(model)["tokens"]["objects"]["names"] == names


@pytest.mark.parametrize(
    ("name", "ends"),
    [
        ("reverse string", [[[], 1], [[2], 2], [[2, 2], 3]]),
        ("parity check", [[[], 0], [[], 1], [[], 2]]),
    ],
)
def test_empty_tokens_and_outputs_of_a_task(name, ends):
    model = chomsky_task(name, 2)
    data = exported(model)["tokens"]
    assert data["ends"] == ends
    for n, (behind, first) in enumerate(ends[1:], start=1):
        prompt = model.prompt([0] * n)
        assert prompt.tokens.tolist() == [*data["prefix"], *[0] * n, *behind]
        assert prompt.answers == slice(first, None)
    assert not data["continues"]
    assert data["objects"]["names"] == ["0", "1"]


def test_a_page_of_a_scratchpad_begins_with_an_input():
    model = chomsky_scratchpad("binary multiplication", 4)
    shown = [model.interface.vocabulary[i] for i in exported(model)["sample"]]
    assert shown[-1] == "="
    assert {*shown[:-1]} <= {*"01·"}


@pytest.mark.parametrize("name", ["check", "write", "read"])
def test_an_interface_with_its_own_way_to_read_or_write_does_not_run(name):
    other = {name: lambda self, *inputs: getattr(super(ProgramTokens, self), name)(*inputs)}
    Other = type("Other", (ProgramTokens,), other)

    model = compiled(reverse(), "ab", 2)
    assert runs(model)
    model.interface.__class__ = Other
    assert not runs(model)


PACKAGE = Path(__file__).parent.parent.parent / "examples" / "package"


@pytest.fixture
def theirs(monkeypatch):
    """The statement of the template package, as if it was installed."""
    monkeypatch.syspath_prepend(str(PACKAGE))
    text = (PACKAGE / "mean_label" / "theorems.toml").read_text(encoding="utf-8")
    return entries(text, "mean_label")["mean-label"]


def test_code_of_another_package_imports_from_it(theirs, capsys):
    model, values = model_of(theirs, {"d": 2})
    said = code(theirs, values)
    assert "from mean_label import mean_of_labels\n\nd = 2\n" in said
    exec(said, found := {})
    assert str(found["model"]) == str(model) == capsys.readouterr().out.rstrip()


@pytest.mark.slow
@pytest.mark.parametrize("entry", BUILT, ids=lambda entry: entry.name)
def test_the_code_on_a_page_builds_the_model_on_it(entry, capsys):
    model, values = model_of(entry, {})
    exec(code(entry, values), found := {})
    assert str(found["model"]) == str(model) == capsys.readouterr().out.rstrip()
    for name, weight in model.state_dict().items():
        assert torch.equal(weight, found["model"].state_dict()[name])
