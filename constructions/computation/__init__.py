"""Computation: automata by composed maps, by cascades of counters and latches, and state by state;
a walk between walls; parity, the first letter and majority; brackets; past temporal logic and
comparisons of counts; parallel machines, a step a layer; circuits and Turing machines, decoded step
by step; and transformers as circuits."""

from constructions.computation.boolean_circuits import circuit_evaluator
from constructions.computation.connected_components import connected_components
from constructions.computation.dyck import dyck
from constructions.computation.first import first_symbol
from constructions.computation.first_bounded import first_symbol_bounded
from constructions.computation.from_formula import from_formula
from constructions.computation.gridworld import gridworld_walk
from constructions.computation.majority import majority
from constructions.computation.parity import parity
from constructions.computation.parity_bounded import parity_bounded
from constructions.computation.pram import pram
from constructions.computation.prefix_sums import prefix_sums
from constructions.computation.scratchpad import scratchpad
from constructions.computation.semiautomaton import semiautomaton
from constructions.computation.shortcut import shortcut
from constructions.computation.to_circuit import to_circuit
from constructions.computation.turing import turing_machine

__all__ = [
    "circuit_evaluator",
    "connected_components",
    "dyck",
    "first_symbol",
    "first_symbol_bounded",
    "from_formula",
    "gridworld_walk",
    "majority",
    "parity",
    "parity_bounded",
    "pram",
    "prefix_sums",
    "scratchpad",
    "semiautomaton",
    "shortcut",
    "to_circuit",
    "turing_machine",
]
