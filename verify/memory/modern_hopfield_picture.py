"""The picture of `modern-hopfield`: energy along retrieval, and the three regimes in the plane."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.memory.modern_hopfield import modern_hopfield_energy, modern_hopfield_step

# There are two arcs of three patterns of length 2, 25° apart.  At β = 0.1 the Lipschitz constant of
# an update is at most β·2² < 1, so there is one fixed point.  The variance is 3.5 along the axis of
# the arcs and 0.48 across the axis, and β = 1.2 lies between the inverses of these variances.  For
# β = 40 the separation 0.37 is large.
REGIMES = (("global average", 0.1), ("metastable", 1.2), ("single pattern", 40.0))
ENERGY, COLOURS = 9, ("C0", "C1", "C2", "C3", "C4", "C5")
LIMIT = 2.9
AS_THEY_ARE: dict[str, Any] = {"angles": "xy", "scale_units": "xy", "scale": 1, "width": 0.004}
STAR: dict[str, Any] = {"ms": 13, "color": "C3", "mec": "white", "mew": 0.7, "zorder": 4}


def two_arcs() -> np.ndarray:
    """Six patterns in the plane, on two arcs."""
    angles = np.radians([-10, 15, 40, 170, 195, 220])
    return 2 * np.column_stack([np.cos(angles), np.sin(angles)])


def draw() -> Figure:
    """Draws the energy during retrieval, and the energy landscapes of the three regimes.

    Left: the energies of six queries after each update, at the β of the metastable regime. Right:
    a panel for each of the regimes global average, metastable and single pattern. The panels show
    the energy of states in the plane as grey levels, and the updates of a grid of states as
    arrows.
    """
    figure = Figure(figsize=(16, 4.4))
    panels = figure.subplots(1, 4, width_ratios=(1.1, 1, 1, 1))
    X = two_arcs()
    name, beta = REGIMES[1]
    queries = np.array([[0, 2.6], [-0.5, 1.4], [0.6, -2.0], [1.0, -0.4], [-2.6, 2.2], [-0.4, 0]])
    _energies(panels[0], X, beta, queries, name)
    for panel, (label, sharpness) in zip(panels[1:], REGIMES, strict=True):
        _plane(panel, X, sharpness, label)
        if sharpness == beta:
            for query, colour in zip(queries, COLOURS, strict=True):
                panel.plot(*query, marker="D", ms=6, color=colour, mec="white", mew=0.8, zorder=5)
    handles, labels = panels[1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside lower right", ncols=4, fontsize=9)
    return figure


def _energies(panel: Axes, X: np.ndarray, beta: float, queries: np.ndarray, name: str) -> None:
    for query, colour in zip(queries, COLOURS, strict=True):
        states = [modern_hopfield_step(X, query, beta, t) for t in range(ENERGY)]
        energies = [float(modern_hopfield_energy(X, xi, beta)) for xi in states]
        label = f"ξ = ({query[0]:g}, {query[1]:g})".replace("-", "−")
        panel.plot(energies, "o-", ms=4, lw=1.2, color=colour, label=label)
    panel.set(xlabel="updates t", ylabel="energy E(ξ(t))", xticks=range(ENERGY))
    title = f"energy along retrieval\n{name}, β = {beta:g}; queries as ◆ on the right"
    panel.set_title(title)
    panel.grid()
    panel.legend()


def _plane(panel: Axes, X: np.ndarray, beta: float, name: str) -> None:
    axis = np.linspace(-LIMIT, LIMIT, 121)
    grid = np.stack(np.meshgrid(axis, axis), axis=-1)
    panel.contourf(axis, axis, modern_hopfield_energy(X, grid, beta), 18, cmap="Greys", alpha=0.55)
    starts = grid[10::20, 10::20].reshape(-1, 2)
    moved = modern_hopfield_step(X, starts, beta)
    steps = *starts.T, *(moved - starts).T
    panel.quiver(*steps, **AS_THEY_ARE, color="C0", alpha=0.65, label="one update")
    rest = modern_hopfield_step(X, starts, beta, 500)
    residual = np.abs(modern_hopfield_step(X, rest, beta) - rest).max(axis=1)
    ends = np.unique(rest[residual < 1e-9].round(6), axis=0)
    panel.plot(*X.T, "o", ms=5, color="black", label="patterns")
    panel.plot(*ends.T, "*", **STAR, label="fixed points")
    count = f"{len(ends)} fixed point{'s' * (len(ends) != 1)} reached from the grid"
    panel.set(xlim=(-LIMIT, LIMIT), ylim=(-LIMIT, LIMIT), aspect="equal", xlabel="ξ₁", ylabel="ξ₂")
    panel.set_title(f"{name}, β = {beta:g}\n{count}")
