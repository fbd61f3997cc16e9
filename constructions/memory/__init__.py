"""Associative memories as transformers, and retrieval at scale; one construction per file.

This package contains models; the algorithms that the models run are functions of `theory.memory`.
"""

from constructions.memory.hopfield import hebbian_attention, hopfield_update
from constructions.memory.modern_hopfield import hopfield_attention, modern_hopfield_update
from constructions.memory.retrieve import retrieve
from constructions.memory.sphere_dynamics import sphere_dynamics

__all__ = [
    "hebbian_attention",
    "hopfield_attention",
    "hopfield_update",
    "modern_hopfield_update",
    "retrieve",
    "sphere_dynamics",
]
