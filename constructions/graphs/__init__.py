"""Graphs in transformers: who is connected with whom; one construction per file."""

from constructions.graphs.disentangled import disentangled
from constructions.graphs.tripling import tripling
from constructions.graphs.two_cycles import two_cycles

__all__ = ["disentangled", "tripling", "two_cycles"]
