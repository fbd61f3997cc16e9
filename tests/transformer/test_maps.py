"""H + H M block by block equals the dense sum, wherever M is 0."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions import maps
from constructions.maps import blocks, moved_by, span


@st.composite
def matrices(draw):
    """Integers, with registers that are 0: a few runs of rows and columns are filled."""
    D, batch = draw(st.integers(1, 9)), draw(st.sampled_from([(), (2,), (1, 3)]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    M = np.zeros((*batch, D, D))
    for _ in range(draw(st.integers(0, 4))):
        a, b = sorted(rng.integers(0, D + 1, 2))
        c, d = sorted(rng.integers(0, D + 1, 2))
        M[..., a:b, c:d] += rng.integers(-3, 4, (*batch, b - a, d - c))
    H = rng.integers(-3, 4, (*batch, draw(st.integers(1, 5)), D)).astype(float)
    return torch.as_tensor(H), torch.as_tensor(M)


@pytest.mark.parametrize("long", [0, 2**16])
@given(given_=matrices())
def test_the_sum_is_that_of_the_dense_product(long, given_):
    H, M = given_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "LONG", long)
        moved = moved_by(H, M)
    assert torch.equal(moved, H + H @ M)
    assert moved.data_ptr() != H.data_ptr()


def test_gradients_pass_where_the_stream_is_long():
    H = torch.ones(maps.LONG // 2, 2, dtype=torch.float64, requires_grad=True)
    moved_by(H, torch.tensor([[0.0, 3.0], [0.0, 0.0]], dtype=torch.float64)).sum().backward()
    assert H.grad.unique(dim=0).tolist() == [[4.0, 1.0]]
    M = torch.tensor([[0.0, 3.0], [0.0, 0.0]], dtype=torch.float64, requires_grad=True)
    moved_by(H.detach(), M).sum().backward()
    assert (M.grad == maps.LONG // 2).all()  # also where M is 0


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # of torch itself
@given(given_=matrices())
def test_tangents_pass_where_the_stream_is_long(given_):
    """The sum H + H M is linear in H and in M, also where M is 0."""
    H, M = given_
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(maps, "LONG", 0)
        assert torch.equal(torch.func.jvp(lambda H: moved_by(H, M), (H,), (H,))[1], H + H @ M)
        given_M = torch.func.jvp(lambda M: moved_by(H, M), (M,), (torch.ones_like(M),))[1]
    assert torch.equal(given_M, H @ torch.ones_like(M))


@given(given_=matrices())
def test_blocks_hold_every_column_once_and_everything_that_is_not_zero(given_):
    _, M = given_
    left, columns = M.clone(), []
    for run, rows in blocks(M):
        columns += range(M.shape[-1])[run]
        left[..., rows, run] = 0
    assert columns == [*range(M.shape[-1])]
    assert not left.any()


def test_a_register_written_from_another_is_one_block():
    M = torch.zeros(9, 9)
    M[3:6, 6:9] = 1
    assert [*blocks(M)] == [(slice(0, 6), slice(0, 0)), (slice(6, 9), slice(3, 6))]


def test_spans_are_those_of_rows_that_are_not_zero():
    W = torch.zeros(5, 2)
    assert span(W) == (0, 0)
    W[1, 1] = W[3, 0] = 1
    assert span(W) == (1, 4)
    assert span(W.requires_grad_()) == (0, 5)
    assert span(torch.zeros(5, 2, device="meta")) == (0, 5)
