"""The claim `modern-hopfield`: energy, convergence, retrieval and capacity of modern networks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np
from flint import arb, fmpq

from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, outputs
from verify.evidence.enclosure import BITS, exactly, interval
from verify.evidence.size import size
from verify.finding import Finding, Verdict, at_most, equal, labelled
from verify.memory.modern_hopfield_bounds import regimes, separation_and_retrieval, small_beta
from verify.memory.modern_hopfield_energy import energy
from verify.memory.modern_hopfield_storage import storage
from verify.memory.updates import (
    as_many_as_asked,
    definition,
    equals_definition,
    in_floats,
    slow_network,
)
from verify.memory.vectors import inner, minus, norm

if TYPE_CHECKING:
    from constructions.transformer import Transformer

STEPS = (0, 1, 2, 5)
COUNT, QUERIES, DIMENSION, SHARPNESS = 2048, 64, 8, 20.0  # of what `retrieve` prunes


@claim(
    source="[Ramsauer2021, Theorems 1–5, Lemma A4]; descent and regimes: this claim's modules",
    draws=True,
    faults_seen=[{"d": 2, "patterns": 3, "samples": 2}, {"d": 1, "patterns": 1, "samples": 2}],
)
def modern_hopfield(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the patterns", min=1)] = 4,
    patterns: Annotated[int, option("stored patterns", min=1)] = 8,
    beta: Annotated[float, option("sharpness β")] = 4.0,
    samples: Annotated[int, option("queries of the transformer", min=1)] = 8,
) -> Iterator[Finding]:
    """f(ξ) = Xᵀsoftmax(βXξ) lowers the energy by at least ½‖f(ξ) − ξ‖² and retrieves within bounds.

    The exact drop is ½‖Δξ‖² + KL(p ‖ p′)/β.  A transformer layer of one softmax head is one update.
    Theorems 4 and 5 and Lemma A4 are enclosed, and the factor 2N of Theorem 4 is seen to be 4 at
    most.  The separation condition makes one fixed point of each pattern's ball, but at small β one
    and the same for all patterns, where Theorem 3 still counts them as stored.  In the two examples
    printed with it Theorem 3 guarantees 7.4 and 11 patterns, a union bound 341 and 13504.
    """
    from constructions import modern_hopfield_update

    X, queries = run.rng.standard_normal((patterns, d)), run.rng.standard_normal((samples, d))
    models = {s: run.build(modern_hopfield_update, X, beta, s) for s in STEPS}
    for steps, model in models.items():
        stated = size(model, "modern-hopfield", d=d, steps=steps)
        found = [stated, equals_definition(model, X, queries, beta, steps)]
        yield from labelled(f"steps={steps}", found)
    yield _rounding(models, X, queries, beta)
    yield _updates_asked_for(run, d, patterns)
    yield _limit(run, d, patterns)
    yield from labelled("energy", energy(run, patterns, d))
    yield from separation_and_retrieval(run)
    yield small_beta()
    yield from labelled("storage", storage(run))
    yield from regimes(run)
    yield from _pruning(run)
    if run.plot:
        from verify.memory.modern_hopfield_picture import draw

        draw(run.plot)


def _rounding(
    models: dict[int, Transformer], X: np.ndarray, queries: np.ndarray, beta: float
) -> Finding:
    shares, bounds = [], []
    for steps, model in models.items():
        wanted, bound = in_floats(X, queries, beta, steps)
        shares.append(np.linalg.norm(model(queries).numpy() - wanted, axis=1) / bound)
        bounds.append(bound)
    share, worst = float(np.max(shares)), float(np.max(bounds))
    name = f"the transformer in float64 ({', '.join(map(str, models))} updates)"
    words = f"at most {share:.1%} of the bound, which is at most {worst:.1e}"
    return at_most("float", name, "float", share, 1.0, words=words)


def _updates_asked_for(run: Run, d: int, N: int) -> Finding:
    """With `steps` = s the state is that after s updates, and neither after s − 1 nor s + 1."""
    X, beta = slow_network(run.rng.standard_normal((N, d)))
    query = 3 * run.rng.standard_normal((1, d))
    results, bounds = zip(*(in_floats(X, query, beta, steps) for steps in range(5)), strict=True)
    name = "the number of updates is the one asked for, neither one less nor one more"
    return as_many_as_asked(run, "steps", name, (X, beta), results, bounds[:4])


def _limit(run: Run, d: int, N: int) -> Finding:
    """Over Q, on whole numbers with many ties: the mean of the patterns of largest ⟨ξ, x_j⟩."""
    from constructions import modern_hopfield_update

    wrong, ties = None, 0
    for _ in range(5):
        X, queries = run.rng.integers(-2, 3, (N, d)), run.rng.integers(-2, 3, (5, d))
        model = run.build(modern_hopfield_update, X, 1.0).sharpened(None)
        answers = outputs(model, model.prompt(queries), Rational()).tolist()
        for query, got in zip(queries.tolist(), answers, strict=True):
            scores = [inner(query, x) for x in X.tolist()]
            best = X[np.array(scores) == max(scores)].tolist()
            ties += len(best) > 1
            if got != [fmpq(sum(column), len(best)) for column in zip(*best, strict=True)]:
                wrong = f"patterns {X.tolist()}, query {query}: {got}"
    name = "β → ∞ over Q (25 queries)"
    words = f"the mean of the patterns with the largest inner product, {ties} times of several"
    return equal("limit", name, wrong, words=words)


def _pruning(run: Run) -> Iterator[Finding]:
    """The distance of pruned updates from the exact ones, in balls, under the tolerance.

    All patterns but one lie just outside the window and on the same side: the weight that is left
    out is as large as it can be, so the bound is nearly met, and an error below a quarter of it
    means that nothing was left out.
    """
    from constructions import retrieve

    for tolerance in (1e-2, 1e-5) if run.quick else (1e-2, 1e-5, 1e-8):
        patterns, queries = _worst_case(run.rng, tolerance)
        found = retrieve(patterns, queries, SHARPNESS, tolerance=tolerance).numpy()
        with Ball.precision(BITS):
            # The states differ where all patterns are 0: they have one update.
            (exact,) = definition(patterns, queries[:1], SHARPNESS, 1)
            longest, error = max(map(norm, exactly(patterns)), key=float), arb(0)
            for row in exactly(found):
                error = error.max(norm(minus(row, exact)))
            share = error / longest / tolerance
        id, case = f"pruning/{tolerance:g}", f"worst case of {COUNT} patterns, {QUERIES} states"
        name = f"retrieve: error of pruning at tolerance {tolerance:g}, {case}"
        verdict = Verdict.of(bool(0.25 < share <= 1))
        words = f"{float(share.upper()):.0%} of the bound"
        wanted = "tolerance · max‖x‖, and above a quarter of it"
        yield Finding(id, name, "enclosure", interval(share), (0.25, 1.0), verdict, words, wanted)


def _worst_case(rng: np.random.Generator, tolerance: float) -> tuple[np.ndarray, np.ndarray]:
    """Patterns (N, d) and states (m, d), scores 1 once and else just below the window.

    The states differ where all patterns are 0.
    """
    window = math.log(2 * COUNT / tolerance) / SHARPNESS
    patterns, states = np.zeros((COUNT, DIMENSION)), np.zeros((QUERIES, DIMENSION))
    patterns[:, 0], patterns[:, 1] = 1 - window - 1e-9, -1.0
    patterns[rng.integers(COUNT // 2), :2] = 1.0
    states[:, 0], states[:, 2:] = 1.0, rng.standard_normal((QUERIES, DIMENSION - 2))
    return patterns, states
