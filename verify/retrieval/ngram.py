"""The claim `ngram`: two layers output in-context n-gram frequencies, the Bayes predictor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Annotated

import numpy as np

from constructions import in_context_ngram as construction
from constructions.transformer import Transformer
from theory.retrieval import (
    dirichlet_predictor_by_definition,
    ngram_by_definition,
    ngram_counts,
    random_sequences,
)
from verify.claim import Run, claim, option
from verify.domains import Rational, outputs
from verify.evidence.gaps import States, at_positions, at_tokens, gap_finding, looking_up
from verify.evidence.sequences import agreement
from verify.evidence.size import size
from verify.evidence.softmax import softmax, softmax_options
from verify.evidence.statement import OverTokens
from verify.finding import Finding, labelled, no_counterexample
from verify.retrieval.options import Length, Samples, Symbols

SMALL = 3  # number of symbols in the comparisons over Q
FEW = {"vocabulary_size": 3, "max_length": 8, "samples": 8}
MOST_CONTEXTS = 1000  # largest number of contexts enumerated for the score gap (a few minutes)


@claim(
    picture="verify.retrieval.pictures:draw_random",
    faults_seen=[
        {"order": order, "pseudo_counts": alpha} | FEW for order in (1, 2, 3) for alpha in (0, 1)
    ],
)
def ngram(
    run: Run,
    *,
    order: Annotated[
        int, option("tokens of the n-gram, including the predicted token", min=1, max=20)
    ] = 2,
    pseudo_counts: Annotated[
        int, option("α: virtual observations of each symbol", min=0, max=10**4)
    ] = 1,
    vocabulary_size: Symbols = 8,
    max_length: Length = 128,
    samples: Samples = 100,
    error: Annotated[float, option("largest error of the frequencies under softmax")] = 1e-3,
) -> Iterator[Finding]:
    """Two causal layers of order − 1 heads and one head output smoothed in-context n-grams.

    The n-grams have `order` tokens, including the predicted one, so the context of a position
    consists of the last order − 1 tokens. At every position, the output for symbol v is exactly
    (c_v + α)/(c + αV), for V symbols and α = `pseudo_counts`. Here c_v is the number of earlier
    occurrences of the context that were followed by v, and c = Σ_v c_v. For α ≥ 1 the output is the
    Bayes predictive distribution if the distributions of the next token, one for each context, are
    independent with prior Dirichlet(α, …, α). For α = 0 and c = 0, the output is ⊥ (no answer). For
    order 1, the second layer alone suffices.
    """
    V, n = vocabulary_size, max_length
    statement = stated(run, order, pseudo_counts)
    model = statement.at(V, n).model
    softmax_options(statement, model, error, None)
    given = f", order m = {order}, α = {pseudo_counts}"
    sizes = {"V": V} | ({"m": order} if order > 1 else {})
    yield size(model, "ngram" if order > 1 else "unigram", given, **sizes)
    yield from agreement(run, statement, V, n, samples, symbols=3, longest=5)
    probabilities = no_counterexample(
        "probabilities",
        f"probabilities that the model predicts over Q (12 tokens, {SMALL} symbols)",
        other_probabilities(run, statement, order, pseudo_counts),
        words="equal to (count + α)/(total + αV) on 8 sequences",
    )
    yield from labelled(statement.label, [probabilities])
    if pseudo_counts:
        alphas = f"Dirichlet({pseudo_counts}, …, {pseudo_counts})"
        yield no_counterexample(
            "bayes",
            f"add-{pseudo_counts} smoothing against the Bayes predictor with the prior {alphas}",
            other_than_bayes(run, order, pseudo_counts),
            words="equal to the ratio of marginal likelihoods on 4 sequences of 10 tokens",
        )
    if (V + 1) ** (order - 1) <= MOST_CONTEXTS:
        for states in head_states(model, order, pseudo_counts):
            yield gap_finding(statement.label, model, states)
    yield from softmax(run, statement, V, n, error, None)
    run.draw(run, stated(run, order, 0), min(V, 3), min(n, 12))


def stated(run: Run, order: int, alpha: int) -> OverTokens:
    """The statement on the n-gram model, in which the answer is the most frequent symbol."""

    def answers(tokens: np.ndarray) -> np.ndarray:
        # Larger symbols do not occur and have count 0; in a new context all counts are 0.
        counts = ngram_counts(tokens, int(tokens.max()) + 1, order)
        return np.where(counts.any(-1) | (alpha > 0), counts.argmax(-1), -1)

    return OverTokens("n-gram", lambda V, n: run.build(construction, V, n, order, alpha), answers)


def head_states(model: Transformer, order: int, alpha: int) -> Iterator[States]:
    """The queries and keys of the heads of layer 1, and of the head of layer 2."""
    V, prefix = model.interface.vocabulary_size, len(model.interface.prefix)
    here = np.arange(prefix, model.interface.context)
    # The code of the tokens before the sequence, number V, is 0.
    codes = at_tokens(model, "code", tokens=slice(V + 1))["code"] if order > 1 else np.empty(0)
    for s in range(1, order):
        queries = at_positions(model, f"before_{s}", at=here)
        yield looking_up(model, 1, queries, (here - s).clip(0), head=s - 1)
    # A context is a list of order − 1 tokens, the last of which may be missing (number V); the last
    # row is the key of the tokens in front of the sequence.
    listed = [*product(range(V + 1), repeat=order - 1), (V,) * (order - 1)]
    contexts = np.array(listed, dtype=np.int64)
    contexts = contexts[((contexts[:, :-1] < V) | (contexts[:, 1:] == V)).all(1)]
    current = contexts[:-1][(contexts[:-1, :1] < V).all(1)]  # the current token is never missing
    same = (current[:, None] == contexts).all(-1) & (contexts < V).all(-1)
    preference = np.where(same, 1.0, -np.inf)
    preference[:, -1] = 1.0 if alpha else 0.0
    sink = np.zeros(len(contexts))
    sink[-1] = float(at_tokens(model, "sink")["sink"][V, 0])
    names = ["code", *(f"previous_{s}" for s in range(1, order))]
    queries = {name: codes[current[:, s]] for s, name in enumerate(names[:-1])}
    keys = {name: codes[contexts[:, s]] for s, name in enumerate(names[1:])} | {"sink": sink}
    yield States(model.n_layers, queries, keys, preference, np.arange(len(contexts)))


def other_probabilities(run: Run, statement: OverTokens, order: int, alpha: int) -> Iterator[str]:
    """The positions at which the model's probability is not (count + α)/(total + αV)."""
    model = statement.at(SMALL, 12).model
    for row in random_sequences(8, 12, SMALL, run.rng):
        logits = outputs(model, model.prompt(row), Rational()).tolist()
        wanted = ngram_by_definition(row, SMALL, order, alpha)
        for i, (line, here) in enumerate(zip(logits, wanted, strict=True), start=1):
            if [Fraction(int(q.p), int(q.q)) for q in line[:SMALL]] != here:
                yield f"{row.tolist()} at token {i}: {line} instead of {here}"


def other_than_bayes(run: Run, order: int, alpha: int) -> Iterator[str]:
    """The positions at which (count + α)/(total + αV) is not the ratio of marginal likelihoods."""
    for row in random_sequences(4, 10, SMALL, run.rng):
        predicted = dirichlet_predictor_by_definition(row.tolist(), SMALL, order, alpha)
        smoothed = ngram_by_definition(row, SMALL, order, alpha)
        for i, (line, here) in enumerate(zip(predicted, smoothed, strict=True), start=1):
            if line != here:
                yield f"{row.tolist()} at token {i}: {line}"
