"""Prefix sums as layers of a tree."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.blocks import Stage
from constructions.computation import prefix_sums
from theory.computation import window_sums
from theory.computation.prefix_sums import tree_depth
from verify.computation.prefix_sums import gaps, identity, registers
from verify.finding import Verdict


@settings(max_examples=15)
@given(st.integers(1, 40), st.integers(2, 9), st.integers(0, 1000))
def test_sums_of_whole_numbers(N, s, seed):
    s = min(s, max(N, 2))
    model = prefix_sums(N, s)
    for count in {1, (N + 1) // 2, N}:
        x = np.random.default_rng(seed).integers(-50, 50, (3, count))
        assert (model(x).numpy() == x.cumsum(1)).all()


@pytest.mark.parametrize(("N", "s", "layers"), [(64, 2, 6), (64, 4, 3), (64, 8, 2), (65, 8, 3)])
def test_sizes(N, s, layers):
    model = prefix_sums(N, s)
    assert (model.n_layers, model.n_heads, model.d_model) == (layers, s - 1, 3)
    assert all(block.mlp is None for block in model.blocks)


@given(st.integers(1, 10**6), st.integers(2, 50))
def test_the_depth_of_a_tree(leaves, fan):
    depth = tree_depth(leaves, fan)
    assert fan**depth >= leaves
    assert depth == 0 or fan ** (depth - 1) < leaves


def test_windows_by_hand():
    assert window_sums([1, 2, 3, 4], 2).tolist() == [1, 3, 5, 7]
    assert window_sums([[1, 2, 3]], 5).tolist() == [[1, 3, 6]]


@given(st.integers(1, 40), st.integers(1, 45), st.integers(0, 99))
def test_windows_by_definition(N, width, seed):
    x = np.random.default_rng(seed).integers(-9, 10, (2, N))
    wanted = [x[:, max(0, i - width) : i].sum(1) for i in range(1, N + 1)]
    assert (window_sums(x, width) == np.transpose(wanted)).all()


def test_windows_of_many_positions_take_no_time():
    assert window_sums(np.zeros((0, 2**40)), 2**39).shape == (0, 2**40)
    assert window_sums(np.ones(2**20), 2**19)[-1] == 2**19


def test_one_wrong_sum_of_a_register_fails():
    model, x = prefix_sums(9, 2), np.ones((2, 9))
    assert registers(model, x).verdict is Verdict.HOLDS
    last = np.eye(9)[8, :, None]
    model.stages = (Stage(1, "sum", lambda x: window_sums(x, 2)[..., None] + last),)
    assert registers(model, x).verdict is Verdict.FAILS


def test_a_weight_and_a_margin_of_the_last_head_are_checked():
    model = prefix_sums(9, 3)
    assert {found.verdict for found in (identity(model), gaps(3, model, 2))} == {Verdict.HOLDS}
    model.blocks[1].attn.W_V[-1] *= 1 + 2.0**-40
    first, last = model.blocks[1].margins
    model.blocks[1].margins = first, replace(last, gap=1.01 * last.gap)
    assert {found.verdict for found in (identity(model), gaps(3, model, 2))} == {Verdict.FAILS}


def test_real_numbers_and_tensors():
    x = torch.randn(4, 20, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    assert torch.allclose(prefix_sums(20, 3)(x), x.cumsum(1), rtol=0, atol=1e-13)
    assert prefix_sums(4)([0.5]).tolist() == [0.5]


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: prefix_sums(8, 9), "s 2 8"),
        (lambda: prefix_sums(3)([1, 2, 3, 4]), "x 4 3"),
        (lambda: prefix_sums(3)([]), "x"),
        (lambda: prefix_sums(3)(1.0), "x"),
        (lambda: prefix_sums(3)([1], [2]), "2 x"),
        (lambda: prefix_sums(3)([1e308, 1e308]), "float64"),
        (lambda: tree_depth(4, 1), "fan_in"),
        (lambda: tree_depth(0, 2), "n_leaves"),
    ],
)
def test_what_cannot_be_added_is_refused(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.parametrize("s", [2, 3])
@pytest.mark.parametrize(
    ("dtype", "longest"), [(torch.float32, 4095), (torch.float16, 45), (torch.bfloat16, 15)]
)
def test_a_dtype_that_rounds_squares_of_positions_is_refused(dtype, longest, s):
    """The scores are differences of squares: rounded, they point to other positions."""
    ones = torch.eye(longest, dtype=torch.float64)[[0, 1, longest // 2, -2, -1]]
    assert torch.equal(prefix_sums(longest, s).to(dtype)(ones).double(), ones.cumsum(-1))
    with rejects("position", str(longest + 1), str(longest)):
        prefix_sums(longest + 1, s).to(dtype)([1.0])
