"""Graphs in transformers: who is connected with whom; one construction per file."""

from constructions.graphs.disentangled import disentangled
from constructions.graphs.search import search
from constructions.graphs.squaring import squaring
from constructions.graphs.tripling import tripling
from constructions.graphs.two_cycles import two_cycles

__all__ = ["disentangled", "search", "squaring", "tripling", "two_cycles"]
