"""A program that decodes products of binary numbers by shifting and adding [Deletang2023].

Let a have p bits and b have q bits, both with the lowest bit first. A number S is 0 at first. For
each bit a_j, from the lowest one on,

    S ← S + a_j·b,    bit j of the product is the lowest bit of S,    S ← ⌊S/2⌋,

and the last S contains the other q bits.  Row j = 0, …, p − 1 of the working has a column (m, s, c)
for each of q places, and then the last carry, "|0" or "|1":

    m    the bit of b, read from row j − 1 at the same place, q + 1 positions earlier
    s    the bit of S + a_j·b, and c its carry to the next place. The bit of S is read from row
         j − 1 one place higher, q positions earlier; its bit at place q is the last carry.

The prompt ends with row −1, in which S = 0: the bits of b, and "=".  A row ends where the row above
it ends.  The bit a_j is read at position j; "·" at position p ends the working.

The product consists of the first column of each row, and of all of the last row.  These bits are
copied in their order.  The end mark follows the last 1, or the first bit if the product is 0, and
then zeros fill the n symbols.  An input without "·" has at most two tokens, and its product is
n − 1 zeros.

An input of n tokens takes p(q + 1) + n decoded tokens, at most n²/4 + n.  The compiled program has
4 layers.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import NamedTuple

from theory.programs.chomsky.context_sensitive import END, SEPARATOR
from theory.programs.chomsky.scratchpads import (
    EQUALS,
    Scratchpad,
    at,
    count,
    function_of,
    numbered,
    occurs,
    token_in,
)
from theory.programs.language import Aggregate, Full, Map, Select, SOp, indices, tokens
from theory.programs.values import Value

BITS, TIMES, CARRIES, SYMBOLS = ("0", "1"), "·", ("|0", "|1"), (0, 1, END)
ENDS = (EQUALS, *CARRIES)


class Column(NamedTuple):
    """A bit of b, a bit of S + a_j·b, and the carry to the next place."""

    m: int
    s: int
    c: int


COLUMNS = tuple(Column(*bits) for bits in product((0, 1), repeat=3))


def multiplication() -> SOp:
    """The next token, in constant depth: counts of rows, and lookups at distances from here."""
    second = occurs(TIMES)
    q = count(function_of(lambda token, second: int(token in BITS and second), tokens, second))
    row = count(token_in(ENDS)).named("row")
    a_bit, a_next = (at(j, Map(_bit_of_a, tokens), 0) for j in (row - 1, row))
    above = at(indices - q, Map(_bit_of_b, tokens), 0)
    shifted = at(indices - q + 1, Map(_sum_bit, tokens), 0)
    bit, alone, ended = _symbol(second, a_bit, a_next)
    return function_of(_next, bit, alone, ended, a_bit, shifted, tokens, above)


def _symbol(second: SOp, a_bit: SOp, a_next: SOp) -> tuple[SOp, SOp, SOp]:
    """The next bit of the product, and whether all its bits are written: without "·", or with it.

    They are written if their number is that of the last one that counts: a 1, or the first bit.
    """
    before = at(indices - 1, Map(_row_end, tokens), 0)
    kind = function_of(_kind, tokens, before, a_bit, a_next)
    in_product, counts = Map(lambda k: int(k > 0), kind), Map(lambda k: int(k == 2), kind)
    written = count(token_in(SYMBOLS))
    bit = numbered(in_product, written + 1, Map(_sum_bit, tokens), 0)
    alone = function_of(lambda token, second: int(token == EQUALS and not second), tokens, second)
    last = Select(count(counts), count(counts), "==") & Select(counts, Full(1), "==")
    here = Select(count(in_product), written, "==") & Select(in_product, Full(1), "==")
    return bit, at(written + 1, alone, 0), Aggregate(here & last, Full(1), 0)


def _bit_of_a(token: Value) -> Value:
    return TIMES if token == TIMES else int(token == "1")


def _bit_of_b(token: Value) -> Value:
    return EQUALS if token in ENDS else token.m if isinstance(token, Column) else int(token == "1")


def _sum_bit(token: Value) -> int:
    return token.s if isinstance(token, Column) else int(token == CARRIES[1])


def _row_end(token: Value) -> Value:
    """What a row begins after: "=" for row 0, 1 for other rows, and 0 inside a row."""
    return EQUALS if token == EQUALS else int(token in CARRIES)


def _kind(token: Value, before: Value, a_bit: Value, a_next: Value) -> int:
    """0 if the token is not in the product, 1 for zeros after its first bit, and 2 for others."""
    column = isinstance(token, Column)
    in_last_row = (a_next if column else a_bit) == TIMES
    found = (column and before != 0) or (in_last_row and token in (*COLUMNS, *CARRIES))
    return int(found) * (1 + int(_sum_bit(token) == 1 or (column and before == EQUALS)))


def _next(
    bit: int, alone: int, ended: int, a_bit: Value, shifted: int, token: Value, above: Value
) -> Value:
    """The next token; without "·", q = 0, so that "=" is above itself."""
    column = isinstance(token, Column)
    if token in SYMBOLS or (not column and (a_bit == TIMES or above == EQUALS)):
        return END if ended or alone else bit
    carry = token.c if isinstance(token, Column) else 0
    if column and above == EQUALS:
        return CARRIES[carry]
    m = above if isinstance(above, int) else 0
    total = shifted + carry + (m if a_bit == 1 else 0)
    return Column(m, total % 2, total // 2)


def _steps(x: Sequence[int]) -> int:
    """p rows of q + 1 tokens, and n symbols."""
    p = x.index(SEPARATOR) if SEPARATOR in x else 0
    return p * (len(x) - p) + len(x)


def _same(n: int) -> int:
    return n


MULTIPLICATION = Scratchpad(
    multiplication, (*COLUMNS, *CARRIES), _steps, lambda n: n * n // 4 + n, _same
)
