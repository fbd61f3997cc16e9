"""One gradient step on the steps of a parity: the tree stands in the gradient.

A node attends to the m tokens x_j before it and predicts φ(z), z = Σ_j softmax(w)_j x_j; the loss
is ½E(φ(z) − y)², y = x_a x_b the product of its children [KimSuzuki2025].  At w = 0, in units 8/m²,

    u_j = −(m²/8) ∂L/∂w_j = (m/8) E (y − φ(z)) φ'(z) (x_j − z),      z = (1/m) Σ_j x_j.

**φ = 4z² − 1** (φ' = 8z).  Products of tokens are characters, so every moment counts coincidences.
With r_j the triples among the other tokens whose product is x_j, and R = ¼ Σ r_j,

    E z x_j = 1/m,   E y z x_j = [j a child]/m,   E z³ x_j = (3m − 2 + 6 r_j)/m³,
    u_j = [j a child] − 2/m − 24 r_j/m² + 96 R/m³                        (`gradient_in_closed_form`)

exactly: x_i x_j = y holds for the two children alone, since any other token that contains y's bits
comes after y.  r_j ≤ 4: four tokens multiply to 1 only as a node, one child, and the children of
the other child, and a token can be the node (twice), the whole child or a child of a child.

**φ of the paper** is 4z² − 1 for |z| < ½ and −4z² + 8|z| − 3 beyond: in [−1, 1], |φ'(z)| ≤ 8|z|.
`gradient` sums it over a cube in integers, `gradient_by_counting` over any d and k: sums of
independent subtrees are counted by polynomials.

**From n samples** the mean of m(y − φ)φ'(x_j − z)/8 has variance at most 4m/n: the square is at
most 4m²z²(x_j − z)², of mean 4m²(E z² − 2E z³x_j + E z⁴) ≤ 4m if 24R ≤ 3m² − 2m + 12 m r_j. So it
is, as R ≤ m is 0 unless a node above nodes is seen, which is from m = 13 on. Each summand is at
most 3m/2 in size, as |φ'(x_j − z)| ≤ 6. Bernstein and a union bound give `enough_samples`: then
every u_j is on its side of ½, and rounding gives the tree.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import combinations
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import Exact, InputError, OpenUnit, Reals, SignRows, Signs, Steps, Within, checked
from theory.language.parity_tree import ParityTree, leaves, with_steps

MOST = 2**24  # words of a cube times tokens, as integers
MOST_TOKENS = 256  # whose sums are counted for all nodes: a minute


Correlations: TypeAlias = Annotated[Any, Reals("...", Within(least=-1, most=1))]
"""Numbers from −1 to 1, of any shape."""
NodeSigns: TypeAlias = Annotated[Any, Signs("n nodes")]
"""−1 and +1, shape (n, k − 1)."""


@checked
def link(z: Correlations) -> np.ndarray:
    """φ of the paper, of numbers in [−1, 1]."""
    size = abs(z)
    return np.where(size < 0.5, 4 * size**2 - 1, -4 * size**2 + 8 * size - 3)


@checked
def relations(tree: ParityTree, node: Steps) -> tuple[np.ndarray, int]:
    """r_j of each of the m tokens before the node (m,), and R, by all pairs of tokens.

    Raises `ValueError` for a token that is no node.
    """
    m = _seen(tree, node)
    sets = leaves(tree)[:m]
    pairs = Counter(a ^ b for a, b in combinations(sets, 2))
    # Pairs of disjoint pairs with one product: no two pairs that share a token have the same.
    found = np.zeros(m, dtype=np.int64)
    for (i, a), (j, b) in combinations(enumerate(sets), 2):
        found[[i, j]] += pairs[a ^ b] - 1
    # Each relation of four tokens was met by each of them in three pairs.
    return found // 3, int(found.sum()) // 12


@checked
def gradient_in_closed_form(tree: ParityTree, node: Steps) -> list[Fraction]:
    """u_j for φ = 4z² − 1, (m,).  Raises `ValueError` for a token that is no node."""
    m = _seen(tree, node)
    r, R = relations(tree, node)
    children = tree.scores[node - tree.d, :m]
    constant = Fraction(96 * R, m**3) - Fraction(2, m)
    return [
        int(child) + constant - Fraction(24 * int(each), m * m)
        for child, each in zip(children, r, strict=True)
    ]


@checked
def gradient(
    tree: ParityTree, node: Steps, bits: SignRows, *, printed: bool = True
) -> list[Fraction]:
    """u_j from these words (n, d) of bits as the batch, exactly, (m,): with the φ of the paper, or
    with 4z² − 1.

    Raises `ValueError` for a token that is no node, no words, and as `with_steps` does.
    """
    m = _seen(tree, node)
    if (size := bits.size // tree.d * m) > MOST:
        raise InputError(f"bits make {size:.3g} numbers: give fewer words, of at most {MOST:.3g}")
    x = _words(tree, bits)
    total, y = x[:, :m].sum(axis=1), x[:, node]
    weights = _slope(total, y, m, printed)
    summed = weights @ (m * x[:, :m] - total[:, None])
    # (y − φ) is over m², φ'/8 over m and x_j − z over m: with the factor m in front, m³.
    return [Fraction(int(each), len(x) * m**3) for each in summed]


def _words(tree: ParityTree, bits: np.ndarray) -> np.ndarray:
    """Words with their nodes, (n, d + k − 1), n ≥ 1."""
    found = with_steps(tree, bits)
    if not found.size:
        raise InputError(f"bits have shape {bits.shape}: give at least one word")
    return found.reshape(-1, found.shape[-1])


def _slope(total: np.ndarray, y: np.ndarray, m: int, printed: bool) -> np.ndarray:
    """m²(y − φ) · mφ'/8 at z = total/m, in integers."""
    size = abs(total)
    phi, slope = 4 * total**2 - m**2, total
    if printed:
        beyond = 2 * size >= m
        phi = np.where(beyond, -4 * total**2 + 8 * size * m - 3 * m**2, phi)
        slope = np.where(beyond, np.sign(total) * (m - size), slope)
    return np.asarray((y * m**2 - phi) * slope)


@checked
def one_step(tree: ParityTree, bits: SignRows, labels: NodeSigns | None = None) -> np.ndarray:
    """The scores after one step from 0, of m²/8 at the node that sees m tokens, in float64:
    (k − 1, d + k − 2), 0 at tokens that a node does not see.  The φ is that of the paper; `labels`
    (n, k − 1) are what the nodes should be, their own values if none are given.

    Raises `ValueError` as `with_steps` does, for no words, and for labels that are not one ±1 for
    each node.
    """
    x = _words(tree, bits)
    told = x[:, tree.d :] if labels is None else labels
    if told.shape != (len(x), tree.k - 1):
        raise InputError(f"labels have shape {told.shape}: give {(len(x), tree.k - 1)}")
    found = np.zeros(tree.scores.shape)
    tokens, total = x.astype(np.float64), x[:, : tree.d].sum(axis=1)
    for node in range(tree.d, tree.d + tree.k - 1):
        weights = _slope(total, told[:, node - tree.d], node, True) / float(node) ** 3
        moved = node * (weights @ tokens[:, :node]) - weights @ total
        found[node - tree.d, :node] = moved / len(x)
        total = total + x[:, node]
    return found


@checked
def gradient_by_counting(tree: ParityTree, node: Steps) -> list[Fraction]:
    """`gradient` of the whole cube with the φ of the paper, for any d and k, (m,).

    The tokens that are seen form subtrees over different bits, so the number of words with
    Σ x_j = s is a product of polynomials; beside the signs of the root that y needs and of x_j.
    Raises `ValueError` for a token that is no node.
    """
    m = _seen(tree, node)
    a, b = tree.children[node - tree.d].tolist()
    inside = {j for pair in tree.children[: node - tree.d].tolist() for j in pair}
    roots = [j for j in range(m) if j not in inside]
    height = {j: _height(tree, j) for j in range(m)}
    # Tokens at the same height of equal subtrees have the same u: one of each kind is counted.
    kinds, found = dict[tuple[bool, int, int], Fraction](), list[Fraction]()
    root_of = {j: root for root in roots for j in _below(tree, root)}
    sums = {h: _subtree(h, None) for h in set(height.values())}
    others = Counter(height[root] for root in roots if root not in (a, b))
    for j in range(m):
        root = root_of[j]
        kind = root in (a, b), height[root], height[j]
        if kind not in kinds:
            kinds[kind] = _counted(m, kind, height[a], others, sums)
        found.append(kinds[kind])
    return found


Signed = tuple[np.ndarray, np.ndarray]
"""Two polynomials: of words whose root is +1 and −1, coefficient s + size of those with sum s."""


def _counted(
    m: int, kind: tuple[bool, int, int], child: int, others: Counter[int], sums: dict[int, Signed]
) -> Fraction:
    """u_j of a token of this kind: whether it is below a child, its root's height, and its own."""
    below_child, root, own = kind
    plain, marked = np.array([1], dtype=object), np.array([1], dtype=object)
    for height, count in others.items():
        each = sums[height][0] + sums[height][1]
        skip = int(not below_child and height == root)
        for _ in range(count):
            plain = np.convolve(plain, each)
        for _ in range(count - skip):
            marked = np.convolve(marked, each)
        if skip:
            up, down = _subtree(root, own)
            marked = np.convolve(marked, up + down)
    pair = sums[child]
    first = _subtree(child, own) if below_child else pair
    value = Fraction(0)
    total = np.arange(-m, m + 1, dtype=object)
    for y in (1, -1):
        counts = np.convolve(plain, _times(pair, pair, y))
        with_sign = np.convolve(marked, _times(first, pair, y))
        weights = _slope(total, np.array(y, dtype=object), m, True)
        value += Fraction(int((weights * (m * with_sign - total * counts)).sum()))
    words = int(np.convolve(plain, _times(pair, pair, 1) + _times(pair, pair, -1)).sum())
    return value / (words * m**3)


def _times(first: Signed, second: Signed, y: int) -> np.ndarray:
    """Of two independent subtrees whose roots multiply to y."""
    same = np.convolve(first[0], second[0]) + np.convolve(first[1], second[1])
    return same if y == 1 else np.convolve(first[0], second[1]) + np.convolve(first[1], second[0])


def _subtree(height: int, marked: int | None) -> Signed:
    """A complete subtree; with `marked`, words count with the sign of its first token of that
    height."""
    if height == 0:
        up, down = np.array([0, 0, 1], dtype=object), np.array([1, 0, 0], dtype=object)
        return (up, -down) if marked == 0 else (up, down)
    below = _subtree(height - 1, None)
    first = below if marked in (None, height) else _subtree(height - 1, marked)
    up = np.convolve(_times(first, below, 1), np.array([0, 0, 1], dtype=object))
    down = np.convolve(_times(first, below, -1), np.array([1, 0, 0], dtype=object))
    return (up, -down) if marked == height else (up, down)


def _height(tree: ParityTree, j: int) -> int:
    return 0 if j < tree.d else 1 + _height(tree, int(tree.children[j - tree.d, 0]))


def _below(tree: ParityTree, j: int) -> list[int]:
    """The token and all tokens below it."""
    if j < tree.d:
        return [j]
    a, b = tree.children[j - tree.d].tolist()
    return [j, *_below(tree, a), *_below(tree, b)]


@checked
def room_for_noise(tree: ParityTree) -> Fraction:
    """½ − max |u_j − [j a child]| over all nodes, φ that of the paper: by how much the scores of a
    step on all words may be off and still be rounded to the tree, if it is above 0.

    Raises `ValueError` for d + k above 256.
    """
    if (size := tree.d + tree.k) > MOST_TOKENS:
        raise InputError(
            f"d + k is {size}, and words of all nodes are counted: give at most {MOST_TOKENS}"
        )
    room = list[Fraction]()
    for node in range(tree.d, tree.d + tree.k - 1):
        children = tree.scores[node - tree.d, :node]
        for child, u in zip(children, gradient_by_counting(tree, node), strict=True):
            room.append(Fraction(1, 2) - abs(u - int(child)))
    return min(room)


@checked
def enough_samples(tree: ParityTree, delta: OpenUnit, room: Exact | None = None) -> int:
    """n ≥ 8.7(d + k) t⁻² ln(2(k − 1)(d + k)/δ), t the room for noise (that of the tree if none is
    given): from n random words, one step and rounding give the tree with probability ≥ 1 − δ.

    Bernstein: 2(4m + (3m/2 + 2)t/3) ≤ 8.7(d + k) for t ≤ ½ and m ≤ d + k − 2.
    Raises `ValueError` for no room, and as `room_for_noise`.
    """
    t = float(room_for_noise(tree) if room is None else room)
    if not 1e-6 < t <= 0.5:
        why = "there is never more than ½" if t > 0.5 else "d + k is too small for a bound"
        raise InputError(f"the room for noise is {t:.3g}: {why}")
    size = tree.d + tree.k
    return math.ceil(8.7 * size / t**2 * math.log(2 * (tree.k - 1) * size / delta))


def _seen(tree: ParityTree, node: int) -> int:
    """How many tokens the node sees."""
    if not tree.d <= node < tree.d + tree.k - 1:
        raise InputError(f"node is {node}: give one from {tree.d} to {tree.d + tree.k - 2}")
    return node
