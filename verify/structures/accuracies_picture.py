"""Accuracy by lookup in a panel, with error bars of the width used in comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from matplotlib.axes import Axes

from verify.evidence.statistics import Mean
from verify.structures.accuracies import ERRORS


def by_lookup(
    panel: Axes, measured: Mapping[str, Sequence[Mean]], style: Mapping[str, tuple[str, str]]
) -> None:
    """Draw accuracies in per cent; `style` maps each name to a colour and a label."""
    for name, means in measured.items():
        lookups, (colour, label) = range(1, len(means) + 1), style[name]
        values, bars = [m.mean for m in means], [ERRORS * m.error for m in means]
        look: dict[str, Any] = {"marker": "o", "ms": 4, "capsize": 2, "color": colour}
        panel.errorbar(lookups, values, bars, label=label, **look)
    panel.set(xlabel="lookup", xticks=list(lookups))
