"""Which automata a claim is about: of the zoo, random ones, or one's own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import numpy as np

from theory.computation import (
    Semiautomaton,
    benchmark_automaton,
    random_semiautomaton,
    read_automaton,
    regular_expression,
)
from theory.computation.benchmark_automata import Automaton as AutomatonOrName
from theory.kinds import InputError, read
from verify.claim import Run, option

MOST_DRAWN = 10_000  # of anything: beyond, a claim takes hours

Automaton = Annotated[
    str | None, option("one of the zoo, such as S3, instead of several", metavar="NAME")
]
File = Annotated[
    Path | None, option("an automaton of your own, as JSON: a row of states for each symbol")
]
Regex = Annotated[
    str | None,
    option("the least automaton of a regular expression, such as '(ab)+'", metavar="EXPRESSION"),
]
States = Annotated[int, option("states of a random automaton, drawn by the seed", min=1)]
Compact = Annotated[bool, option("fewer units and more layers")]
Length = Annotated[int, option("symbols of the longest words", min=2)]
Samples = Annotated[int, option("random words", min=1, max=MOST_DRAWN)]
ShortLength = Annotated[int, option("symbols of the longest words that are all run", min=4)]
LongWords = Annotated[int, option("random words of each longer length", min=1, max=MOST_DRAWN)]


def chosen(
    run: Run,
    automaton: str | None,
    file: Path | None,
    names: Sequence[str],
    states: int,
    regex: str | None,
) -> list[Semiautomaton]:
    """The one that was asked for; or those of these names, and a random one."""
    asked = {"automaton": automaton, "file": file, "regex": regex}
    given = [f"{name} {value}" for name, value in asked.items() if value is not None]
    if len(given) > 1:
        raise InputError(f"{' and '.join(given)}: give one of them")
    if file is not None:
        return [read_automaton(file)]
    if regex is not None:
        return [regular_expression(regex).automaton]
    if automaton is not None:
        return [read(AutomatonOrName, "automaton", automaton)]
    drawn = random_semiautomaton(states, 2, np.random.default_rng(run.seed))
    return [*map(benchmark_automaton, names[:1] if run.quick else names), drawn]
