"""The style of all pictures; a picture is a function that returns a figure."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from matplotlib import rc_context
from matplotlib.figure import Figure

STYLE: dict[Any, Any] = {
    "figure.constrained_layout.use": True,
    "savefig.dpi": 150,
    "axes.titlesize": 10,
    "grid.alpha": 0.3,
    "legend.edgecolor": "none",
    "legend.fancybox": False,
    "legend.fontsize": 8,
}


def save(path: Path, picture: Callable[..., Figure], *shown: Any) -> None:
    """Draws the data `shown` by the function `picture`, and saves the figure to a path."""
    with rc_context(STYLE):
        picture(*shown).savefig(path)
