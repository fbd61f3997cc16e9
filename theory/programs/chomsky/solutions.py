"""Programs that solve the tasks of the Chomsky hierarchy.

`SOLUTIONS` contains them by the names of the tasks.  All are programs in RASP without further
operations.  The parity of a count, and counts modulo 4 and 5, are functions of `SelectorWidth`; a
minimum of a walk by steps of 1 is found by equality of its values.  Compiled for inputs of up to
500 tokens, the programs have these numbers of layers, and at most one more at the other lengths
that were tried:

    even pairs 1        cycle navigation 2      duplicate string 3      brackets, + and − 8
    parity check 1      reverse string 2        odds first 3            solve equation 8
    bucket sort 2       modular arithmetic 5    missing duplicate 4     stack 7, addition 9
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from theory.programs.chomsky.addition_program import binary_addition
from theory.programs.chomsky.bracket_programs import bracketed_arithmetic, solve_equation
from theory.programs.chomsky.regular_programs import (
    cycle_navigation,
    even_pairs,
    modular_arithmetic,
    parity_check,
)
from theory.programs.chomsky.stack_program import stack_manipulation
from theory.programs.chomsky.string_programs import (
    bucket_sort,
    duplicate_string,
    missing_duplicate,
    odds_first,
    reverse_string,
)
from theory.programs.language import SOp


@dataclass(frozen=True)
class Solution:
    """A program of constant depth for a task.

    program   a function that returns the program
    outputs   for a task that outputs a sequence, the number of symbols for an input of n tokens:
              the program reads the input and as many empty tokens, at which the symbols are its
              values. None for a classification: the program reads the input, and the symbol is its
              value at the last token.

    The empty token is the first one after the tokens of the task.
    """

    program: Callable[[], SOp]
    outputs: Callable[[int], int] | None = None

    def empties(self, n: int) -> int:
        """The number of empty tokens that follow an input of n tokens."""
        return self.outputs(n) if self.outputs else 0


def _same(n: int) -> int:
    return n


SOLUTIONS = {
    "even pairs": Solution(even_pairs),
    "modular arithmetic": Solution(modular_arithmetic),
    "parity check": Solution(parity_check),
    "cycle navigation": Solution(cycle_navigation),
    "modular arithmetic, brackets": Solution(bracketed_arithmetic),
    "reverse string": Solution(reverse_string, _same),
    "solve equation": Solution(solve_equation),
    "stack manipulation": Solution(stack_manipulation, lambda n: n + 1),
    "binary addition": Solution(binary_addition, lambda n: n + 1),
    "duplicate string": Solution(duplicate_string, lambda n: 2 * n),
    "missing duplicate": Solution(missing_duplicate),
    "odds first": Solution(odds_first, _same),
    "bucket sort": Solution(bucket_sort, _same),
}
"""The programs of constant depth, by the names of the tasks."""
