"""The prompt generators: shapes, seeds, covariances, and rejected input."""

import dataclasses

import numpy as np
import pytest
from refusals import rejects

from theory import regression as r

EPS = np.finfo(np.float64).eps
GENERATORS = {
    "gaussian": lambda seed, noise=0.0: r.gaussian_prompts(3, 5, 4, noise=noise, seed=seed),
    "ill": lambda seed, noise=0.0: r.ill_conditioned_prompts(3, 5, 4, noise=noise, seed=seed),
    "covariance": lambda seed, noise=0.0: r.covariance_prompts(
        3, 5, np.diag([1.0, 2.0, 0.0, 3.0]), noise=noise, seed=seed
    ),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_shapes_labels_and_seeds(name):
    p = GENERATORS[name](7)
    shapes = [p.x.shape, p.y.shape, p.x_query.shape, p.y_query.shape, p.w.shape]
    assert shapes == [(3, 5, 4), (3, 5), (3, 4), (3,), (3, 4)]
    size = np.linalg.norm(p.x, axis=-1) * np.linalg.norm(p.w, axis=-1)[:, None]
    assert (np.abs(np.matvec(p.x, p.w) - p.y) <= 8 * EPS * size).all()
    np.testing.assert_array_equal(p.x, GENERATORS[name](np.random.default_rng(7)).x)
    assert (p.x != GENERATORS[name](8).x).any()
    noisy = GENERATORS[name](7, 0.5)
    np.testing.assert_array_equal(noisy.x, p.x)
    assert (noisy.y != p.y).all()
    assert (noisy.y_query != p.y_query).all()
    with pytest.raises(dataclasses.FrozenInstanceError):
        p.x = p.x


def within(samples, variance):
    """Is the mean of squares of normal samples the variance, to five standard deviations?"""
    return abs((samples**2).mean() / variance - 1) <= 5 * np.sqrt(2 / samples.size)


def test_variances():
    """At five standard deviations a false alarm has probability 6e-7; the seed is fixed anyway."""
    p = r.gaussian_prompts(200, 50, 4, noise=2.0, seed=1)
    assert within(p.x, 1)
    assert within(p.w, 1)
    assert within(p.y - np.matvec(p.x, p.w), 4)
    assert within(p.y_query - np.vecdot(p.x_query, p.w), 4)


def test_covariance_is_reached():
    covariance = np.array([[2.0, 1.0], [1.0, 3.0]])
    p = r.covariance_prompts(100, 200, covariance, seed=2)
    whitened = p.x @ np.linalg.inv(np.linalg.cholesky(covariance)).T
    assert within(whitened[..., 0], 1)
    assert within(whitened[..., 1], 1)
    correlation = (whitened[..., 0] * whitened[..., 1]).mean()
    assert abs(correlation) <= 5 / np.sqrt(whitened[..., 0].size)


def test_ill_conditioned_eigenvalues_and_bases():
    """With many examples the covariance has the eigenvalues 1, 1, 100, 100, in its own basis."""
    n = 20_000
    p = r.ill_conditioned_prompts(3, n, 4, seed=3)
    covariance = p.x.swapaxes(-1, -2) @ p.x / n
    eigenvalues, V = np.linalg.eigh(covariance)
    # Relative deviations of a Wishart spectrum: at most (1 + √(d/n) + 5/√n)² − 1.
    slack = (1 + np.sqrt(4 / n) + 5 / np.sqrt(n)) ** 2 - 1
    assert (np.abs(eigenvalues / [1, 1, 100, 100] - 1) <= slack).all()
    top = V[..., 2:] @ V[..., 2:].swapaxes(-1, -2)
    assert np.linalg.norm(top[0] - top[1]) > 0.1
    assert np.linalg.norm(top[1] - top[2]) > 0.1
    # The query comes from the prompt's own covariance.
    many = r.ill_conditioned_prompts(2000, 12, 2, seed=4)
    _, basis = np.linalg.eigh(many.x.swapaxes(-1, -2) @ many.x)
    along = np.vecdot(many.x_query, basis[..., 0])
    assert (along**2).mean() < 20  # a query from another basis would have 50.5


@pytest.mark.parametrize("covariance", [[[1, 1], [0, 1]], np.diag([1, -1e-7])])
def test_a_matrix_that_is_no_covariance_is_rejected(covariance):
    with rejects("covariance"):
        r.covariance_prompts(1, 5, covariance, seed=0)


@pytest.mark.parametrize("noise", [0.25, 5.0, 1e6])
def test_noise_is_proportional_to_its_standard_deviation(noise):
    clean, one, more = (
        r.gaussian_prompts(3, 20, 2, noise=each, seed=0).y for each in (0.0, 1.0, noise)
    )
    np.testing.assert_allclose(more - clean, noise * (one - clean), rtol=1e-9, atol=1e-9 * noise)
