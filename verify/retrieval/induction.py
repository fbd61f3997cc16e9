"""The claim `induction`: two layers of one head are an induction head."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np

from theory.retrieval import induction as definition
from theory.retrieval import ngram, previous_token
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.retrieval.certificate import formats, softmax, softmax_options
from verify.retrieval.gaps import States, gap_finding
from verify.retrieval.task import Registers, Task, agreement

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

Matches = Literal["all", "latest", "first", "mean"]
NoMatch = Literal["bottom", "self"]


@claim(
    source="[Olsson2022], [Elhage2021]; proved in constructions/retrieval/induction.py",
    draws=True,
    faults_seen=[
        {"match": match, "no_match": no_match, "n": 12, "vocabulary": 3, "samples": 8}
        for match in ("latest", "first", "mean")
        for no_match in ("bottom", "self")
    ],
)
def induction(
    run: Run,
    *,
    n: Annotated[int, option("tokens in a sequence", min=1)] = 128,
    vocabulary: Annotated[int, option("symbols", min=1)] = 8,
    match: Annotated[Matches, option("which earlier occurrence answers")] = "all",
    no_match: Annotated[
        NoMatch, option("the answer where there is none: ⊥ or the token")
    ] = "bottom",
    samples: Annotated[int, option("random sequences", min=1)] = 100,
    error: Annotated[float, option("wanted error of the logits under softmax")] = 1e-3,
    sharpness: Annotated[
        float | None, option("softmax sharpness β to enclose the error at")
    ] = None,
    prompt: Annotated[str | None, option("words of your own, run through the two layers")] = None,
) -> Iterator[Finding]:
    """Two layers of one head each answer with what came after the current token before.

    The answer at i is x_j with j = max{ j ≤ i : x_{j−1} = x_i } (latest match), min (first) or the
    most frequent over all such j (mean); where there is none, ⊥ or x_i.  Width O(log V) + O(1) for
    latest and first; the mean carries a distribution over V tokens and has width O(V).
    """
    if prompt is not None:
        yield from _on_words(run, prompt, "latest" if match == "all" else match, no_match)
        return
    for chosen in ("latest", "first", "mean") if match == "all" else (match,):
        task = induction_task(run, chosen, no_match)
        model = task.build(vocabulary, n)
        softmax_options(task, model, error, sharpness)
        yield _size(task, model, vocabulary, n)
        yield from agreement(run, task, vocabulary, n, 8 if run.quick else samples)
        if chosen != "mean":
            for states in _states(model, vocabulary, n, chosen):
                yield gap_finding(task.label, model, states)
        yield from softmax(run, task, vocabulary, n, error, sharpness)
        if not run.quick and (match != "all" or chosen == "latest"):
            yield from formats(run, task, vocabulary)
    if run.plot:
        from verify.retrieval.attention_picture import draw

        row = run.rng.integers(0, min(vocabulary, 5), min(n, 14))
        model = induction_task(run, "latest", no_match).build(vocabulary, len(row))
        draw(run.plot, model, row, [str(v) for v in row])


def induction_task(run: Run, match: str, no_match: str) -> Task:
    """Induction heads with this convention."""

    def build(V: int, n: int) -> SequenceModel:
        from constructions import induction_heads

        return run.build(induction_heads, V, n, match, no_match)

    def answers(tokens: np.ndarray) -> np.ndarray:
        return definition(tokens, match, no_match)  # type: ignore[arg-type]

    def registers(model: SequenceModel, tokens: np.ndarray) -> Registers:
        V = model.prompt.vocabulary_size
        codes = token_codes(V)
        if match != "mean":
            found = definition(tokens, match, "bottom")  # type: ignore[arg-type]
            return {(1, "previous"): codes[previous_token(tokens)], (2, "answer"): codes[found]}
        frequencies = ngram(tokens, V, 2, 0.0)
        none = (frequencies.sum(-1, keepdims=True) == 0).astype(float)
        if no_match == "self":
            frequencies = frequencies + none * np.eye(V)[tokens]
        return {
            (1, "previous_1"): codes[previous_token(tokens)],
            (2, "counts"): frequencies,
            (2, "none"): none,
        }

    return Task(match, build, answers, registers)


def token_codes(V: int) -> np.ndarray:
    """The binary codes, and 0 for ⊥, which stands last so that −1 finds it."""
    bits = max(1, math.ceil(math.log2(V)))
    codes = [[1.0 if v >> b & 1 else -1.0 for b in range(bits)] for v in range(V)]
    return np.array([*codes, [0.0] * bits])


def _size(task: Task, model: SequenceModel, V: int, n: int) -> Finding:
    """Layers, heads, width and bits beside the theorem's."""
    from constructions.retrieval.margins import exact_in

    r, bits = max(1, math.ceil(math.log2(V))), exact_in(model).bits
    formula = 3 * r + 6 if task.label != "mean" else 2 * r + 2 * V + 8
    shown = "3⌈log₂V⌉ + 6" if task.label != "mean" else "2⌈log₂V⌉ + 2V + 8"
    return Finding(
        f"{task.label}: size for {n} tokens, {V} symbols",
        "exact",
        f"{model.n_layers} layers, {model.n_heads} head, width {model.d_model} = "
        f"{model.d_model / max(r, 1):.1f}·log₂V, {model.n_parameters} parameters, {bits} bits = "
        f"{bits / max(math.log2(n), 1):.1f}·log₂n",
        f"2 layers, 1 head, width {shown}, O(log n) bits",
        Verdict.of((model.n_layers, model.n_heads, model.d_model) == (2, 1, formula)),
    )


def _states(model: SequenceModel, V: int, n: int, match: str) -> Iterator[States]:
    """All queries and keys of the two heads."""
    codes, here = token_codes(V), np.arange(n + 1)
    W_pos = model.pos_embed.W_pos.numpy() if model.pos_embed is not None else np.zeros((0, 0))
    position = {name: W_pos[:, model.stream[name]] for name in ("place", "norm", "before", "rank")}
    yield States(
        1,
        {"before": position["before"][1:]},
        {"place": position["place"], "norm": position["norm"]},
        np.where(here[1:, None] - 1 == here, 0.0, -np.inf),
        here,
    )
    # A key holds the code of one of V tokens (none at position 1) and stands at 1 … n, or is BOS.
    held = np.array([V, *np.repeat(np.arange(V), n - 1), V])
    place = np.array([0, *np.tile(here[2:], V), 1])
    recency = place if match == "latest" else -place
    matches = held == np.arange(V)[:, None]
    preference = np.where(matches, n + 1 + recency, np.where(place == 0, 0.0, -np.inf))
    yield States(
        2,
        {"code": codes[:V]},
        {"previous": codes[held], "rank": position["rank"][place]},
        preference,
        place,
    )


def _on_words(run: Run, prompt: str, match: str, no_match: str) -> Iterator[Finding]:
    """A prompt in words: what each layer moved, and the answer beside the definition's."""
    from verify.retrieval.narration import narrate, word_tokens

    tokens, words = word_tokens(prompt)
    row = np.array(tokens)
    task = induction_task(run, match, no_match)
    model = task.build(int(row.max()) + 1, len(row))
    vocabulary: dict[int, Any] = dict(zip(tokens, words, strict=True))
    got, wanted = int(model(row)[-1]), int(task.answers(row)[-1])
    yield Finding(
        f"after {words[-1]!r}",
        "exact",
        repr(vocabulary[got]) if got >= 0 else "⊥: it did not occur before",
        repr(vocabulary[wanted]) if wanted >= 0 else "⊥",
        Verdict.of(got == wanted),
        detail="\n".join(narrate(model, row, words)),
        told=True,
    )
