"""The picture of a circuit: nodes as columns, registers as rows.

Circuits have more edges than a drawing with arrows can show without crossings: each register is a
wire, as in a diagram of a quantum circuit, and labels cannot overlap.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from textwrap import fill

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from constructions.circuits.edges import PORTS, Edge, Node, wires
from constructions.circuits.effects import Effects
from theory.kinds import InputError, shown

COLOURS = {
    "Q": "tab:blue",
    "K": "tab:green",
    "V": "tab:purple",
    "MLP": "tab:orange",
    "logits": "tab:brown",
}
LETTERS = {"MLP": "in", "logits": "out"}
FAINT, WRITER = "0.75", "tab:red"
ACROSS, DOWN = 0.75, 0.34  # inches for a column and for a row


def picture(
    name: str, nodes: Sequence[Node], edges: Sequence[Edge], effects: Effects | None
) -> Figure:
    """The figure that `Circuit.draw` returns, with the model's name as its title."""
    strong = {*edges} if effects is None else {*effects.mattering}
    column = {node: x for x, node in enumerate(nodes)}
    spans = wires(nodes, edges)
    rows = [*spans]
    row = {register: y for y, register in enumerate(rows)}
    label = max(map(len, rows), default=1)
    width, height = ACROSS * len(nodes) + 0.09 * label + 0.4, DOWN * len(rows) + 1.5
    figure = Figure(figsize=(max(width, 5.2), height), layout="constrained")
    axis = figure.subplots()
    for register, y in row.items():
        axis.plot(spans[register], [y, y], color="0.85", linewidth=2, zorder=1)
    by_source = sorted(edges, key=lambda edge: edge not in strong)
    for edge in reversed(by_source):  # strong edges are drawn last
        colour = WRITER if edge in strong else FAINT
        x, y = column[edge.source] + 0.22, row[edge.register]
        axis.plot(x, y, ">", color=colour, markersize=8, zorder=3)
    reads: dict[tuple[Node, str], list[Edge]] = {}
    for edge in edges:
        reads.setdefault((edge.target, edge.register), []).append(edge)
    for (node, register), into in reads.items():
        ports = sorted({edge.port for edge in into}, key=PORTS.index)
        for i, port in enumerate(ports):
            matters = any(edge.port == port and edge in strong for edge in into)
            x = column[node] - 0.06 + 0.19 * (i - (len(ports) - 1))
            axis.text(
                x,
                row[register],
                LETTERS.get(port, port),
                color=COLOURS[port] if matters else FAINT,
                ha="center",
                va="center",
                fontsize=9,
                fontweight="bold",
                bbox={"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"},
                zorder=4,
            )
    _frame(axis, nodes, rows)
    axis.set_title(fill(name, round(11 * figure.get_figwidth())), fontsize=10)
    names = "Q, K, V: read by a head; in: by an MLP; out: by the unembedding; ▸ written"
    grey = "; grey: changes no answer" if effects is not None else ""
    axis.set_xlabel(fill(names + grey, round(13 * figure.get_figwidth())), fontsize=8)
    return figure


def _frame(axis: Axes, nodes: Sequence[Node], rows: list[str]) -> None:
    """Names of nodes and registers, and a stripe behind every second layer."""
    axis.set_yticks(range(len(rows)), rows)
    axis.set_xticks(range(len(nodes)), list(map(str, nodes)))
    axis.xaxis.tick_top()
    axis.tick_params(length=0, labelsize=9)
    axis.set_xlim(-0.5, len(nodes) - 0.5)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.spines[:].set_visible(False)
    start = 0
    for number, (_, group) in enumerate(groupby(nodes, key=lambda node: node.depth[0])):
        stop = start + len(list(group))
        if number % 2:
            axis.axvspan(start - 0.5, stop - 0.5, color="0.96", zorder=0)
        start = stop


def save(figure: Figure, path: Path) -> None:
    """Writes a picture; raises ValueError for an unknown format or a folder that takes no file."""
    formats = sorted(figure.canvas.get_supported_filetypes())
    if path.suffix[1:].lower() not in formats:
        raise InputError(
            f"path is {shown(str(path))}: give a file that ends in .{', .'.join(formats)}"
        )
    try:
        figure.savefig(path, dpi=150)
    except OSError as error:
        raise InputError(
            f"cannot write {path} ({error.strerror}): give a file in a folder that exists"
        ) from None
