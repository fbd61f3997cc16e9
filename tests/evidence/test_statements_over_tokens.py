"""Statements over tokens that define no model, or no answers of the model's shape."""

from dataclasses import replace

import numpy as np
import pytest
from refusals import rejects

from constructions import previous_token
from constructions.blocks import Stage
from theory.kinds import InputError
from verify import certify
from verify.claim import Run
from verify.domains.base import NotPolynomial
from verify.evidence.registers import _proved
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


def changed(**changes):
    """A builder of a model with these attributes of the interface, the heads or the stage."""

    def build(V, n):
        model = previous_token(V, n)
        for name, value in changes.items():
            if name == "margin":
                model.interface.margin = value
            elif name == "normalise":
                model.attentions[0].normalise = value
            else:
                model.stages = (replace(model.stages[0], **{name: value}),)
        return model

    return build


def test_a_model_without_a_margin_or_with_softmax_heads():
    with rejects("margin"):
        findings(build=changed(margin=None))
    with rejects("its label", "softmax"):
        findings(build=changed(normalise="softmax"))


def before(tokens):
    """The token before the last one, and −1 for the first."""
    return tokens[-2] if len(tokens) > 1 else -1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("holds", "what"),
    [
        (lambda tokens: None, "IndexError"),
        (lambda tokens: 0, "IndexError"),
        (lambda tokens: tokens, "ValueError"),
        (lambda: 0, "TypeError"),
        (lambda tokens: 1 / 0, "ZeroDivisionError"),
        (lambda tokens: "x", "IndexError"),
    ],
)
def test_a_stage_without_values_of_its_register(holds, what):
    register = previous_token(3, 9).stages[0].register
    for function in (
        lambda: findings(build=changed(holds=holds)),
        lambda: certify(changed(holds=holds)(3, 4), against=before),
    ):
        with rejects(register, what):
            function()


@pytest.mark.parametrize("error", [NotPolynomial("its reason"), InputError("its reason")])
def test_errors_that_a_finding_explains_are_left_as_they_are(error):
    def holds(*inputs):
        raise error

    with pytest.raises(type(error), match="its reason") as raised:
        _proved(Stage(1, "answer", holds), None)
    assert raised.value is error
