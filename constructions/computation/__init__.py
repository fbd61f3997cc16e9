"""Computation: automata by composed maps, and by cascades of counters and latches; a walk
between walls."""

from constructions.computation.gridworld import gridworld_walk
from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut

__all__ = ["gridworld_walk", "semiautomaton", "shortcut"]
