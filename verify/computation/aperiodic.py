"""Aperiodic monoids and cascades of latches, compared on all small automata."""

from __future__ import annotations

from itertools import combinations_with_replacement, product

from theory.computation import ZOO, Semiautomaton, monoid, named
from theory.computation.star_free import has_latches_only
from verify.finding import Finding, Verdict

SLOW = "all-maps-4"  # whose cascade takes a quarter of a minute


def aperiodic_iff_latches(states: int) -> Finding:
    """For all pairs of letters, up to their order, that are maps of so many states, and the zoo."""
    maps = list(product(range(states), repeat=states))
    pairs = [Semiautomaton(pair) for pair in combinations_with_replacement(maps, 2)]
    automata = [*pairs, *(named(name) for name in ZOO if name != SLOW)]
    decided = [(is_aperiodic(A), has_latches_only(A)) for A in automata]
    wrong = [A for A, (one, other) in zip(automata, decided, strict=True) if one != other]
    aperiodic = sum(one for one, _ in decided)
    return Finding(
        "aperiodic",
        "the monoid is aperiodic iff the cascade has latches only "
        f"({len(pairs)} automata of two letters and {states} states, {len(automata) - len(pairs)} "
        "of the zoo)",
        "exact",
        len(wrong),
        0,
        Verdict.of(not wrong) if 0 < aperiodic < len(automata) else Verdict.UNDECIDED,
        f"{len(wrong)} differ; {aperiodic} are aperiodic",
        "none",
        f"{wrong[0]}: {wrong[0].transitions}" if wrong else "",
    )


def is_aperiodic(A: Semiautomaton) -> bool:
    """x^n = x^{n+1} for some n, for the maps x of all words."""
    return monoid(A).is_aperiodic
