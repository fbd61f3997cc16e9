"""Majority: the mean, its gate, and the claim."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from flint import arb
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions.computation import majority
from theory.computation import majority as definition
from theory.computation.majority import signed_mean
from theory.sequences import all_sequences, random_sequences
from verify.claim import Run
from verify.computation.majority import exact_softmax
from verify.finding import Verdict

claim = sys.modules["verify.computation.majority"]  # the package's claim has the same name


@given(st.lists(st.integers(0, 1), min_size=1, max_size=12))
def test_majority_by_definition(word):
    parts = [word[: i + 1] for i in range(len(word))]
    assert definition(word).tolist() == [part.count(1) > part.count(0) for part in parts]


@pytest.mark.parametrize("gate", [False, True])
@pytest.mark.parametrize("T", [1, 2, 7, 8])
def test_majority_on_all_short_words(T, gate):
    model, words = majority(T, gate=gate), all_sequences(T, 2)
    assert (model(words).numpy() == definition(words)).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (1, 1, 3 if gate else 2)
    assert model.pos_embed is None
    mlp = model.blocks[0].mlp
    assert (0 if mlp is None else len(mlp.b_in)) == 2 * gate


@pytest.mark.parametrize("sharpness", [None, 1e-3, 7.0])
def test_gated_logits_are_exact_at_every_sharpness(sharpness):
    words = np.concatenate([random_sequences(20, 300, 2, 0), np.arange(300)[None] % 2])
    logits = majority(300, gate=True).sharpened(sharpness).logits(words)[..., 1].numpy()
    assert np.array_equal(logits, 2.0 * definition(words) - 1)


@pytest.mark.parametrize("T", [1000, 3001])
def test_gates_at_far_lengths(T):
    """In alternating words the mean at N tokens is ½/N after 1 and −½/N after 0: the smallest."""
    alternating = (1 + np.arange(T)) % 2
    logits = majority(T, gate=True).logits(alternating)[:, 1].tolist()
    assert logits == (2.0 * alternating - 1).tolist()
    margins = majority(T).logits(alternating)[:, 1].numpy() * (2 * alternating - 1)
    assert np.allclose(margins, 1 / np.arange(2, T + 2), rtol=1e-12, atol=0)


@given(st.integers(1, 9), st.integers(0, 4), st.data())
def test_logits_without_a_gate(n, more, data):
    word = data.draw(st.lists(st.integers(0, 1), min_size=n, max_size=n))
    logit = majority(n + more).logits(word)[-1, 1].item()
    signed = signed_mean(n, sum(word))
    assert np.isclose(abs(logit), float(signed), rtol=1e-12)
    assert (logit > 0) == (2 * sum(word) > n)
    assert signed >= Fraction(1, n + 1)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: majority(3)([1, 2]), "tokens"),
        (lambda: signed_mean(0, 0), "n"),
        (lambda: signed_mean(2, 3), "k"),
    ],
)
def test_bad_arguments_are_rejected(call, names):
    with rejects(*names.split()):
        call()


def test_softmax_is_exact_only_where_nothing_is_compared():
    model = majority(4)
    assert exact_softmax(model).verdict is Verdict.HOLDS
    model.blocks[0].attn.b_Q[0, 0] = 1
    assert exact_softmax(model).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize(
    ("name", "change", "fails"),
    [
        ("", None, []),
        ("_ball", lambda found: found + 1e-20, ["logits"]),
        ("logits_by_ones", lambda found: [x + arb(0, 1e-20) for x in found], ["logits"]),
        ("cross_entropy", lambda lost: lost - 0.3, ["cross-entropy"]),
    ],
)
def test_each_condition_on_means_is_checked(name, change, fails, monkeypatch):
    monkeypatch.setattr(claim, "LENGTHS", (10, 100))
    if name:
        right = getattr(claim, name)
        monkeypatch.setattr(claim, name, lambda *given: change(right(*given)))
    found = claim.cross_entropies(Run(quick=True))
    assert [f.id for f in found if f.verdict is Verdict.FAILS] == fails


def test_the_bound_on_the_cross_entropy_is_the_stated_one(monkeypatch):
    """Just within (2√n + 1)/(2(n + 1) ln 2) bits of 1, and just outside."""
    for n in claim.LENGTHS:
        bound = (2 * n**0.5 + 1) / (2 * (n + 1) * math.log(2))
        for factor, verdict in ((0.999, Verdict.HOLDS), (1.001, Verdict.FAILS)):
            monkeypatch.setattr(claim, "LENGTHS", (n,))
            monkeypatch.setattr(claim, "cross_entropy", lambda *_, b=factor * bound: 1 - arb(b))
            found = {f.id: f.verdict for f in claim.cross_entropies(Run(quick=True))}
            assert found["cross-entropy"] is verdict
