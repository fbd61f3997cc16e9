"""Parity: by count and sign, by bounded positions, and the claim."""

from __future__ import annotations

import math
import sys
from copy import copy
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import first_symbol_bounded, parity, parity_bounded
from theory.computation import parity as definition
from theory.computation.ones import bits_lost, by_ones, cross_entropy, extremes, words_by_ones
from theory.computation.parity import (
    bounded_logit,
    least_signed_count,
    mean_logit,
    one_side,
    signed_counts,
)
from theory.kinds import InputError
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation.ones import least_sharpness, logits_by_ones, only_counts
from verify.computation.parity import bound_holds, closed_form, counts_ones
from verify.domains import Ball
from verify.evidence.sequences import differences
from verify.finding import Verdict

claim = sys.modules["verify.computation.parity"]  # the package's claim has the same name
HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
LENGTHS = [1, 2, 3, 7, 8]


def units(model) -> list[int]:
    return [0 if block.mlp is None else len(block.mlp.b_in) for block in model.blocks]


# ---------------------------------------------------------------- theory


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12))
def test_parity_by_definition(word):
    assert definition(word).tolist() == [sum(word[: i + 1]) % 2 for i in range(len(word))]


@given(st.integers(0, 12), st.fractions(0, 1))
def test_signed_counts_by_definition(n, q):
    for k, found in enumerate(signed_counts(n, q)):
        weights = [q ** ((j - k) ** 2) for j in range(n + 1)]
        signs = [(-1) ** (j - k) for j in range(n + 1)]
        assert found == sum(map(Fraction.__mul__, weights, map(Fraction, signs))) / sum(weights)
        assert found >= least_signed_count(q)
    assert signed_counts(2, q)[1] == least_signed_count(q)


def test_the_bound_changes_sign_at_one_half():
    assert least_signed_count(Fraction(1, 2)) == 0
    assert signed_counts(2, Fraction(51, 100))[1] < 0


@given(st.integers(1, 20), st.floats(0.05, 3))
def test_bounded_logits_by_definition(n, c):
    N, j = n + 1, np.arange(n + 1)
    towards = [np.exp(sign * c * np.cos(j * np.pi)) for sign in (1, -1)]
    even, odd = (weights / weights.sum() for weights in towards)
    for k in range(n + 1):
        signed = (odd[k] - even[k]) / N * (1 if k % 2 else -1)
        assert signed > 0
        assert np.isclose(bounded_logit(n, k, math.exp(c)), signed, rtol=1e-9)


def test_means_by_the_number_of_ones():
    def value(k):
        return Fraction(k * k + 1, 3)

    for n in (0, 1, 5):
        words = all_sequences(n, 2) if n else np.zeros((1, 0), dtype=int)
        assert by_ones(n, value) == sum(value(int(k)) for k in words.sum(1)) / 2**n


def test_the_mean_logit_in_closed_form():
    with Ball.precision(128):
        e = (1 / arb(5).sqrt()).exp()
        for n in (1, 2, 9, 10):
            mean = by_ones(n, lambda k, n=n: bounded_logit(n, k, e))
            assert mean.overlaps(mean_logit(n, e))
            assert mean.rad() < 2.0**-100


def test_cross_entropy_in_bits():
    assert bits_lost(0).contains(1)
    assert abs(float(bits_lost(2.0)) - math.log2(1 + math.exp(-2))) < 1e-15
    lost = cross_entropy(10, lambda k: bounded_logit(10, k, math.exp(5**-0.5)))
    assert f"{float(lost):.5f}" == "0.99500"


# ---------------------------------------------------------------- weights


@pytest.mark.parametrize("T", LENGTHS)
@pytest.mark.parametrize("sharpness", [None, 0.7, 8])
@pytest.mark.parametrize("causal", [False, True], ids=["whole", "causal"])
def test_parity_on_all_short_words(T, sharpness, causal):
    model = parity(T, causal=causal, sharpness=sharpness)
    for n in range(1, T + 1):
        words = all_sequences(n, 2)
        wanted = definition(words)[:, slice(None) if causal else slice(-1, None)]
        assert (model(words).numpy() == wanted).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, 7 if causal else 5)
    assert units(model) == [0, 0]


@pytest.mark.parametrize("causal", [False, True], ids=["whole", "causal"])
def test_words_with_nearly_no_or_nearly_all_ones(causal):
    words = extremes(300)
    wanted = definition(words)[:, -1]
    assert (parity(300, causal=causal)(words[::9])[:, -1].numpy() == wanted[::9]).all()


@settings(max_examples=20)
@given(st.floats(0.7, 6), st.integers(1, 6), st.integers(0, 4), st.data())
def test_softmax_logits_are_as_stated(beta, n, more, data):
    """Shorter words than the model was built for have a larger gap."""
    k = data.draw(st.integers(0, n))
    logit = parity(n + more, sharpness=beta).logits(words_by_ones(n)[k])[0, 1].item()
    q = math.exp(-beta * (n + more + 1) / (n + 1))
    signed = logit if k % 2 else -logit
    assert np.isclose(signed, signed_counts(n, q)[k], rtol=1e-9)
    assert signed >= least_signed_count(math.exp(-beta)) - 1e-12


@pytest.mark.parametrize("n", LENGTHS)
@pytest.mark.parametrize("layer_norm", [False, True])
def test_bounded_positions_on_all_short_words(n, layer_norm):
    model, words = parity_bounded(n, layer_norm=layer_norm), all_sequences(n, 2)
    assert (model(words).numpy() == definition(words)[:, -1:]).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 2, 20 if layer_norm else 10)
    assert units(model) == ([3, 18] if layer_norm else [3, 0])
    assert abs(model.pos_embed.W_pos).max() <= 1


def test_the_entropy_of_bounded_positions_tends_to_its_limit():
    """1 − tanh(1/√5)/(n² ln 2) bits, up to smaller terms."""
    n = 301
    with Ball.precision(256):
        low, high = claim._of_bounded((n,)).measured[f"n = {n}"]
    limit = math.tanh(1 / math.sqrt(5))
    assert (1 - low) * n**2 * math.log(2) == pytest.approx(limit, rel=0.02)
    assert low == pytest.approx(high, rel=1e-12)


def test_only_positions_of_bounded_weights_depend_on_the_length():
    few, many = (dict(parity_bounded(n).named_parameters()) for n in (3, 50))
    differ = {name for name in few if not torch.equal(few[name], many[name][: len(few[name])])}
    assert differ == {"pos_embed.W_pos"}


@pytest.mark.parametrize("n", LENGTHS)
def test_one_norm_a_layer_is_as_good_as_a_norm_after_every_part(n):
    """As in the paper: torch's own layer norm, without an ε, after the heads and after the MLP."""
    model, words = parity_bounded(n, layer_norm=True), all_sequences(n, 2)
    prompt = model.prompt(words)
    H = model.embed(prompt.tokens) + model.pos_embed(n + 1)
    for block in model.blocks:
        attn = copy(block.attn)
        attn.scale = 1 / math.sqrt(10)
        for part in (lambda H, attn=attn: attn(H, 0), block.mlp):
            H = torch.nn.functional.layer_norm(H + part(H), (20,), eps=0.0)
    outputs = H[:, :1, model.stream["answer"].start]
    assert torch.allclose(outputs, model.logits(words)[..., 1], rtol=1e-12)
    assert torch.allclose(outputs.abs(), torch.tensor(10.0, dtype=outputs.dtype).sqrt(), rtol=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("layer_norm", [False, True])
def test_bounded_positions_at_many_lengths(layer_norm):
    for n in range(1, 121):
        words = words_by_ones(n)
        model = parity_bounded(n, layer_norm=layer_norm)
        assert (model(words).numpy() == definition(words)[:, -1:]).all()


@pytest.mark.parametrize("kind", [torch.float32, torch.float16, torch.bfloat16])
def test_short_formats_are_rejected_or_right(kind):
    allowed = []
    for T in (1, 2, 3, 5, 8, 40, 200, 1000):
        model, words = parity(T), words_by_ones(T)
        try:
            model = model.to(kind)
        except InputError as error:
            assert "could be wrong" in str(error)  # noqa: PT017
            continue
        allowed.append(T)
        assert (model(words).numpy() == definition(words)[:, -1:]).all()
    assert allowed
    assert 1000 not in allowed


@pytest.mark.parametrize("built", [parity_bounded, first_symbol_bounded])
@pytest.mark.parametrize("layer_norm", [False, True])
def test_labels_without_a_margin_are_not_computed_in_16_bits(built, layer_norm):
    """In bfloat16, parities of 33 bits were wrong, and in float16 those of 900."""
    model, words = built(33, layer_norm=layer_norm), words_by_ones(33)
    for kind in (torch.float16, torch.bfloat16):
        with rejects(model.name.partition("(")[0]):
            model.to(kind)
    answers = model(words)
    assert torch.equal(model.to(torch.float32)(words), answers)


def test_the_smallest_sharpness_is_above_ln_2():
    for beta in (math.log(2), math.nextafter(math.log(2), 0)):  # both below the real number ln 2
        with rejects("sharpness", "0.6931"):
            parity(3, sharpness=beta)
    parity(3, sharpness=math.nextafter(math.log(2), 1))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: parity(4)([0, 2]), "tokens"),
        (lambda: parity(4)([0] * 5), "max_length 5"),
        (lambda: parity_bounded(4)([0, 1]), "2 4"),
        (lambda: signed_counts(-1, 0.5), "n"),
        (lambda: bounded_logit(0, 0, 1.0), "n"),
        (lambda: bounded_logit(3, 4, 1.0), "k"),
    ],
)
def test_bad_arguments_are_rejected(call, names):
    with rejects(*names.split()):
        call()


def test_a_wrong_answer_is_named_with_the_whole_word():
    model = parity(3)
    model.unembed.W_U *= -1
    statement = counts_ones(Run(), causal=False)
    found = next(differences(statement, model, np.array([[0, 0, 0], [0, 1, 1]])))
    assert "parity(max_length=3) on [0, 0, 0]" in found


# ---------------------------------------------------------------- the claim


@pytest.mark.parametrize(
    "build", [parity, parity_bounded, lambda n: parity_bounded(n, layer_norm=True)]
)
def test_only_counts_is_about_the_weights(build):
    assert only_counts(build(4)).verdict is HOLDS
    for change in ("W_Q", "W_K", "W_V"):
        model = build(4)
        letter = model.stream["one"].start
        attn = model.blocks[0 if change == "W_Q" else 1].attn
        getattr(attn, change)[0, letter, 0] += 1
        assert only_counts(model).verdict is FAILS


def test_a_letter_that_an_mlp_reads_or_a_norm_sees():
    model = parity_bounded(4, layer_norm=True)
    model.blocks[0].mlp.W_in[model.stream["zero"].start, 0] = 1
    assert only_counts(model).verdict is FAILS
    model = parity_bounded(4, layer_norm=True)
    model.pos_embed.W_pos[2, model.stream["zero"].start] = 1
    assert only_counts(model).verdict is FAILS


@pytest.mark.parametrize("q", [Fraction(1, 7), Fraction(1, 2), Fraction(1)])
def test_one_side_is_half_of_the_bound(q):
    for n in range(9):
        for k in range(n + 1):
            weights = {
                parity: sum(q ** ((j - k) ** 2) for j in range(n + 1) if (j - k) % 2 == parity)
                for parity in (0, 1)
            }
            sides = [sum(c * q**power for power, c in one_side(r).items()) for r in (k, n - k)]
            assert sum(sides) == 2 * q * weights[0] - weights[1]


@pytest.mark.parametrize("side", [{0: -1, 1: 5}, {0: 5, 1: -6, 2: 9}, {0: 5, 1: -6}, {2: 1, 1: -1}])
def test_one_negative_partial_sum_is_enough(side, monkeypatch):
    assert bound_holds(3).verdict is HOLDS
    monkeypatch.setattr("verify.computation.parity.one_side", lambda r: side if r == 3 else {0: 0})
    found = bound_holds(3)
    assert (found.measured, found.verdict) == (1, FAILS)


def one_sharpness(monkeypatch):
    monkeypatch.setattr(claim, "SHARPNESS", (2,))
    return [f.verdict for f in claim.softmax(Run(quick=True)) if f.id.startswith("β")]


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("signed_counts", lambda found: [x + 1e-25 for x in found]),
        ("logits_by_ones", lambda found: [x + arb(0, 1e-20) for x in found]),
        ("least_signed_count", lambda bound: bound * 0.999),
        ("least_signed_count", lambda bound: bound * 1.001),
    ],
)
def test_softmax_logits_equal_their_closed_form_and_attain_the_bound(name, change, monkeypatch):
    right = getattr(claim, name)
    monkeypatch.setattr(claim, name, lambda *given: change(right(*given)))
    assert one_sharpness(monkeypatch) == [FAILS]


def test_logits_of_the_wrong_sign_fail(monkeypatch):
    """Even if they agree with the closed form, of the wrong sign as well."""
    right = claim.bounded_logit
    monkeypatch.setattr(claim, "bounded_logit", lambda n, k, e: -right(n, k, e))

    def turned(n):
        model = parity_bounded(n)
        model.unembed.W_U *= -1
        return model

    assert closed_form(turned, [1, 2], layer_norm=False).verdict is FAILS


@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [
        ("bits_lost", lambda lost: lost + 1e-4, "layer-norm"),
        ("bits_lost", lambda lost: lost - 1e-4, "layer-norm"),
        ("mean_logit", lambda mean: mean * 0.98, "bounded"),
        ("mean_logit", lambda mean: mean * 1.02, "bounded"),
        ("least_signed_count", lambda bound: bound + 0.5, "ours"),
    ],
)
def test_cross_entropies_are_bounded_from_both_sides(name, change, fails, monkeypatch):
    monkeypatch.setattr(claim, "LENGTHS", (10, 100))
    right = getattr(claim, name)
    monkeypatch.setattr(claim, name, lambda *given: change(right(*given)))
    found = {f.id: f.verdict for f in claim.cross_entropies(Run())}
    assert found[fails] is FAILS


def test_logits_that_are_not_in_closed_form():
    assert closed_form(parity_bounded, [1, 2], layer_norm=False).verdict is HOLDS

    def off(n):
        model = parity_bounded(n)
        model.unembed.W_U *= 1 + 1e-12
        return model

    assert closed_form(off, [1, 2], layer_norm=False).verdict is FAILS


def test_logits_by_ones_are_those_of_every_word():
    model, words = parity_bounded(5), all_sequences(5, 2)
    found = np.array([float(logit) for logit in logits_by_ones(model, 5)])
    assert np.allclose(model.logits(words)[:, 0, 1].numpy(), found[words.sum(1)], rtol=1e-12)
    assert [float(x) for x in logits_by_ones(model, 5, [4, 0])] == [found[4], found[0]]


def test_extremes_are_all_such_words_where_they_are_few():
    ones = extremes(5).sum(1)
    assert sorted(ones) == [0, *[1] * 5, *[4] * 5, 5]
    assert len(extremes(1000)) == 130


@pytest.mark.parametrize(("least", "holds"), [(1.0, True), (1 + 1e-9, False), (1 - 1e-9, False)])
def test_another_least_sharpness_than_ln_2_fails(least, holds):
    def build(beta):
        if beta < least * math.log(2):
            raise InputError("sharpness")

    verdict = Verdict.HOLDS if holds else Verdict.FAILS
    assert least_sharpness(build).verdict is verdict
