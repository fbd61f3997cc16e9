"""Formal models of computation: automata, and what they decompose into.

Words are integer arrays (…, T) of letters, numbered from 0, and states are numbers too.

    boolean_circuits  gates of two earlier wires
    turing         Turing machines, run by definition, and their histories
    semiautomata   maps of states, words, products, tables of one's own
    zoo            parity, counters, latches, groups, bounded stacks, all maps
    permutations   small groups: derived series, cyclic factors
    holonomy       image sets, their classes, heights and tiles
    cascade        counters and latches that say the state, if all groups are solvable
"""

from theory.computation.boolean_circuits import (
    Circuit,
    Gate,
    adder,
    all_circuits,
    random_circuit,
)
from theory.computation.cascade import Cascade, NotSolvable, cascade
from theory.computation.holonomy import Holonomy, holonomy, image_sets
from theory.computation.semiautomata import (
    Semiautomaton,
    product,
    random_semiautomaton,
    read_automaton,
)
from theory.computation.turing import (
    MACHINES,
    Step,
    TuringMachine,
    machine_of,
    random_machine,
    read_machine,
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
    "MACHINES",
    "Q8",
    "S3",
    "S4",
    "ZOO",
    "Cascade",
    "Circuit",
    "Gate",
    "Holonomy",
    "NotSolvable",
    "Semiautomaton",
    "Step",
    "TuringMachine",
    "adder",
    "all_circuits",
    "all_maps",
    "bounded_dyck",
    "cascade",
    "cyclic",
    "cyclic_with_reset",
    "flip_flop",
    "gridworld",
    "holonomy",
    "image_sets",
    "machine_of",
    "named",
    "product",
    "random_circuit",
    "random_machine",
    "random_semiautomaton",
    "read_automaton",
    "read_machine",
]
