"""Rounds of massively parallel computation (MPC) as steps of PRAM programs.

Each machine has s words.  In a round every machine computes with its words and sends messages.  A
message to slot k of machine i is addressed to the place s·i + k and becomes word k of machine i.
So the messages to a machine fit in its s words.  Each message takes one `Write` of the PRAM for
every slot, so a machine that sends s messages takes s² writes.  The algorithms here send at most
one message to a slot; messages of several registers to one slot would be added.

tree_sum     each machine i sends its sum to machine ⌈i/s⌉, where each sender uses a different
             slot; after r rounds machine i has the sum of the i-th block of s^r numbers
transpose    s machines have the rows of a matrix and receive its columns in one round
"""

from __future__ import annotations

import numpy as np

from theory.computation.kinds import FanIn
from theory.computation.pram import LARGEST, Program, Set, Step, Write, processors_fit
from theory.computation.prefix_sums import tree_depth
from theory.kinds import Count, InputError, Vectors, checked, shown
from theory.waiting import announced


@checked
def message_round(messages: dict[str, str], words: tuple[str, ...]) -> Step:
    """The step of a PRAM program in which machines send messages to each other and receive them.

    A machine is a processor of the PRAM. The s registers in `words` are the slots of a machine for
    the messages that it receives. A message is a number. A key of `messages` names the register
    that contains the number, and its entry names the register that contains the address. The
    address s·i + k is slot k of machine i. A slot to which no message is sent becomes 0.

    Raises `ValueError` if `messages` or `words` is empty.
    """
    if not messages or not words:
        raise InputError(
            f"there are {len(messages)} messages and {len(words)} registers in `words`: give at "
            "least one message and one register"
        )
    s = len(words)
    writes = [
        Write(value, place, f"{value} in {word}", slot, s, empty=0)
        for value, place in announced(messages.items(), "the messages")
        for slot, word in enumerate(words)
    ]
    received = {word: tuple(f"{value} in {word}" for value in messages) for word in words}
    op = "plus" if len(messages) > 1 else "copy"
    return Step((), tuple(writes), tuple(Set(word, op, each) for word, each in received.items()))


def _registers_hold(largest: int, times: int = 1) -> None:
    """Raises `ValueError` if `times` numbers of at most `largest` have a sum above a register's."""
    if largest * times > LARGEST:
        raise InputError(f"largest is {shown(largest)}: give an integer ≤ {LARGEST // times}")


@checked
def tree_sum(n_machines: Count, s: FanIn, largest: Count = 1) -> Program:
    """The PRAM program that adds N numbers, one at each of N = n_machines machines.

    The program takes ⌈log_s N⌉ rounds. A machine is a processor of the PRAM, and it receives at
    most s messages in a round. The numbers are at most `largest`. In the end the sum is at machine
    1. Raises `ValueError` if N·largest exceeds the numbers of a register, or N + s the processors.
    """
    N = n_machines
    processors_fit(N + s)
    _registers_hold(largest, N)
    numbers = range(1, N + 1)
    slots = [f"slot {k}" for k in range(s)]
    writes = (
        Write("x", "up", into, k, s, empty=0) for k, into in enumerate(announced(slots, "tree_sum"))
    )
    return Program(
        f"tree_sum({N}, {s}, {largest})",
        N,
        inputs=("x",),
        answer="x",
        steps=(Step((), tuple(writes), (Set("x", "plus", tuple(slots)),)),),
        repeat=tree_depth(N, s),
        initial={"up": tuple(s * (1 + (i - 1) // s) + (i - 1) % s for i in numbers)},
        most=max(N * largest, s * N + s - 1),
    )


@checked
def transpose(s: Count, largest: Count = 1) -> Program:
    """The PRAM program that transposes an s × s matrix of numbers up to `largest` in one round.

    In a round every processor sends messages, and every processor has s slots for the messages that
    it receives. Processor i has row i of the matrix in the input registers w1, …, ws. It sends the
    number in wk to slot i of processor k. The received numbers are in the registers w1, …, ws. The
    output of the program is only one of them, w1. Raises `ValueError` if `largest` exceeds the
    numbers of a register, or s² the processors.
    """
    processors_fit(s * s)
    _registers_hold(largest)
    words = tuple(f"w{k}" for k in range(1, s + 1))
    places = {f"place{k}": tuple(range(s * k, s * (k + 1))) for k in range(1, s + 1)}
    return Program(
        f"transpose({s}, {largest})",
        s,
        inputs=words,
        answer="w1",
        steps=(message_round(dict(zip(words, places, strict=True)), words),),
        initial=places,
        most=max(largest, s * s + s - 1),
    )


@checked
def block_sums(x: Vectors, width: Count) -> np.ndarray:
    """The sums of consecutive blocks of `width` numbers: (…, N) → (…, N).

    The sum of block i is at place i, and the places after the last block are 0.
    """
    starts = range(0, x.shape[-1] * width, width)
    return np.stack([x[..., start : start + width].sum(-1) for start in starts], axis=-1)
