"""The nearest-neighbour head against `theory.retrieval.nearest_neighbour`, and its soft limit."""

import numpy as np
import pytest
import torch
from exact import fractions, predict, prompt
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import nearest_neighbour
from theory import retrieval as theory
from verify.claim import Run
from verify.domains import Ball, Rational
from verify.finding import Verdict
from verify.retrieval import nearest_neighbour as claims

EPS = 2.0**-53
sizes = {"n": st.integers(1, 12), "d": st.integers(1, 4), "seed": st.integers(0, 999)}


def whole(rng, *shape, size=2):
    """Small integers: scores are exact and distances tie often."""
    return rng.integers(-size, size + 1, shape).astype(float)


@settings(max_examples=15)
@given(batch=st.lists(st.integers(1, 3), max_size=2), m=st.integers(1, 4), **sizes)
def test_its_definition_with_ties(batch, m, n, d, seed):
    rng = np.random.default_rng(seed)
    x, y, q = whole(rng, *batch, n, d), whole(rng, *batch, n, size=9), whole(rng, *batch, d)
    model = nearest_neighbour(d)
    found = model(x, y, q)
    assert found.shape == tuple(batch)
    # A sum of integers, divided once.
    assert np.array_equal(found, theory.nearest_neighbour(x, y, q))
    for place in np.ndindex(*batch):
        exact = theory.nearest_neighbour_by_definition(x[place], y[place], q[place])
        assert float(exact) == found[place]
    several = whole(rng, m, *batch, d)
    wanted = [theory.nearest_neighbour(x, y, query) for query in several]
    assert np.array_equal(model(x, y, several), wanted)
    assert torch.equal(model.float()(x, y, q), found.float())


@settings(max_examples=25)
@given(m=st.integers(1, 3), **sizes)
def test_equal_to_the_definition_over_q(m, n, d, seed):
    rng = np.random.default_rng(seed)
    x, y, queries = prompt(rng, n, d, m)
    x = np.vectorize(lambda entry: fmpq(int(entry.p), 1), otypes=[object])(x)  # for ties
    y = fractions(rng, n)
    predicted = predict(nearest_neighbour(d), Rational(), x, y, queries)
    for q, found in zip(queries, predicted, strict=True):
        squared = [sum((a - b) ** 2 for a, b in zip(row, q, strict=True)) for row in x]
        nearest = [j for j in range(n) if squared[j] == min(squared)]
        assert found == sum(y[j] for j in nearest) / len(nearest)


def smoothing_bound(n, size):
    """Rounding of Σ w_j y_j / Σ w_j, |y| ≤ size, when scores and distances are exact.

    Each weight e^{−t}, relative to the largest, is off by (t + 2)·eps: an exponent of relative
    error eps, and an exponential of 2 eps (a generous ulp); t e^{−t} ≤ 1/e keeps every weight
    within 3 eps.  Two sums of n terms, products and one division make (2n + 4) more, in both the
    construction and the smoother it is compared with; Σ w ≥ 1.
    """
    return 2 * (2 * 3 * n + 2 * n + 4) * EPS * size


@settings(max_examples=25)
@given(beta=st.sampled_from([0.01, 0.3, 1.0, 7.5, 1000.0]), m=st.integers(1, 3), **sizes)
def test_softmax_is_the_kernel_smoother(beta, m, n, d, seed):
    rng = np.random.default_rng(seed)
    x, y, q = whole(rng, 2, n, d), whole(rng, 2, n, size=9), whole(rng, m, 2, d)
    found = nearest_neighbour(d, sharpness=beta)(x, y, q).numpy()
    bound = smoothing_bound(n, 9)
    assert bound < 1e-12 * 9 * n
    assert (abs(found - theory.kernel_smoother(x, y, q, beta)) <= bound).all()
    one = theory.kernel_smoother_by_definition(x[0], y[0], q[0, 0], beta)
    assert abs(found[0, 0] - one) <= bound


@pytest.mark.parametrize("n", [1, 5])
@pytest.mark.parametrize(
    ("find", "factor"),
    [
        (lambda run, model, n: claims._integers(run, model, n, 8), 1 + 1e-14),
        (lambda run, model, n: claims._smoother(run, model.sharpened(4.0), n, 8, 4.0), 1 + 1e-10),
        (lambda run, model, n: claims._enclosed(run, model.sharpened(4.0), n, 4.0), 2),
    ],
)
def test_labels_with_an_error_fail(find, factor, n):
    model = nearest_neighbour(2)
    assert find(Run(seed=0), model, n).verdict is Verdict.HOLDS
    model.blocks[0].attn.W_V *= factor
    assert find(Run(seed=0), model, n).verdict is Verdict.FAILS


def test_balls_enclose_the_kernel_smoother():
    x, y, queries = prompt(np.random.default_rng(0), 4, 2, 2)
    with Ball.precision(200):
        balls = predict(
            nearest_neighbour(2, sharpness=1.5), Ball(), *(Ball_array(a) for a in (x, y, queries))
        )
    floats = [np.array(a.tolist(), dtype=object).astype(float) for a in (x, y)]
    for q, ball in zip(queries, balls, strict=True):
        q = np.array(q.tolist(), dtype=object).astype(float)
        wanted = theory.kernel_smoother_by_definition(*floats, q, 1.5)
        assert ball.rad() < 2.0**-150
        assert abs(float(ball) - wanted) < 1e-12


def Ball_array(rationals):
    ball = Ball()
    entries = [ball.number(int(e.p), int(e.q)) for e in rationals.ravel()]
    filled = np.empty(len(entries), dtype=object)
    filled[:] = entries
    return filled.reshape(rationals.shape)
