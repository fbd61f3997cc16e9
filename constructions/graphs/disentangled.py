"""The disentangled transformer on a graph: every layer appends its output to the stream.

    h_0 = [I, A],   h_{l+1} = [h_l, S_l h_l],   S_l = relu(h_l W_l h_lᵀ)/n,   outputs h_L O + bias

with tokens as rows: token i begins as (e_i, row i of A), and A has ones on its diagonal.  It is the
model that [Ye2026] takes from [Friedman2023] and [Nichani2024].  A layer is one head with relu
scores, whose queries are h_l W_l, whose keys and values are h_l, and which writes into new columns:
after L layers the stream has 2^(L+1) blocks of n columns.

By default W_l = n·I, which cancels the division by n, and O is the sum of all blocks.  Then S =
hhᵀ, since no number is negative, the output is the polynomial s_L(A) of `theory.graphs.tripling`,
of degree 3^L with all coefficients positive, and

    output_ij > 0   iff   dist(i, j) ≤ 3^L,   and output_ij = 0 otherwise.

`tripling` has an output of the same support at width n: there the stream follows K ← K + K³ from
K = A, and here the products K_ij = ⟨h_i, h_j⟩ follow the same recursion from K = I + A².

Weights that do not depend on the labels of nodes are A ⊗ I + B ⊗ J (`theory.graphs.kronecker`): I
composes neighbourhoods, J counts.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from constructions.assembly import Head, block, embed, rows, unembed
from constructions.blocks import PosEmbed, Stage
from constructions.call import construction
from constructions.graphs.graph import Graph
from constructions.stream import Map, Reading, Stream
from constructions.transformer import Transformer
from theory import machine
from theory.graphs.disentangled import disentangled_features
from theory.kinds import Count, Finite, InputError, Many, Matrix, Reals, Steps, shown

BEYOND = 200  # layers: 2^200 columns are more than any memory holds


@construction
def disentangled(
    n: Count,
    layers: Steps,
    weights: Annotated[Any, Many(Reals("m m"))] | None = None,
    read_out: Matrix | None = None,
    *,
    bias: Finite = 0.0,
) -> Transformer:
    """Layers h ← [h, relu(h W_l hᵀ)h/n] from h = [I, A] on graphs of n nodes, read out by O.

    `weights` are W_l (2^(l+1)·n, 2^(l+1)·n) for l = 0, …, layers − 1, by default n·I; `read_out` is
    O (2^(layers+1)·n, n), by default the identity of every block.  Answers (…, n, n) are 1 where an
    output of h O + bias is above 0; `logits` are the outputs.

    One head, width 2^(layers+1)·n.

    Raises ValueError for weights of another number or of other shapes, and for more than there is
    memory; the model, for an input that is not an adjacency matrix of n nodes and for outputs that
    overflow.
    """
    width = n * 2 ** (min(layers, BEYOND) + 1)
    machine.fits_in_memory(
        f"the weights of {shown(layers)} layers that double {shown(2 * n)} columns",
        16 * width * width,
        "build a smaller model",
    )
    columns = [n * 2 ** (layer + 1) for layer in range(layers)]  # that are written before a layer
    W = [n * np.eye(size) for size in columns] if weights is None else weights
    if len(W) != layers:
        raise InputError(f"weights are not {layers} matrices: give one for each layer, or None")
    for i, (matrix, size) in enumerate(zip(W, columns, strict=True)):
        _has_shape(f"weights[{i}]", matrix, size, size)
    out = np.tile(np.eye(n), (width // n, 1)) if read_out is None else read_out
    _has_shape("read_out", out, width, n)

    stream = Stream(node=n, A=n, **{f"layer_{i}": size for i, size in enumerate(columns, 1)})
    stream.fits(layers)
    names = list(stream)
    blocks = []
    for i, matrix in enumerate(W):
        written = names[: i + 2]
        h = tuple(map(stream.read, written))
        head = Head(_mapped(stream, written, matrix, f"W_{i}"), h, h, names[i + 2])
        blocks.append(block(stream, [head], normalise="relu", mask="full"))
    return Transformer(
        embed(stream, A={"A": 1.0}),
        blocks,
        unembed(
            stream,
            _mapped(stream, names, out, "O"),
            bias=None if bias == 0 else np.full(n, bias),
        ),
        pos_embed=PosEmbed(rows(stream, node=np.eye(n))),
        interface=Graph(n),
        stream=stream,
        stages=_appended(n, layers) if weights is None else (),
        source="[Ye2026], after [Friedman2023] and [Nichani2024]",
    )


def _mapped(stream: Stream, names: list[str], matrix: np.ndarray, label: str) -> Reading:
    """The registers of these names, side by side, times a matrix."""
    at, parts = 0, []
    for name in names:
        width = stream.widths[name]
        parts.append(stream.read(name) @ Map(matrix[at : at + width], label))
        at += width
    return sum(parts[1:], start=parts[0])


def _has_shape(name: str, matrix: np.ndarray, height: int, width: int) -> None:
    if matrix.shape != (height, width):
        raise InputError(f"{name} has shape {matrix.shape}: give ({height}, {width})")


def _appended(n: int, layers: int) -> tuple[Stage, ...]:
    """What h_0 is, and what each layer appends."""
    stages = Stage(0, "node", partial(_part, 0, 0)), Stage(0, "A", partial(_part, 0, n))
    after = range(1, layers + 1)
    return *stages, *(Stage(i, f"layer_{i}", partial(_part, i, 2**i * n)) for i in after)


def _part(layers: int, start: int, A: np.ndarray) -> np.ndarray:
    """Columns of h by definition from `start` on, as many as are before them; at 0 they are n."""
    h = disentangled_features(A, [None] * layers)
    return h[..., start : start + (start or A.shape[-1])]
