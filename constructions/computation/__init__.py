"""Computation: automata by composed maps, and by cascades of counters and latches; a walk between
walls; parity, the first letter and majority; parallel machines, a step a layer."""

from constructions.computation.connected_components import connected_components
from constructions.computation.first import first_letter
from constructions.computation.first_bounded import first_letter_bounded
from constructions.computation.gridworld import gridworld_walk
from constructions.computation.majority import majority
from constructions.computation.parity import parity
from constructions.computation.parity_bounded import parity_bounded
from constructions.computation.pram import pram
from constructions.computation.prefix_sums import prefix_sums
from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut

__all__ = [
    "connected_components",
    "first_letter",
    "first_letter_bounded",
    "gridworld_walk",
    "majority",
    "parity",
    "parity_bounded",
    "pram",
    "prefix_sums",
    "semiautomaton",
    "shortcut",
]
