"""The self-test: mutants of weights and functions, each of which has to make a claim fail."""
