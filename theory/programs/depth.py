"""How many selectors follow each other in a program."""

from __future__ import annotations

from theory.programs.language import Aggregate, Expression, Length, SelectorWidth, expressions


def depth(program: Expression) -> int:
    """The largest number of aggregates, widths and lengths on a path through a program.

    It is the number of attention layers that the program needs if each of them waits for the values
    of the others on its path.
    """
    found: dict[Expression, int] = {}
    for each in expressions(program):
        below = max((found[part] for part in each.parts), default=0)
        found[each] = below + isinstance(each, Aggregate | SelectorWidth | Length)
    return found[program]
