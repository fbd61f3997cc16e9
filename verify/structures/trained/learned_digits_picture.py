"""The picture of `learned-digits`: accuracies after each lookup, and features of images."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from verify.structures.trained.lookups import Proportion
from verify.structures.trained.lookups_picture import by_lookup


def draw(
    measured: Mapping[str, Sequence[Proportion]],
    made: Mapping[str, np.ndarray],
    numbers: np.ndarray,
) -> Figure:
    """Draw accuracies after each lookup, and for each network the features of images by number.

    `made` maps each network to the features (draws, numbers), and `numbers` (draws, numbers) are
    the numbers that the images show.  In a rotated order, the features have a step.
    """
    figure = Figure(figsize=(5 + 3 * len(made), 3.8))
    found, *others = figure.subplots(1, 1 + len(made), width_ratios=[1.5, *[1.0] * len(made)])
    by_lookup(found, measured)
    for panel, (name, each) in zip(others, made.items(), strict=True):
        panel.plot(numbers.ravel(), each.ravel(), ".", ms=2)
        panel.set(xlabel="number", ylim=(-1.05, 1.05))
        panel.set_title(name, fontsize=9)
    others[0].set_ylabel("feature of its images")
    return figure
