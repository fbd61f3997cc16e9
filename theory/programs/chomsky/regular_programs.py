"""Programs for the four regular tasks, in constant depth [Deletang2023].

The symbol is the value at the last token.
"""

from __future__ import annotations

from theory.programs.chomsky.regular import MINUS, MODULUS, PLUS
from theory.programs.chomsky.selections import exists, sum_modulo, token_in, where
from theory.programs.language import (
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    SOp,
    indices,
    tokens,
)
from theory.programs.library import (
    at,
    count_of,
    first_token,
    parity,
    up_to_here,
)


def even_pairs() -> SOp:
    """Whether x_i differs from the first token, by a lookup.

    Each pair 01 or 10 changes the bit, so that the number of these pairs is odd if and only if
    the first and the last token differ.
    """
    return SequenceMap(lambda token, first: int(token != first), tokens, first_token())


def parity_check() -> SOp:
    """The number of tokens 1 modulo 2, by a count."""
    return parity(1)


def cycle_navigation() -> SOp:
    """The position on a cycle of length 5 after steps −1, 0 and 1, by two counts."""
    forward, backward = count_of(2), count_of(0)
    return (forward % MODULUS - backward % MODULUS) % MODULUS


def modular_arithmetic() -> SOp:
    """The value modulo 5 of an expression without brackets, by counts and one lookup.

    The number of operators + and − up to a position numbers the terms. Modulo 5 the numbers
    1, 2, 3, 4 are 2⁰, 2¹, 2³, 2², and −1 is 2². So a term without 0 is 2^(p + 2q), where p counts
    the tokens 2 and 3 of the term, and q the tokens 3, 4 and −. The value is that of the first
    term plus those at all operators + and −.
    """
    operator = token_in((PLUS, MINUS))
    term = SelectorWidth(up_to_here() & where(operator))
    in_term = Select(term, term, "==")
    p = SelectorWidth(in_term & where(token_in((2, 3))))
    q = SelectorWidth(in_term & where(token_in((3, 4, MINUS))))
    exponent = p % 4 + Map(lambda count: 2 * (count % 2), q)
    value = SequenceMap(
        lambda zero, exponent: 0 if zero else 2**exponent % MODULUS,
        exists(in_term & where(tokens == 0)),
        exponent,
    )
    others = sum_modulo(MODULUS, where(operator), value)
    return (at(0 * indices, value) + others) % MODULUS
