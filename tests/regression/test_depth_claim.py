"""The claim `depth`: which degrees and which growth of layers make it fail."""

from types import SimpleNamespace

import numpy as np
import pytest

from theory.regression import newton_degree
from verify.claim import Run
from verify.finding import Verdict
from verify.regression import depth as module
from verify.regression import state_size

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


@pytest.mark.parametrize(("degrees", "verdict"), [((1, 3, 9), HOLDS), ((1, 4, 9), FAILS)])
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
