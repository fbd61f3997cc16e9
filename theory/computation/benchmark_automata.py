"""Benchmark semiautomata with names: groups, flip-flops, bounded Dyck words, walks, all maps.

cyclic(m)            symbol 0 stays, symbol 1 adds 1 mod m; `parity` is cyclic(2)
flip_flop(n)         symbol 0 stays, symbol 1 + q goes to state q, for q = 0 … n − 1
cyclic_with_reset(m) symbol 0 adds 1 mod m, symbol 1 goes to state 0
S3, D4, A4, S4, A5   groups of permutations of 3, 4, 4, 4 and 5 states, by two generators
Q8                   the quaternion group acting on its 8 elements, by the generators i and j
bounded_dyck(D)      symbol 0 opens a bracket, symbol 1 closes one; the state is the depth 0 … D,
                     or D + 1 after an error
gridworld(S)         a walk on 0 … S with walls at both ends; symbol 0 is a step to the left,
                     symbol 1 a step to the right
all_maps(n)          all nⁿ maps of n states, by generators
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

from theory.computation.semiautomata import Map, Semiautomaton, identity, table_fits
from theory.kinds import Choice, Count, CountFrom2, Kind, checked


@checked
def cyclic(m: Count) -> Semiautomaton:
    """The semiautomaton that counts mod m: symbol 1 adds 1, and symbol 0 keeps the state."""
    table_fits(m, 2)
    turn = tuple((q + 1) % m for q in range(m))
    return Semiautomaton((identity(m), turn), "parity" if m == 2 else f"mod {m}")


@checked
def flip_flop(n: Count = 2) -> Semiautomaton:
    """The flip-flop with n states: symbol 1 + q leads to state q, and symbol 0 keeps the state."""
    table_fits(n, n + 1)
    name = "flip-flop" if n == 2 else f"flip-flop of {n}"
    return Semiautomaton((identity(n), *((q,) * n for q in range(n))), name)


@checked
def cyclic_with_reset(m: Count) -> Semiautomaton:
    """The semiautomaton that counts mod m: symbol 0 adds 1, and symbol 1 leads to state 0."""
    return Semiautomaton((cyclic(m).transitions[1], (0,) * m), f"mod {m} with reset")


S3 = Semiautomaton(((1, 0, 2), (1, 2, 0)), "S3")
D4 = Semiautomaton(((1, 2, 3, 0), (0, 3, 2, 1)), "D4")
A4 = Semiautomaton(((1, 2, 0, 3), (1, 0, 3, 2)), "A4")
S4 = Semiautomaton(((1, 0, 2, 3), (1, 2, 3, 0)), "S4")
A5 = Semiautomaton(((1, 2, 0, 3, 4), (1, 2, 3, 4, 0)), "A5")


def _quaternions() -> Semiautomaton:
    """Right multiplications by i and j on 1, −1, i, −i, j, −j, k, −k, numbered 0 … 7 in order."""
    by_i = (2, 3, 1, 0, 7, 6, 4, 5)  # 1·i = i, i·i = −1, j·i = −k, k·i = j
    by_j = (4, 5, 6, 7, 1, 0, 3, 2)  # 1·j = j, i·j = k, j·j = −1, k·j = −i
    return Semiautomaton((by_i, by_j), "Q8")


Q8 = _quaternions()


@checked
def bounded_dyck(depth: Count) -> Semiautomaton:
    """The semiautomaton that counts open brackets up to a depth.

    Symbol 0 opens a bracket, and symbol 1 closes one. The state is the number of opening minus the
    number of closing brackets so far. If this difference has ever been negative or more than
    `depth`, the state is `depth` + 1 for the rest of the word. So a word is a Dyck word (a
    well-nested word) of at most this depth iff it leads from state 0 to state 0.
    """
    D = depth
    table_fits(D + 2, 2)
    up = (*range(1, D + 2), D + 1)
    down = (D + 1, *range(D), D + 1)
    return Semiautomaton((up, down), f"Dyck-1 to depth {D}")


@checked
def gridworld(steps: Count) -> Semiautomaton:
    """The semiautomaton of a walk on 0, …, `steps` between two walls [Liu2023, section 3.2].

    Symbol 0 is a step to the left, and symbol 1 is a step to the right. A step into a wall leaves
    the state unchanged.
    """
    S = steps
    table_fits(S + 1, 2)
    left: Map = (0, *range(S))
    right: Map = (*range(1, S + 1), S)
    return Semiautomaton((left, right), f"gridworld of {S + 1}")


@checked
def all_maps(n: CountFrom2) -> Semiautomaton:
    """The semiautomaton of n states whose words induce all maps of the states.

    Its symbols induce maps that generate all maps: a transposition, a cycle of all states, and a
    map that merges states 0 and 1.
    """
    table_fits(n, 3)
    swap = (1, 0, *range(2, n))
    merge = (1, 1, *range(2, n))
    symbols = (swap, merge) if n == 2 else (swap, cyclic(n).transitions[1], merge)
    return Semiautomaton(symbols, f"all maps on {n}")


BENCHMARK_AUTOMATA: dict[str, Callable[[], Semiautomaton]] = {
    "parity": lambda: cyclic(2),
    "mod-3": lambda: cyclic(3),
    "mod-6": lambda: cyclic(6),
    "flip-flop": flip_flop,
    "mod-3-with-reset": lambda: cyclic_with_reset(3),
    "S3": lambda: S3,
    "D4": lambda: D4,
    "A4": lambda: A4,
    "Q8": lambda: Q8,
    "S4": lambda: S4,
    "A5": lambda: A5,
    "dyck-2": lambda: bounded_dyck(2),
    "dyck-4": lambda: bounded_dyck(4),
    "gridworld-3": lambda: gridworld(2),
    "gridworld-4": lambda: gridworld(3),
    "gridworld-6": lambda: gridworld(5),
    "all-maps-2": lambda: all_maps(2),
    "all-maps-3": lambda: all_maps(3),
    "all-maps-4": lambda: all_maps(4),
}
"""Functions that return the benchmark automata, by name: these names are accepted by parameters
`automaton` and by the option `--automaton` of the command line."""


BenchmarkName: TypeAlias = Annotated[str, Choice(tuple(BENCHMARK_AUTOMATA))]
"""The name of a benchmark automaton."""


@dataclass(frozen=True)
class AutomatonOrName(Kind):
    """A semiautomaton, or the name of a benchmark automaton."""

    what = f"a Semiautomaton, or a name: {', '.join(BENCHMARK_AUTOMATA)}"
    example = S3
    wrong = (None, object(), 1, 1.5, b"S3", "", "S33", "s3", ["S3"], [], (), {}, [[1, 0]])

    def read(self, name: str, value: Any) -> Semiautomaton:
        if isinstance(value, Semiautomaton):
            return value
        if not isinstance(value, str) or value not in BENCHMARK_AUTOMATA:
            raise self.error(name, value)
        return BENCHMARK_AUTOMATA[value]()


Automaton: TypeAlias = Annotated[Any, AutomatonOrName()]
"""A semiautomaton, or the name of a benchmark automaton; the function gets the semiautomaton."""


@checked
def benchmark_automaton(automaton: BenchmarkName) -> Semiautomaton:
    """The semiautomaton with the given name, such as "parity", "S3" or "flip-flop"."""
    return BENCHMARK_AUTOMATA[automaton]()
