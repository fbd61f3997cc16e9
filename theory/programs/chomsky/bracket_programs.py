"""Programs for expressions with brackets, + and −, in constant depth [Deletang2023].

The value of an expression is the sum of its digits, each with a sign: − for an odd number of minus
signs in whose scope the digit is.  A minus sign between two operands, which stand in brackets, has
the rest of the brackets as its scope, and a minus sign before a digit has this digit.
"""

from __future__ import annotations

from theory.programs.chomsky.context_free import EQUATION, EXPRESSION
from theory.programs.chomsky.regular import DIGITS, MODULUS
from theory.programs.chomsky.selections import (
    earlier,
    exists,
    sum_modulo,
    token_in,
    where,
)
from theory.programs.language import (
    Aggregate,
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    tokens,
)
from theory.programs.library import everything, up_to_here

NOTHING = -1  # the token before the first one
ENDS = (*DIGITS, "x", ")")  # the texts with which an operand ends


def bracketed_arithmetic() -> SOp:
    """The value modulo 5 of an expression with brackets, + and −, by counts and lookups."""
    return _total(EXPRESSION, _negative(EXPRESSION))


def solve_equation() -> SOp:
    """The digit x for which expression = value, by counts and lookups.

    The expression is S + x or S − x, where S is the sum of the other digits. Let D be S − value:
    then x is −D or D. Sequences of zeros, as at lengths 1 and 2, have the solution 0.
    """
    negative = _negative(EQUATION)
    minus_x = exists(where(tokens == EQUATION.index("x")) & where(negative))
    return SequenceMap(
        lambda total, minus: total if minus else -total % MODULUS,
        _total(EQUATION, negative),
        minus_x,
    )


def _negative(texts: tuple[str, ...]) -> SOp:
    """1 for digits (and x) with the sign −, 0 for those with +; the value after = has the sign −.

    A minus sign between operands is in effect at a position if it is earlier and its brackets are
    not yet closed. So the number of these in effect is the number of earlier ones, less the number
    of earlier closing brackets with such a minus sign in their brackets. The depth of brackets and
    the number of brackets of this depth so far identify them.
    """
    opening, closing, minus = map(texts.index, "()−")
    ends, equals = ({i for i, text in enumerate(texts) if text in these} for these in (ENDS, "="))
    before, second = (
        Aggregate(Select(indices, indices - k, "=="), tokens, NOTHING) for k in (1, 2)
    )
    binary = where(tokens == minus) & where(token_in(ends, before))

    opened = SelectorWidth(up_to_here() & where(tokens == opening))
    closed = SelectorWidth(earlier() & where(tokens == closing))
    depth = (opened - closed).named("depth")
    same_depth = Select(depth, depth, "==")
    number = SelectorWidth(up_to_here() & same_depth & where(tokens == opening))
    subtracts = exists(same_depth & Select(number, number, "==") & binary)

    begun = SelectorWidth(up_to_here() & binary)
    ended = SelectorWidth(up_to_here() & where(tokens == closing) & where(subtracts))
    own = SequenceMap(
        lambda one, two: int(one in equals or (one == minus and two not in ends)),
        before,
        second,
    )
    return (begun % 2 + ended % 2 + own) % 2


def _total(texts: tuple[str, ...], negative: SOp) -> SOp:
    """The sum of the digits with their signs, modulo 5."""
    value = Map(lambda token: token if token < MODULUS else 0, tokens)
    signed = SequenceMap(lambda d, minus: -d % MODULUS if minus else d, value, negative)
    return sum_modulo(MODULUS, everything(), signed)
