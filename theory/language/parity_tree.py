"""The parity of k = 2^v among d bits as a binary tree of products of two.

Bits are x_0, …, x_{d−1} ∈ {−1, +1}.  Each node m = d, …, d + k − 2 is the product of its two
children.  The children of the first k/2 nodes are the k bits in pairs, the children of the next k/4
nodes are the first k/2 nodes in pairs, and so on.  The last node is the parity.  If the nodes
follow the bits as tokens, the children of node m are among the tokens j < m [KimSuzuki2025].
"""

from __future__ import annotations

from typing import Annotated, NamedTuple, TypeAlias

import numpy as np

from theory.kinds import Count, InputError, Positions, SignRows, Within, checked

PowerOfTwo: TypeAlias = Annotated[Count, Within(least=2, most="d")]
"""A power of two from 2 to d."""


class ParityTree(NamedTuple):
    """A binary tree of products that computes the parity of k of d bits ±1.

    The leaves are the k bits.  Each of the k − 1 nodes is the product of its two children, and the
    root is the parity.  `positions` are the positions of the k leaves among the d bits.  The bits
    and the nodes are called tokens: the bits have the numbers 0 to d − 1, and the nodes d to d + k
    − 2.  Row i of `children` (k − 1, 2) has the numbers of the two children of node d + i.
    """

    d: int
    positions: tuple[int, ...]
    children: np.ndarray

    @property
    def k(self) -> int:
        """The number of leaves of the tree, which is the number of bits in the parity."""
        return len(self.positions)

    @property
    def scores(self) -> np.ndarray:
        """The 0–1 matrix (k − 1, d + k − 2) of the children of all nodes of the tree.

        The tree computes the parity of k of d bits.  Tokens 0 to d − 1 are the bits, and token d +
        i is node i of the tree, for i from 0 to k − 2.  Entry (i, j) is 1 if and only if token j is
        a child of node i.  The last token, the root of the tree, is not a child and has no column.
        """
        found = np.zeros((self.k - 1, self.d + self.k - 2), dtype=np.int64)
        np.put_along_axis(found, self.children, 1, axis=1)
        return found


@checked
def tree_sizes(d: Count, k: PowerOfTwo) -> tuple[int, int]:
    """Checks a number d of bits and a number k of leaves of a binary tree, and returns (d, k).

    Raises `ValueError` unless k is a power of two from 2 to d.
    """
    if k & (k - 1):
        raise InputError(f"k is {k} and d is {d}: give a k that is a power of two from 2 to d")
    return d, k


@checked
def parity_tree(d: Annotated[Count, Within(most=10**8)], positions: Positions) -> ParityTree:
    """The binary tree of products that computes the parity of the bits at the given positions.

    The leaves of the tree are the bits at `positions`, in order, in words of d bits ±1.  Each node
    is the product of its two children.  Raises `ValueError` unless the positions are distinct and
    their number is a power of two ≥ 2.
    """
    order, k = positions.tolist(), len(positions)
    if k < 2 or k & (k - 1):
        raise InputError(f"there are {k} positions: give 2, 4, 8, … positions")
    if len(set(order)) < k:
        raise InputError(f"positions are {order}: give each position once")
    level, children, following = order, list[tuple[int, int]](), d
    while len(level) > 1:
        pairs = list(zip(level[::2], level[1::2], strict=True))
        children += pairs
        level = list(range(following, following + len(pairs)))
        following += len(pairs)
    return ParityTree(d, tuple(order), np.array(children))


@checked
def with_steps(tree: ParityTree, bits: SignRows) -> np.ndarray:
    """Words with their chain of thought (…, d + k − 1): the d bits, then the values of all nodes.

    `bits` (…, d) has entries −1 and +1.  The tree computes the parity of k of the bits.  Each of
    its k − 1 nodes is the product of the two children of the node.  Raises `ValueError` unless
    words have d bits.
    """
    if bits.shape[-1] != tree.d:
        raise InputError(f"bits have shape {bits.shape}: give bits of shape (…, {tree.d})")
    x = np.empty((*bits.shape[:-1], tree.d + tree.k - 1), dtype=np.int64)
    x[..., : tree.d] = bits
    for m, (a, b) in enumerate(tree.children, start=tree.d):
        x[..., m] = x[..., a] * x[..., b]
    return x


def means_of_children(tree: ParityTree, bits: np.ndarray) -> np.ndarray:
    """The mean (…, T) of the two children of the next node, at each position of a history.

    `bits` (…, T) are the tokens ±1 of the history: d bits, followed by arbitrary values of nodes.
    At the first d − 1 bits, after which the next token is not a node, the result is the bit itself.
    """
    nodes = tree.children[: max(bits.shape[-1] - tree.d + 1, 0)]
    means = bits[..., nodes].sum(axis=-1) / 2
    return np.concatenate([bits[..., : tree.d - 1], means], axis=-1)


def leaves(tree: ParityTree) -> list[int]:
    """For each token of a tree, the set of bits whose product is the token, as a bit mask.

    The tokens are the d bits, followed by the nodes of the tree.
    """
    found = [1 << j for j in range(tree.d)]
    for a, b in tree.children:
        found.append(found[a] ^ found[b])
    return found
