"""Random PRAM programs for tests, in which all reads, writes and operations occur."""

from __future__ import annotations

import numpy as np

from theory.computation.pram import INDEX, OPS, Operand, Program, Read, Set, Step, Write

INPUTS, INITIAL, PLACES, KINDS = ("x", "y"), ("r", "s"), ("c", "d"), ("odd", "last")
CHOOSE = ("copy", "min", "max", "where")


def random_program(seed: int | np.random.Generator) -> Program:
    """A random PRAM program of 1 to 4 steps, repeated up to 3 times, on 2 to 7 processors.

    The inputs are the registers x and y. Registers r and s have initial values, and steps set them
    to any results. Registers c and d are the addresses of writes. Steps set c and d only to numbers
    for which the compiled transformer also has a register with the square of the number.
    """
    rng = np.random.default_rng(seed)
    N = int(rng.integers(2, 8))
    most = N + int(rng.integers(4))
    initial = {
        name: tuple(rng.integers(0, most + 1, int(rng.integers(N + 1))).tolist())
        for name in (*INITIAL, *PLACES)
    }
    members = rng.integers(0, 2, N)
    return Program(
        "random",
        N,
        inputs=INPUTS,
        answer=str(rng.choice([*INITIAL, *PLACES])),
        steps=tuple(_step(rng, most) for _ in range(rng.integers(1, 5))),
        repeat=int(rng.integers(1, 4)),
        initial=initial,
        kinds={
            "odd": frozenset(range(1, N + 1, 2)),
            "last": frozenset((1 + np.flatnonzero(members)).tolist()),
        },
        most=most,
    )


def random_inputs(
    program: Program, rows: int, seed: int | np.random.Generator
) -> tuple[np.ndarray, ...]:
    """Random inputs of a PRAM program, each (rows, N'), for a random number N' of processors."""
    rng = np.random.default_rng(seed)
    count = int(rng.integers(1, program.processors + 1))
    return tuple(rng.integers(0, program.most + 1, (rows, count)) for _ in program.inputs)


def _step(rng: np.random.Generator, most: int) -> Step:
    anything = (*INPUTS, *INITIAL, *PLACES, *KINDS, INDEX)

    def pick(names: tuple[str, ...]) -> str:
        return str(rng.choice(names))

    def operand(names: tuple[str, ...]) -> Operand:
        return int(rng.integers(most + 1)) if rng.random() < 0.2 else pick(names)

    def read(of: tuple[str, ...], into: str) -> Read:
        at = tuple(pick(anything) for _ in range(rng.integers(1, 3)))
        return Read(pick(of), (*dict.fromkeys(at),), into, int(rng.integers(-3, 4)))

    places = (*PLACES, *KINDS, INDEX)
    reads = [read(anything, "a"), read(anything, "b"), read(places, "e")]
    cells = int(rng.integers(1, 4))
    cell, empty = int(rng.integers(cells)), int(rng.integers(most + 1))
    writes = [
        Write(pick(anything), pick((*PLACES, INDEX)), "v", cell, cells, empty),
        Write("d", "c", "w"),
    ]
    reads = [each for each in reads if rng.random() < 0.6]
    writes = [each for each in writes if rng.random() < 0.6]
    brought = (*(each.into for each in reads), *(each.into for each in writes))
    with_squares = tuple(name for name in brought if name in ("e", "w"))
    sets = []
    for name in (*INITIAL, *PLACES):
        if rng.random() < 0.3:
            continue
        place = name in PLACES
        op = pick(CHOOSE if place else tuple(OPS))
        known = (*places, *with_squares) if place else (*anything, *brought)
        operands = [operand(known) for _ in range(OPS[op][0])]
        if op == "where":
            operands[0] = operand((*anything, *brought))
        kinds = [None, *KINDS]
        sets.append(Set(name, op, tuple(operands), kinds[rng.integers(3)]))
    return Step(tuple(reads), tuple(writes), tuple(sets))
