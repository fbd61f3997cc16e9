"""The claims gd, ogd, ols, rates, depth and memory: what each shows beside holding."""

import numpy as np
import pytest
from reference_layers import TABLE

from verify.claim import Run
from verify.finding import Verdict
from verify.regression import memory as memory_module
from verify.regression import rates as rates_module
from verify.regression.depth import depth
from verify.regression.gradient_descent import gradient_descent
from verify.regression.memory import memory
from verify.regression.ols import ols
from verify.regression.online_gradient_descent import online_gradient_descent
from verify.regression.rates import rates


def findings(claim, **options):
    return list(claim.findings(Run(quick=True), **options))


def by_name(found, words):
    (finding,) = [f for f in found if words in f.name]
    return finding


# gd


@pytest.mark.parametrize("layout", ["direct", "causal", "ladder"])
def test_gradient_descent_has_each_kind_of_evidence(layout):
    found = findings(gradient_descent, k=4, d=2, n=3, layout=layout)
    kinds = {
        "size": "exact",
        "equals the recursion in float64": "float",
        "exactly over Q": "exact",
        "mod random 61-bit primes": "identity",
        "symbolically": "identity",
        "every register holds": "identity",
    }
    for words, evidence in kinds.items():
        finding = by_name(found, f"{layout}: {words}")
        assert (finding.evidence, finding.verdict) == (evidence, Verdict.HOLDS)


@pytest.mark.parametrize(("factor", "holds"), [(1.99, True), (2.01, False)])
def test_a_step_too_large_fails_to_converge_but_is_computed(factor, holds):
    (converges,) = [
        f for f in findings(gradient_descent, k=3, d=2, n=4, samples=4) if "converges" in f.name
    ]
    limit = float(converges.bound.removeprefix("< "))
    found = findings(
        gradient_descent, k=3, d=2, n=4, samples=4, step_size=limit * (factor / 2 + 0.0)
    )
    failing = [f for f in found if f.verdict is not Verdict.HOLDS]
    assert [f.name for f in failing] == ([] if holds else ["converges: 0 < η < 2/λmax"])
    if failing:
        assert "Choose η below" in failing[0].detail


# ogd


def test_online_gradient_descent_fits_the_last_example():
    found = findings(online_gradient_descent, d=3, n=4)
    fitted = by_name(found, "last example is fitted")
    assert fitted.evidence == "exact"
    assert fitted.measured == fitted.bound
    everywhere = by_name(found, "mod random 61-bit primes")
    assert everywhere.evidence == "identity"
    assert float(everywhere.measured.split("≤ ")[1]) <= 1e-20
    assert not any("symbolically" in f.name for f in found), "no polynomial, no symbolic domain"


# ols


def test_least_squares_in_three_families_by_two_methods():
    found = findings(ols, d=4)
    for method in ("Newton", "gradient descent"):
        for family in ("n > d", "n < d", "repeated rows"):
            exact, reached = [f for f in found if f.name.startswith(f"{method}, {family}")]
            assert (exact.evidence, reached.evidence) == ("exact", "float")
            assert reached.measured <= reached.bound < 1e-5
    assert "rank 2" in by_name(found, "Newton, repeated rows (d=4, n=8, rank").name


def test_least_squares_is_missed_with_too_few_steps(monkeypatch):
    """With steps for a residual of ½ the bound is too wide to say anything, which is a failure."""
    monkeypatch.setattr("verify.regression.ols.ACCURACY", 0.5)
    found = findings(ols, d=3, domain="float")
    assert all(f.verdict is Verdict.FAILS for f in found)


# rates


def test_rates_are_inequalities_of_every_step():
    found = findings(rates, condition=1e4, d=3, digits=30)
    assert [f.name for f in found if f.verdict is not Verdict.HOLDS] == []
    assert {f.evidence for f in found} == {"float"}
    for words in ("gradient descent, every layer", "Newton from αS, every", "Chebyshev, every"):
        assert by_name(found, words).measured.endswith("% of the bound")


def test_a_rate_that_is_missed_fails():
    """An error that shrinks by 0.6 where 0.5 is stated, far above rounding."""
    errors = [(0.6**j, 1e-15) for j in range(5)]
    finding = rates_module._every_step("x", errors, [0.5] * 4, "")
    assert finding.verdict is Verdict.FAILS
    assert rates_module._every_step("x", errors, [0.61] * 4, "").verdict is Verdict.HOLDS


def test_stated_counts_that_are_wrong_fail(monkeypatch):
    right = rates_module.newton_steps
    for change, words in ((-1, "is too few"), (1, "is enough")):
        monkeypatch.setattr(rates_module, "newton_steps", lambda *a, by=change: right(*a) + by)
        by_count = {f.name: f for f in rates_module._stated_counts()}
        wrong = [f for name, f in by_count.items() if f.verdict is Verdict.FAILS]
        assert len(wrong) == 2, "from αS and from αI"
        assert all(f.measured.endswith(words) for f in wrong)


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
    paper, direct, ladder, bound, ladder_identity, bound_identity = TABLE[k]
    row = next(f for f in table if f.name == f"layers for k = {k}")
    assert row.verdict is Verdict.HOLDS
    assert row.measured == (
        f"paper {paper}, direct {direct}, ladder {ladder}, at least {bound} (from αS); "
        f"direct {direct - 1}, ladder {ladder_identity}, at least {bound_identity} (from αI)"
    )


def test_the_evidence_of_the_table(table):
    rows = [f for f in table if f.name.startswith("layers for k")]
    assert len(rows) == 13
    for f in rows:
        assert (f.evidence, f.bound) == ("exact", "layers counted, predictions not compared")
    compared = findings(depth, largest_k=1)[-2:]
    assert {f.evidence for f in compared} == {"identity"}
    assert all("error probability" in f.bound for f in compared)


def test_the_degree_is_that_of_the_polynomial(table):
    for start, power in (("αS", 2), ("αI", 1)):
        finding = by_name(table, f"from {start}")
        assert finding.evidence == "identity"
        assert finding.measured == ", ".join(str(2 ** (k + power) + 1) for k in range(6))


def test_fewer_layers_than_the_bound_fail(monkeypatch):
    monkeypatch.setattr("verify.regression.depth.newton_lower_bound", lambda k, start: 99)
    found = findings(depth, largest_k=1, domain="float")
    assert all(f.verdict is Verdict.FAILS for f in found if f.name.startswith("layers for k"))


# memory


@pytest.fixture(scope="module")
def remembered():
    return findings(memory, samples=4)


def test_memory_sets_exponents_against_the_known_ones(remembered):
    def exponent(words):
        return float(by_name(remembered, words).measured.rsplit(" ", 1)[1])

    # ½ κ ln(1/ε) and ½ √κ ln(2/ε), with ceilings and lower-order terms.
    assert exponent("gradient descent: steps") == pytest.approx(1.0, abs=0.01)
    assert exponent("Chebyshev: steps") == pytest.approx(0.5, abs=0.01)
    assert "4.00 more for 4κ" in by_name(remembered, "Newton from αS").measured
    assert "2.00 more for 4κ" in by_name(remembered, "Newton from αI").measured


def test_memory_labels_an_estimate_as_one(remembered):
    one_pass = by_name(remembered, "online gradient descent: examples")
    assert one_pass.evidence == "statistical"
    assert "three standard errors" in one_pass.measured
    assert [f.evidence for f in remembered if "degree in the prompt" in f.name] == ["identity"] * 2


@pytest.mark.parametrize(
    ("exponent", "verdict"),
    [(1.0, Verdict.HOLDS), (0.5, Verdict.UNDECIDED), (0.25, Verdict.FAILS)],
)
def test_the_one_pass_exponent_has_three_answers(exponent, verdict):
    examples = {4.0**i: (100 * 4 ** (i * exponent), 1.0) for i in range(4, 8)}
    assert memory_module._one_pass(examples).verdict is verdict


def test_counts_that_are_not_the_least_are_noticed():
    counts = memory_module.steps_against_condition()["Chebyshev"]
    assert memory_module._no_krylov_method_is_faster(counts).verdict is Verdict.HOLDS
    too_many = [count + 3 for count in counts]
    assert memory_module._no_krylov_method_is_faster(too_many).verdict is Verdict.FAILS


def test_the_slope_of_a_power_is_its_exponent():
    counts = [round(c**0.75 * 2**20) for c in memory_module.CONDITIONS]
    assert memory_module.fitted_exponent(counts) == pytest.approx(0.75)
    assert memory_module.per_factor_of_four([3, 5, 7]) == 2
    assert np.log2(memory_module.CONDITIONS[0]) == 4
