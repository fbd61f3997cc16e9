"""Accuracies after each lookup in a panel, for several claims about learned structures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes

from verify.structures.trained.lookups import Proportion


def by_lookup(
    panel: Axes,
    measured: Mapping[str, Sequence[Proportion]],
    exact: Mapping[str, Sequence[float]] | None = None,
) -> None:
    """Draw accuracies in per cent, as intervals if they are measured and as lines if they are
    exact.
    """
    for name, proportions in measured.items():
        lookups = np.arange(1, len(proportions) + 1)
        values = np.array([proportion.value for proportion in proportions])
        bars = abs(np.array([proportion.interval for proportion in proportions]).T - values)
        panel.errorbar(lookups, 100 * values, 100 * bars, fmt=".-", lw=1, capsize=2, label=name)
        panel.set_xticks(lookups)
    for (name, known), line in zip((exact or {}).items(), ("--", ":"), strict=False):
        lookups = np.arange(1, len(known) + 1)
        panel.plot(lookups, 100 * np.array(known, dtype=float), f"k{line}", lw=1, label=name)
    panel.set(xlabel="lookups", ylabel="nearest neighbour found, %", ylim=(0, 101))
    panel.legend(frameon=False, fontsize=8, loc="best")
    panel.grid(alpha=0.3)
