"""Tripling: the support after L layers, in any dtype, and rejected arguments."""

from __future__ import annotations

from copy import deepcopy

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.exactness import exact_in
from constructions.graphs import tripling
from theory.graphs import (
    all_graphs,
    clique,
    connected,
    cycles,
    erdos_renyi,
    path,
    polynomial_of_graph,
    tripling_polynomial,
    two_chain,
    two_clique,
    within,
)


@pytest.mark.parametrize("clipped", [False, True])
@settings(max_examples=25)
@given(st.integers(1, 12), st.floats(0, 0.5), st.integers(0, 999), st.integers(0, 3))
def test_predictions_are_distances_up_to_three_to_the_layers(clipped, n, p, seed, layers):
    A = erdos_renyi(3, n, p, seed)
    model = tripling(n, layers, clipped=clipped)
    assert (model(A).numpy() == within(A, 3**layers)).all()


@pytest.mark.parametrize("layers", [0, 1, 2])
def test_outputs_are_the_polynomial(layers):
    A = all_graphs(4)
    wanted = polynomial_of_graph(tripling_polynomial(layers), A)
    assert (tripling(4, layers).logits(A).numpy().astype(object) == wanted).all()
    clipped = tripling(4, layers, clipped=True).logits(A).numpy()
    assert (clipped == within(A, 3**layers)).all()


def test_outputs_of_the_clipped_form_on_larger_graphs():
    A = np.concatenate([erdos_renyi(2, 48, 0.03, 0), [path(48), two_clique(48)]])
    logits = tripling(48, 2, clipped=True).logits(A).numpy()
    assert (logits == within(A, 9)).all()


@pytest.mark.parametrize(("layers", "bits"), [(1, 4), (2, 13), (3, 41)])
def test_the_pair_beyond_capacity_has_output_0(layers, bits):
    far = 3**layers
    for diameter, unseen in ((far - 1, 0), (far, 0), (far + 1, 2)):
        A, model = path(diameter + 1), tripling(diameter + 1, layers)
        assert int((model(A) == 0).sum()) == unseen
    assert int(model.logits(A).max()).bit_length() == bits


def test_even_cycles_isolated_nodes_and_two_components():
    for A in (cycles(4, 6), np.eye(5, dtype=int), two_chain(9), two_clique(9), path(1)):
        for clipped in (False, True):
            assert (tripling(len(A), 2, clipped=clipped)(A).numpy() == connected(A)).all()


def test_batches_devices_dtypes():
    A = erdos_renyi(6, 5, 0.3, 0).reshape(2, 3, 5, 5)
    model = tripling(5, 1)
    assert model(A).shape == (2, 3, 5, 5)
    assert model(A).dtype == torch.int64
    assert torch.equal(model(A)[1, 2], model(A[1, 2]))
    assert torch.equal(model(A.astype(bool)), model(torch.tensor(A, dtype=torch.float32)))


def test_rounded_counts_keep_their_support():
    A = path(28)
    for dtype in (torch.float32, torch.bfloat16):
        model = deepcopy(tripling(28, 3)).to(dtype)
        assert (model(A) == 1).all()
        assert not torch.equal(model.logits(A).double(), tripling(28, 3).logits(A))


def test_overflowing_counts_are_rejected_and_clipped_ones_do_not_overflow():
    A = clique(9)
    with rejects("float64"):
        tripling(9, 7)(A)
    assert (tripling(9, 7, clipped=True)(A) == 1).all()
    with rejects("float16"):
        tripling(9, 3).half()(A)


def test_clipped_is_converted_only_where_sums_are_exact():
    model = tripling(40, 2, clipped=True)
    assert exact_in(model).bits == 12  # 2·n² + 3 bounds what the head adds
    assert (deepcopy(model).float()(path(40)[None]) == model(path(40)[None])).all()
    with rejects("12", "float16"):
        model.half()
    assert (tripling(9, 2, clipped=True).half()(path(9)) == 1).all()


def test_layers_are_one():
    model = tripling(6, 4, clipped=True)
    assert (model.n_layers, model.n_heads, model.d_model) == (4, 1, 6)
    assert model.blocks[0] is model.blocks[3]
    assert len(model.blocks[0].mlp.b_in) == 6


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: tripling(3, 1)(np.eye(4)), "A 4 3"),
        (lambda: tripling(3, 1)(np.eye(3) * np.nan), "A"),
        (lambda: tripling(3, 1)(np.eye(3), np.eye(3)), "2 A"),
        (lambda: tripling(3, 1).generate([0], 1), "tripling"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()
