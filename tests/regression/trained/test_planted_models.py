"""Every finding has the right verdict on planted models."""

import pytest
from planted import (
    Planted,
    descent,
    least_squares,
    newton,
    ridge,
    silent,
    with_noise,
)

from constructions.trained.tasks.regression import Regression
from verify.claim import Run
from verify.finding import Verdict
from verify.regression.trained.ill_conditioned import ill_conditioned
from verify.regression.trained.layers import layers
from verify.regression.trained.newton_or_gd import newton_or_gd
from verify.regression.trained.noisy import noisy
from verify.regression.trained.probes import Probed

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


def test_layers(verdicts):
    def found(*rules, samples=300, **own):
        return verdicts(layers, {"a": Planted(*rules, **own)}, checkpoint="a", samples=samples)

    assert {*found(newton(2), newton(5), newton(12)).values()} == {HOLDS}
    swapped = found(newton(12), newton(5), newton(20))
    assert swapped["a/layer-2"] is FAILS
    assert swapped["a/layer-1"] is swapped["a/layer-3"] is HOLDS
    assert found(newton(2), newton(2))["a/layer-2"] is UNDECIDED
    better = found(newton(2), newton(5), own=least_squares)
    assert better["a/own-unembedding"] is FAILS
    assert better["a/layer-2"] is HOLDS
    few = found(newton(2), newton(10), own=least_squares, samples=20)
    assert few["a/own-unembedding"] is not HOLDS
    # What fitting to useless coordinates costs is taken off.
    for rules in ((newton(5), with_noise(newton(5), 40)), (with_noise(newton(5), 40), newton(5))):
        assert found(*rules, samples=2000)["a/layer-2"] is UNDECIDED


def test_layers_with_noisy_labels(verdicts):
    """With as many examples as dimensions least squares errs by anything, and ridge does not."""
    model = Planted(ridge(3.0), ridge(0.25), task=Regression(3, 7, noise=0.5))
    found = verdicts(layers, {"a": model}, checkpoint="a", samples=1000)
    assert {*found.values()} == {HOLDS}
    probed = Probed.of(Run(seed=0), model.named(), 4000)
    p = probed.prompts
    assert probed.error(0 * probed.predictions[0]).mean() == pytest.approx(1, abs=0.03)
    own = probed.error(model(p.x, p.y, p.x_query).numpy())
    assert own.mean() == pytest.approx(probed.best)


@pytest.mark.slow
def test_newton_or_gradient_descent(verdicts):
    def found(*rules):
        return verdicts(newton_or_gd, {"a": Planted(*rules)}, checkpoint="a", samples=200)

    # After 18 steps both starts have come to least squares.
    assert found(*map(newton, (2, 4, 6)))["a/last-layer"] is HOLDS
    by_newton = found(*map(newton, (2, 6, 10, 14, 18)))
    assert by_newton["a/newton"] is by_newton["a/newton/squares"] is HOLDS
    by_descent = found(*(descent(k, 1.0) for k in (1, 4, 16, 64, 256)))
    assert by_descent["a/last-layer"] is FAILS
    assert by_descent["a/gradient-descent"] is HOLDS
    fallen = found(*map(newton, (2, 6, 10, 14, 3, 1)))
    assert fallen["a/newton"] is FAILS
    # From αI they are 2^k gradient steps of size 1/λmax.
    from_identity = found(newton(2, "identity"), newton(5, "identity"))
    assert from_identity["a/last-layer"] is FAILS


def test_ill_conditioned(verdicts):
    def found(rule):
        model = Planted(newton(1), rule, task=Regression(4, 9, "ill-conditioned"))
        return verdicts(ill_conditioned, {"a": model}, checkpoint="a", samples=200)

    by_newton = found(newton(20))
    assert by_newton["a/steps"] is by_newton["a/last-layer"] is HOLDS
    assert found(newton(14))["a/steps"] is FAILS  # about five times as many gradient steps
    few = found(descent(6, 1.0))
    assert few["a/steps"] is few["a/last-layer"] is FAILS
    assert found(silent)["a/steps"] is FAILS


def test_noisy(verdicts):
    def found(penalty, other):
        noise = Regression(3, 7, noise=0.5)
        models = {"a": Planted(ridge(penalty), task=noise), "b": Planted(ridge(other))}
        return verdicts(noisy, models, checkpoint="a", noiseless="b", samples=1000)

    assert {*found(0.25, 0.03).values()} == {HOLDS}
    more = found(1.0, 1.0)
    assert more["a/nearest"] is more["b/nearest-without-noise"] is FAILS
    assert more["a/errors"] is not HOLDS
    silent_one = found(1e6, 0.25)
    assert silent_one["a/errors"] is silent_one["b/nearest-without-noise"] is FAILS
