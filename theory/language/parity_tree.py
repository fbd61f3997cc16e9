"""The parity of k = 2^v among d bits as a binary tree of products of two.

Bits are x_0, …, x_{d−1} ∈ {−1, +1}.  Node m = d, …, d + k − 2 multiplies its two children: first
the k bits in pairs, then these nodes in pairs, and so on; the last node is the parity.  If the
nodes follow the bits as tokens, the children of node m are among the tokens j < m [KimSuzuki2025].
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Positions, SignRows, Within, checked

PowerOfTwo: TypeAlias = Annotated[Count, Within(least=2, most="d")]
"""A power of two from 2 to d."""


class ParityTree(NamedTuple):
    """A tree over k of d bits: positions of the leaves, and children (k − 1, 2) of the nodes."""

    d: int
    positions: tuple[int, ...]
    children: np.ndarray

    @property
    def k(self) -> int:
        """The number of bits in the parity."""
        return len(self.positions)

    @property
    def scores(self) -> np.ndarray:
        """The matrix [token j is a child of node d + i], (k − 1, d + k − 2), without the last
        token."""
        found = np.zeros((self.k - 1, self.d + self.k - 2), dtype=np.int64)
        np.put_along_axis(found, self.children, 1, axis=1)
        return found


@checked
def tree_sizes(d: Count, k: PowerOfTwo) -> tuple[int, int]:
    """The sizes d and k; raises `ValueError` unless k is a power of two."""
    if k & (k - 1):
        raise InputError(f"k is {k} and d is {d}: give a power of two from 2 to d")
    return d, k


@checked
def parity_tree(d: Annotated[Count, Within(most=10**8)], positions: Positions) -> ParityTree:
    """The tree whose leaves are the bits at these positions, in this order.

    Raises `ValueError` unless the positions are distinct and their number is a power of two ≥ 2.
    """
    order, k = positions.tolist(), len(positions)
    if k < 2 or k & (k - 1):
        raise InputError(f"there are {k} positions: give 2, 4, 8, … of them")
    if len(set(order)) < k:
        raise InputError(f"positions are {order}: give each of them once")
    level, children, following = order, list[tuple[int, int]](), d
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        children += pairs
        level = list(range(following, following + len(pairs)))
        following += len(pairs)
    return ParityTree(d, tuple(order), np.array(children))


@checked
def with_steps(tree: ParityTree, bits: SignRows) -> np.ndarray:
    """Bits (…, d) of −1 and +1, followed by the values of all nodes: (…, d + k − 1).

    Raises `ValueError` unless there are d bits.
    """
    if bits.shape[-1] != tree.d:
        raise InputError(f"bits have shape {bits.shape}: give (…, {tree.d})")
    x = np.empty((*bits.shape[:-1], tree.d + tree.k - 1), dtype=np.int64)
    x[..., : tree.d] = bits
    for m, (a, b) in enumerate(tree.children, start=tree.d):
        x[..., m] = x[..., a] * x[..., b]
    return x


def means_of_children(tree: ParityTree, bits: np.ndarray) -> np.ndarray:
    """The mean of the two children of the next node at each position, from tokens ±1 (…, T).

    The tokens are d bits and arbitrary values of nodes.  At the bits before the last, the result is
    the bit.
    """
    nodes = tree.children[: max(bits.shape[-1] - tree.d + 1, 0)]
    means = bits[..., nodes].sum(axis=-1) / 2
    return np.concatenate([bits[..., : tree.d - 1], means], axis=-1)


def leaves(tree: ParityTree) -> list[int]:
    """For each token, the set of bits whose product the token is, as a bit mask."""
    found = [1 << j for j in range(tree.d)]
    for a, b in tree.children:
        found.append(found[a] ^ found[b])
    return found
