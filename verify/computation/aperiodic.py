"""Aperiodic monoids and cascades of flip-flops, compared on all small automata."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

from theory.computation import BENCHMARK_AUTOMATA, Semiautomaton, benchmark_automaton, monoid
from theory.computation.star_free import has_flip_flops_only
from verify.finding import Finding, Verdict

SLOW = "all-maps-4"  # its cascade takes 15 s


def aperiodic_iff_flip_flops(n_states: int) -> Finding:
    """Checks that the monoid of an automaton is aperiodic iff the cascade has no counters.

    The automata are all automata with two symbols (up to the order of the symbols) and n_states
    states, and the benchmark automata.
    """
    maps = list(product(range(n_states), repeat=n_states))
    pairs = [Semiautomaton(pair) for pair in combinations_with_replacement(maps, 2)]
    automata = [*pairs, *(benchmark_automaton(name) for name in BENCHMARK_AUTOMATA if name != SLOW)]
    decided = [(is_aperiodic(A), has_flip_flops_only(A)) for A in automata]
    wrong = [A for A, (one, other) in zip(automata, decided, strict=True) if one != other]
    aperiodic = sum(one for one, _ in decided)
    return Finding(
        "aperiodic",
        "the monoid of an automaton is aperiodic iff its cascade has only flip-flops "
        f"({len(pairs)} automata with two symbols and {n_states} states, "
        f"{len(automata) - len(pairs)} benchmark automata)",
        "exact",
        len(wrong),
        0,
        Verdict.of(not wrong) if 0 < aperiodic < len(automata) else Verdict.UNDECIDED,
        f"{len(wrong)} exceptions; {aperiodic} of the monoids are aperiodic",
        "no exception",
        f"{wrong[0]}: {wrong[0].transitions}" if wrong else "",
    )


def is_aperiodic(A: Semiautomaton) -> bool:
    """Whether the monoid of A is aperiodic: each of its maps x has x^n = x^{n+1} for some n."""
    return monoid(A).is_aperiodic
