"""Sources, trees, texts and samples at sizes beyond those of other tests, against definitions."""

import math
from collections import Counter
from fractions import Fraction as F
from itertools import combinations, product

import numpy as np
import pytest
from language_by_definition import law, rng
from refusals import rejects

from constructions.language import sample, string_model
from theory import language as L


@pytest.mark.parametrize(("d", "k"), [(20, 8), (24, 16), (3, 2)])
def test_closed_forms_of_large_trees(d, k):
    """Sets of three tokens whose product is a token, counted one by one over GF(2)."""
    tree = L.parity_tree(d, rng(k).permutation(d)[:k].tolist())
    bits = [1 << j for j in range(d)]
    for a, b in tree.children.tolist():
        bits.append(bits[a] ^ bits[b])
    for node in {d, d + k // 2 - 1, d + k - 2}:
        m = node
        products = Counter[int]()
        of_token = Counter[tuple[int, int]]()
        for each in combinations(range(m), 3):
            x = bits[each[0]] ^ bits[each[1]] ^ bits[each[2]]
            products[x] += 1
            for j in each:
                of_token[j, x] += 1
        r = [products[bits[j]] - of_token[j, bits[j]] for j in range(m)]
        R = F(sum(r), 4)
        children = tree.children[node - d].tolist()
        wanted = [
            int(j in children) - F(2, m) - F(24 * r[j], m**2) + 96 * R / m**3 for j in range(m)
        ]
        assert L.gradient_in_closed_form(tree, node) == wanted
    for beyond in (d - 1, d + k - 1):
        with rejects("node"):
            L.gradient_in_closed_form(tree, beyond)


@pytest.mark.parametrize(("t", "windows"), [(9, (0, 7, 8)), (8, (3,))])
def test_long_windows(t, windows):
    """Entropies of all words of t symbols of the even process, in floating point."""
    source = L.even_process()
    words = {w: float(source.probability(list(w))) for w in product((0, 1), repeat=t)}

    def entropy(window):
        """H of the last symbol given the `window` symbols before it."""
        joint, before = Counter[tuple[int, ...]](), Counter[tuple[int, ...]]()
        for word, p in words.items():
            joint[word[t - 1 - window :]] += p
            before[word[t - 1 - window : -1]] += p
        return sum(p * math.log(before[w[:-1]] / p) for w, p in joint.items() if p)

    for window in windows:
        found = float(L.window_entropy_by_definition(source, t, window).ball(64).mid())
        assert found == pytest.approx(entropy(window), abs=1e-12)
        cost = float(L.window_cost(source, t, window).ball(64).mid())
        assert cost == pytest.approx(entropy(window) - entropy(t - 1), abs=1e-12)


@pytest.mark.parametrize("m", [1, 33, 300])
def test_estimates_from_many_counts(m):
    counts = rng(m).integers(4, size=m).tolist()
    n = sum(counts) + 2
    assert L.seen_once(counts, n) == F(sum(c == 1 for c in counts), n)


@pytest.mark.parametrize("length", [30])
def test_long_samples(length):
    """Of two strings of equal probability, each sample is one, and both are drawn."""
    strings = rng(length).integers(3, size=(2, length))
    strings[:, :4], strings[0, 4], strings[1, 4] = 1, 0, 2
    model = string_model(3, strings, [F(1, 2), F(1, 2)])
    drawn = sample(model, np.full((12, 1), 3), length, 0).tolist()
    assert all(row in strings.tolist() for row in drawn)
    assert {row[4] for row in drawn} == {0, 2}
    begun = np.insert(strings[1, :20], 0, 3)
    assert sample(model, begun, length - 20, 1).tolist() == strings[1, 20:].tolist()


@pytest.mark.parametrize("k", [1, 9, 20])
def test_families_of_many_features(k):
    base, features = law(5), rng(k).integers(-3, 4, size=(5, k))
    x = [F(int(a), int(b)) for a, b in rng(k + 1).integers(1, 9, size=(k, 2))]
    wanted = [
        p * math.prod((v ** int(e) for v, e in zip(x, row, strict=True)), start=F(1))
        for p, row in zip(base, features, strict=True)
    ]
    assert L.log_linear(base, features).weights(x) == wanted
