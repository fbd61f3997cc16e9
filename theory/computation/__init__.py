"""Formal models of computation: automata, logics, circuits, PRAMs and Turing machines.

Words of T symbols are integer arrays (…, T).  Symbols and states are numbered from 0.

Automata and languages:

    semiautomata            semiautomata, their products, and how to read one from a file
    benchmark_automata      named semiautomata: counters, flip-flops, groups, bounded stacks
    permutations            small permutation groups: their derived series and cyclic factors
    holonomy                the holonomy decomposition of a semiautomaton
    products                a running product in a solvable group, as counters
    cascade                 counters and flip-flops that compute a semiautomaton's state
    monoids                 transformation monoids: aperiodicity and subgroups
    languages               regular languages, their minimal automata, and their comparison
    regular_expressions     regular expressions, parsed from text, and their automata
    dyck                    Dyck words, random and adversarial
    parity, first, majority, ones    functions of words of 0 and 1

Logics:

    temporal_logic          past LTL, by its definition and as automata
    temporal_syntax         a parser for formulas of past LTL
    temporal_program        a formula as a sequence of truth tables
    truth_tables            functions of a symbol and bits, and their cubes
    star_free               formulas of past LTL for star-free languages
    counting                counting logic (C-RASP), by its definition
    counting_syntax         a parser for formulas of counting logic
    conjunctions            Boolean combinations as sums of disjoint conjunctions

Circuits:

    boolean_circuits        Boolean circuits of gates of fan-in 2
    circuit_prompts         Boolean circuits as rows of tokens
    threshold_circuits      circuits of AND, OR and threshold gates of unbounded fan-in
    wiring                  threshold circuits whose gates compare affine forms of wires
    subcubes                the largest subcube on which a function of words is constant

Machines:

    turing                  Turing machines and their runs, by definition
    histories               runs of Turing machines as tokens, and the next step after each token
    pram                    PRAM programs of reads, writes of a minimum, and local operations
    components              connected components of a graph, by minimum labels
    edge_lists              all small graphs, and families of larger graphs
    list_ranking            the distance of each element to the end of its list
    prefix_sums             the sums x₁ + … + x_i of a sequence x
    message_passing         rounds of massively parallel computation (MPC)
    attention_rounds        an attention head, computed in rounds of MPC

The other modules use `kinds` (types of parameters) and `reading` (a tokenizer for formulas).
"""

from theory.computation.attention_rounds import attention_in_rounds, rounds_of_a_layer
from theory.computation.benchmark_automata import (
    A4,
    A5,
    BENCHMARK_AUTOMATA,
    D4,
    Q8,
    S3,
    S4,
    all_maps,
    benchmark_automaton,
    bounded_dyck,
    cyclic,
    cyclic_with_reset,
    flip_flop,
    gridworld,
)
from theory.computation.boolean_circuits import Circuit, Gate, adder, all_circuits, random_circuit
from theory.computation.cascade import Cascade, cascade
from theory.computation.components import components, least_labels, shuffled_path
from theory.computation.counting_syntax import ABC, DYCK_1, MAJORITY
from theory.computation.dyck import (
    adversarial_words,
    balances,
    brackets,
    is_dyck,
    random_dyck,
    read_brackets,
)
from theory.computation.first import first_symbol
from theory.computation.holonomy import Holonomy, holonomy, image_sets
from theory.computation.languages import Language
from theory.computation.list_ranking import list_ranking, ranks
from theory.computation.majority import majority
from theory.computation.message_passing import message_round, transpose, tree_sum
from theory.computation.monoids import Monoid, monoid
from theory.computation.parity import parity
from theory.computation.pram import Program, Read, Set, Step, Write
from theory.computation.prefix_sums import window_sums
from theory.computation.products import NotSolvable
from theory.computation.regular_expressions import regular_expression
from theory.computation.semiautomata import (
    Semiautomaton,
    product,
    random_semiautomaton,
    read_automaton,
)
from theory.computation.star_free import formula_of, from_cascade
from theory.computation.subcubes import Subcube, largest_constant_subcube
from theory.computation.temporal_logic import Formula, random_formula
from theory.computation.temporal_logic import language as language_of
from theory.computation.temporal_syntax import formula
from theory.computation.threshold_circuits import ThresholdCircuit, unary
from theory.computation.turing import (
    MACHINES,
    TuringMachine,
    machine_of,
    random_machine,
    read_machine,
)

__all__ = [
    "A4",
    "A5",
    "ABC",
    "BENCHMARK_AUTOMATA",
    "D4",
    "DYCK_1",
    "MACHINES",
    "MAJORITY",
    "Q8",
    "S3",
    "S4",
    "Cascade",
    "Circuit",
    "Formula",
    "Gate",
    "Holonomy",
    "Language",
    "Monoid",
    "NotSolvable",
    "Program",
    "Read",
    "Semiautomaton",
    "Set",
    "Step",
    "Subcube",
    "ThresholdCircuit",
    "TuringMachine",
    "Write",
    "adder",
    "adversarial_words",
    "all_circuits",
    "all_maps",
    "attention_in_rounds",
    "balances",
    "benchmark_automaton",
    "bounded_dyck",
    "brackets",
    "cascade",
    "components",
    "cyclic",
    "cyclic_with_reset",
    "first_symbol",
    "flip_flop",
    "formula",
    "formula_of",
    "from_cascade",
    "gridworld",
    "holonomy",
    "image_sets",
    "is_dyck",
    "language_of",
    "largest_constant_subcube",
    "least_labels",
    "list_ranking",
    "machine_of",
    "majority",
    "message_round",
    "monoid",
    "parity",
    "product",
    "random_circuit",
    "random_dyck",
    "random_formula",
    "random_machine",
    "random_semiautomaton",
    "ranks",
    "read_automaton",
    "read_brackets",
    "read_machine",
    "regular_expression",
    "rounds_of_a_layer",
    "shuffled_path",
    "transpose",
    "tree_sum",
    "unary",
    "window_sums",
]
