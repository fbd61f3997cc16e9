"""The picture of `learned-tree`: frequencies of points, coloured by the lookup that finds the
point.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

COLOURS = "#1f5fa8", "#5b9bd5", "#b9d4ee", "0.88"  # by lookup; the last: not found


def draw(levels: Mapping[str, np.ndarray], weights: np.ndarray, lookups: int) -> Figure:
    """Draw the frequencies of ascending points, coloured by the lookup that finds the point.

    There is one panel for each tree.  `weights` (N,) are the frequencies, and `levels` maps each
    tree to the lookups (N,); the level is above `lookups` for points that are not found.
    """
    figure = Figure(figsize=(2.6 * len(levels), 3.4))
    panels = figure.subplots(1, len(levels), sharey=True, squeeze=False)[0]
    ranks = np.arange(1, len(weights) + 1)
    for panel, (name, level) in zip(panels, levels.items(), strict=True):
        for i, colour in enumerate(COLOURS[:lookups], start=1):
            of = level == i
            panel.bar(ranks[of], weights[of], color=colour, label=f"lookup {i}")
        of = level > lookups
        panel.bar(ranks[of], weights[of], color=COLOURS[-1], label="not found")
        found = weights[~of].sum()
        panel.set_title(f"{name}: {100 * found:.1f} %", fontsize=9)
        panel.set_xlabel("rank of the point")
    panels[0].set_ylabel("frequency")
    panels[0].legend()
    figure.suptitle(
        f"the lookup that finds each point, and the frequency found in {lookups} lookups",
        fontsize=10,
    )
    return figure
