"""The picture of `learned-sketch`: increments of updates, and errors as a function of the count."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.figure import Figure

MOST = 30  # the largest count shown


def draw(
    models: Mapping[str, Any], estimates: Mapping[str, np.ndarray], counts: np.ndarray
) -> Figure:
    """Draw, for each sketch, increments of updates and mean errors.

    The increment is drawn as a function of the number of items that were counted before in the
    cell, and the mean of |estimate − count| as a function of the count.  `counts` contains the
    counts of V items in each stream, (count, V).
    """
    figure = Figure(figsize=(9.4, 3.8))
    adds, errors = figure.subplots(1, 2)
    at = np.arange(MOST + 1)
    for name, model in models.items():
        adds.plot(at, model.updates().numpy()[: MOST + 1], ".-", lw=1, label=name)
        error = abs(estimates[name] - counts)
        errors.plot(at, [error[counts == count].mean() for count in at], ".-", lw=1, label=name)
    adds.axhline(1, color="grey", lw=0.8)
    adds.set(
        xlabel="items counted in the cell before", ylabel="increment of an update", ylim=(0, 1.6)
    )
    errors.set(xlabel="count of the item", ylabel="mean error", ylim=(0, None))
    errors.legend()
    return figure
