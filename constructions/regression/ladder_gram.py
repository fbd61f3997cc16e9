"""The ladder from M₀ = αS: a residual raised to the power N in the fewest layers possible.

As in `ladder.py`, with E = I − αS² and S·G_p = I − E^p.  The prediction x_qᵀG_N b has degree
4N + 1, so it takes ⌈log₃(4N + 1)⌉ layers, by the same argument, and **that many are enough**.

Besides u_p = G_p x, e_p = E^p x and s_p = y − xᵀG_p b, of degrees 4p + 1, tokens keep where it is
needed

    w_p = S E^p x,   f_p = xᵀE^p b,

of degrees 4p + 3.  From exponents a, c a layer reaches m = 2a + c as in `ladder.py`, and

    w_m = Σ_i e_{a,i} ⟨e_{a,i}, e_c⟩             f_m = Σ_i s_{a,i} ⟨e_{a,i}, e_c⟩

Where w_a and f_a are kept, it reaches m + 1, by products of E^m with S²:

    e_{m+1} = e_m − α Σ_i w_{a,i} ⟨e_{a,i}, e_c⟩   s_{m+1} = s_m − α Σ_i f_{a,i} ⟨e_{a,i}, e_c⟩
    w_{m+1} = w_m − α Σ_i w_{a,i} ⟨w_{a,i}, e_c⟩   f_{m+1} = f_m − α Σ_i f_{a,i} ⟨w_{a,i}, e_c⟩
    u_{m+1} = u_m + α w_m

and where w_c is kept too, m + 2, as E² = I − 2αS² + α²S⁴:

    e_{m+2} = e_m − 2α Σ_i w_{a,i} ⟨e_{a,i}, e_c⟩ + α² Σ_i w_{a,i} ⟨w_{a,i}, w_c⟩   (s with f_{a,i})
    u_{m+2} = u_m + 2α w_m − α² Σ_i w_{a,i} ⟨w_{a,i}, e_c⟩

since Σ_i e_{a,i} e_{a,i}ᵀ, Σ_i w_{a,i} e_{a,i}ᵀ and Σ_i w_{a,i} w_{a,i}ᵀ are S, S² and S³ times
E^{2a}; with s_{a,i} or f_{a,i} in front, b replaces one S of them.

Which exponents n (or n, n + 1) a layer should hold, and of which of them w and f, is chosen from N
downwards: what it needs below are q = ⌊n/3⌋ alone or q, q + 1, and w and f of none, one or both of
them, the first that make n and n + 1 and whose degrees are at most 3^{L−1}.

*There always is one.*  For L ≥ 1 write 3^L = 12m + 3 or 12m + 9, and n = 3q + r.  That the degrees
of what is wanted, 4n + c, are at most 3^L means only how large m − q is at least, and that those of
a choice, 4q + c', are at most 3^{L−1} = 4m + 1 or 4m + 3 is again a condition on m − q.  So there
are 6 kinds of what is wanted (one or two exponents, w and f of none, one or both), 3 remainders and
2 residues of 3^L: 36 cases, and in each some choice meets its condition.  The test goes through
them.  Below L = 0 only exponent 0 without w and f has degree 1, which is where the tokens begin.
"""

from __future__ import annotations

from itertools import pairwise
from math import isfinite
from typing import NamedTuple

from constructions.regression.climb import SLOTS, Climb, slots_stream
from constructions.regression.ladder import ladder, powers
from constructions.regression.stages import Powers
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression.depth import ceil_log3
from theory.regression.newton import Start


class Held(NamedTuple):
    """The exponents in a layer's slots, one or two, and those of them whose w and f are kept."""

    exponents: tuple[int, ...]
    keeping: frozenset[int]

    @property
    def degree(self) -> int:
        """The largest degree of a register that holds it: 4n + 1, 4n + 3 of w and f."""
        return max(4 * n + 1 + 2 * (n in self.keeping) for n in self.exponents)


class Rung(NamedTuple):
    """A slot becomes the exponent 2a + c + more, of what the slots a and c hold; w and f only where
    they are kept."""

    slot: str
    exponent: int
    a: str
    c: str
    more: int
    parts: tuple[str, ...]


Plan = list[tuple[Rung, ...]]


def gram_powers(power: int) -> Plan:
    """What each of ⌈log₃(4·power + 1)⌉ layers makes, from exponent 0 to the power."""
    levels = [Held((power,), frozenset())]
    for layers in reversed(range(ceil_log3(4 * power + 1))):
        levels.insert(0, made_from(levels[0], layers))
    plan = []
    for below, above in pairwise(levels):
        slot_of = dict(zip(below.exponents, SLOTS, strict=False))
        rungs = []
        for slot, n in zip(SLOTS, above.exponents, strict=False):
            a, c = _summands(n, above, below) or (0, 0)
            parts = ("u", "e", "s", "w", "f") if n in above.keeping else ("u", "e", "s")
            rungs.append(Rung(slot, n, slot_of[a], slot_of[c], n - 2 * a - c, parts))
        plan.append(tuple(rungs))
    return plan


def made_from(top: Held, layers: int) -> Held:
    """What to hold after `layers` layers, so that one more makes `top`: the first of the choices
    above whose degrees are at most 3^layers."""
    q = top.exponents[0] // 3
    for exponents in ((q,), (q, q + 1)):
        for keeping in _subsets(exponents):
            held = Held(exponents, keeping)
            if held.degree <= 3**layers and all(_summands(n, top, held) for n in top.exponents):
                return held
    raise AssertionError(f"{top} is not made from {layers} layers, which the proof excludes")


def _subsets(exponents: tuple[int, ...]) -> list[frozenset[int]]:
    """All subsets, small ones first."""
    each = [frozenset[int](), *(frozenset({n}) for n in exponents)]
    return [*each, frozenset(exponents)] if len(exponents) > 1 else each


def _summands(n: int, above: Held, below: Held) -> tuple[int, int] | None:
    """Exponents a, c below with n = 2a + c + more, where what `more` needs is kept."""
    ways = []
    for a in below.exponents:
        for c in below.exponents:
            more = n - 2 * a - c
            needed = ((), (a,), (a, c))[more] if 0 <= more <= 2 else None
            made = more < 2 or n not in above.keeping
            if needed is not None and made and below.keeping.issuperset(needed):
                ways.append((more, a, c))
    return min(ways)[1:] if ways else None


def power_ladder(d: int, power: int, alpha: float, start: Start) -> Transformer:
    """The ladder to (I − S·M₀)^power from M₀ = alpha·S ("gram") or alpha·I ("identity")."""
    if start == "identity":
        return ladder(d, powers(power, alpha), Powers(alpha, start))
    if not isfinite(2 * alpha):
        raise InputError(f"alpha is {alpha:g}: twice it overflows; rescale the inputs")
    plan = gram_powers(power)
    climb = Climb(slots_stream(d, plan), Powers(alpha, start))
    for rungs in plan:
        for rung in rungs:
            for part in climb.parts(rung, last=rungs is plan[-1]):
                _add(climb, rung, part, alpha)
        climb.next_layer()
    return climb.model(d, "proved in constructions/regression/ladder_gram.py")


def _add(climb: Climb, rung: Rung, part: str, alpha: float) -> None:
    """The part of the rung: of E^{2a+c} as in every ladder, and what takes it `more` further."""
    slot, _, a, c, more, _ = rung
    into, e_c = f"{slot}_{part}", climb.read(f"{c}_e")
    _, e_a, s_a, *_ = (climb.read(f"{a}_{each}") for each in "ues")
    if part in "wf":
        climb.becomes(into)
        climb.score(e_c, e_a, e_a if part == "w" else s_a, into)
        if more:
            w_a = climb.read(f"{a}_w")
            climb.score(e_c, w_a, -alpha * climb.read(f"{a}_{part}"), into)
        return
    climb.product(into, part, a, c)
    if not more:
        return
    w_a, f_a = climb.read(f"{a}_w"), climb.read(f"{a}_f")
    kept = {"u": -e_a, "e": w_a, "s": f_a}[part]
    climb.score(e_c, e_a, -more * alpha * kept, into)
    if more == 2:  # α² is a product of two weights: rounded, it would be another number
        asks = alpha * (e_c if part == "u" else climb.read(f"{c}_w"))
        climb.score(asks, w_a, alpha * {"u": -w_a, "e": w_a, "s": f_a}[part], into)
