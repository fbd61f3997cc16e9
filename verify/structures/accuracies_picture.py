"""Accuracies after each lookup in a panel, with error bars of the width used in comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from verify.evidence.statistics import Mean
from verify.structures.accuracies import ERRORS

SHIFT = 0.07  # horizontal distance of neighbouring curves, in lookups


def by_lookup(
    panel: Axes, measured: Mapping[str, Sequence[Mean]], style: Mapping[str, tuple[str, str]]
) -> None:
    """Draw accuracies after each lookup, in per cent.

    `measured` maps the name of each curve to its accuracies, and `style` maps the name to a colour
    and a label.  Curves are shifted and drawn with different lines and markers.  Therefore equal
    curves remain visible.
    """
    looks = cycle(zip(("-", "--", ":"), ("o", "s", "^"), strict=True))
    shifts = SHIFT * (np.arange(len(measured)) - (len(measured) - 1) / 2)
    for (name, means), shift, (line, marker) in zip(measured.items(), shifts, looks, strict=False):
        lookups, (colour, label) = np.arange(1, len(means) + 1), style[name]
        values, bars = [m.mean for m in means], [ERRORS * m.error for m in means]
        look: dict[str, Any] = {"ls": line, "marker": marker, "ms": 4, "capsize": 2}
        panel.errorbar(lookups + shift, values, bars, label=label, color=colour, **look)
    panel.set(xlabel="lookup", xticks=lookups.tolist())
