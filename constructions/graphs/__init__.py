"""Transformers on graphs: connected pairs of nodes, and graph search; one construction per file.

`search` is imported from here (`from constructions.graphs import search`); it is not a name of the
top level of `constructions`.  It is a model; `theory.graphs.search` is the algorithm.
"""

from constructions.graphs.disentangled import disentangled
from constructions.graphs.search import search
from constructions.graphs.squaring import squaring
from constructions.graphs.tripling import tripling
from constructions.graphs.two_cycles import two_cycles

__all__ = ["disentangled", "search", "squaring", "tripling", "two_cycles"]
