"""The picture of searches: accuracy after each lookup on uniform points, for several strategies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from verify.evidence.statistics import Mean
from verify.structures.accuracies_picture import by_lookup

COLOURS = {"binary": "#b5651d", "interpolation": "#1f5fa8", "greedy Bayes": "#2e8b57"}


def draw(found: Mapping[int, Mapping[str, Sequence[Mean]]]) -> Figure:
    """Draw accuracies after each lookup, with the error bars used in comparisons.

    There is one panel for each number of points.
    """
    figure = Figure(figsize=(1.2 + 2.9 * len(found), 3.4))
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for panel, (N, by_name) in zip(panels, found.items(), strict=True):
        by_lookup(panel, by_name, {name: (colour, name) for name, colour in COLOURS.items()})
        panel.set_title(f"{N} uniform points")
    panels[0].set(ylabel="nearest neighbour found, %", ylim=(0, 102))
    panels[0].legend(loc="lower right")
    return figure
