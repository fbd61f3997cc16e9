"""The disentangled transformer on graphs: every layer appends its output to the residual stream.

    h_0 = [I, A],   h_{l+1} = [h_l, S_l h_l],   S_l = relu(h_l W_l h_lᵀ)/n,   outputs h_L O + bias

with tokens as rows: token i is embedded as (e_i, row i of A), and A has ones on its diagonal.  This
is the model of [Ye2026], after [Friedman2023] and [Nichani2024].  A layer is one head with relu
scores; its queries are h_l W_l, its keys and values h_l, and its output is written to new columns:
after L layers the stream has 2^(L+1) blocks of n columns.

By default W_l = n·I, which cancels the division by n, and O sums all blocks.  All entries are then
nonnegative, so S = hhᵀ, the output is the polynomial s_L(A) of `theory.graphs.tripling`, of degree
3^L with all coefficients positive, and

    output_ij > 0   iff   dist(i, j) ≤ 3^L,   and output_ij = 0 otherwise.

`tripling` has an output of the same support at width n: there the stream follows K ← K + K³ from
K = A, and here the products K_ij = ⟨h_i, h_j⟩ follow the same recursion from K = I + A².

Weights that are invariant under relabelling of nodes have the form A ⊗ I + B ⊗ J
(`theory.graphs.kronecker`): I composes neighbourhoods, and J counts walks.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np

from constructions.assembly import Head, block, embed, rows, unembed
from constructions.blocks import PosEmbed, Stage
from constructions.call import construction
from constructions.graphs.graph import Graph
from constructions.stream import LinearRead, Map, Stream
from constructions.transformer import Transformer
from theory import machine
from theory.graphs.disentangled import disentangled_features
from theory.kinds import Count, Finite, InputError, Many, Matrix, Reals, Steps, shown

BEYOND = 200  # layers: 2^200 columns do not fit in any memory


@construction
def disentangled(
    n_nodes: Count,
    n_layers: Steps,
    weights: Annotated[Any, Many(Reals("m m"))] | None = None,
    unembedding: Matrix | None = None,
    *,
    bias: Finite = 0.0,
) -> Transformer:
    """The disentangled transformer, whose layers append their outputs to the residual stream.

    The model is for graphs of n = `n_nodes` nodes, and has L = `n_layers` layers. For adjacency
    matrices A (…, n, n), the stream before the first layer is h_0 = [I, A], the stream after layer
    l + 1 is h_{l+1} = [h_l, relu(h_l W_l h_lᵀ)h_l/n], and the outputs are h_L O + `bias`. `weights`
    is the list of W_l (2^(l+1)·n, 2^(l+1)·n), l = 0, …, L − 1, by default n·I. `unembedding` is O
    (2^(L+1)·n, n), by default the identity in every n × n block. The predictions (…, n, n) of the
    model are 1 where h_L O + bias > 0, else 0. Its `logits` are the outputs.

    The model has one head in each layer and width 2^(L+1)·n.

    Raises ValueError for a wrong number or shape of weights, or if the weights do not fit in
    memory.  The model raises ValueError for an input that is not an adjacency matrix of n nodes,
    and for outputs that overflow.
    """
    width = n_nodes * 2 ** (min(n_layers, BEYOND) + 1)
    machine.fits_in_memory(
        f"the weights of {shown(n_layers)} layers that double {shown(2 * n_nodes)} columns",
        16 * width * width,
        "build a smaller model",
    )
    # The number of columns that are written before each layer.
    columns = [n_nodes * 2 ** (layer + 1) for layer in range(n_layers)]
    W = [n_nodes * np.eye(size) for size in columns] if weights is None else weights
    if len(W) != n_layers:
        raise InputError(
            f"weights have length {len(W)}: give {n_layers} matrices, one for each layer"
        )
    for i, (matrix, size) in enumerate(zip(W, columns, strict=True)):
        _has_shape(f"weights[{i}]", matrix, size, size)
    out = np.tile(np.eye(n_nodes), (width // n_nodes, 1)) if unembedding is None else unembedding
    _has_shape("unembedding", out, width, n_nodes)

    appended = {f"layer_{i}": size for i, size in enumerate(columns, 1)}
    stream = Stream(node=n_nodes, A=n_nodes, **appended)
    stream.fits(n_layers)
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
            bias=None if bias == 0 else np.full(n_nodes, bias),
        ),
        pos_embed=PosEmbed(rows(stream, node=np.eye(n_nodes))),
        interface=Graph(n_nodes),
        stream=stream,
        stages=_appended(n_nodes, n_layers) if weights is None else (),
        source="[Ye2026], after [Friedman2023] and [Nichani2024]",
    )


def _mapped(stream: Stream, names: list[str], matrix: np.ndarray, label: str) -> LinearRead:
    """The linear read [registers of these names] · matrix."""
    at, parts = 0, []
    for name in names:
        width = stream.widths[name]
        parts.append(stream.read(name) @ Map(matrix[at : at + width], label))
        at += width
    return sum(parts[1:], start=parts[0])


def _has_shape(name: str, matrix: np.ndarray, height: int, width: int) -> None:
    if matrix.shape != (height, width):
        raise InputError(f"{name} has shape {matrix.shape}: give a matrix ({height}, {width})")


def _appended(n: int, layers: int) -> tuple[Stage, ...]:
    """The layer invariants: h_0, and the block that each layer appends."""
    stages = Stage(0, "node", partial(_part, 0, 0)), Stage(0, "A", partial(_part, 0, n))
    after = range(1, layers + 1)
    return *stages, *(Stage(i, f"layer_{i}", partial(_part, i, 2**i * n)) for i in after)


def _part(layers: int, start: int, A: np.ndarray) -> np.ndarray:
    """Columns start … 2·start − 1 of h by definition, or 0 … n − 1 for start = 0."""
    h = disentangled_features(A, [None] * layers)
    return h[..., start : start + (start or A.shape[-1])]
