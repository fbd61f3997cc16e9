"""The claims hyperpower and chebyshev: what each shows beside holding."""

from dataclasses import replace
from importlib import import_module

import pytest
from by_id import findings

from theory.checks import InputError
from verify.claim import Run
from verify.finding import Verdict
from verify.regression.chebyshev import chebyshev
from verify.regression.hyperpower import hyperpower

module_of_chebyshev = import_module("constructions.regression.chebyshev")


@pytest.mark.parametrize(("k", "order"), [(0, 2), (1, 5), (2, 3)])
def test_hyperpower_of_any_order(k, order):
    found = findings(hyperpower, k=k, order=order, d=2, n=3)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
    layers = next(L for L in range(9) if 4 * order**k + 1 <= 3**L)
    assert found["size"].measured["layers"] == layers
    with pytest.raises(InputError, match="alpha is 0"):
        findings(hyperpower, alpha=0.0)


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9, 16])
def test_chebyshev_in_every_number_system(k):
    found = findings(chebyshev, k=k, d=2, n=2)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
    # The largest exponent of the residual and those on the way to it, before the prediction.
    assert found["registers"].measured >= found["size"].measured["layers"]


def test_a_residual_that_is_not_the_least_is_noticed(monkeypatch):
    """Chebyshev's polynomial for an interval a tenth longer is not the best on this one."""
    module = import_module("verify.regression.chebyshev")
    right = module.chebyshev_statement
    assert findings(chebyshev, k=1, d=1, n=2, domain="float")["best"].verdict is Verdict.HOLDS
    monkeypatch.setattr(module, "chebyshev_statement", lambda run, a, b: right(run, a, 1.1 * b))
    assert module._best_of_its_layers(Run(), 1.0, 32.0).verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [((1.0, 2.0), Verdict.HOLDS), ((1.0, 2.0**40), Verdict.UNDECIDED)],
)
def test_residuals_that_float64_cannot_tell_apart_are_left_out(bounds, verdict):
    module = import_module("verify.regression.chebyshev")
    assert module._best_of_its_layers(Run(), *bounds).verdict is verdict


@pytest.mark.parametrize("bounds", [(1e308, 1.7e308), (5e-324, 1e-323)])
def test_intervals_that_float64_cannot_halve_are_refused(bounds):
    with pytest.raises(ValueError, match="rescale the inputs"):
        findings(chebyshev, k=4, d=1, n=1, smallest=bounds[0], largest=bounds[1])


def test_so_many_steps_of_chebyshev_are_not_compared():
    with pytest.raises(ValueError, match="take at most 5000"):
        findings(chebyshev, k=100_000, d=1, n=1)


@pytest.mark.parametrize("part", ["products", "kept", "once", "cubed"])
def test_a_coefficient_of_chebyshev_that_is_off_is_noticed(part, monkeypatch):
    """By 10⁻¹³: what weights and product formulas share is compared with numbers over Q."""
    right = module_of_chebyshev._rung

    def off(*args):
        rung = right(*args)
        scaled = {place: value * (1 + 1e-13) for place, value in getattr(rung, part).items()}
        return replace(rung, **{part: scaled})

    monkeypatch.setattr(module_of_chebyshev, "_rung", off)
    found = findings(chebyshev, k=13, d=2, n=2, domain="exact")
    assert found["coefficients"].verdict is Verdict.FAILS


@pytest.mark.parametrize("bounds", [(2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (1.0, float("inf"))])
def test_no_interval_no_claim(bounds):
    with pytest.raises(InputError, match="give 0 < a < b"):
        findings(chebyshev, smallest=bounds[0], largest=bounds[1])
