"""The claim state-size: what it shows beside holding, and what makes it fail."""

import numpy as np
import pytest
from by_id import findings

from verify.claim import Run
from verify.finding import Verdict
from verify.regression import state_size as state_size_module
from verify.regression.state_size import state_size
from verify.selftest.tensor_mutations import TensorFault


@pytest.fixture(scope="module")
def remembered():
    return findings(state_size, samples=4)


def test_exponents_stand_beside_the_known_ones(remembered):
    # ½ κ ln(1/ε) and ½ √κ ln(2/ε), with ceilings and lower-order terms.
    for method, exponent in (("gradient-descent", 1.0), ("Chebyshev", 0.5)):
        counts = remembered[f"steps/{method}"].measured
        assert state_size_module.fitted_exponent(counts) == pytest.approx(exponent, abs=0.01)
    for method, more in (("Newton-from-αS", 4), ("Newton-from-αI", 2)):
        counts = remembered[f"steps/{method}"].measured
        assert state_size_module.per_factor_of_four(counts) == more


@pytest.mark.parametrize("head", [1, 2])
def test_a_wrong_head_in_the_deepest_layer_is_noticed(head):
    run = Run(quick=True, fault=TensorFault(f"layer 6, head {head}", "wrong sign"))
    found = {f.id: f.verdict for f in state_size_module._the_same_weights(run)}
    assert found["tripling"] is Verdict.FAILS
    assert found["rereading"] is (Verdict.FAILS if head == 1 else Verdict.HOLDS)


def test_an_estimate_is_labelled_as_one(remembered):
    one_pass = remembered["one-pass"]
    assert one_pass.evidence == "statistical"
    assert "three standard errors" in one_pass.words
    assert {remembered[f"degree/{mask}"].evidence for mask in ("causal", "full")} == {"identity"}


@pytest.mark.parametrize(
    ("exponent", "verdict"),
    [(1.0, Verdict.HOLDS), (0.5, Verdict.UNDECIDED), (0.25, Verdict.FAILS)],
)
def test_the_growth_of_one_pass_has_three_answers(exponent, verdict):
    examples = {4.0**i: (100 * 4 ** (i * exponent), 1.0) for i in range(4, 8)}
    assert state_size_module._one_pass(examples).verdict is verdict


def test_every_step_of_one_pass_has_to_grow():
    """A fitted slope would hold: three times, three times, and then hardly at all."""
    counts = dict(zip((4.0**i for i in range(4)), (100, 400, 1600, 2000), strict=True))
    found = state_size_module._one_pass({c: (float(m), 1.0) for c, m in counts.items()})
    assert found.verdict is Verdict.FAILS


def test_counts_that_are_not_the_least_are_noticed():
    counts = state_size_module.steps_against_condition()["Chebyshev"]
    assert state_size_module._no_krylov_method_is_faster(counts).verdict is Verdict.HOLDS
    too_many = [count + 3 for count in counts]
    assert state_size_module._no_krylov_method_is_faster(too_many).verdict is Verdict.FAILS


def test_the_slope_of_a_power_is_its_exponent():
    counts = [round(c**0.75 * 2**20) for c in state_size_module.CONDITIONS]
    assert state_size_module.fitted_exponent(counts) == pytest.approx(0.75)
    assert state_size_module.per_factor_of_four([3, 5, 7]) == 2
    assert np.log2(state_size_module.CONDITIONS[0]) == 4
