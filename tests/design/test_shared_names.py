"""A name in both packages is an algorithm in theory and a model in constructions.

After star imports of both, the later one wins.  Then a call with the arguments of the other raises
an error, in place of a wrong answer.
"""

import inspect
from importlib import import_module

import pytest
from small_models import MODELS, PUBLIC, TOPICS

SHARED = {
    (f"theory.{topic}", name)
    for topic in TOPICS
    for name in import_module(f"theory.{topic}").__all__
    if name in PUBLIC
}


def required(function):
    parameters = inspect.signature(function).parameters.values()
    return {each.name for each in parameters if each.default is each.empty}


def started(function, arguments):
    """The call; a generator checks its arguments when it begins."""
    found = function(*arguments)
    return next(found) if inspect.isgenerator(found) else found


def test_there_are_shared_names():
    assert ("theory.regression", "newton") in SHARED


@pytest.mark.parametrize(("module", "name"), sorted(SHARED))
def test_the_arguments_of_a_model_are_rejected_by_the_algorithm(module, name):
    algorithm = getattr(import_module(module), name)
    assert algorithm is not PUBLIC[name]
    arguments, _ = MODELS[name]
    with pytest.raises((TypeError, ValueError)):
        started(algorithm, arguments)


@pytest.mark.parametrize(("module", "name"), sorted(SHARED))
def test_keywords_distinguish_algorithm_and_model(module, name):
    algorithm = getattr(import_module(module), name)
    assert required(algorithm) != required(PUBLIC[name])
