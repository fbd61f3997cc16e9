"""The claim `modern-hopfield`: energy, convergence, retrieval and capacity of modern networks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np

from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, outputs
from verify.finding import Finding, Verdict

if TYPE_CHECKING:
    from constructions.memory.modern_hopfield import ModernHopfield

STEPS = (0, 1, 2, 5)


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
    from constructions.memory.modern_hopfield import modern_hopfield_update
    from verify.memory.modern_hopfield_bounds import regimes, separation_and_retrieval, small_beta
    from verify.memory.modern_hopfield_energy import energy
    from verify.memory.modern_hopfield_storage import storage
    from verify.memory.pruning import pruning_findings

    X, queries = run.rng.standard_normal((patterns, d)), run.rng.standard_normal((samples, d))
    models = {s: run.build(modern_hopfield_update, X, beta, s) for s in STEPS}
    yield _size(models, d)
    for steps, model in models.items():
        yield equals_definition(model, X, queries, beta, steps)
    yield _rounding(models, X, queries, beta)
    yield _updates_asked_for(run, d, patterns)
    yield _limit(run, d, patterns)
    yield from energy(run, patterns, d)
    yield from separation_and_retrieval(run)
    yield small_beta()
    yield from storage(run)
    yield regimes(run)
    yield from pruning_findings(run)
    if run.plot:
        from verify.memory.modern_hopfield_picture import draw

        draw(run.plot)


def _size(models: dict[int, ModernHopfield], d: int) -> Finding:
    sizes = {s: (m.n_layers, m.n_heads, m.d_model) for s, m in models.items()}
    return Finding(
        "size for " + ", ".join(map(str, STEPS)) + " updates",
        "exact",
        "; ".join(f"{layers} layers of {heads} head" for layers, heads, _ in sizes.values()),
        f"as many layers as updates, 1 head, width 3d = {3 * d}",
        Verdict.of(all(size == (s, min(s, 1), 3 * d) for s, size in sizes.items())),
    )


def equals_definition(
    model: ModernHopfield, X: np.ndarray, queries: np.ndarray, beta: float, steps: int
) -> Finding:
    """The transformer in balls and the definition in balls have a real number in common."""
    from verify.memory.hopfield_balls import BITS, WIDTH, definition, same, shown

    wanted = definition(X, queries, beta, steps)
    with Ball.precision(BITS):
        domain = Ball()
        tokens, N = model.tokens(queries)
        rows = outputs(model, domain.weights(tokens.numpy()), N, domain).tolist()[N:]
        pairs = [
            (got, want)
            for row, exact in zip(rows, wanted, strict=True)
            for got, want in zip(row, exact, strict=True)
        ]
        verdict = Verdict.together([same(got, want) for got, want in pairs])
        apart = next((pair for pair in pairs if not pair[0].overlaps(pair[1])), None)
        widest = max((abs(got - want).upper() for got, want in pairs), key=float)
        return Finding(
            f"the transformer is {steps} update{'s' * (steps != 1)} "
            f"({len(queries)} queries, {len(X)} patterns)",
            "enclosure",
            f"they differ by at most {shown(widest)}",
            f"balls overlap, radius below 2^{WIDTH}",
            verdict,
            ""
            if apart is None
            else f"patterns {X.tolist()}, queries {queries.tolist()}: "
            f"{shown(apart[0])} instead of {shown(apart[1])}",
        )


def _rounding(
    models: dict[int, ModernHopfield], X: np.ndarray, queries: np.ndarray, beta: float
) -> Finding:
    from verify.memory.hopfield_balls import definition, rounding_bound

    share, worst = 0.0, 0.0
    size = float(np.linalg.norm(queries, axis=1).max())
    for steps, model in models.items():
        wanted = np.array([[float(u) for u in xi] for xi in definition(X, queries, beta, steps)])
        errors = np.linalg.norm(model(queries).numpy() - wanted, axis=1)
        # `wanted` is itself rounded to float64.
        bound = rounding_bound(X, beta, steps, size) + 2.0**-53 * np.linalg.norm(wanted, axis=1)
        share = max(share, float((errors / bound).max()))
        worst = max(worst, float(bound.max()))
    return Finding(
        "the transformer in float64 (0, 1, 2, 5 updates)",
        "float",
        f"at most {share:.1%} of the bound",
        f"rounding, at most {worst:.1e}",
        Verdict.of(share <= 1),
    )


def _updates_asked_for(run: Run, d: int, N: int) -> Finding:
    """With `steps` = s the state is that after s updates, and neither after s − 1 nor s + 1."""
    from constructions.memory.modern_hopfield import modern_hopfield_update
    from verify.memory.hopfield_balls import definition, rounding_bound

    X, beta = slow_network(run.rng.standard_normal((N, d)))
    query = 3 * run.rng.standard_normal((1, d))
    size, wrong = float(np.linalg.norm(query)), ""
    for steps in range(4):
        got = run.build(modern_hopfield_update, X, beta, steps)(query).numpy()
        near = []
        for count in range(5):
            wanted = [[float(u) for u in xi] for xi in definition(X, query, beta, count)]
            bound = rounding_bound(X, beta, steps, size) + 2.0**-53 * np.linalg.norm(wanted)
            if np.linalg.norm(got - wanted) <= bound:
                near.append(count)
        if near != [steps]:
            wrong = wrong or f"{steps} updates asked for, the result is that of {near}"
    return Finding(
        "the number of updates is the one asked for (0 … 3)",
        "float",
        wrong or "neither one less nor one more",
        "steps",
        Verdict.of(not wrong),
    )


def slow_network(X: np.ndarray) -> tuple[np.ndarray, float]:
    """The patterns, one more opposite to the longest, and β = 1/M²: iterates stay well apart."""
    X = np.concatenate([X, -2 * X[[(X * X).sum(1).argmax()]]])
    return X, float(1 / (X * X).sum(1).max())


def _limit(run: Run, d: int, N: int) -> Finding:
    """Over Q, on whole numbers with many ties: the mean of the patterns of largest ⟨ξ, x_j⟩."""
    from flint import fmpq

    from constructions.memory.modern_hopfield import modern_hopfield_update

    domain, wrong, ties = Rational(), "", 0
    for _ in range(5):
        X = run.rng.integers(-2, 3, (N, d))
        queries = run.rng.integers(-2, 3, (5, d))
        model = run.build(modern_hopfield_update, X, 1.0).sharpened(None)
        tokens, _ = model.tokens(queries)
        rows = outputs(model, domain.weights(tokens.numpy()), N, domain).tolist()[N:]
        for query, got in zip(queries.tolist(), rows, strict=True):
            scores = [sum(a * b for a, b in zip(query, x, strict=True)) for x in X.tolist()]
            best = [x for x, s in zip(X.tolist(), scores, strict=True) if s == max(scores)]
            ties += len(best) > 1
            if got != [fmpq(sum(column), len(best)) for column in zip(*best, strict=True)]:
                wrong = f"patterns {X.tolist()}, query {query}: {got}"
    return Finding(
        "β → ∞ over Q (25 queries)",
        "exact",
        f"equal, {ties} with ties" if not wrong else "they differ",
        "the mean of the patterns with the largest inner product",
        Verdict.of(not wrong),
        wrong,
    )
