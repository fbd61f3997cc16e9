"""The claims gd, ogd, ols, rates, depth and state-size: what each shows beside holding."""

from copy import deepcopy
from dataclasses import replace
from importlib import import_module

import numpy as np
import pytest
import sympy
from hypothesis import given
from hypothesis import strategies as st
from reference_layers import TABLE

from theory.checks import InputError
from verify.claim import Run
from verify.domains import Rational
from verify.faults import TensorFault
from verify.finding import Verdict
from verify.regression import rates as rates_module
from verify.regression import state_size as state_size_module
from verify.regression.algorithms import least_squares
from verify.regression.chebyshev import chebyshev
from verify.regression.depth import depth
from verify.regression.gradient_descent import gradient_descent
from verify.regression.hyperpower import hyperpower
from verify.regression.ols import FAMILIES, METHODS, _reaches_least_squares, ols
from verify.regression.online_gradient_descent import online_gradient_descent
from verify.regression.rates import rates
from verify.regression.state_size import state_size

module_of_chebyshev = import_module("constructions.regression.chebyshev")


def findings(claim, **options):
    """The claim's findings by their ids."""
    found = list(claim.findings(Run(quick=True), **options))
    by_id = {f.id: f for f in found}
    assert len(by_id) == len(found)
    return by_id


# gd


@pytest.mark.parametrize("layout", ["direct", "causal", "ladder"])
def test_gradient_descent_has_each_kind_of_evidence(layout):
    found = findings(gradient_descent, k=4, d=2, n=3, layout=layout)
    kinds = {
        "size": "exact",
        "float": "float",
        "rational": "exact",
        "modular": "identity",
        "symbolic": "identity",
        "registers": "identity",
    }
    for id, evidence in kinds.items():
        finding = found[f"{layout}/{id}"]
        assert (finding.evidence, finding.verdict) == (evidence, Verdict.HOLDS)


@pytest.mark.parametrize(("factor", "holds"), [(1.99, True), (2.01, False)])
def test_a_step_too_large_fails_to_converge_but_is_computed(factor, holds):
    sizes = {"k": 3, "d": 2, "n": 4, "samples": 4, "layout": "direct"}
    limit = findings(gradient_descent, **sizes)["converges"].bound
    found = findings(gradient_descent, **sizes, step_size=limit * factor / 2)
    failing = [f for f in found.values() if f.verdict is not Verdict.HOLDS]
    assert [f.id for f in failing] == ([] if holds else ["converges"])
    if failing:
        assert "Choose η below" in failing[0].detail


# ogd


def test_online_gradient_descent_fits_the_last_example():
    found = findings(online_gradient_descent, d=3, n=4)
    assert found["fitted"].evidence == "exact"
    assert found["fitted"].measured == found["fitted"].bound == "equal"
    assert found["modular"].evidence == "identity"
    assert float(found["modular"].words.split("≤ ")[1]) <= 1e-20
    assert "symbolic" not in found, "no polynomial, no symbolic domain"


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
    assert "rank 2" in found["Newton,-repeated-rows/range"].name


def test_too_few_steps_reach_nothing(monkeypatch):
    """With steps for a residual of ½ what is left is too much for least squares to be reached."""
    monkeypatch.setattr("verify.regression.ols.ACCURACY", 0.5)
    found = [f for id, f in findings(ols, d=3, domain="float").items() if id.endswith("reached")]
    assert [f.verdict for f in found] == [Verdict.UNDECIDED] * 6
    assert all("nothing is reached" in f.detail for f in found)


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


def test_a_mistake_that_newton_corrects_is_noticed():
    run = Run(quick=True, fault=TensorFault("layer 8, head 2", "wrong sign"))
    found = _reaches_least_squares(run, METHODS["Newton"], FAMILIES["tall"](3), 3)
    assert {f.id: f.verdict for f in found} == {"reached": Verdict.HOLDS, "modular": Verdict.FAILS}


# hyperpower and chebyshev


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


# rates


def test_rates_are_inequalities_of_every_step():
    found = findings(rates, condition=1e4, d=2, digits=30)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
    assert {f.evidence for id, f in found.items() if id != "chebyshev/modular"} == {"float"}
    for id in ("gradient-descent", "newton/gram", "newton/identity", "chebyshev"):
        assert 0 < found[id].measured <= found[id].bound == 1
    for id in ("chebyshev", "conjugate-gradient"):  # the bounds are not ten times what they bound
        assert found[id].measured > 0.2


def test_a_rate_that_is_missed_fails():
    """An error that shrinks by 0.6 where 0.5 is stated, far above rounding."""
    errors = [(0.6**j, 1e-15) for j in range(5)]
    for factor, verdict in ((0.5, Verdict.FAILS), (0.61, Verdict.HOLDS)):
        finding = rates_module._every_step("x", "x", errors, [factor] * 4, "")
        assert finding.verdict is verdict


def test_a_rate_that_rounding_hides_is_undecided():
    """A method that stands still, with rounding as large as a step; seen at half the steps, it is
    told."""
    still, factors = [(1.0, 1e-3)] * 5, [1 - 1e-3] * 4
    hidden = rates_module._every_step("x", "x", still, factors, "")
    assert hidden.verdict is Verdict.UNDECIDED
    assert "at 4 of them the bound is that of rounding" in hidden.words
    fine = [(1.0, 1e-9)] * 5
    assert rates_module._every_step("x", "x", fine, factors, "").verdict is Verdict.FAILS
    both = [(1.0, 1e-9), (0.9, 1e-9), (0.9, 0.1)]
    assert rates_module._every_step("x", "x", both, [0.95] * 2, "").verdict is Verdict.HOLDS


@pytest.mark.slow
def test_rates_at_a_condition_number_that_float64_does_not_resolve():
    found = findings(rates, condition=9e7, d=2, digits=30)
    assert found["gradient-descent"].verdict is Verdict.UNDECIDED


def test_a_method_that_is_slower_than_stated_fails(monkeypatch):
    """Half the step size, half of α and twice the interval: each converges, but not as fast."""
    import constructions as c

    slower = {
        "gradient_descent": lambda d, k, eta: gd(d, k, eta / 2),
        "newton": lambda d, k, alpha, **start: n(d, k, alpha / 2, **start),
        "chebyshev": lambda d, k, a, b: ch(d, k, a, 4 * b),
    }
    gd, n, ch = (getattr(c, name) for name in slower)
    for name, made in slower.items():
        monkeypatch.setattr(c, name, made)
    found = findings(rates, condition=10.0, d=3, digits=30)
    for id in ("gradient-descent", "newton/gram", "newton/identity", "chebyshev"):
        assert found[id].verdict is Verdict.FAILS, id


def test_an_error_far_above_rounding_fails_a_rate():
    """Answers that are off by 10⁻⁸ of themselves, where Newton has converged to 10⁻¹²."""

    def off(model):
        faulty = deepcopy(model)
        faulty.unembed.W_U *= 1 + 1e-8
        return faulty

    run = Run(quick=True, fault=off)
    found = {f.id: f for f in rates.findings(run, condition=10.0, d=3, digits=30)}
    for id in ("newton/gram", "newton/identity"):
        assert found[id].verdict is Verdict.FAILS


def test_stated_counts_that_are_wrong_fail():
    for count in rates_module.COUNTS:
        assert rates_module._stated_count(count).verdict is Verdict.HOLDS
        if not count.least:
            continue
        for change, words in ((-1, "is too few"), (1, "is enough")):
            wrong = count._replace(
                steps=lambda c, e, right=count.steps, by=change: right(c, e) + by
            )
            finding = rates_module._stated_count(wrong)
            assert finding.verdict is Verdict.FAILS
            assert finding.detail.endswith(words)


def test_digits_that_do_not_double_fail(monkeypatch):
    monkeypatch.setattr(rates_module, "newton_digits", lambda *a, **b: [0.5, 1.0, 1.9, 3.9])
    assert rates_module._digits_double(Run(), 3).verdict is Verdict.FAILS
    monkeypatch.setattr(rates_module, "newton_digits", lambda *a, **b: [-1.0, -0.5])
    assert rates_module._digits_double(Run(), 3).verdict is Verdict.FAILS


# depth


@pytest.fixture(scope="module")
def table():
    """Layers counted; that the layouts are equal is shown at smaller k."""
    return findings(depth, largest_k=12, domain="float")


@pytest.mark.parametrize("k", TABLE)
def test_the_table_of_layers(k, table):
    paper, direct, bound, bound_identity = TABLE[k]
    row = table[f"layers/{k}"]
    assert row.verdict is Verdict.HOLDS
    assert row.measured == {
        "from αS": {"direct": direct, "ladder": bound, "paper": paper},
        "from αI": {"direct": direct - 1, "ladder": bound_identity},
    }
    assert row.bound == {"from αS": bound, "from αI": bound_identity}


def test_the_lower_bound_names_its_models_and_is_arithmetic(table):
    bound = table["lower-bound"]
    assert (bound.evidence, bound.measured) == ("exact", bound.bound)
    assert "linear or ReLU heads and ReLU MLPs, on tokens affine in the prompt" in bound.name


def test_the_evidence_of_the_table(table):
    for k in range(13):
        row = table[f"layers/{k}"]
        assert (row.evidence, row.wanted) == ("exact", "layers counted, predictions not compared")
    compared = findings(depth, largest_k=1)
    for k in range(2):
        assert compared[f"layers/{k}"].evidence == "identity"
        assert "at d = 2, n = 3 mod random primes" in compared[f"layers/{k}"].wanted


def test_the_degree_is_that_of_the_polynomial(table):
    for start, power in (("gram", 2), ("identity", 1)):
        finding = table[f"degree/{start}"]
        assert finding.evidence == "identity"
        assert finding.measured == [2 ** (k + power) + 1 for k in range(6)]


@pytest.mark.slow
def test_fewer_layers_than_the_bound_fail(monkeypatch):
    monkeypatch.setattr("verify.regression.depth.newton_lower_bound", lambda k, start: 99)
    found = findings(depth, largest_k=1, domain="float")
    assert all(found[f"layers/{k}"].verdict is Verdict.FAILS for k in range(2))


# state-size


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
