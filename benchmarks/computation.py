"""What automata as transformers cost, in a minute: `python benchmarks/computation.py [THREADS]`.

Built (median of 20) and run in float64 on random words of T letters, 16 together, whose time is
divided by 16, beside a loop over the automaton's table in Python.  The loop wins at any length that
is run here; what its T steps buy is depth: the layers stand in the first columns.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

from collections.abc import Callable
from functools import partial
from statistics import median

import numpy as np
import torch
from timing import in_turn, ratio, seconds

from constructions import semiautomaton, shortcut
from constructions.transformer import Transformer
from theory.computation import Semiautomaton, named

BATCH = 16


def looped(automaton: Semiautomaton, words: list[list[int]]) -> list[list[int]]:
    """The states after each letter, one table look-up a letter."""
    table, found = automaton.transitions, []
    for word in words:
        state, states = automaton.start, []
        for letter in word:
            state = table[letter][state]
            states.append(state)
        found.append(states)
    return found


def line(build: Callable[[], Transformer], automaton: Semiautomaton, T: int, kind: str) -> str:
    model, words = build(), np.random.default_rng(0).integers(automaton.n_letters, size=(BATCH, T))
    units = sum(len(block.mlp.b_in) for block in model.blocks if block.mlp is not None)
    letters = words.tolist()
    with torch.no_grad():
        assert model(words).tolist() == looped(automaton, letters)
        calls = {"run": partial(model, words), "loop": partial(looped, automaton, letters)}
        times = in_turn(calls, 5)
    run, loop = (1e3 * median(times[name]) / BATCH for name in ("run", "loop"))
    size = f"{model.n_layers:6} {model.n_heads:5} {model.d_model:5} {units:6}"
    built = f"{1e3 * seconds(build, 20):7.2f}"
    told = f"{built} {run:8.3f} {loop:8.3f} {ratio(times, 'run', 'loop'):8.1f}"
    return f"{automaton.name:18} {kind:14} {T:5} {size} {told}"


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}; times in milliseconds per word")
    print(
        f"{'':18} {'':14} {'T':>5} layers heads width  units   built {'run':>8} {'loop':>8} "
        f"{'run/loop':>8}"
    )
    for name in ("parity", "flip-flop", "gridworld-3", "S3", "all-maps-3", "S4", "A5"):
        automaton = named(name)
        for T in (64, 1024):
            print(line(partial(semiautomaton, automaton, T), automaton, T, "composed maps"))
            if name != "A5":
                print(line(partial(shortcut, automaton, T), automaton, T, "shortcut"), flush=True)


if __name__ == "__main__":
    main()
