"""One model of every construction over tokens, for V symbols and sequences of at most n tokens."""

import functools

import numpy as np

from constructions import (
    broad_average,
    composition,
    fact_lookup,
    hop,
    in_context_ngram,
    induction_heads,
    previous_token,
    skip_gram,
)
from theory.retrieval import Lexicon, adversarial_sequences

LEXICON = Lexicon(("Ann", "Ben"), ("boss", "profession"), ("cook",))
TABLE = [[0.5, 2.0, 2.0], [1.0, -1.0, 0.25], [3.0, 3.0, 3.0]]
MODELS = {
    "latest": lambda V, n, **beta: induction_heads(V, n, **beta),
    "first, self": lambda V, n, **beta: induction_heads(V, n, "first", "self", **beta),
    "latest, self": lambda V, n, **beta: induction_heads(V, n, "latest", "self", **beta),
    "mean": lambda V, n, **beta: induction_heads(V, n, "mean", **beta),
    "mean, self": lambda V, n, **beta: induction_heads(V, n, "mean", "self", **beta),
    "one hop": lambda V, n, **beta: hop(1, V, n, **beta),
    "six hops": lambda V, n, **beta: hop(6, V, n, **beta),
    "previous": lambda V, n, **beta: previous_token(V, n, **beta),
    "average": lambda V, n, **beta: broad_average(V, n, **beta),
    "skip-gram": lambda V, n, **beta: skip_gram(
        np.kron(np.eye(-(-V // 3)), TABLE)[:V, :V], n, **beta
    ),
    "unigram": lambda V, n, **beta: in_context_ngram(V, n, 1, 0, **beta),
    "bigram": lambda V, n, **beta: in_context_ngram(V, n, 2, 1, **beta),
    "trigram": lambda V, n, **beta: in_context_ngram(V, n, 3, 0, **beta),
    "composition": lambda V, n, **beta: composition((n - 1) // 2, **beta),
    "facts": lambda V, n, **beta: fact_lookup(n, LEXICON, **beta),
}


@functools.cache
def a_model(name, V, n):
    return MODELS[name](V, n)


def attends_to_one(model):
    return not any(margin.ties for block in model.blocks for margin in block.margins)


def prompts(model, seed=0):
    """Some random prompts, and adversarial or grammatical ones where there are any."""
    rng = np.random.default_rng(seed)
    V, n = model.interface.vocabulary_size, model.interface.max_length
    batches = [rng.integers(V, size=(12, n))]
    if model.interface.length is None:
        batches += adversarial_sequences(n, V, rng).values()
    return np.concatenate(batches)
