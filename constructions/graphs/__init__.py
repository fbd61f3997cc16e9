"""Graphs in transformers: who is connected with whom; one construction per file."""

from constructions.graphs.disentangled import disentangled
from constructions.graphs.tripling import tripling

__all__ = ["disentangled", "tripling"]
