"""The ladder from M₀ = αS: the power N of a residual in the smallest number of layers.

Notation is as in `ladder.py`, but E = I − αS² and S·G_p = I − E^p. The prediction x_qᵀG_N b has
degree 4N + 1, so ⌈log₃(4N + 1)⌉ layers are necessary, by the same argument, and **they suffice**.

Tokens store u_p = G_p x, e_p = E^p x and s_p = y − xᵀG_p b, which have degree 4p + 1. If needed,
they also store

    w_p = S E^p x,   f_p = xᵀE^p b,

which have degree 4p + 3. From exponents a and c, a layer computes m = 2a + c as in `ladder.py`, and

    w_m = Σ_i e_{a,i} ⟨e_{a,i}, e_c⟩             f_m = Σ_i s_{a,i} ⟨e_{a,i}, e_c⟩

If w_a and f_a are stored, the layer computes m + 1 by products of E^m with S²:

    e_{m+1} = e_m − α Σ_i w_{a,i} ⟨e_{a,i}, e_c⟩   s_{m+1} = s_m − α Σ_i f_{a,i} ⟨e_{a,i}, e_c⟩
    w_{m+1} = w_m − α Σ_i w_{a,i} ⟨w_{a,i}, e_c⟩   f_{m+1} = f_m − α Σ_i f_{a,i} ⟨w_{a,i}, e_c⟩
    u_{m+1} = u_m + α w_m

If w_c is stored as well, the layer computes m + 2, because E² = I − 2αS² + α²S⁴:

    e_{m+2} = e_m − 2α Σ_i w_{a,i} ⟨e_{a,i}, e_c⟩ + α² Σ_i w_{a,i} ⟨w_{a,i}, w_c⟩   (s with f_{a,i})
    u_{m+2} = u_m + 2α w_m − α² Σ_i w_{a,i} ⟨w_{a,i}, e_c⟩

The formulas hold since Σ_i e_{a,i} e_{a,i}ᵀ, Σ_i w_{a,i} e_{a,i}ᵀ and Σ_i w_{a,i} w_{a,i}ᵀ are S,
S² and S³ times E^{2a}. With s_{a,i} or f_{a,i} as the first factor, b replaces one factor S.

Each layer stores one exponent n, or one exponent n with w and f, or a pair n, n + 1 without w and
f.  These three levels have the degrees 4n + 1, 4n + 3 and 4n + 5. They are chosen from the last
layer downwards, beginning with N. The level below is the first of q, of q with w and f, and of the
pair q, q + 1, for q = ⌊n/3⌋, from which the layer can be computed.

*Its degree is small enough.*  Let n = 3q + r. In each case of the table, the degree D of the level
below is the least odd number with 3D ≥ (the degree of the level). Since 3^{L−1} is odd, a level of
degree at most 3^L has a level below of degree at most 3^{L−1}.

    level           r = 0              r = 1              r = 2
    n               q                  q with w, f        q with w, f
    n with w, f     q                  q with w, f        q, q + 1
    n, n + 1        q with w, f        q with w, f        q, q + 1

Only exponent 0 without w and f has degree 1, and the embedding writes it. So L layers compute every
level of degree at most 3^L. Rocq has checked this proof (theory/proofs/ladder_gram.v).
"""

from __future__ import annotations

from functools import partial
from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from constructions.regression.ladder import ladder, powers
from constructions.regression.ladder_layers import SLOTS, LadderLayers, ladder_stream
from constructions.regression.stages import Powers
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression.depth import ceil_log3
from theory.regression.newton import Start


class Level(NamedTuple):
    """The exponents n of the powers (I − αS²)^n that tokens store after a layer.

    S = XᵀX and b = Xᵀy for the examples X with labels y, and x is the input of a token.
    `with_image` contains the exponents n for which tokens store the registers w = S E^n x and f =
    xᵀE^n b as well, where E = I − αS².
    """

    exponents: tuple[int, ...]
    with_image: frozenset[int]

    @property
    def degree(self) -> int:
        """The largest degree of a register, as a polynomial in the prompt.

        For an exponent n in `with_image`, the registers S E^n x and xᵀE^n b have degree 4n + 3. All
        other registers for an exponent n have degree 4n + 1. Here E = I − αS².
        """
        return max(4 * n + 1 + 2 * (n in self.with_image) for n in self.exponents)


class Rung(NamedTuple):
    """The power E^n of a residual that a layer writes to one slot, and the slots that it reads.

    The residual is E = I − αS² with S = XᵀX for the examples X. A slot is a group of registers that
    store one power of E. `slot` is the slot that the layer writes, and `exponent` is n. `a` and `c`
    name two slots. If they store exponents p and q before the layer, n = 2p + q + `more`. `parts`
    names the registers of the slot that the layer writes: u, e and s, and also w and f if the layer
    stores S E^n x and xᵀE^n b for inputs x and b = Xᵀy, where y are the labels.
    """

    slot: str
    exponent: int
    a: str
    c: str
    more: int
    parts: tuple[str, ...]

    @property
    def recipe(self) -> Rung:
        """Everything but the exponent: rungs with equal recipes are computed by equal heads."""
        return self._replace(exponent=0)


Plan = list[tuple[Rung, ...]]


def gram_powers(power: int) -> Plan:
    """The rungs of each of ⌈log₃(4·power + 1)⌉ layers, from exponent 0 to exponent `power`.

    The exponents are those of the powers of I − αS² that tokens store. A rung names a group of
    registers (a slot) and the exponent that a layer writes to this slot.
    """
    levels = [Level((power,), frozenset())]
    for layers in reversed(range(ceil_log3(4 * power + 1))):
        levels.insert(0, level_below(levels[0], layers))
    plan = []
    for below, above in pairwise(levels):
        slot_of = dict(zip(below.exponents, SLOTS, strict=False))
        rungs = []
        for slot, n in zip(SLOTS, above.exponents, strict=False):
            a, c = _summands(n, above, below) or (0, 0)
            parts = ("u", "e", "s", "w", "f") if n in above.with_image else ("u", "e", "s")
            rungs.append(Rung(slot, n, slot_of[a], slot_of[c], n - 2 * a - c, parts))
        plan.append(tuple(rungs))
    return plan


def level_below(top: Level, layers: int) -> Level:
    """The exponents that `layers` layers store, from which one more layer computes those of `top`.

    The function returns the first choice, in the order of the module's docstring, from which the
    layer can be computed. Its registers have degrees of at most 3^layers if those of `top` have
    degrees of at most 3^(layers + 1).
    """
    q = top.exponents[0] // 3
    for exponents, with_image in (((q,), ()), ((q,), (q,)), ((q, q + 1), ())):
        below = Level(exponents, frozenset(with_image))
        if below.degree <= 3**layers and all(_summands(n, top, below) for n in top.exponents):
            return below
    raise AssertionError(f"no level of {layers} layers gives {top}, contrary to the proof")


def _summands(n: int, above: Level, below: Level) -> tuple[int, int] | None:
    """Exponents a, c of `below` with n = 2a + c + more, if the necessary w and f are stored."""
    ways = []
    for a in below.exponents:
        for c in below.exponents:
            more = n - 2 * a - c
            needed = ((), (a,), (a, c))[more] if 0 <= more <= 2 else None
            made = more < 2 or n not in above.with_image
            if needed is not None and made and below.with_image.issuperset(needed):
                ways.append((more, a, c))
    return min(ways)[1:] if ways else None


def power_ladder(d: int, power: int, alpha: float, start: Start) -> Transformer:
    """A transformer whose layers compute the power (I − S·M₀)^power, with S = XᵀX.

    M₀ is alpha·S (start "gram") or alpha·I ("identity"), and the rows of X are the examples. The
    prediction is x_qᵀ G Xᵀ y with S·G = I − (I − S·M₀)^power. Raises ValueError if alpha is too
    large, or if the model exceeds the memory.
    """
    if start == "identity":
        return ladder(d, powers(power, alpha), Powers(alpha, start))
    if not isfinite(2 * alpha):
        raise InputError(
            f"alpha is {alpha:g}, and multiples of alpha overflow: "
            "give a number below 8e307, or rescale the inputs"
        )
    plan = gram_powers(power)
    layers = LadderLayers(ladder_stream(d, plan), Powers(alpha, start))
    for rungs in plan:
        layers.layer(rungs, partial(_add, alpha=alpha), last=rungs is plan[-1])
    return layers.model(d, "weightwright")


def _add(layers: LadderLayers, rung: Rung, part: str, alpha: float) -> None:
    """Adds one part of the rung to the layer: E^{2a+c} as in `ladder.py`, times E^more."""
    slot, _, a, c, more, _ = rung
    into, e_c = f"{slot}_{part}", layers.read(f"{c}_e")
    _, e_a, s_a, *_ = (layers.read(f"{a}_{each}") for each in "ues")
    if part in "wf":
        layers.assign(into)
        layers.add_head(e_c, e_a, e_a if part == "w" else s_a, into)
        if more:
            w_a = layers.read(f"{a}_w")
            layers.add_head(e_c, w_a, -alpha * layers.read(f"{a}_{part}"), into)
        return
    layers.product(into, part, a, c)
    if not more:
        return
    w_a, f_a = layers.read(f"{a}_w"), layers.read(f"{a}_f")
    image = {"u": -e_a, "e": w_a, "s": f_a}[part]
    layers.add_head(e_c, e_a, -more * alpha * image, into)
    if more == 2:  # α² is a product of two weights, because a single weight would be rounded
        query = alpha * (e_c if part == "u" else layers.read(f"{c}_w"))
        layers.add_head(query, w_a, alpha * {"u": -w_a, "e": w_a, "s": f_a}[part], into)
