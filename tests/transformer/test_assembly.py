import numpy as np
import pytest
import torch
from flint import fmpq
from hypothesis import given
from hypothesis import strategies as st
from plain import plain
from refusals import rejects

from constructions.assembly import Head, attention, block, embed, mlp, rows, signed_pair, unembed
from constructions.blocks import Embed
from constructions.interface import Prompt
from constructions.primitives import (
    And,
    Clip,
    Move,
    Or,
    ReLU,
    Step,
    Table,
)
from constructions.stream import Map, Stream, one
from constructions.tokens import binary_codes
from verify.domains import Rational, objects, outputs, streams

STREAM = Stream(x=2, u=2, y=1, s=1)
X, U, Y, S = (STREAM.read(name) for name in STREAM)


def integers(*shape, seed=0):
    """Small integers, for which float64 arithmetic is exact."""
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
    moves = [Move(X - U, "u"), Move(U - X, "x"), Move(3 * one, "s"), Move(-one, "y")]
    after = H + mlp(STREAM, moves)(H)
    assert torch.equal(after[:, :2], u)
    assert torch.equal(after[:, 2:4], x)
    assert torch.equal(after[:, 4], y - 1)
    assert torch.equal(after[:, 5], s + 3)


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


def test_rows_of_unknown_registers_or_other_widths_are_refused():
    with rejects("v"):
        rows(STREAM, v=np.zeros(3))
    for values in (np.zeros(3), np.zeros((3, 1)), np.zeros((3, 3))):
        with rejects(error=ValueError):
            rows(STREAM, x=values)


def test_weights_are_the_numbers_that_were_named():
    alpha, n = 0.1, 7.0
    attn = attention(STREAM, [Head(X, X, alpha * X, "u", n)], "relu", "context-only")
    assert set(attn.W_V.unique().tolist()) == {0.0, alpha}
    assert set(attn.W_O.unique().tolist()) == {0.0, n}


def test_blocks_say_in_words_what_they_do():
    lines = block(
        STREAM,
        [Head((X, Y), (U, S), -Y, "s", 0.5)],
        [Move(X, "u"), Move(2 * one, "y")],
        normalise="relu",
        unit_norm=True,
    ).lines
    assert lines == (
        "relu head: query (x, y), key (u, s), value −2^−1·y → s",
        "mlp: x → u",
        "mlp: 2 → y",
        "unit norm",
    )
    two = Head(X, X, (X, Y), ("u", "s"), -2.0)
    assert str(two) == "query x, key x, value −2·(x, y) → (u, s)"


def test_absent_parts_leave_no_weights():
    assert block(STREAM).attn is None
    assert block(STREAM).mlp is None
    assert not list(block(STREAM).parameters())
    assert block(STREAM, primitives=[Move(X, "u")]).attn is None
    assert block(STREAM, primitives=[Move(one, "s")]).mlp.W_in.shape == (6, 0)
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
    with rejects():
        block(STREAM, [head])


def test_a_head_that_carries_a_constant_is_refused():
    with rejects("register"):
        block(STREAM, [Head(X, X, Y + one, "s")])


def test_unknown_registers_are_refused():
    with rejects("v"):
        block(STREAM, [Head(X, X, X, "v")])
    with rejects("v"):
        block(STREAM, primitives=[Move(one, "v")])
    with rejects("v"):
        embed(STREAM, a={"v": 1.0})


# ---- MLP primitives: each is added to its register, and nothing else changes


def added(words, tokens, stream=STREAM):
    """What an MLP of these words adds."""
    return mlp(stream, words)(tokens)


def only(name, values):
    """A stream with these values in one register and 0 elsewhere."""
    wanted = torch.zeros(len(H), 6, dtype=torch.float64)
    wanted[:, STREAM[name]] = values
    return wanted


small = st.integers(-4, 4).map(float)


@given(small, small)
def test_units_are_relus_times_a_number_or_a_matrix(a, times):
    reading = X - a * U + a * one
    relu = (x - a * u + a).relu()
    assert torch.equal(added([ReLU(reading, "u", times)], H), only("u", times * relu))
    W = integers(2, 1, seed=3)
    mapped = ReLU(reading, "s", Map(W.numpy(), "W"))
    assert torch.equal(added([mapped], H), only("s", relu @ W))
    assert str(mapped).endswith("·W → s")


@given(small, st.integers(1, 5).map(float))
def test_clips_are_exact_everywhere(low, width):
    word = Clip(X - U, low, low + width, "u")
    assert torch.equal(added([word], H), only("u", (x - u).clamp(low, low + width)))


@given(small, st.sampled_from([0.25, 0.5, 1.0, 4.0]), small)
def test_steps_are_exact_outside_their_margin(at, margin, times):
    word = Step(Y, at, "s", margin, times)
    (values,) = added([word], H)[None, :, 5]
    inside = (y > at - margin) & (y < at)
    assert torch.equal(values[~inside], (times * (y >= at).double())[~inside])
    # In between they rise in a line.
    assert torch.equal(values[inside], times * (y[inside] - at + margin) / margin)


def test_steps_print_where_they_are_exact():
    assert str(Step(Y, 3.0, "s", 0.5, 2.0)) == "2·[y ≥ 3] → s, exact unless 2.5 < y < 3"
    assert str(Step(Y, 1.0, "s")) == "[y ≥ 1] → s, exact unless 0 < y < 1"


BITS = Stream(a=1, b=1, c=1, out=1)
TABLE_OF_BITS = torch.tensor([[i >> k & 1 for k in range(3)] + [0] for i in range(8)]).double()


@given(st.lists(st.tuples(st.sampled_from("abc"), st.booleans()), min_size=1, max_size=4), small)
def test_gates_are_their_truth_tables(chosen, times):
    literals = tuple(one - BITS.read(n) if negated else BITS.read(n) for n, negated in chosen)
    values = [TABLE_OF_BITS[:, "abc".index(n)].bool() ^ negated for n, negated in chosen]
    for gate, wanted in (
        (And(literals, "out", times), torch.stack(values).all(0)),
        (Or(literals, "out", times), torch.stack(values).any(0)),
    ):
        # A literal twice counts twice, as a gate of its own would have it.
        if len({*chosen}) < len(chosen):
            continue
        assert torch.equal(added([gate], TABLE_OF_BITS, BITS)[:, 3], times * wanted.double())


@given(st.integers(0, 2**20), st.sampled_from([0.0, 1.0]))
def test_an_and_passes_one_fraction(numerator, bit):
    fraction = numerator / 2.0**20
    tokens = torch.tensor([[fraction, bit, 1.0, 0.0]]).double()
    gate = And(tuple(map(BITS.read, "abc")), "out")
    assert added([gate], tokens, BITS)[0, 3] == fraction * bit


def test_gates_print_as_formulas():
    a, b = BITS.read("a"), BITS.read("b")
    assert str(And((a, one - b), "out")) == (
        "(a and not b) → out, exact on bits, one of which may be a fraction"
    )
    assert str(Or((a, one - b), "c", 2.0)) == "2·(a or not b) → c, exact on bits"
    assert str(Or((one - a - b, a), "c")) == "(1 − a − b or a) → c, exact on bits"


@given(st.integers(1, 9), st.integers(1, 3), st.integers(0, 99))
def test_tables_look_up_codes(V, width, seed):
    codes = binary_codes(V)
    entries = np.random.default_rng(seed).integers(-9, 9, (V, width)).astype(float)
    stream = Stream(code=codes.shape[1], out=width)
    word = Table(stream.read("code"), codes, entries, "out")
    tokens = rows(stream, code=np.vstack([codes, 0 * codes[:1]]))
    found = added([word], tokens, stream)[:, stream["out"]]
    # The code 0 of "none" has no entry; as a key it would not satisfy the condition: ‖key‖² is 1.
    assert torch.equal(found[:V], torch.as_tensor(entries))
    assert not found[V].any()


@pytest.mark.parametrize(
    "word",
    [
        Move(X, "s"),
        ReLU(Y, "x"),
        Clip(X, 0.0, 1.0, "y"),
        ReLU(X, "s", Map(np.ones((3, 1)), "W")),
        ReLU(X, "s", Map(np.ones((2, 3)), "W")),
        Move(one @ Map(np.ones((1, 3)), "v"), "x"),
    ],
    ids=str,
)
def test_words_whose_widths_do_not_fit_are_refused(word):
    with rejects():
        mlp(STREAM, [word])


def test_a_constant_vector_is_a_bias_and_takes_no_units():
    made = mlp(STREAM, [Move(0.5 * one @ Map(np.array([[1.0, -2.0]]), "v") + one, "x")])
    assert made.W_in.shape[1] == 0
    assert made.b_out[STREAM["x"]].tolist() == [1.5, 0.0]
    assert made.b_out.abs().sum() == 1.5


def test_many_words_are_side_by_side():
    words = [Move(X, "u"), Clip(Y, 0.0, 1.0, "s"), ReLU(U, "x", -1.0), Step(S, 0.0, "y")]
    assert torch.equal(added(words, H), sum(added([word], H) for word in words))


def test_a_head_may_carry_through_a_matrix_and_margins_are_kept_by_the_block():
    from constructions.margins import Margin

    W = Map(integers(2, 1, seed=4).numpy(), "W")
    head = Head(X, U, X, "s", W, Margin(2.0))
    linear = block(STREAM, [head], mask="full")
    plain = block(STREAM, [Head(X, U, X @ W, "s")], mask="full")
    assert torch.equal(linear(H, 5), plain(H, 5))
    assert linear.margins == (Margin(2.0),)
    assert str(head) == "query x, key u, value x·W → s"


# ---- the same words over Q, by the independent forward pass of the number systems

EVERY = Stream(u=2, a=1, b=1, code=2, out=2, bit=1)
POINTS = {
    # primitive: (its values by definition at (u, a, b, code), where it is stated to be exact)
    "move": (Move(EVERY.read("u") - 0.5 * one, "out"), lambda u, a, b, c: [x - half for x in u]),
    "unit": (ReLU(EVERY.read("u"), "out", -3.0), lambda u, a, b, c: [-3 * max(x, 0) for x in u]),
    "clip": (Clip(EVERY.read("u"), -1.0, 0.5, "out"), lambda u, a, b, c: [clip(x) for x in u]),
    "step": (Step(EVERY.read("u"), 1.0, "out", 0.25), lambda u, a, b, c: [x >= 1 for x in u]),
    "and": (And((EVERY.read("a"), one - EVERY.read("b")), "bit"), lambda u, a, b, c: [a * (1 - b)]),
    "or": (
        Or((EVERY.read("a"), one - EVERY.read("b")), "bit"),
        lambda u, a, b, c: [max(a, 1 - b)],
    ),
    "table": (
        Table(EVERY.read("code"), np.eye(2), np.array([[0.25, 3.0], [-7.0, 1.0]]), "out"),
        lambda u, a, b, c: [[fmpq(1, 4), 3], [-7, 1]][c],
    ),
}
half = fmpq(1, 2)


def clip(value):
    return min(max(value, fmpq(-1)), half)


def thirds():
    """Fractions that float64 does not hold; outside the margin of the step, (¾, 1)."""
    numbers = st.integers(-9, 9).map(lambda top: fmpq(top, 3))
    return numbers.filter(lambda x: not fmpq(3, 4) < x < 1)


@pytest.mark.parametrize("name", POINTS)
@given(
    u=st.tuples(thirds(), thirds()),
    a=st.sampled_from([fmpq(0), fmpq(1)]),
    b=st.sampled_from([fmpq(0), fmpq(1)]),
    code=st.integers(0, 1),
)
def test_words_are_their_definitions_over_q(name, u, a, b, code):
    word, definition = POINTS[name]
    identity = Embed(torch.eye(EVERY.d_model, dtype=torch.float64))
    model = plain(
        identity, [block(EVERY, primitives=[word])], unembed(EVERY, EVERY.read(word.into)), EVERY
    )
    token = [*u, a, b, fmpq(code == 0), fmpq(code == 1), *[fmpq(0)] * 3]
    rational = Rational()
    assert outputs(model, Prompt(objects([token]), 1), rational).tolist() == [
        [fmpq(value) for value in definition(u, int(a), int(b), code)]
    ]
    # Nothing else in the stream has changed.
    before, after = streams(model, Prompt(objects([token]), 1), rational)
    changed = EVERY[word.into]
    kept = [i for i in range(EVERY.d_model) if not changed.start <= i < changed.stop]
    assert [after[0, i] for i in kept] == [before[0, i] for i in kept] == [token[i] for i in kept]


def test_rows_of_wrong_shapes_are_refused():
    stream = Stream(a=2, b=1)
    assert rows(stream, b=np.arange(1, 4)).tolist() == [[0, 0, 1], [0, 0, 2], [0, 0, 3]]
    for wrong, arrays in (
        ("registers", {}),
        ("a", {"a": np.ones((2, 3))}),
        ("a", {"a": np.ones((2, 2)), "b": np.arange(3)}),
        ("b", {"b": np.array(1.0)}),
    ):
        with rejects(wrong):
            rows(stream, **arrays)
