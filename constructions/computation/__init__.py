"""Transformers that compute: automata, logics, circuits, PRAMs and Turing machines.

    semiautomaton                   semiautomata on T symbols in ⌈log₂T⌉ layers
    shortcut                        semiautomata in constant depth, by a cascade
    scratchpad                      semiautomata in one layer, by a chain of thought
    gridworld_walk                  a walk between two walls, in three layers
    dyck                            Dyck words
    from_formula                    formulas of counting logic (C-RASP) and of past LTL
    parity, first_symbol, majority  functions of bits; `parity_bounded` and
                                    `first_symbol_bounded` have bounded positions
    prefix_sums                     the sums x₁ + … + x_i of a sequence x
    pram, connected_components      PRAM programs, one layer for each step
    circuit_evaluator               Boolean circuits, by a chain of thought
    turing_machine                  Turing machines, by a chain of thought
    to_circuit                      a Boolean circuit that computes the answers of a transformer

`theory.computation` also has functions `parity`, `majority` and `first_symbol`, which compute the
answers by definition. To use functions of both packages, import one of the packages by name.
"""

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
