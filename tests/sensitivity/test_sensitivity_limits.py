"""Limits of parameters of sensitivity: the last value is accepted, and the next one is refused."""

from fractions import Fraction
from functools import partial

import pytest
from limits import limited
from refusals import rejects

from theory import sensitivity as s


@pytest.mark.parametrize(
    "wrong",
    [{"eta": 9e-301}, {"eta": 1.0}, {"count": 0}, {"by_place": [1.0000001]}, {"by_place": [-1e-9]}],
)
def test_estimates_have_limits(wrong):
    (name,) = wrong
    with rejects(name):
        s.Estimate(**{"by_place": [0.0, 1.0], "count": 1, "eta": 0.1, **wrong})


@pytest.mark.parametrize(
    ("function", "name", "last"),
    [
        (s.by_minus_ones, "d", 300),
        (s.shift_polynomial, "minus", 300),
        (s.shift_polynomial, "plus", 300),
        (s.eigenvalues, "d", 300),
        (s.eigenvalues_by_definition, "d", 16),
        (s.walks, "d", 300),
        (s.walks, "steps", 1000),
        (s.tabulated, "d", 22),
        (s.junta_table, "k", 24),
    ],
)
def test_limits(function, name, last):
    limited(function, name, None, last)


def test_limits_of_rates():
    of_bits = (
        s.parity_noise_sensitivity,
        s.conjunction_noise_sensitivity,
        s.multiplexer_noise_sensitivity,
        s.majority_noise_sensitivity,
    )
    of_tables = s.noise_sensitivity, s.noise_sensitivity_by_definition
    of_tokens = s.change_when_redrawn, s.change_when_redrawn_by_definition, s.hybrid_bound
    calls = [*(partial(f, 1) for f in of_bits), *(partial(f, [0, 1]) for f in of_tables)]
    calls += [partial(f, [0, 1], 2) for f in of_tokens]
    for call in calls:
        assert (call(0), call(0.0)) == (0, 0)
        assert call(1) == call(1.0) > 0
        for delta in (Fraction(-1, 10**9), Fraction(10**9 + 1, 10**9), -1e-12, 1 + 1e-12):
            with rejects("delta"):
                call(delta)
    for rho in (-1, 1, -1.0, 1.0):
        assert s.noise_stability([0, 1], rho) == rho
    for rho in (Fraction(-(10**9) - 1, 10**9), Fraction(10**9 + 1, 10**9), -1 - 1e-12, 1 + 1e-12):
        with rejects("rho"):
            s.noise_stability([0, 1], rho)
    with rejects("sigma"):
        s.noisy_patches(1, 0.0)
    for function in (s.redrawn, s.forced):
        with rejects("vocabulary_size"):
            function(1)
    for function in (s.redrawn_profile, s.forced_profile, s.efron_stein_weights):
        with rejects("vocabulary_size"):
            function([0], 1)
