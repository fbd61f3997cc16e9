"""Every construction over free sequences against its definition, and the registers of its proof."""

import itertools
from functools import partial
from typing import NamedTuple

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import (
    broad_average,
    hop,
    in_context_ngram,
    induction_heads,
    previous_token,
    skip_gram,
)
from theory import retrieval as r
from verify.evidence.registers import register_differences
from verify.evidence.statement import OverTokens


class Case(NamedTuple):
    """build (V, n) → the model; answers, for all sequences at once and for one by its definition;
    logits, the fractions that the definition gives for one, where answers are the most frequent."""

    build: object
    answers: object
    by_definition: object
    logits: object = None


def most_frequent(frequencies, V):
    """The smallest of the most frequent tokens; −1 for the column V."""
    best = np.argmax(frequencies, axis=-1)
    return np.where(best < V, best, -1)


def with_bottom(frequencies):
    """A last column, 1 where all frequencies are 0."""
    return [[*here, 1 - sum(here)] for here in frequencies]


def of_frequencies(build, batched, by_definition):
    """A case whose logits are frequencies; batched (tokens, V), by_definition (row, V)."""
    return Case(
        build,
        lambda tokens, V: most_frequent(batched(tokens, V), V),
        lambda row, V: most_frequent(np.array(by_definition(row, V), dtype=float), V),
        by_definition,
    )


def ngrams(order, alpha):
    def batched(tokens, V):
        frequencies = r.ngram(tokens, V, order, float(alpha))
        none = 1 - frequencies.sum(-1, keepdims=True).round()
        return frequencies if alpha else np.concatenate([frequencies, none], axis=-1)

    def by_definition(row, V):
        frequencies = r.ngram_by_definition(row, V, order, alpha)
        return frequencies if alpha else with_bottom(frequencies)

    def build(V, n):
        return in_context_ngram(V, n, order, alpha)

    return of_frequencies(build, batched, by_definition)


def table(V):
    """Few distinct scores, so that rows have ties; 0.1 has no short binary form."""
    return np.random.default_rng(V).choice([-3.0, 0.0, 0.1, 1.0, 7.0], (V, V))


CASES = {
    f"{match}, {no_match}": Case(
        lambda V, n, kind=(match, no_match): induction_heads(V, n, *kind),
        lambda tokens, V, kind=(match, no_match): r.induction(tokens, *kind),
        lambda row, V, kind=(match, no_match): r.induction_by_definition(row, *kind),
    )
    for match, no_match in itertools.product(("latest", "first", "mean"), ("bottom", "self"))
}
CASES |= {
    f"{k} hops": Case(
        partial(hop, k),
        lambda tokens, V, k=k: r.hop(tokens, k),
        lambda row, V, k=k: r.hop_by_definition(row, k),
    )
    for k in (1, 2, 3, 5, 6, 13, 16)
}
CASES |= {
    f"order {order}, alpha {alpha}": ngrams(order, alpha)
    for order, alpha in itertools.product((1, 2, 3, 4), (0, 1, 2))
}
CASES |= {
    "previous token": Case(
        previous_token,
        lambda tokens, V: r.previous_token(tokens),
        lambda row, V: r.previous_token_by_definition(row),
    ),
    "broad average": of_frequencies(
        broad_average, r.token_frequencies, r.token_frequencies_by_definition
    ),
    "skip-gram": of_frequencies(
        lambda V, n: skip_gram(table(V), n),
        lambda tokens, V: r.skip_gram(tokens, table(V)),
        lambda row, V: r.skip_gram_by_definition(row, table(V)),
    ),
}
every = pytest.mark.parametrize("name", CASES)


def soft(model):
    """At the least sharpness that is right for all sequences."""
    return model.sharpened(model.least_sharpness() * 1.001)


@every
@pytest.mark.parametrize("V", [1, 2, 3, 4])
def test_all_sequences(name, V):
    case = CASES[name]
    model = case.build(V, 6)
    for T in (1, 2, 6):
        tokens = r.all_sequences(T, V)
        wanted = case.answers(tokens, V)
        assert np.array_equal(model(tokens), wanted)
        if V == 3:
            assert np.array_equal(soft(model)(tokens), wanted)


@every
@settings(max_examples=20)
@given(
    V=st.integers(1, 20),
    n=st.integers(1, 40),
    fraction=st.floats(0, 1),
    batch=st.lists(st.integers(1, 3), max_size=2),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    seed=st.integers(0, 999),
)
def test_its_definition(name, V, n, fraction, batch, dtype, seed):
    case, T = CASES[name], max(1, round(fraction * n))
    V = 1 + V % 9 if "order" in name else V
    # Few symbols in every other sequence, so that chains of several hops are found.
    symbols = min(V, 4) if seed % 2 else V
    tokens = np.random.default_rng(seed).integers(symbols, size=(*batch, T))
    model = case.build(V, n)
    logits = model.logits(tokens) if case.logits else None
    found = model.to(torch.float64 if name == "skip-gram" else dtype)(tokens)
    assert (found.dtype, found.shape) == (torch.int64, tokens.shape)
    for place in np.ndindex(*batch):
        row = tokens[place]
        assert found[place].tolist() == list(case.by_definition(row, V))
        if case.logits:  # sums of integers, divided once
            wanted = [[float(share) for share in here] for here in case.logits(row, V)]
            assert logits[place].tolist() == wanted


@every
@pytest.mark.parametrize(("V", "n"), [(1, 1), (2, 64), (8, 64)])
def test_long_and_adversarial_sequences(name, V, n):
    """With hardmax, and with softmax at the least sharpness that is right for all of them."""
    case = CASES[name]
    hard = case.build(V, n)
    softer = soft(hard)
    families = r.adversarial_sequences(n, V, seed=0)
    families |= {f"{T} tokens": r.random_sequences(40, T, V, seed=T) for T in {1, n // 2 + 1}}
    for family, tokens in families.items():
        wanted = case.answers(tokens, V)
        assert np.array_equal(hard(tokens), wanted), family
        assert np.array_equal(softer(tokens), wanted), family


@pytest.mark.parametrize(
    "name", ["latest, bottom", "first, self", "13 hops", "order 3, alpha 1", "previous token"]
)
def test_a_thousand_tokens(name):
    case = CASES[name]
    tokens = np.concatenate([f[-1:] for f in r.adversarial_sequences(1024, 8, seed=1).values()])
    assert np.array_equal(case.build(8, 1024)(tokens), case.answers(tokens, 8))


@every
@pytest.mark.parametrize(("V", "n"), [(1, 2), (3, 24), (6, 9)])
def test_registers_satisfy_the_layer_invariants(name, V, n):
    model = CASES[name].build(V, n)
    statement = OverTokens("", lambda V, n: model, lambda tokens: CASES[name].answers(tokens, V))
    assert model.stages
    assert not [*register_differences(statement, model, r.random_sequences(6, n, V, seed=V))]
