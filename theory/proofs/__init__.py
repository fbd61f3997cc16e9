"""Proofs that Rocq checks, for all sizes and inputs, and the program that compiles them.

README.md lists the theorems. `check.py` compiles the files and checks that no proof assumes an
axiom.
"""
