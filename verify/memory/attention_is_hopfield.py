"""The claim `attention-is-hopfield`: an attention head is one update of a modern Hopfield network.

Softmax takes no exact values, so equality is shown in two parts: the numbers that are normalised,
and those that are then averaged, are the same polynomials in the inputs (over Q); and balls around
what comes out overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from verify.claim import Run, claim, option
from verify.domains import Ball, Domain, Symbolic, outputs, streams
from verify.finding import Finding, Verdict
from verify.memory.modern_hopfield import equals_definition

if TYPE_CHECKING:
    from constructions.attention import Attention
    from constructions.memory.modern_hopfield import HopfieldAttention, ModernHopfield
    from constructions.transformer import Transformer

BETAS = (0.25, 3.0)  # of the two heads of one layer


@claim(
    source="[Ramsauer2021]; the identities and the counterexample: this module",
    draws=True,
    faults_seen=[{"d": 2, "patterns": 3}, {"d": 1, "patterns": 2}],
)
def attention_is_hopfield(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the keys", min=1)] = 3,
    patterns: Annotated[int, option("stored tokens", min=1)] = 6,
    beta: Annotated[float, option("sharpness β")] = 0.75,
) -> Iterator[Finding]:
    """Attention with values V = Y W_K W_V is one modern Hopfield update of the queries, then W_V.

    Its scores are β⟨ξ, k_j⟩ and it averages the keys k_j, as polynomial identities.  A head with a
    free W_V is hetero-associative: an update of its keys, and an affine map after it, cannot do
    what it does unless its keys are linearly independent.  Linear attention is the Hebb field.
    """
    from constructions.memory.modern_hopfield import hopfield_attention, modern_hopfield_update
    from verify.memory.torch_attention import (
        as_many_as_asked,
        layer_against_torch,
        update_against_torch,
    )

    X, queries = run.rng.standard_normal((patterns, d)), run.rng.standard_normal((4, d))
    weights = [run.rng.integers(-3, 4, shape) for shape in ((d + 1, d), (d + 2, d), (d, 2))]
    memory = run.build(modern_hopfield_update, X, beta)
    layer = run.build(hopfield_attention, *weights, beta)
    yield _memory_identity(memory, beta)
    yield _layer_identity(layer, weights, patterns, beta)
    yield equals_definition(memory, X, queries, beta, 1)
    yield _layer_in_balls(run, layer, weights, patterns, beta)
    yield update_against_torch(memory, X, queries, beta)
    yield layer_against_torch(run, layer, weights, patterns, beta)
    yield _two_heads(run, X, queries[:1])
    yield as_many_as_asked(run, X, queries[0])
    yield _free_values()
    yield _independent_keys(run)
    yield _linear_attention(memory)


def _symbols(width: int, columns: list[tuple[int, int]]) -> tuple[Symbolic, list[list[Any]]]:
    """A prompt of variables: token i has them in columns a ≤ k < b, (a, b) = columns[i], else 0."""
    domain = Symbolic([f"x{i}_{k}" for i, (a, b) in enumerate(columns) for k in range(a, b)])
    variables, zero = iter(domain.variables), domain.number(0)
    tokens = [[next(variables) if a <= k < b else zero for k in range(width)] for a, b in columns]
    return domain, tokens


def _scores_and_values(
    model: Transformer, tokens: Any, N: int, domain: Domain
) -> tuple[list[list[Any]], list[list[Any]]]:
    """What the first layer normalises, and what it averages, as written into the stream."""
    H = next(streams(model, tokens, N, domain))
    attn: Attention = model.blocks[0].attn  # type: ignore[assignment]
    W_Q, W_K, W_V, W_O = (
        domain.weights(getattr(attn, name)[0].numpy()) for name in ("W_Q", "W_K", "W_V", "W_O")
    )
    asking, answering = domain.matrix(H.tolist()[N:]), domain.matrix(H.tolist()[:N])
    scale = domain.number(*attn.scale.as_integer_ratio())
    scores = (scale * (asking * W_Q)) * (answering * W_K).transpose()
    values = answering * W_V * W_O
    no_bias = not attn.b_Q.any() and not attn.b_K.any()
    return scores.tolist() if no_bias else [], values.tolist()


def _dot(a: Any, b: Any, zero: Any) -> Any:
    return sum((u * v for u, v in zip(a, b, strict=True)), zero)


def _memory_identity(model: ModernHopfield, beta: float) -> Finding:
    """Scores β⟨ξ, x_j⟩ and averaged x_j, for all patterns x_j and all states ξ."""
    N, d = model.patterns.shape
    domain, tokens = _symbols(2 * d, [(0, d)] * N + [(d, 2 * d)])
    scores, values = _scores_and_values(model, domain.matrix(tokens), N, domain)
    zero, scale = domain.number(0), domain.number(*beta.as_integer_ratio())
    xi = tokens[N][d:]
    found = model.stream["found"]
    wanted = [
        [row[k - found.start] if found.start <= k < found.stop else zero for k in range(3 * d)]
        for row in tokens[:N]
    ]
    equal = scores == [[scale * _dot(xi, x[:d], zero) for x in tokens[:N]]] and values == wanted
    return Finding(
        f"modern_hopfield_update: what softmax is given ({N} patterns, d = {d})",
        "identity",
        f"scores are β⟨ξ, x_j⟩, averages are of x_j in {(N + 1) * d} variables"
        if equal
        else "they differ",
        "β⟨ξ, x_j⟩ and x_j",
        Verdict.of(equal),
    )


def _layer_identity(
    model: HopfieldAttention, weights: list[np.ndarray], N: int, beta: float
) -> Finding:
    """Scores β⟨r W_Q, y_j W_K⟩ and averaged y_j W_K W_V, for all y_j and r."""
    W_Q, W_K, W_V = weights
    d_r, d_y = len(W_Q), len(W_K)
    domain, tokens = _symbols(d_y + d_r, [(0, d_y)] * N + [(d_y, d_y + d_r)])
    scores, values = _scores_and_values(model, domain.matrix(tokens), N, domain)
    Y = domain.matrix([row[:d_y] for row in tokens[:N]])
    R = domain.matrix([tokens[N][d_y:]])
    keys = Y * domain.weights(W_K)
    state = R * domain.weights(W_Q)
    wanted = (domain.number(*beta.as_integer_ratio()) * state) * keys.transpose()
    found, zero = model.stream["found"], domain.number(0)
    carried = (keys * domain.weights(W_V)).tolist()
    equal = (
        scores == wanted.tolist()
        and [row[found] for row in values] == carried
        and all(entry == zero for row in values for entry in row[: found.start])
    )
    attn: Attention = model.blocks[0].attn  # type: ignore[assignment]
    same = bool((attn.W_K == attn.W_V).all())
    return Finding(
        f"hopfield_attention: what softmax is given ({N} tokens, d_k = {W_K.shape[1]})",
        "identity",
        "scores and averages are those of keys, read out by W_V"
        if equal and same
        else "they differ",
        "β⟨r W_Q, y_j W_K⟩ and y_j W_K W_V; the value matrix is the key matrix",
        Verdict.of(equal and same),
    )


def _layer_in_balls(
    run: Run, model: HopfieldAttention, weights: list[np.ndarray], N: int, beta: float
) -> Finding:
    """The layer's output, and f(r W_Q) of the keys times W_V, both in balls."""
    from verify.memory.hopfield_balls import BITS, WIDTH, Network, exactly, inner, same

    W_Q, W_K, W_V = weights
    # Whole numbers over 8: projections are exact in float64 too.
    Y = run.rng.integers(-9, 10, (N, len(W_K))) / 8
    R = run.rng.integers(-9, 10, (3, len(W_Q))) / 8
    tokens, _ = model.tokens(Y, R)
    with Ball.precision(BITS):
        domain = Ball()
        rows = outputs(model, domain.weights(tokens.numpy()), N, domain).tolist()[N:]
        network = Network(Y @ W_K, beta)
        columns = exactly(W_V.T.astype(float))
        verdicts = [
            same(got, inner(network.update(exactly(state)), column))
            for state, row in zip(R @ W_Q, rows, strict=True)
            for got, column in zip(row, columns, strict=True)
        ]
    return Finding(
        f"hopfield_attention is one update of its keys, then W_V ({N} tokens)",
        "enclosure",
        "equal" if set(verdicts) == {Verdict.HOLDS} else "they differ",
        f"balls overlap, radius below 2^{WIDTH}",
        Verdict.together(verdicts),
    )


def two_heads(d: int, betas: tuple[float, float]) -> Transformer:
    """A layer of two heads, each with its own β: it multiplies that head's query."""
    from constructions.assembly import Head, block, embed, unembed
    from constructions.stream import Stream
    from constructions.transformer import Transformer

    stream = Stream(pattern=d, state=d, first=d, second=d)
    pattern, state, first, _ = map(stream.read, stream)
    heads = [
        Head(beta * state, pattern, pattern, name)
        for beta, name in zip(betas, ("first", "second"), strict=True)
    ]
    return Transformer(
        embed(stream, pattern={"pattern": 1.0}, state={"state": 1.0}),
        [block(stream, heads, normalise="softmax", mask="examples")],
        unembed(stream, first),
        stream=stream,
        name="two heads",
        source="[Ramsauer2021]",
    )


def _two_heads(run: Run, X: np.ndarray, queries: np.ndarray) -> Finding:
    """Each head is the update at its own β, and not the one at the other's."""
    from verify.memory.hopfield_balls import BITS, Network, exactly, same

    # A pattern more: the update of one pattern does not depend on β.
    X = np.concatenate([X, run.rng.standard_normal((1, X.shape[1]))])
    N, d = X.shape
    model = run.build(two_heads, d, BETAS)
    tokens = np.zeros((N + 1, 2 * d))
    tokens[:N, :d], tokens[N:, d:] = X, queries
    with Ball.precision(BITS):
        domain = Ball()
        *_, H = streams(model, domain.weights(tokens), N, domain)
        state = H.tolist()[N]
        updates = [Network(X, beta).update(exactly(queries[0])) for beta in BETAS]
        own, confused = [], False
        for name, mine, other in zip(("first", "second"), updates, updates[::-1], strict=True):
            held = state[model.stream[name]]
            own += [same(a, b) for a, b in zip(held, mine, strict=True)]
            confused |= all(a.overlaps(b) for a, b in zip(held, other, strict=True))
    holds = set(own) == {Verdict.HOLDS} and not confused
    return Finding(
        f"two heads with β = {BETAS[0]:g} and {BETAS[1]:g}",
        "enclosure",
        "each is the update at its own β and not at the other's" if holds else "they are not",
        "its own update",
        Verdict.FAILS if confused else Verdict.together(own),
    )


def _free_values() -> Finding:
    """Keys −1, 0, 1 with values 0, 1, 0.

    At e^{βξ} = t the weights are (1/t, 1, t)/(1/t + 1 + t).  The update of the keys is odd in ξ for
    any β and any number of updates, so an affine map of it whose values are even in ξ is constant;
    the head's output is even, and 1/3 at t = 1 but 2/7 at t = 2.
    """
    from flint import fmpq, fmpq_mat

    def head(t: Fraction) -> tuple[Fraction, Fraction]:
        total = 1 / t + 1 + t
        return (t - 1 / t) / total, 1 / total  # the mean of the keys, and of the values

    points = (Fraction(1, 2), Fraction(1), Fraction(2))
    table = [(*head(t), Fraction(1)) for t in points]
    # mean of values = a·(mean of keys) + c, in unknown a and c.
    unknown = fmpq_mat([[fmpq(*k.as_integer_ratio()), 1] for k, _, _ in table])
    with_values = fmpq_mat(
        [[fmpq(*k.as_integer_ratio()), 1, fmpq(*v.as_integer_ratio())] for k, v, _ in table]
    )
    ranks = unknown.rank(), with_values.rank()
    (low, one), (_, other), (high, two) = (head(t) for t in points)
    odd_and_even = low == -high and one == two and other != two
    return Finding(
        "a free W_V: keys −1, 0, 1 and values 0, 1, 0",
        "exact",
        f"no affine map of an update: ranks {ranks[0]} < {ranks[1]}, outputs {other} and {two}",
        "not an update of the keys",
        Verdict.of(ranks == (2, 3) and odd_and_even),
    )


def _independent_keys(run: Run) -> Finding:
    """K of independent rows: V = K·(Kᵀ(KKᵀ)⁻¹V), so every V factors through the keys."""
    from flint import fmpq_mat

    while True:
        keys = run.rng.integers(-3, 4, (3, 5)).tolist()
        K = fmpq_mat(keys)
        if K.rank() == 3:
            break
    V = fmpq_mat(run.rng.integers(-3, 4, (3, 2)).tolist())
    W_V = K.transpose() * (K * K.transpose()).inv() * V
    return Finding(
        "a free W_V where keys are linearly independent (3 keys, d_k = 5)",
        "exact",
        "V = K W_V has a solution W_V",
        "the head is an update of its keys",
        Verdict.of(K * W_V == V),
    )


def _linear_attention(model: ModernHopfield) -> Finding:
    """The same tensors without softmax: Σ_j ⟨ξ, x_j⟩ x_j, the field of the Hebb rule (times d)."""
    linear = deepcopy(model)
    linear.blocks[0].attn.normalise = "linear"  # type: ignore[union-attr]
    linear.blocks[0].attn.scale = 1.0  # type: ignore[union-attr]
    N, d = model.patterns.shape
    domain, tokens = _symbols(2 * d, [(0, d)] * N + [(d, 2 * d)])
    got = outputs(linear, domain.matrix(tokens), N, domain).tolist()[N]
    zero, xi, X = domain.number(0), tokens[N][d:], [row[:d] for row in tokens[:N]]
    hebb = [[_dot((x[a] for x in X), (x[b] for x in X), zero) for b in range(d)] for a in range(d)]
    equal = got == [_dot(row, xi, zero) for row in hebb]
    return Finding(
        f"without softmax it is the Hebb field Wξ, W = Σ_j x_j x_jᵀ ({N} patterns, d = {d})",
        "identity",
        "equal" if equal else "they differ",
        "Σ_j ⟨ξ, x_j⟩ x_j",
        Verdict.of(equal),
    )
