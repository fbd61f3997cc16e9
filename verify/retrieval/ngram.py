"""The claim `ngram`: two layers are an in-context n-gram, and its Bayes predictor."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise, product
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.retrieval import (
    dirichlet_predictor_by_definition,
    ngram_counts,
    random_sequences,
)
from theory.retrieval import ngram as definition
from verify.claim import Run, claim, option
from verify.domains import Rational, outputs
from verify.finding import Finding, Verdict
from verify.retrieval.certificate import softmax, softmax_options
from verify.retrieval.gaps import States, gap_finding
from verify.retrieval.induction import token_codes
from verify.retrieval.task import Registers, Task, agreement, one_hot

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

MOST_CONTEXTS = 1000  # listed for the score gap; more would take minutes


@claim(
    source="[Edelman2024]; proved in constructions/retrieval/ngram.py",
    draws=True,
    faults_seen=[
        {"order": order, "pseudo_counts": alpha, "n": 12, "vocabulary": 3, "samples": 8}
        for order in (1, 2, 3)
        for alpha in (0, 1)
    ],
)
def in_context_ngram(
    run: Run,
    *,
    order: Annotated[int, option("tokens of the n-gram, the predicted one included", min=1)] = 2,
    pseudo_counts: Annotated[int, option("α: virtual observations of each symbol", min=0)] = 1,
    n: Annotated[int, option("tokens in a sequence", min=1)] = 128,
    vocabulary: Annotated[int, option("symbols", min=1)] = 8,
    samples: Annotated[int, option("random sequences", min=1)] = 100,
    error: Annotated[float, option("wanted error of the frequencies under softmax")] = 1e-3,
) -> Iterator[Finding]:
    """Two layers with order − 1 heads and one head predict by in-context n-grams, smoothed exactly.

    At i the prediction of v is (count of v after the last order − 1 tokens + α)/(total + αV), the
    Bayes predictor if each row of the transition table is drawn from Dirichlet(α, …, α).  Without
    smoothing (α = 0) the prediction where the context is new is ⊥.
    """
    task = ngram_task(run, order, pseudo_counts)
    model = task.build(vocabulary, n)
    softmax_options(task, model, error, None)
    yield _size(model, order, pseudo_counts, vocabulary, n)
    yield from agreement(run, task, vocabulary, n, 8 if run.quick else samples, exhaustive=(3, 5))
    yield _logits_over_q(run, task, order, pseudo_counts)
    if pseudo_counts:
        yield _bayes(run, order, pseudo_counts)
    contexts = (vocabulary + 1) ** (order - 1)
    if contexts <= MOST_CONTEXTS:
        for states in ngram_states(model, vocabulary, n, order, pseudo_counts):
            yield gap_finding(task.label, model, states)
    yield from softmax(run, task, vocabulary, n, error, None)
    if run.plot:
        from verify.retrieval.attention_picture import draw

        row = run.rng.integers(0, min(vocabulary, 3), min(n, 12))
        model = ngram_task(run, order, 0).build(min(vocabulary, 3), len(row))
        draw(run.plot, model, row, [str(v) for v in row])


def ngram_task(run: Run, order: int, alpha: int) -> Task:
    """The n-gram of this order; the answer is the most frequent symbol."""

    def build(V: int, n: int) -> SequenceModel:
        from constructions import in_context_ngram as construction

        return run.build(construction, V, order, n, alpha)

    def answers(tokens: np.ndarray) -> np.ndarray:
        # Symbols that the counts do not know have frequency 0, as all of a new context have.
        counts = ngram_counts(tokens, int(tokens.max()) + 1, order)
        if alpha:
            return counts.argmax(-1)
        return np.where(counts.any(-1), counts.argmax(-1), -1)

    def registers(model: SequenceModel, tokens: np.ndarray) -> Registers:
        V, T = model.prompt.vocabulary_size, tokens.shape[-1]
        codes, expected = token_codes(V), {}
        for s in range(1, order):
            before = np.full(tokens.shape, -1)
            before[..., s:] = tokens[..., : max(T - s, 0)]
            expected[1, f"previous_{s}"] = codes[before]
        expected[model.n_layers, "counts"] = definition(tokens, V, order, float(alpha))
        return expected

    return Task(f"order {order}, α = {alpha}", build, answers, registers)


def ngram_states(model: SequenceModel, V: int, n: int, order: int, alpha: int) -> Iterator[States]:
    """The queries and keys of the heads that look back, and of the head that counts."""
    codes, prefix = token_codes(V), len(model.prompt.prefix)
    here = np.arange(prefix + n)
    if model.pos_embed is not None:
        W_pos = model.pos_embed.W_pos.numpy()
        position = {name: W_pos[:, model.stream[name]] for name in model.stream}
        for s in range(1, order):
            yield States(
                1,
                {f"before_{s}": position[f"before_{s}"][prefix:]},
                {"place": position["place"], "norm": position["norm"]},
                np.where((here[prefix:, None] - s).clip(0) == here, 0.0, -np.inf),
                here,
                head=s - 1,
            )
    # A context is a list of order − 1 tokens, the last of which may be missing (number V).
    listed = [
        c
        for c in product(range(V + 1), repeat=order - 1)
        if all(a < V or b == V for a, b in pairwise(c))
    ]
    contexts = np.array(listed, dtype=np.int64).reshape(len(listed), order - 1)
    names = [f"previous_{s}" for s in range(1, order)]
    asking = contexts[(contexts[:, :1] < V).all(1)]  # the current token is always there
    whole = (contexts < V).all(1)
    same = (asking[:, None] == contexts[None]).all(-1) & whole
    sink = float(model.embed.W_E[V, model.stream["sink"]])
    prior = np.full((len(asking), 1), 1.0 if alpha else 0.0)
    yield States(
        model.n_layers,
        {name: codes[asking[:, s]] for s, name in enumerate(["code", *names][: order - 1])}
        or {"sink": np.zeros(1)},
        {
            **{
                name: np.vstack([codes[contexts[:, s]], codes[[V]]]) for s, name in enumerate(names)
            },
            "sink": np.append(np.zeros(len(contexts)), sink),
        },
        np.hstack([np.where(same, 1.0, -np.inf), prior]),
        np.arange(len(contexts) + 1),
    )


def _size(model: SequenceModel, order: int, alpha: int, V: int, n: int) -> Finding:
    r = max(1, (V - 1).bit_length())
    layers, heads = min(order, 2), max(order - 1, 1)
    width = 2 * V + 3 + ((r + 3 + (2 + r) * (order - 1)) if order > 1 else 0)
    measured = (model.n_layers, model.n_heads, model.d_model)
    return Finding(
        f"size for {n} tokens, {V} symbols",
        "exact",
        f"{model.n_layers} layers, {model.n_heads} heads, width {model.d_model}, "
        f"{model.n_parameters} parameters",
        f"{layers} layers, {heads} heads, width 2V + {width - 2 * V}",
        Verdict.of(measured == (layers, heads, width)),
    )


def _logits_over_q(run: Run, task: Task, order: int, alpha: int) -> Finding:
    """Every predicted probability is the fraction (count + α)/(total + αV), over Q."""
    V, domain = 3, Rational()
    model, wrong = task.build(V, 12), None
    rows = random_sequences(8, 12, V, run.rng)
    for row in rows:
        logits = outputs(model, one_hot(model, row, domain), 0, domain).tolist()
        counts = ngram_counts(row, V, order)
        for i, line in enumerate(logits[len(model.prompt.prefix) :]):
            total = int(counts[i].sum()) + alpha * V
            wanted = [Fraction(int(c) + alpha, total) if total else Fraction(0) for c in counts[i]]
            if [Fraction(int(q.p), int(q.q)) for q in line[:V]] != wanted:
                wrong = wrong or f"{row.tolist()} at token {i + 1}: {line} instead of {wanted}"
    return Finding(
        f"{task.label}: probabilities over Q (12 tokens, {V} symbols)",
        "exact",
        "equal" if wrong is None else "they differ",
        "(count + α)/(total + αV)",
        Verdict.of(wrong is None),
        wrong or "",
    )


def _bayes(run: Run, order: int, alpha: int) -> Finding:
    """(count + α)/(total + αV) is the ratio of marginal likelihoods under Dirichlet(α, …, α)."""
    V, wrong = 3, None
    for row in random_sequences(4, 10, V, run.rng):
        predicted = dirichlet_predictor_by_definition(row.tolist(), V, order, alpha)
        counts = ngram_counts(row, V, order)
        for i, line in enumerate(predicted):
            total = int(counts[i].sum()) + alpha * V
            if list(line) != [Fraction(int(c) + alpha, total) for c in counts[i]]:
                wrong = wrong or f"{row.tolist()} at token {i + 1}: {line}"
    return Finding(
        f"the Bayes predictor for Dirichlet({alpha}, …, {alpha}) rows is add-{alpha} smoothing",
        "exact",
        "equal on 4 sequences of 10 tokens" if wrong is None else "they differ",
        "ratio of marginal likelihoods",
        Verdict.of(wrong is None),
        wrong or "",
    )
