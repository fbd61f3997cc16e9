"""Run times of automata as transformers: `python benchmarks/computation.py [THREADS]`, minutes.

Models are built (median of 20) and run in float64 on 16 random words of T symbols; the time is
divided by 16 and compared with a Python loop over the automaton's table.  The loop is faster at all
lengths here, but has T sequential steps; the first columns show the depth of the models.

Then each automaton with two symbols and 2 or 3 states is built once.  Finally, 1000 tokens are
decoded with cached keys and values, as by `generate`, and with a run of the whole sequence for each
token.
"""

# ruff: noqa: E402 (the number of threads is read when numpy is first imported)
import os
import sys

THREADS = int(sys.argv[1]) if len(sys.argv) > 1 else 1
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[name] = str(THREADS)

from collections.abc import Callable
from functools import partial
from itertools import combinations_with_replacement, product
from statistics import median

import numpy as np
import torch
from timing import in_turn, once, ratio, seconds

from constructions import scratchpad, semiautomaton, shortcut, turing_machine
from constructions.transformer import Transformer
from theory.computation import MACHINES, Semiautomaton, benchmark_automaton

BATCH = 16
TOKENS = 1000  # decoded


def looped(automaton: Semiautomaton, words: list[list[int]]) -> list[list[int]]:
    """The states after each symbol, by one table lookup per symbol."""
    table, found = automaton.transitions, []
    for word in words:
        state, states = automaton.start, []
        for symbol in word:
            state = table[symbol][state]
            states.append(state)
        found.append(states)
    return found


def line(build: Callable[[], Transformer], automaton: Semiautomaton, T: int, kind: str) -> str:
    model, words = build(), np.random.default_rng(0).integers(automaton.n_symbols, size=(BATCH, T))
    units = sum(len(block.mlp.b_in) for block in model.blocks if block.mlp is not None)
    rows = words.tolist()
    with torch.no_grad():
        assert model(words).tolist() == looped(automaton, rows)
        calls = {"run": partial(model, words), "loop": partial(looped, automaton, rows)}
        times = in_turn(calls, 5)
    run, loop = (1e3 * median(times[name]) / BATCH for name in ("run", "loop"))
    size = f"{model.n_layers:6} {model.n_heads:5} {model.d_model:5} {units:6}"
    built = f"{1e3 * seconds(build, 20):7.2f}"
    numbers = f"{built} {run:8.3f} {loop:8.3f} {ratio(times, 'run', 'loop'):8.1f}"
    return f"{automaton.name:18} {kind:14} {T:5} {size} {numbers}"


def all_of_two_symbols(states: int) -> list[Semiautomaton]:
    """All pairs of maps of this number of states, up to their order."""
    maps = product(range(states), repeat=states)
    return [Semiautomaton(pair) for pair in combinations_with_replacement(maps, 2)]


def built(states: int, T: int, kind: str, build: Callable[[Semiautomaton, int], object]) -> str:
    """The times of building the models, one by one."""
    automata = all_of_two_symbols(states)
    times = [1e3 * once(partial(build, automaton, T)) for automaton in automata]
    numbers = f"median {median(times):.2f}, longest {max(times):.1f}, together {sum(times):.0f}"
    return f"{len(automata):4} automata, {states} states, T = {T}, {kind}: {numbers}"


def decoded(model: Transformer, prompt: np.ndarray) -> str:
    """Times of decoding with and without cached keys and values; the tokens are the same."""

    def whole() -> torch.Tensor:
        sequence = torch.as_tensor(prompt)
        for _ in range(TOKENS):
            sequence = torch.cat([sequence, model(sequence)[..., -1:]], dim=-1)
        return sequence[..., prompt.shape[-1] :]

    cached = partial(model.generate, prompt, TOKENS)
    with torch.no_grad():
        assert cached().tolist() == whole().tolist()
        times = in_turn({"cached": cached, "whole": whole}, 2)
    a, b = (1e3 * median(times[name]) / TOKENS for name in ("cached", "whole"))
    size = f"{model.n_layers} layers, width {model.d_model}, {prompt.shape[-1]} tokens before"
    numbers = f"{a:.2f} a token, whole {b:.2f}, {ratio(times, 'whole', 'cached'):.1f} times as long"
    return f"{model.name}: {size}: {numbers}"


def main() -> None:
    torch.set_num_threads(THREADS)
    print(f"{THREADS} thread(s), torch {torch.__version__}; times in milliseconds per word")
    print(
        f"{'':18} {'':14} {'T':>5} layers heads width  units   built {'run':>8} {'loop':>8} "
        f"{'run/loop':>8}"
    )
    for name in ("parity", "flip-flop", "gridworld-3", "S3", "all-maps-3", "S4", "A5"):
        automaton = benchmark_automaton(name)
        for T in (64, 1024):
            print(line(partial(semiautomaton, automaton, T), automaton, T, "composed maps"))
            if name != "A5":
                print(line(partial(shortcut, automaton, T), automaton, T, "shortcut"), flush=True)
    for states in (2, 3):
        print(built(states, 64, "composed maps", semiautomaton))
        print(built(states, 64, "shortcut", shortcut), flush=True)
    print(f"{TOKENS} tokens decoded, one sequence, milliseconds:")
    writes = scratchpad("A5", TOKENS)
    word = np.random.default_rng(0).integers(benchmark_automaton("A5").n_symbols, size=TOKENS)
    print(decoded(writes, writes.interface.prompt(word)), flush=True)
    machine = turing_machine(MACHINES["wolfram-2-3"], TOKENS + 2)
    print(decoded(machine, np.array(machine.interface.prompt())))


if __name__ == "__main__":
    main()
