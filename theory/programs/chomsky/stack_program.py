"""A program for stack manipulation, in constant depth [Deletang2023]."""

from __future__ import annotations

from theory.programs.chomsky.context_free import POP
from theory.programs.chomsky.selections import (
    earlier,
    exists,
    outputs_before,
    token_in,
    where,
)
from theory.programs.language import Select, Selector, SelectorWidth, SOp, tokens
from theory.programs.library import up_to_here

EMPTY = 5  # after bits, POP and the tokens 3 and 4, which push 0 and 1
PUSHES, PUSHES_OF_1 = (0, 1, 3, 4), (1, 4)


def stack_manipulation() -> SOp:
    """The stack from top to bottom, then 2 and zeros, by counts and lookups.

    A bit of the initial stack counts as a push. The balance, pushes minus pops, changes by steps
    of 1. So a pop finds the stack empty if and only if the balance after it is negative and new.
    The height is the balance plus the number of these pops. The level of a position is the height
    there minus the number of outputs before it: the height after an action, and the height of the
    element that output r has to show. This is the element of the last push to that level, which
    is found by the number of pushes to it so far.
    """
    push, pop = token_in(PUSHES), tokens == POP
    balance = _so_far(where(push)) - _so_far(where(pop))
    seen = SelectorWidth(earlier() & Select(balance, balance, "=="))
    without_effect = _so_far(where(pop) & where(balance < 0) & where(seen == 0))
    level = (balance + without_effect - outputs_before(EMPTY)).named("level")
    same = Select(level, level, "==")
    pushes = _so_far(same & where(push))
    last = same & Select(pushes, pushes, "==")
    return exists(last & where(token_in(PUSHES_OF_1))) + 2 * (level == 0)


def _so_far(selector: Selector) -> SOp:
    """The number of selected positions up to i."""
    return SelectorWidth(up_to_here() & selector)
