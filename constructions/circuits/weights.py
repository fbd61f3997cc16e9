"""The matrices with which the components of a model write to the stream and read from it.

Shapes
    D = d_model; matrices act on rows from the right, as in the forward pass

A writer adds a vector of the row space of its output matrix to each token (an MLP and the biases of
the model also add constants).  The reader's input matrix A at a port has the property that its
output does not change if H changes by Δ with Δ A = 0:

    Q        A = W_Q W_Kᵀ             scores are (H W_Q + b_Q)(H W_K + b_K)ᵀ, of which softmax and
    K        A = W_K [W_Qᵀ, b_Qᵀ]      hardmax ignore H W_Q b_Kᵀ, which is equal for all keys; under
    V        A = W_V W_O              linear and relu attention, Q has A = W_Q [W_Kᵀ, b_Kᵀ]
    MLP      A = W_in, only the columns of hidden neurons whose row of W_out is not 0
    logits   A = W_U

Products are decided exactly: `vanishes` computes them in rational arithmetic unless it is certain
from supports, or from a float product and its rounding bound, whether they are 0.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from constructions.blocks import MLP
from constructions.circuits.edges import Node, Port
from constructions.stream import Stream
from constructions.transformer import Transformer

Product = Sequence[np.ndarray]  # matrices that are multiplied in this order
SMALL = 2.0**-900  # partial products of numbers whose product is larger do not underflow


@dataclass(frozen=True)
class Writer:
    """A component that writes, with its output matrix as a product."""

    node: Node
    output: Product


@dataclass(frozen=True)
class Reader:
    """A port, with its input matrix as a product; `normed` if it reads through a layer norm."""

    node: Node
    port: Port
    input: Product
    normed: bool


def neuron_groups(mlp: MLP, stream: Stream, grouped: bool) -> list[np.ndarray]:
    """The hidden neurons of an MLP, in one group or grouped by the registers that they write.

    Neurons whose outgoing weights are all 0 are in no group.
    """
    W_out = _array(mlp.W_out)
    alive = np.flatnonzero(W_out.any(1))
    if not grouped or not len(alive):
        return [alive]
    written = np.stack([W_out[alive][:, stream[name]].any(1) for name in stream], axis=1)
    _, first, group = np.unique(written, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)
    return [alive[group.ravel() == each] for each in order]


def parts(
    model: Transformer, grouped: bool
) -> tuple[list[Writer], list[Reader], dict[Node, np.ndarray]]:
    """The writers, the readers, and the hidden neurons of each node that is an MLP."""
    writers = [Writer(Node("embed"), [_array(model.embed.W_E)])]
    readers: list[Reader] = []
    neurons: dict[Node, np.ndarray] = {}
    if model.pos_embed is not None:
        writers.append(Writer(Node("positions"), [_array(model.pos_embed.W_pos)]))
    for layer, block in enumerate(model.blocks, 1):
        if (attn := block.attn) is not None:
            tensors = attn.W_Q, attn.W_K, attn.W_V, attn.W_O, attn.b_Q, attn.b_K
            invariant = attn.normalise in ("softmax", "hardmax")
            for h, (Q, K, V, out, q, k) in enumerate(zip(*map(_array, tensors), strict=True)):
                node, normed = Node("head", layer, h), block.ln1 is not None
                keys = K.T if invariant else np.column_stack([K.T, k])
                inputs: dict[Port, Product] = {
                    "Q": [Q, keys],
                    "K": [K, np.column_stack([Q.T, q])],
                    "V": [V, out],
                }
                if invariant and attn.masks[h] == "diagonal":  # its weight is 1 at any score
                    inputs = {"V": inputs["V"]}
                readers += [Reader(node, port, read, normed) for port, read in inputs.items()]
                writers.append(Writer(node, [V, out]))
        if (mlp := block.mlp) is not None:
            groups = neuron_groups(mlp, model.stream, grouped)
            for number, group in enumerate(groups):
                node = Node("mlp", layer, number if grouped else None)
                neurons[node] = group
                readers.append(
                    Reader(node, "MLP", [_array(mlp.W_in)[:, group]], block.ln2 is not None)
                )
                writers.append(Writer(node, [_array(mlp.W_out)[group]]))
    unembedding = [_array(model.unembed.W_U)]
    readers.append(Reader(Node("unembed"), "logits", unembedding, model.ln_final is not None))
    return writers, readers, neurons


def _array(weights: object) -> np.ndarray:
    array: np.ndarray = weights.detach().cpu().double().numpy()  # type: ignore[attr-defined]
    return array


def vanishes(product: Product) -> bool:
    """Whether a product of matrices is exactly 0, where floats are read as rational numbers."""
    support, value, size = product[0] != 0, product[0], np.abs(product[0])
    terms = 1
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        for M in product[1:]:
            support = support.astype(np.float64) @ (M != 0) > 0
            value, size, terms = value @ M, size @ np.abs(M), terms * 2 * (len(M) + 1)
        if not support.any():
            return True
        smallest = [min(np.abs(M[M != 0]).min(), 1.0) for M in product]
        in_range = np.prod(smallest) > SMALL
        certain = np.abs(value) > terms * np.finfo(np.float64).eps * size
    return not (in_range and certain.any()) and _exactly_zero(product)


def _exactly_zero(product: Product) -> bool:
    """The same in rational arithmetic; rows of zeros do not matter."""
    rows = product[0][np.unique(np.flatnonzero(product[0].any(1)))]
    value = [[Fraction(x) for x in row] for row in np.unique(rows, axis=0).tolist()]
    for M in product[1:]:
        columns = [[(i, Fraction(x)) for i, x in enumerate(column) if x] for column in M.T.tolist()]
        value = [
            [sum((row[i] * x for i, x in column), start=Fraction(0)) for column in columns]
            for row in value
        ]
    return not any(x for row in value for x in row)
