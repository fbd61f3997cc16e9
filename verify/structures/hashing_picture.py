"""The picture of hashing: accuracy after each lookup, for three hash functions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from verify.evidence.statistics import Mean
from verify.structures.accuracies_picture import by_lookup

COLOURS = {"SimHash": "#b5651d", "orthogonal": "#1f5fa8", "k-means": "#2e8b57"}


def draw(found: Mapping[str, Sequence[Mean]]) -> Figure:
    """Draw accuracies after each lookup, with error bars of the width used in comparisons."""
    figure = Figure(figsize=(6.4, 4.2))
    panel = figure.subplots()
    by_lookup(panel, found, {name: (colour, name) for name, colour in COLOURS.items()})
    panel.set_ylim(0)
    panel.set_xlabel("lookup in the bucket of the query")
    panel.set_ylabel("nearest neighbour found, %")
    panel.set_title("100 points on a sphere in 30 dimensions, 16 buckets", fontsize=9)
    panel.legend()
    return figure
