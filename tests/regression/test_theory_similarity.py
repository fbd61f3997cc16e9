"""Similarity of errors and of induced weights, against their definitions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

import theory.regression as r


def cosine(a, b):
    size = math.sqrt(sum(x * x for x in a)) * math.sqrt(sum(x * x for x in b))
    return sum(x * y for x, y in zip(a, b, strict=True)) / size if size else 0.0


@given(
    k=st.integers(1, 3),
    l=st.integers(1, 3),
    m=st.integers(2, 4),
    n=st.integers(1, 4),
    seed=st.integers(0, 99),
)
def test_errors_by_definition(k, l, m, n, seed):  # noqa: E741
    rng = np.random.default_rng(seed)
    a, b = rng.integers(-3, 4, (k, m, n)), rng.integers(-3, 4, (l, m, n))
    y = rng.integers(-3, 4, (m, n))
    alike, apart = r.error_similarity(a, b, y), r.error_distance(a, b, y)
    for i in range(k):
        for j in range(l):
            cosines = [cosine(a[i, p] - y[p], b[j, p] - y[p]) for p in range(m)]
            squares = [((a[i, p] - b[j, p]) ** 2).mean() for p in range(m)]
            for found, values in ((alike, cosines), (apart, squares)):
                assert found.mean[i, j] == pytest.approx(np.mean(values), abs=1e-12)
                spread = np.std(values, ddof=1) / math.sqrt(m)
                assert found.error[i, j] == pytest.approx(spread, abs=1e-12)


def test_extremes():
    y = np.zeros((2, 3))
    a = np.array([[[1.0, 2, 3], [0, 1, 0]]])
    assert r.error_similarity(a, a, y).mean == pytest.approx(1)
    assert r.error_similarity(a, -5 * a, y).mean == pytest.approx(-1)
    assert r.error_similarity(a, 0 * a, y).mean == 0  # no error, no direction
    assert r.error_distance(a, a, y).mean == pytest.approx(0)


@given(d=st.integers(1, 3), extra=st.integers(1, 4), seed=st.integers(0, 99))
def test_a_linear_predictor_induces_its_weights(d, extra, seed):
    rng = np.random.default_rng(seed)
    Q, w = rng.standard_normal((5, d + extra, d)), rng.standard_normal((5, d))
    found, explained = r.induced_weights(Q, (Q @ w[..., None])[..., 0])
    np.testing.assert_allclose(found, w, atol=1e-9)
    np.testing.assert_allclose(explained, 1, atol=1e-12)


def test_what_is_not_linear_is_not_explained():
    Q = np.array([[-1.0], [1.0], [-2.0], [2.0]])
    w, explained = r.induced_weights(Q, np.abs(Q[:, 0]))
    assert w == pytest.approx([0])
    assert explained == pytest.approx(0)
    w, explained = r.induced_weights(Q, Q[:, 0] ** 3)
    assert w == pytest.approx([34 / 10])  # Σq⁴/Σq² = (1 + 1 + 16 + 16)/(1 + 1 + 4 + 4)
    assert explained == pytest.approx(34**2 / 10 / (1 + 1 + 64 + 64))


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-560, 2.0**560, 2.0**1000])
def test_cosines_are_the_same_at_any_scale(scale):
    a, b = np.random.default_rng(1).normal(size=(2, 2, 3, 4))
    y = np.zeros((3, 4))
    assert (r.error_cosines(scale * a, b, y) == r.error_cosines(a, b, y)).all()
    a, b = a[..., None], b[..., None]
    assert (r.weight_cosines(scale * a, scale * b) == r.weight_cosines(a, b)).all()


@pytest.mark.parametrize("size", [0.0, 1e-200, 1.0, 1e200])
def test_the_explained_fraction_does_not_depend_on_the_size_of_predictions(size):
    _, explained = r.induced_weights([[1.0, 2], [3, 1], [0, 1]], size * np.array([3.0, 4, 1]))
    assert explained == pytest.approx(float(size > 0))


def test_similarity_of_weights_is_the_mean_cosine():
    a = np.array([[[[1.0, 0], [0, 1]], [[1, 1], [2, 0]]]])
    b = np.array([[[[1.0, 0], [0, -1]], [[1, 0], [1, 0]]]])
    found = r.weight_similarity(a, b)
    values = [(1 - 1) / 2, (1 / math.sqrt(2) + 1) / 2]
    assert found.mean == pytest.approx(np.mean(values))
    assert found.error == pytest.approx(np.std(values, ddof=1) / math.sqrt(2))


@pytest.mark.parametrize(
    ("name", "function", "shapes"),
    [
        ("first", r.error_similarity, [(1, 1, 3), (1, 1, 3), (1, 3)]),
        ("first", r.error_distance, [(1, 1, 3), (1, 1, 3), (1, 3)]),
        ("first", r.weight_similarity, [(1, 1, 3, 2), (1, 1, 3, 2)]),
        ("queries", r.induced_weights, [(2, 2), (2,)]),
    ],
)
def test_too_few_prompts_and_queries_are_rejected(name, function, shapes):
    with rejects(name):
        function(*map(np.ones, shapes))


@pytest.mark.parametrize("values", [None, [[1.0]], [], 1.0, [np.nan, 1.0], [["a", "b"]]])
def test_an_estimate_needs_numbers_of_two_prompts(values):
    with rejects("values"):
        r.Estimate.over_prompts(values)


def test_an_estimate_of_a_list():
    estimate = r.Estimate.over_prompts([1.0, 2.0, 6.0])
    assert estimate.mean == 3.0
    assert math.isclose(estimate.error, math.sqrt(7 / 3))
