"""Associative memories as transformers, and retrieval at scale; one construction per file."""

from constructions.memory.hopfield import hebbian_attention, hopfield_update
from constructions.memory.modern_hopfield import (
    HopfieldAttention,
    ModernHopfield,
    hopfield_attention,
    modern_hopfield_update,
)
from constructions.memory.retrieve import retrieve
from constructions.memory.sphere_dynamics import SphereDynamics, sphere_dynamics

__all__ = [
    "HopfieldAttention",
    "ModernHopfield",
    "SphereDynamics",
    "hebbian_attention",
    "hopfield_attention",
    "hopfield_update",
    "modern_hopfield_update",
    "retrieve",
    "sphere_dynamics",
]
