"""Computation: automata by composed maps, and by cascades of counters and latches."""

from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut

__all__ = ["semiautomaton", "shortcut"]
