"""The disentangled transformer: its formula, its support, and rejected arguments."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.graphs import disentangled, tripling
from constructions.interface import Prompt
from theory.graphs import (
    cycles,
    disentangled_outputs,
    disentangled_polynomial,
    erdos_renyi,
    minimal_subgraph,
    path,
    polynomial_of_graph,
)


@settings(max_examples=10)
@given(st.integers(1, 5), st.floats(0, 0.6), st.integers(0, 999), st.integers(0, 2))
def test_predictions_equal_those_of_tripling(n, p, seed, layers):
    A = erdos_renyi(2, n, p, seed)
    model = disentangled(n, layers)
    assert (model(A) == tripling(n, layers)(A)).all()
    assert (
        model.logits(A).numpy() == polynomial_of_graph(disentangled_polynomial(layers), A)
    ).all()


def test_products_are_tripled():
    A, n = path(7), 7
    ours, theirs = tripling(n, 2), disentangled(n, 2)
    tripled = ours.residual_stream(Prompt(ours.like.new_tensor(np.eye(n) + A @ A), n))
    for H, h in zip(tripled, theirs.streams(A), strict=True):
        assert (h @ h.mT == H).all()


@settings(max_examples=15)
@given(st.integers(2, 4), st.integers(1, 2), st.integers(0, 999))
def test_any_weights_compute_the_formula(n, layers, seed):
    rng = np.random.default_rng(seed)
    A = erdos_renyi(1, n, 0.4, rng)[0]
    sizes = [2 ** (layer + 1) * n for layer in range(layers + 1)]
    W = [rng.integers(-1, 2, (size, size)) for size in sizes[:-1]]
    out = rng.integers(-1, 2, (sizes[-1], n))
    model = disentangled(n, layers, [n * each for each in W], out, bias=-0.5)
    wanted = disentangled_outputs(A, W, out).astype(float) - 0.5
    assert np.allclose(model.logits(A).numpy(), wanted, rtol=1e-12)
    assert (model(A).numpy() == (wanted > 0)).all()


def test_sizes():
    model = disentangled(3, 2)
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, 24)
    assert disentangled(3, 0).d_model == 6
    assert (disentangled(1, 1)([[1]]) == 1).all()
    assert (disentangled(4, 1)(cycles(4)) == 1).all()


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: disentangled(2, 1, []), "weights 1"),
        (lambda: disentangled(2, 1, [np.eye(2)]), "weights[0]"),
        (lambda: disentangled(2, 1, None, np.eye(2)), "unembedding"),
        (lambda: disentangled(2, 30), "30 layers"),
        (lambda: disentangled(9, 6)(np.ones((9, 9))), "float64"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


def test_a_minimal_subgraph_is_for_the_entry_given_of_asymmetric_outputs():
    """With O = [0; B] and B = 1 at (2, 0) only, the output (3, 0) is A_32, and (0, 3) is 0."""
    B = np.zeros((4, 4), dtype=int)
    B[2, 0] = 1
    found = minimal_subgraph(path(4), [], np.concatenate([0 * B, B]), 3, 0)
    wanted = np.eye(4, dtype=int)
    wanted[2, 3] = wanted[3, 2] = 1
    assert (found == wanted).all()
