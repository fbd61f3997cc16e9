"""Computation: automata by composed maps, and by cascades of counters and latches; brackets that
close in order; formulas that compare counts."""

from constructions.computation.counting import from_counting
from constructions.computation.dyck import dyck
from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut

__all__ = ["dyck", "from_counting", "semiautomaton", "shortcut"]
