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

After L layers the degrees admit u, e, s up to ⌊(3^L − 1)/4⌋ and w, f up to ⌊(3^L − 3)/4⌋.  Which
exponents a layer should hold, and of which of them w and f, is searched from N downwards: one or
two neighbouring exponents a layer.  That ⌈log₃(4N + 1)⌉ layers are found is seen when the model is
built, for its N; it is not proved for all N.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import NamedTuple

from constructions.regression.climb import SLOTS, Climb, slots_stream
from constructions.regression.ladder import ladder, powers
from constructions.transformer import Transformer
from theory.regression.depth import ceil_log3
from theory.regression.newton import Start


class Held(NamedTuple):
    """The exponents in a layer's slots, one or two, and those of them whose w and f are kept."""

    exponents: tuple[int, ...]
    keeping: frozenset[int]


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
    levels = _levels(Held((power,), frozenset()), ceil_log3(4 * power + 1))
    assert levels is not None, f"no ladder of the least depth to the power {power}"
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


@lru_cache(2**12)
def _levels(top: Held, layers: int) -> list[Held] | None:
    """What to hold after each layer, from exponent 0, so that the last holds `top`; None if no way
    is found."""
    if layers == 0:
        return [top] if top == Held((0,), frozenset()) else None
    if any(4 * n + 1 + 2 * (n in top.keeping) > 3**layers for n in top.exponents):
        return None
    largest = max(top.exponents)
    for q in range(max(0, (largest - 4) // 3), largest // 3 + 1):
        for exponents in ((q,), (q, q + 1)):
            for keeping in _subsets(exponents):
                below = Held(exponents, keeping)
                if all(_summands(n, top, below) for n in top.exponents):
                    levels = _levels(below, layers - 1)
                    if levels is not None:
                        return [*levels, top]
    return None


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


def power_ladder(d: int, power: int, alpha: float, start: Start, name: str) -> Transformer:
    """The ladder to (I − S·M₀)^power from M₀ = alpha·S ("gram") or alpha·I ("identity")."""
    if start == "identity":
        return ladder(d, powers(power, alpha), name=name)
    plan = gram_powers(power)
    climb = Climb(slots_stream(d, plan))
    for rungs in plan:
        for rung in rungs:
            for part in climb.parts(rung, last=rungs is plan[-1]):
                _add(climb, rung, part, alpha)
        climb.next_layer()
    return climb.model(d, name, "proved in constructions/regression/ladder_gram.py")


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
