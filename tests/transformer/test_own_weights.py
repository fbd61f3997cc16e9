"""A model has weights of its own, and is not run with products that torch rounds."""

import pytest
import torch
from refusals import rejects
from small_models import MODELS, PUBLIC


def _storages(model):
    return {each.untyped_storage().data_ptr() for each in model.state_dict().values()} - {0}


@pytest.mark.parametrize("name", MODELS)
def test_two_models_share_no_memory(name):
    arguments, _ = MODELS[name]
    model, other = PUBLIC[name](*arguments), PUBLIC[name](*arguments)
    assert _storages(model)
    assert not _storages(model) & _storages(other)


def test_a_model_that_is_built_in_inference_mode_can_be_converted_outside():
    arguments, inputs = MODELS["hop"]
    with torch.inference_mode():
        model = PUBLIC["hop"](*arguments)
        answers = model(*inputs)
    assert torch.equal(model.float()(*inputs), answers)
    assert torch.equal(model.sharpened(64.0)(*inputs), answers)


def test_a_model_without_numbers_has_prompts():
    arguments, inputs = MODELS["hop"]
    assert PUBLIC["hop"](*arguments).to("meta").prompt(*inputs).tokens.is_meta


@pytest.mark.parametrize("name", ["newton", "hop", "binary_search", "turing_machine"])
def test_models_are_not_run_within_autocast(name):
    arguments, inputs = MODELS[name]
    model = PUBLIC[name](*arguments)
    answers = model(*inputs)
    calls = [model, model.logits, lambda *given: [*model.streams(*given)]]
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for call in (*calls, *[lambda tokens: model.generate(tokens, 1)] * (len(inputs) == 1)):
            with rejects("autocast"):
                call(*inputs)
    assert torch.equal(model(*inputs), answers)
