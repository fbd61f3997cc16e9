"""The ladder: a residual raised to the power N in ⌈log₃ N⌉ layers.

Write S = XᵀX, b = Xᵀy, E = I − S·M₀, and G_p for the polynomial in S with S·G_p = I − E^p, so that
G₁ = M₀.  Then G_N b is

    k Newton steps               N = 2^k
    k hyperpower steps, order p  N = p^k
    k gradient steps, size η     N = k, M₀ = ηI

A Newton layer squares the residual.  A linear head multiplies *three* quantities, so a layer can
cube it, and this construction does: from (1 − a)(1 − b)(1 − c) with a = S·G_a and so on,

    G_{a+b+c} = G_a + G_b + G_c − G_a S (G_b + G_c − G_b S G_c) − G_b S G_c.

Every token keeps, for two neighbouring exponents p ("low" and "high" = low + 1),

    u_p = G_p x,   z_p = S G_p x,   r_p = xᵀ G_p b.

Since Σ_i u_{a,i} x_iᵀ = G_a S and Σ_i u_{a,i} z_{b,i}ᵀ = G_a S G_b S, two heads suffice:

    head 1   asks (u_b + u_c, u_c), answers (x, −z_b), carries (u_a, z_a, r_a), times −1:
             −Σ_i u_{a,i} [⟨x_i, u_b + u_c⟩ − ⟨z_{b,i}, u_c⟩] = −G_a S (G_b + G_c − G_b S G_c) x
    head 2   asks u_c, answers x, carries (u_b, z_b, r_b), times −1:      −G_b S G_c x

and carrying z or r instead of u gives the same identity multiplied by S or by bᵀ from the left.
The sums G_a + G_b + G_c are a linear map of the token, done by the layer's MLP.

Exponents run up the ladder ⌊N/3^L⌋, …, ⌊N/9⌋, ⌊N/3⌋, N.  Each is a sum of three exponents out of
{q, q + 1} of the rung below: 3q + m = (3 − m)·q + m·(q + 1), 0 ≤ m ≤ 3.  The bottom rung holds
G₀ = 0 and G₁ = M₀.  The prediction is r_N at the query, so there is no read-out layer.

No layer count below ⌈log₃(degree)⌉ is possible for linear or ReLU attention with ReLU MLPs: each
layer at most triples the degree of a piecewise polynomial.  The claim `depth` sets the two side by
side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from itertools import pairwise
from math import ceil, log

from constructions.assembly import Head, block, embed, unembed
from constructions.examples import Examples
from constructions.regression.stages import Inverse, Prediction
from constructions.stream import Stream
from constructions.transformer import Block, Stage, Transformer
from constructions.words import Move
from theory.regression.newton import Start

PARTS = ("u", "z", "r")

Rung = Callable[[Stream, str, int, int], tuple[list[Head], list[Move]]]
"""(stream, slot, exponent, below): what takes a slot to this exponent, where "low" holds `below`
and "high" `below` + 1."""


def ladder_stream(d: int, layers: float) -> Stream:
    """The registers; ValueError if the memory does not hold so many layers.

    To be asked before the power is computed, which may be too large itself.
    """
    widths = {"u": d, "z": d, "r": 1}
    slots = ("low", "high", "low_new", "high_new")
    stream = Stream(
        x=d, y=1, **{f"{slot}_{part}": widths[part] for slot in slots for part in PARTS}
    )
    stream.fits(ceil(layers), heads=4)
    return stream


def rungs(power: int) -> list[int]:
    """⌊power/3^L⌋, …, ⌊power/3⌋, power for the smallest L with 3^L ≥ power, in whole numbers."""
    exponents = [power]
    while 3 ** (len(exponents) - 1) < power:
        exponents.insert(0, power // 3 ** len(exponents))
    return exponents


def climbs(exponents: list[int]) -> list[tuple[int, dict[str, int]]]:
    """For each layer: the exponent in "low" before it, and the exponents wanted after it, by slot.

    Only what the rungs above ask for is computed: the last layer wants no "high", and where the
    exponents are powers of three nobody does.
    """
    layers, high_wanted = [], False
    for below, above in reversed(list(pairwise(exponents))):
        targets = {"low": above} | ({"high": above + 1} if high_wanted else {})
        layers.append((below, targets))
        high_wanted = any(exponent > 3 * below for exponent in targets.values())
    return layers[::-1]


def slots_of(exponent: int, below: int) -> tuple[str, str, str]:
    """Three slots, "low" holding `below` and "high" `below` + 1, that sum to `exponent`."""
    highs = exponent - 3 * below
    a, b, c = ("low",) * (3 - highs) + ("high",) * highs
    return a, b, c


def sum_of_three(
    stream: Stream, slot: str, exponent: int, below: int
) -> tuple[list[Head], list[Move]]:
    """The rung of the identity above: a, b, c in the slots that sum to the exponent."""
    summands = slots_of(exponent, below)
    return product_heads(stream, slot, *summands), climb(stream, slot, Counter(summands))


def ladder(
    d: int,
    power: int,
    alpha: float,
    *,
    start: Start,
    name: str,
    rung: Rung = sum_of_three,
    source: str = "⌈log₃ N⌉ layers, proved in constructions/regression/ladder.py",
) -> Transformer:
    """A transformer whose prediction is x_qᵀ G Xᵀ y with I − S·G = (I − S·M₀)^power.

    M₀ = alpha·S ("gram") or alpha·I ("identity").  ⌈log₃ power⌉ + 2 layers, resp. + 1; at most four
    linear heads a layer; width 9d + 5; any number of examples.  `power` ≥ 1 may be as large as you
    like: the weights are small whole numbers and alpha.  With another `rung`, G of an exponent is
    what that makes of it.
    """
    stream = ladder_stream(d, power.bit_length() * log(2, 3))
    exponents = rungs(power)
    # G₁ stands in "low" if the bottom rung is 1 (power is a power of three), else low is G₀ = 0.
    first = "low" if exponents[0] == 1 else "high"
    last = "low" if len(exponents) > 1 else first
    blocks = begin(stream, first, alpha, start)
    stages = [Stage(len(blocks), f"{first}_u", Inverse(1))]
    for below, targets in climbs(exponents):
        heads: list[Head] = []
        moves: list[Move] = []
        for slot, exponent in targets.items():
            added, moved = rung(stream, slot, exponent, below)
            heads, moves = heads + added, moves + moved
            stages.append(Stage(len(blocks) + 1, f"{slot}_u", Inverse(exponent)))
        blocks.append(block(stream, heads, moves))
    stages.append(Stage(len(blocks), f"{last}_r", Prediction(power)))
    into = {"x": 1.0} if start == "gram" else {"x": 1.0, f"{first}_u": alpha}
    return Transformer(
        embed(stream, x=into, y={"y": 1.0}),
        blocks,
        unembed(stream, stream.read(f"{last}_r")),
        interface=Examples(d),
        stream=stream,
        stages=tuple(stages),
        name=name,
        source=source,
    )


def begin(stream: Stream, slot: str, alpha: float, start: Start) -> list[Block]:
    """Put u = G₁x, z = S G₁ x and r = xᵀ G₁ b into a slot; from "identity" u is there already."""
    x, y, u = map(stream.read, ("x", "y", f"{slot}_u"))
    products = block(stream, [Head(u, x, (x, y), (f"{slot}_z", f"{slot}_r"))])
    if start == "identity":
        return [products]
    return [block(stream, [Head(x, x, x, f"{slot}_u", alpha)]), products]


def product_heads(
    stream: Stream, into: str, a: str, b: str, c: str, times: float = 1.0
) -> list[Head]:
    """The two heads that add times·(G_{a+b+c} − G_a − G_b − G_c) x, and S and bᵀ times it."""
    x, u_b, u_c, z_b = map(stream.read, ("x", f"{b}_u", f"{c}_u", f"{b}_z"))
    target = tuple(f"{into}_new_{part}" for part in PARTS)
    carried = {slot: tuple(stream.read(f"{slot}_{part}") for part in PARTS) for slot in (a, b)}
    return [
        Head((u_b + u_c, u_c), (x, -z_b), carried[a], target, -times),
        Head(u_c, x, carried[b], target, -times),
    ]


def climb(stream: Stream, slot: str, summands: Mapping[str, float]) -> list[Move]:
    """The MLP's part: a slot becomes a combination of the slots plus what its heads added."""
    moves = []
    for part in PARTS:
        target, new = f"{slot}_{part}", stream.read(f"{slot}_new_{part}")
        total = new - stream.read(target)
        for summand, factor in summands.items():
            total = total + factor * stream.read(f"{summand}_{part}")
        moves += [Move(total, target), Move(-new, f"{slot}_new_{part}")]
    return moves
