"""The claim `attention-is-hopfield`: an attention head is one update of a modern Hopfield network.

Softmax cannot be computed exactly, so equality is checked in two parts.  First, the scores that are
normalised and the values that are averaged are the same polynomials in the inputs.  Second,
enclosures of the outputs overlap.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Annotated, Any

import numpy as np
import torch
from flint import fmpq, fmpq_mat
from torch import Tensor

from constructions import modern_hopfield_update
from constructions.assembly import Head, block, embed, unembed
from constructions.call import construction
from constructions.memory import hopfield_attention
from constructions.stream import Stream
from constructions.transformer import Transformer
from constructions.vectors import Memory
from theory import machine
from theory.balls import exactly, inner, minus, norm
from theory.kinds import Positive
from theory.memory.hopfield_balls import ModernNetwork
from theory.memory.kinds import PatternVectors
from verify.claim import Run, claim, option
from verify.domains import Ball, Symbolic, outputs, streams, written
from verify.evidence.enclosure import BITS, WIDTH, coincide, interval
from verify.evidence.size import size
from verify.finding import Finding, at_least, equal, same
from verify.memory.updates import (
    equals_definition,
    layer_against_torch,
    update_against_torch,
    updates_against_torch,
)

BETAS = (0.25, 3.0)  # inverse temperatures of the two heads of one layer
Matrix = list[list[Any]]
Pair = tuple[Matrix, Matrix]


@claim(
    faults_seen=[{"d": 2, "n_patterns": 3}, {"d": 1, "n_patterns": 2}],
)
def attention_is_hopfield(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the keys", min=1, max=200)] = 3,
    n_patterns: Annotated[int, option("number of stored tokens", min=1, max=200)] = 6,
    beta: Annotated[float, option("inverse temperature β", max=1e100)] = 0.75,
) -> Iterator[Finding]:
    """Attention with values V = Y W_K W_V is one modern Hopfield update of the queries, times W_V.

    The rows of Y are the stored tokens, and W_Q, W_K and W_V are weight matrices. The keys k_j are
    the rows of Y W_K. One modern Hopfield update maps a query ξ to the average of the patterns k_j
    with the weights softmax(β⟨ξ, k_j⟩). Two polynomial identities are checked: the scores of the
    head are β⟨ξ, k_j⟩, and its output is a weighted average of the keys k_j, times W_V. A head with
    arbitrary values is hetero-associative: in general its output is not an affine function of the
    query after any number of updates with the keys as patterns. For example, it is not affine for
    the keys −1, 0, 1 with the values 0, 1, 0. If the keys are linearly independent, the output is
    an affine function of the query after one update. Linear attention computes the fields (weighted
    sums of the neurons) of the Hopfield network that stores the keys under Hebb's rule.
    """
    # For N patterns, the d² entries of Hebb's weights have N monomials in Nd variables; the largest
    # objects measure 8 bytes for each exponent of these monomials.
    machine.fits_in_memory(
        f"polynomials in {(n_patterns + 1) * d} variables",
        8 * n_patterns**2 * d**3,
        "give fewer patterns or a smaller d",
    )
    X, queries = run.rng.standard_normal((n_patterns, d)), run.rng.standard_normal((4, d))
    weights = [run.rng.integers(-3, 4, shape) for shape in ((d + 1, d), (d + 2, d), (d, 2))]
    # All entries are integer multiples of 1/8, so projections are exact in float64 too.
    Y, R = (run.rng.integers(-9, 10, (m, d + k)) / 8 for m, k in ((n_patterns, 2), (5, 1)))
    memory = run.build(modern_hopfield_update, X, beta)
    layer = run.build(hopfield_attention, *weights, beta)
    yield size(layer, "attention-is-hopfield", r=d + 1, y=d + 2, k=d, v=2)
    yield from _identities(memory, layer, weights, n_patterns, d, beta)
    yield _keys_are_values(layer)
    yield equals_definition(memory, X, queries, beta, 1)
    yield _layer_in_balls(layer, weights, Y, R[:3], beta)
    yield update_against_torch(memory, X, queries, beta)
    yield layer_against_torch(layer, weights, Y, R, beta)
    yield from _two_heads(run, X, queries[:1])
    yield updates_against_torch(run, X, queries[:1])
    yield _free_values()
    yield _independent_keys(run)
    yield _linear_attention(memory, n_patterns, d)


def _symbols(*shapes: tuple[int, int]) -> tuple[Symbolic, list[Matrix]]:
    """A number system of polynomials, and matrices of these shapes with variables as entries."""
    names = [f"x{k}_{i}_{j}" for k, (n, m) in enumerate(shapes) for i in range(n) for j in range(m)]
    domain = Symbolic(names)
    left = iter(domain.variables)
    return domain, [[[next(left) for _ in range(m)] for _ in range(n)] for n, m in shapes]


def _identities(
    memory: Transformer, layer: Transformer, weights: list[np.ndarray], N: int, d: int, beta: float
) -> Iterator[Finding]:
    """The identities for all patterns x_j and all states ξ, and for all y_j and r."""
    domain, (X, xi) = _symbols((N, d), (1, d))
    scale = domain.number(*beta.as_integer_ratio())
    sizes = f"{N} patterns, d = {d}, {(N + 1) * d} variables"
    name = (
        f"scores and values of modern_hopfield_update, as polynomials in the state ξ and the "
        f"patterns x_j ({sizes})"
    )
    words = "the scores equal β⟨ξ, x_j⟩, and the values equal x_j"
    wanted = [[scale * inner(xi[0], x) for x in X]], X
    yield _scores_and_values("update/softmax", name, memory, domain, (xi, X), wanted, words)
    W_Q, W_K, W_V = weights
    domain, (Y, R) = _symbols((N, len(W_K)), (1, len(W_Q)))
    keys, states = domain.matrix(Y) * domain.weights(W_K), domain.matrix(R) * domain.weights(W_Q)
    scores = domain.number(*beta.as_integer_ratio()) * states * keys.transpose()
    sizes = f"{N} tokens, d_k = {W_K.shape[1]}"
    name = (
        "scores and values of hopfield_attention, as polynomials in the state r and the tokens y_j "
        f"({sizes})"
    )
    words = "the scores equal β⟨r W_Q, y_j W_K⟩, and the values equal y_j W_K W_V"
    wanted = scores.tolist(), (keys * domain.weights(W_V)).tolist()
    yield _scores_and_values("layer/softmax", name, layer, domain, (Y, R), wanted, words)


def _scores_and_values(
    id: str,
    name: str,
    model: Transformer,
    domain: Symbolic,
    given: Pair,
    wanted: Pair,
    words: str,
) -> Finding:
    """The first layer has the wanted scores and, in `found`, the wanted values; others are 0."""
    prompt = written(model, domain, *given)
    attn, H = model.blocks[0].attn, next(streams(model, prompt, domain)).tolist()
    assert attn is not None
    queries, context = domain.matrix(H[prompt.answers]), domain.matrix(H[: prompt.n_examples])

    def read(rows: Any, W: Tensor, b: Tensor) -> Any:
        bias = np.tile(b[0].numpy(), (rows.nrows(), 1))
        return rows * domain.weights(W[0].numpy()) + domain.weights(bias)

    Q, K = read(queries, attn.W_Q, attn.b_Q), read(context, attn.W_K, attn.b_K)
    normalised = (domain.number(*attn.scale.as_integer_ratio()) * Q * K.transpose()).tolist()
    W_V, W_O = (domain.weights(W[0].numpy()) for W in (attn.W_V, attn.W_O))
    averaged, place = (context * W_V * W_O).tolist(), model.stream["found"]
    elsewhere = [entry for row in averaged for entry in row[: place.start] + row[place.stop :]]
    right = (normalised, [row[place] for row in averaged]) == wanted
    right = right and all(entry == 0 for entry in elsewhere)
    wrong = None if right else "scores or values differ"
    return equal(id, name, wrong, evidence="identity", words=words)


def _keys_are_values(model: Transformer) -> Finding:
    attn = model.blocks[0].attn
    assert attn is not None
    name = "value matrix and key matrix of the head of hopfield_attention"
    wrong = None if attn.W_V.equal(attn.W_K) else f"{attn.W_V}"
    return equal("layer/keys", name, wrong, words="the two matrices are equal")


def _layer_in_balls(
    model: Transformer, weights: list[np.ndarray], Y: np.ndarray, R: np.ndarray, beta: float
) -> Finding:
    """The layer's output equals f(r W_Q) W_V, with f the update of the keys; both in balls."""
    W_Q, W_K, W_V = weights
    with Ball.precision(BITS):
        network, columns = ModernNetwork(Y @ W_K, beta), exactly(W_V.T)
        updates = [network.update(exactly(state)) for state in R @ W_Q]
        wanted = [[inner(update, column) for column in columns] for update in updates]
        got = outputs(model, model.prompt(Y, R), Ball()).tolist()
        name = f"output of hopfield_attention against one update, times W_V ({len(Y)} tokens)"
        return coincide("layer/definition", name, got, wanted)


@construction
def two_heads(patterns: PatternVectors, beta: Positive, other: Positive) -> Transformer:
    """A layer of two heads with the inverse temperatures `beta` and `other`."""
    d = patterns.shape[1]
    stream = Stream(pattern=d, state=d, first=d, second=d)
    pattern, state, first, second = map(stream.read, stream)
    heads = [
        Head(sharpness * state, pattern, pattern, name)
        for sharpness, name in ((beta, "first"), (other, "second"))
    ]
    return Transformer(
        embed(stream, pattern={"pattern": 1.0}, state={"state": 1.0}),
        [block(stream, heads, normalise="softmax", mask="context-only")],
        unembed(stream, first, second),
        interface=Memory(d, torch.as_tensor(patterns)),
        stream=stream,
        source="[Ramsauer2021]",
    )


def _two_heads(run: Run, X: np.ndarray, query: np.ndarray) -> Iterator[Finding]:
    """Each head computes the update at its β, and the updates at the two β differ."""
    # A pattern is added, because with a single pattern the update does not depend on β.
    X = np.concatenate([X, run.rng.standard_normal((1, X.shape[1]))])
    model = run.build(two_heads, X, *BETAS)
    with Ball.precision(BITS):
        updates = [ModernNetwork(X, beta).update(exactly(query[0])) for beta in BETAS]
        (side_by_side,) = outputs(model, model.prompt(query), Ball()).tolist()
        distance = interval(norm(minus(*updates)))
    low, high = f"{BETAS[0]:g}", f"{BETAS[1]:g}"
    name = f"outputs of two heads with β = {low} and {high} against two updates with these β"
    yield coincide("two-heads/own", name, side_by_side, updates[0] + updates[1])
    name = f"distance between the updates of one state with β = {low} and with β = {high}"
    width = 2.0 ** (WIDTH + 1)
    words = f"at least {distance[0]:.3g}"
    wanted = f"above {width:.3g}, the width of the enclosures"
    yield at_least(
        "two-heads/other", name, "enclosure", distance, width, words=words, wanted=wanted
    )


def _free_values() -> Finding:
    """The output of a head with keys −1, 0, 1 and values 0, 1, 0 is not an affine map of an update.

    At e^{βξ} = t the weights are (1/t, 1, t)/(1/t + 1 + t).  For all β and all numbers of updates,
    the update of the keys is an odd function of ξ.  So an affine map of the update is constant if
    it is even.  The head's output is even but not constant: 1/3 at t = 1 and 2/7 at t = 2.
    """

    def head(t: fmpq) -> tuple[fmpq, fmpq]:
        total = 1 / t + 1 + t
        return (t - 1 / t) / total, 1 / total  # the means of the keys and of the values

    table = [head(fmpq(1, 2)), head(fmpq(1)), head(fmpq(2))]
    # The equation mean of values = a·(mean of keys) + c for unknown a and c.
    ranks = tuple(fmpq_mat([[*row[:k], 1] for row in table]).rank() for k in (1, 2))
    (low, one), (_, other), (high, two) = table
    found = {"ranks": ranks, "odd": low == -high, "even": one == two, "constant": one == other}
    bound = {"ranks": (2, 3), "odd": True, "even": True, "constant": False}
    name = (
        "output of a head with keys −1, 0, 1 and values 0, 1, 0 at three states, compared with the "
        "update of the keys"
    )
    words = (
        "the output is not an affine function of the update, as the equations for such a function "
        f"have rank {ranks[0]} without the outputs, and rank {ranks[1]} with the outputs; the "
        f"output takes the values {other} and {two}"
    )
    wanted = "the update is an odd function of the state, and the output is even and not constant"
    return same("free-values", name, found, bound, words=words, wanted=wanted)


def _independent_keys(run: Run) -> Finding:
    """If K has independent rows, every V factors through the keys."""
    K = fmpq_mat(3, 5)
    while K.rank() < 3:
        K = fmpq_mat(run.rng.integers(-3, 4, (3, 5)).tolist())
    V = fmpq_mat(run.rng.integers(-3, 4, (3, 2)).tolist())
    name = "arbitrary values V and linearly independent keys K (3 keys, d_k = 5)"
    words = "the equation V = K W_V has a solution W_V"
    wrong = None if K * _factor(K, V) == V else f"K = {K}, V = {V}"
    return equal("independent-keys", name, wrong, words=words)


def _factor(K: fmpq_mat, V: fmpq_mat) -> fmpq_mat:
    """The solution W_V = Kᵀ(KKᵀ)⁻¹V of V = K W_V."""
    return K.transpose() * (K * K.transpose()).inv() * V


def _linear_attention(model: Transformer, N: int, d: int) -> Finding:
    """The same tensors without softmax compute Σ_j ⟨ξ, x_j⟩ x_j, d times the Hebb field."""
    linear = deepcopy(model)
    attn = linear.blocks[0].attn
    assert attn is not None
    attn.normalise, attn.scale = "linear", 1.0
    domain, (X, xi) = _symbols((N, d), (1, d))
    patterns = domain.matrix(X)
    hebb = patterns.transpose() * patterns
    got = outputs(linear, written(linear, domain, xi, X), domain).tolist()
    wrong = None if got == (domain.matrix(xi) * hebb).tolist() else "they differ"
    name = (
        "output of the head without softmax against the Hebb field Wξ, W = Σ_j x_j x_jᵀ "
        f"({N} patterns, d = {d})"
    )
    words = "both are Σ_j ⟨ξ, x_j⟩ x_j"
    return equal("linear", name, wrong, evidence="identity", words=words)
