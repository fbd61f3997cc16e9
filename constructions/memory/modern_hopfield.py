"""Modern Hopfield networks: one update is one softmax head whose values are its keys.

A query's `state` ξ asks, a stored token's `pattern` x_j answers and is also what is carried, so
that with sharpness β the head adds

    Σ_j softmax_j(β⟨ξ, x_j⟩) x_j = f(ξ)

to `found`, which was 0.  The MLP then adds found − state to state, which becomes f(ξ), and −found
to found, which becomes 0 again: each layer is one update and nothing more.  Patterns are example
tokens, to which alone all tokens attend, so that the queries of a batch share one prompt and do not
see each other.  (The patterns' own states start at 0 and are updated too; nobody reads them.)

Shape glossary: `…` leading dimensions, `N` patterns, `m` states, `d` features.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from constructions.assembly import Head, Move, block, embed, unembed
from constructions.attention import Attention
from constructions.stream import Stream
from constructions.tensors import as_tensor
from constructions.transformer import Block, Transformer
from theory import checks
from theory.checks import InputError
from theory.memory.modern_hopfield import pattern_rows

BYTES_PER_SCORE = 3 * 8 + 1  # scores, shifted scores and exponentials in float64; the mask


class ModernHopfield(Transformer):
    """A transformer that is called as an associative memory: `model(queries)`.

    `patterns` (N, d) is a parameter: the example tokens of every prompt.
    """

    patterns: nn.Parameter

    def __init__(self, patterns: Tensor, blocks: list[Block], stream: Stream, name: str) -> None:
        super().__init__(
            embed(stream, pattern={"pattern": 1.0}, state={"state": 1.0}),
            blocks,
            unembed(stream, stream.read("state")),
            stream=stream,
            name=name,
            source="[Ramsauer2021, equation 3 and Theorem 1]",
        )
        self.patterns = nn.Parameter(patterns, requires_grad=False)

    def forward(self, queries: Any) -> Tensor:
        """The states (…, d) after the model's updates, started at queries (…, d).

        Raises ValueError for a dimension that is not the patterns', for NaN or infinite entries,
        and where the scores do not fit in memory.
        """
        xi = self._input(queries)
        tokens, N = self._tokens(xi)
        return self.run(tokens, N)[N:].reshape(xi.shape)

    def tokens(self, queries: Any) -> tuple[Tensor, int]:
        """The prompt (N + m, 2d), patterns (x_j, 0) and then states (0, ξ); and N."""
        return self._tokens(self._input(queries))

    def _tokens(self, xi: Tensor) -> tuple[Tensor, int]:
        xi = xi.reshape(-1, self.patterns.shape[-1])
        stored = torch.cat([self.patterns, torch.zeros_like(self.patterns)], dim=-1)
        asked = torch.cat([torch.zeros_like(xi), xi], dim=-1)
        return torch.cat([stored, asked]), len(stored)

    def _input(self, queries: Any) -> Tensor:
        xi = as_tensor(queries, self.patterns)
        N, d = self.patterns.shape
        checks.vector_shape("queries", tuple(xi.shape), d)
        checks.finite("queries", bool(torch.isfinite(xi).all()))
        largest = xi.abs().max() if xi.numel() else xi.new_zeros(())
        if not torch.isfinite(2 * d * largest * self.patterns.abs().max().clamp(min=1)):
            raise InputError(
                f"an inner product may overflow, the largest entry of queries is {largest:.3g}: "
                "rescale them"
            )
        _scores_fit(N, xi.numel() // d)
        return xi


def modern_hopfield_update(patterns: Any, beta: float, steps: int = 1) -> ModernHopfield:
    """`modern_hopfield_update(patterns, beta, steps)(queries)`: exactly `steps` Hopfield updates.

    Each is f(ξ) = Xᵀ softmax(beta·Xξ) [Ramsauer2021, equation 3]: patterns X (N, d), queries
    (…, d) → (…, d).  One layer of one head for each, width 3d; `steps=0` returns the queries.
    `model.sharpened(None)` is the limit beta → ∞: the pattern of largest inner product with the
    state, equal ones averaged.

    Every token asks, patterns too, so attention costs (N + queries)·N scores; for many patterns
    use `constructions.retrieve`, which computes the same update without a prompt.

    Raises ValueError for patterns that are not (N, d) with finite entries, a beta that is not
    finite and positive, steps that are not an integer ≥ 0, and scores that do not fit in memory.
    """
    given = as_tensor(patterns, torch.zeros((), dtype=torch.float64))
    X = torch.tensor(pattern_rows(given.detach().numpy()))
    scale, steps = float(checks.positive("beta", beta)), checks.step_count("steps", steps)
    N, d = X.shape
    _scores_fit(N, 1)
    stream = Stream(pattern=d, state=d, found=d)
    pattern, state, found = map(stream.read, stream)

    def update() -> Block:
        head = Head(state, pattern, pattern, "found")
        moves = [Move(found - state, "state"), Move(-found, "found")]
        return block(stream, [head], moves, normalise="softmax", mask="examples")

    model = ModernHopfield(
        X,
        [update() for _ in range(steps)],
        stream,
        f"modern_hopfield_update({N} patterns of dimension {d}, steps={steps})",
    )
    return model.sharpened(scale)


class HopfieldAttention(Transformer):
    """One attention head that is called as a layer with an associative memory: `model(Y, R)`."""

    def forward(self, stored: Any, state: Any) -> Tensor:
        """softmax(beta·R W_Q (Y W_K)ᵀ) Y W_K W_V, (…, m, d_v).

        stored Y (…, N, d_y), N ≥ 1, state R (…, m, d_r); leading dimensions broadcast.

        Raises ValueError for shapes that do not fit, for NaN or infinite entries, and where the
        scores overflow or do not fit in memory.
        """
        tokens, N = self.tokens(stored, state)
        found = self.run(tokens, N)[..., N:, :]
        if not torch.isfinite(found).all():
            raise InputError(
                f"attention overflows, the largest entry of stored and state is "
                f"{tokens.abs().max():.3g}: rescale them"
            )
        return found

    def tokens(self, stored: Any, state: Any) -> tuple[Tensor, int]:
        """The prompt (…, N + m, d_y + d_r), stored (y_j, 0) and then states (0, r); and N."""
        Y, R = (as_tensor(array, self.embed.W_E) for array in (stored, state))
        for label, array in (("stored", Y), ("state", R)):
            d = self.stream.widths[label]
            checks.vector_shape(label, tuple(array.shape), d)
            if array.ndim < 2 or (label == "stored" and array.shape[-2] < 1):
                rows = "N ≥ 1" if label == "stored" else "m"
                raise InputError(
                    f"{label} has shape {tuple(array.shape)}: give {rows} rows (…, {rows[0]}, {d})"
                )
            checks.finite(label, bool(torch.isfinite(array).all()))
        try:
            leading = torch.broadcast_shapes(Y.shape[:-2], R.shape[:-2])
        except RuntimeError:
            raise InputError(
                f"stored has leading dimensions {tuple(Y.shape[:-2])} and state has "
                f"{tuple(R.shape[:-2])}: they must broadcast"
            ) from None
        N, m = Y.shape[-2], R.shape[-2]
        _scores_fit(N, m, math.prod(leading))
        tokens = Y.new_zeros(*leading, N + m, Y.shape[-1] + R.shape[-1])
        tokens[..., :N, : Y.shape[-1]] = Y
        tokens[..., N:, Y.shape[-1] :] = R
        return tokens, N


def hopfield_attention(
    W_Q: Any, W_K: Any, W_V: Any, beta: float | None = None
) -> HopfieldAttention:
    """`hopfield_attention(W_Q, W_K, W_V)(Y, R)`: attention is one Hopfield update, then W_V.

    With patterns K = Y W_K and states Q = R W_Q the result is softmax(beta·Q Kᵀ) K W_V: the update
    of every state, read out by W_V.  The values of this head are V = Y W_K W_V; they factor through
    the keys [Ramsauer2021].  (A head with a value map of its own is hetero-associative
    and in general no update of its keys.)  The head carries keys and W_V is its output matrix, so
    the tensors hold the given matrices and no product of them.

    W_Q (d_r, d_k), W_K (d_y, d_k), W_V (d_k, d_v); beta is 1/√d_k unless given.

    Raises ValueError for shapes that do not fit, for NaN or infinite entries, and for a beta that
    is not finite and positive.
    """
    like = torch.zeros((), dtype=torch.float64)
    Q, K, V = (as_tensor(weights, like) for weights in (W_Q, W_K, W_V))
    for label, weights in (("W_Q", Q), ("W_K", K), ("W_V", V)):
        if weights.ndim != 2 or 0 in weights.shape:
            raise InputError(f"{label} has shape {tuple(weights.shape)}: give a matrix")
        checks.finite(label, bool(torch.isfinite(weights).all()))
    (d_r, d_k), d_y, d_v = Q.shape, K.shape[0], V.shape[1]
    if K.shape[1] != d_k or V.shape[0] != d_k:
        raise InputError(
            f"W_Q has shape {tuple(Q.shape)}, W_K {tuple(K.shape)} and W_V {tuple(V.shape)}: "
            "give (d_r, d_k), (d_y, d_k) and (d_k, d_v)"
        )
    scale = d_k**-0.5 if beta is None else float(checks.positive("beta", beta))
    stream = Stream(stored=d_y, state=d_r, found=d_v)
    place = {name: torch.as_tensor(stream.placement(name)) for name in stream}
    keys, none = (place["stored"].T @ K)[None], torch.zeros(1, d_k, dtype=torch.float64)
    head = Attention(
        W_Q=(place["state"].T @ Q)[None],
        W_K=keys,
        W_V=keys,
        W_O=(V @ place["found"])[None],
        b_Q=none,
        b_K=none,
        normalise="softmax",
        mask="examples",
        scale=scale,
    )
    line = "softmax head: state·W_Q asks, stored·W_K answers, stored·W_K·W_V added to found"
    return HopfieldAttention(
        embed(stream, stored={"stored": 1.0}, state={"state": 1.0}),
        [Block(head, None, (line,))],
        unembed(stream, stream.read("found")),
        stream=stream,
        name=f"hopfield_attention(d_r={d_r}, d_y={d_y}, d_k={d_k}, d_v={d_v})",
        source="[Ramsauer2021]",
    )


def _scores_fit(N: int, m: int, prompts: int = 1) -> None:
    checks.fits_in_memory(
        f"the scores of {N} patterns and {m} quer{'y' if m == 1 else 'ies'}",
        BYTES_PER_SCORE * prompts * (N + m) * N,
        "pass fewer at a time, or use constructions.retrieve, which never holds all scores",
    )
