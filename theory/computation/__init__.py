"""Formal models of computation: automata, and what they decompose into.

Words are integer arrays (…, T) of letters, numbered from 0, and states are numbers too.

    semiautomata   maps of states, words, products, tables of one's own
    zoo            parity, counters, latches, groups, bounded stacks, all maps
    permutations   small groups: derived series, cyclic factors
    holonomy       image sets, their classes, heights and tiles
    cascade        counters and latches that say the state, if all groups are solvable

    threshold_circuits  AND, OR and threshold gates of unbounded fan-in: depth, size, evaluation
    wiring              such circuits written as affine forms over wires and their comparisons
    subcubes            the largest subcube on which a function of words is constant
"""

from theory.computation.cascade import Cascade, NotSolvable, cascade
from theory.computation.holonomy import Holonomy, holonomy, image_sets
from theory.computation.semiautomata import (
    Semiautomaton,
    product,
    random_semiautomaton,
    read_automaton,
)
from theory.computation.subcubes import Subcube, largest_constant_subcube
from theory.computation.threshold_circuits import Gate, ThresholdCircuit, unary
from theory.computation.zoo import (
    A4,
    A5,
    D4,
    Q8,
    S3,
    S4,
    ZOO,
    all_maps,
    bounded_dyck,
    cyclic,
    cyclic_with_reset,
    flip_flop,
    gridworld,
    named,
)

__all__ = [
    "A4",
    "A5",
    "D4",
    "Q8",
    "S3",
    "S4",
    "ZOO",
    "Cascade",
    "Gate",
    "Holonomy",
    "NotSolvable",
    "Semiautomaton",
    "Subcube",
    "ThresholdCircuit",
    "all_maps",
    "bounded_dyck",
    "cascade",
    "cyclic",
    "cyclic_with_reset",
    "flip_flop",
    "gridworld",
    "holonomy",
    "image_sets",
    "largest_constant_subcube",
    "named",
    "product",
    "random_semiautomaton",
    "read_automaton",
    "unary",
]
