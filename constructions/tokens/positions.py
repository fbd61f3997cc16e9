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
    """Both sizes; raises ValueError if tables of these sizes do not fit in memory."""
    rows_fit(vocabulary_size + max_length)
    return vocabulary_size, max_length


def rows_fit(count: int) -> None:
    """Raise ValueError unless the weights of `count` tokens and positions fit in memory."""
    count = min(count, 10**300)  # so that it can be formatted as a float
    what = f"the weights of {count:.4g} tokens and positions"
    machine.fits_in_memory(what, BYTES * count, "take fewer")


def binary_codes(count: int) -> np.ndarray:
    """Codes b(0), …, b(count − 1) in {±1}^r, r = max(1, ⌈log₂ count⌉): the binary digits.

    ⟨b(v), b(w)⟩ = r if v = w and ≤ r − 2 otherwise.
    """
    bits = max(1, (count - 1).bit_length())
    digits = np.arange(count)[:, None] >> np.arange(bits) & 1
    return 2.0 * digits - 1


def lattice(count: int) -> np.ndarray:
    """The `count` points (count, 2) of the square lattice nearest to the origin, which is first.

    The score |P|² − |P − Q|² is largest at Q = P, with gap at least 1, among all lattice points,
    and at most 4m of them have |P − Q|² = m.  The points have |P|² ≤ count/π + O(√count), so all
    numbers in a score are below 3·count/π + O(√count) and have log₂ count + O(1) bits.  The scores
    2·i·j − j² of positions on a line have 2·log₂ count bits.  The gap of 1 is a fraction Θ(1/count)
    of the largest score.
    """
    reach = int(np.ceil(np.sqrt(count / np.pi))) + 2  # the disc of this radius has enough points
    side = np.arange(-reach, reach + 1)
    points = np.stack(np.meshgrid(side, side, indexing="ij"), axis=-1).reshape(-1, 2)
    nearest = np.argsort((points**2).sum(-1), kind="stable")[:count]
    return points[nearest].astype(np.float64)


def positions(stream: Stream, points: np.ndarray, **registers: np.ndarray) -> PosEmbed:
    """The points (positions, 2) in `place`, their squares in `norm`, and further `registers`."""
    return PosEmbed(rows(stream, place=points, norm=(points**2).sum(1), **registers))


def look_up(
    stream: Stream,
    point: LinearRead,
    value: LinearReads,
    into: str | tuple[str, ...],
    c: float = 1.0,
) -> Head:
    """The head that outputs the value at the position with the point `point`.

    Scores are multiplied by c.
    """
    query, key = (2 * c * point, -c * one), (stream.read("place"), stream.read("norm"))
    return Head(query, key, value, into, margin=Margin(c))
