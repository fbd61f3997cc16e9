"""The picture of hashing: accuracy by lookup of the three hashes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from verify.evidence.statistics import Mean
from verify.structures.accuracies import ERRORS

COLOURS = {"SimHash": "#b5651d", "orthogonal": "#1f5fa8", "k-means": "#2e8b57"}


def draw(found: Mapping[str, Sequence[Mean]]) -> Figure:
    """Accuracies with the errors by which they are compared."""
    figure = Figure(figsize=(6.4, 4.2))
    panel = figure.subplots()
    for name, means in found.items():
        lookups = range(1, len(means) + 1)
        panel.errorbar(
            lookups,
            [m.mean for m in means],
            [ERRORS * m.error for m in means],
            marker="o",
            ms=4,
            capsize=2,
            color=COLOURS[name],
            label=name,
        )
    panel.set_xticks(list(lookups))
    panel.set_ylim(0)
    panel.set_xlabel("lookup in the bucket of the query")
    panel.set_ylabel("nearest neighbour found, %")
    panel.set_title("100 points on a sphere in 30 dimensions, 16 buckets", fontsize=9)
    panel.legend()
    return figure
