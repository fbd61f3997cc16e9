"""Log-linear families, their projections, and the gain of rescaling."""

import math
from fractions import Fraction as F

import numpy as np
import pytest
from refusals import rejects

from theory.language import (
    Log,
    best_scale,
    calibration_gain,
    closest_common_scale,
    common_scale_loss,
    kl,
    level_sets,
    log,
    log_linear,
    miscalibration,
    over_confidence,
    projection,
    rescaled,
    rescaling_gain,
    separating_direction,
)

QUARTERS = [F(1, 4)] * 4
FAMILY = log_linear(QUARTERS, [[0, 1], [1, 0], [2, 1], [1, 3]])


def test_a_member_is_the_formula():
    assert FAMILY.at([2, 1]) == (F(1, 9), F(2, 9), F(4, 9), F(2, 9))
    assert FAMILY.log_partition([2, 1]) == log(F(9, 4))
    assert FAMILY.mean(QUARTERS) == (1, F(5, 4))
    assert FAMILY.covariance(QUARTERS)[0] == [F(1, 2), 0]
    assert FAMILY.gradient([1, 1], QUARTERS) == (0, 0)


def test_the_projection_has_the_moments_and_the_least_divergence():
    p = [F(1, 10), F(2, 5), F(1, 5), F(3, 10)]
    theta, member = projection(FAMILY, p)
    assert np.array(FAMILY.features).T @ member == pytest.approx([1.1, 1.2], abs=1e-10)
    by_theta = 0.25 * np.exp(np.array(FAMILY.features) @ theta)
    assert member == pytest.approx(by_theta / by_theta.sum(), abs=1e-12)


def test_features_that_repeat_each_other_have_a_projection_too():
    twice = log_linear(QUARTERS, [[0, 0], [1, 2], [2, 4], [3, 6]])
    _, member = projection(twice, [F(1, 2), F(1, 6), F(1, 6), F(1, 6)])
    assert member @ np.arange(4) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("exponent", [9, 20])
def test_a_member_far_from_the_base_distribution_is_found(exponent):
    rare = F(1, 10**exponent)
    for p in (F(1, 2), F(99, 100)):
        theta, member = projection(log_linear([1 - rare, rare], [[0], [1]]), [1 - p, p])
        assert member == pytest.approx([float(1 - p), float(p)], abs=1e-9)
        odds = math.log(p / (1 - p)) + exponent * math.log(10)
        assert theta == pytest.approx([odds], abs=1e-6)


def test_separable_data_have_no_projection_and_the_direction_is_reported():
    assert separating_direction(FAMILY, QUARTERS) is None
    direction = separating_direction(FAMILY, [1, 0, 0, 0])
    values = [sum(w * f for w, f in zip(direction, row, strict=True)) for row in FAMILY.features]
    assert min(values) == values[0] < max(values)
    for p in ([1, 0, 0, 0], [F(1, 2), F(1, 2), 0, 0]):  # the second on an edge of the hull
        with rejects("separable"):
            projection(FAMILY, p)


def test_rescaling_gains_what_the_coins_differ_by():
    p, g = [F(1, 10), F(2, 5), F(1, 5), F(3, 10)], [F(1, 2), F(1, 4), F(1, 8), F(1, 8)]
    for A in ([0], [0, 1], [2, 3]):
        best = rescaled(g, A, best_scale(p, g, A))
        assert kl(p, g) - kl(p, best) == rescaling_gain(p, g, A) >= Log()
    assert level_sets(g) == [[0], [1], [2, 3]]
    assert miscalibration(p, g) == F(2, 5)
    assert calibration_gain(p, g) == kl([F(1, 10), F(2, 5), F(1, 2)], [F(1, 2), F(1, 4), F(1, 4)])
    assert over_confidence(p, g, F(1, 8)) == ({0, 1}, F(1, 4))
    assert over_confidence(p, g, F(1, 4)) == ({0}, F(2, 5))
    assert over_confidence(g, p, F(1, 4)) == ({1, 3}, F(13, 40))


def test_one_scale_for_all_prompts():
    half = F(1, 2)
    assert common_scale_loss([1], [half], [F(1, 4)], 3) == -1 * kl([half] * 2, [F(1, 4), F(3, 4)])
    assert common_scale_loss([half, half], [half] * 2, [F(1, 3)] * 2, 1) == 0
    assert float(closest_common_scale(F(1, 4))) == pytest.approx(np.exp(-1), abs=1e-3)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: log_linear(QUARTERS, [[1], [2]]), "features"),
        (lambda: FAMILY.at([1]), "x"),
        (lambda: FAMILY.at([1, 0]), "x"),
        (lambda: FAMILY.mean([1]), "p"),
        (lambda: projection(log_linear([1, 0], [[0], [1]]), [0, 1]), "p"),
        (lambda: rescaled(QUARTERS, [4], 2), "A"),
        (lambda: best_scale(QUARTERS, QUARTERS, [0, 1, 2, 3]), "p"),
        (lambda: common_scale_loss([1], [F(1, 2)] * 2, [F(1, 2)], 2), "weights"),
    ],
)
def test_bad_families_are_rejected(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()


@pytest.mark.parametrize("powers", [(8, 9), (0, 40), (-17, 3), (300, -300)])
def test_weights_of_large_features(powers):
    family = log_linear([F(1, 3), F(2, 3)], [[power, 1] for power in powers])
    first, second = family.weights([F(3, 2), F(5)])
    assert first == F(5, 3) * F(3, 2) ** powers[0]
    assert second == F(10, 3) * F(3, 2) ** powers[1]
