"""The claims gd, ogd and ols: what each shows beside holding."""

import math
import sys
from itertools import product
from types import SimpleNamespace

import numpy as np
import pytest
import sympy
from by_id import findings
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.regression.by_definition import least_squares
from verify.claim import Run
from verify.domains import Rational
from verify.finding import Verdict
from verify.regression.convergence import descent_converges, newton_converges
from verify.regression.gradient_descent import gradient_descent
from verify.regression.ols import METHODS, ols
from verify.regression.online_gradient_descent import (
    _last_example_fitted,
    online_gradient_descent,
)
from verify.regression.statements import online_statement

ols_module = sys.modules["verify.regression.ols"]  # the package's claim has the same name

# gd


def test_gradient_descent_has_each_kind_of_evidence():
    found = findings(gradient_descent, k=4, d=2, n=3)
    kinds = {
        "size": "exact",
        "float": "float",
        "rational": "exact",
        "modular": "identity",
        "symbolic": "identity",
        "registers": "identity",
    }
    for layout, (id, evidence) in product(("direct", "causal", "ladder"), kinds.items()):
        assert found[f"{layout}/{id}"].evidence == evidence
    assert {finding.verdict for finding in found.values()} == {Verdict.HOLDS}


@pytest.mark.parametrize(("factor", "holds"), [(1.99, True), (2.01, False)])
def test_a_step_too_large_fails_to_converge_but_is_computed(factor, holds):
    sizes = {"k": 3, "d": 2, "n": 4, "samples": 4, "layout": "direct"}
    limit = findings(gradient_descent, **sizes)["converges"].bound
    found = findings(gradient_descent, **sizes, step_size=limit * factor / 2)
    failing = [f.id for f in found.values() if f.verdict is not Verdict.HOLDS]
    assert failing == ([] if holds else ["converges"])


@pytest.mark.parametrize("options", [{"domain": "formula"}, {"explain": True}])
def test_all_layouts_are_those_with_a_formula_if_formulas_are_wanted(options):
    """Causal models are rejected before the first finding, and left out of `all`."""
    found = findings(gradient_descent, k=3, d=2, n=3, **options)
    assert {id.partition("/")[0] for id in found} - {"converges"} == {"direct", "ladder"}
    assert {finding.verdict for finding in found.values()} == {Verdict.HOLDS}
    with rejects(*options):
        next(gradient_descent.findings(Run(), layout="causal", **options))


# ogd


def test_online_gradient_descent_fits_the_last_example():
    found = findings(online_gradient_descent, d=3, n=4)
    assert found["fitted"].evidence == "exact"
    assert found["fitted"].measured == found["fitted"].bound == "equal"
    assert found["modular"].evidence == "identity"
    assert float(found["modular"].words.split("≤ ")[1]) <= 1e-20
    assert "symbolic" not in found, "no polynomial, no symbolic domain"


def test_a_last_example_that_is_nearly_fitted_fails():
    def fault(model):
        model.unembed.W_U *= 1 + 2.0**-40
        return model

    for run, verdict in ((Run(), Verdict.HOLDS), (Run(fault=fault), Verdict.FAILS)):
        found = _last_example_fitted(run, online_statement(run).at(2, 3, 0))
        assert found.verdict is verdict


@pytest.mark.parametrize(
    ("d", "n", "degree", "bits"),
    [
        (1, 1, 7, math.log2(3) + 1),
        (3, 5, 71, 25 * math.log2(3) + 5 * math.log2(17) + math.log2(5) + 1),
    ],
)
def test_degree_and_bits_of_a_pass(d, n, degree, bits):
    """1 for y, 2n for the layers, 2n² for the denominators, 2n for points that are not used."""
    assert online_statement(Run()).rational_size(d, n, 9) == (degree, pytest.approx(bits))


# ols


def test_least_squares_in_three_families_by_two_methods():
    found = findings(ols, d=4)
    for method in ("Newton", "gradient descent"):
        for family in ("tall", "wide", "repeated rows"):
            label = f"{method}, {family}".replace(" ", "-")
            exact, reached = found[f"{label}/range"], found[f"{label}/reached"]
            assert (exact.evidence, reached.evidence) == ("exact", "float")
            assert reached.verdict is Verdict.HOLDS
            assert reached.measured <= reached.bound < 1e-5
    assert "rank 2" in found["Newton,-repeated-rows/range"].name  # of 4, as rows are repeated


def test_too_few_steps_reach_nothing(monkeypatch):
    """With steps for a residual of ½ what is left is too much for least squares to be reached."""
    monkeypatch.setattr("verify.regression.ols.ACCURACY", 0.5)
    found = [f for id, f in findings(ols, d=3, domain="float").items() if id.endswith("reached")]
    assert [f.verdict for f in found] == [Verdict.UNDECIDED] * 6


def test_another_power_than_the_steps_say_is_missed(monkeypatch):
    """One step more than the transformer makes leaves less of the residual, far above rounding."""
    monkeypatch.setattr("verify.regression.ols.ACCURACY", 1e-4)
    for name, method in METHODS.items():
        further = method._replace(power=lambda k, right=method.power: right(k + 1))
        monkeypatch.setitem(METHODS, name, further)
    found = [f for id, f in findings(ols, d=3, domain="float").items() if id.endswith("reached")]
    assert [f.verdict for f in found] == [Verdict.FAILS] * 6


@given(
    n=st.integers(1, 5),
    d=st.integers(1, 4),
    rank=st.integers(0, 4),
    seed=st.integers(0, 99),
)
def test_least_squares_of_any_rank(n, d, rank, seed):
    """Against the pseudo-inverse of SymPy, and as what minimises: S w = b, w in range(Xᵀ)."""
    rng = np.random.default_rng(seed)
    left, right = (
        rng.integers(-2, 3, (n, min(n, d, rank))),
        rng.integers(-2, 3, (min(n, d, rank), d)),
    )
    x, y = sympy.Matrix((left @ right).tolist()), sympy.Matrix(rng.integers(-3, 4, n).tolist())
    domain = Rational()
    X, Y = (domain.weights(np.array(m.tolist(), dtype=float)) for m in (x, y))
    w = least_squares(domain, X, Y)
    assert X.transpose() * X * w == X.transpose() * Y
    assert [[str(e)] for (e,) in w.tolist()] == [[str(e)] for (e,) in (x.pinv() * y).tolist()]


@pytest.mark.parametrize("wrong", ["", "outside", "residual"])
@pytest.mark.parametrize("name", METHODS)
def test_the_range_and_the_residual_are_both_checked(name, wrong, monkeypatch):
    """Weights with a part outside the range have the same residual."""
    method = METHODS[name]

    def statement(run, scale):
        return SimpleNamespace(at=lambda *sizes: SimpleNamespace(predictions=predictions(sizes)))

    def predictions(sizes):
        right = method.statement(Run(), 2.0**-12).at(*sizes)

        def outside(inputs):
            (x, y), *_ = inputs.X
            null = inputs.domain.matrix([[-y], [x]])
            return right.predictions(inputs) + null

        return outside if wrong == "outside" else right.predictions

    if wrong == "residual":
        right = ols_module.identity
        monkeypatch.setattr(ols_module, "identity", lambda *given: 2 * right(*given))
    found = ols_module._in_range(Run(), method._replace(statement=statement), [0], 2)
    assert found.verdict is (Verdict.FAILS if wrong else Verdict.HOLDS)


@pytest.mark.parametrize("factor", [-0.5, 0.0, 0.999, 1.0, 1.001])
def test_convergence_needs_a_step_between_both_ends(factor):
    x = np.diag([3.0, 1.0])
    found = [newton_converges(x, factor * 2 / 81, "gram"), descent_converges(x, factor * 2 / 9)]
    found.append(newton_converges(x, factor * 2 / 9, "identity"))
    holds = 0 < factor < 1
    assert {f.verdict for f in found} == {Verdict.HOLDS if holds else Verdict.FAILS}
