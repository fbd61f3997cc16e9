"""The call that built a model: its text, its arguments, and that it is saved with the model."""

from functools import partial
from importlib import import_module
from importlib.metadata import EntryPoint
from pathlib import Path

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import disentangled, hop, hopfield_attention, load, newton, save, values
from constructions.call import Call, construction
from constructions.transformer import Transformer
from theory.computation import S3, formula
from theory.kinds import Count
from theory.sequences import all_sequences

TEMPLATE = Path(__file__).parents[2] / "examples" / "package"


def test_the_name_is_the_call_without_defaults():
    model = newton(2, 3, 0.25, "direct", start="identity")
    assert model.name == str(model.call) == "newton(d=2, k=3, alpha=0.25, start='identity')"
    assert model.call.builder is newton
    values = [model.call.value(name) for name in ("k", "start", "layout", "n")]
    assert values == [3, "identity", "direct", None]
    with pytest.raises(KeyError):
        model.call.value("bits")


def test_an_argument_that_is_zero_is_no_default():
    assert newton(2, 0, 0.25).call.value("k") == 0
    assert newton(2, 1, 0.25, interleaved=False).call.value("interleaved") is False


def test_arguments_are_recorded_as_their_kinds_read_them():
    model = newton(np.int64(2), 1, 1)
    assert model.name == "newton(d=2, k=1, alpha=1.0)"
    assert type(model.call.arguments["d"]) is int


def test_arrays_are_recorded_as_they_were_given():
    W = np.eye(2)
    model = hopfield_attention(W, W, W)
    W[:] = 7
    rebuilt = model.call.builder(**model.call.arguments)
    for one, other in zip(model.parameters(), rebuilt.parameters(), strict=True):
        assert torch.equal(one, other)


def test_tensors_are_recorded_as_they_were_given():
    @construction
    def of_tensor(W: torch.Tensor) -> Transformer:
        return newton(len(W), 2, 0.25)

    W = torch.ones(3, requires_grad=True)
    recorded = of_tensor(W).call.arguments["W"]
    W.data.zero_()
    assert recorded.tolist() == [1.0, 1.0, 1.0]
    assert not recorded.requires_grad


def test_arrays_in_lists_are_recorded_as_they_were_given():
    weights = [np.eye(6), np.eye(12)]
    recorded = disentangled(3, 2, weights, np.ones((24, 3))).call.arguments["weights"]
    weights[1][:] = 7.0
    weights.pop()
    assert [W.tolist() for W in recorded] == [np.eye(6).tolist(), np.eye(12).tolist()]


def test_of_nested_constructions_the_outermost_is_recorded():
    @construction
    def two_steps(d: Count) -> Transformer:
        return newton(d, 2, 0.25)

    assert two_steps(3).name == "two_steps(d=3)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (np.float64(0.5), "0.5"),
        (1 / 3000007, repr(1 / 3000007)),
        (None, "None"),
        ([1, 2], "[1, 2]"),
        (list(range(99)), "<list of 99>"),
        (np.zeros((2, 3)), "<2×3 array>"),
        (S3, S3.name),
        (newton, "newton"),
        (formula("a since b", "ab"), "'a since b'"),
        (object(), "object"),
    ],
    ids=lambda each: each if isinstance(each, str) else type(each).__name__,
)
def test_what_is_no_number_or_word_is_abbreviated(value, text):
    assert str(Call(newton, {"it": value})) == f"newton(it={text})"


def test_calls_and_layer_invariants_come_back_with_a_saved_model(tmp_path):
    model, rows = hop(2, 3, 6), all_sequences(6, 3)
    save(model, tmp_path / "hop.safetensors")
    again = load(tmp_path / "hop.safetensors")
    assert again.call == model.call
    assert any(isinstance(stage.holds, partial) for stage in again.stages)
    for stage, other in zip(model.stages, again.stages, strict=True):
        assert np.array_equal(stage.holds(rows), other.holds(rows))


def test_models_of_a_package_with_theorems_of_its_own_are_saved(monkeypatch, tmp_path):
    monkeypatch.syspath_prepend(TEMPLATE)
    model, path = import_module("mean_label").mean_of_labels(2), tmp_path / "mean.safetensors"
    with rejects("stages", "mean_label"):
        save(model, path)
    point = EntryPoint("mean-label", "mean_label", "verify.ledgers")
    monkeypatch.setattr(values, "entry_points", lambda group: [point])
    save(model, path)
    assert load(path)([[1, 2], [3, 4]], [5, 8], [0, 0]) == 6.5
