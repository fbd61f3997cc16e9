"""Claims about transformers that compute: automata, logics, circuits, PRAMs and Turing machines."""
