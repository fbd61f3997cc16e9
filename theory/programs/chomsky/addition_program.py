"""A program for binary addition, in constant depth [Deletang2023]."""

from __future__ import annotations

from theory.programs.chomsky.context_sensitive import SEPARATOR
from theory.programs.chomsky.selections import earlier, exists, where
from theory.programs.language import Select, SelectorWidth, SequenceMap, SOp, indices, tokens
from theory.programs.library import up_to_here

EMPTY = 3


def binary_addition() -> SOp:
    """The bits of a + b from the lowest on, the end mark 2 and zeros, by counts and lookups.

    The place of a bit is the number of bits of its number before it, and the place of an output
    the number of outputs before it. The sum at a place, 0, 1 or 2, is the number of bits 1 there.
    The carry into a place is 1 if the latest lower place with a sum other than 1 has the sum 2;
    this place is found by the number of such places so far. The end mark follows the highest bit
    1, or the bit at place 0 if the sum is 0.
    """
    output = tokens == EMPTY
    plus = SelectorWidth(up_to_here() & where(tokens == SEPARATOR))
    same_number = Select(plus, plus, "==") & Select(output, output, "==")
    place = SelectorWidth(earlier() & same_number & where(tokens != SEPARATOR)).named("place")
    total = SelectorWidth(Select(place, place, "==") & where(tokens == 1))
    settled = SelectorWidth(earlier() & where(output) & where(total != 1))
    latest = where(output) & Select(settled, settled - 1, "==")
    carry = exists(latest & where(total == 2))
    bit = SequenceMap(lambda odd, carry: odd ^ carry, total % 2, carry)
    digit = SequenceMap(lambda bit, lowest: bit or int(lowest), bit, place == 0)
    digits = where(output) & where(digit)
    count, so_far = SelectorWidth(digits), SelectorWidth(up_to_here() & digits)
    highest = digits & Select(so_far, count, "==")
    return bit + 2 * exists(Select(indices, indices - 1, "==") & highest)
