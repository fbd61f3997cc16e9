"""Options of claims on automata: the automaton, the length of words, and the number of samples."""

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

MOST_DRAWN = 10_000  # the largest number of random inputs: more take hours

Automaton = Annotated[
    str | None, option("a benchmark automaton, such as S3; by default several", metavar="NAME")
]
File = Annotated[
    Path | None, option("a JSON file with an automaton: a row of states for each symbol")
]
Regex = Annotated[
    str | None,
    option("the minimal automaton of a regular expression, such as '(ab)+'", metavar="EXPRESSION"),
]
RANDOM = {"automaton": (None,), "file": (None,), "regex": (None,)}  # the random automaton is used
States = Annotated[
    int, option("number of states of the random automaton", min=1, max=1000, only=RANDOM)
]
Compact = Annotated[bool, option("use fewer hidden neurons and more layers")]
Length = Annotated[int, option("number of symbols of the longest words", min=2, max=4096)]
Samples = Annotated[int, option("number of random words", min=1, max=MOST_DRAWN)]
ShortLength = Annotated[int, option("the length up to which all words are run", min=4, max=14)]
LongWords = Annotated[
    int, option("number of random words of each longer length", min=1, max=MOST_DRAWN)
]


def chosen(
    run: Run,
    automaton: str | None,
    file: Path | None,
    names: Sequence[str],
    states: int,
    regex: str | None,
) -> list[Semiautomaton]:
    """The automaton of the option given; by default the automata `names` and a random one."""
    options = {"automaton": automaton, "file": file, "regex": regex}
    given = [f"{name} {value}" for name, value in options.items() if value is not None]
    if len(given) > 1:
        raise InputError(
            f"the options {' and '.join(given)} are given together: give only one of these options"
        )
    if file is not None:
        return [read_automaton(file)]
    if regex is not None:
        return [regular_expression(regex).automaton]
    if automaton is not None:
        return [read(AutomatonOrName, "automaton", automaton)]
    drawn = random_semiautomaton(states, 2, np.random.default_rng(run.seed))
    return [*map(benchmark_automaton, names[:1] if run.quick else names), drawn]
