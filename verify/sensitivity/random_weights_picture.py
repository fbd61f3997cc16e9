"""The picture of `random-weights`: Sens of each network, by distribution and threshold."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from verify.sensitivity.random_table import DISTRIBUTIONS, THRESHOLDS, Table

COLOURS = {"transformer": "C0", "LSTM": "C1", "MLP": "C2"}
NAMES = {"uniform": "uniform ±10", "Xavier": "Xavier", "normal": "normal, 0.02"}


def draw(table: Table) -> Figure:
    """The figure of Sens: a point for each draw and a line for the mean.

    Rows are thresholds, and columns are distributions of the weights.
    """
    figure = Figure(figsize=(13, 6.4))
    panels = figure.subplots(len(THRESHOLDS), len(DISTRIBUTIONS), sharey=True)
    rng = np.random.default_rng(0)
    for line, threshold in zip(panels, THRESHOLDS, strict=True):
        for panel, distribution in zip(line, DISTRIBUTIONS, strict=True):
            for place, (name, row) in enumerate(table[distribution].items()):
                values, colour = row.at[threshold], COLOURS[name.split()[0]]
                beside = place + rng.uniform(-0.18, 0.18, len(values))
                panel.plot(beside, values, ".", color=colour, alpha=0.45)
                if len(values):
                    panel.hlines(values.mean(), place - 0.35, place + 0.35, color=colour, lw=2.5)
                else:
                    panel.text(place, 0.0, "none", ha="center", fontsize=8, color=colour)
                if threshold == "0":
                    panel.text(place, 0.6, f"{row.constant:.0%}", ha="center", fontsize=8)
            panel.set_xticks(
                range(len(table[distribution])), list(table[distribution]), rotation=25, fontsize=8
            )
            panel.set(xlim=(-0.6, len(table[distribution]) - 0.4), ylim=(-0.03, 0.65))
            title = (
                "threshold 0; above, % constant" if threshold == "0" else "threshold at the median"
            )
            panel.set_title(f"{NAMES[distribution]}: {title}")
        line[0].set_ylabel("Sens on all words of 8 bits")
    return figure
