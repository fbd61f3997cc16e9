"""The claim rates: what it shows beside holding, and what makes it fail."""

from copy import deepcopy

import numpy as np
import pytest
from by_id import findings

from verify.claim import Run
from verify.finding import Verdict
from verify.regression import rates as rates_module
from verify.regression.rates import rates


def test_rates_are_inequalities_of_every_step():
    found = findings(rates, condition=30.0, d=2, digits=30)
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
    """A method that stands still, with rounding as large as a step: undecided; it fails if rounding
    is smaller at half of the steps."""
    still, factors = [(1.0, 1e-3)] * 5, [1 - 1e-3] * 4
    hidden = rates_module._every_step("x", "x", still, factors, "")
    assert hidden.verdict is Verdict.UNDECIDED
    fine = [(1.0, 1e-9)] * 5
    assert rates_module._every_step("x", "x", fine, factors, "").verdict is Verdict.FAILS
    both = [(1.0, 1e-9), (0.9, 1e-9), (0.9, 0.1)]
    assert rates_module._every_step("x", "x", both, [0.95] * 2, "").verdict is Verdict.HOLDS


@pytest.mark.parametrize(("part", "verdict"), [(0.99, Verdict.HOLDS), (1.01, Verdict.UNDECIDED)])
def test_a_rate_is_decided_if_rounding_is_below_its_largest_bound(part, verdict):
    """The largest bounds are 2ρ‖e_0‖ after a step of Chebyshev's method, and 2 at the start."""
    run, problem = Run(quick=True), rates_module.Problem(np.random.default_rng(0), 10.0, 3)
    problem.floor = part * 2 * problem.rho * float(np.linalg.norm(problem.w))
    assert next(rates_module._chebyshev_every_count(run, problem)).verdict is verdict
    problem.condition = part * 2 / (8 * 3 * rates_module.EPS)
    assert rates_module._conjugate_gradient_every_step(problem).verdict is verdict


@pytest.mark.slow
def test_rates_at_a_condition_number_that_float64_does_not_resolve():
    found = findings(rates, condition=9e7, d=2, digits=30)
    assert found["gradient-descent"].verdict is Verdict.UNDECIDED


def test_a_method_that_is_slower_than_stated_fails(monkeypatch):
    """Half the step size, half of α and twice the interval: each converges, but not as fast."""
    slower = {
        "gradient_descent": lambda d, k, eta: gd(d, k, eta / 2),
        "newton": lambda d, k, alpha, **start: n(d, k, alpha / 2, **start),
        "chebyshev": lambda d, k, a, b: ch(d, k, a, 4 * b),
    }
    gd, n, ch = (getattr(rates_module, name) for name in slower)
    for name, made in slower.items():
        monkeypatch.setattr(rates_module, name, made)
    run, problem = Run(quick=True), rates_module.Problem(np.random.default_rng(0), 10.0, 3)
    found = [
        rates_module._gradient_descent_every_step(run, problem),
        rates_module._newton_every_step(run, problem, "gram"),
        rates_module._newton_every_step(run, problem, "identity"),
        next(rates_module._chebyshev_every_count(run, problem)),
    ]
    assert [finding.verdict for finding in found] == [Verdict.FAILS] * 4


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_an_error_far_above_rounding_fails_a_rate(start):
    """Answers that are off by 10⁻⁸ of themselves, where Newton has converged to 10⁻¹²."""

    def off(model):
        faulty = deepcopy(model)
        faulty.unembed.W_U *= 1 + 1e-8
        return faulty

    problem = rates_module.Problem(np.random.default_rng(0), 10.0, 3)
    found = rates_module._newton_every_step(Run(fault=off), problem, start)
    assert found.verdict is Verdict.FAILS


def test_stated_counts_that_are_wrong_fail():
    for count in rates_module.COUNTS:
        assert rates_module._stated_count(count).verdict is Verdict.HOLDS
        if not count.least:
            continue
        for change in (-1, 1):
            wrong = count._replace(
                steps=lambda c, e, right=count.steps, by=change: right(c, e) + by
            )
            assert rates_module._stated_count(wrong).verdict is Verdict.FAILS


def test_conjugate_gradients_that_make_every_step_twice_fail(monkeypatch):
    problem = rates_module.Problem(np.random.default_rng(0), 10.0, 4)
    assert rates_module._conjugate_gradient_every_step(problem).verdict is Verdict.HOLDS
    right = rates_module.conjugate_gradient_iterates
    twice = lambda *given: (w for w in right(*given) for _ in range(2))  # noqa: E731
    monkeypatch.setattr(rates_module, "conjugate_gradient_iterates", twice)
    assert rates_module._conjugate_gradient_every_step(problem).verdict is Verdict.FAILS


@pytest.mark.parametrize(("step", "verdict"), [(0, Verdict.HOLDS), (2, Verdict.FAILS)])
def test_one_step_that_does_not_double_the_digits_fails(step, verdict, monkeypatch):
    digits = [1.0 * 2**j for j in range(8)]
    changed = digits[:-step] + [0.99 * each for each in digits[-step:]] if step else digits
    monkeypatch.setattr(rates_module, "newton_digits", lambda *given, **options: changed)
    assert rates_module._digits_double(Run(), 100).verdict is verdict


def test_too_few_stated_steps_fail():
    for count in rates_module.COUNTS:
        fewer = count._replace(steps=lambda c, e, right=count.steps: right(c, e) // 2)
        assert rates_module._stated_count(fewer).verdict is Verdict.FAILS
