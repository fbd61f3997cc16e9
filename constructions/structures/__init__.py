"""Data structures in transformers: points that are sorted, laid out and searched, tables and
sketches; one construction per file."""

from constructions.structures.binary_search import binary_search
from constructions.structures.bucket_table import bucket_table
from constructions.structures.count_min import count_min
from constructions.structures.interpolation_search import interpolation_search
from constructions.structures.kd_descent import kd_descent
from constructions.structures.kd_layout import kd_layout
from constructions.structures.sort import sort

__all__ = [
    "binary_search",
    "bucket_table",
    "count_min",
    "interpolation_search",
    "kd_descent",
    "kd_layout",
    "sort",
]
