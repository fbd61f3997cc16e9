"""Sketches: k cells in which a stream of items is counted, and what is said of each count.

Items are numbers below V, drawn from known probabilities p; the error of an answer is the mean of
|estimate − count| over a query of the law p.  The k cells are d rows of w = k/d, and h_r(i) is the
cell of item i in row r.  The count of item i is c_i.

    count-min       T_r[h_r(i)] += 1, all rows;  min_r T_r[h_r(i)]                  [Cormode2005]
    conservative    as count-min, but only to max(T_r[h_r(i)], 1 + min_r T_r[h_r(i)])  [Estan2002]
    count-sketch    T_r[h_r(i)] += s_r(i) for random signs s;  median_r s_r(i)·T_r[h_r(i)]
                                                                                    [Charikar2004]
    balanced        count-min at d = 1 with as many items in each cell as in any other, or one more

Never is an estimate of the first two, and of the last, below the count, nor one of the second above
one of the first with the same cells: each cell of an item holds at least its count, as the least of
them grows by one with it; and by conservative updates no cell grows that count-min leaves alone,
and none by more.

For d = 1 the mean error is known: c_j of every other item j is added with the probability s that it
has the same cell, so

    E|T − c| = n·s·Σ_i p_i(1 − p_i),     s = 1/k at random, Σ_c v_c(v_c − 1)/(V(V − 1)) balanced,

v_c the items of cell c, whatever the order of the probabilities.
"""

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike

from theory import checks
from theory.checks import InputError


def zipf(V: int, exponent: float) -> np.ndarray:
    """p_i ∝ (i + 1)^−exponent, (V,).  Raises ValueError for V < 1 and an exponent below 0."""
    power = checks.nonnegative_number("exponent", exponent)
    p = np.arange(1, checks.dimension("V", V) + 1) ** -power
    return np.asarray(p / p.sum())


def random_hashes(sets: int, d: int, V: int, w: int, rng: np.random.Generator) -> np.ndarray:
    """d independent cells of each item, (sets, d, V).  Raises ValueError for counts below 1."""
    shape = tuple(checks.dimension(n, v) for n, v in (("sets", sets), ("d", d), ("V", V)))
    return rng.integers(checks.dimension("w", w), size=shape)


def balanced_hashes(sets: int, V: int, k: int, rng: np.random.Generator) -> np.ndarray:
    """Cells that hold as many items each, or one more, (sets, 1, V).

    Raises ValueError for counts below 1.
    """
    cells = np.arange(checks.dimension("V", V)) % checks.dimension("k", k)
    return rng.permuted(np.tile(cells, (checks.dimension("sets", sets), 1, 1)), axis=-1)


def counts_of(streams: ArrayLike, V: int) -> np.ndarray:
    """How often each of V items is in streams (…, n), (…, V).

    Raises ValueError for what are no items.
    """
    items = checks.tokens("streams", streams, checks.dimension("V", V))
    flat = items.reshape(-1, items.shape[-1])
    counts = np.zeros((len(flat), V), dtype=np.int64)
    np.add.at(counts, (np.arange(len(flat))[:, None], flat), 1)
    return counts.reshape(*items.shape[:-1], V)


def count_min(counts: ArrayLike, hashes: ArrayLike, w: int) -> np.ndarray:
    """min_r T_r[h_r(i)] of all items, for counts (…, V) and cells h (…, d, V), (…, V).

    Raises ValueError for counts that are not whole and at least 0, for what are no cells from 0 to
    w − 1, and shapes that do not belong together.
    """
    c, h = _together(counts, hashes, w)
    return np.asarray(_read(_added(np.broadcast_to(c[..., None, :], h.shape), h, w), h).min(-2))


def count_sketch(counts: ArrayLike, hashes: ArrayLike, signs: ArrayLike, w: int) -> np.ndarray:
    """median_r s_r(i)·T_r[h_r(i)], with signs s (…, d, V), (…, V): the mean of the two in the
    middle for an even d.

    Raises ValueError as `count_min`, and for what are no signs.
    """
    c, h = _together(counts, hashes, w)
    s = checks.signs("signs", signs)
    if s.shape != h.shape:
        raise InputError(f"signs have shape {s.shape} and hashes {h.shape}: give as many")
    return np.asarray(np.median(s * _read(_added(s * c[..., None, :], h, w), h), axis=-2))


def conservative(streams: ArrayLike, hashes: ArrayLike, w: int) -> np.ndarray:
    """min_r T_r[h_r(i)] after conservative updates by streams (…, n), item by item, (…, V).

    Raises ValueError for what are no items, and as `count_min`.
    """
    h = checks.step_counts("hashes", hashes)
    items = checks.tokens("streams", streams, h.shape[-1] if h.ndim > 1 else None)
    _, h = _together(counts_of(items, h.shape[-1]), h, w)
    d, V = h.shape[-2:]
    own, flat = h.reshape(-1, d, V), items.reshape(-1, items.shape[-1])
    table = np.zeros((len(own), d, w), dtype=np.int64)
    sets, rows = np.arange(len(own))[:, None], np.arange(d)
    for item in flat.T:
        cells = own[sets, rows, item[:, None]]
        held = table[sets, rows, cells]
        table[sets, rows, cells] = np.maximum(held, 1 + held.min(-1, keepdims=True))
    return np.asarray(_read(table.reshape(*h.shape[:-1], w), h).min(-2))


def one_row_error(p: ArrayLike, n: int, k: int, *, balanced: bool = False) -> float:
    """n·s·Σ_i p_i(1 − p_i), the mean error of one row of k cells after n items of law p (V,).

    Raises ValueError for counts below 1, and what are no probabilities.
    """
    law, cells = checks.nonnegative("p", p), checks.dimension("k", k)
    if law.ndim != 1 or abs(law.sum() - 1) > 1e-9:
        raise InputError(f"p has shape {law.shape} and the sum {law.sum():g}: give probabilities")
    share = Fraction(1, cells)
    if checks.truth("balanced", balanced):
        V = len(law)
        sizes = [V // cells + (c < V % cells) for c in range(cells)]
        share = Fraction(sum(v * (v - 1) for v in sizes), max(1, V * (V - 1)))
    return checks.dimension("n", n) * float(share) * float((law * (1 - law)).sum())


def best_answers(estimates: ArrayLike, counts: ArrayLike, weights: ArrayLike) -> np.ndarray:
    """The function f of an estimate with the least weighted mean of |f(estimate) − count|: for each
    estimate from 0 to the largest the weighted median of the counts, (largest + 1,); what has no
    weight is answered with itself.

    Raises ValueError for estimates and counts that are not whole and at least 0, negative weights,
    and shapes that differ.
    """
    said, c = checks.step_counts("estimates", estimates), checks.step_counts("counts", counts)
    w = checks.nonnegative("weights", weights)
    if not said.shape == c.shape == w.shape:
        raise InputError(f"shapes {said.shape}, {c.shape}, {w.shape}: give one for each")
    total = np.zeros((said.max() + 1, c.max() + 1))
    np.add.at(total, (said.ravel(), c.ravel()), w.ravel())
    share = total.cumsum(1)
    median = (2 * share >= share[:, -1:]).argmax(1)
    return np.where(share[:, -1] > 0, median, np.arange(len(median)))


def _together(counts: ArrayLike, hashes: ArrayLike, w: int) -> tuple[np.ndarray, np.ndarray]:
    c, h = checks.step_counts("counts", counts), checks.step_counts("hashes", hashes)
    if h.ndim < 2 or c.shape != (*h.shape[:-2], h.shape[-1]):
        raise InputError(
            f"counts have shape {c.shape} and hashes {h.shape}: give (…, V) and (…, d, V)"
        )
    if h.max() >= checks.dimension("w", w):
        raise InputError(f"hashes contain {h.max()}: give cells from 0 to {w - 1}")
    return c, h


def _added(values: np.ndarray, h: np.ndarray, w: int) -> np.ndarray:
    """The sums of values (…, V) in each of w cells, (…, w)."""
    flat, cells = values.reshape(-1, values.shape[-1]), h.reshape(-1, h.shape[-1])
    table = np.zeros((len(flat), w), dtype=np.int64)
    np.add.at(table, (np.arange(len(flat))[:, None], cells), flat)
    return table.reshape(*h.shape[:-1], w)


def _read(table: np.ndarray, h: np.ndarray) -> np.ndarray:
    return np.take_along_axis(table, h, axis=-1)
