"""Data structures in transformers: points that are sorted and searched; one construction per
file."""

from constructions.structures.binary_search import binary_search
from constructions.structures.interpolation_search import interpolation_search
from constructions.structures.sort import sort

__all__ = ["binary_search", "interpolation_search", "sort"]
