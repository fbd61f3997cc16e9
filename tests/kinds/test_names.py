"""One name for one thing in all public functions, in one order (docs/glossary.md)."""

import inspect

import pytest
from public import public

FORMER = {
    *("rng", "generator", "longest", "read_out", "law", "share", "chance", "kind", "letters"),
    *("nodes", "vertices", "layers", "grain"),
}


def signatures():
    found = {}
    for name, function in public().items():
        if name.startswith("constructions.trained.tasks."):
            continue  # their fields are recorded in checkpoints
        try:
            found[name] = inspect.signature(function).parameters
        except ValueError:
            continue
    return found


SIGNATURES = signatures()


@pytest.mark.parametrize("name", SIGNATURES)
def test_parameters_have_the_names_of_all_others(name):
    parameters = SIGNATURES[name]
    assert not FORMER & {*parameters}
    assert (
        "vocabulary" not in parameters or "programs" in name
    )  # a list of tokens, not their number
    if "sharpness" in parameters:
        assert parameters["sharpness"].kind is inspect.Parameter.KEYWORD_ONLY
    if "max_length" in parameters:
        assert parameters["max_length"].default is inspect.Parameter.empty
    if {"vocabulary_size", "max_length"} <= {*parameters}:
        order = [*parameters]
        assert order.index("vocabulary_size") + 1 == order.index("max_length")
