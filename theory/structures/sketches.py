"""Sketches: counts of the items of a stream in k cells, and the estimate of each count.

Items are integers below V = `vocabulary_size`, drawn from known probabilities p.  A stream has n
items.  The error of a sketch is the mean of |estimate − count| over a query drawn from p.  The k
cells form d = `n_rows` rows of w = k/d cells, and h_r(i) is the cell of item i in row r.  The count
of item i is c_i.  Each sketch has an update by an item i and an estimate of c_i from the tables
T_r:

    count-min       T_r[h_r(i)] += 1, all rows;  min_r T_r[h_r(i)]                  [Cormode2005]
    conservative    as count-min, but only to max(T_r[h_r(i)], 1 + min_r T_r[h_r(i)])  [Estan2002]
    count-sketch    T_r[h_r(i)] += s_r(i) for random signs s;  median_r s_r(i)·T_r[h_r(i)]
                                                                                    [Charikar2004]
    balanced        count-min at d = 1 with cells whose sizes differ by at most one

The estimates of count-min, conservative update and balanced cells are at least the count: every
cell of an item contains at least its count, as the smallest of these cells grows by one with every
occurrence.  The estimates of conservative update are at most those of count-min with the same
cells, because a conservative update increases only cells that count-min increases, by at most one.

For d = 1 the mean error is known.  Every other item j is in the same cell with probability s, and
then adds its count c_j, with E c_j = n·p_j.  So the estimate T of a queried item with count c has

    E|T − c| = n·s·Σ_i p_i(1 − p_i),     s = 1/k at random, Σ_b v_b(v_b − 1)/(V(V − 1)) balanced,

where v_b is the number of items in cell b.  This holds for every order of the probabilities.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import (
    Count,
    InputError,
    Integers,
    NonNegative,
    Reals,
    Seed,
    Signs,
    Within,
    checked,
)
from theory.structures.points import Size

Listed: TypeAlias = Annotated[Count, Within(most=10**8)]
"""An integer from 1 to 10^8: a number of items or cells."""
Streams: TypeAlias = Annotated[Any, Integers("... n", Within(least=0, below="V"))]
"""Items below V, shape (…, n)."""
Counts: TypeAlias = Annotated[Any, Integers("... V", Within(least=0, most=10**9))]
"""Integers from 0 to 10^9, one for each item, shape (…, V)."""
CountArray: TypeAlias = Annotated[Any, Integers("...", Within(least=0))]
"""Integers ≥ 0, of the shape of the other arrays."""
WeightArray: TypeAlias = Annotated[Any, Reals("...", Within(least=0))]
"""Finite numbers ≥ 0, of the shape of the other arrays."""
Hashes: TypeAlias = Annotated[Any, Integers("... d V", Within(least=0, below="n_cells"))]
"""The cell, from 0 to n_cells − 1, of each item in each of d rows, shape (…, d, V)."""


@checked
def zipf(vocabulary_size: Listed, exponent: NonNegative) -> np.ndarray:
    """The probability of each item in a Zipf distribution, (vocabulary_size,).

    Items are numbered from 0, and the probability of item i is proportional to (i + 1)^−exponent.
    """
    machine.fits_in_memory(f"{vocabulary_size:.3g} items", 24 * vocabulary_size, "give fewer items")
    p = np.arange(1, vocabulary_size + 1) ** -exponent
    return np.asarray(p / p.sum())


@checked
def zipf_streams(
    n_sets: Size, vocabulary_size: Listed, n: Size, exponent: NonNegative, seed: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Zipf distributions (n_sets, V) over items in random orders, and streams (n_sets, n) of items.

    V is `vocabulary_size`.  In row s of the distributions, the r-th most probable item has a
    probability proportional to r^−exponent, and the order of the items is random.  Stream s
    consists of n independent items from the distribution in row s.  Raises ValueError for arrays
    that do not fit in memory.
    """
    _fits(n_sets * (vocabulary_size + n + -(-n * vocabulary_size // 12)))  # 2 bytes a comparison
    rng = np.random.default_rng(seed)
    distribution = rng.permuted(np.tile(zipf(vocabulary_size, exponent), (n_sets, 1)), axis=-1)
    return distribution, (
        rng.uniform(size=(n_sets, n, 1)) > distribution.cumsum(1)[:, None, :-1]
    ).sum(-1)


@checked
def random_hashes(
    n_sets: Size, n_rows: Size, vocabulary_size: Size, n_cells: Listed, seed: Seed
) -> np.ndarray:
    """Independent uniform cells of each item in each row of a sketch, (n_sets, n_rows, V).

    There are V = `vocabulary_size` items.  Each of `n_sets` sketches has `n_rows` rows of `n_cells`
    cells, numbered from 0.  Raises ValueError for arrays that do not fit in memory.
    """
    _fits(n_sets * n_rows * vocabulary_size)
    return np.random.default_rng(seed).integers(n_cells, size=(n_sets, n_rows, vocabulary_size))


@checked
def balanced_hashes(n_sets: Size, vocabulary_size: Size, n_cells: Size, seed: Seed) -> np.ndarray:
    """A random assignment of items to cells, with nearly equally many items in each cell.

    The result (n_sets, 1, V) contains, for each of `n_sets` independent assignments, the cell of
    each of V = `vocabulary_size` items.  The axis of length 1 indexes the rows of a sketch, here
    one.  The numbers of items in any two of the `n_cells` cells differ by at most one.  Raises
    ValueError for arrays that do not fit in memory.
    """
    _fits(n_sets * vocabulary_size)
    return np.random.default_rng(seed).permuted(
        np.tile(np.arange(vocabulary_size) % n_cells, (n_sets, 1, 1)), axis=-1
    )


@checked
def counts_of(
    streams: Annotated[Any, Integers("... n", Within(least=0, below="vocabulary_size"))],
    vocabulary_size: Size,
) -> np.ndarray:
    """The number of occurrences of each item in each stream, (…, V).

    There are V = `vocabulary_size` items, the integers from 0 to V − 1.  `streams` (…, n) contains
    streams of n items.  Raises ValueError for arrays that do not fit in memory.
    """
    flat = streams.reshape(-1, streams.shape[-1])
    _fits(len(flat) * vocabulary_size)
    counts = np.zeros((len(flat), vocabulary_size), dtype=np.int64)
    np.add.at(counts, (np.arange(len(flat))[:, None], flat), 1)
    return counts.reshape(*streams.shape[:-1], vocabulary_size)


@checked
def count_min(counts: Counts, hashes: Hashes, n_cells: Size) -> np.ndarray:
    """The estimate of the count of each item by the count-min sketch, (…, V).

    The sketch has d rows of `n_cells` cells.  `counts` (…, V) contains the true count of each of V
    items, and hashes[r, i] is the cell of item i in row r, for `hashes` (…, d, V).  Each cell
    contains the sum of the counts of its items.  The estimate for item i is the minimum, over the
    rows r, of the content of cell hashes[r, i].  Raises ValueError for arrays that do not fit in
    memory.
    """
    c, h = counts, hashes
    return np.asarray(
        _read(_added(np.broadcast_to(c[..., None, :], h.shape), h, n_cells), h).min(-2)
    )


@checked
def count_sketch(
    counts: Counts, hashes: Hashes, signs: Annotated[Any, Signs("... d V")], n_cells: Size
) -> np.ndarray:
    """The estimate of the count of each item by the count-sketch, (…, V).

    The sketch has d rows of `n_cells` cells.  `counts` (…, V) contains the true count of each of V
    items.  `hashes` and `signs` have shape (…, d, V): hashes[r, j] is the cell of item j in row r,
    and signs[r, j] is 1 or −1.  Each cell of row r contains the sum of signs[r, j]·counts[j] over
    the items j of the cell.  Let y_r be the content of cell hashes[r, i].  The estimate for item i
    is the median of the products signs[r, i]·y_r over the rows r.  For an even number of rows, the
    median is the mean of the two middle values.  Raises ValueError for arrays that do not fit in
    memory.
    """
    c, h, s = counts, hashes, signs
    return np.asarray(np.median(s * _read(_added(s * c[..., None, :], h, n_cells), h), axis=-2))


@checked
def conservative(streams: Streams, hashes: Hashes, n_cells: Size) -> np.ndarray:
    """The estimate of the count of each item by a sketch with conservative updates, (…, V).

    The sketch has d rows of `n_cells` counters, which are 0 at first.  `hashes` (…, d, V) contains,
    for each row and each of V items, the counter of the item in this row.  The items of the streams
    (…, n) are read one after another.  An item adds 1 to those of its d counters that are equal to
    the smallest of its d counters.  The estimate for an item is the smallest of its d counters
    after the whole stream.  Raises ValueError for arrays that do not fit in memory.
    """
    h, items = hashes, streams
    d, V = h.shape[-2:]
    _fits(h.size // V * n_cells)
    hashed, flat = h.reshape(-1, d, V), items.reshape(-1, items.shape[-1])
    table = np.zeros((len(hashed), d, n_cells), dtype=np.int64)
    sets, rows = np.arange(len(hashed))[:, None], np.arange(d)
    for item in flat.T:
        cells = hashed[sets, rows, item[:, None]]
        before = table[sets, rows, cells]
        table[sets, rows, cells] = np.maximum(before, 1 + before.min(-1, keepdims=True))
    return np.asarray(_read(table.reshape(*h.shape[:-1], n_cells), h).min(-2))


@checked
def one_row_error(
    p: Annotated[Any, Reals("V", Within(least=0))],
    n: Size,
    n_cells: Listed,
    *,
    balanced: bool = False,
) -> float:
    """The mean error of a sketch with one row of counters, n·s·Σ_i p_i(1 − p_i).

    Each of V items is assigned to one of `n_cells` counters.  A counter counts all items assigned
    to it, and the estimate for an item is its counter.  The sketch counts n independent items from
    the distribution p (V,), in which item i has probability p_i.  The error is |estimate − count|
    for a further item drawn from p.  s is the probability that two different items have the same
    counter.  For random counters, s is 1/n_cells.  If `balanced` is true, the numbers v_b of items
    that share a counter b differ by at most one, and s is Σ_b v_b(v_b − 1)/(V(V − 1)).  Raises
    ValueError if the entries of p do not sum to 1.
    """
    if abs(p.sum() - 1) > 1e-9:
        raise InputError(f"p has the sum {p.sum():g}: give probabilities whose sum is 1")
    s = Fraction(1, n_cells)
    if balanced:
        V = len(p)
        least, more = divmod(V, n_cells)
        pairs = more * (least + 1) * least + (n_cells - more) * least * (least - 1)
        s = Fraction(pairs, max(1, V * (V - 1)))
    return n * float(s) * float((p * (1 - p)).sum())


@checked
def best_answers(estimates: CountArray, counts: CountArray, weights: WeightArray) -> np.ndarray:
    """The function f of an estimate that minimises the weighted mean of |f(estimate) − count|.

    The function is returned as an array, which contains f(e) for each integer e from 0 to the
    largest estimate.  The arrays `estimates`, `counts` and `weights` have equal shapes; their
    entries at one index are an estimate, the true count and the weight of this pair.  f(e) is the
    weighted median of the counts whose estimate is e.  If all these counts have weight 0, or no
    estimate is e, then f(e) is e.  Raises ValueError for arrays that do not fit in memory.
    """
    e, c, w = estimates, counts, weights
    _fits((int(e.max()) + 1) * (int(c.max()) + 1))
    total = np.zeros((e.max() + 1, c.max() + 1))
    np.add.at(total, (e.ravel(), c.ravel()), w.ravel())
    cumulative = total.cumsum(1)
    median = (2 * cumulative >= cumulative[:, -1:]).argmax(1)
    return np.where(cumulative[:, -1] > 0, median, np.arange(len(median)))


@checked
def mean_errors(
    weights: Annotated[Any, Reals("... V", Within(least=0))],
    counts: Counts,
    estimates: Annotated[Any, Reals("... V")],
) -> np.ndarray:
    """The mean error Σ_i weights[i]·|estimates[i] − counts[i]| over the items i, (…,).

    All three arrays have shape (…, V) for V items.  Item i has the count counts[i] and the estimate
    estimates[i], and is queried with probability weights[i].
    """
    return np.asarray((weights * abs(estimates - counts)).sum(-1))


def _added(values: np.ndarray, h: np.ndarray, w: int) -> np.ndarray:
    """The sums of values (…, V) in each of w cells, (…, w)."""
    flat, cells = values.reshape(-1, values.shape[-1]), h.reshape(-1, h.shape[-1])
    _fits(len(flat) * w)
    table = np.zeros((len(flat), w), dtype=np.int64)
    np.add.at(table, (np.arange(len(flat))[:, None], cells), flat)
    return table.reshape(*h.shape[:-1], w)


def _fits(numbers: int) -> None:
    machine.fits_in_memory(
        f"{numbers:.3g} numbers", 24 * numbers, "take fewer cells, items or sets"
    )


def _read(table: np.ndarray, h: np.ndarray) -> np.ndarray:
    return np.take_along_axis(table, h, axis=-1)
