"""Messages of one-layer models: splits and forward pass, rounding, collisions, bad input."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb, fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, PosEmbed, Unembed
from constructions.retrieval import broad_average, induction_heads, previous_token, skip_gram
from constructions.stream import Stream
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from verify.evidence.formats import FORMATS
from verify.retrieval.collisions import collision
from verify.retrieval.messages import Split, fractions

V, T, D = 3, 7, 4
few = settings(max_examples=20)
EXACT = ("hardmax", "linear", "relu")


def model_of(blocks, embedded, positions, unembedding, *bias):
    """These blocks between tables of tokens and positions."""
    return Transformer(
        Embed(embedded),
        blocks,
        Unembed(unembedding, *bias),
        pos_embed=PosEmbed(positions),
        interface=Tokens(len(embedded), len(positions)),
        stream=Stream(state=embedded.shape[1]),
        name="layer",
        source="",
    )


def layer(seed, normalise="softmax", mask="causal", heads=2, before=False, after=True):
    """A small layer with weights in {−1, −½, 0, ½, 1}, so that scores tie and torch is exact."""
    rng = np.random.default_rng(seed)

    def weights(*shape):
        return torch.as_tensor(rng.integers(-2, 3, size=shape) / 2.0)

    def mlp():
        return MLP(weights(D, 5), weights(5), weights(5, D), weights(D))

    W_Q, W_K, W_V = (weights(heads, D, 2) for _ in range(3))
    constants = weights(heads, 2, D), weights(heads, 2), weights(heads, 2)
    attn = Attention(W_Q, W_K, W_V, *constants, normalise=normalise, mask=mask, scale=0.75)
    embedded = weights(V, D)
    blocks = [Block(None, mlp())] if before else []
    blocks += [Block(attn, mlp()), Block(None, mlp())] if after else [Block(attn)]
    unembedding = weights(D, V), weights(V)
    return model_of(blocks, embedded, weights(T, D), *unembedding)


prompts = st.lists(st.integers(0, V - 1), min_size=1, max_size=T)
positions = st.sets(st.integers(0, T - 2))
seeds = st.integers(0, 10**6)


def split_of(model, tokens, alice, precision=None):
    held = sorted(j for j in alice if j < len(tokens) - 1)
    return Split(model, len(tokens), held, tokens[-1], precision)


def overlap(one, other):
    """Balls that share a point and are narrow."""
    return all(a.overlaps(b) and a.rad() < 1e-40 for a, b in zip(one, other, strict=True))


# What is split and put together again is the model


@given(
    seeds,
    prompts,
    positions,
    st.sampled_from(EXACT),
    st.sampled_from(["full", "causal", "strictly causal"]),
    st.booleans(),
)
def test_message_and_completion_are_the_model_over_the_rationals(
    seed, tokens, alice, normalise, mask, before
):
    model = layer(seed, normalise, mask, before=before)
    split = split_of(model, tokens, alice)
    logits = split.complete(split.message(tokens), tokens)
    assert logits == split.forward(tokens)
    run = model.logits(tokens)[-1].tolist()
    # Numbers below 2^20 in eighths, a few dozen roundings at most after a division.
    assert [float(x) for x in logits] == pytest.approx(run, rel=1e-13, abs=1e-7)


@few
@given(
    seeds, prompts, positions, st.sampled_from(["full", "causal", "strictly causal"]), st.booleans()
)
def test_message_and_completion_are_the_softmax_model_in_narrow_balls(
    seed, tokens, alice, mask, after
):
    model = layer(seed, mask=mask, after=after)
    split = split_of(model, tokens, alice)
    logits = split.complete(split.message(tokens), tokens)
    assert overlap(logits, split.forward(tokens))
    run = model.logits(tokens)[-1].tolist()
    assert [float(x) for x in logits] == pytest.approx(run, rel=1e-9, abs=1e-7)


@few
@given(seeds, prompts, positions, st.sampled_from([*EXACT, "softmax"]), seeds)
def test_the_message_is_alices_and_the_completion_bobs(seed, tokens, alice, normalise, other):
    split = split_of(layer(seed, normalise), tokens, alice, "float16")
    rng, hers = np.random.default_rng(other), set(split.alice)
    drawn = rng.integers(V, size=len(tokens)).tolist()
    last = len(tokens) - 1
    bobs_changed = [t if j in hers or j == last else drawn[j] for j, t in enumerate(tokens)]
    hers_changed = [drawn[j] if j in hers else t for j, t in enumerate(tokens)]
    message = split.message(tokens)
    assert split.message(bobs_changed) == message
    one, two = (split.complete(message, row) for row in (tokens, hers_changed))
    assert [fractions(x) for x in one] == [fractions(x) for x in two]


@few
@given(seeds, prompts, positions, st.sampled_from(EXACT))
def test_messages_merge(seed, tokens, alice, normalise):
    split = split_of(layer(seed, normalise), tokens, alice)
    merged = split.nothing
    for j in reversed(split.alice):
        merged = split.merge(merged, split.part(tokens[j], j))
    assert merged == split.message(tokens)


@few
@given(seeds, prompts, positions)
def test_messages_of_softmax_merge_in_balls(seed, tokens, alice):
    split = split_of(layer(seed), tokens, alice)
    merged = split.nothing
    for j in split.alice:
        merged = split.merge(merged, split.part(tokens[j], j))
    pairs = zip(merged, split.message(tokens), strict=True)
    assert all(overlap(one, other) for one, other in pairs)


@pytest.mark.parametrize(
    "model",
    [broad_average(4, 9), previous_token(4, 9), skip_gram(np.eye(4), 9)],
    ids=lambda model: model.name,
)
@pytest.mark.parametrize("sharpness", [None, 40.0])
def test_the_constructions_split_with_their_prefix(model, sharpness):
    model = model.sharpened(sharpness)
    tokens = [1, 0, 3, 2, 2, 3, 1, 0, 2]
    split = Split(model, 9, (0, 3, 4, 7), 2)
    logits = split.complete(split.message(tokens), tokens)
    real = model.logits(tokens)[-1].tolist()
    assert [float(x) for x in logits] == pytest.approx(real, rel=1e-12, abs=1e-12)
    if sharpness is None:
        assert logits == split.forward(tokens)
        assert split.answer(logits) == model(tokens)[-1]
    else:
        assert overlap(logits, split.forward(tokens))


@few
@given(seeds, prompts, positions, st.sampled_from([*EXACT, "softmax"]))
def test_float64_keeps_the_logits_to_its_precision(seed, tokens, alice, normalise):
    """Numbers in eighths are exact in float64; exponentials lose at most 2^−53 each."""
    model = layer(seed, normalise, after=False)
    split, rounded = (split_of(model, tokens, alice, p) for p in (None, "float64"))
    one, two = (s.complete(s.message(tokens), tokens) for s in (split, rounded))
    if normalise == "softmax":
        assert [float(x) for x in one] == pytest.approx([float(x) for x in two], rel=0, abs=1e-12)
    else:
        assert one == two


@pytest.mark.parametrize(
    ("normalise", "numbers"), [("softmax", 6), ("hardmax", 8), ("linear", 4), ("relu", 4)]
)
def test_the_size_of_a_message(normalise, numbers):
    """Two heads of value dimension 2: h(m + 1), h(m + 2) or h·m numbers."""
    tokens = [0, 1, 2, 0]
    split = split_of(layer(0, normalise), tokens, {0, 2}, "bfloat16")
    assert (split.n_numbers, split.bits) == (numbers, 16 * numbers)
    assert sum(map(len, split.message(tokens))) == numbers
    assert split_of(layer(0, normalise), tokens, {0}).bits is None


@pytest.mark.parametrize(
    ("logits", "answer"),
    [
        ([fmpq(1), fmpq(3), fmpq(3)], 1),
        ([fmpq(1), fmpq(0), fmpq(0), fmpq(2)], -1),
        ([arb(1), arb(3), arb(2)], 1),
        ([arb(1), arb("3 +/- 1"), arb("2 +/- 1")], None),
    ],
)
def test_the_answer(logits, answer):
    assert split_of(layer(0), [0, 1], {0}).answer(logits) == answer


# Rounding

finite = st.floats(allow_nan=False, allow_infinity=False, width=32)


def rounded(name, value):
    return float(FORMATS[name].round(Fraction(value)))


@given(finite)
def test_rounding_is_that_of_the_formats(value):
    """float32 to bfloat16 and to float16 is one rounding in torch and numpy, as is 64 to 32."""
    if abs(value) < 3e38:
        assert rounded("bfloat16", value) == float(torch.tensor(value).to(torch.bfloat16))
    if abs(value) < 65000:
        assert rounded("float16", value) == float(np.float16(np.float32(value)))
    assert rounded("float32", value) == value


@given(st.floats(-1e30, 1e30))
def test_rounding_of_float64(value):
    assert rounded("float64", value) == value
    assert rounded("float32", value) == float(np.float32(value))


@given(st.fractions(-60000, 60000), st.fractions(-60000, 60000), st.sampled_from([*FORMATS]))
def test_rounding_is_monotone_and_keeps_what_it_made(one, other, name):
    low, high = sorted((one, other))
    a, b = FORMATS[name].round(low), FORMATS[name].round(high)
    assert a <= b
    assert FORMATS[name].round(a) == a
    assert abs(a - low) <= FORMATS[name].ulp(low) / 2


def test_the_formats_store_so_many_bits():
    assert {name: kept.bits for name, kept in FORMATS.items()} == {
        "bfloat16": 16,
        "float16": 16,
        "float32": 32,
        "float64": 64,
    }


@pytest.mark.parametrize(("value", "limit"), [(65519, 65504), (-65519, -65504), (0, 0)])
def test_the_largest_float16(value, limit):
    assert rounded("float16", value) == limit
    with rejects("65520", "5"):
        rounded("float16", 65520)


def test_a_ball_across_a_boundary_is_not_rounded():
    split = split_of(layer(0), [0, 1], {0}, "bfloat16")
    assert split._rounded(arb("3 +/- 0.0001")) == 3
    with rejects():
        split._rounded(arb("3.0078125 +/- 0.0001"))


# Collisions


def bits_then_query(held):
    return [*held, 2]


@pytest.mark.parametrize("normalise", ["softmax", "linear"])
def test_rounded_sums_collide(normalise):
    """40 bits, two sums (or three) of 8 significant bits; unrounded, they differ."""
    rng = np.random.default_rng(5)

    def normal(*shape):
        return torch.as_tensor(rng.standard_normal(shape))

    W_Q, W_K, W_V = normal(1, D, 2) / 2, normal(1, D, 2) / 2, normal(1, D, 2)
    rest = normal(1, 2, D), normal(1, 2), normal(1, 2)
    attn = Attention(W_Q, W_K, W_V, *rest, normalise=normalise, mask="causal")
    model = model_of([Block(attn)], normal(V, D), normal(41, D), normal(D, V))
    split = Split(model, 41, range(40), 2, "bfloat16")
    one, two = collision(split, [(0, 1)] * 40, bits_then_query, rng, range(20))
    assert one != two
    assert set(one) | set(two) <= {0, 1}
    assert split.message([*one, 2]) == split.message([*two, 2])
    exact = Split(model, 41, range(40), 2)
    hers, other = (exact.message([*bits, 2])[0] for bits in (one, two))
    equal = arb.overlaps if normalise == "softmax" else fmpq.__eq__
    assert not all(equal(a, b) for a, b in zip(hers, other, strict=True))


def test_hardmax_collides_over_the_rationals():
    split = Split(broad_average(4, 5), 5, (0, 1, 2, 3), 2)
    one, two = collision(split, [(0, 1)] * 4, bits_then_query, np.random.default_rng(0), ())
    assert (one, two) == ([0, 1, 0, 0], [1, 0, 0, 0])
    part = split.part(1, 0)
    assert part == split.merge(part, split.nothing) == split.merge(split.nothing, part)


def test_binary_numbers_do_not_collide_until_they_are_rounded():
    """Linear scores 2^j·x_j with value 1: the message is a number of 12 bits, all different."""
    W_Q, W_K, W_V = torch.zeros(3, 1, 3, 1, dtype=torch.float64)
    W_K[0, 0, 0] = W_V[0, 1, 0] = 1.0
    constants = torch.tensor([[[0.0, 0, 1]]]), torch.ones(1, 1), torch.zeros(1, 1)
    attn = Attention(W_Q, W_K, W_V, *constants, normalise="linear", mask="causal")
    positions = torch.tensor([[0, 2.0**j, 0] for j in range(12)] + [[0, 0, 0]])
    embedded = torch.tensor([[0.0, 0, 0], [1, 0, 0], [0, 0, 0]])
    model = model_of([Block(attn)], embedded, positions, torch.eye(3))
    rng = np.random.default_rng(0)
    split = Split(model, 13, range(12), 2)
    assert collision(split, [(0, 1)] * 12, bits_then_query, rng, ()) is None
    word = [1, 0, 1, 1, 0, 0, 0, 0, 0, 0, 0, 1]
    assert split.message([*word, 2]) == ((fmpq(0b100000001101),),)
    kept = Split(model, 13, range(12), 2, "bfloat16")
    one, two = collision(kept, [(0, 1)] * 12, bits_then_query, rng, range(20))
    assert one != two


# Bad input


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: Split(induction_heads(4, 9), 9, (1,), 2), "2 layers"),
        (lambda: Split(layer(0, mask="context-only"), 4, (1,), 2), "mask"),
        (lambda: Split(layer(0), 4, (3,), 2), "positions"),
        (lambda: Split(layer(0), 4, (1, 1), 2), "positions"),
        (lambda: Split(layer(0), T + 1, (1,), 2), "8 tokens"),
        (lambda: Split(layer(0), 4, (1,), 2, "half"), "precision"),
        (lambda: split_of(layer(0), [0, 1], {0}).message([0, 2]), "2 tokens"),
        (lambda: split_of(layer(0), [0, 1], {0}).message([0, 1, 1]), "3 tokens"),
        (lambda: split_of(layer(0), [0, 1], {0}).message([V, 1]), "tokens"),
        (
            lambda: collision(
                split_of(layer(0), [0, 1], {0}), [(0, 1)], list, np.random.default_rng(0), ()
            ),
            "precision",
        ),
    ],
)
def test_bad_input(call, name):
    with rejects(name):
        call()


def test_a_model_without_attention_is_rejected():
    model = layer(0)
    model.blocks[0].attn = None
    with rejects("0"):
        Split(model, 4, (1,), 2)


@pytest.mark.parametrize("name", ["bfloat16", "float16", "float32", "float64"])
def test_the_largest_numbers_are_torchs(name):
    assert float(FORMATS[name].largest) == torch.finfo(getattr(torch, name)).max
