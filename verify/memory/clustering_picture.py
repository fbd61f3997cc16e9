"""The picture of clustering: tokens on S² at several times, and their smallest inner product."""

from __future__ import annotations

from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure, SubFigure
from matplotlib.patches import Circle

from theory.memory.orthogonal_start import escape_time, orthogonal_start
from theory.memory.sphere import n_clusters, smallest_inner_product, sphere_flow

BETA, TOKENS = 6.0, 32  # β and the number of tokens on the sphere
SHOWN = 0.0, 2.0, 20.0, 3000.0  # the times of the four spheres
BETAS = 1.0, 4.0, 9.0  # β for the pairs of tokens
NAMED: dict[str, Any] = {"textcoords": "offset points", "fontsize": 8}
PATH, START, NOW, CURVE, TEXT = "#b9c6d6", "#8a8f98", "#1f5fa8", "#b5651d", "#444444"


def draw(rng: np.random.Generator) -> Figure:
    """Draws tokens on four spheres, and inner products of two tokens as functions of time.

    Above: paths and positions of random tokens under softmax attention (SA) at β = 6. The tokens
    form several clusters, which merge only after a long time [GKPR2024]. Below: the inner product
    of two tokens that start orthogonal, for three values of β, by integration of the tokens
    (points) and of the scalar equation for the inner product (lines). The times e^β/(2β) are
    marked.
    """
    figure = Figure(figsize=(10, 6.4))
    above, below = np.asarray(figure.subfigures(2, 1, height_ratios=[1.05, 1]))
    _spheres(above, rng)
    _curves(below.subplots())
    return figure


def _spheres(figure: SubFigure, rng: np.random.Generator) -> None:
    X = rng.standard_normal((TOKENS, 3))
    # All tokens are on the half that faces the reader, so they are visible.
    X[:, 1] = -abs(X[:, 1])
    X /= np.linalg.norm(X, axis=-1, keepdims=True)
    times = np.unique(np.concatenate([[0.0], np.geomspace(0.01, SHOWN[-1], 300), SHOWN]))
    tokens = sphere_flow(X, BETA, times).tokens
    title = f"{TOKENS} tokens on the sphere under self-attention, β = {BETA:g} (grey: start)"
    figure.suptitle(title, fontsize=10)
    for panel, time in zip(figure.subplots(1, len(SHOWN)), SHOWN, strict=True):
        last = int(np.searchsorted(times, time))
        now, clusters = tokens[last], int(n_clusters(tokens[last], 0.99))
        panel.add_patch(Circle((0, 0), 1, facecolor="#f6f7f9", edgecolor=START, lw=0.8))
        for i in range(TOKENS):
            panel.plot(*tokens[: last + 1, i][:, [0, 2]].T, color=PATH, lw=0.8, zorder=1)
        panel.scatter(X[:, 0], X[:, 2], s=7, color=START, lw=0, zorder=2)
        panel.scatter(now[:, 0], now[:, 2], s=22, color=NOW, lw=0, alpha=0.8, zorder=3)
        panel.set_title(f"t = {time:g}: {clusters} cluster{'s' * (clusters != 1)}", fontsize=9)
        panel.set(xlim=(-1.06, 1.06), ylim=(-1.06, 1.06), aspect="equal")
        panel.axis("off")


def _curves(panel: Axes) -> None:
    n = 2
    for beta in BETAS:
        met = escape_time(beta)
        times = np.geomspace(0.05, 3 * met, 2000)
        products = orthogonal_start(n, beta, times)
        panel.plot(times, products, color=CURVE, lw=1.6, zorder=2)
        half = times[np.searchsorted(products, 0.5)], 0.5
        panel.annotate(f"β = {beta:g}", half, (-8, 3), color=CURVE, ha="right", **NAMED)
        sampled = np.geomspace(0.05, 3 * met, 25)
        integrated = smallest_inner_product(sphere_flow(np.eye(n), beta, sampled).tokens)
        panel.plot(sampled, integrated, "o", ms=3.2, color=NOW, zorder=3)
        estimate = np.exp(beta) / (2 * beta)
        panel.axvline(estimate, color=START, lw=0.8, ls=(0, (4, 3)), zorder=1)
        label = f"$e^β/2β$ = {estimate:.4g}"
        panel.annotate(label, (estimate, 1.03), (-2, 3), color=TEXT, **NAMED)
    panel.set(xscale="log", ylim=(-0.02, 1.03), xlabel="time t", ylabel="inner product ⟨x₁, x₂⟩")
    # There is space for labels above the flat part of the last curve.
    beta, time = BETAS[-1], 12.0
    on_curve = time, float(orthogonal_start(n, beta, [time])[0])
    panel.annotate("lines: the equation for γ(t)", on_curve, (0, 26), color=CURVE, **NAMED)
    panel.annotate("points: two tokens, integrated", on_curve, (0, 12), color=NOW, **NAMED)
    for side in ("top", "right"):
        panel.spines[side].set_visible(False)
