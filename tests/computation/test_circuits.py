"""Transformers as circuits: both translations beside the model, over the rationals."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import induction_heads, modern_hopfield_update, newton, previous_token, skip_gram
from constructions.arithmetic import linear_adder
from constructions.attention import Attention
from constructions.blocks import MLP, Block, Embed, LayerNorm, PosEmbed, Unembed, UnitNorm
from constructions.computation import (
    averaging_circuit,
    circuit_evaluator,
    first_symbol,
    hard_attention_circuit,
    majority,
    parity,
    semiautomaton,
    shortcut,
    to_circuit,
)
from constructions.computation.circuit_examples import contains_aa, marked_majority
from constructions.stream import Stream
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.computation import S3, Semiautomaton, cyclic, unary
from theory.kinds import InputError
from theory.sequences import all_sequences
from verify.domains import Rational, outputs

MASKS = "full", "causal", "strictly causal", "diagonal"


def random_model(seed: int, V: int, masks: tuple[str, ...], layers: int, ranked: bool):
    """Small whole-number weights; `ranked`: scores in which no two positions tie."""
    rng = np.random.default_rng(seed)
    D, T = 3, 4

    def draw(*shape: int) -> torch.Tensor:
        return torch.as_tensor(rng.integers(-1, 2, size=shape).astype(np.float64))

    blocks = []
    for _ in range(layers):
        heads = len(masks)
        W = [draw(heads, D, 2), draw(heads, D, 2), draw(heads, D, 1), draw(heads, 1, D)]
        b = [draw(heads, 2), draw(heads, 2)]
        if ranked:  # one more coordinate, 8·(the rest) + position, is what answers and what is kept
            for tensor in (W[0], W[1], b[0], b[1]):
                tensor[..., 1:] = 0
            W[0][:, :, 0] *= 8
            W[0][:, 2], W[3][:, :, 2], b[0][:, 0], b[0][:, 1] = 0, 0, 8, 1
            W[1][:, 2, 0], W[1][:, 2, 1] = 0, 1
        attn = Attention(*W, *b, normalise="hardmax", mask=masks)
        W_out = draw(2, D)
        if ranked:
            W_out[:, 2] = 0
        mlp = MLP(draw(D, 2), draw(2), W_out, 0 * draw(D)) if rng.random() < 0.7 else None
        blocks.append(Block(attn, mlp))
    W_E, W_pos = draw(V + 1, D), draw(T + 1, D)
    if ranked:
        W_E[:, 2], W_pos[:, 2] = 0, torch.arange(T + 1)
    return Transformer(
        Embed(W_E),
        blocks,
        Unembed(draw(D, 3), draw(3)),
        pos_embed=PosEmbed(W_pos),
        interface=Tokens(V, T, prefix=(V,), labels=2, bottom=True),
        stream=Stream(x=D),
        name="random",
        source="",
    )


def exact_answers(model: Transformer, words: np.ndarray) -> list[int]:
    """The last answers over the rationals, the first of equal logits."""
    found = []
    for word in words:
        *_, logits = outputs(model, model.prompt(word), Rational()).tolist()
        best = logits.index(max(logits))
        found.append(-1 if best == model.interface.n_answers else best)
    return found


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(2, 3), (2, 2), (3, 1), (1, 2)]),
    st.sampled_from(
        [*((mask,) for mask in MASKS), ("causal", "strictly causal"), ("diagonal", "full")]
    ),
    st.integers(1, 2),
)
@settings(max_examples=6, deadline=None)
def test_any_averaging_transformer_is_a_threshold_circuit(seed, size, masks, layers):
    V, n = size
    model, words = random_model(seed, V, masks, layers, ranked=False), all_sequences(n, V)
    try:
        circuit = to_circuit(model, n)
    except InputError as error:  # means of several heads, multiplied in the scores of layer 2
        if "more than" not in str(error):
            raise
        return
    assert circuit.answers(unary(words, V)).tolist() == exact_answers(model, words)
    assert circuit.depth <= averaging_circuit.LEVELS * layers + averaging_circuit.LEVELS_TO_ANSWER


@given(
    st.integers(0, 2**32 - 1),
    st.sampled_from([(2, 3), (2, 2), (3, 2), (1, 2)]),
    st.sampled_from(
        [*((mask,) for mask in MASKS), ("causal", "strictly causal"), ("diagonal", "full")]
    ),
    st.integers(1, 2),
)
@settings(max_examples=15, deadline=None)
def test_any_unique_hard_transformer_is_and_or_not(seed, size, masks, layers):
    V, n = size
    model = random_model(seed, V, masks, layers, ranked=True)
    circuit, words = to_circuit(model, n, "and-or"), all_sequences(n, V)
    assert circuit.kinds["threshold"] == 0
    assert circuit.answers(unary(words, V)).tolist() == exact_answers(model, words)
    assert circuit.depth <= 2 * len(masks) * layers + 2 * (V > 2)
    assert to_circuit(model, n).answers(unary(words, V)).tolist() == exact_answers(model, words)


def test_parity_is_the_circuit_of_textbooks():
    """n thresholds of the count and an alternating sum of them, weights ±1, in depth 2."""
    circuit = to_circuit(counted_parity(7), 7)
    *counts, last = circuit.gates
    assert [gate.threshold for gate in counts] == [1, 2, 3, 4, 5, 6, 7]
    assert {gate.wires for gate in counts} == {tuple(range(7))}
    assert {gate.weights for gate in counts} == {(1,) * 7}
    assert sorted(last.wires) == list(range(7, 14))
    assert {abs(weight) for weight in last.weights} == {1}
    assert circuit.depth == 2
    words = all_sequences(7, 2)
    assert (circuit.answers(words) == words.sum(1) % 2).all()


def counted_parity(length):
    return parity(length, causal=True)


def test_majority_is_one_gate():
    circuit = to_circuit(majority(9), 9)
    (gate,) = circuit.gates
    assert (gate.weights, gate.threshold) == ((1,) * 9, 5)


def test_a_symbol_that_is_copied_takes_no_gate():
    for gates in ("and-or", "threshold"):
        circuit = to_circuit(previous_token(2, 5), 5, gates)
        assert circuit.size == 0
        assert circuit.outputs[:2] == (~3, 3)


@pytest.mark.parametrize("length", [2, 5])
def test_a_model_for_longer_words_gives_the_circuits_of_shorter_ones(length):
    words = all_sequences(length, 2)
    wanted = words.sum(1) % 2
    for model in (counted_parity(9), semiautomaton(cyclic(2), 8), shortcut(cyclic(2), 8)):
        assert (to_circuit(model, length).answers(words) == wanted).all()


@pytest.mark.parametrize("model", [shortcut(S3, 5), semiautomaton(S3, 4)], ids=["cascade", "maps"])
def test_library_models_over_s3(model):
    n = model.interface.max_length
    words = all_sequences(n, 2)
    circuit = to_circuit(model, n)
    assert (circuit.answers(words) == S3.run(words)[:, -1]).all()


@pytest.mark.parametrize("V", [1, 2, 3])
def test_induction_heads_both_ways(V):
    model, words = induction_heads(V, 4), all_sequences(4, V)
    wanted = model(words)[:, -1].numpy()
    for gates in ("and-or", "threshold"):
        assert (to_circuit(model, 4, gates).answers(unary(words, V)) == wanted).all()


@pytest.mark.parametrize(
    ("build", "wanted"),
    [
        (contains_aa, lambda w: "11" in w),
        (marked_majority, lambda w: w[::2].count("1") > w[1::2].count("1")),
    ],
)
def test_the_examples_answer_every_prefix(build, wanted):
    model = build(6)
    words = all_sequences(6, model.interface.vocabulary_size)
    outputs = model(words).numpy()
    for word, answers in zip(words.tolist(), outputs.tolist(), strict=True):
        text = "".join(map(str, word))
        assert answers == [int(wanted(text[: i + 1])) for i in range(6)]


@pytest.mark.parametrize(
    ("model", "n", "gates"),
    [
        (parity(4), 3, "threshold"),
        (first_symbol(4), 3, "threshold"),
        (first_symbol(4), 3, "and-or"),
        (linear_adder(3), 2, "threshold"),
    ],
)
def test_one_answer_for_a_word_is_read_where_the_model_reads_it(model, n, gates):
    V = model.interface.vocabulary_size
    words = all_sequences(n, V)
    wanted = model(words)[..., -1].numpy()
    assert (to_circuit(model, n, gates).answers(unary(words, V)) == wanted).all()


def test_means_over_tokens_that_the_word_chooses_have_all_denominators():
    circuit = to_circuit(marked_majority(8), 8)
    assert circuit.largest_weight > 100
    assert circuit.depth == 4
    words = 1 - np.eye(36, 35, dtype=int)  # 34 or 35 marks, as many at odd as at even places, ±1
    wanted = [i % 2 for i in range(35)] + [1]
    assert to_circuit(marked_majority(35), 35).answers(words).tolist() == wanted


def changed(**parts) -> Transformer:
    model = contains_aa(3)
    for name, part in parts.items():
        setattr(model, name, part)
    return model


def normed(model: Transformer, **norms) -> Transformer:
    for name, norm in norms.items():
        setattr(model.blocks[0], name, norm)
    return model


def frequencies(model: Transformer) -> Transformer:
    model.interface.frequencies = True
    return model


def infinite(model: Transformer) -> Transformer:
    model.unembed.W_U.data[0, 0] = torch.inf
    return model


@pytest.mark.parametrize(
    ("model", "length", "gates", "names"),
    [
        (lambda: newton(2, 1, 0.25), 2, "threshold", "newton"),
        (lambda: modern_hopfield_update(np.eye(2), 1.0), 2, "threshold", "modern_hopfield_update"),
        (lambda: contains_aa(3), 4, "threshold", "n 4 1 3"),
        (lambda: contains_aa(3), 10**30, "and-or", "3"),
        (lambda: circuit_evaluator(2, 2), 3, "threshold", "n 3 8"),
        (lambda: contains_aa(3).sharpened(30.0), 2, "threshold", "softmax"),
        (lambda: changed(ln_final=LayerNorm(6)), 2, "threshold", "norm"),
        (lambda: normed(contains_aa(3), norm=UnitNorm()), 2, "threshold", "norm"),
        (lambda: normed(contains_aa(3), ln1=LayerNorm(6)), 2, "and-or", "norm"),
        (lambda: normed(contains_aa(3), ln2=LayerNorm(6)), 2, "and-or", "norm"),
        (lambda: frequencies(contains_aa(3)), 2, "threshold", "frequencies"),
        (lambda: skip_gram(np.eye(2), 1024), 2, "threshold", "skip_gram"),
        (lambda: infinite(contains_aa(3)), 2, "threshold", "weights"),
        (lambda: counted_parity(3), 3, "and-or", "score"),
    ],
)
def test_what_has_no_circuit_is_rejected(model, length, gates, names):
    with rejects(*names.split()):
        to_circuit(model(), length, gates)


def test_too_many_contents_are_rejected(monkeypatch):
    monkeypatch.setattr(hard_attention_circuit, "MOST_CONTENTS", 5)
    with rejects("layer", "1", "5"):
        to_circuit(induction_heads(4, 4), 4, "and-or")


def test_weights_are_read_as_they_are():
    """A threshold that float32 would round: 1/3 of float64 is no third."""
    model = majority(3)
    third = 1 / 3
    bias = torch.tensor([2 * third, 0.0], dtype=torch.float64)
    model.unembed.b_U = torch.nn.Parameter(bias)  # logits: the float next to 2/3, and 2·mean
    words = all_sequences(3, 2)
    circuit = to_circuit(model, 3)
    means = [Fraction(4 * int(word.sum()) - 7, 8) for word in words]
    wanted = [int(2 * mean > Fraction(2 * third)) for mean in means]
    assert circuit.answers(words).tolist() == wanted


@pytest.mark.parametrize("gates", ["threshold", "and-or"])
def test_a_layer_may_have_no_heads(gates):
    model, words = random_model(5, 2, ("full",), 1, ranked=True), all_sequences(3, 2)
    model.blocks.insert(0, Block(None, MLP(*_difference())))
    assert to_circuit(model, 3, gates).answers(unary(words, 2)).tolist() == exact_answers(
        model, words
    )


def _difference() -> tuple[torch.Tensor, ...]:
    """The weights of an MLP that adds max(a − b, 0) to the second of the numbers a, b, c."""
    first, second = torch.zeros(3, 1).double(), torch.zeros(1, 3).double()
    first[0], first[1], second[0, 1] = 1, -1, 1
    return first, torch.zeros(1).double(), second, torch.zeros(3).double()


def test_a_model_without_layers_is_a_circuit():
    """Of an automaton with one state."""
    model = shortcut(Semiautomaton(((0,), (0,))), 4)
    assert model.n_layers == 0
    words = np.array([[0, 1, 0], [1, 1, 1]])
    assert to_circuit(model, 3).answers(words).tolist() == model(words)[:, -1].tolist()
