"""Pictures: capacities of Hopfield networks and dense memories, and energy along retrieval."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.memory.capacity import (
    clopper_pearson,
    critical_load,
    dense_patterns,
    mceliece_patterns,
    retrieval_overlap,
)
from theory.memory.capacity_curve import capacity_curve, fixed_points
from theory.memory.dense import dense_energy, dense_preferred
from theory.memory.hopfield import hebb, hopfield_energy
from theory.memory.patterns import flipped, random_patterns

NETWORKS = 60  # networks at each point of a curve


def draw_hopfield(d: int, rng: np.random.Generator) -> Figure:
    """A figure of the measured capacity of Hebb networks of d neurons, and of their energies.

    Left: the fraction of patterns that are fixed points, and the median overlap after relaxation,
    as functions of the load (patterns per neuron), with 95 % intervals. Right: the energy after
    every update of a neuron, divided by the energy of a stored pattern, from this pattern with a
    quarter of the bits flipped.
    """
    figure, left, right = _panels()
    curve = capacity_curve(d, np.linspace(0.02, 0.2, 10), NETWORKS, rng)
    for measured, colour, label in (
        (curve.stable_patterns, "C0", "patterns that are fixed points"),
        (curve.overlap, "C1", "overlap after relaxation, median"),
    ):
        _bars(left, curve.loads, (measured.value, measured.low, measured.high), colour, label)
    critical = float(critical_load().load)
    loads = critical - np.geomspace(1e-9, critical - 1e-3, 40)
    stated = [float(retrieval_overlap(load)) for load in loads]
    left.plot(loads, stated, "k:", lw=1.2, label="mean-field overlap, d → ∞")
    left.set(xlabel="load α = P/d", ylabel="fraction of patterns; overlap", xlim=(0, 0.21))
    every, one = mceliece_patterns(d, every=True) / d, mceliece_patterns(d) / d
    places = {"d/(4 ln d)": every, "d/(2 ln d)": one, "α_c": critical}
    _thresholds(left, places)
    title = f"Hebb networks of {d} neurons, {curve.runs} per load, 95 % intervals"
    left.set_title(title)
    box: dict[str, Any] = {"framealpha": 1, "edgecolor": "white", "fontsize": 8}
    left.legend(loc="center left", bbox_to_anchor=(0, 0.4), **box)
    for k, load in enumerate((0.05, 0.1, 0.2)):
        xi = random_patterns(max(1, round(load * d)), d, rng)
        _retrieval(right, xi, None, f"α = {load:g}", f"C{k}", rng)
    _energy_axes(right, f"classical network of {d} neurons")
    return figure


def draw_dense(
    rng: np.random.Generator,
    sizes: Iterable[tuple[int, int]],
) -> Figure:
    """A figure of the measured capacity of dense memories, and of energies of retrieval.

    `sizes` contains pairs of a degree n and a number d of neurons. The number of patterns is given
    in units of the threshold d^{n−1}/(2 (2n−3)!! ln d). Left: the fraction of patterns that are
    fixed points, with exact 95 % intervals, as a function of the number of patterns. One pattern
    of each network is tested. Right: the energy after every update of a neuron, as in
    `draw_hopfield`, with a fifth of the threshold as number of patterns.
    """
    figure, left, right = _panels()
    factors = np.linspace(0.15, 2.4, 10)
    for k, (degree, d) in enumerate(sizes):
        stated, rows = dense_patterns(d, degree), []
        for factor in factors:
            fixed = fixed_points(rng, max(1, round(factor * stated)), d, degree, NETWORKS)
            rows.append((fixed / NETWORKS, *clopper_pearson(fixed, NETWORKS, 0.95)))
        # The curves are shifted, so that the intervals do not overlap.
        x, bars = factors + 0.02 * (k - 1), tuple(np.array(rows).T)
        _bars(left, x, bars, f"C{k}", f"n = {degree}, d = {d}")
        xi = random_patterns(max(1, round(0.2 * stated)), d, rng)
        _retrieval(right, xi, degree, f"n = {degree}, {len(xi)} patterns", f"C{k}", rng)
    unit = "(d^(n−1) / (2 (2n−3)!! ln d))"
    fraction = "fraction of patterns that are fixed points"
    left.set(xlabel=f"patterns / {unit}", ylabel=fraction, xlim=(0, 2.5))
    _thresholds(left, {**{f"all, n = {n}: 1/{n}": 1 / n for n in (4, 3, 2)}, "almost all": 1.0})
    title = f"Dense memories, F(x) = xⁿ, {NETWORKS} networks per point, 95 % intervals"
    left.set_title(title)
    left.legend(loc="upper right")
    _energy_axes(right, "dense memories")
    return figure


def _panels() -> tuple[Figure, Axes, Axes]:
    figure = Figure(figsize=(11, 4.3))
    left, right = figure.subplots(1, 2)
    left.set_ylim(-0.03, 1.05)
    return figure, left, right


def _bars(
    panel: Axes, x: np.ndarray, values: tuple[np.ndarray, ...], colour: str, label: str
) -> None:
    value, low, high = values
    # For few networks the interval of a median may be infinite; matplotlib does not draw NaN.
    reach = np.stack([value - low, high - value])
    reach[~np.isfinite(reach)] = np.nan
    style: dict[str, Any] = {"fmt": "o-", "ms": 3.5, "lw": 1, "capsize": 2}
    panel.errorbar(x, value, yerr=reach, color=colour, label=label, **style)


def _thresholds(panel: Axes, places: Mapping[str, float]) -> None:
    """Draw vertical lines with their names, which are rotated because the lines are close."""
    style: dict[str, Any] = {"rotation": 90, "fontsize": 8, "color": "0.3", "va": "bottom"}
    beside: dict[str, Any] = {"xytext": (2, 0), "textcoords": "offset points"}
    for name, x in places.items():
        if x <= panel.get_xlim()[1]:
            panel.axvline(x, color="0.45", lw=0.9, ls="--", zorder=0)
            panel.annotate(name, (x, 0.02), xycoords=("data", "axes fraction"), **beside, **style)


def _retrieval(
    panel: Axes,
    xi: np.ndarray,
    degree: int | None,
    label: str,
    colour: str,
    rng: np.random.Generator,
) -> None:
    """The energy after every update of two sweeps, from a pattern with d/4 bits flipped.

    The network is a dense memory of this degree, or, for None, the classical network.
    """
    d, W = xi.shape[1], hebb(xi)
    s = flipped(xi[0], d // 4, rng)
    visited = [s]
    for i in np.concatenate([rng.permutation(d), rng.permutation(d)]):
        s = s.copy()
        wanted = np.sign(W[i] @ s) if degree is None else dense_preferred(xi, s, degree)[i]
        s[i] = wanted or s[i]
        visited.append(s)
    states = np.stack([*visited, xi[0]])
    energies = hopfield_energy(W, states) if degree is None else dense_energy(xi, states, degree)
    *heights, stored = energies.astype(float)
    label = f"{label}: overlap {s @ xi[0] / d:.2f} at the end"
    panel.plot(
        np.arange(len(heights)) / d, heights / abs(stored), color=colour, lw=1.4, label=label
    )


def _energy_axes(panel: Axes, what: str) -> None:
    panel.axhline(-1, color="0.45", lw=0.9, ls="--", zorder=0)
    panel.text(0.02, -1, "energy of the pattern", fontsize=8, color="0.3", va="bottom")
    panel.set(xlabel="updates / d (sweeps)", ylabel="E / |E(pattern)|", xlim=(0, 2))
    panel.set_title(f"Retrieval, a quarter of the bits flipped: {what}")
    panel.grid()
    panel.legend(loc="upper right")
