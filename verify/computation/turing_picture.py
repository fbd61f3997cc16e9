"""The picture of Turing machines: space-time diagrams, a row a step and a column a cell."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import ListedColormap, to_hex
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from theory.computation import TuringMachine
from theory.computation.turing import Step

SYMBOLS = ["#ffffff", "#22384f", "#d9a441", "#7a9e7e", "#b5651d", "#8a6fb0"]
STATES = ["#c0392b", "#2e8b57", "#1f5fa8", "#e07b00", "#8e44ad", "#16a085", "#7f8c8d", "#000000"]
FONT = 8.0
MOST_IN_A_ROW = 8  # states in the legend


def draw(runs: Sequence[tuple[TuringMachine, Sequence[Step]]]) -> Figure:
    """A panel for each machine, with its decoded steps on a blank tape."""
    rows = max(len(steps) for _, steps in runs) + 1
    figure = Figure(figsize=(1.2 + 3.0 * len(runs), min(12.0, 2.4 + 0.055 * rows)))
    figure.set_layout_engine("constrained")
    panels = figure.subplots(1, len(runs), squeeze=False)[0]
    for panel, (machine, steps) in zip(panels, runs, strict=True):
        _panel(panel, machine, steps)
    panels[0].set_ylabel("decoded steps", fontsize=FONT)
    return figure


def _panel(panel: Axes, machine: TuringMachine, steps: Sequence[Step]) -> None:
    tape, heads, states, first = machine.space_time(steps)
    symbols, inks = _colours(SYMBOLS, machine.n_symbols), _colours(STATES, machine.n_states)
    edges = first - 0.5, first + tape.shape[1] - 0.5, len(tape) - 0.5, -0.5
    panel.imshow(
        tape,
        cmap=ListedColormap(symbols),
        vmin=-0.5,
        vmax=machine.n_symbols - 0.5,
        extent=edges,
        aspect="auto",
        interpolation="nearest",
    )
    size = float(np.clip(900 / len(tape), 4, 40))
    panel.scatter(
        heads,
        np.arange(len(heads)),
        s=size,
        c=[inks[q] for q in states],
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
    marks = [
        Line2D([], [], marker="o", ls="", color=inks[q], label=machine.names[q])
        for q in sorted(set(states))
    ]
    panel.legend(
        handles=marks,
        title="head, by state",
        title_fontsize=FONT - 1,
        fontsize=FONT - 1,
        ncols=min(len(marks), MOST_IN_A_ROW),
        loc="upper center",
        bbox_to_anchor=(0.5, 0),
        borderaxespad=4.5,  # below the labels, however high the panel is
        columnspacing=0.6,
        handletextpad=0.1,
        frameon=False,
    )


def _colours(few: list[str], count: int) -> list[str]:
    """So many colours: these, or if they are too few, some of a rainbow."""
    rainbow = colormaps["turbo"](np.linspace(0, 1, count))
    return few[:count] if count <= len(few) else [to_hex(colour) for colour in rainbow]
