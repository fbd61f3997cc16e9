"""The first symbol: by the least position, by bounded ones, and the claim."""

from __future__ import annotations

import math
from copy import copy

import numpy as np
import pytest
import torch
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import first_symbol, first_symbol_bounded
from theory.computation import first_symbol as definition
from theory.computation.first import bounded_first_logit, least_signed_first
from theory.sequences import all_sequences
from verify.computation.first import closed_form, cross_entropies, least_logit, looking_first
from verify.domains import Ball
from verify.evidence.statement import OverTokens
from verify.finding import Verdict


@pytest.mark.parametrize("T", [1, 2, 3, 8])
@pytest.mark.parametrize("sharpness", [None, 0.7, 8])
def test_first_symbols_of_all_short_words(T, sharpness):
    model = first_symbol(T, sharpness=sharpness)
    for n in range(1, T + 1):
        words = all_sequences(n, 2)
        assert (model(words).numpy() == definition(words)).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (1, 1, 2)
    assert model.blocks[0].mlp is None


@given(st.floats(0.7, 6), st.lists(st.integers(0, 1), min_size=1, max_size=9), st.integers(0, 4))
def test_softmax_logits_are_on_their_side(beta, word, more):
    logit = first_symbol(len(word) + more, sharpness=beta).logits(word)[0, 1].item()
    assert (2 * word[0] - 1) * logit >= least_signed_first(math.exp(-beta)) - 1e-12


@settings(max_examples=20)
@pytest.mark.parametrize("layer_norm", [False, True])
@given(word=st.lists(st.integers(0, 1), min_size=1, max_size=9), more=st.integers(0, 4))
def test_bounded_positions(layer_norm, word, more):
    model = first_symbol_bounded(len(word) + more, layer_norm=layer_norm)
    signed = bounded_first_logit(len(word), math.exp(10 / math.sqrt(6)))
    signed = math.sqrt(6) if layer_norm else signed
    assert np.isclose(model.logits(word)[0, 1].item(), (2 * word[0] - 1) * signed, rtol=1e-12)
    assert model(word).tolist() == word[:1]
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, 12 if layer_norm else 6)
    units = [0 if block.mlp is None else len(block.mlp.b_in) for block in model.blocks]
    assert units == ([1, 10] if layer_norm else [1, 0])


def test_one_norm_a_layer_is_as_good_as_a_norm_after_every_part():
    """Torch's own layer norm, without an ε, after heads and after MLPs, as the paper has it."""
    model, words = first_symbol_bounded(4, layer_norm=True), all_sequences(4, 2)
    first, second = model.blocks
    attn = copy(second.attn)
    attn.scale = 1 / math.sqrt(12)
    H = model.embed(model.prompt(words).tokens) + model.pos_embed(5)
    for part in (lambda H: 0, first.mlp, lambda H: attn(H, 0), second.mlp):
        H = torch.nn.functional.layer_norm(H + part(H), (12,), eps=0.0)
    outputs = H[:, 0, model.stream["answer"].start]
    assert torch.allclose(outputs, model.logits(words)[:, 0, 1], rtol=1e-12)


def test_the_smallest_sharpness_is_above_ln_2():
    for beta in (math.log(2), math.nextafter(math.log(2), 0)):  # both below the real number ln 2
        with rejects("sharpness", "0.6931"):
            first_symbol(3, sharpness=beta)
    first_symbol(3, sharpness=math.nextafter(math.log(2), 1))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: first_symbol(4)([2]), "tokens"),
        (lambda: first_symbol_bounded(2)([0, 0, 1]), "max_length 3"),
        (lambda: bounded_first_logit(0, 2.0), "n"),
    ],
)
def test_bad_arguments_are_rejected(call, names):
    with rejects(*names.split()):
        call()


def test_worst_words_are_the_worst_only_where_attention_reads_no_symbols():
    def reads(n, side):
        model = first_symbol(n, sharpness=2)
        getattr(model.blocks[0].attn, side)[0, model.stream["symbol"]] = 2.0**-20
        return model

    assert least_logit(lambda n: first_symbol(n, sharpness=2), 2, 3).verdict is Verdict.HOLDS
    assert least_logit(lambda n: first_symbol(n, sharpness=1.9), 2, 3).verdict is Verdict.FAILS
    for side in ("W_Q", "W_K"):
        assert least_logit(lambda n, side=side: reads(n, side), 2, 3).verdict is Verdict.FAILS


@pytest.mark.parametrize("length", [1, 2, 3])
@pytest.mark.parametrize("symbol", [0, 1])
def test_every_length_and_symbol_has_to_be_sure(length, symbol):
    def build(n):
        model = first_symbol(n, sharpness=2)
        if n == length:
            model.embed.W_E.data[symbol] *= 0.5
        return model

    assert least_logit(build, 2, 3).verdict is Verdict.FAILS


def bounded(layer_norm: bool, less_at: int | None = None) -> OverTokens:
    def build(V, n):
        model = first_symbol_bounded(n, layer_norm=layer_norm)
        model.unembed.W_U.data *= 0.999 if n == less_at else 1.0
        return model

    return OverTokens("", build, definition, symbols=2)


@pytest.mark.parametrize("layer_norm", [False, True])
def test_closed_forms_are_compared_at_all_lengths_in_narrow_balls(layer_norm):
    with Ball.precision(512):
        found = closed_form(bounded(layer_norm), 2, layer_norm)
        assert (found.verdict, found.measured, found.bound) == (Verdict.HOLDS, 6, 6)
        for n in (1, 2):
            off = closed_form(bounded(layer_norm, less_at=n), 2, layer_norm)
            assert off.verdict is Verdict.FAILS
    with Ball.precision(60):
        assert closed_form(bounded(layer_norm), 2, layer_norm).verdict is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("rest", "verdict"),
    [
        (lambda s: s / 2 - s * s / 16, Verdict.HOLDS),
        (lambda s: s / 2 * (1 + 1e-6), Verdict.FAILS),
        (lambda s: s / 2 - s * s / 8 * (1 + 1e-3), Verdict.FAILS),
    ],
)
@pytest.mark.parametrize("place", range(3))
def test_what_is_left_of_a_bit_has_two_bounds(monkeypatch, rest, verdict, place):
    """At one length the remainder times ln 2 is `rest`, at the others it is within its bounds."""
    rests = [lambda s: s / 2 - s * s / 12] * 3
    rests[place] = rest
    values = iter(rests)
    monkeypatch.setattr(
        "verify.computation.first.bits_lost", lambda s: 1 - next(values)(s) / arb(2).log()
    )
    with Ball.precision(512):
        found = next(cross_entropies())
    assert found.verdict is verdict
    assert [*found.measured] == ["n = 10", "n = 100", "n = 1000"]


def test_cls_looks_for_the_first_of_all_positions():
    states = looking_first(first_symbol(5))
    assert states.preference.tolist() == [[-np.inf, 0, *[-np.inf] * 4]]
    assert states.position.tolist() == [0, 1, 2, 3, 4, 5]
