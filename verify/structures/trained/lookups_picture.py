"""Accuracy by lookup in a panel: what several claims on learned structures show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from verify.structures.trained.lookups import Share


def by_lookup(
    panel: Axes,
    measured: Mapping[str, Sequence[Share]],
    exact: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """What is found after each lookup, in per cent: of those that were measured with intervals, and
    of those that are known as a line."""
    for name, shares in measured.items():
        lookups = np.arange(1, len(shares) + 1)
        values = np.array([share.value for share in shares])
        bars = abs(np.array([share.interval for share in shares]).T - values)
        panel.errorbar(lookups, 100 * values, 100 * bars, fmt=".-", lw=1, capsize=2, label=name)
        panel.set_xticks(lookups)
    for (name, known), line in zip((exact or {}).items(), ("--", ":"), strict=False):
        lookups = np.arange(1, len(known) + 1)
        panel.plot(lookups, 100 * np.array(known, dtype=float), f"k{line}", lw=1, label=name)
    panel.set(xlabel="lookups", ylabel="nearest neighbour found, %", ylim=(0, 101))
    panel.legend(frameon=False, fontsize=8, loc="best")
    panel.grid(alpha=0.3)
