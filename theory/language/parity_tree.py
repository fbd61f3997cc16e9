"""The parity of k = 2^v among d bits, step by step: a binary tree of parities of two.

Bits are x_0, …, x_{d−1} ∈ {−1, +1}.  Node m = d, …, d + k − 2 multiplies its two children: first
the k bits in pairs, then these nodes in pairs, and so on; the last node is the parity.  Written
one after the other behind the bits, every node sees its children: the tokens j < m [KimSuzuki2025].
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Positions, SignRows, Within, checked

PowerOfTwo: TypeAlias = Annotated[Count, Within(least=2, most="d")]
"""A power of two from 2 to d."""


class ParityTree(NamedTuple):
    """d bits, the positions of k of them as leaves, the children of each node (k − 1, 2)."""

    d: int
    letters: tuple[int, ...]
    children: np.ndarray

    @property
    def k(self) -> int:
        """How many bits the parity is of."""
        return len(self.letters)

    @property
    def scores(self) -> np.ndarray:
        """1 where token j is a child of node d + i, else 0: (k − 1, d + k − 2) int64, since the
        last node is nobody's child."""
        found = np.zeros((self.k - 1, self.d + self.k - 2), dtype=np.int64)
        np.put_along_axis(found, self.children, 1, axis=1)
        return found


@checked
def tree_sizes(d: Count, k: PowerOfTwo) -> tuple[int, int]:
    """d and k.  Raises `ValueError` unless k is a power of two."""
    if k & (k - 1):
        raise InputError(f"k is {k} and d is {d}: give a power of two from 2 to d")
    return d, k


@checked
def parity_tree(d: Annotated[Count, Within(most=10**8)], letters: Positions) -> ParityTree:
    """The tree over the bits at these positions, in this order.

    Raises `ValueError` unless they are 2, 4, 8, … different ones.
    """
    order, k = letters.tolist(), len(letters)
    if k < 2 or k & (k - 1):
        raise InputError(f"there are {k} letters: give a power of two of them, at least 2")
    if len(set(order)) < k:
        raise InputError(f"letters are {order}: give different ones")
    level, children, following = order, list[tuple[int, int]](), d
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        children += pairs
        level = list(range(following, following + len(pairs)))
        following += len(pairs)
    return ParityTree(d, tuple(order), np.array(children))


@checked
def with_steps(tree: ParityTree, bits: SignRows) -> np.ndarray:
    """Bits (…, d) of −1 and +1 with all nodes behind them, (…, d + k − 1).

    Raises `ValueError` for another number of bits.
    """
    if bits.shape[-1] != tree.d:
        raise InputError(f"bits have shape {bits.shape}: give (…, {tree.d})")
    x = np.empty((*bits.shape[:-1], tree.d + tree.k - 1), dtype=np.int64)
    x[..., : tree.d] = bits
    for m, (a, b) in enumerate(tree.children, start=tree.d):
        x[..., m] = x[..., a] * x[..., b]
    return x


def means_of_children(tree: ParityTree, bits: np.ndarray) -> np.ndarray:
    """Of tokens ±1, d bits and nodes whatever they are (…, T): at each place the mean of the two
    children of the node that comes next, at bits but the last one the bit itself."""
    nodes = tree.children[: max(bits.shape[-1] - tree.d + 1, 0)]
    means = bits[..., nodes].sum(axis=-1) / 2
    return np.concatenate([bits[..., : tree.d - 1], means], axis=-1)


def leaves(tree: ParityTree) -> list[int]:
    """For each token the set of bits whose product it is, as a number with these bits."""
    found = [1 << j for j in range(tree.d)]
    for a, b in tree.children:
        found.append(found[a] ^ found[b])
    return found
