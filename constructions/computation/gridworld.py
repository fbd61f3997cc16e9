"""A walk between two walls, computed by three layers for every number of states.

The states are 0 … S.  Symbol 0 is a step to the left and symbol 1 a step to the right, unless a
wall stops the walk.  This is the automaton of [Liu2023, Theorem 3].  Let z be the displacement of
the same steps without walls, and q the state.  The integers are called levels, and z visits a level
after each step.  The walls are at the ends of a window W = [z − q, z − q + S] of levels.  The
window moves only when the walk steps against a wall.  It then moves by one level, and the new level
in the window is the level just visited.

Lemma.  Assume that at the start every level of W was visited later than the levels at distance
S + 1 from it.  Then this holds after each step.  Proof: the level visited last is in W and not at
distance S + 1 from another level of W.  If W gains a level, this is the level just visited.

W has S + 1 levels, so exactly one of the levels z − b and z − b + S + 1 is in W, for b in 1 … S.
The level in W is z − b iff q ≥ b.  Hence

    q = #{ b in 1 … S : level z − b was visited later than level z − b + S + 1 }.

The prompt begins with BOS, S steps to the left and `start` steps to the right.  These steps visit
all levels of the window.

Layer 1   averages the steps ±1 and the flag of BOS into `average` = z/N and `inverse` = 1/N; the
          MLP adds `plus` = relu(average).
Layer 2   finds positions max(z, 0) and max(−z, 0) by the fractions plus and plus − average
          (see `tokens/heads.py`); their values (j, j²) and (−j, j²) add up to (z, z²) in the
          registers `level` and `square`.
Layer 3   finds, by two heads for each b, the positions j of the latest visits to the levels z − b
          and z − b + S + 1.  The query for a = z − b contains a² = z² − 2bz + b².  The heads add j
          and −j to `later`; for an unvisited level they find BOS, j = 0.  The MLP adds
          [later_b ≥ 1] to `state`, which is exact for errors up to ¼.

The model has 3 layers, 2S heads, width S + 10 and 2S + 1 ReLUs.  The logit of state s is 2s·q − s².
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Annotated

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.primitives import ReLU, Step
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, average, counted, rows_fit, sizes, written
from constructions.transformer import Transformer
from theory import machine
from theory.computation.benchmark_automata import gridworld
from theory.kinds import Count, Positive, Steps, Within


@construction
def gridworld_walk(
    steps: Count,
    max_length: Count,
    *,
    start: Annotated[Steps, Within(most="steps")] = 0,
    sharpness: Positive | None = None,
) -> Transformer:
    """Returns a model that computes the position of a walk between two walls after each symbol.

    The positions are 0, …, `steps`, and the walk begins at `start`. Symbol 0 is a step to the left
    and symbol 1 a step to the right, unless a wall stops the walk. The walls are to the left of 0
    and to the right of `steps`. Words have at most max_length symbols.

    With a `sharpness` β, attention is softmax at inverse temperature β; otherwise it is hardmax.
    Raises ValueError for a sharpness at which answers could be wrong.
    """
    S = steps
    _, length = sizes(2, max_length)
    rows_fit(length + 2 * S)
    # Memory is checked before the registers are named: a head reads 4 numbers and writes one.
    heads = f"the weights of {2 * S:.4g} heads of width {S + 10:.4g}"
    machine.fits_in_memory(heads, 8 * 2 * S * 20 * (S + 20), "give fewer steps")
    registers = dict.fromkeys(
        ("step", "bos", "j", "norm", "average", "inverse", "plus", "level", "square"), 1
    )
    later = [f"later{b}" for b in range(1, S + 1)]
    stream = Stream(**registers, **dict.fromkeys(later, 1), state=1)
    read, front = stream.read, (2, *[0] * S, *[1] * start)
    T = length + len(front) - 1  # the largest position
    j, norm, z, square = map(read, ("j", "norm", "level", "square"))
    plus, minus = read("plus"), read("plus") - read("average")
    averages = [average((read("step"), read("bos")), ("average", "inverse"))]
    levels = [
        counted(fraction, read("inverse"), (j, norm), (sign * j, norm), ("level", "square"), T)
        for fraction, sign in ((plus, 1.0), (minus, -1.0))
    ]
    visits = [
        written(
            (z - b * one, square - 2.0 * b * z + float(b * b) * one),
            (z, square), j, read("bos"), sign * j, into, T,
        )
        for b, into in enumerate(later, start=1)
        for b, sign in ((b, 1.0), (b - S - 1, -1.0))
    ]  # fmt: skip
    counts = [Step(read(into), 0.75, "state", margin=0.5) for into in later]
    here, states = np.arange(T + 1), np.arange(S + 1)
    return Transformer(
        Embed(rows(stream, step=np.array([-1.0, 1.0, 0.0]), bos=np.array([0.0, 0.0, 1.0]))),
        [
            block(stream, heads, words, normalise="hardmax", mask="causal")
            for heads, words in (
                (averages, [ReLU(read("average"), "plus")]),
                (levels, []),
                (visits, counts),
            )
        ],
        unembed(stream, read("state") @ Map(2.0 * states[None], "2s"), bias=-(states**2.0)),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2)),
        interface=Tokens(2, length, prefix=front, labels=S + 1, margin=1.0),
        stream=stream,
        stages=(
            Stage(2, "level", partial(_displacement, S, start)),
            Stage(3, "state", partial(_state, S, start)),
        ),
        at_most={"average": 1.0, "inverse": 1.0, "plus": 1.0, "level": T, "square": T * T}
        | dict.fromkeys(later, T)
        | {"state": S},
        source="weightwright; the automaton is that of [Liu2023, Theorem 3]",
    ).sharpened(sharpness)


def _displacement(S: int, start: int, words: np.ndarray) -> np.ndarray:
    """The displacement of the walk without walls."""
    return start - S + np.cumsum(2 * words - 1, axis=-1)[..., None]


def _state(S: int, start: int, words: np.ndarray) -> np.ndarray:
    """The state after each symbol."""
    return replace(gridworld(S), start=start).run(words)[..., None]
