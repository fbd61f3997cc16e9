"""Positions that a head can look up, among any number of tokens.

Position j has a lattice point P_j (`place`) and its square |P_j|² (`norm`).  A token that holds the
point P_i of a position, however it came by it, asks for it with the score

    2⟨P_i, P_j⟩ − |P_j|² = |P_i|² − |P_i − P_j|²,

which is largest at j = i, by at least 1; at most 4m positions are m below (`codes.lattice`).
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, Readings, rows
from constructions.margins import Margin
from constructions.stream import Reading, Stream, one
from constructions.transformer import PosEmbed


def positions(stream: Stream, points: np.ndarray, **registers: np.ndarray) -> PosEmbed:
    """The points (positions, 2) in `place`, their squares in `norm`, and further `registers`."""
    return PosEmbed(rows(stream, place=points, norm=(points**2).sum(1), **registers))


def look_up(
    stream: Stream, point: Reading, carries: Readings, into: str | tuple[str, ...], c: float = 1.0
) -> Head:
    """The head that carries from the position whose point is read; c multiplies its scores."""
    asks, answers = (2 * c * point, -c * one), (stream.read("place"), stream.read("norm"))
    return Head(asks, answers, carries, into, margin=Margin(c))
