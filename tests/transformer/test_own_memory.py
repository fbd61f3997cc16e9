"""A model has weights of its own: what changes them changes no other model."""

import pytest
from small_models import MODELS, PUBLIC


def _storages(model):
    return {each.untyped_storage().data_ptr() for each in model.state_dict().values()} - {0}


@pytest.mark.parametrize("name", MODELS)
def test_two_models_share_no_memory(name):
    arguments, _ = MODELS[name]
    model, other = PUBLIC[name](*arguments), PUBLIC[name](*arguments)
    assert _storages(model)
    assert not _storages(model) & _storages(other)
