"""The spectral engine equals plain loops over prefixes and steps, within perturbation bounds.

For w = φ(S) b with S known to ‖δS‖_F ≤ (n + d)·eps·‖X‖_F², the prediction moves by at most
Lip(φ)·‖δS‖_F·‖b‖·‖x_next‖, Lip the Lipschitz constant of φ on the spectrum (φ(S) is Lipschitz with
the same constant in the Frobenius norm), and rounding b moves it by n·eps·max|φ|·‖X‖‖y‖‖x_next‖.
The plain iterations add their own rounding: per step d·eps of the sizes in it, propagated.
"""

import tracemalloc

import numpy as np
import pytest
from flint import fmpz_mat
from hypothesis import example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst
from refusals import rejects

from theory import regression as r
from theory.regression import spectral

EPS = np.finfo(np.float64).eps
STEPS = [0, 1, 2, 3, 5]


@st.composite
def integer_prompts(draw):
    """Small integer prompts: zero rows, repeated rows, every rank, n = 1, d = 1 among them.

    Their Gram matrices have integer minors, so a non-zero eigenvalue is at least tr(S)^(1−d),
    far above what the engine counts as 0.
    """
    n, d = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    entries = st.integers(-2, 2).map(float)
    return tuple(
        draw(npst.arrays(np.float64, shape, elements=entries)) for shape in ((n, d), (n,), (d,))
    )


def gaussian(n=30, d=6, noise=0.5, seed=0):
    p = r.gaussian_prompts(1, n, d, noise=noise, seed=seed)
    return p.x[0], p.y[0], p.x_query[0]


def prefixes(problem):
    """t, X_t, y_t, x_next, λmax, λmin of the non-empty prefixes with S ≠ 0."""
    x, y, x_query = problem
    following = np.vstack([x, x_query])
    for t in range(1, len(x) + 1):
        if (x[:t] != 0).any():
            values = np.linalg.svd(x[:t], compute_uv=False) ** 2
            least = values[values > 1e-9 * values[0]].min()
            yield t, x[:t], y[:t], following[t], values[0], least


def bound(x, y, x_next, lipschitz, largest_phi):
    """The perturbation bound of the module's docstring, with 16 for the constants in it."""
    n, d = x.shape
    size = np.linalg.norm(x)
    b = size * np.linalg.norm(y)
    move = lipschitz * (n + d) * size**2 + n * d * largest_phi
    return 16 * EPS * move * b * np.linalg.norm(x_next)


# Every method: the engine, the plain solver, and Lip(φ), max|φ| on [0, λmax] after k steps.
# φ = η Σ_{j<m} (1 − ηλ)^j for the power methods: |φ'| ≤ η²m²/2, |φ| ≤ ηm; from αS,
# φ = αλ Σ_{j<m} (1 − αλ²)^j: |φ'| ≤ α(m + m²), |φ| ≤ αλmax·m.
def from_identity(c, m):
    return c**2 * m**2 / 2, c * m


def from_gram(alpha, top, m):
    return alpha * (m + m**2), alpha * top * m


def chebyshev_constants(k, low, high):
    """Markov's inequality twice for R, |R| ≤ 1 on [0, a + c]: |φ| ≤ max|R'|, |φ'| ≤ max|R''|/2."""
    width = low + high
    return 2 * k**2 * max(k**2 - 1, 0) / (3 * width**2), 2 * k**2 / width


METHODS = {
    "gradient_descent": (
        lambda s: s.gradient_descent(STEPS, 1.5 / s.largest),
        lambda x, y, k, high, low: r.gradient_descent(x, y, k, 1.5 / high),
        lambda k, high, low: from_identity(1.5 / high, k),
    ),
    "newton gram": (
        lambda s: s.newton(STEPS, 1 / s.largest**2),
        lambda x, y, k, high, low: r.newton(x, y, k, high**-2),
        lambda k, high, low: from_gram(high**-2, high, 2**k),
    ),
    "newton identity": (
        lambda s: s.newton(STEPS, 1.5 / s.largest, "identity"),
        lambda x, y, k, high, low: r.newton(x, y, k, 1.5 / high, "identity"),
        lambda k, high, low: from_identity(1.5 / high, 2**k),
    ),
    "cubic gram": (
        lambda s: s.hyperpower(STEPS, 3, 1 / s.largest**2),
        lambda x, y, k, high, low: r.hyperpower(x, y, k, 3, high**-2),
        lambda k, high, low: from_gram(high**-2, high, 3**k),
    ),
    "cubic identity": (
        lambda s: s.hyperpower(STEPS, 3, 1 / s.largest, "identity"),
        lambda x, y, k, high, low: r.hyperpower(x, y, k, 3, 1 / high, "identity"),
        lambda k, high, low: from_identity(1 / high, 3**k),
    ),
    "chebyshev": (
        lambda s: s.chebyshev(STEPS, s.smallest, s.largest),
        lambda x, y, k, high, low: r.chebyshev(x, y, k, low, high),
        lambda k, high, low: chebyshev_constants(k, low, high),
    ),
    "chebyshev, narrow": (
        lambda s: s.chebyshev(STEPS, s.largest / 2, s.largest * 0.75),
        lambda x, y, k, high, low: r.chebyshev(x, y, k, high / 2, high * 0.75),
        lambda k, high, low: chebyshev_constants(k, high / 2, high * 0.75),
    ),
}


def loop_error(x, y, x_next, k, largest_phi, high):
    """Rounding of the plain loop after k steps.

    Each step commits d·eps·(1 + λmax·max|φ|)·max|φ|·‖b‖, and a later step multiplies what earlier
    ones committed by at most 2(1 + λmax·max|φ|); for k ≤ 5 the product of these is the bound.
    """
    n, d = x.shape
    growth = 2 * (1 + high * largest_phi)
    b = np.linalg.norm(x) * np.linalg.norm(y)
    return 4 * n * d * EPS * k**2 * growth**2 * largest_phi * b * np.linalg.norm(x_next)


def check(name, problem):
    engine, plain, constants = METHODS[name]
    predictions = engine(r.PrefixSpectrum(*problem))
    assert predictions.shape == (len(STEPS), len(problem[0]) + 1)
    np.testing.assert_array_equal(predictions[:, 0], 0)
    for t, x, y, x_next, high, low in prefixes(problem):
        for i, k in enumerate(STEPS):
            lipschitz, largest_phi = constants(k, high, low)
            allowed = bound(x, y, x_next, lipschitz, largest_phi)
            allowed += loop_error(x, y, x_next, k, largest_phi, high)
            difference = abs(predictions[i, t] - plain(x, y, k, high, low) @ x_next)
            assert difference <= allowed + np.finfo(np.float64).tiny


@pytest.mark.parametrize("name", METHODS)
@settings(max_examples=10)
@given(problem=integer_prompts())
@example(problem=(np.array([[3.0]]), np.array([2.0]), np.array([1.0])))
@example(problem=(np.zeros((2, 3)), np.ones(2), np.ones(3)))
@example(problem=(np.ones((4, 3)), np.arange(4.0), np.arange(3.0)))
@example(problem=gaussian())
@example(problem=gaussian(n=3, d=8))
def test_every_prefix_and_step_count(name, problem):
    check(name, problem)


@given(integer_prompts())
@example(gaussian())
@example(gaussian(n=3, d=8))
@example((np.ones((4, 3)), np.arange(4.0), np.arange(3.0)))
def test_ols_and_ridge(problem):
    """‖δ(S⁺)‖ ≤ 2‖S⁺‖²‖δS‖ for equal ranks, and 1/(λ + p) has Lipschitz constant p⁻²."""
    spectrum = r.PrefixSpectrum(*problem)
    ols, ridge = spectrum.ols(), spectrum.ridge([0.5, 2.0])
    assert ols[0] == 0
    for t, x, y, x_next, _, low in prefixes(problem):
        allowed = bound(x, y, x_next, 2 / low**2, 1 / low)
        assert abs(ols[t] - r.ols(x, y) @ x_next) <= allowed
        for i, penalty in enumerate((0.5, 2.0)):
            allowed = bound(x, y, x_next, penalty**-2, 1 / penalty)
            assert abs(ridge[i, t] - r.ridge(x, y, penalty) @ x_next) <= allowed


@given(integer_prompts())
@example((np.ones((4, 3)), np.arange(4.0), np.arange(3.0)))
def test_rank_is_exact(problem):
    """Exactly rank(X_t) eigenvalues are non-zero; the rank is by integer elimination."""
    x = problem[0]
    spectrum = r.PrefixSpectrum(*problem)
    for t in range(len(x) + 1):
        rank = fmpz_mat(x[:t].astype(int).tolist()).rank() if t else 0
        assert (spectrum.eigenvalues[t] > 0).sum() == rank
        assert (spectrum.components[t, : x.shape[1] - rank] == 0).all()


def test_long_runs():
    """Newton to its limit and gradient descent after 3000 steps, against OLS and the exact rate."""
    p = r.gaussian_prompts(5, 30, 6, noise=0.5, seed=2)
    s = r.PrefixSpectrum(p.x, p.y, p.x_query)
    long = s.newton([60], 1 / s.largest**2)[0]
    np.testing.assert_allclose(
        long, s.ols(), rtol=0, atol=64 * EPS * np.abs(s.components).sum(-1).max()
    )
    step_size = 1 / s.largest
    descent = s.gradient_descent([3000], step_size)[0]
    left = (1 - s.smallest * step_size) ** 3000 + 64 * EPS
    assert (np.abs(descent - s.ols()) <= left * np.abs(s.components).sum(axis=-1)).all()


def test_batched_like_single_and_prefixes_do_not_see_the_future():
    p = r.gaussian_prompts(6, 9, 4, noise=0.5, seed=4)
    x, y, q = p.x.reshape(2, 3, 9, 4), p.y.reshape(2, 3, 9), p.x_query.reshape(2, 3, 4)
    whole = r.PrefixSpectrum(x, y, q)
    newton = whole.newton([0, 3], 1 / whole.largest**2)
    assert newton.shape == (2, 2, 3, 10)
    single = r.PrefixSpectrum(x[1, 2], y[1, 2], q[1, 2])
    shorter = r.PrefixSpectrum(x[..., :6, :], y[..., :6], x[..., 6, :])
    low = whole.smallest[..., 1:].min()
    atol = 16 * EPS * 13 * np.vecdot(x, x).sum(-1).max() ** 2 / low**2 * np.abs(y).max()
    np.testing.assert_allclose(single.ols(), whole.ols()[1, 2], rtol=0, atol=atol)
    np.testing.assert_allclose(shorter.ols(), whole.ols()[..., :7], rtol=0, atol=atol)
    one = single.newton([0, 3], 1 / single.largest**2)
    np.testing.assert_allclose(one, newton[:, 1, 2], rtol=0, atol=atol)


def test_several_queries_share_a_prompt():
    x, y, _ = gaussian(n=7, d=3)
    queries = np.random.default_rng(1).standard_normal((5, 3))
    s = r.PrefixSpectrum(x, y, queries)
    together = s.newton([3], 1 / s.largest**2)
    assert together.shape == (1, 5, 8)
    for i, query in enumerate(queries):
        single = r.PrefixSpectrum(x, y, query)
        expected = single.newton([3], 1 / single.largest**2)[0]
        np.testing.assert_allclose(together[0, i], expected, rtol=1e3 * EPS, atol=1e3 * EPS)


@pytest.mark.parametrize("block", [1, 100, 10**9])
def test_blocks_do_not_show(monkeypatch, block):
    p = r.gaussian_prompts(3, 40, 4, seed=4)
    whole = r.PrefixSpectrum(p.x, p.y, p.x_query)
    monkeypatch.setattr(spectral, "BLOCK", block)
    s = r.PrefixSpectrum(p.x, p.y, p.x_query)
    rounding = 8 * 44 * EPS * whole.largest.max()
    np.testing.assert_allclose(s.eigenvalues, whole.eigenvalues, rtol=0, atol=rounding)
    atol = 44 * rounding * np.abs(whole.components).max() / whole.smallest[..., 1:].min()
    newton = whole.newton([0, 1, 4], 1 / whole.largest**2)
    np.testing.assert_allclose(s.newton([0, 1, 4], 1 / s.largest**2), newton, rtol=0, atol=atol)


def test_divergence_and_silence():
    """Divergence overflows; a prompt whose labels are all 0 stays at 0 even so."""
    p = r.gaussian_prompts(2, 6, 3, seed=0)
    y = p.y * np.array([[1.0], [0.0]])
    s = r.PrefixSpectrum(p.x, y, p.x_query)
    for predictions in (
        s.newton([30], 30 / s.largest**2),
        s.gradient_descent([5000], 30 / s.largest),
        s.chebyshev([5000], 0.01 * s.smallest, 0.02 * s.smallest),
    ):
        assert not np.isfinite(predictions[0, 0, 1:]).any()
        np.testing.assert_array_equal(predictions[0, 1], 0)


def test_parameters_per_prompt_and_prefix():
    p = r.gaussian_prompts(2, 3, 2, seed=0)
    s = r.PrefixSpectrum(p.x, p.y, p.x_query)
    steps = np.array([[0.01], [0.02]])
    together = s.gradient_descent([4], steps)
    for i in range(2):
        alone = s.gradient_descent([4], steps[i, 0])
        np.testing.assert_array_equal(together[:, i], alone[:, i])
    np.testing.assert_array_equal(s.largest[:, 0], 1)
    np.testing.assert_array_equal(s.smallest[:, 0], 1)


def test_memory_is_linear_in_the_examples():
    """4000 examples of dimension 20: a few arrays of n·d numbers, not one of n·d² (13 MB)."""
    n, d = 4000, 20
    p = r.gaussian_prompts(1, n, d, noise=0.1, seed=0)
    tracemalloc.start()
    try:
        s = r.PrefixSpectrum(p.x, p.y, p.x_query)
        predictions = s.newton([1, 20], 1 / s.largest**2)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak <= 8 * (8 * n * d)
    # Newton's 20 steps have converged, and noise 0.1 leaves an error of that size.
    error = predictions[1, 0, 1000:-1] - p.y[0, 1000:]
    assert abs((error**2).mean() / 0.01 - 1) <= 5 * np.sqrt(2 / error.size) + d / 1000


ROWS = np.ones((3, 2))


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("x", (1e200 * ROWS, np.ones(3), np.ones(2))),
        ("predictions", (1e-9 * ROWS, np.full(3, 1e300), [1e300, 1.0])),
    ],
)
def test_prompts_without_a_spectrum_are_rejected(name, arguments):
    with rejects(name):
        r.PrefixSpectrum(*arguments)


@pytest.mark.parametrize(
    ("name", "method", "arguments"),
    [
        ("steps", "newton", ([-1], 1.0)),
        ("steps", "newton", ([], 1.0)),
        ("alpha", "newton", ([1], 0.0)),
        ("alpha", "newton", ([1], np.ones(3))),
        ("start", "newton", ([1], 1.0, "x")),
        ("order", "hyperpower", ([1], 1, 1.0)),
        ("step_size", "gradient_descent", ([1], -1.0)),
        ("smallest", "chebyshev", ([1], 2.0, 1.0)),
        ("penalties", "ridge", ([0.0],)),
    ],
)
def test_what_is_out_of_range_is_rejected(name, method, arguments):
    spectrum = r.PrefixSpectrum([[1.0, 2.0]], [1.0], [3.0, 4.0])
    with rejects(name):
        getattr(spectrum, method)(*arguments)


def test_too_many_numbers_of_steps_are_rejected_without_being_read():
    """A list of them would take seconds, and gigabytes."""
    spectrum = r.PrefixSpectrum(np.eye(3), np.ones(3), np.ones(3))
    with rejects("steps", "100000000000000"):
        spectrum.gradient_descent(range(10**14), 0.1)
    with rejects("steps"):
        spectrum.newton(range(-1, 10**14), 0.1)
    with rejects("steps"):
        spectrum.newton(range(10**14, -2, -1), 0.1)
    few = spectrum.gradient_descent(range(1, 9, 3), 0.1)
    np.testing.assert_array_equal(few, spectrum.gradient_descent([1, 4, 7], 0.1))
