"""The claims hyperpower and chebyshev: what each shows beside holding."""

from fractions import Fraction

import pytest
from by_id import findings
from faults import always, plant
from refusals import rejects

from verify.claim import Run
from verify.finding import Verdict
from verify.regression import chebyshev as module
from verify.regression.chebyshev import _best_of_its_layers, chebyshev
from verify.regression.hyperpower import hyperpower


@pytest.mark.parametrize(("k", "order"), [(0, 2), (1, 5), (2, 3)])
def test_hyperpower_of_any_order(k, order):
    found = findings(hyperpower, k=k, order=order, d=2, n=3)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
    layers = next(L for L in range(9) if 4 * order**k + 1 <= 3**L)
    assert found["size"].measured["layers"] == layers
    assert found["start-identity/formula"].evidence == "formula"


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9, 16])
def test_chebyshev_in_every_number_system(k):
    found = findings(chebyshev, k=k, d=2, n=2)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
    # The largest exponent of the residual and those on the way to it, before the prediction.
    assert found["registers"].measured >= found["size"].measured["layers"]


@pytest.mark.parametrize(
    ("bounds", "verdict"),
    [
        ((1.0, 2.0), Verdict.HOLDS),
        ((1.0, 2.0**40), Verdict.UNDECIDED),
        ((1.0, 1.0 + 2.0**-52), Verdict.UNDECIDED),
    ],
)
def test_residuals_that_float64_cannot_tell_apart_are_left_out(bounds, verdict):
    assert _best_of_its_layers(Run(), *bounds).verdict is verdict


@pytest.mark.parametrize(
    ("bounds", "degree", "off", "verdict"),
    [
        ((1.0, 2.0), 1, 2.0**-19, Verdict.FAILS),
        ((1.0, 2.0), 1, 2.0**-21, Verdict.HOLDS),
        ((1.0, 2.0), 1, -(2.0**-19), Verdict.FAILS),
        # The minimum is 1.2e-9, about 2^−29.6, so that 2^−40 is 2^−10.4 of it.
        ((1.0, 1.02), 4, 2.0**-10, Verdict.FAILS),
        ((1.0, 1.02), 4, 2.0**-11, Verdict.HOLDS),
    ],
)
def test_the_tolerance_of_the_least_residual(bounds, degree, off, verdict, monkeypatch):
    """A residual off by more than 2^−40 plus 2^−20 of the minimum is not the best."""
    monkeypatch.setattr(module, "DEGREES", (degree,))
    plant(
        monkeypatch, "verify.regression.chebyshev.prod", always(lambda x: x / (1 + Fraction(off)))
    )
    assert _best_of_its_layers(Run(), *bounds).verdict is verdict


# An interval that float64 cannot halve, and what is no interval of normal numbers.
WIDE = [(1e308, 1.7e308)]
EMPTY = [(5e-324, 1e-323), (2.0, 1.0), (1.0, 1.0), (0.0, 1.0), (1.0, float("inf"))]


@pytest.mark.parametrize(
    ("names", "options"),
    [
        *((["rescale"], {"k": 4, "smallest": a, "largest": b}) for a, b in WIDE),
        *((["smallest", "largest"], {"smallest": a, "largest": b}) for a, b in EMPTY),
        (["k"], {"k": 100_000}),
    ],
    ids=str,
)
def test_what_has_no_factors_in_float64_is_rejected(names, options):
    with rejects(*names):
        findings(chebyshev, **{"d": 1, "n": 1, **options})


def test_the_number_of_examples_has_no_effect_on_formulas():
    with rejects("n has no effect", "domain"):
        findings(chebyshev, n=7, domain="formula")


@pytest.mark.parametrize("kind", ["products", "unchanged", "once", "cubed"])
def test_one_coefficient_off_by_more_than_its_rounding_fails(kind, monkeypatch):
    assert module._coefficients(40, 1.0, 32.0).verdict is Verdict.HOLDS
    plan = module.chebyshev_plan(40, 1.0, 32.0)
    rung = next(each for rungs in plan for each in rungs if getattr(each, kind))
    name = next(iter(getattr(rung, kind)))
    getattr(rung, kind)[name] += 2.0**-40
    monkeypatch.setattr(module, "chebyshev_plan", lambda *given: plan)
    assert module._coefficients(40, 1.0, 32.0).verdict is Verdict.FAILS
