"""Formal models of computation: automata, logics, circuits, parallel and Turing machines.

Words are integer arrays (…, T) of symbols, numbered from 0; states are numbers too.

Automata and languages:

    semiautomata            maps of states, words, products, automata from files
    benchmark_automata      parity, counters, flip-flops, groups, bounded stacks, all maps
    permutations            small groups: derived series, cyclic factors
    holonomy                image sets, their classes, heights and tiles
    products                a running product in a solvable group, as counters
    cascade                 counters and flip-flops that together compute the state
    monoids                 transformation monoids: aperiodic or not, their subgroups
    languages               automata with accepting states, minimal automata, comparison
    regular_expressions     from text, by derivatives
    dyck                    words of brackets, random and adversarial ones
    parity, first, majority, ones    functions of words of 0 and 1

Logics:

    temporal_logic          past LTL, by definition and as automata; temporal_syntax parses it
    temporal_program        a formula as a sequence of truth tables
    truth_tables            functions of a symbol and bits, and their cubes
    star_free               star-free languages: their formulas, by flip-flops
    counting                counting logic (C-RASP), by definition; counting_syntax parses it
    conjunctions            Boolean combinations as sums of disjoint conjunctions

Circuits:

    boolean_circuits        gates of two earlier wires
    circuit_prompts         such circuits as rows of tokens
    threshold_circuits      AND, OR and threshold gates of unbounded fan-in
    wiring                  threshold circuits as affine forms over wires
    subcubes                the largest subcube on which a function of words is constant

Machines:

    turing                  Turing machines, run by definition, and their histories
    histories               histories of Turing machines as tokens, and their next steps
    pram                    PRAM programs: reads, minimum writes, local operations
    components              connected components of a graph, by minimum labels
    edge_lists              all small graphs, and families of larger ones
    list_ranking            the distance to the end of a list
    prefix_sums             x₁ + … + x_i
    message_passing         rounds in which machines send messages to each other's slots
    attention_rounds        an attention head in rounds of message passing

`kinds` (kinds of parameters) and `reading` (a reader of text) are used by the other modules.
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
