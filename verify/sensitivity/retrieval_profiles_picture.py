"""The picture of `retrieval-profiles`: influence by position, a panel for each size."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction

from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

STYLES = {
    "hop 1": ("C0", "o"),
    "hop 2": ("C1", "s"),
    "hop 3": ("C2", "^"),
    "previous token": ("C3", "D"),
    "most frequent": ("0.4", "x"),
}


def draw(profiles: Mapping[tuple[int, int], Mapping[str, list[Fraction]]]) -> Figure:
    """The figure of influences by position, with a panel for each size and a line for each model.

    `profiles` maps V and n to the influences of each model, for sequences of n tokens over V
    symbols.
    """
    figure = Figure(figsize=(4.3 * len(profiles) + 0.6, 3.8))
    panels = figure.subplots(1, len(profiles), sharey=True, squeeze=False)[0]
    for panel, ((V, n), by_name) in zip(panels, profiles.items(), strict=True):
        for name, profile in by_name.items():
            colour, marker = STYLES[name]
            mean = sum(profile, start=Fraction(0)) / n
            label = f"{name}, Sens {float(mean):.3f}"
            heights = [float(each) for each in profile]
            panel.plot(range(1, n + 1), heights, marker=marker, color=colour, ms=5, label=label)
        panel.set_title(f"{V} symbols, {n} tokens")
        panel.set_xlabel("position; the prediction is at the last")
        panel.set_ylim(-0.03, 1.05)
        panel.xaxis.set_major_locator(MaxNLocator(integer=True))
        panel.legend(fontsize=7.5, loc="upper left")
    panels[0].set_ylabel("probability that another token\nchanges the prediction")
    return figure
