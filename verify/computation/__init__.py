"""Claims about computation: automata and what transformers make of them."""
