"""The claim `hop`: k hops in ⌊log₂k⌋ + 2 layers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.retrieval import hop as definition
from theory.retrieval import hop_positions, random_sequences
from theory.retrieval.depth import doubling_layers, hop_layers
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.retrieval.certificate import formats, softmax, softmax_options
from verify.retrieval.gaps import States, gap_finding
from verify.retrieval.induction import token_codes
from verify.retrieval.task import Registers, Task, agreement

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

MOST_HOPS = 64


@claim(
    source="[Sanford2024]; proved in constructions/retrieval/hop.py",
    draws=True,
    faults_seen=[{"k": k, "n": 12, "vocabulary": 3, "samples": 8} for k in (1, 2, 3)],
)
def hop(
    run: Run,
    *,
    k: Annotated[int, option("hops", min=1)] = 16,
    n: Annotated[int, option("tokens in a sequence", min=1)] = 128,
    vocabulary: Annotated[int, option("symbols", min=1)] = 8,
    samples: Annotated[int, option("random sequences", min=1)] = 100,
    error: Annotated[float, option("wanted error of the logits under softmax")] = 1e-3,
    sharpness: Annotated[
        float | None, option("softmax sharpness β to enclose the error at")
    ] = None,
) -> Iterator[Finding]:
    """k-hop induction heads take ⌊log₂k⌋ + 2 layers of one head, at a width that k does not change.

    hop_k(x)_i = x_{find^k(i)} with find(i) = max{ j ≤ i : x_{j−1} = x_i }, and ⊥ where a hop finds
    no match.  The first layer's mask is strict: a token sees those before it.  Under the mask that
    includes the token itself, doubling pairs of pointers takes ⌈log₂k⌉ + 2 layers, as many if k is
    a power of two; whether ⌊log₂k⌋ + 2 suffice there for other k is not decided here.
    """
    task = hop_task(run, k)
    softmax_options(task, task.build(vocabulary, n), error, sharpness)
    yield _layers(run, vocabulary)
    for hops in sorted({1, 2, 3, 5, k}) if not run.quick else (k,):
        task = hop_task(run, hops)
        if hops == k:
            yield _size(task.build(vocabulary, n), k, vocabulary, n)
        yield from agreement(run, task, vocabulary, n, 8 if run.quick else samples)
        if hops == k:
            model = task.build(vocabulary, n)
            for states in _states(model, vocabulary, n):
                yield gap_finding(task.label, model, states)
            yield from softmax(run, task, vocabulary, n, error, sharpness)
            if not run.quick:
                yield from formats(run, task, vocabulary)
    if run.plot:
        from verify.retrieval.hop_picture import draw

        rows = random_sequences(500, min(n, 30), min(vocabulary, 4), run.rng)
        row = max(rows, key=lambda row: _places_visited(row, k))
        draw(run.plot, hop_task(run, k).build(vocabulary, len(row)), row, [str(v) for v in row])


def _places_visited(row: np.ndarray, k: int) -> int:
    """How many places the hops from the last token lead to: the more, the better the picture."""
    return len({int(hop_positions(row, hops)[-1]) for hops in range(1, k + 1)})


def hop_task(run: Run, k: int) -> Task:
    """k hops."""

    def build(V: int, n: int) -> SequenceModel:
        from constructions import hop as construction

        return run.build(construction, k, V, n)

    def registers(model: SequenceModel, tokens: np.ndarray) -> Registers:
        from constructions.retrieval.codes import lattice

        points, codes = lattice(model.context), token_codes(model.prompt.vocabulary_size)
        expected = {}
        for m in range(k.bit_length()):
            # The sequence stands behind BOS, whose point stands for ⊥: −1 → 0.
            expected[1 + m, "pointer"] = points[hop_positions(tokens, 2**m) + 1]
            low = k & (2 ** (m + 1) - 1)
            if low:
                expected[2 + m, "answer"] = codes[definition(tokens, low)]
        return expected

    return Task(f"k = {k}", build, lambda tokens: definition(tokens, k), registers)


def _layers(run: Run, V: int) -> Finding:
    """⌊log₂k⌋ + 2 at every k, where doubling pairs takes ⌈log₂k⌉ + 2."""
    from constructions import hop as construction

    most = 8 if run.quick else MOST_HOPS
    counted = range(1, most + 1)
    layers = [construction(k, V, 8).n_layers for k in counted]
    saved = sum(n < doubling_layers(k) for k, n in zip(counted, layers, strict=True))
    return Finding(
        f"layers for k = 1 … {most} hops, first mask strict",
        "exact",
        f"⌊log₂k⌋ + 2 at every k, one less than doubling pairs at {saved} of them",
        "⌊log₂k⌋ + 2",
        Verdict.of(layers == [hop_layers(k) for k in counted]),
    )


def _size(model: SequenceModel, k: int, V: int, n: int) -> Finding:
    from constructions.retrieval.margins import exact_in

    r, bits = max(1, math.ceil(math.log2(V))), exact_in(model).bits
    width = (2 if k.bit_count() == 1 else 3) * r + 8
    measured = (model.n_layers, model.n_heads, model.d_model)
    return Finding(
        f"size for {k} hops, {n} tokens, {V} symbols",
        "exact",
        f"{model.n_layers} layers, {model.n_heads} head, width {model.d_model}, "
        f"{model.n_parameters} parameters, {bits} bits = {bits / max(math.log2(n), 1):.1f}·log₂n",
        f"⌊log₂k⌋ + 2 = {hop_layers(k)} layers, 1 head, width O(1) in k and n (here "
        f"{width} = {'2' if k.bit_count() == 1 else '3'}⌈log₂V⌉ + 8), O(log n) bits",
        Verdict.of(measured == (hop_layers(k), 1, width)),
    )


def _states(model: SequenceModel, V: int, n: int) -> Iterator[States]:
    """The queries and keys of the head that finds, and of one that follows pointers."""
    codes, here = token_codes(V), np.arange(n + 1)
    W_pos = model.pos_embed.W_pos.numpy() if model.pos_embed is not None else np.zeros((0, 0))
    position = {name: W_pos[:, model.stream[name]] for name in ("place", "norm", "rank")}
    held = np.array([V, *np.repeat(np.arange(V), n)])
    place = np.array([0, *np.tile(here[1:], V)])
    matches = held == np.arange(V)[:, None]
    yield States(
        1,
        {"code": codes[:V]},
        {"code": codes[held], "rank": position["rank"][place]},
        np.where(matches, place, np.where(place == 0, 0.0, -np.inf)),
        place,
    )
    for layer in range(2, model.n_layers + 1):
        yield States(
            layer,
            {"pointer": position["place"]},
            {"place": position["place"], "norm": position["norm"]},
            np.where(here[:, None] == here, 0.0, -np.inf),
            here,
        )
