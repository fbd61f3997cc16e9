"""The part of a weight matrix that is invariant under relabelling of nodes: the span of I and J.

At layer l the stream consists of 2^(l+1) blocks of n columns, one column for each node.  A weight
matrix W, a grid of n × n blocks, is invariant iff it commutes with every relabelling P:
(I ⊗ P)ᵀ W (I ⊗ P) = W.  Then every block X is a I + b (J − I), as relabellings permute its diagonal
entries transitively, and also its off-diagonal entries [Zaheer2017].  The average over all
relabellings is the orthogonal projection onto these W,

    X → a I + b (J − I),   a = tr X/n,   b = (1ᵀX 1 − tr X)/(n(n − 1)).

It is idempotent, since an average is invariant under relabelling, and self-adjoint, since the
relabellings are orthogonal and closed under inverses.  So W is projected to A ⊗ I + B ⊗ J with
A = a − b and B = b block by block: two channels.  I composes neighbourhoods; J counts walks:
A J A = deg degᵀ depends only on degrees, which are the same in C_2m and C_m ∪ C_m.

I and J are not orthogonal, ⟨I, J⟩ = n, so n‖A‖² and n²‖B‖² do not add up to ‖W‖².  Instead,
‖W‖² is the sum of three orthogonal parts: n Σ a² on the diagonals, n(n − 1) Σ b² off the diagonals,
and a rest that depends on the labels.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import factorial
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import (
    Count,
    CountFrom2,
    InputError,
    Matrix,
    Reals,
    Within,
    array_of,
    checked,
    read,
    shown,
)

MOST_RELABELLED = 7  # nodes: 5040 relabellings


@dataclass(frozen=True)
class Exactly(Reals):
    """Finite numbers: integers and fractions as Fractions, other entries as float64."""

    def _entries(self, name: str, array: np.ndarray) -> np.ndarray:
        floats = super()._entries(name, array)
        if array.dtype.kind == "f":
            return floats
        return np.asarray(np.vectorize(Fraction, otypes=[object])(array.astype(object)))


Weights: TypeAlias = Annotated[Any, Exactly("rows·n columns·n")]
"""A matrix of n × n blocks, of Fractions or float64."""
Nodes: TypeAlias = CountFrom2
"""A number of nodes n ≥ 2; for n = 1 there is one channel, as I = J."""


class Channels(NamedTuple):
    """The matrices A and B of a matrix A ⊗ I + B ⊗ J, whose blocks are n × n matrices.

    In this formula, I is the n × n identity and J the n × n all-ones matrix. A and B have one entry
    for each block. The field `I` contains A, and the field `J` contains B.
    """

    I: np.ndarray  # noqa: E741  A, the factor of the identity
    J: np.ndarray


class Split(NamedTuple):
    """Three parts of the squared norm ‖W‖² of a matrix W whose blocks are n × n matrices.

    The parts are the squared norms of three orthogonal projections of W. `diagonal` belongs to the
    projection onto the matrices whose blocks are multiples of the identity I. `off_diagonal`
    belongs to the projection onto the matrices whose blocks are multiples of J − I, where J is the
    all-ones matrix. `rest` belongs to the remainder of W. The rows and columns of each block belong
    to n nodes. The first two projections are invariant under permutations of these nodes.
    """

    diagonal: float | Fraction
    off_diagonal: float | Fraction
    rest: float | Fraction

    @property
    def total(self) -> float | Fraction:
        """The squared norm ‖W‖² of the matrix W, which is the sum of the three parts."""
        return self.diagonal + self.off_diagonal + self.rest


@checked
def two_channels(W: Weights, n_nodes: Nodes) -> Channels:
    """The orthogonal projection of W onto the matrices A ⊗ I + B ⊗ J, as the pair of A and B.

    W (rows·n, columns·n) consists of blocks, which are n × n matrices for n = `n_nodes`. I is the
    n × n identity, and J is the n × n all-ones matrix. So each block is projected onto the span of
    I and J. The result is exact, as `Fraction`s, if W contains integers or fractions, and in
    float64 otherwise.

    Raises `ValueError` for a W that does not consist of n × n blocks.
    """
    diagonal, off_diagonal = _parts(_blocks(W, n_nodes))
    return Channels(diagonal - off_diagonal, off_diagonal)


def _parts(X: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The coefficients a and b of each block X (rows, columns, n, n)."""
    n = X.shape[-1]
    trace = np.einsum("...ii->...", X)
    return trace / n, (X.sum(axis=(-1, -2)) - trace) / (n * (n - 1))


@checked
def two_channels_by_definition(
    W: Weights, n_nodes: Annotated[Nodes, Within(most=MOST_RELABELLED)]
) -> np.ndarray:
    """The average of (I ⊗ P)ᵀ W (I ⊗ P) over all n! permutation matrices P of n nodes.

    W (rows·n, columns·n) consists of blocks, which are n × n matrices for n = `n_nodes`. The result
    has the shape of W. The factor I on the left of W is the identity with as many rows as W has
    rows of blocks. The factor I on the right is the identity with as many rows as W has columns of
    blocks.

    Raises `ValueError` if W does not consist of n × n blocks.
    """
    X = _blocks(W, n_nodes)
    total = sum(X[..., np.array(p)[:, None], np.array(p)] for p in permutations(range(n_nodes)))
    return _whole(np.asarray(total) / factorial(n_nodes))


@checked
def kronecker(channels: Channels, n_nodes: Count) -> np.ndarray:
    """The matrix A ⊗ I + B ⊗ J for A = `channels.I` and B = `channels.J`.

    I is the n × n identity and J the n × n all-ones matrix, where n = `n_nodes`. A and B have shape
    (rows, columns), and the result has shape (rows·n, columns·n).

    Raises `ValueError` if (a) A and B are not matrices of one shape, (b) an entry is not a finite
    real number, (c) a sum of an entry of A and one of B exceeds int64, or (d) the result does not
    fit in memory.
    """
    A, B = (array_of(name, each) for name, each in zip("AB", channels, strict=True))
    if A.ndim != 2 or A.shape != B.shape:
        raise InputError(
            f"A and B have shapes {A.shape} and {B.shape}: give two matrices of one shape"
        )
    largest = sum(abs(read(Matrix, name, each)) for name, each in (("A", A), ("B", B))).max()
    if A.dtype.kind in "iu" and B.dtype.kind in "iu" and largest >= 2.0**63:
        raise InputError(
            f"A and B are integers with sums up to {largest:.3g}: give integers with sums below "
            "2^63, or give floats"
        )
    machine.fits_in_memory(
        f"weights of {shown(n_nodes)} nodes", 32 * n_nodes * n_nodes * A.size, "give fewer nodes"
    )
    eye, ones = np.eye(n_nodes, dtype=np.int64), np.ones((n_nodes, n_nodes), dtype=np.int64)
    return np.kron(A, eye) + np.kron(B, ones)


@checked
def orthogonal_split(W: Weights, n_nodes: Nodes) -> Split:
    """The squared norm ‖W‖² of a matrix W (rows·n, columns·n) in three orthogonal parts.

    W consists of blocks, which are n × n matrices for n = `n_nodes`. In each block, let a be the
    mean of the diagonal entries and b the mean of the other entries. The parts are n Σ a², n(n − 1)
    Σ b² (both sums are over the blocks), and the rest of ‖W‖².

    Raises `ValueError` if W does not consist of n × n blocks.
    """
    X = _blocks(W, n_nodes)
    a, b = _parts(X)
    diagonal, off_diagonal = n_nodes * (a * a).sum(), n_nodes * (n_nodes - 1) * (b * b).sum()
    eye = np.eye(n_nodes, dtype=np.int64)
    left = X - a[..., None, None] * eye - b[..., None, None] * (1 - eye)
    return Split(diagonal, off_diagonal, (left * left).sum())


def _blocks(W: np.ndarray, n: int) -> np.ndarray:
    """W (rows·n, columns·n) as blocks (rows, columns, n, n)."""
    rows, columns = W.shape
    if rows % n or columns % n:
        raise InputError(
            f"W has shape {W.shape}: give a matrix (rows·{n}, columns·{n}) of {n} × {n} blocks"
        )
    return W.reshape(rows // n, n, columns // n, n).swapaxes(1, 2)


def _whole(X: np.ndarray) -> np.ndarray:
    rows, columns, n, _ = X.shape
    return X.swapaxes(1, 2).reshape(rows * n, columns * n)
