"""The claim `composition`: two lookups in a row, of tables and of facts in English."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.retrieval import composition as definition
from theory.retrieval import composition_prompt
from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict
from verify.retrieval.certificate import softmax, softmax_options
from verify.retrieval.facts import draw_reading, fact_findings, on_words
from verify.retrieval.gaps import States, gap_finding
from verify.retrieval.task import (
    Registers,
    Task,
    difference_over_q,
    equal,
    exact_evidence,
    first_difference,
    register_difference,
)

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel


@claim(
    source="[Peng2024] for the task; proved in constructions/retrieval/",
    draws=True,
    faults_seen=[{"size": 4, "samples": 8, "texts": 8}, {"size": 2, "samples": 8, "texts": 8}],
)
def composition(
    run: Run,
    *,
    size: Annotated[int, option("entries of each table", min=1)] = 64,
    samples: Annotated[int, option("random pairs of tables", min=1)] = 200,
    texts: Annotated[int, option("random texts of facts", min=1)] = 200,
    error: Annotated[float, option("wanted error of the logits under softmax")] = 1e-3,
    sharpness: Annotated[
        float | None, option("softmax sharpness β to enclose the error at")
    ] = None,
    prompt: Annotated[str | None, option("facts and a question of your own, in English")] = None,
) -> Iterator[Finding]:
    """Two layers of one head compose two tables in the prompt; four read facts and answer.

    From f(0) … f(s − 1), g(0) … g(s − 1), x the answer is g(f(x)): width 11 at every s.  "What is
    the profession of John's mother?" is the same with facts (subject, relation, object) as tables.
    """
    if prompt is not None:
        yield from on_words(run, prompt)
        return
    task = composition_task(run)
    model = task.build(size, 0)
    softmax_options(task, model, error, sharpness)
    yield _size(model, size)
    yield from _tables(run, task, size, samples)
    for states in _states(model, size):
        yield gap_finding(task.label, model, states)
    yield from softmax(run, task, size, 1, error, sharpness, rows=_random_rows)
    yield from fact_findings(run, texts)
    if run.plot:
        draw_reading(run)


def composition_task(run: Run) -> Task:
    """g∘f at every token of the prompt; V is the size s, and all prompts have 2s + 1 tokens."""

    def build(s: int, _: int) -> SequenceModel:
        from constructions import composition as construction

        return run.build(construction, s)

    def tables(tokens: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        s = tokens.shape[-1] // 2
        return tokens[..., :s], tokens[..., s : 2 * s]

    def answers(tokens: np.ndarray) -> np.ndarray:
        f, g = tables(tokens)
        return np.stack([definition(f, g, v) for v in np.moveaxis(tokens, -1, 0)], axis=-1)

    def registers(model: SequenceModel, tokens: np.ndarray) -> Registers:
        from constructions.retrieval.codes import lattice

        f, _ = tables(tokens)
        s = f.shape[-1]
        points = lattice(2 * s)
        found = np.take_along_axis(f, tokens, axis=-1)
        return {(1, "found"): points[s + found], (2, "answer"): points[answers(tokens)]}

    return Task("tables", build, answers, registers)


def _random_rows(run: Run, s: int, samples: int) -> np.ndarray:
    f, g = run.rng.integers(0, s, (2, samples, s))
    return composition_prompt(f, g, run.rng.integers(0, s, samples))


def _size(model: SequenceModel, s: int) -> Finding:
    from constructions.retrieval.margins import exact_in

    bits = exact_in(model).bits
    return Finding(
        f"size for tables of {s}",
        "exact",
        f"{model.n_layers} layers, {model.n_heads} head, width {model.d_model}, "
        f"{model.n_parameters} parameters, {bits} bits = {bits / max(math.log2(s), 1):.1f}·log₂s",
        "2 layers, 1 head, width 11, O(log s) bits",
        Verdict.of((model.n_layers, model.n_heads, model.d_model) == (2, 1, 11)),
    )


def _tables(run: Run, task: Task, size: int, samples: int) -> Iterator[Finding]:
    """All tables of at most three entries, random and extreme ones, over Q, and the registers."""
    wrong, count = None, 0
    for s in (1, 2) if run.quick else (1, 2, 3):
        every = np.array(list(product(range(s), repeat=2 * s + 1)))
        wrong, count = wrong or first_difference(task, task.build(s, 0), every), count + len(every)
    yield equal("tables: all of at most 3 entries", f"equal on {count} prompts", wrong, "exact")

    model, here = task.build(size, 0), np.arange(size)
    extreme = {
        "identity": (here, here),
        "constant": (0 * here, here),
        "reversal": (here[::-1], here[::-1]),
        "shift": ((here + 1) % size, (here + 1) % size),
    }
    rows = [_random_rows(run, size, 8 if run.quick else samples)]
    rows += [composition_prompt(f, g, np.array(size - 1))[None] for f, g in extreme.values()]
    every = np.concatenate(rows)
    wrong = first_difference(task, model, every)
    evidence = exact_evidence(model)
    yield equal(
        f"tables: random, identity, constant, reversal and shift, {size} entries",
        f"equal on {len(every)} prompts",
        wrong,
        evidence,
    )
    s = min(size, 16)
    wrong = next(
        (
            w
            for row in _random_rows(run, s, 4)
            if (w := difference_over_q(task, task.build(s, 0), row))
        ),
        None,
    )
    yield equal(f"tables: over Q ({s} entries)", "equal on 4 prompts", wrong, "exact")
    wrong = register_difference(model, every[:8], task.registers(model, every[:8]))
    yield equal(
        "tables: registers hold what the proof says",
        "found after layer 1, answer after layer 2",
        wrong,
        evidence,
    )


def _states(model: SequenceModel, s: int) -> Iterator[States]:
    """All queries and keys: a value asks where f of it, or g of what was found, stands."""
    assert model.pos_embed is not None
    W_pos, W_E = model.pos_embed.W_pos.numpy()[: 2 * s], model.embed.W_E.numpy()
    keys = {name: W_pos[:, model.stream[name]] for name in ("place", "norm")}
    here = np.arange(2 * s)
    for layer, asks, reads, start in ((1, "first", "first", 0), (2, "second", "found", s)):
        wanted = np.where(here[:s, None] + start == here, 0.0, -np.inf)
        yield States(layer, {reads: W_E[:, model.stream[asks]]}, keys, wanted, here)
