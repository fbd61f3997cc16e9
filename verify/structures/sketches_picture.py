"""The picture of sketches: the mean error as a function of the count of an item."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

SHOWN = {
    "count-min 1": ("#b5651d", "count-min, 1 row"),
    "count-min 2": ("#d9a066", "count-min, 2 rows"),
    "conservative 2": ("#2e8b57", "conservative, 2 rows"),
    "balanced 1": ("#1f5fa8", "balanced cells"),
    "balanced, best answer 1": ("#7a4fa3", "balanced cells, best answer"),
}
MOST = 30  # the largest count shown


def draw(counts: np.ndarray, estimates: Mapping[str, np.ndarray]) -> Figure:
    """Draw the mean of |estimate − count| over items as a function of the count."""
    figure = Figure(figsize=(6.6, 4.2))
    panel = figure.subplots()
    at = np.arange(MOST + 1)
    for name, (colour, label) in SHOWN.items():
        error = abs(estimates[name] - counts)
        mean = [error[counts == count].mean() for count in at]
        panel.plot(at, mean, color=colour, marker=".", ms=4, lw=1, label=label)
    panel.set_xlabel("count of the item")
    panel.set_ylabel("mean error")
    panel.set_ylim(0, 4.4)
    panel.set_title("32 cells, 100 items, streams of 100, Zipf distribution", fontsize=9)
    panel.legend(loc="upper right", ncols=2)
    return figure
