"""Computation: automata by composed maps, by cascades of counters and latches, and state by state;
circuits and Turing machines, decoded step by step."""

from constructions.computation.boolean_circuits import circuit_evaluator
from constructions.computation.scratchpad import scratchpad
from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut
from constructions.computation.turing import turing_machine

__all__ = ["circuit_evaluator", "scratchpad", "semiautomaton", "shortcut", "turing_machine"]
