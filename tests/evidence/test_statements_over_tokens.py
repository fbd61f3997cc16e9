"""Statements over tokens that define no model, or no answers of the model's shape."""

import numpy as np
import pytest
from refusals import rejects

from constructions import previous_token
from verify.claim import Run
from verify.evidence.sequences import agreement
from verify.evidence.statement import OverTokens


def definition(x):
    """The token before, and −1 for the first."""
    return np.concatenate([np.full_like(x[..., :1], -1), x[..., :-1]], axis=-1)


def findings(build=previous_token, answers=definition, V=3, n=9, samples=4, **more):
    return [*agreement(Run(), OverTokens("its label", build, answers), V, n, samples, **more)]


def test_a_right_statement():
    assert {str(found.verdict) for found in findings()} == {"holds"}


@pytest.mark.parametrize(
    "answers",
    [
        lambda x: definition(x).tolist(),
        lambda x: definition(x)[..., :1],
        lambda x: definition(x)[:1, :1],
        lambda x: definition(x)[..., None],
        lambda x: definition(x).astype(float),
        lambda x: definition(x).astype(str),
        lambda x: None,
        lambda x: 0,
    ],
)
def test_answers_that_are_no_integers_of_the_shape(answers):
    with rejects("its label"):
        findings(answers=answers)


def test_a_build_that_returns_no_model():
    with rejects("its label"):
        findings(build=lambda V, n: definition)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize("name", ["V", "n", "samples", "symbols", "longest"])
@pytest.mark.parametrize("value", [0, -1, 2.5, "a", None, (2, 3)])
def test_sizes_that_are_no_counts(name, value):
    with rejects(name):
        findings(**{name: value})
