"""Short codes for tokens and positions, with the score gaps that attention needs.

Attention finds a token by an inner product, so codes need a large gap of inner products, few
dimensions, and small integers, which every float dtype represents exactly.

Position j has a lattice point P_j (`place`) and its square |P_j|² (`norm`).  A token with the point
P_i in a register attends to position i by the score

    2⟨P_i, P_j⟩ − |P_j|² = |P_i|² − |P_i − P_j|².
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, LinearReads, rows
from constructions.blocks import PosEmbed
from constructions.margins import Margin
from constructions.stream import LinearRead, Stream, one
from theory import machine
from theory.kinds import Count, checked

BYTES = 512  # approximate bytes per token or position: its row of weights, intermediate arrays


@checked
def sizes(vocabulary_size: Count, max_length: Count) -> tuple[int, int]:
    """Raises ValueError if embeddings of these sizes do not fit in memory.

    Otherwise returns the checked sizes as a pair, (vocabulary_size, max_length).
    """
    rows_fit(vocabulary_size + max_length)
    return vocabulary_size, max_length


def rows_fit(count: int) -> None:
    """Raises ValueError if the weights of `count` tokens and positions do not fit in memory."""
    count = min(count, 10**300)  # so that it can be formatted as a float
    what = f"the weights of {count:.4g} tokens and positions"
    machine.fits_in_memory(what, BYTES * count, "give a smaller vocabulary or length")


@checked
def binary_codes(count: Count) -> np.ndarray:
    """Returns the binary codes b(0), …, b(count − 1) of the first numbers, as vectors of ±1.

    The result has shape (count, r) with r = max(1, ⌈log₂ count⌉). The inner product ⟨b(v), b(w)⟩ is
    r if v = w, and at most r − 2 if v ≠ w.
    """
    bits = max(1, (count - 1).bit_length())
    machine.fits_in_memory(f"{min(count, 10**300):.4g} codes", 24 * bits * count, "give fewer")
    digits = np.arange(count)[:, None] >> np.arange(bits) & 1
    return 2.0 * digits - 1


@checked
def lattice(count: Count) -> np.ndarray:
    """Returns the points (count, 2) of the square lattice nearest to the origin, the origin first.

    For a lattice point P, the score |P|² − |P − Q|² of lattice points Q is largest at Q = P, and
    exceeds all other scores by at least 1. At most 4m lattice points Q have |P − Q|² = m. All
    points returned have |P|² ≤ count/π + O(√count), so all numbers in a score are below 3·count/π +
    O(√count) and have log₂ count + O(1) bits. In comparison, the scores 2·i·j − j² of positions i
    and j on a line have 2·log₂ count bits. The difference of 1 between the two largest scores is a
    fraction Θ(1/count) of the largest score.
    """
    reach = int(np.ceil(np.sqrt(count / np.pi))) + 2  # the disc of this radius has enough points
    side = np.arange(-reach, reach + 1)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest = np.argsort((points**2).sum(-1), kind="stable")[:count]
    return points[nearest].astype(np.float64)


def positions(stream: Stream, points: np.ndarray, **registers: np.ndarray) -> PosEmbed:
    """Returns a position embedding that contains a lattice point for each position.

    Row j of `points` (positions, 2) is the point P of position j. The embedding writes P to the
    register `place` of the residual stream, and |P|² to the register `norm`. `registers` contains
    the contents of further registers by name, as arrays with one row for each position.
    """
    return PosEmbed(rows(stream, place=points, norm=(points**2).sum(1), **registers))


def look_up(
    stream: Stream,
    point: LinearRead,
    value: LinearReads,
    into: str | tuple[str, ...],
    c: float = 1.0,
) -> Head:
    """Returns the head that outputs the value at the position with a given lattice point.

    The position embedding gives each position a point P of the square lattice, in the register
    `place`, and |P|², in the register `norm` (see `positions`). `point` reads the lattice point to
    look up, and `value` reads the value. The output is added to the register `into`. Scores are
    multiplied by c, so that the largest score exceeds all others by at least c.
    """
    query, key = (2 * c * point, -c * one), (stream.read("place"), stream.read("norm"))
    return Head(query, key, value, into, margin=Margin(c))
