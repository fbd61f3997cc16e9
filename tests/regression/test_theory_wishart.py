"""Moments of Wishart spectra against known polynomials, quadrature and sampling."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects
from scipy.integrate import dblquad
from scipy.special import gamma, gammainc

from theory.regression import wishart_moments

sizes = st.tuples(st.integers(1, 5), st.integers(0, 6)).map(lambda s: (s[0] + 2 * s[1] + 1, s[0]))


@given(sizes)
def test_the_first_moments_are_known_polynomials(size):
    """Of the real Wishart distribution, in n and d; for d = 1 they are (n + 2)(n + 4)(n + 6)n."""
    n, d = size
    cubes = n**3 + d**3 + 6 * n * d * (n + d) + 6 * (n**2 + d**2) + 17 * n * d + 21 * (n + d) + 20
    wanted = [
        d,
        n * d,
        n * d * (n + d + 1),
        n * d * (n**2 + d**2 + 3 * n * d + 3 * n + 3 * d + 4),
        n * d * cubes,
    ]
    for found, value in zip(wishart_moments(n, d, 5), wanted, strict=True):
        assert found.contains(value)
        assert found.rel_accuracy_bits() > 3000


@given(st.integers(0, 6).map(lambda i: 2 * i + 2), st.floats(0.5, 30))
def test_of_one_eigenvalue_it_is_chi_squared(n, largest):
    """Whose moments up to a bound are 2^k γ(n/2 + k, b/2)/γ(n/2, b/2)."""

    def lower_gamma(a):
        return gammainc(a, largest / 2) * gamma(a)

    for k, found in enumerate(wishart_moments(n, 1, 4, largest)):
        wanted = 2**k * lower_gamma(n / 2 + k) / lower_gamma(n / 2)
        assert float(found) == pytest.approx(wanted, rel=1e-9, abs=0)


@pytest.mark.parametrize("largest", [3.0, 9.0])
def test_two_eigenvalues_by_their_joint_density(largest):
    n, a = 5, 1

    def over(f):
        def integrand(x, y):
            return f(x, y) * (x * y) ** a * np.exp(-(x + y) / 2) * abs(x - y)

        return 2 * dblquad(integrand, 0, largest, 0, lambda y: y, epsabs=1e-11, epsrel=1e-11)[0]

    whole = over(lambda x, y: 1.0)
    for k, found in enumerate(wishart_moments(n, 2, 5, largest)):
        wanted = over(lambda x, y, k=k: x**k + y**k) / whole
        assert float(found) == pytest.approx(wanted, rel=1e-8, abs=0)


@pytest.mark.parametrize(("n", "d"), [(8, 3), (20, 5)])
def test_against_sampling(n, d):
    largest, rng = 2.0 * n, np.random.default_rng(0)
    x = rng.standard_normal((40_000, n, d))
    values = np.linalg.eigvalsh(x.swapaxes(1, 2) @ x)
    for bound, kept in ((None, values), (largest, values[values[:, -1] <= largest])):
        for k, found in enumerate(wishart_moments(n, d, 4, bound)):
            traces = (kept**k).sum(-1)
            error = traces.std() / np.sqrt(len(traces))
            assert abs(float(found) - traces.mean()) <= 5 * error


def test_what_has_no_finite_sums_or_too_little_precision_is_rejected():
    for n in (2, 5):  # n − d has to be odd and positive
        with rejects("n", "d"):
            wishart_moments(n, 3, 2)
    with rejects("largest"):
        wishart_moments(20, 5, 2, 1e-300)
