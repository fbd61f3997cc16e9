"""A program that decodes integer square roots digit by digit [Deletang2023].

A remainder R and the digits Q of the root so far are 0 at first. For each pair of bits of the
number, from the highest pair on,

    R ← 4R + pair,    d = [R ≥ T] for T = 4Q + 1,    R ← R − dT,    Q ← 2Q + d,

so that R + Q² is the number that the pairs so far form, and 0 ≤ R ≤ 2Q.  Row k of the working
decodes digit k = 0, 1, …: columns (r, t, b) of the subtraction R − T, from the lowest place on, and
then the digit, "√0" or "√1".  Here r and t are bits of R and T, and b is borrowed by the place
below.  There are k + 3 columns, since 4R + 3 < 2^(k+3) for R ≤ 2Q < 2^(k+1).

    t    1 and 0 at places 0 and 1, the last digit at place 2, and then t of row k − 1 one place
         lower, since the digits of 4Q + 1 move up by one place a row
    r    the pair at places 0 and 1, and then the remainder of row k − 1 two places lower: r there
         if its digit is 0, and the bit of the difference if it is 1

Both are read k + 4 and k + 5 positions before a column.  The row ends where this is the end of
row k − 1; "=" is the end of row −1.  After the digits the root is copied.

A root of h digits takes h(h + 9)/2 decoded tokens: rows of k + 4 tokens, and the root.  The
compiled program has 4 layers, or 5 for the shortest inputs.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from theory.programs.chomsky.scratchpads import (
    EQUALS,
    Scratchpad,
    at,
    count,
    function_of,
    numbered,
    token_in,
)
from theory.programs.language import LinearSequenceMap, Map, SOp, indices, tokens
from theory.programs.values import Value

BITS, DIGITS, SYMBOLS = ("0", "1"), ("√0", "√1"), (0, 1)
ENDS = (EQUALS, *DIGITS)


class Column(NamedTuple):
    """The bits at a place of R − T, and what the place below borrows."""

    r: int
    t: int
    b: int

    @property
    def difference(self) -> int:
        return (self.r - self.t - self.b) % 2

    @property
    def borrows(self) -> int:
        return int(self.r < self.t + self.b)


COLUMNS = tuple(Column(*bits) for bits in product((0, 1), repeat=3))


def square_root() -> SOp:
    """The next token, in constant depth: counts of rows, and lookups at distances from here."""
    is_digit, is_end = token_in(DIGITS), token_in(ENDS)
    k = count(is_digit).named("row")
    start = numbered(is_end, count(is_end), indices, 0)
    place = Map(lambda i: max(0, min(i, 3)), indices - start, name="place")  # of the next column
    last = Map(DIGITS.index, numbered(is_digit, k, tokens, DIGITS[0]), name="last digit")

    odd = count(token_in(BITS)) % 2  # the first pair of an odd number of bits is one bit
    low_bit = LinearSequenceMap(k, odd, 2, -1) + 1
    low, high = (at(where, Map(_bit, tokens), 0) for where in (low_bit, low_bit - 1))
    from_above = at(indices - k - 3, Map(_subtracted, tokens), 0)
    remainder = at(indices - k - 4, Map(_remainders, tokens), (0, 0))
    t = function_of(_t, place, last, from_above).named("t")
    r = function_of(_r, place, last, low, high, remainder).named("r")
    symbol = numbered(is_digit, count(token_in(SYMBOLS)) + 1, tokens, DIGITS[0])
    return function_of(_next, tokens, r, t, high, symbol)


def _bit(token: Value) -> Value:
    return EQUALS if token == EQUALS else int(token == "1")


def _subtracted(token: Value) -> Value:
    return EQUALS if token in ENDS else token.t if isinstance(token, Column) else 0


def _remainders(token: Value) -> Value:
    """The bits of the remainder for the digits 0 and 1."""
    return (token.r, token.difference) if isinstance(token, Column) else (0, 0)


def _t(place: int, last: int, above: Value) -> Value:
    return (1, 0, last, above)[place]


def _r(place: int, last: int, low: Value, high: Value, remainder: tuple[int, int]) -> Value:
    return (low, high, remainder[last], remainder[last])[place]


def _next(token: Value, r: Value, t: Value, high: Value, symbol: str) -> Value:
    """The next token; r, t and the higher bit of the pair are "=" where no bit is left."""
    column = isinstance(token, Column)
    if token in SYMBOLS or (high == EQUALS and not column):
        return DIGITS.index(symbol)
    borrow = token.borrows if isinstance(token, Column) else 0
    if column and t == EQUALS:
        return DIGITS[1 - borrow]
    return Column(r if isinstance(r, int) else 0, t if isinstance(t, int) else 0, borrow)


def _digits(n: int) -> int:
    return -(-n // 2)


def _steps(n: int) -> int:
    """Rows of 4, 5, … tokens for the digits, and the root: h(h + 9)/2 for h digits."""
    h = _digits(n)
    return h * (h + 9) // 2


def _steps_of(x: Sequence[int]) -> int:
    return _steps(len(x))


SQUARE_ROOT = Scratchpad(square_root, (*COLUMNS, *DIGITS), _steps_of, _steps, _digits)
