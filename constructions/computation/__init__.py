"""Computation: automata, as composed maps and as cascades; parallel machines, a step a layer."""

from constructions.computation.connected_components import connected_components
from constructions.computation.pram import pram
from constructions.computation.prefix_sums import prefix_sums
from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut

__all__ = ["connected_components", "pram", "prefix_sums", "semiautomaton", "shortcut"]
