"""The picture of searches: accuracy by lookup on uniform points, by strategy and N."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from verify.evidence.statistics import Mean
from verify.structures.accuracies import ERRORS

COLOURS = {"binary": "#b5651d", "interpolation": "#1f5fa8", "greedy Bayes": "#2e8b57"}


def draw(found: Mapping[int, Mapping[str, Sequence[Mean]]]) -> Figure:
    """Accuracies with the errors by which they are compared, a panel for each N."""
    figure = Figure(figsize=(1.2 + 2.9 * len(found), 3.4))
    panels = figure.subplots(1, len(found), sharey=True, squeeze=False)[0]
    for panel, (N, by_name) in zip(panels, found.items(), strict=True):
        for name, means in by_name.items():
            lookups = range(1, len(means) + 1)
            shares, bars = [m.mean for m in means], [ERRORS * m.error for m in means]
            style = {"marker": "o", "ms": 4, "capsize": 2, "color": COLOURS[name]}
            panel.errorbar(lookups, shares, bars, label=name, **style)
        panel.set(title=f"{N} uniform points", xlabel="lookup", xticks=list(lookups))
    panels[0].set(ylabel="nearest neighbour found, %", ylim=(0, 102))
    panels[0].legend(loc="lower right")
    return figure
