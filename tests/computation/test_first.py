"""The first letter: by the least position, by bounded ones, and the claim."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.computation import first_letter, first_letter_bounded
from theory.checks import InputError
from theory.computation import first_letter as definition
from theory.computation.first import bounded_first_logit, least_signed_first
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation.first import first as claim
from verify.computation.first import least_logit
from verify.finding import Verdict

KINDS = [("letter", "short"), ("bounded", "words")]


@pytest.mark.parametrize("T", [1, 2, 3, 8])
@pytest.mark.parametrize("sharpness", [None, 0.7, 8])
def test_first_letters_of_all_short_words(T, sharpness):
    model = first_letter(T, sharpness=sharpness)
    for n in range(1, T + 1):
        words = all_sequences(n, 2)
        assert (model(words).numpy() == definition(words)).all()
    assert (model.n_layers, model.n_heads, model.d_model) == (1, 1, 2)
    assert model.blocks[0].mlp is None


@given(st.floats(0.7, 6), st.lists(st.integers(0, 1), min_size=1, max_size=9), st.integers(0, 4))
def test_softmax_logits_are_on_their_side(beta, word, more):
    logit = first_letter(len(word) + more, sharpness=beta).logits(word)[0, 1].item()
    assert (2 * word[0] - 1) * logit >= least_signed_first(math.exp(-beta)) - 1e-12


@given(st.lists(st.integers(0, 1), min_size=1, max_size=9), st.integers(0, 4))
def test_bounded_positions(word, more):
    model = first_letter_bounded(len(word) + more)
    signed = bounded_first_logit(len(word), math.exp(10 / math.sqrt(6)))
    assert np.isclose(model.logits(word)[0, 1].item(), (2 * word[0] - 1) * signed, rtol=1e-12)
    assert model(word).tolist() == word[:1]
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, 6)
    assert len(model.blocks[0].mlp.b_in) == 1


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: first_letter(0), "max_length is 0"),
        (lambda: first_letter(True), "max_length is True"),
        (lambda: first_letter(4, sharpness=0.5), "sharpness is 0.5: give more than ln 2"),
        (lambda: first_letter(4, sharpness=math.inf), "sharpness is inf"),
        (lambda: first_letter(4)([2]), "tokens contain 2"),
        (lambda: first_letter_bounded(-1), "max_length is -1"),
        (lambda: first_letter_bounded(2)([0, 0, 1]), "build it again with max_length=3"),
        (lambda: definition([[]]), "an empty sequence"),
        (lambda: bounded_first_logit(0, 2.0), "n is 0"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_the_claim_holds():
    found = {f.id: f for f in claim.findings(Run(quick=True), length=5, samples=3)}
    assert {f.verdict for f in found.values()} == {Verdict.HOLDS}
    kinds = [found[f"{label}/all-{what}"].evidence for label, what in KINDS]
    assert kinds == ["exact", "float"]  # hardmax, and softmax


@pytest.mark.usefixtures("unchecked")
def test_bad_options_are_refused():
    with pytest.raises(InputError, match="length is 1: give a number at least 2"):
        list(claim.findings(Run(quick=True), length=1))


def test_worst_words_are_the_worst_only_where_attention_reads_no_letters():
    def reads(n):
        model = first_letter(n, sharpness=2)
        model.blocks[0].attn.W_K[0, model.stream["letter"]] = 2.0**-20
        return model

    assert least_logit(lambda n: first_letter(n, sharpness=2), 2, 3).verdict is Verdict.HOLDS
    assert least_logit(reads, 2, 3).verdict is Verdict.FAILS
