"""Modern Hopfield networks: an update is one softmax head with values equal to the keys.

The query is the `state` ξ, and the `pattern` x_j of a stored token is both key and value.  At
inverse temperature β the head adds

    Σ_j softmax_j(β⟨ξ, x_j⟩) x_j = f(ξ)

to `found`, which was 0. The MLP then adds −state to `state`, which becomes 0. The difference of
`found` and `state` is never computed, so no digits are lost if a state is much longer than the
patterns. Each layer is exactly one update. The query of the next layer is `found`, and the output
of the next layer is added to `state`. Patterns are example tokens, and all tokens attend only to
example tokens. So the queries of a batch share one prompt and do not attend to each other.
(The states of the pattern tokens start at 0 and are updated too, but are not read.)
"""

from __future__ import annotations

import math
from typing import Annotated, Any, TypeAlias

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import Head, block, embed, unembed
from constructions.call import construction
from constructions.interface import ROWS, Draw, Interface, Prompt, finite_tensors
from constructions.primitives import Move
from constructions.stream import Map, Stream
from constructions.tensors import as_tensor
from constructions.transformer import Transformer
from constructions.vectors import Memory
from theory import machine
from theory.kinds import InputError, Positive, Reals, Steps
from theory.memory.kinds import PatternVectors
from theory.memory.modern_hopfield import squares_fit

QueryMap: TypeAlias = Annotated[Any, Reals("d_r d_k")]
KeyMap: TypeAlias = Annotated[Any, Reals("d_y d_k")]
ValueMap: TypeAlias = Annotated[Any, Reals("d_k d_v")]
BYTES_PER_SCORE = 3 * 8 + 1  # scores, shifted scores and exponentials in float64; mask


class Patterns(Memory):
    """The interface of `modern_hopfield_update`: queries (…, d) → updated states (…, d).

    The prompt also contains the patterns (N, d).  Raises ValueError as `Memory` does, and if the
    scores overflow or do not fit in memory.
    """

    name = "queries"

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        xi, X = super().check(like, *inputs)
        N, d = X.shape
        largest = xi.abs().max() if xi.numel() else xi.new_zeros(())
        if not torch.isfinite(2 * d * largest * X.abs().max().clamp(min=1)):
            raise InputError(
                f"an inner product may overflow (the largest entry of queries is {largest:.3g}): "
                "rescale the queries"
            )
        _scores_fit(N, xi.numel() // d)
        return xi, X


@construction
def modern_hopfield_update(
    patterns: PatternVectors, beta: Positive, steps: Steps = 1
) -> Transformer:
    """A model that computes `steps` updates of a modern Hopfield network by softmax attention.

    `modern_hopfield_update(patterns, beta, steps)(queries)` maps queries (…, d), which are the
    initial states, to the updated states (…, d). An update of a state ξ is f(ξ) = Xᵀ
    softmax(beta·Xξ) with the rows of X (N, d) as patterns [Ramsauer2021, equation 3]. The model has
    width 3d and, for each update, one layer with one head. With `steps=0` the model returns the
    queries. `model.sharpened(None)` is the limit beta → ∞: an update then returns the pattern with
    the largest inner product with the state, or in a tie the mean of all patterns with the largest
    inner product.

    The patterns are tokens of the prompt and also attend to the patterns, so each layer computes
    (N + m)·N scores for m queries. `constructions.retrieve` computes the same update without a
    prompt, for many patterns.

    Raises ValueError for patterns whose squares overflow, and for scores that do not fit in memory.
    """
    squares_fit(patterns)
    X = as_tensor(patterns).clone()
    N, d = X.shape
    _scores_fit(N, 1)
    stream = Stream(pattern=d, state=d, found=d)
    stream.fits(steps)
    pattern, state, found = map(stream.read, stream)
    turns = [(state, "state", "found"), (found, "found", "state")] * steps
    updates = [
        ([Head(query, pattern, pattern, into)], [Move(-query, place)])
        for query, place, into in turns[:steps]
    ]
    return Transformer(
        embed(stream, pattern={"pattern": 1.0}, state={"state": 1.0}),
        [block(stream, *update, normalise="softmax", scale=beta) for update in updates],
        unembed(stream, found if steps % 2 else state),
        interface=Patterns(d, X),
        stream=stream,
        source="[Ramsauer2021, equation 3 and Theorem 1]",
    )


class Stored(Interface):
    """The interface of `hopfield_attention`: stored tokens Y and states R → outputs.

    The arguments are Y (…, N, d_y) and R (…, m, d_r), and the outputs are (…, m, d_v). The prompt
    has a token (y, 0) for each of the N ≥ 1 rows y of Y, followed by a token (0, r) for each of
    the m rows r of R.  Leading dimensions broadcast.

    Raises ValueError for incompatible shapes, for NaN or infinite entries, and if the scores
    overflow or do not fit in memory.
    """

    def __init__(self, d_y: int, d_r: int) -> None:
        super().__init__()
        self.widths = {"stored": d_y, "state": d_r}

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        Y, R = finite_tensors(like, inputs, *self.widths)
        for (label, d), array in zip(self.widths.items(), (Y, R), strict=True):
            Reals(f"... {d}").fit(label, array.shape)
            if array.ndim < 2 or (label == "stored" and array.shape[-2] < 1):
                rows = "N ≥ 1" if label == "stored" else "m"
                raise InputError(
                    f"{label} has shape {tuple(array.shape)}: give {rows} rows, "
                    f"as an array (…, {rows[0]}, {d})"
                )
        try:
            leading = np.broadcast_shapes(Y.shape[:-2], R.shape[:-2])
        except ValueError:
            raise InputError(
                f"`stored` has leading dimensions {tuple(Y.shape[:-2])} and `state` has "
                f"{tuple(R.shape[:-2])}: give leading dimensions that broadcast"
            ) from None
        _scores_fit(Y.shape[-2], R.shape[-2], math.prod(leading))
        return Y.expand(*leading, *Y.shape[-2:]), R.expand(*leading, *R.shape[-2:])

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        Y, R = inputs
        (*leading, N, d_y), (m, d_r) = Y.shape, R.shape[-2:]
        zero = Y[..., :1, :1] * 0
        beside = xp.broadcast_to(zero, (*leading, m, d_y))
        behind = xp.broadcast_to(zero, (*leading, N, d_r))
        columns = xp.concat([Y, beside], axis=-2), xp.concat([behind, R], axis=-2)
        return Prompt(xp.concat(columns, axis=-1), N, slice(N, None))

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        return tuple(draw(ROWS, d) for d in self.widths.values())

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        if not torch.isfinite(outputs).all():
            raise InputError(
                f"attention overflows (the largest entry of `stored` and `state` is "
                f"{max(float(given.abs().max()) for given in inputs):.3g}): rescale these "
                "two arrays"
            )
        return outputs


@construction
def hopfield_attention(
    W_Q: QueryMap, W_K: KeyMap, W_V: ValueMap, beta: Positive | None = None
) -> Transformer:
    """A model of one head whose output is one modern Hopfield update, multiplied by W_V.

    For stored tokens Y and states R, the output `hopfield_attention(W_Q, W_K, W_V)(Y, R)` is
    softmax(beta·Q Kᵀ) K W_V with the patterns K = Y W_K and Q = R W_Q. So the rows of Q are
    updated, with the rows of K as patterns, and then multiplied by W_V [Ramsauer2021]. The values
    of the head equal the keys, and W_V is the output matrix of the head, so the tensors of the
    model contain the given matrices unchanged. In contrast, a head with arbitrary values is
    hetero-associative: in general its output is not an update with the keys as patterns. For
    example, with keys −1, 0, 1 and values 0, 1, 0 the output is an even, nonconstant function of
    the state, whereas every update with these keys is odd.

    The shapes are Y (…, N, d_y), R (…, m, d_r), W_Q (d_r, d_k), W_K (d_y, d_k), and W_V (d_k, d_v).
    The output has the shape (…, m, d_v). By default beta is 1/√d_k.
    """
    (d_r, d_k), d_y, d_v = W_Q.shape, len(W_K), W_V.shape[1]
    scale = d_k**-0.5 if beta is None else beta
    Q, K, V = Map(W_Q, "W_Q"), Map(W_K, "W_K"), Map(W_V, "W_V")
    stream = Stream(stored=d_y, state=d_r, found=d_v)
    keys = stream.read("stored") @ K
    head = Head(stream.read("state") @ Q, keys, keys, "found", V)
    return Transformer(
        embed(stream, stored={"stored": 1.0}, state={"state": 1.0}),
        [block(stream, [head], normalise="softmax", scale=scale)],
        unembed(stream, stream.read("found")),
        interface=Stored(d_y, d_r),
        stream=stream,
        source="[Ramsauer2021]",
    )


def _scores_fit(N: int, m: int, prompts: int = 1) -> None:
    machine.fits_in_memory(
        f"the scores of {N} patterns and {m} quer{'y' if m == 1 else 'ies'}",
        BYTES_PER_SCORE * prompts * (N + m) * N,
        "pass fewer queries, or use constructions.retrieve, which never stores all scores",
    )
