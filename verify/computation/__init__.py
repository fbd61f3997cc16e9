"""Claims on computation: automata, logics, circuits, PRAMs and Turing machines."""
