"""Data structures as transformers: sorting, layouts and search of points, tables and sketches.

Each file contains one construction.  `binary_search`, `interpolation_search` and `count_min` are
models here and algorithms in `theory.structures`, so import names from only one of the two
packages, or import a package: `from constructions import structures`.  `sort` can be imported from
this package only.
"""

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
