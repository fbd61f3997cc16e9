"""The picture of Turing machines: space-time diagrams with a row per step and a column per cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator

from theory.computation import TuringMachine
from theory.computation.turing import Step

SYMBOLS = ["#ffffff", "#22384f", "#d9a441", "#7a9e7e", "#b5651d", "#8a6fb0"]
STATES = ["#c0392b", "#2e8b57", "#1f5fa8", "#e07b00", "#8e44ad", "#16a085", "#7f8c8d", "#000000"]
FONT = 8.0
MOST_IN_A_ROW = 4  # entries of the legend, for each panel


def draw(runs: Sequence[tuple[TuringMachine, Sequence[Step]]]) -> Figure:
    """The figure with a space-time diagram of each machine's decoded steps on a blank tape.

    The panels share one legend.
    """
    rows = max(len(steps) for _, steps in runs) + 1
    figure = Figure(figsize=(1.2 + 3.0 * len(runs), min(12.0, 2.4 + 0.055 * rows)))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(1, len(runs), squeeze=False)[0]
    symbols = _colours(SYMBOLS, max(machine.n_symbols for machine, _ in runs))
    inks, seen = _inks(runs), set[str]()
    for panel, (machine, steps) in zip(panels, runs, strict=True):
        seen |= _panel(panel, machine, steps, symbols, inks)
    panels[0].set_ylabel("decoded steps", fontsize=FONT)
    marks: list[Artist] = [
        Line2D([], [], marker="o", ls="", color=ink, label=f"state {name}")
        for name, ink in inks.items()
        if name in seen
    ]
    marks += [
        Patch(facecolor=colour, edgecolor="0.6", label=f"symbol {s}" if s else "blank")
        for s, colour in enumerate(symbols)
    ]
    ncols = min(len(marks), MOST_IN_A_ROW * len(runs))
    figure.legend(
        handles=marks, fontsize=FONT, ncols=ncols, loc="outside lower center", frameon=False
    )
    return figure


def _panel(
    panel: Axes,
    machine: TuringMachine,
    steps: Sequence[Step],
    symbols: list[str],
    inks: dict[str, str],
) -> set[str]:
    """Draws one run; returns the names of the states that occur in it."""
    tape, heads, states, first = machine.space_time(steps)
    names = [machine.names[q] for q in states]
    panel.imshow(
        tape,
        cmap=ListedColormap(symbols),
        vmin=-0.5,
        vmax=len(symbols) - 0.5,
        extent=(first - 0.5, first + tape.shape[1] - 0.5, len(tape) - 0.5, -0.5),
        aspect="auto",
        interpolation="nearest",
    )
    panel.scatter(
        heads,
        np.arange(len(heads)),
        s=float(np.clip(900 / len(tape), 4, 40)),
        c=[inks[name] for name in names],
        edgecolors="white",
        linewidths=0.4,
    )
    halted = machine.following([*machine.writing(), *steps]) is None
    ones = int((tape[-1] > 0).sum())
    how = f"{len(steps)} steps, {'halts' if halted else 'goes on'}"
    panel.set_title(f"{machine.name}\n{how}, {ones} cells not blank", fontsize=FONT + 1)
    panel.set_xlabel("cell", fontsize=FONT)
    panel.tick_params(labelsize=FONT)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    return {*names}


def _inks(runs: Sequence[tuple[TuringMachine, Sequence[Step]]]) -> dict[str, str]:
    """A colour for each name of a state; colours are the same in all machines."""
    names = {name for machine, _ in runs for name in machine.names}
    ordered = sorted(names, key=lambda name: (len(name), name))
    return dict(zip(ordered, _colours(STATES, len(ordered)), strict=True))


def _colours(few: list[str], count: int) -> list[str]:
    """Returns this number of colours: the given colours, or a rainbow if these are too few."""
    rainbow = colormaps["turbo"](np.linspace(0, 1, count))
    return few[:count] if count <= len(few) else [to_hex(colour) for colour in rainbow]
