"""One gradient step on the nodes of a parity's tree, rounded to integers, finds the tree.

A node of the tree (`theory.language.parity_tree`) attends to the m tokens x_j = ±1 before it and
predicts φ(z) for z = Σ_j softmax(w)_j x_j.  The loss is ½E(φ(z) − y)², where y = x_a x_b is the
product of the node's children [KimSuzuki2025].  A gradient step from w = 0 with the step size m²/8
gives the scores

    u_j = −(m²/8) ∂L/∂w_j = (m/8) E (y − φ(z)) φ'(z) (x_j − z),      z = (1/m) Σ_j x_j.

**φ = 4z² − 1** (φ' = 8z).  Products of tokens are characters, so every moment counts relations
among tokens.  If r_j is the number of triples of other tokens whose product is x_j, and
R = ¼ Σ r_j,

    E z x_j = 1/m,   E y z x_j = [j a child]/m,   E z³ x_j = (3m − 2 + 6 r_j)/m³,
    u_j = [j a child] − 2/m − 24 r_j/m² + 96 R/m³                        (`gradient_in_closed_form`)

exactly.  Here x_i x_j = y holds only for the two children, since any other token that contains y's
bits comes after y.  Moreover r_j ≤ 4: the product of four tokens is 1 only for a node, its one
child, and the two children of its other child.  A token can be the node (in two ways), the one
child, or a child of the other child.

**The φ of the paper** is 4z² − 1 for |z| < ½ and −4z² + 8|z| − 3 for |z| ≥ ½; |φ'(z)| ≤ 8|z| in
[−1, 1].  `gradient` sums over a batch in integers; `gradient_by_counting` computes the sum over the
whole cube for any d and k by multiplying the generating polynomials of independent subtrees.

**From n samples** the mean of m(y − φ)φ'(x_j − z)/8 has variance at most 4m/n: the square of a
summand is at most 4m²z²(x_j − z)², and the mean 4m²(E z² − 2E z³x_j + E z⁴) of this bound is at
most 4m if 24R ≤ 3m² − 2m + 12 m r_j.  This holds since R ≤ m, and R = 0 unless some earlier node
has children that are nodes, which requires m ≥ 13.  A summand is at most 3m/2 in absolute value, as
|φ'(x_j − z)| ≤ 6.
Bernstein's inequality and a union bound give `enough_samples`: then every u_j is on the correct
side of ½, and rounding gives the tree.
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

MOST = 2**24  # largest number of words times tokens
MOST_TOKENS = 256  # largest d + k if all nodes are counted, which takes a minute


Correlations: TypeAlias = Annotated[Any, Reals("...", Within(least=-1, most=1))]
"""Numbers from −1 to 1, of any shape."""
NodeSigns: TypeAlias = Annotated[Any, Signs("n nodes")]
"""−1 and +1, shape (n, k − 1)."""


@checked
def link(z: Correlations) -> np.ndarray:
    """The values of the function φ of [KimSuzuki2025], applied elementwise.

    φ(z) = 4z² − 1 if |z| < ½, and otherwise φ(z) = −4z² + 8|z| − 3.
    """
    size = abs(z)
    return np.where(size < 0.5, 4 * size**2 - 1, -4 * size**2 + 8 * size - 3)


@checked
def relations(tree: ParityTree, node: Steps) -> tuple[np.ndarray, int]:
    """The pair (r, R) of numbers of products of four tokens that are 1 for all words.

    The node belongs to a binary tree over bits ±1, in which each node is the product of its two
    children.  The m tokens before the node are the bits and the earlier nodes.  r (m,) has an entry
    for each token: r_j is the number of sets of three other tokens whose product is token j for all
    words.  R = ¼ Σ_j r_j is the number of sets of four tokens whose product is 1 for all words.
    Raises `ValueError` unless `node` is the number of a node of the tree.
    """
    m = _seen(tree, node)
    sets = leaves(tree)[:m]
    pairs = Counter(a ^ b for a, b in combinations(sets, 2))
    # Pairs of pairs with the same product are disjoint, since tokens are different.
    found = np.zeros(m, dtype=np.int64)
    for (i, a), (j, b) in combinations(enumerate(sets), 2):
        found[[i, j]] += pairs[a ^ b] - 1
    # Each relation of four tokens is counted three times for each of them.
    return found // 3, int(found.sum()) // 12


@checked
def gradient_in_closed_form(tree: ParityTree, node: Steps) -> list[Fraction]:
    """The scores (m,) of a node after one gradient step with φ = 4z² − 1, in closed form.

    The node belongs to a binary tree over bits ±1, in which each node is the product of its two
    children.  It attends to the m tokens before it, which are bits and earlier nodes, with equal
    weights, as all scores are 0 before the step.  It predicts φ(z) for the mean z of these tokens.
    The target y is the product of the two children of the node.  The loss ½(φ(z) − y)² is averaged
    over all words, and the step size is m²/8.

    The score of token j is c_j − 2/m − 24r_j/m² + 96R/m³.  c_j is 1 if token j is a child of the
    node, and otherwise 0.  r_j is the number of sets of three other tokens whose product is token j
    for all words, and R = ¼ Σ_j r_j.  Raises `ValueError` unless `node` is the number of a node of
    the tree.
    """
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
    """The scores (m,) of a node after one gradient step from scores 0 on a batch of words, exactly.

    The node belongs to a binary tree over bits ±1, in which each node is the product of its two
    children.  It attends to the m tokens before it, which are bits and earlier nodes, with the
    softmax of its scores.  It predicts φ(z) for the mean z of these tokens.  The target y is the
    product of the two children of the node.  The loss ½(φ(z) − y)² is averaged over the n words
    `bits` (n, d) of −1 and +1, and the step size is m²/8.  If `printed` is true, φ is the function
    of [KimSuzuki2025]: φ(z) = 4z² − 1 if |z| < ½, and otherwise φ(z) = −4z² + 8|z| − 3.  If
    `printed` is false, φ(z) = 4z² − 1 for all z.

    Raises `ValueError` unless `node` is the number of a node of the tree.  Also raises `ValueError`
    for an empty batch, and unless words have d bits.
    """
    m = _seen(tree, node)
    if (size := bits.size // tree.d * m) > MOST:
        raise InputError(
            f"bits make {size:.3g} tokens in all: give fewer words, for at most {MOST:.3g} tokens"
        )
    x = _words(tree, bits)
    # |weights| ≤ 4m³, and |m x_j − total| ≤ 2m.
    kind = np.int64 if 8 * len(x) * m**4 < 2**63 else object
    total, y = x[:, :m].sum(axis=1).astype(kind), x[:, node].astype(kind)
    weights = _slope(total, y, m, printed)
    summed = m * (weights @ x[:, :m]) - weights @ total
    # Denominators are m² of y − φ, m of φ'/8 and m of x_j − z; the factor m in front leaves m³.
    return [Fraction(int(each), len(x) * m**3) for each in summed]


def _words(tree: ParityTree, bits: np.ndarray) -> np.ndarray:
    """Words followed by their nodes, (n, d + k − 1), n ≥ 1."""
    found = with_steps(tree, bits)
    if not found.size:
        raise InputError(f"bits have shape {bits.shape}: give at least one word")
    return found.reshape(-1, found.shape[-1])


def _slope(total: np.ndarray, y: np.ndarray, m: int, printed: bool) -> np.ndarray:
    """The integers m²(y − φ) · mφ'/8 at z = total/m, of the dtype of `total`."""
    size = abs(total)
    phi, slope = 4 * total**2 - m**2, total
    if printed:
        beyond = 2 * size >= m
        phi = np.where(beyond, -4 * total**2 + 8 * size * m - 3 * m**2, phi)
        slope = np.where(beyond, np.sign(total) * (m - size), slope)
    return np.asarray((y * m**2 - phi) * slope)


@checked
def one_step(tree: ParityTree, bits: SignRows, labels: NodeSigns | None = None) -> np.ndarray:
    """The scores (k − 1, d + k − 2) of all nodes after one gradient step from 0, in float64.

    The tree computes the parity of k of d bits ±1, and has k − 1 nodes.  A node attends to the m
    tokens before it, which are bits and earlier nodes, with equal weights.  It predicts φ(z) for
    the mean z of these tokens.  φ(z) is 4z² − 1 if |z| < ½, and otherwise −4z² + 8|z| − 3.  The
    loss ½(φ(z) − y)² is averaged over the n words `bits` (n, d) of −1 and +1, where y is the target
    of the node, and the step size is m²/8.

    A row of the result has the scores that one node gives to all tokens except the root.  The
    scores of tokens that are not before the node are 0.  `labels` (n, k − 1) are the targets of the
    nodes in each word, by default the product of the two children of each node.  Raises
    `ValueError` unless words have d bits and `labels` has an entry ±1 for each node of each word.
    Also raises `ValueError` for an empty batch.
    """
    x = _words(tree, bits)
    targets = x[:, tree.d :] if labels is None else labels
    if targets.shape != (len(x), tree.k - 1):
        raise InputError(
            f"labels have shape {targets.shape}: give labels of shape {(len(x), tree.k - 1)}"
        )
    found = np.zeros(tree.scores.shape)
    tokens = x.astype(np.float64)
    total = tokens[:, : tree.d].sum(axis=1)
    for node in range(tree.d, tree.d + tree.k - 1):
        weights = _slope(total, targets[:, node - tree.d], node, True) / float(node) ** 3
        moved = node * (weights @ tokens[:, :node]) - weights @ total
        found[node - tree.d, :node] = moved / len(x)
        total = total + tokens[:, node]
    return found


@checked
def gradient_by_counting(tree: ParityTree, node: Steps) -> list[Fraction]:
    """The scores (m,) of a node after one gradient step from scores 0 on all words, exactly.

    The node belongs to a binary tree over bits ±1, in which each node is the product of its two
    children.  It attends to the m tokens x_j before it, which are bits and earlier nodes, with the
    softmax of its scores.  It predicts φ(z) for the mean z of these tokens.  φ(z) is 4z² − 1 if |z|
    < ½, and otherwise −4z² + 8|z| − 3.  The target y is the product of the two children of the
    node.  The loss ½(φ(z) − y)² is averaged over all words, and the step size is m²/8.

    The words are not enumerated, so that trees may be large.  The m tokens form subtrees over
    disjoint bits.  So the numbers of words with each sum Σ x_j are the coefficients of a product of
    polynomials, one for each subtree.  The subtrees of the two children of the node have one joint
    polynomial for each value of y.  For the factor x_j of the gradient, each word is counted with
    the sign x_j.  Raises `ValueError` unless `node` is the number of a node of the tree.
    """
    m = _seen(tree, node)
    a, b = tree.children[node - tree.d].tolist()
    inside = {j for pair in tree.children[: node - tree.d].tolist() for j in pair}
    roots = [j for j in range(m) if j not in inside]
    height = {j: _height(tree, j) for j in range(m)}
    # Tokens at equal heights of equal subtrees have equal u: one token of each kind is counted.
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
"""Two polynomials, for roots +1 and −1; coefficient s + size counts the words of token sum s."""


def _counted(
    m: int, kind: tuple[bool, int, int], child: int, others: Counter[int], sums: dict[int, Signed]
) -> Fraction:
    """u_j of a token of a kind: (below a child of the node?, height of its root, its height)."""
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
    """The polynomial of two independent subtrees whose roots multiply to y."""
    same = np.convolve(first[0], second[0]) + np.convolve(first[1], second[1])
    return same if y == 1 else np.convolve(first[0], second[1]) + np.convolve(first[1], second[0])


def _subtree(height: int, marked: int | None) -> Signed:
    """The polynomials of a complete subtree, weighted by its first token of height `marked`."""
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
    """The token and all its descendants."""
    if j < tree.d:
        return [j]
    a, b = tree.children[j - tree.d].tolist()
    return [j, *_below(tree, a), *_below(tree, b)]


@checked
def noise_tolerance(tree: ParityTree) -> Fraction:
    """The largest error, in the scores after a gradient step, that rounding to integers corrects.

    The tree computes the parity of k of d bits ±1: each node is the product of two children.  A
    model has a score for each node and each token j before it, where tokens are bits and nodes.
    u_j is the score of token j after one gradient step from 0 on all words
    (`gradient_by_counting`).  The tolerance is t = ½ − max |u_j − c_j|, where c_j is 1 if token j
    is a child of the node, and otherwise 0, and the maximum is over all nodes and tokens before
    them.  If all scores differ from the u_j by less than t, they are rounded to 1 at the children
    of each node, and to 0 elsewhere.  Raises `ValueError` for d + k above 256.
    """
    if (size := tree.d + tree.k) > MOST_TOKENS:
        raise InputError(
            f"d + k is {size} for the {tree.d} bits and {tree.k} leaves of the tree: "
            f"give a tree with d + k ≤ {MOST_TOKENS}"
        )
    tolerances = list[Fraction]()
    for node in range(tree.d, tree.d + tree.k - 1):
        children = tree.scores[node - tree.d, :node]
        for child, u in zip(children, gradient_by_counting(tree, node), strict=True):
            tolerances.append(Fraction(1, 2) - abs(u - int(child)))
    return min(tolerances)


@checked
def enough_samples(tree: ParityTree, delta: OpenUnit, tolerance: Exact | None = None) -> int:
    """A number n of random words from which one gradient step finds the tree of a parity.

    The tree computes the parity of k of d bits ±1: each of its k − 1 nodes is the product of two
    children.  The model has a score for each pair of a node and an earlier token, where the tokens
    are the bits and the nodes.  The step finds the tree if the scores, rounded to integers, are 1
    at the children of each node and 0 elsewhere.

    For n ≥ 8.7(d + k) t⁻² ln(2(k − 1)(d + k)/δ), the step finds the tree with probability ≥ 1 − δ,
    where δ = `delta`.  The result is the smallest such n.  t = `tolerance` is an error of the
    scores that rounding corrects.  The default is `noise_tolerance(tree)`.  The proof is
    Bernstein's inequality: after a step on one random word, each score of a node that attends to m
    tokens has a variance of at most 4m, and differs from its mean by at most 3m/2 + 2.  This
    suffices, as 2(4m + (3m/2 + 2)t/3) ≤ 8.7(d + k) for t ≤ ½ and m ≤ d + k − 2.

    Raises `ValueError` unless 10⁻⁶ < t ≤ ½.  Without a tolerance, raises `ValueError` for d + k
    above 256.
    """
    t = float(noise_tolerance(tree) if tolerance is None else tolerance)
    if not 1e-6 < t <= 0.5:
        large = "give a tolerance of at most ½"
        small = "give a larger tolerance, or a tree with a larger d + k"
        remedy = large if t > 0.5 else small
        raise InputError(f"tolerance is {t:.3g}: {remedy}")
    size = tree.d + tree.k
    logarithm = math.log(2 * (tree.k - 1) * size) - math.log(delta)
    return math.ceil(8.7 * size / t**2 * logarithm)


def _seen(tree: ParityTree, node: int) -> int:
    """The number m of tokens that the node attends to."""
    if not tree.d <= node < tree.d + tree.k - 1:
        raise InputError(f"node is {node}: give a node from {tree.d} to {tree.d + tree.k - 2}")
    return node
