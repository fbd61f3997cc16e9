"""Residual filters: planted algorithms are recovered, and other errors are distinguished."""

import numpy as np
import pytest
from planted import Planted, descent, newton, silent, with_noise
from refusals import rejects

from theory.regression import (
    PrefixSpectrum,
    filter_residual,
    fitted_filter,
    fitted_ridge,
    gaussian_prompts,
    newton_residual,
    unexplained_fraction,
)
from verify.claim import Run
from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.interpret.filters import GROUPS, ResidualErrors, jackknifed
from verify.regression.trained.filters import filters, over_seeds
from verify.regression.trained.probes import Probed
from verify.regression.trained.similarities import Tables

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
D = 4


@pytest.fixture(scope="module")
def spectrum():
    """Errors of predictions on the prefixes t ≥ d, their components and z."""
    p = gaussian_prompts(300, 2 * D, D, seed=0)
    found = PrefixSpectrum(p.x, p.y, p.x_query)
    labels = np.concatenate([p.y, p.y_query[:, None]], axis=-1)
    eigenvalues = found.eigenvalues[:, D:]
    z = (eigenvalues / eigenvalues[..., -1:]).reshape(-1, D)

    def errors(said):
        return (labels - said)[:, D:].ravel()

    return found, errors, found.components[:, D:].reshape(-1, D), z


@pytest.mark.parametrize("k", [1, 5, 9, 14])
@pytest.mark.parametrize(("start", "power"), [("gram", 2), ("identity", 1)])
def test_newton_steps_are_found_again(spectrum, start, power, k):
    found, errors, components, z = spectrum
    said = found.newton([k], 1 / found.largest**power, start)[0]
    fit = fitted_filter(errors(said), components, z)
    assert fit.power == pytest.approx(power, abs=1e-6)
    assert np.log2(fit.steps) == pytest.approx(k, abs=1e-6)
    assert fit.unexplained < 1e-12
    assert unexplained_fraction(errors(said), components, z) < 2e-3
    other = fitted_filter(errors(said), components, z, power=3.0 - power)
    assert other.power == 3 - power
    assert other.unexplained > 1e-3


def test_many_steps_are_found_from_the_few_errors_that_are_left():
    z = np.full((40, 1), 1e-4)
    z[[13, 20, 29], 0] = 1e-7, 2e-7, 4e-7
    fit = fitted_filter(filter_residual(z, 1, 2**21)[:, 0], np.ones((40, 1)), z)
    assert (fit.power, fit.steps / 2**21) == pytest.approx((1, 1))
    assert fit.unexplained < 1e-12


def test_gradient_steps_are_found_again_and_chebyshev_is_another_filter(spectrum):
    found, errors, components, z = spectrum
    fit = fitted_filter(errors(found.gradient_descent([48], 1 / found.largest)[0]), components, z)
    assert (fit.power, fit.steps) == pytest.approx((1, 48))
    chebyshev = errors(found.chebyshev([8], found.largest / 30, found.largest)[0])
    assert fitted_filter(chebyshev, components, z).unexplained > 0.05
    assert unexplained_fraction(chebyshev, components, z) < 0.01
    noise = np.random.default_rng(0).standard_normal(len(z))
    assert unexplained_fraction(noise, components, z) > 0.9


def test_the_family_is_newton_s():
    z = np.linspace(0, 1, 50)
    for k in (0, 3, 8):
        assert np.allclose(filter_residual(z, 2, 2**k), newton_residual(z, k, 1.0), atol=1e-12)
        wanted = newton_residual(z, k, 1.0, "identity")
        assert np.allclose(filter_residual(z, 1, 2**k), wanted, atol=1e-12)


def test_too_few_errors_and_none_are_rejected(spectrum):
    _, _, components, z = spectrum
    for fit in (fitted_filter, unexplained_fraction):
        with rejects("errors"):
            fit(np.ones(5), components[:5], z[:5])
        with rejects("errors"):
            fit(np.zeros(len(z)), components, z)


def said_of(*rules, samples=800):
    """The findings about a planted model, by id."""
    probed = Probed.of(Run(seed=0), Planted(*rules).named(), samples)
    findings, power = filters(probed, Tables.of(probed))
    return {finding.id: finding for finding in findings}, power


@pytest.mark.slow
def test_planted_layers():
    by_newton, power = said_of(*map(newton, (3, 4, 5, 6, 7)))
    assert by_newton["filter/planted"].verdict is HOLDS
    assert by_newton["filter/power"].verdict is FAILS
    assert power.mean == pytest.approx(2, abs=0.2)  # probes are fitted
    assert by_newton["filter/none"].verdict is FAILS
    assert by_newton["ceiling"].verdict is not HOLDS
    assert by_newton["long-prefixes"].verdict is FAILS
    from_identity, power = said_of(*(newton(k, "identity") for k in (2, 3, 4, 5, 6)))
    assert from_identity["filter/power"].verdict is HOLDS
    assert power.mean == pytest.approx(1, abs=0.2)
    assert from_identity["filter/doublings"].verdict is HOLDS
    doublings = from_identity["filter/doublings"].measured["log2 m"]
    assert doublings == pytest.approx([2, 3, 4, 5, 6], abs=0.5)
    squares, _ = said_of(*(descent(k * k, 1.0) for k in (2, 4, 6, 8, 10)))
    assert squares["filter/doublings"].verdict is FAILS
    assert "quadratic" in squares["filter/doublings"].words


def test_a_layer_that_is_no_filter_and_one_that_has_learned_nothing():
    noisy, _ = said_of(newton(4, "identity"), with_noise(newton(6, "identity"), 40), samples=400)
    assert noisy["filter/power"].verdict is HOLDS
    nothing, power = said_of(silent, samples=100)
    assert nothing["filter/power"].verdict is UNDECIDED
    assert power is None
    assert "filter/none" not in nothing


def test_the_fraction_that_no_filter_explains(spectrum):
    _, _, components, z = spectrum
    rng = np.random.default_rng(0)
    rows = (-1, D + 1, D)
    errors = (components * (1 - z) ** 4).sum(-1)
    mixed = errors + rng.standard_normal(len(errors)) * errors.std()
    both = np.stack([errors, mixed]).reshape(2, *rows[:2])
    judged = ResidualErrors(both, components.reshape(rows), z.reshape(rows))
    assert judged.no_filter(0) < 1e-3
    assert 0.3 < judged.no_filter(1) < 0.6


def test_too_few_prompts_decide_nothing():
    found, _ = said_of(newton(4, "identity"), samples=60)
    assert found["filter/none"].verdict is UNDECIDED
    assert "160" in found["filter/none"].words  # so many are enough


def test_seeds_are_the_unit():
    def verdict(*powers):
        return [each.verdict for each in over_seeds([Mean(power, 1e-3) for power in powers])]

    assert verdict(0.7, 0.8) == []
    assert verdict(0.7, 0.8, 0.75) == [HOLDS]
    assert verdict(2.0, 2.0, 1.9) == [UNDECIDED]  # three seeds, so 19 standard errors
    assert verdict(2.0, 2.0, 1.9, 1.95, 2.0) == [FAILS]
    assert verdict(0.5, 1.4, 2.3) == [UNDECIDED]


def test_a_jackknifed_mean_has_the_error_of_a_mean():
    values = np.random.default_rng(0).standard_normal(GROUPS * 5)
    group = np.arange(len(values)) % GROUPS
    found = jackknifed(lambda out: values[group != out].mean())
    means = np.array([values[group == g].mean() for g in range(GROUPS)])
    assert found.mean == pytest.approx(values.mean())
    assert found.error == pytest.approx(means.std(ddof=1) / np.sqrt(GROUPS))
    assert found.freedom == GROUPS - 1


@pytest.mark.slow
def test_the_last_layer_is_judged_and_each_length_for_itself():
    def bent(algorithms):
        return np.cbrt(newton(6, "identity")(algorithms))

    found, _ = said_of(newton(6, "identity"), bent, samples=800)
    assert found["filter/none"].verdict is HOLDS
    assert "of layer 2's squared error" in found["filter/none"].name
    exchanged, _ = said_of(bent, newton(6, "identity"), samples=800)
    assert exchanged["filter/none"].verdict is FAILS
    lengths, _ = said_of(newton(5), newton(6))
    assert lengths["filter/by-length"].verdict is FAILS
    assert list(lengths["filter/by-length"].measured) == [f"t = {t}" for t in range(3, 7)]


def test_short_prefixes_have_most_of_the_error_or_not():
    # Newton's method errs where labels are not determined, and what only errs elsewhere does not.
    found, _ = said_of(newton(25), samples=400)
    assert found["short-prefixes"].verdict is HOLDS
    few, _ = said_of(newton(2), samples=400)
    assert few["short-prefixes"].verdict is FAILS


def test_doublings_are_judged_without_each_group(monkeypatch):
    # A law that holds for all prompts, and not without one of the groups, decides nothing.
    laws = iter(["exponential"] * GROUPS + ["linear"])
    monkeypatch.setattr("verify.regression.trained.filters.growth_of", lambda steps: next(laws))
    found, _ = said_of(*(newton(k, "identity") for k in (2, 3, 4, 5)), samples=200)
    assert found["filter/doublings"].verdict is UNDECIDED
    assert next(laws, None) is None


def test_ridge_is_found_again(spectrum):
    _, _, components, z = spectrum
    errors = (0.03 / (z + 0.03) * components).sum(-1)
    mu, left = fitted_ridge(errors, components, z)
    assert mu == pytest.approx(0.03, rel=1e-4)
    assert left < 1e-8
    fit = fitted_filter(errors, components, z)
    assert fit.power < 0.8  # not every p below 1 is gradient descent
    assert fitted_ridge((components * (1 - z) ** 8).sum(-1), components, z)[1] > 1e-3
    with rejects("errors"):
        fitted_ridge(0 * errors, components, z)
