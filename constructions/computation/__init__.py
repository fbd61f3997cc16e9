"""Computation: automata by composed maps, and by counters and latches; past temporal logic."""

from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut
from constructions.computation.temporal_logic import from_formula

__all__ = ["from_formula", "semiautomaton", "shortcut"]
