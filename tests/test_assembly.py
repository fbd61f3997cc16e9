import numpy as np
import pytest
import torch

from constructions.assembly import (
    Head,
    Move,
    attention,
    block,
    embed,
    linear_mlp,
    rows,
    signed_pair,
    unembed,
)
from constructions.stream import Stream, one

STREAM = Stream(x=2, u=2, y=1, s=1)
X, U, Y, S = (STREAM.read(name) for name in STREAM)


def integers(*shape, seed=0):
    """Small whole numbers, for which float64 arithmetic is exact."""
    return torch.as_tensor(np.random.default_rng(seed).integers(-5, 6, shape).astype(np.float64))


H = integers(5, 6)
x, u, y, s = H[:, :2], H[:, 2:4], H[:, 4], H[:, 5]


def test_a_head_is_the_sum_in_its_docstring():
    head = Head((X + U, Y), (U, S - 2 * one), (Y, 3 * X), ("s", "u"), times=-0.5)
    added = attention(STREAM, [head], "linear", "full")(H, 5)
    for t in range(5):
        wanted = torch.zeros(6, dtype=torch.float64)
        for i in range(5):
            score = (x[t] + u[t]) @ u[i] + y[t] * (s[i] - 2)
            wanted[5] += -0.5 * score * y[i]
            wanted[2:4] += -0.5 * score * 3 * x[i]
        assert torch.equal(added[t], wanted)


def test_narrow_heads_are_padded_without_effect():
    wide, narrow = Head((X, U), (U, X), (X, U), ("u", "x")), Head(Y, S, Y, "s", 2.0)
    both = attention(STREAM, [wide, narrow], "linear", "causal")
    assert both.W_Q.shape == (2, 6, 4)
    apart = sum(attention(STREAM, [head], "linear", "causal")(H, 5) for head in (wide, narrow))
    assert torch.equal(both(H, 5), apart)


def test_two_relu_heads_of_opposite_sign_are_one_linear_head():
    head = Head((X, Y), (U, S), Y, "s", times=5.0)  # 5 attended tokens, so relu divides by 5
    pair = attention(STREAM, signed_pair(head), "relu", "full")
    linear = attention(STREAM, [head], "linear", "full")
    assert torch.allclose(5 * pair(H, 5), linear(H, 5), rtol=0, atol=1e-11)
    # With equal signs it would be the absolute value of the score.
    head_, opposite = signed_pair(head)
    assert head_ is head
    assert opposite.times == -head.times


def test_moves_happen_at_once_and_constants_are_added():
    mlp = linear_mlp(STREAM, [Move(X - U, "u"), Move(U - X, "x")], {"s": 3.0, "y": -1.0})
    after = H + mlp(H)
    assert torch.equal(after[:, :2], u)
    assert torch.equal(after[:, 2:4], x)
    assert torch.equal(after[:, 4], y - 1)
    assert torch.equal(after[:, 5], s + 3)


def test_a_move_can_read_the_constant():
    after = H + linear_mlp(STREAM, [Move(Y - 4 * one, "s")])(H)
    assert torch.equal(after[:, 5], s + y - 4)


def test_embed_writes_columns_in_order_and_unembed_reads():
    W_E = embed(STREAM, a={"x": 1.0, "u": 0.5}, b={"y": 1.0})
    written = W_E(torch.tensor([[1.0, 2.0, 3.0]], dtype=torch.float64))
    assert torch.equal(written, torch.tensor([[1.0, 2, 0.5, 1, 3, 0]], dtype=torch.float64))
    assert torch.equal(unembed(STREAM, X - 2 * U)(H), x - 2 * u)


def test_rows_are_written_register_by_register():
    written = rows(STREAM, s=np.array([1, 2, 3]), u=np.array([[4, 5], [6, 7], [8, 9]]))
    assert written.dtype == torch.float64
    assert written.tolist() == [[0, 0, 4, 5, 0, 1], [0, 0, 6, 7, 0, 2], [0, 0, 8, 9, 0, 3]]
    assert torch.equal(
        written, rows(STREAM, s=np.array([[1], [2], [3]]), u=written[:, 2:4].numpy())
    )


def test_rows_are_what_readings_read_back():
    places, norms = integers(4, 2, seed=1), integers(4, seed=2)
    written = rows(STREAM, x=places.numpy(), y=norms.numpy())
    weights, bias = STREAM.matrix(2 * X)
    assert torch.equal(written @ torch.as_tensor(weights) + torch.as_tensor(bias), 2 * places)
    assert torch.equal(written[:, STREAM["y"]][:, 0], norms)


def test_rows_of_unknown_registers_or_other_widths_are_refused():
    with pytest.raises(ValueError, match="no register 'v'"):
        rows(STREAM, v=np.zeros(3))
    for values in (np.zeros(3), np.zeros((3, 1)), np.zeros((3, 3))):
        with pytest.raises(ValueError, match="size"):
            rows(STREAM, x=values)


def test_weights_are_the_numbers_that_were_named():
    alpha, n = 0.1, 7.0
    attn = attention(STREAM, [Head(X, X, alpha * X, "u", n)], "relu", "examples")
    assert set(attn.W_V.unique().tolist()) == {0.0, alpha}
    assert set(attn.W_O.unique().tolist()) == {0.0, n}


def test_blocks_say_in_words_what_they_do():
    lines = block(
        STREAM, [Head((X, Y), (U, S), -Y, "s", 0.5)], [Move(X, "u")], {"y": 2.0}, normalise="relu"
    ).lines
    assert lines == (
        "relu head: (x, y) asks, (u, s) answers, −2^−1·y added to s",
        "mlp: x added to u",
        "mlp: 2 added to y",
    )
    two = Head(X, X, (X, Y), ("u", "s"), -2.0)
    assert str(two) == "x asks, x answers, −2·(x, y) added to (u, s)"


def test_absent_parts_leave_no_weights():
    assert block(STREAM).attn is None
    assert block(STREAM).mlp is None
    assert not list(block(STREAM).parameters())
    assert block(STREAM, moves=[Move(X, "u")]).attn is None
    assert block(STREAM, constants={"s": 1.0}).mlp.W_in.shape == (6, 0)
    assert torch.equal(block(STREAM)(H, 5), H)


@pytest.mark.parametrize(
    "head",
    [
        Head(X, Y, Y, "s"),
        Head(X, X, X, "s"),
        Head((X, Y), X, Y, "s"),
        Head(X, X, (X, Y), "u"),
    ],
    ids=str,
)
def test_heads_whose_widths_do_not_fit_are_refused(head):
    with pytest.raises(ValueError, match="as wide as"):
        block(STREAM, [head])


def test_a_head_that_carries_a_constant_is_refused():
    with pytest.raises(ValueError, match="cannot carry a constant; give it a register"):
        block(STREAM, [Head(X, X, Y + one, "s")])


def test_unknown_registers_are_refused():
    with pytest.raises(ValueError, match="no register 'v'"):
        block(STREAM, [Head(X, X, X, "v")])
    with pytest.raises(ValueError, match="no register 'v'"):
        block(STREAM, constants={"v": 1.0})
    with pytest.raises(ValueError, match="no register 'v'"):
        embed(STREAM, a={"v": 1.0})
