"""The gradient at the nodes of a parity's tree, computed in three ways."""

import math
from fractions import Fraction
from functools import reduce
from itertools import combinations

import numpy as np
import pytest
from refusals import rejects

from theory.language import (
    enough_samples,
    gradient,
    gradient_by_counting,
    link,
    noise_tolerance,
    one_step,
    parity_tree,
    relations,
    with_steps,
)
from theory.language.parity_tree import leaves
from theory.sequences import all_sequences

SIZES = [(4, 2), (5, 4), (8, 8), (10, 4)]


def shuffled(d, k):
    return parity_tree(d, np.random.default_rng(d).permutation(d)[:k].tolist())


def nodes(tree):
    return range(tree.d, tree.d + tree.k - 1)


def xor(sets):
    return reduce(int.__xor__, sets)


def cube(d):
    return 1 - 2 * all_sequences(d, 2)


@pytest.mark.parametrize(("d", "k"), SIZES)
def test_the_last_node_is_the_parity(d, k):
    tree, bits = shuffled(d, k), cube(d)
    x = with_steps(tree, bits)
    assert (x[:, -1] == bits[:, list(tree.positions)].prod(axis=1)).all()
    assert leaves(tree)[-1] == sum(1 << j for j in tree.positions)
    assert (tree.scores.sum(axis=1) == 2).all()


def test_leaves_are_paired_in_their_order():
    tree = parity_tree(6, [3, 1, 0, 5])
    assert tree.children.tolist() == [[3, 1], [0, 5], [6, 7]]
    assert parity_tree(8, range(8)).children.tolist()[4:] == [[8, 9], [10, 11], [12, 13]]


def by_autodiff(tree, node, bits, phi):
    """−(m²/8) of the gradient at 0, by central differences of the loss itself."""
    x = with_steps(tree, bits).astype(float)
    m, found = node, []

    def loss(w):
        p = np.exp(w) / np.exp(w).sum()
        return 0.5 * ((phi(np.clip(x[:, :m] @ p, -1, 1)) - x[:, node]) ** 2).mean()

    for j in range(m):
        step = np.zeros(m)
        step[j] = 1e-5
        found.append(-(m**2) / 8 * (loss(step) - loss(-step)) / 2e-5)
    return found


def test_it_is_the_gradient_of_the_loss():
    tree, bits = shuffled(6, 4), cube(6)
    for node in nodes(tree):
        for printed, phi in ((True, link), (False, lambda z: 4 * z**2 - 1)):
            exact = [float(u) for u in gradient(tree, node, bits, printed=printed)]
            assert np.allclose(exact, by_autodiff(tree, node, bits, phi), atol=1e-7)


@pytest.mark.parametrize("printed", [True, False])
@pytest.mark.parametrize(("d", "n"), [(2**17, 1), (2**14, 3), (300, 5)])
def test_it_is_exact_for_many_tokens(d, n, printed):
    """By its definition over Q, at tokens of both values; products exceed 64 bits for large d."""
    bits = np.ones((n, d), dtype=int)
    for i in range(n):
        bits[i, : d // (4 + i)] = -1
    tree = parity_tree(d, [0, d - 1])
    found, tokens = gradient(tree, d, bits, printed=printed), [0, 1, d // 5, d - 2, d - 1]
    wanted = dict.fromkeys(tokens, Fraction(0))
    for row in bits.tolist():
        z, y = Fraction(sum(row), d), row[0] * row[-1]
        phi, slope = 4 * z**2 - 1, 8 * z
        if printed and abs(z) >= Fraction(1, 2):
            phi, slope = 8 * abs(z) - 4 * z**2 - 3, 8 * (z > 0) - 8 * (z < 0) - 8 * z
        for j in tokens:
            wanted[j] += Fraction(d**2, 8 * n) * (y - phi) * slope * (row[j] - z) / d
    assert {j: found[j] for j in tokens} == wanted
    if printed:
        step = one_step(tree, bits)[0, tokens]
        assert step == pytest.approx([float(u) for u in wanted.values()], rel=1e-9)


@pytest.mark.parametrize(("d", "k"), [*SIZES, (12, 8)])
def test_relations_are_those_of_four_tokens_and_few(d, k):
    tree = shuffled(d, k)
    for m in nodes(tree):
        sets = leaves(tree)[:m]
        r, R = relations(tree, m)
        four = [c for c in combinations(range(m), 4) if not xor(sets[i] for i in c)]
        assert len(four) == R
        assert r.tolist() == [sum(j in c for c in four) for j in range(m)]
        assert r.max() <= 4
        # What the bound 4m/n on the variance takes, and why it is so for every tree.
        assert R == 0 or 13 <= m >= R
        assert 3 * m**2 - 2 * m + 12 * m * int(r.min()) >= 24 * R


def test_the_variance_of_one_sample_is_below_four_m():
    tree = shuffled(8, 8)
    x = with_steps(tree, cube(8)).astype(float)
    for m in nodes(tree):
        z = x[:, :m].mean(axis=1)
        slope = np.where(abs(z) < 0.5, 8 * z, -8 * z + 8 * np.sign(z))
        each = m / 8 * ((x[:, m] - link(z)) * slope)[:, None] * (x[:, :m] - z[:, None])
        assert each.var(axis=0).max() <= 4 * m
        assert abs(each).max() <= 1.5 * m


@pytest.mark.parametrize(("d", "k"), [(8, 4), (8, 8), (12, 8)])
def test_rounding_the_step_of_the_whole_cube_gives_the_tree(d, k):
    tree = shuffled(d, k)
    W = one_step(tree, cube(d))
    assert (np.round(W) == tree.scores).all()
    tolerance = noise_tolerance(tree)
    assert math.isclose(0.5 - abs(W - tree.scores).max(), tolerance, abs_tol=1e-12)
    assert tolerance > 0


def test_the_tolerance_at_large_sizes_is_exact_and_close_to_a_half():
    tree = parity_tree(64, range(32))
    tolerance = noise_tolerance(tree)
    assert isinstance(tolerance, Fraction)
    assert 0.46 < tolerance < 0.47
    assert 40_000 < enough_samples(tree, 0.05, tolerance) < 50_000


def test_too_small_trees_have_a_negative_tolerance():
    assert noise_tolerance(shuffled(4, 4)) < 0
    with rejects("d", "k"):
        enough_samples(shuffled(4, 4), 0.1)


def test_steps_of_permuted_labels_give_no_tree():
    tree, rng = shuffled(12, 8), np.random.default_rng(0)
    bits = cube(12)
    other = parity_tree(12, tree.positions[::-1])
    assert not (np.round(one_step(other, bits)) == tree.scores).all()
    few = one_step(tree, bits[rng.integers(len(bits), size=20)])
    assert not (np.round(few) == tree.scores).all()


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: parity_tree(8, [0, 1, 2]), "positions"),
        (lambda: parity_tree(8, [0]), "positions"),
        (lambda: parity_tree(4, [1, 1]), "positions"),
        (lambda: with_steps(shuffled(4, 2), [[1, 1, 1]]), "bits"),
        (lambda: gradient(shuffled(4, 2), 3, cube(4)), "node"),
        (lambda: gradient_by_counting(shuffled(4, 2), 5), "node"),
        (lambda: gradient(shuffled(8, 2), 8, np.broadcast_to(1, (2**22, 8))), "words"),
    ],
)
def test_bad_input_is_rejected_in_one_line(call, parameter):
    with rejects(*parameter.split()):
        call()
