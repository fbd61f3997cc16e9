"""Graphs in transformers: who is connected with whom; one construction per file."""

from constructions.graphs.search import search
from constructions.graphs.squaring import squaring

__all__ = ["search", "squaring"]
