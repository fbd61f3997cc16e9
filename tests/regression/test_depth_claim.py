"""The claim `depth`: which degrees and which growth of layers make it fail."""

from types import SimpleNamespace

import numpy as np
import pytest

from theory.regression import newton_degree
from verify.claim import Run
from verify.finding import Verdict
from verify.regression import depth as module
from verify.regression import state_size
from verify.regression.stability import Errors, stays_within

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


@pytest.mark.parametrize(
    ("degrees", "verdict"),
    [
        ((1, 3, 9), HOLDS),
        ((1, 4, 9), FAILS),
        ((1, 3, 8), FAILS),
    ],
)
def test_a_degree_that_more_than_triples_fails(degrees, verdict, monkeypatch):
    assert newton_degree(1) == 9
    seen = [SimpleNamespace(array=np.array([each])) for each in degrees]
    monkeypatch.setattr(module, "streams", lambda *_: seen)
    statement = module.newton_statement(Run(), "direct", "gram", 0.5)
    assert module._degree_by_layer("direct", statement, 1).verdict is verdict


def test_layers_that_grow_faster_than_stated_fail():
    """½ log₃κ + O(1) and log₃κ + O(1): a layer more for each factor of 4 in κ is too many."""
    layers = {"chebyshev": [4, 4, 5, 6, 6, 7], state_size.CAUSAL: [7, 8, 9, 11, 12, 13]}
    assert [finding.verdict for finding in state_size._few_layers(layers)] == [HOLDS, HOLDS]
    for index, name in enumerate(layers):
        more = {**layers, name: [count + 2 for count in layers[name]]}
        verdicts = [finding.verdict for finding in state_size._few_layers(more)]
        assert [i for i, verdict in enumerate(verdicts) if verdict is FAILS] == [index]


@pytest.mark.parametrize("fault", ["", "stated", "bound"])
def test_layers_are_compared_with_the_stated_number_and_with_the_bound(fault, monkeypatch):
    """The layers of the layout ladder are the lower bound, not only at least the bound."""
    right, least = module.theorem, module.newton_lower_bound

    def theorem(id):
        layers = right(id).sizes["layers"]
        return SimpleNamespace(sizes={"layers": lambda k: layers(k=k) - (fault == "stated")})

    monkeypatch.setattr(module, "theorem", theorem)
    if fault == "bound":
        monkeypatch.setattr(module, "newton_lower_bound", lambda *given: least(*given) - 1)
    assert module._row(Run(), 2, "float").verdict is (FAILS if fault else HOLDS)


@pytest.mark.parametrize("number", [0, 1])
@pytest.mark.parametrize("form", ["float32", "float64"])
def test_an_error_above_its_bound_fails_at_every_number_of_layers(form, number):
    def errors(float32, agrees):
        return Errors(10.0, [1, 2], [1e-4] * 2, [2e-4] * 2, float32, [2e-4] * 2, [1e-4] * 2, agrees)

    assert stays_within("gram", errors([1e-4] * 2, [HOLDS] * 2)).verdict is HOLDS
    float32, agrees = [1e-4] * 2, [HOLDS] * 2
    if form == "float32":
        float32[number] = 3e-4
    else:
        agrees[number] = FAILS
    assert stays_within("gram", errors(float32, agrees)).verdict is FAILS
