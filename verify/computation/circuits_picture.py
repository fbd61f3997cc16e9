"""The picture of circuits: number of gates and depth against the length of the word."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullFormatter, ScalarFormatter

from verify.computation.to_circuit import Circuits, depths, sizes
from verify.regression.pictures import panels_of


def draw(title: str, families: Mapping[str, list[Circuits]]) -> Figure:
    """The figure of the circuits of several models.

    The left panel shows the number of gates against the length of the word, and the right panel
    shows the depth.  Marks are hollow and of decreasing size, so that equal values stay visible.
    """
    with panels_of(10, 4.5, columns=2, legend="upper left") as (figure, (left, right)):
        for place, (label, found) in enumerate(families.items()):
            style: dict[str, Any] = {"mfc": "none", "ms": 12 - 1.8 * place, "lw": 1, "label": label}
            left.semilogy(*zip(*sorted(sizes(found).items()), strict=True), "o-", **style)
            right.plot(*zip(*sorted(depths(found).items()), strict=True), "o-", **style)
        for axis in (left.xaxis, right.xaxis, right.yaxis):
            axis.set_major_locator(MaxNLocator(integer=True))
        top = max(max(depths(found).values()) for found in families.values())
        left.set(xlabel="symbols n", ylabel="gates", title=f"Gates: {title}")
        left.set_ylim(top=left.get_ylim()[1] ** 1.25)
        left.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        left.yaxis.set_major_formatter(ScalarFormatter())
        left.yaxis.set_minor_formatter(NullFormatter())
        right.set(xlabel="symbols n", ylabel="depth", title=f"Depth: {title}", ylim=(0, 1.5 * top))
    return figure
