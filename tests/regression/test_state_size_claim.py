"""The claim state-size: what it shows beside holding, and what makes it fail."""

import math

import numpy as np
import pytest

from verify.claim import Run
from verify.finding import Verdict
from verify.regression import state_size
from verify.selftest.tensor_mutations import EntryFault


def test_exponents_stand_beside_the_known_ones():
    # ½ κ ln(1/ε) and ½ √κ ln(2/ε), with ceilings and lower-order terms.
    counts = state_size.steps_against_condition()
    for method, exponent in (("gradient descent", 1.0), ("Chebyshev", 0.5)):
        assert state_size.fitted_exponent(counts[method]) == pytest.approx(exponent, abs=0.01)
    for method, more in (("Newton from αS", 4), ("Newton from αI", 2)):
        assert state_size.per_factor_of_four(counts[method]) == more


def test_the_evidence_of_degrees_and_of_one_pass():
    assert [f.evidence for f in state_size._degrees(Run())] == ["identity"] * 2
    assert state_size._one_pass({16.0: (100, 1.0), 64.0: (400, 1.0)}).evidence == "statistical"


def test_degrees_are_of_the_prediction_of_gradient_descent():
    """A wrong key of one layer leaves the degree as it is."""
    fault = EntryFault("gradient_descent", "blocks.1.attn.W_K", (1, 1, 0), "a factor of 2")
    found = {f.id: f.verdict for f in state_size._degrees(Run(fault=fault))}
    assert found == {"degree/causal": Verdict.HOLDS, "degree/full": Verdict.FAILS}


@pytest.mark.parametrize(
    ("exponent", "verdict"),
    [(1.0, Verdict.HOLDS), (0.5, Verdict.UNDECIDED), (0.25, Verdict.FAILS)],
)
def test_the_growth_of_one_pass_has_three_answers(exponent, verdict):
    examples = {4.0**i: (100 * 4 ** (i * exponent), 1.0) for i in range(4, 8)}
    assert state_size._one_pass(examples).verdict is verdict


def test_every_step_of_one_pass_has_to_grow():
    """A fitted slope would hold: three times, three times, and then hardly at all."""
    counts = dict(zip((4.0**i for i in range(4)), (100, 400, 1600, 2000), strict=True))
    found = state_size._one_pass({c: (float(m), 1.0) for c, m in counts.items()})
    assert found.verdict is Verdict.FAILS


def test_the_slope_of_a_power_is_its_exponent():
    counts = [round(c**0.75 * 2**20) for c in state_size.CONDITIONS]
    assert state_size.fitted_exponent(counts) == pytest.approx(0.75)
    assert state_size.per_factor_of_four([3, 5, 7]) == 2
    assert np.log2(state_size.CONDITIONS[0]) == 4


@pytest.mark.parametrize(
    ("id", "name", "within"),
    [
        ("ladder", "chebyshev", lambda n, c: 3.0 ** (n - 1) <= c**0.5 * math.log(2000) + 3),
        ("causal-ladder", state_size.CAUSAL, lambda n, c: 3.0 ** (n - 3) <= 2 * c * math.log(1000)),
    ],
)
@pytest.mark.parametrize("place", [0, -1])
def test_one_layer_above_the_bound_fails(id, name, within, place):
    counts = {each: [0] * len(state_size.CONDITIONS) for each in ("chebyshev", state_size.CAUSAL)}
    most = max(n for n in range(40) if within(n, state_size.CONDITIONS[place]))
    for more, verdict in ((0, Verdict.HOLDS), (1, Verdict.FAILS)):
        counts[name][place] = most + more
        found = {f.id: f.verdict for f in state_size._few_layers(counts)}
        assert found[id] is verdict


def chebyshev_counts():
    stated, _ = state_size.METHODS["Chebyshev"]
    return [stated(condition, state_size.SHRINK) for condition in state_size.CONDITIONS]


def test_a_smaller_degree_that_suffices_fails():
    """Also if the residuals one degree below are too small, and if their signs do not alternate."""
    counts = chebyshev_counts()
    assert state_size._no_krylov_method_is_faster(counts).verdict is Verdict.HOLDS
    for index in (0, len(counts) - 1):
        more = [count + (i == index) for i, count in enumerate(counts)]
        found = state_size._no_krylov_method_is_faster(more)
        assert (found.measured, found.verdict) == (len(counts) - 1, Verdict.FAILS)


def test_residuals_without_alternating_signs_fail(monkeypatch):
    counts = chebyshev_counts()
    right = state_size.RESIDUALS["Chebyshev"]
    monkeypatch.setitem(state_size.RESIDUALS, "Chebyshev", lambda *given: abs(right(*given)))
    assert state_size._no_krylov_method_is_faster(counts).verdict is Verdict.FAILS


@pytest.mark.parametrize("samples", [2, 200, 201, 3000])
def test_all_samples_of_the_option_are_drawn(samples, monkeypatch):
    drawn = []
    for name in ("_degrees", "_the_same_weights", "_stated_counts", "_few_layers"):
        monkeypatch.setattr(state_size, name, lambda given: iter(()))
    for name in ("_no_krylov_method_is_faster", "_one_pass"):
        monkeypatch.setattr(state_size, name, lambda given: state_size.same("id", "name", 1, 1))
    monkeypatch.setattr(
        state_size,
        "one_pass_examples",
        lambda run, conditions, count: drawn.append((len(conditions), count)),
    )
    assert len([*state_size.state_size.findings(Run(), samples=samples)]) == 2
    assert drawn == [(4, samples)]
