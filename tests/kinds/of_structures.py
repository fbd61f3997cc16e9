"""Tables for structures; `public.py` documents them."""

from theory.structures import binary_search, row_order, simhash

ARGUMENTS = {
    "theory.structures.best_trees": {"n_points": 5},
    "theory.structures.found_at": {"trees": [1, 0, 2], "n_points": 3},
    "theory.structures.found_at_once": {"order": lambda x: row_order(x, 2)},
    "theory.structures.found_in_buckets": {"hash_function": simhash([[1.0, -0.5]])},
    "theory.structures.in_order": {"order": [1, 0]},
    "theory.structures.interpolated": {"v_lo": 0, "v_hi": 1},
    "theory.structures.interpolation_search": {"low": 0, "high": 1},
    "theory.structures.greedy_bayes": {"low": 0, "high": 1},
    "theory.structures.next_cells": {"low": 0, "high": 2},
    "theory.structures.looked_at": {"strategy": binary_search},
    "theory.structures.one_row_error": {"p": [0.5, 0.5]},
    **{
        f"theory.structures.{name}": {"low": 0, "high": 1}
        for name in ("bucket_of", "table_of", "table_lookup")
    },
    "constructions.structures.kd_layout": {"n_points": 7},
}
