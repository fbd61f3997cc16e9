"""The self-test: each mutant of weights or functions must make a claim fail."""
