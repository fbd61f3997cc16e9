"""The claim `attention-patterns`: previous token, skip-gram and broad average, one head each."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Literal

import numpy as np

from theory.retrieval import previous_token as previous_token_by_definition
from theory.retrieval import skip_gram as attended_by_definition
from theory.retrieval import token_frequencies
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.retrieval.certificate import formats, softmax, softmax_options
from verify.retrieval.gaps import States, gap_finding
from verify.retrieval.induction import token_codes
from verify.retrieval.task import Registers, Task, agreement

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

Patterns = Literal["all", "previous-token", "skip-gram", "broad-average"]


@claim(
    source="[Elhage2021]; proved in constructions/retrieval/",
    draws=True,
    faults_seen=[
        {"pattern": pattern, "n": 12, "vocabulary": 3, "samples": 8}
        for pattern in ("previous-token", "skip-gram", "broad-average")
    ],
)
def attention_patterns(
    run: Run,
    *,
    pattern: Annotated[Patterns, option("which of the three")] = "all",
    n: Annotated[int, option("tokens in a sequence", min=1)] = 128,
    vocabulary: Annotated[int, option("symbols", min=1)] = 8,
    samples: Annotated[int, option("random sequences", min=1)] = 100,
    error: Annotated[float, option("wanted error of the logits under softmax")] = 1e-3,
) -> Iterator[Finding]:
    """One head attends to the token before, to tokens of a class, or equally to all.

    Previous token: the score 2⟨P_{i−1}, P_j⟩ − |P_j|² of lattice points is largest at j = i − 1 by
    at least 1.  Skip-gram: any table of V × V scores.  Broad average: W_Q = W_K = 0.
    """
    names = ("previous-token", "skip-gram", "broad-average") if pattern == "all" else (pattern,)
    for name in names:
        task = pattern_task(run, name)
        model = task.build(vocabulary, n)
        softmax_options(task, model, error, None)
        yield _size(task, model, vocabulary)
        yield from agreement(run, task, vocabulary, n, 8 if run.quick else samples)
        yield gap_finding(task.label, model, _states(name, model, vocabulary))
        if name != "broad-average":
            yield from softmax(run, task, vocabulary, n, error, None)
        if name == "previous-token" and not run.quick:
            yield from formats(run, task, vocabulary)
    if run.plot:
        from verify.retrieval.attention_picture import draw

        row = run.rng.integers(0, min(vocabulary, 5), min(n, 12))
        model = pattern_task(run, names[0]).build(vocabulary, len(row))
        draw(run.plot, model, row, [str(v) for v in row])


def pattern_task(run: Run, name: str) -> Task:
    """One of the three patterns; the skip-gram's table has ties, as brackets of one kind do."""

    def build(V: int, n: int) -> SequenceModel:
        from constructions import broad_average, previous_token, skip_gram

        if name == "previous-token":
            return run.build(previous_token, V, n)
        if name == "skip-gram":
            return run.build(skip_gram, table_of(V), n)
        return run.build(broad_average, V, n)

    def frequencies(tokens: np.ndarray) -> np.ndarray:
        V = int(tokens.max()) + 1  # the symbols that occur decide; others have frequency 0
        if name == "skip-gram":
            return attended_by_definition(tokens, table_of(V))
        return token_frequencies(tokens, V)

    def answers(tokens: np.ndarray) -> np.ndarray:
        if name == "previous-token":
            return previous_token_by_definition(tokens)
        return frequencies(tokens).argmax(-1)

    def registers(model: SequenceModel, tokens: np.ndarray) -> Registers:
        V = model.prompt.vocabulary_size
        if name == "previous-token":
            return {(1, "answer"): token_codes(V)[previous_token_by_definition(tokens)]}
        held = frequencies(tokens)
        held = np.pad(held, [(0, 0)] * (held.ndim - 1) + [(0, V - held.shape[-1])])
        return {(1, "attended" if name == "skip-gram" else "average"): held}

    return Task(name, build, answers, registers)


def table_of(V: int) -> np.ndarray:
    """Scores table[v, w] = 2 if w is the partner v − 1 of an odd v, 1 if w = v, else 0.

    Symbols come in pairs, an opening and a closing one; a closing one attends to its openings.
    """
    own = np.eye(V)
    partner = np.zeros((V, V))
    partner[range(1, V, 2), range(0, V - 1, 2)] = 2.0
    return own + partner


def _size(task: Task, model: SequenceModel, V: int) -> Finding:
    r = max(1, (V - 1).bit_length())
    width, formula = {
        "previous-token": (2 * r + 5, "2⌈log₂V⌉ + 5"),
        "skip-gram": (3 * V, "3V"),
        "broad-average": (2 * V, "2V"),
    }[task.label]
    return Finding(
        f"{task.label}: size for {V} symbols",
        "exact",
        f"{model.n_layers} layer, {model.n_heads} head, width {model.d_model}, "
        f"{model.n_parameters} parameters",
        f"1 layer, 1 head, width {formula}",
        Verdict.of((model.n_layers, model.n_heads, model.d_model) == (1, 1, width)),
    )


def _states(name: str, model: SequenceModel, V: int) -> States:
    """All queries and keys of the head."""
    if name == "previous-token":
        assert model.pos_embed is not None
        W_pos = model.pos_embed.W_pos.numpy()
        held = {part: W_pos[:, model.stream[part]] for part in ("place", "norm", "before")}
        here = np.arange(len(W_pos))
        return States(
            1,
            {"before": held["before"][1:]},
            {"place": held["place"], "norm": held["norm"]},
            np.where(here[1:, None] - 1 == here, 0.0, -np.inf),
            here,
        )
    if name == "skip-gram":
        table = table_of(V)
        return States(1, {"wanted": table}, {"symbol": np.eye(V)}, table, np.arange(V))
    nothing = {"symbol": np.eye(V)}
    return States(1, nothing, nothing, np.zeros((V, V)), np.arange(V))
