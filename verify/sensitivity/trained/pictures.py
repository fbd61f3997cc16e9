"""Pictures of trained networks: Sens by noise, influence by position, and the regulariser."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

AGAINST = 1.0  # the σ for which patches are shown
ByKind = Mapping[str, np.ndarray]  # whether predictions change, (seeds, σ, images, patches)


def draw_digits(sigmas: Sequence[float], trained: ByKind, untrained: ByKind) -> Figure:
    """The figure of Sens by standard deviation σ of the noise, and of Sens by patch at one σ.

    Sens by σ is shown for trained and for untrained models. Lines are means over seeds, and bands
    reach from the smallest to the largest value over seeds.
    """
    kinds = len(trained)
    figure = Figure(figsize=(13, 7))
    grid = figure.add_gridspec(2, kinds, height_ratios=[2, 1])
    halves = figure.add_subplot(grid[0, : kinds // 2]), figure.add_subplot(grid[0, kinds // 2 :])
    for panel, shown, title in (
        (halves[0], trained, "after training to accuracy .99"),
        (halves[1], untrained, "before training"),
    ):
        for kind, rows in shown.items():
            sens = rows.mean((-2, -1))
            (line,) = panel.plot(sigmas, sens.mean(0), "o-", ms=4, label=kind)
            panel.fill_between(
                sigmas, sens.min(0), sens.max(0), color=line.get_color(), alpha=0.2, lw=0
            )
        panel.set_xscale("log", base=2)
        panel.set_xticks(sigmas, [f"{sigma:g}" for sigma in sigmas])
        panel.set(xlabel="σ of the noise on a patch", ylabel="fraction of predictions that change")
        panel.set_title(title)
        panel.legend()
        panel.grid()
    at = sigmas.index(AGAINST)
    maps = {kind: rows[:, at].mean((0, 1)) for kind, rows in trained.items()}
    largest = max(float(each.max()) for each in maps.values())
    for place, (kind, fractions) in enumerate(maps.items()):
        panel = figure.add_subplot(grid[1, place])
        side = round(len(fractions) ** 0.5)
        image = panel.imshow(fractions.reshape(side, side), cmap="viridis", vmin=0, vmax=largest)
        panel.set_title(f"{kind}, by patch, σ = {AGAINST:g}")
        panel.set_xticks([])
        panel.set_yticks([])
        figure.colorbar(image, ax=panel, shrink=0.8)
    return figure


def draw_text(profiles: dict[str, list[np.ndarray]]) -> Figure:
    """The figure of influence by position, with a line for each seed.

    The influence is the fraction of predictions that change with the word at the position.
    """
    figure = Figure(figsize=(13, 4.2))
    panels = figure.subplots(1, len(profiles), sharey=True)
    for panel, (kind, seeds) in zip(panels, profiles.items(), strict=True):
        for seed, fractions in enumerate(seeds):
            panel.plot(
                np.arange(1, len(fractions) + 1), fractions, "o-", ms=4, label=f"seed {seed}"
            )
        panel.set(xlabel="position of the word")
        panel.set_title(kind)
        panel.legend()
        panel.grid()
    panels[0].set(ylabel="fraction of predictions that change", ylim=(0, None))
    return figure


def draw_regulariser(
    trainings: Sequence[str], figures: Mapping[str, Sequence[Sequence[float]]]
) -> Figure:
    """The figure of measures of regularised models, with a panel for each measure.

    There is a point for every kind of training and every seed.
    """
    figure = Figure(figsize=(14, 3.8))
    panels = figure.subplots(1, len(figures))
    for panel, (title, groups) in zip(panels, figures.items(), strict=True):
        for seed, values in enumerate(zip(*groups, strict=True)):
            panel.plot(range(len(groups)), values, "o-", ms=5, lw=0.8, label=f"seed {seed}")
        panel.set_xticks(range(len(groups)), trainings, rotation=20, fontsize=8)
        panel.set_title(title)
        panel.set_ylim(0, 1.05 * np.max(groups))
        panel.grid(axis="y")
    panels[0].legend()
    return figure
