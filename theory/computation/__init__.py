"""Formal models of computation: automata, and what they decompose into.

Words are integer arrays (…, T) of letters, numbered from 0, and states are numbers too.

    semiautomata   maps of states, words, products, tables of one's own
    zoo            parity, counters, latches, groups, bounded stacks, all maps
    permutations   small groups: derived series, cyclic factors
    holonomy       image sets, their classes, heights and tiles
    cascade        counters and latches that say the state, if all groups are solvable

    languages             automata with accepting states, the least one, where two differ
    regular_expressions   from text, by derivatives
    monoids               the maps of words: aperiodic or not, the groups in them
    temporal_logic        past formulas: from text, by definition, as automata
    star_free             from expressions to formulas, by latches
    temporal_program      a formula as a row of truth tables
    truth_tables          of a letter and bits, and their cubes
"""

from theory.computation.cascade import Cascade, NotSolvable, cascade
from theory.computation.holonomy import Holonomy, holonomy, image_sets
from theory.computation.languages import Language
from theory.computation.monoids import Monoid, monoid
from theory.computation.regular_expressions import regular_expression
from theory.computation.semiautomata import (
    Semiautomaton,
    product,
    random_semiautomaton,
    read_automaton,
)
from theory.computation.star_free import formula_of, from_cascade
from theory.computation.temporal_logic import Formula, formula, random_formula
from theory.computation.temporal_logic import language as language_of
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
    "Formula",
    "Holonomy",
    "Language",
    "Monoid",
    "NotSolvable",
    "Semiautomaton",
    "all_maps",
    "bounded_dyck",
    "cascade",
    "cyclic",
    "cyclic_with_reset",
    "flip_flop",
    "formula",
    "formula_of",
    "from_cascade",
    "gridworld",
    "holonomy",
    "image_sets",
    "language_of",
    "monoid",
    "named",
    "product",
    "random_formula",
    "random_semiautomaton",
    "read_automaton",
    "regular_expression",
]
