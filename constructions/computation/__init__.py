"""Computation: automata by composed maps, and by cascades of counters and latches; transformers as
circuits."""

from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut
from constructions.computation.to_circuit import to_circuit

__all__ = ["semiautomaton", "shortcut", "to_circuit"]
