"""The picture of `learned-clouds`: accuracies after each lookup, on the sphere and on the hard
plane.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from verify.structures.trained.lookups import Proportion
from verify.structures.trained.lookups_picture import by_lookup


def draw(measured: Mapping[str, Mapping[str, Sequence[Proportion]]]) -> Figure:
    """Draw a panel for each distribution of points, with networks and algorithms."""
    figure = Figure(figsize=(5 * len(measured), 4))
    panels = figure.subplots(1, len(measured), squeeze=False)[0]
    for panel, (name, each) in zip(panels, measured.items(), strict=True):
        by_lookup(panel, each)
        panel.set_title(name, fontsize=9)
    return figure
