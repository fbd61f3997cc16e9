"""Sketches: k cells in which a stream of items is counted, and the estimate of each count.

Items are numbers below V, drawn from known probabilities p; the error of a sketch is the mean of
|estimate − count| over a query drawn from p.  The k cells are d rows of w = k/d, and h_r(i) is the
cell of item i in row r.  The count of item i is c_i.

    count-min       T_r[h_r(i)] += 1, all rows;  min_r T_r[h_r(i)]                  [Cormode2005]
    conservative    as count-min, but only to max(T_r[h_r(i)], 1 + min_r T_r[h_r(i)])  [Estan2002]
    count-sketch    T_r[h_r(i)] += s_r(i) for random signs s;  median_r s_r(i)·T_r[h_r(i)]
                                                                                    [Charikar2004]
    balanced        count-min at d = 1 with as many items in each cell as in any other, or one more

An estimate of the first two, or of the last, is never below the count, and conservative update is
never above count-min with the same cells: each cell of an item holds at least its count, as the
smallest of them grows by one with every occurrence; and by a conservative update no cell grows that
count-min does not increase, and none by more than one.

For d = 1 the mean error is known: the count c_j of every other item j is added with the probability
s that it has the same cell, and E c_j = n·p_j, so

    E|T − c| = n·s·Σ_i p_i(1 − p_i),     s = 1/k at random, Σ_c v_c(v_c − 1)/(V(V − 1)) balanced,

where v_c is the number of items in cell c, whatever the order of the probabilities.
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
"""An integer from 1 to 10^8: items, or cells."""
Streams: TypeAlias = Annotated[Any, Integers("... n", Within(least=0, below="V"))]
"""Items below V, shape (…, n)."""
Counts: TypeAlias = Annotated[Any, Integers("... V", Within(least=0))]
"""Integers ≥ 0, one for each item, shape (…, V)."""
CountArray: TypeAlias = Annotated[Any, Integers("...", Within(least=0))]
"""Integers ≥ 0, of the shape of the other arrays."""
WeightArray: TypeAlias = Annotated[Any, Reals("...", Within(least=0))]
"""Finite numbers ≥ 0, of the shape of the other arrays."""
Hashes: TypeAlias = Annotated[Any, Integers("... d V", Within(least=0, below="w"))]
"""The cell, below w, of each item in each of d rows, shape (…, d, V)."""


@checked
def zipf(V: Listed, exponent: NonNegative) -> np.ndarray:
    """p_i ∝ (i + 1)^−exponent, (V,)."""
    machine.fits_in_memory(f"{V:.3g} items", 24 * V, "take fewer")
    p = np.arange(1, V + 1) ** -exponent
    return np.asarray(p / p.sum())


@checked
def zipf_streams(
    sets: Size, V: Listed, n: Size, exponent: NonNegative, rng: Seed
) -> tuple[np.ndarray, np.ndarray]:
    """Zipf's law in a random order of the items for each of the sets, (sets, V), and n items of it,
    (sets, n).  Raises ValueError for what no memory holds."""
    _fits(sets * n * V)
    law = rng.permuted(np.tile(zipf(V, exponent), (sets, 1)), axis=-1)
    return law, (rng.uniform(size=(sets, n, 1)) > law.cumsum(1)[:, None, :-1]).sum(-1)


@checked
def random_hashes(sets: Size, d: Size, V: Size, w: Listed, rng: Seed) -> np.ndarray:
    """d independent cells of each item, (sets, d, V).  Raises ValueError for what no memory
    holds."""
    _fits(sets * d * V)
    return rng.integers(w, size=(sets, d, V))


@checked
def balanced_hashes(sets: Size, V: Size, k: Size, rng: Seed) -> np.ndarray:
    """Cells that hold as many items each, or one more, (sets, 1, V).

    Raises ValueError for what no memory holds.
    """
    _fits(sets * V)
    return rng.permuted(np.tile(np.arange(V) % k, (sets, 1, 1)), axis=-1)


@checked
def counts_of(streams: Streams, V: Size) -> np.ndarray:
    """How often each of V items is in streams (…, n), (…, V).

    Raises ValueError for what no memory holds.
    """
    flat = streams.reshape(-1, streams.shape[-1])
    _fits(len(flat) * V)
    counts = np.zeros((len(flat), V), dtype=np.int64)
    np.add.at(counts, (np.arange(len(flat))[:, None], flat), 1)
    return counts.reshape(*streams.shape[:-1], V)


@checked
def count_min(counts: Counts, hashes: Hashes, w: Size) -> np.ndarray:
    """min_r T_r[h_r(i)] of all items, for counts (…, V) and cells h (…, d, V), (…, V).

    Raises ValueError for what no memory holds.
    """
    c, h = counts, hashes
    return np.asarray(_read(_added(np.broadcast_to(c[..., None, :], h.shape), h, w), h).min(-2))


@checked
def count_sketch(
    counts: Counts, hashes: Hashes, signs: Annotated[Any, Signs("... d V")], w: Size
) -> np.ndarray:
    """median_r s_r(i)·T_r[h_r(i)], with signs s (…, d, V), (…, V): the mean of the two in the
    middle for an even d.

    Raises ValueError for what no memory holds.
    """
    c, h, s = counts, hashes, signs
    return np.asarray(np.median(s * _read(_added(s * c[..., None, :], h, w), h), axis=-2))


@checked
def conservative(streams: Streams, hashes: Hashes, w: Size) -> np.ndarray:
    """min_r T_r[h_r(i)] after conservative updates by streams (…, n), item by item, (…, V).

    Raises ValueError for what no memory holds.
    """
    h, items = hashes, streams
    d, V = h.shape[-2:]
    _fits(h.size // V * w)
    own, flat = h.reshape(-1, d, V), items.reshape(-1, items.shape[-1])
    table = np.zeros((len(own), d, w), dtype=np.int64)
    sets, rows = np.arange(len(own))[:, None], np.arange(d)
    for item in flat.T:
        cells = own[sets, rows, item[:, None]]
        held = table[sets, rows, cells]
        table[sets, rows, cells] = np.maximum(held, 1 + held.min(-1, keepdims=True))
    return np.asarray(_read(table.reshape(*h.shape[:-1], w), h).min(-2))


@checked
def one_row_error(
    p: Annotated[Any, Reals("V", Within(least=0))], n: Size, k: Listed, *, balanced: bool = False
) -> float:
    """n·s·Σ_i p_i(1 − p_i), the mean error of one row of k cells after n items of law p (V,).

    Raises ValueError for what are no probabilities.
    """
    if abs(p.sum() - 1) > 1e-9:
        raise InputError(f"p has the sum {p.sum():g}: give probabilities")
    share = Fraction(1, k)
    if balanced:
        V = len(p)
        least, more = divmod(V, k)
        pairs = more * (least + 1) * least + (k - more) * least * (least - 1)
        share = Fraction(pairs, max(1, V * (V - 1)))
    return n * float(share) * float((p * (1 - p)).sum())


@checked
def best_answers(estimates: CountArray, counts: CountArray, weights: WeightArray) -> np.ndarray:
    """The function f of an estimate with the least weighted mean of |f(estimate) − count|: for each
    estimate from 0 to the largest the weighted median of the counts, (largest + 1,); what has no
    weight is returned unchanged.

    Raises ValueError for what no memory holds.
    """
    said, c, w = estimates, counts, weights
    _fits((int(said.max()) + 1) * (int(c.max()) + 1))
    total = np.zeros((said.max() + 1, c.max() + 1))
    np.add.at(total, (said.ravel(), c.ravel()), w.ravel())
    share = total.cumsum(1)
    median = (2 * share >= share[:, -1:]).argmax(1)
    return np.where(share[:, -1] > 0, median, np.arange(len(median)))


@checked
def mean_errors(
    weights: Annotated[Any, Reals("... V", Within(least=0))],
    counts: Counts,
    estimates: Annotated[Any, Reals("... V")],
) -> np.ndarray:
    """Σ_i p_i·|estimate_i − c_i|, the mean error of a query of the law p (…, V), (…,)."""
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
