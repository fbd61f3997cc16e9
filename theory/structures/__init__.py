"""Data structures that are looked up: points in cells, and strategies that find the nearest one.

points                 points and queries: uniform, and hard; the nearest neighbour
lookup                 strategies, and their accuracy by lookup
binary_search          the middle of the bracket
interpolation_search   where the query would stand if points were evenly spaced
greedy_bayes           the likeliest cell of the bracket
comparisons            what <, = and > can find
branches               what values reveal beside their order
"""

from theory.structures.binary_search import binary_accuracy, binary_search, depths
from theory.structures.branches import most_by_branches, parting
from theory.structures.comparisons import (
    best_trees,
    decision_trees,
    found_at,
    most_by_roots,
    most_found,
    perfect_trees,
)
from theory.structures.greedy_bayes import (
    best_fixed,
    first_interpolated,
    greedy_bayes,
    likeliest,
    nearest_chances,
)
from theory.structures.interpolation_search import interpolated, interpolation_search
from theory.structures.lookup import Strategy, accuracy_by_lookup, found, looked_at
from theory.structures.points import (
    as_points,
    as_queries,
    hard_points,
    nearest,
    uniform_points,
)

__all__ = [
    "Strategy",
    "accuracy_by_lookup",
    "as_points",
    "as_queries",
    "best_fixed",
    "best_trees",
    "binary_accuracy",
    "binary_search",
    "decision_trees",
    "depths",
    "first_interpolated",
    "found",
    "found_at",
    "greedy_bayes",
    "hard_points",
    "interpolated",
    "interpolation_search",
    "likeliest",
    "looked_at",
    "most_by_branches",
    "most_by_roots",
    "most_found",
    "nearest",
    "nearest_chances",
    "parting",
    "perfect_trees",
    "uniform_points",
]
