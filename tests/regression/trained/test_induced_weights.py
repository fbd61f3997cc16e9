"""The claim `induced-weights` on models whose answers are known."""

import numpy as np
import pytest
from planted import Planted, bent, descent, newton, noise_of, silent

from constructions.trained.tasks.regression import Regression
from verify.claim import Run
from verify.finding import Verdict
from verify.regression.trained.induced_weights import Induced, induced_weights

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


def test_induced_weights(verdicts):
    def found(*rules, samples=100):
        models = {"a": Planted(*rules, task=Regression(3, 5))}
        return verdicts(induced_weights, models, checkpoint="a", samples=samples)

    by_newton = found(*map(newton, (2, 5, 8, 11)))
    assert by_newton["a/linear"] is by_newton["a/last-layer"] is by_newton["a/newton"] is HOLDS
    assert found(*map(descent, (2, 8, 32)))["a/last-layer"] is FAILS
    by_descent = found(*map(descent, (2, 8, 32, 128)))
    assert by_descent["a/gradient-descent"] is HOLDS
    assert found(bent(newton(20)))["a/linear"] is FAILS
    empty = found(silent, samples=30)
    assert empty["a/newton"] is FAILS
    assert empty["a/linear"] is not HOLDS


@pytest.mark.usefixtures("at_once")
def test_what_induces_weights():
    """The weights of 4 and of 9 steps match best; what is not linear is measured without bias."""

    def induced(*rules):
        return Induced.of(Run(seed=0), Planted(*rules).named(), 60)

    straight = induced(newton(4), newton(9))
    assert straight.weights.shape == (2, 60, 6, 3)
    assert straight.explained.mean() == pytest.approx(1, abs=2e-3)  # the probe has a constant
    assert straight.like_newton.best.tolist() == [4, 9]
    assert straight.like_newton.last.mean() == pytest.approx(1, abs=1e-3)
    assert induced(bent(newton(9))).explained.mean() < 0.9
    unrelated = induced(lambda a: noise_of(a).standard_normal(a.labels.shape))
    assert unrelated.explained.mean() == pytest.approx(0, abs=0.02)
    assert np.mean(unrelated.nonlinear / unrelated.predicted) == pytest.approx(1, abs=0.02)
