"""The claim `modern-hopfield`: energy, convergence, retrieval and capacity of modern networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import numpy as np
from flint import fmpq

from constructions import modern_hopfield_update
from constructions.transformer import Transformer
from verify.claim import Run, claim, option
from verify.domains import Rational, outputs
from verify.evidence.size import size
from verify.finding import Finding, labelled, no_counterexample, within_bounds
from verify.memory.modern_hopfield_bounds import regimes, separation_and_retrieval, small_beta
from verify.memory.modern_hopfield_energy import energy
from verify.memory.modern_hopfield_retrieve import in_float32, pruning
from verify.memory.modern_hopfield_storage import storage
from verify.memory.updates import (
    equals_definition,
    in_floats,
    numbers_of_updates,
    slow_network,
)

STEPS = (0, 1, 2, 5)


@claim(
    picture="verify.memory.modern_hopfield_picture:draw",
    faults_seen=[{"d": 2, "n_patterns": 3, "samples": 2}, {"d": 1, "n_patterns": 1, "samples": 2}],
)
def modern_hopfield(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the patterns", min=1, max=1000)] = 4,
    n_patterns: Annotated[int, option("number of stored patterns", min=1, max=1000)] = 8,
    beta: Annotated[float, option("inverse temperature β", max=1e100)] = 4.0,
    samples: Annotated[int, option("number of queries of the transformer", min=1, max=10**4)] = 8,
) -> Iterator[Finding]:
    """f(ξ) = Xᵀsoftmax(βXξ) lowers the energy by at least ½‖f(ξ) − ξ‖², and its distances to
    patterns and to fixed points satisfy the bounds of [Ramsauer2021].

    The N rows of X are the patterns, f(ξ) is the update of a state ξ in a modern Hopfield network,
    and Δξ = f(ξ) − ξ. The energy is ½‖ξ‖² − ln(Σ_i e^{β⟨x_i, ξ⟩})/β for the patterns x_i, up to a
    constant. Let p be the weights softmax(βXξ) before the update, and p′ the weights after the
    update. An update lowers the energy by exactly ½‖Δξ‖² + KL(p ‖ p′)/β.  A transformer layer with
    one softmax head, whose values equal its keys, computes one update.  Theorem 3 of [Ramsauer2021]
    is on the number of patterns that can be stored. Theorem 4 bounds the factor by which an update
    reduces the distance to a fixed point. Theorem 5 and Lemma A4 bound the distance of an updated
    state from a pattern. Rigorous intervals for both sides of the inequalities of Theorems 4 and 5
    and of Lemma A4 are computed. The factor 2N of Theorem 4 can be replaced by 4.  If each pattern
    is sufficiently separated from the others, f has exactly one fixed point in a small ball around
    each pattern.  At small β all patterns share one fixed point, although Theorem 3 counts the
    patterns as stored.  In the two examples of [Ramsauer2021], Theorem 3 guarantees 7.4 and 11
    patterns, and a union bound over pairs of patterns guarantees 341 and 13504.
    """
    X, queries = run.rng.standard_normal((n_patterns, d)), run.rng.standard_normal((samples, d))
    models = {s: run.build(modern_hopfield_update, X, beta, s) for s in STEPS}
    for steps, model in models.items():
        stated = size(model, "modern-hopfield", d=d, k=steps)
        found = [stated, equals_definition(model, X, queries, beta, steps)]
        yield from labelled(f"steps={steps}", found)
    yield _rounding(models, X, queries, beta)
    yield _number_of_updates(run, d, n_patterns)
    yield _limit(run, d, n_patterns)
    yield from labelled("energy", energy(run, n_patterns, d))
    yield from separation_and_retrieval(run)
    yield small_beta()
    yield from labelled("storage", storage(run))
    yield from regimes(run)
    yield from pruning(run)
    yield in_float32(run)
    run.draw()


def _rounding(
    models: dict[int, Transformer], X: np.ndarray, queries: np.ndarray, beta: float
) -> Finding:
    errors, bounds = [], []
    for steps, model in models.items():
        wanted, bound = in_floats(X, queries, beta, steps)
        errors.append(np.linalg.norm(model(queries).numpy() - wanted, axis=1))
        bounds.append(bound)
    worst = float(np.max(bounds))
    fraction = float(np.max(np.divide(errors, bounds))) if np.isfinite(worst) else np.nan
    made = ", ".join(map(str, models))
    name = f"float64 error of the transformer as a fraction of its rounding bound ({made} updates)"
    words = f"at most {fraction:.1%} of the bound, which is at most {worst:.1e}"
    return within_bounds("float", name, "float", fraction, words=words, wanted="at most 100%")


def _number_of_updates(run: Run, d: int, N: int) -> Finding:
    """With `steps` = s the output is the state after exactly s updates."""
    X, beta = slow_network(run.rng.standard_normal((N, d)))
    query = 3 * run.rng.standard_normal((1, d))
    results, bounds = zip(*(in_floats(X, query, beta, steps) for steps in range(5)), strict=True)
    name = "number of updates that give the output of the model, for steps = 0, 1, 2, 3"
    return numbers_of_updates(run, "steps", name, (X, beta), results, bounds[:4])


def _limit(run: Run, d: int, N: int) -> Finding:
    """For β → ∞ the output is the mean of the patterns with the largest ⟨ξ, x_j⟩.

    This is checked over Q, for integers with many ties.
    """
    integers = run.rng.integers
    drawn = [(integers(-2, 3, (N, d)), integers(-2, 3, (5, d))) for _ in range(5)]
    scores = np.stack([queries @ X.T for X, queries in drawn])
    best = scores == scores.max(axis=-1, keepdims=True)

    def wrong() -> Iterator[str]:
        for (X, queries), nearest in zip(drawn, best, strict=True):
            model = run.build(modern_hopfield_update, X, 1.0).sharpened(None)
            answers = outputs(model, model.prompt(queries), Rational()).tolist()
            for query, at, got in zip(queries.tolist(), nearest, answers, strict=True):
                rows = X[at].tolist()
                if got != [fmpq(sum(column), len(rows)) for column in zip(*rows, strict=True)]:
                    yield f"patterns {X.tolist()}, query {query}: {got}"

    name = "output of the transformer with β → ∞, over Q (25 queries)"
    ties = int((best.sum(-1) > 1).sum())
    words = (
        f"the mean of the patterns with the largest inner product with the query; {ties} queries "
    )
    words += "have ties"
    return no_counterexample("limit", name, wrong(), words=words)
