"""Formal models of computation: automata, and what they decompose into.

Words are integer arrays (…, T) of letters, numbered from 0, and states are numbers too.

    semiautomata   maps of states, words, products, tables of one's own
    zoo            parity, counters, latches, groups, bounded stacks, all maps
    permutations   small groups: derived series, cyclic factors
    holonomy       image sets, their classes, heights and tiles
    cascade        counters and latches that say the state, if all groups are solvable
    dyck           words of brackets, random and adversarial ones
    counting       formulas that compare prefix counts; counting_syntax reads them as text
    conjunctions   their Boolean combinations as sums of disjoint conjunctions, and their levels
"""

from theory.computation.cascade import Cascade, NotSolvable, cascade
from theory.computation.conjunctions import Conjunction, Conjunctions
from theory.computation.counting import (
    And,
    Count,
    Letter,
    Not,
    Or,
    counting_depth,
    counting_words,
    holds,
    random_formula,
)
from theory.computation.counting_syntax import ABC, DYCK_1, MAJORITY, parse
from theory.computation.dyck import (
    adversarial_words,
    balances,
    brackets,
    is_dyck,
    random_dyck,
    read_brackets,
)
from theory.computation.holonomy import Holonomy, holonomy, image_sets
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
    "ABC",
    "D4",
    "DYCK_1",
    "MAJORITY",
    "Q8",
    "S3",
    "S4",
    "ZOO",
    "And",
    "Cascade",
    "Conjunction",
    "Conjunctions",
    "Count",
    "Holonomy",
    "Letter",
    "Not",
    "NotSolvable",
    "Or",
    "Semiautomaton",
    "adversarial_words",
    "all_maps",
    "balances",
    "bounded_dyck",
    "brackets",
    "cascade",
    "counting_depth",
    "counting_words",
    "cyclic",
    "cyclic_with_reset",
    "flip_flop",
    "gridworld",
    "holds",
    "holonomy",
    "image_sets",
    "is_dyck",
    "named",
    "parse",
    "product",
    "random_dyck",
    "random_formula",
    "random_semiautomaton",
    "read_automaton",
    "read_brackets",
]
