"""Compositions of permutations: six layers for any length, or log T layers, which also work for A5.

Two shuffles of four cards generate S4.  S4 is solvable, so a cascade of counters computes the place
of the first card, in a depth that does not depend on the length.  For shuffles of five cards that
generate A5 there is no such cascade.
"""

import argparse

import numpy as np

from constructions import semiautomaton, shortcut
from theory.computation import A5, S4, NotSolvable, Semiautomaton, cascade
from theory.terminal import script

script(argparse.ArgumentParser(description=__doc__))

LENGTHS = 16, 256, 1024


def wrong(model, automaton: Semiautomaton, length: int) -> int:
    words = np.random.default_rng(0).integers(automaton.n_symbols, size=(10, length))
    return int((model(words).numpy() != automaton.run(words)).sum())


print("S4, two generators: which card is on top after each of T shuffles?\n")
stages = cascade(S4)
kinds = ", then ".join(f"a {stage.kind} mod {stage.size}" for stage in stages.stages)
pairs = len(list(stages.walk()))
print(f"The cascade: {kinds}.")
print(f"Searching all {pairs} reachable states finds {stages.disagreements()} disagreements: it is")
print("correct for words of every length.\n")
print(f"{'T':>5}  {'shortcut':>28}  {'composed maps':>28}")
for T in LENGTHS:
    cells = []
    for model in (shortcut(S4, T), semiautomaton(S4, T)):
        said = f"{wrong(model, S4, T)} of {10 * T} wrong"
        cells.append(f"{model.n_layers:2} layers, {said:>17}")
    print(f"{T:5}  {cells[0]:>28}  {cells[1]:>28}")

print("\nA5, two generators:")
try:
    shortcut(A5, 16)
except NotSolvable as reason:
    print(f"  NotSolvable: {reason}")
for T in LENGTHS:
    model = semiautomaton(A5, T)
    said = f"{wrong(model, A5, T)} of {10 * T} wrong"
    print(f"{T:5}  composed maps: {model.n_layers:2} layers, {said}")
