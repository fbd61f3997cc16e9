"""Decoding with cached keys and values gives the answers of the whole sequence."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import (
    broad_average,
    fact_lookup,
    hop,
    in_context_ngram,
    induction_heads,
    newton,
    previous_token,
    skip_gram,
)
from constructions.attention import Attention
from constructions.computation import semiautomaton, shortcut
from constructions.exactness import exact_in
from constructions.graphs import search
from constructions.programs import chomsky_task, compiled
from constructions.tokens import Tokens
from constructions.trained import preset, untrained
from constructions.transformer import Decoder
from theory import machine
from theory.programs import tokens
from theory.retrieval import Lexicon

SMALL = Lexicon(("Ann", "Ben"), ("boss", "profession"), ("cook",))
TABLE = [[0.5, 2.0, 2.0], [1.0, -1.0, 0.0], [3.0, 3.0, 3.0]]
LENGTH = 20
LEAN = "automaton", "radix", "shortcut", "flip_flops"  # units that let softmax errors through
MODELS = {
    "latest": induction_heads(3, LENGTH),
    "first, self": induction_heads(3, LENGTH, "first", "self"),
    "mean": induction_heads(3, LENGTH, "mean"),
    "one hop": hop(1, 3, LENGTH),
    "five hops": hop(5, 3, LENGTH),
    "previous": previous_token(3, LENGTH),
    "average": broad_average(3, LENGTH),
    "skip-gram": skip_gram(TABLE, LENGTH),
    "unigram": in_context_ngram(3, LENGTH, 1, 0),
    "trigram": in_context_ngram(3, LENGTH, 3, 2),
    "facts": fact_lookup(LENGTH, SMALL),
    "automaton": semiautomaton("parity", LENGTH),
    "robust": semiautomaton("S3", LENGTH, form="robust"),
    "radix": semiautomaton("S3", LENGTH, radix=3),
    "shortcut": shortcut("S3", LENGTH),
    "flip_flops": shortcut("dyck-2", LENGTH),
}


def averages(model) -> bool:
    return any(margin.ties for block in model.blocks for margin in block.margins)


def held_logits(model, tokens, pieces):
    """The last logits after each piece of the prompt."""
    prompt = model.prompt(tokens).tokens
    decoder = model.decoder(prompt.shape[:-1], prompt.shape[-1])
    return [decoder(piece)[..., 0, :] for piece in prompt.split(pieces, dim=-1)]


@pytest.mark.parametrize("name", MODELS)
@settings(max_examples=8)
@given(seed=st.integers(0, 10**6), batch=st.lists(st.integers(1, 3), max_size=2))
def test_held_keys_give_the_logits_of_the_whole_sequence(name, seed, batch):
    model, rng = MODELS[name], np.random.default_rng(seed)
    T = int(rng.integers(1, LENGTH + 1))
    tokens = rng.integers(model.interface.vocabulary_size, size=(*batch, T))
    logits, front = model.logits(tokens), len(model.interface.prefix)
    cuts, left = [], T + front
    while left:
        cuts.append(int(rng.integers(1, left + 1)))
        left -= cuts[-1]
    read = held_logits(model, tokens, cuts)
    for place, held in zip(np.cumsum(cuts) - 1 - front, read, strict=True):
        if place < 0:
            continue
        if averages(model):  # rounded, and multiplied in another order
            assert torch.allclose(held, logits[..., place, :], rtol=1e-12, atol=1e-12)
        else:
            assert exact_in(model).bits <= 53
            assert torch.equal(held, logits[..., place, :])


@pytest.mark.parametrize("name", [name for name in MODELS if name not in LEAN])
@settings(max_examples=4)
@given(seed=st.integers(0, 10**6))
def test_softmax_is_the_same_to_rounding(name, seed):
    model, rng = MODELS[name], np.random.default_rng(seed)
    soft = model.sharpened(model.least_sharpness() * 1.01)
    tokens = rng.integers(model.interface.vocabulary_size, size=(2, LENGTH))
    read = held_logits(soft, tokens, 1)[len(model.interface.prefix) :]
    assert torch.allclose(torch.stack(read, dim=-2), soft.logits(tokens), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(
    "name", [n for n in MODELS if n not in ("robust", "radix", "shortcut", "flip_flops")]
)
def test_generation_is_that_of_the_whole_sequence(name, monkeypatch):
    model, rng = MODELS[name], np.random.default_rng(1)
    tokens = rng.integers(model.interface.vocabulary_size, size=(2, 3, 6))
    said = model.generate(tokens, LENGTH - 5)
    monkeypatch.setattr(type(model), "decoder", lambda *_: None)
    assert torch.equal(model.generate(tokens, LENGTH - 5), said)
    assert torch.equal(model.generate(tokens[0, 1], LENGTH - 5), said[0, 1])


def random_attention(masks, normalise):
    generator = torch.Generator().manual_seed(0)
    shapes = [(4, 6, 2), (4, 6, 2), (4, 6, 3), (4, 3, 6), (4, 2), (4, 2)]
    weights = [torch.randn(s, generator=generator, dtype=torch.float64) for s in shapes]
    return Attention(*weights, normalise=normalise, mask=masks)


@pytest.mark.parametrize("normalise", ["linear", "relu", "softmax", "hardmax"])
def test_every_normalisation_and_every_mask_that_looks_back(normalise):
    attn = random_attention(("strictly causal", "causal", "diagonal", "strictly causal"), normalise)
    assert attn.is_causal
    H = torch.randn(2, 9, 6, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    held = attn.new_cache((2,), 9)
    parts = [attn.following(piece, held) for piece in H.split([3, 1, 5], dim=1)]
    assert torch.allclose(torch.cat(parts, dim=1), attn(H, 9), rtol=1e-12, atol=1e-12)


def test_models_that_are_trained():
    model = untrained(preset("induction"))
    tokens = np.arange(20) % 7
    read = held_logits(model, tokens, 5)
    torch.testing.assert_close(read[-1], model.logits(tokens)[-1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("mask", ["full", "context-only"])
def test_who_sees_later_tokens_has_no_decoder(mask):
    assert not random_attention(
        ("causal", mask, "diagonal", "strictly causal"), "softmax"
    ).is_causal


def test_models_of_a_prompt_of_fixed_length_have_none():
    from constructions import composition

    assert composition(3).decoder((), 7) is None


def test_long_texts_are_continued_in_memory_that_their_scores_do_not_fit(monkeypatch):
    model = previous_token(3, 9_000)
    tokens = np.arange(8_500) % 3
    # Enough for 256 rows of scores, not for all of them.
    monkeypatch.setattr(machine, "available_memory", lambda: 2**28)
    with rejects("8501 tokens"):
        next(model.patterns(tokens))
    assert torch.equal(model(tokens)[1:], torch.from_numpy(tokens[:-1]))
    assert model.generate(tokens, 3).tolist() == tokens[[-2, -1, -2]].tolist()
    monkeypatch.setattr(machine, "available_memory", lambda: 2**20)
    with rejects("8503 tokens"):
        model.generate(tokens, 3)


@pytest.mark.parametrize("tokens", [[0, 1, 0], [-1], [5], [1.0], [], [[0]], None])
def test_decoders_reject_tokens_that_are_not_those_of_a_prompt(tokens, unchecked):
    decoder = induction_heads(4, 12).decoder((), 4)
    decoder(torch.tensor([4, 0]))
    with rejects():
        decoder(tokens)
    assert decoder([1, 0]).tolist() == [[0, 2, -2, 0, 1]]


def test_decoders_have_no_more_tokens_than_their_models():
    model = induction_heads(4, 12)
    model.decoder((), 13)
    with rejects("14", "13"):
        model.decoder((), 14)


def test_no_steps_are_decoded_without_a_prefix():
    assert skip_gram(TABLE, LENGTH).generate([1], 0).shape == (0,)


def test_what_has_ended_is_not_run_on(monkeypatch):
    model, calls = previous_token(4, 10**6), []
    called = Decoder.__call__

    def counted(self, tokens):
        calls.append(tokens.shape)
        return called(self, tokens)

    monkeypatch.setattr(Decoder, "__call__", counted)
    assert model.generate([[2]], 1000).tolist() == [[-1] * 1000]
    assert len(calls) == 1


def test_answers_that_are_no_tokens_are_refused():
    with rejects("3 answers", "2 tokens"):
        semiautomaton("S3", 9).generate([0, 1], 2)


def test_tokens_in_places_that_are_not_theirs_are_refused():
    interface = Tokens(4, 3, slots=[range(2), range(2), range(2, 4)])
    like = torch.zeros(1)
    assert interface.check(like, [[0, 1, 3]])[0].tolist() == [[0, 1, 3]]
    assert interface.check(like, [1])[0].tolist() == [1]
    with rejects("token 1", "place 3", "from 2 to 3"):
        interface.check(like, [[0, 1, 3], [0, 0, 1]])


@pytest.mark.parametrize("wrong", [3, None, "induction_heads"])
@pytest.mark.parametrize(
    "model",
    [
        induction_heads(4, 12),
        newton(2, 1, 0.1),
        compiled(tokens, range(2), 5),
        chomsky_task("parity check", 5),
        search(3, 4),
    ],
    ids=lambda model: model.name,
)
def test_a_model_is_required(model, wrong, unchecked):
    with rejects("model", "Model"):
        model.interface.generate(wrong, [0, 1], 2)
