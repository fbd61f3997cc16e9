"""Sketches beside loops, and the error of one row beside an enumeration."""

from collections import Counter
from itertools import product
from statistics import median

import numpy as np
import pytest

from theory.structures import (
    balanced_hashes,
    best_answers,
    conservative,
    count_min,
    count_min_error,
    count_sketch,
    counts_of,
    one_row_error,
    random_hashes,
    zipf,
)
from verify.finding import Verdict
from verify.structures.sketches import DEPTHS, _between

RNG = np.random.default_rng(0)


@pytest.mark.parametrize("d", [1, 2, 4])
def test_sketches_by_loops(d):
    V, w, rng = 9, 4, np.random.default_rng(d)
    streams, h = rng.integers(V, size=(6, 20)), random_hashes(6, d, V, w, rng)
    signs = rng.choice([-1, 1], size=h.shape)
    counts = counts_of(streams, V)
    for s, stream in enumerate(streams.tolist()):
        plain, careful, signed = Counter(), Counter(), Counter()
        for item in stream:
            cells = [(r, h[s, r, item]) for r in range(d)]
            least = min(careful[cell] for cell in cells)
            for cell in cells:
                plain[cell] += 1
                signed[cell] += signs[s, cell[0], item]
                careful[cell] = max(careful[cell], least + 1)
        for i in range(V):
            cells = [(r, h[s, r, i]) for r in range(d)]
            assert counts[s, i] == stream.count(i)
            assert count_min(counts, h, w)[s, i] == min(plain[c] for c in cells)
            assert conservative(streams, h, w)[s, i] == min(careful[c] for c in cells)
            by_signs = median(signs[s, c[0], i] * signed[c] for c in cells)
            assert count_sketch(counts, h, signs, w)[s, i] == by_signs


@pytest.mark.parametrize("balanced", [False, True])
def test_the_error_of_one_row_by_enumeration(balanced):
    """All streams of two of three items, all hashes into two cells."""
    p, n, k = np.array([0.5, 0.375, 0.125]), 2, 2
    hashes = [h for h in product(range(k), repeat=3) if not balanced or sum(h) == 1]
    total = 0.0
    for h in hashes:
        for stream in product(range(3), repeat=n):
            counts = counts_of(np.array(stream), 3)
            said = count_min(counts, np.array([h]), k)
            total += p[list(stream)].prod() * (p * (said - counts)).sum() / len(hashes)
    assert np.isclose(total, one_row_error(p, n, k, balanced=balanced), rtol=1e-14)


@pytest.mark.parametrize("d", [1, 2])
def test_the_error_given_the_counts_by_all_hashes(d):
    counts, p, w = np.array([3, 1, 0, 2]), np.array([0.125, 0.5, 0.25, 0.125]), 2
    hashes = np.array(list(product(product(range(w), repeat=4), repeat=d)))
    said = count_min(np.tile(counts, (len(hashes), 1)), hashes, w)
    mean = (p * (said - counts)).sum(-1).mean()
    assert np.isclose(count_min_error(counts, p, d, w), mean, rtol=1e-13)


def test_no_cell_grows_more_by_conservative_updates():
    """All streams of four of three items, all pairs of rows of two cells."""
    streams = np.array(list(product(range(3), repeat=4)))
    for h in product(product(range(2), repeat=3), repeat=2):
        hashes = np.tile(h, (len(streams), 1, 1))
        counts = counts_of(streams, 3)
        careful = conservative(streams, hashes, 2)
        assert (counts <= careful).all()
        assert (careful <= count_min(counts, hashes, 2)).all()


def test_balanced_cells():
    h = balanced_hashes(5, 10, 4, np.random.default_rng(1))
    assert h.shape == (5, 1, 10)
    assert all(sorted(np.bincount(row[0], minlength=4)) == [2, 2, 3, 3] for row in h)


def test_the_best_answer_to_an_estimate():
    said, counts = [2, 2, 2, 0, 4], [0, 1, 2, 0, 3]
    weights = [1, 1, 3, 1, 1]
    answers = best_answers(said, counts, weights)
    assert answers.tolist() == [0, 1, 2, 3, 3]

    def loss(table):
        off = abs(np.array([table[s] for s in said]) - counts)
        return (off * weights).sum()

    tables = product(range(4), repeat=5)
    assert loss(answers) == min(map(loss, tables))


def test_zipf():
    assert np.isclose(zipf(100, 1.2).sum(), 1)
    assert np.isclose(zipf(4, 1.0)[0] / zipf(4, 1.0)[3], 4)
    assert np.isclose(one_row_error(zipf(100, 1.2), 100, 32), 2.7923, atol=1e-4)


@pytest.mark.parametrize(
    ("careful", "verdict"), [(0, Verdict.FAILS), (1, Verdict.HOLDS), (2, Verdict.FAILS)]
)
def test_one_estimate_outside_of_count_and_count_min_fails(careful, verdict):
    counts = np.ones((2, 3), dtype=int)
    names = [f"{name} {d}" for name in ("conservative", "count-min") for d in DEPTHS]
    estimates = {name: counts.copy() for name in names}
    estimates[f"conservative {DEPTHS[1]}"][1, 2] = careful
    assert _between(counts, estimates).verdict is verdict
