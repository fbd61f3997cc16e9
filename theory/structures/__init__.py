"""Data structures: points stored in cells, and search strategies for the nearest neighbour.

This package contains algorithms.  `constructions.structures` contains models of the same names, so
import names from only one of the two packages, or import a package: `from theory import
structures`.

points                 points and queries of two distributions, and the nearest neighbour
lookup                 search strategies, and their accuracy after each lookup
binary_search          a strategy: look up the middle of the remaining cells
interpolation_search   a strategy: look up the cell where evenly spaced points would have the query
greedy_bayes           a strategy: look up the most probable of the remaining cells
next_cells             the next cells of binary and interpolation search, after given lookups
comparisons            the maximum number of targets that lookups with outcomes <, = and > find
branches               lookups that reveal more than the order of the values
clouds                 points in d dimensions, and their nearest neighbour
kd_tree                the layout of a kd-tree, and its search
rows                   points of the plane in rows, alternately left to right and right to left
hashing                buckets by signs of inner products, or by k-means
bucket_table           extra cells, each of which contains the index of a point
one_cell               one cell of unlimited precision
sketches               estimates of the counts in a stream, from few cells
count_min_error        the mean error of the count-min sketch, given the counts
treap                  search trees for queries of unequal frequency
"""

from theory.structures.binary_search import binary_accuracy, binary_search, depths
from theory.structures.branches import most_by_branches, parting
from theory.structures.bucket_table import (
    bucket_of,
    same_neighbour_probability,
    table_accuracy,
    table_lookup,
    table_of,
)
from theory.structures.clouds import (
    hard_cloud,
    nearest_in_cloud,
    sphere_cloud,
    uniform_cloud,
)
from theory.structures.comparisons import (
    best_trees,
    decision_trees,
    found_at,
    most_by_roots,
    most_found,
    perfect_trees,
)
from theory.structures.count_min_error import count_min_error
from theory.structures.greedy_bayes import (
    best_fixed,
    first_interpolated,
    greedy_bayes,
    likeliest,
    nearest_probabilities,
)
from theory.structures.hashing import (
    found_in_buckets,
    in_equal_buckets,
    k_means,
    normal_directions,
    one_bit,
    orthogonal_directions,
    simhash,
)
from theory.structures.interpolation_search import interpolated, interpolation_search
from theory.structures.kd_tree import in_order, kd_order, kd_search
from theory.structures.lookup import Strategy, accuracy_by_lookup, found, looked_at
from theory.structures.next_cells import next_cells
from theory.structures.one_cell import cell_bits, packed, unpacked
from theory.structures.points import hard_points, nearest, uniform_points
from theory.structures.rows import band_order, found_at_once, row_order
from theory.structures.sketches import (
    balanced_hashes,
    best_answers,
    conservative,
    count_min,
    count_sketch,
    counts_of,
    mean_errors,
    one_row_error,
    random_hashes,
    zipf,
    zipf_streams,
)
from theory.structures.treap import found_by_depth, most_by_weight, treap_depths, treap_found

__all__ = [
    "Strategy",
    "accuracy_by_lookup",
    "balanced_hashes",
    "band_order",
    "best_answers",
    "best_fixed",
    "best_trees",
    "binary_accuracy",
    "binary_search",
    "bucket_of",
    "cell_bits",
    "conservative",
    "count_min",
    "count_min_error",
    "count_sketch",
    "counts_of",
    "decision_trees",
    "depths",
    "first_interpolated",
    "found",
    "found_at",
    "found_at_once",
    "found_by_depth",
    "found_in_buckets",
    "greedy_bayes",
    "hard_cloud",
    "hard_points",
    "in_equal_buckets",
    "in_order",
    "interpolated",
    "interpolation_search",
    "k_means",
    "kd_order",
    "kd_search",
    "likeliest",
    "looked_at",
    "mean_errors",
    "most_by_branches",
    "most_by_roots",
    "most_by_weight",
    "most_found",
    "nearest",
    "nearest_in_cloud",
    "nearest_probabilities",
    "next_cells",
    "normal_directions",
    "one_bit",
    "one_row_error",
    "orthogonal_directions",
    "packed",
    "parting",
    "perfect_trees",
    "random_hashes",
    "row_order",
    "same_neighbour_probability",
    "simhash",
    "sphere_cloud",
    "table_accuracy",
    "table_lookup",
    "table_of",
    "treap_depths",
    "treap_found",
    "uniform_cloud",
    "uniform_points",
    "unpacked",
    "zipf",
    "zipf_streams",
]
