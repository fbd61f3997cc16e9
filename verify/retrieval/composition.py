"""The claim `composition`: two successive lookups in tables, and in facts in English."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Annotated

import numpy as np

from constructions import composition as construction
from constructions.transformer import Transformer
from theory.retrieval import composition as definition
from theory.retrieval import composition_prompt
from verify.claim import Run, claim, option
from verify.evidence.gaps import States, at_tokens, gap_finding, looking_up
from verify.evidence.sequences import answers_equal, equal_over_q, margin_kept, registers_hold
from verify.evidence.size import bits, size
from verify.evidence.softmax import softmax, softmax_options
from verify.evidence.statement import OverTokens
from verify.finding import Finding, labelled
from verify.retrieval.facts import example, fact_findings, gaps, on_words
from verify.retrieval.options import DRAWN, LogitError, Sharpness


@claim(
    picture="verify.retrieval.pictures:draw",
    faults_seen=[{"n_points": s, "samples": 8, "texts": 8} for s in (4, 2)],
)
def composition(
    run: Run,
    *,
    n_points: Annotated[int, option("points of f and g", min=1, max=1000, only=DRAWN)] = 64,
    samples: Annotated[int, option("random pairs of tables", min=1, max=10**5, only=DRAWN)] = 200,
    texts: Annotated[int, option("random texts of facts", min=1, max=10**5, only=DRAWN)] = 200,
    error: LogitError = 1e-3,
    sharpness: Sharpness = None,
    prompt: Annotated[str | None, option("facts and a question in English")] = None,
) -> Iterator[Finding]:
    """Two layers of one unique-hard head each output g(f(x)), for all maps f, g of s points and all
    x.

    f and g are maps of {0, …, s − 1} to itself. The prompt is the sequence f(0), …, f(s − 1), g(0),
    …, g(s − 1), x. The width of the model is 11 for every s. A second model has four layers with at
    most three heads each. Its prompt is a text of facts in English, followed by a question such as
    "What is the profession of John's mother?". The second model answers questions whose answer
    follows from one or two of the facts. If several facts have the same subject and relation, the
    latest fact counts.
    """
    if prompt is not None:
        run.has_no_files("--prompt")
        yield on_words(run, prompt)
        return
    statement = tables(run)
    model = statement.at(n_points, 0).model
    softmax_options(statement, model, error, sharpness)
    yield from labelled(statement.label, _tables(run, statement, n_points, samples))
    for states in head_states(model, n_points):
        yield gap_finding(statement.label, model, states)
    yield from softmax(run, statement, n_points, 1, error, sharpness, rows=_random_rows)
    yield from labelled("facts", fact_findings(run, texts))
    yield from gaps(run)
    run.draw(*example(run))


def tables(run: Run) -> OverTokens:
    """The statement that the model outputs g(f(v)) at every token v of the prompt.

    f and g are maps of {0, …, s − 1} to itself, where s is the number V of symbols.
    """

    def answers(tokens: np.ndarray) -> np.ndarray:
        f, g = np.split(tokens[..., :-1], 2, axis=-1)
        return np.stack([definition(f, g, v) for v in np.moveaxis(tokens, -1, 0)], axis=-1)

    return OverTokens("tables", lambda s, _: run.build(construction, s), answers)


def _random_rows(run: Run, s: int, samples: int) -> np.ndarray:
    f, g = run.rng.integers(0, s, (2, samples, s))
    return composition_prompt(f, g, run.rng.integers(0, s, samples))


def _tables(run: Run, statement: OverTokens, s: int, samples: int) -> Iterator[Finding]:
    """Yields findings over Q on all small tables, on random and special tables, and on stages."""
    model, here = statement.at(s, 0).model, np.arange(s)
    yield size(model, "composition", bits(model, s, "s"), s=s)
    most = 2 if run.quick else 3
    small = [
        (statement.at(t, 0).model, np.array([*product(range(t), repeat=2 * t + 1)]))
        for t in range(1, most + 1)
    ]
    yield answers_equal(
        "all-small", f"all pairs of tables of at most {most} entries", statement, small
    )
    names = "pairs of random, identity, constant, reversal and shift"
    back, shift = here[::-1], (here + 1) % s
    extreme = (here, here), (0 * here, here), (back, back), (shift, shift)
    tables = [composition_prompt(f, g, np.array(s - 1)) for f, g in extreme]
    every = np.concatenate([_random_rows(run, s, run.limited(8, samples=samples)), tables])
    yield answers_equal("large", f"{names} tables of {s} entries", statement, [(model, every)])
    yield margin_kept(statement, [*small, (model, every[:64])])
    t = min(s, 16)
    smaller, rows = statement.at(t, 0).model, _random_rows(run, t, 4)
    yield equal_over_q(statement, smaller, rows, f"({t} entries)")
    yield registers_hold(statement, model, every[:8], f"({s} entries)")


def head_states(model: Transformer, s: int) -> Iterator[States]:
    """All queries and keys of the two heads of a `composition` model for maps f, g of s points.

    Token v queries the position of f(v) in layer 1, and the position of g(f(v)) in layer 2.
    """
    here, entries = np.arange(s), slice(model.interface.n_examples)
    yield looking_up(model, 1, at_tokens(model, "first"), here, at=entries)
    found = {"found": at_tokens(model, "second")["second"]}
    yield looking_up(model, 2, found, s + here, at=entries)
