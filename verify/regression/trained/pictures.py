"""Pictures of trained regressors: error by layer, and heat maps of the similarity of errors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np

from verify.trained.checkpoints import described
from verify.trained.predictors import labels_of
from verify.trained.published import KINDS, published

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes

if TYPE_CHECKING:
    from verify.trained.probes import Probed
    from verify.trained.similarities import Tables

HeatMap = tuple[str, np.ndarray, np.ndarray]  # title, steps (k,), similarities (k, layers)


def draw_layers(path: Path, probed: Mapping[str, Probed]) -> None:
    """Saved to path: the error of every layer; and of some layers by the number of examples."""
    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.3), layout="constrained")
    for name, each in probed.items():
        errors = each.errors.mean(-1)
        left.plot(range(len(errors)), errors, "o-", label=described(name), lw=1.3, ms=4)
    left.set(xlabel="layer (0: embedding)", ylabel="squared error / variance of a label")
    left.set_yscale("log")
    left.legend(frameon=False, fontsize=8)
    some = next(iter(probed.values()))
    labels = labels_of(some.prompts)
    colours = plt.colormaps["viridis"](np.linspace(0, 0.9, len(some.predictions)))
    for layer, (predictions, colour) in enumerate(zip(some.predictions, colours, strict=True)):
        by_prefix = ((predictions - labels) ** 2).mean(0) / some.variance
        right.plot(
            by_prefix, color=colour, lw=1.3, label=f"layer {layer}" if layer else "embedding"
        )
    best = ((some.bayes - labels) ** 2).mean(0) / some.variance
    right.plot(best, "k--", lw=1, label="best possible")
    right.set(xlabel="examples before", title=described(next(iter(probed))))
    right.legend(frameon=False, fontsize=8)
    for panel in (left, right):
        panel.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_similarities(path: Path, tables: Mapping[str, Tables], prompts: str) -> None:
    """Saved to path: heat maps of each model, and last the published ones.

    Newton's and that of gradient descent side by side; prompts are isotropic or ill_conditioned.
    """
    theirs, _ = published(f"{prompts}_gradient_descent")
    rows = []
    for name, each in tables.items():
        newton, descent = each.newton, each.gradient_descent
        few = doublings(descent.steps, descent.mean, theirs)
        rows.append(
            [
                (f"{described(name)}: {newton.algorithm}", newton.steps, newton.mean),
                (f"{described(name)}: {descent.algorithm}", *few),
            ]
        )
    rows.append(
        [
            (f"published, d = 20: {kind.replace('_', ' ')}", *published(f"{prompts}_{kind}"))
            for kind in KINDS
        ]
    )
    draw_heat_maps(path, rows, "similarity of errors")


def doublings(
    steps: np.ndarray, means: np.ndarray, also: Sequence[int] | np.ndarray = ()
) -> tuple[np.ndarray, np.ndarray]:
    """Of a table of gradient steps the rows of 0, of powers of 2, and of some others."""
    kept = ((steps & (steps - 1)) == 0) | np.isin(steps, also)
    return steps[kept], means[kept]


def draw_heat_maps(path: Path, rows: Sequence[Sequence[HeatMap]], label: str) -> None:
    """Saved to path: heat maps in rows; of the steps shown the best is framed."""
    heights = [max(4.0, *(0.17 * len(steps) for _, steps, _ in row)) for row in rows]
    figure, panels = plt.subplots(
        len(rows),
        2,
        figsize=(13, sum(heights)),
        layout="constrained",
        squeeze=False,
        height_ratios=heights,
    )
    for row, row_panels in zip(rows, panels, strict=True):
        for heat_map, panel in zip(row, row_panels, strict=True):
            _heat_map(panel, *heat_map, label)
    figure.savefig(path, dpi=130)
    plt.close(figure)


def draw_penalties(
    path: Path, penalties: np.ndarray, noise: float, squares: Mapping[str, np.ndarray]
) -> None:
    """Saved to path: how far each model is from ridge regression, by its penalty."""
    figure, panel = plt.subplots(figsize=(6.5, 4.3), layout="constrained")
    for name, each in squares.items():
        panel.plot(penalties, each, "o-", lw=1.3, ms=4, label=described(name))
    panel.axvline(noise**2, color="k", lw=1, ls="--", label="the variance of the noise")
    panel.set(xlabel="penalty of ridge regression", ylabel="mean squared difference")
    panel.set(xscale="log", yscale="log")
    panel.legend(frameon=False, fontsize=8)
    panel.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def draw_forgetting(path: Path, errors: Mapping[str, np.ndarray]) -> None:
    """Saved to path: the error at an example asked again, against how many came after it."""
    figure, panel = plt.subplots(figsize=(6.5, 4.3), layout="constrained")
    for name, each in errors.items():
        spread = 2 * each.std(-1, ddof=1) / np.sqrt(each.shape[-1])
        gaps = range(len(each))
        panel.errorbar(gaps, each.mean(-1), yerr=spread, fmt="o-", lw=1.3, label=described(name))
    panel.set(xlabel="examples after it", ylabel="squared error / variance of a label")
    panel.set_ylim(0, 1.25 * max(float(each.mean(-1).max()) for each in errors.values()))
    panel.legend(frameon=False, fontsize=9)
    panel.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def _heat_map(panel: Axes, title: str, steps: np.ndarray, mean: np.ndarray, label: str) -> None:
    shown = panel.imshow(mean, cmap="viridis", aspect="auto", vmin=0.4, vmax=1)
    rows, columns = mean.shape
    for layer, best in enumerate(mean.argmax(axis=0)):
        for row in range(rows):
            colour = "black" if mean[row, layer] > 0.75 else "white"
            text = f"{mean[row, layer]:.3f}"
            panel.text(layer, row, text, ha="center", va="center", fontsize=6, color=colour)
        frame = plt.Rectangle((layer - 0.5, best - 0.5), 1, 1, fill=False, ec="red", lw=1.6)
        panel.add_patch(frame)
    panel.set_xticks(range(columns), [str(layer) for layer in range(1, columns + 1)])
    panel.set_yticks(range(rows), steps.tolist(), fontsize=7)
    panel.set(xlabel="layer", ylabel="steps")
    panel.set_title(title, fontsize=9)
    panel.figure.colorbar(shown, ax=panel, label=label)
