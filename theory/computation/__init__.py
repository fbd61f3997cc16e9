"""Formal models of computation: automata, and what they decompose into.

Words are integer arrays (…, T) of letters, numbered from 0, and states are numbers too.

    semiautomata   maps of states, words, products, tables of one's own
    zoo            parity, counters, latches, groups, bounded stacks, all maps
    permutations   small groups: derived series, cyclic factors
    holonomy       image sets, their classes, heights and tiles
    products       a running product in a solvable group, as counters
    cascade        counters and latches that say the state, if all groups are solvable
    parity, first, majority    of words of 0 and 1, and how sure transformers are of them
"""

from theory.computation.cascade import Cascade, cascade
from theory.computation.first import first_letter
from theory.computation.holonomy import Holonomy, holonomy, image_sets
from theory.computation.majority import majority
from theory.computation.parity import parity
from theory.computation.products import NotSolvable
from theory.computation.semiautomata import (
    Semiautomaton,
    product,
    random_semiautomaton,
    read_automaton,
)
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
    "Holonomy",
    "NotSolvable",
    "Semiautomaton",
    "all_maps",
    "bounded_dyck",
    "cascade",
    "cyclic",
    "cyclic_with_reset",
    "first_letter",
    "flip_flop",
    "gridworld",
    "holonomy",
    "image_sets",
    "majority",
    "named",
    "parity",
    "product",
    "random_semiautomaton",
    "read_automaton",
]
