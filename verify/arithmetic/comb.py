"""The claim `comb`: cosines that tell the residues mod 10 apart, in exact numbers of Q(√5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from itertools import combinations, product
from typing import Annotated, Any

import numpy as np
import torch
from flint import arb, fmpq

from constructions.arithmetic.sums import Sums
from constructions.attention import Attention
from constructions.blocks import Block, Embed, PosEmbed, Unembed
from constructions.stream import Stream
from constructions.transformer import Transformer
from theory.arithmetic.adder import largest_alpha
from theory.arithmetic.adder_balls import alpha_limit, logits
from theory.arithmetic.comb import ZHOU, comb_gap, halving_closure, period
from theory.arithmetic.comb import comb as C
from theory.arithmetic.congruence import number_of_candidates
from theory.arithmetic.golden import Golden, cosine
from theory.arithmetic.residues import second_differences, separability_inequalities
from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, streams, unembedding
from verify.evidence.enclosure import BITS, all_hold, below
from verify.evidence.enclosure import same as same_ball
from verify.finding import Finding, Verdict, labelled, no_counterexample, same

ALL, RATIONAL = (5, 4, 3, 2, 1), (5, 4, 2)
SETS = (ALL, ZHOU, (5, 2, 1), (5, 4, 1), RATIONAL, (4, 2, 1), (5, 1), (5, 4), (5, 2), (1,))
TABLE = {
    # C_F(0), …, C_F(5) in quarters (a, b) of a + b√5, and the gap
    ZHOU: ((16, 0), (-5, 1), (1, 1), (-5, -1), (1, -1), (0, 0), (15, -1)),
    RATIONAL: ((12, 0), (-6, 0), (2, 0), (-6, 0), (2, 0), (4, 0), (8, 0)),
    ALL: ((20, 0), (-4, 0), (0, 0), (-4, 0), (0, 0), (-4, 0), (20, 0)),
}
SMALL = 30  # the p at which logits are written out
ROUNDED = arb(2) ** -40  # of a limit in float64, whose sines lose a few bits
LEAST_AHEAD = 2.0**-60  # of the best candidate, where balls are to tell it from the next
MODULI, PLACES = 24, 4  # largest modulus of the inequalities, and that of the random layers


@claim(source="[Zhou2024]; proved in theory/arithmetic/", faults_seen=[{}])
def comb(
    run: Run, *, p: Annotated[int, option("answers, a multiple of 10", min=20)] = 530
) -> Iterator[Finding]:
    """Cosines of periods 2, 2.5, 5 and 10 separate the residues mod 10: statements on such combs.

    Closure: {2, 10} closed under halving the period is {2, 2.5, 5, 10}, as far as periods T with
    10/T an integer mod 10, up to sign and but for 0.  Tolerance: for 10 | p ≥ 20, the logits
    Σ_T cos(2π(c − s)/T) + α cos(2π(c − s − ε)/p) have their only maximum over c = 0, …, p − 1 at
    c = s for all |ε| < 5 iff α ≤ 2/sin²(5π/p).  Residues: for m ≥ 2 no logits u_c(a) + v_c(b) have
    their maximum at c = a + b mod m for all a and b, and one layer of linear or uniform attention
    without an MLP has no other logits at a position whose token is neither a nor b.

    Values of the comb are numbers a + b√5, whose signs integers decide.
    """
    number_of_candidates(p)
    yield cosines()
    yield from table()
    yield closure()
    yield identities()
    with Ball.precision(BITS):
        yield limits(p)
        yield binds()
        yield from labelled("limit", by_hand(SMALL))
        yield from labelled("errors", signatures(SMALL))
    yield impossible(8 if run.quick else MODULI)
    yield from layers(run, 1 if run.quick else 5)


def cosines() -> Finding:
    """cos 5θ = −1 and cos θ > 0 leave θ = 36° alone; then the recurrence says all others."""
    return no_counterexample(
        "cosines", "cos 36°k, k = 0 … 20, by cos 180° = −1 and the recurrence", wrong_cosines()
    )


def wrong_cosines() -> Iterator[str]:
    """Equations that determine the cosines and do not hold."""
    if cosine(5) != Golden(Fraction(-1)) or not cosine(1).sign > 0:
        yield f"cos 180° = {cosine(5)}, cos 36° = {cosine(1)}"
    for k in range(1, 20):
        if cosine(k + 1) + cosine(k - 1) != 2 * cosine(1) * cosine(k):
            yield f"c_{k + 1} + c_{k - 1} is not 2 c₁ c_{k}"


def table() -> Iterator[Finding]:
    """Values and gaps; which sets of periods are closed under √5 → −√5: rational logits."""
    for F, wanted in TABLE.items():
        found = [*(C(F, d) for d in range(6)), comb_gap(F)]
        stated = [Golden(Fraction(a, 4), Fraction(b, 4)) for a, b in wanted]
        differ = [
            f"{got}, stated {said}" for got, said in zip(found, stated, strict=True) if got != said
        ]
        folded = all(C(F, d) == C(F, -d) == C(F, d + 10) for d in range(10))
        yield no_counterexample(
            f"table/{named(F)}",
            f"comb of periods {named(F)} at d = 0 … 5",
            [*differ, *["not even, or not of period 10"] * (not folded)],
            words=f"{', '.join(map(str, found[:-1]))}; gap {found[-1]} = {float(found[-1]):.3f}",
        )
    apart = {named(F): comb_gap(F).sign > 0 for F in SETS}
    tell = dict.fromkeys(apart, True)
    name = "sets of periods whose gap is above 0"
    yield same("apart", name, apart, tell, words=", ".join(apart), wanted="all of these")
    closed = {named(F): rational(F) for F in TABLE}
    stated_closed = {named(ZHOU): False, named(RATIONAL): True, named(ALL): True}
    yield same(
        "rational",
        "sets closed under √5 → −√5, whose logits are rational",
        closed,
        stated_closed,
        words=", ".join(name for name, is_closed in closed.items() if is_closed),
        wanted="2, 2.5, 5 and all five, but not 2, 2.5, 5, 10",
    )


def rational(F: Iterable[int]) -> bool:
    """Whether all values are."""
    values = [C(F, d) for d in range(10)]
    return all(value == value.conjugate for value in values)


def named(F: Iterable[int]) -> str:
    """The periods, as words."""
    return "-".join(f"{float(period(f)):.3g}" for f in F)


def closure() -> Finding:
    """{2, 10} under halving."""
    found = halving_closure((5, 1))
    return same(
        "closure",
        "periods 2 and 10 closed under halving",
        [str(period(f)) for f in found],
        [str(period(f)) for f in ZHOU],
        words=", ".join(str(period(f)) for f in found),
    )


def identities() -> Finding:
    """cos(a + b) and sin(a + b) from squares of averages, at (c, s) = (1 − t², 2t)/(1 + t²).

    Both sides, times (1 + t²)²(1 + x²)², have degree at most 4 in t and in x, so that a grid of
    5 × 5 points decides; 9 × 9 are taken.
    """
    return no_counterexample(
        "squares",
        "sums of angles from squares of averages and half the period, as polynomials",
        (wrong for t, x in product(range(-4, 5), repeat=2) for wrong in wrong_squares(t, x)),
        evidence="proved",
        words="equal on a grid finer than their degree; without it cos²((a − b)/2) is left",
    )


def wrong_squares(t: int, x: int) -> Iterator[str]:
    """The identities that do not hold at two points of the circle."""
    (c, s), (C, S) = point(t), point(x)
    u, v = (c + C) / 2, (s + S) / 2
    double_u, double_v = (c * c - s * s + C * C - S * S) / 2, s * c + S * C
    sums = 2 * (u * u - v * v) - double_u, 4 * u * v - double_v
    if sums != (c * C - s * S, s * C + c * S):
        yield f"at t = {t}, {x}"
    if u * u - v * v != (1 + c * C + s * S) / 2 * (c * C - s * S):
        yield f"without half the period, at t = {t}, {x}"


def point(t: int) -> tuple[Fraction, Fraction]:
    """A rational point of the circle."""
    return Fraction(1 - t * t, 1 + t * t), Fraction(2 * t, 1 + t * t)


def limits(p: int) -> Finding:
    """The largest α of each set of periods: 2/sin²(5π/p) for the talk's, and more periods allow
    more, since each adds 1 − cos ≥ 0 to C_F(0) − C_F(d)."""
    balls = {F: alpha_limit(p, F)[0] for F in SETS}
    found = {named(F): float(limit) for F, limit in balls.items()}
    stated = 2 / (arb(fmpq(5, p)) * arb.pi()).sin() ** 2
    verdicts = [same_ball(balls[ZHOU], stated)]
    for F, (float_limit, _) in ((F, largest_alpha(p, F)) for F in SETS):
        verdicts.append(below(abs(balls[F] - arb(float_limit)), ROUNDED * balls[F]))
    inside = [(F, G) for F in SETS for G in SETS if set(F) < set(G)]
    verdicts += [below(balls[F], balls[G]) for F, G in inside]
    ratio = found[named(ZHOU)] / found[named((1,))]
    return all_hold(
        "limits",
        f"the largest α for errors below 5, p = {p}",
        verdicts,
        words=f"{', '.join(f'{name}: {value:.1f}' for name, value in found.items())}; period 10 "
        f"alone is enough, 2, 2.5 and 5 buy a factor of {ratio:.2f}",
        wanted="2/sin²(5π/p) for 2-2.5-5-10, and more with more periods",
    )


def binds() -> Finding:
    """The steps of the proof that d = 5 binds, in Q(√5); see `theory/arithmetic/adder.py`."""
    above = {d: C(ZHOU, 0) - C(ZHOU, d) for d in range(1, 10)}
    four = Golden(Fraction(4))
    as_proved = {d: above[d] > four for d in (1, 3, 4)}
    as_proved |= {2: above[2] > Fraction(16, 25) * four, 5: above[5] == four}
    as_proved |= {10 - d: above[10 - d] == above[d] for d in range(1, 5)}
    return no_counterexample(
        "binds",
        "d = 5 binds at every p: C(0) − C(5) = 4, more at 1, 3, 4, and more than 0.64 of it at 2",
        (f"not at d = {d}" for d, holds in as_proved.items() if not holds),
        evidence="proved",
    )


def by_hand(p: int) -> Iterator[Finding]:
    """The theorem without its proof: all candidates at errors from −5 to 5, on either side of α."""
    below, above = list[Verdict](), list[Verdict]()
    steps = [Fraction(k, 8) for k in range(-39, 40)] + [Fraction(4999, 1000), Fraction(-4999, 1000)]
    for F in SETS:
        limit, d = alpha_limit(p, F)
        for error in steps:
            below.append(wins(logits(p, limit * (1 - arb(2) ** -10), error, F), [0]))
        z = logits(p, limit * arb(1.02), Fraction(4999, 1000), F)
        above.append(Verdict.of(bool(z[d] > z[0])))
    name = (
        f"a thousandth below it, p = {p}: right at {len(steps)} errors, {len(SETS)} sets of periods"
    )
    yield all_hold("below", name, below, words="c = s wins", wanted="c = s alone")
    name = f"a fiftieth above it, p = {p}: wrong at ε = 4.999"
    yield all_hold("above", name, above, words="the candidate that binds wins")


def signatures(p: int) -> Iterator[Finding]:
    """Errors without comb, without bump, and beyond 5."""
    alpha, _ = alpha_limit(p, ZHOU)
    alpha = alpha / 2
    quarters = [Fraction(k, 4) for k in range(-59, 60)]

    def all_errors(
        errors: Iterable[Fraction], expected: Callable[[Fraction], int], F: Iterable[int]
    ) -> list[Verdict]:
        return [wins(logits(p, alpha, e, F), [expected(e) % p]) for e in errors]

    halves = [e for e in quarters if (2 * e) % 2 != 1 and abs(e) < p / 2]
    yield all_hold(
        "no-comb",
        f"without the comb, p = {p}, ε in quarters up to {p // 2}",
        all_errors(halves, round, ()),
        words="the error is ε to the nearest whole number",
    )
    z = logits(p, arb(0), Fraction(0), ZHOU)
    yield all_hold(
        "no-bump",
        f"without the bump, p = {p}",
        [wins(z, list(range(0, p, 10)))],
        words=f"the candidates c ≡ s mod 10 tie, {p // 10} of them",
    )
    tens = [e for e in quarters if e % 10 != 5 and abs(e) < p / 2]
    yield all_hold(
        "beyond",
        f"errors of the size up to {p // 2} in quarters, p = {p}",
        all_errors(tens, lambda e: 10 * round(e / 10), ZHOU),
        words="the error is the multiple of 10 nearest to ε",
    )
    at_five = logits(p, alpha, Fraction(5), ZHOU)
    verdicts = [wins(at_five, [0, 10]), same_ball(at_five[0], at_five[10])]
    yield all_hold("tie", f"at ε = 5, p = {p}", verdicts, words="s and s + 10 tie, ahead of others")


def wins(z: list[arb], expected: list[int]) -> Verdict:
    """Whether these candidates are equal, and ahead of all others by more than rounding."""
    best = z[expected[0]]
    ahead = [best - value for c, value in enumerate(z) if c not in expected]
    if any(not z[c].overlaps(best) for c in expected) or any(gap < 0 for gap in ahead):
        return Verdict.FAILS
    return Verdict.of(True) if all(gap > LEAST_AHEAD for gap in ahead) else Verdict.UNDECIDED


def impossible(most: int) -> Finding:
    """For every m and r the inequalities sum to 0 > 0, so no separable logits satisfy them."""
    return no_counterexample(
        "residues",
        f"separable logits u_c(a) + v_c(b) that add mod m: m = 2 … {most}, every r",
        satisfiable(most),
        evidence="proved",
        words="none: the required inequalities sum to 0 > 0",
        wanted="a contradiction",
    )


def satisfiable(most: int) -> Iterator[str]:
    """Systems of inequalities mod m whose rows do not sum to 0, or are not two for each a."""
    for r, m in combinations(range(1, most + 1), 2):
        rows = separability_inequalities(m, r)
        if rows.sum(0).any() or not (np.abs(rows).sum(1) == 2).all() or len(rows) != 2 * m:
            yield f"m = {m}, r = {r}: the rows sum to {rows.sum(0).tolist()}"


def layers(run: Run, count: int) -> Iterator[Finding]:
    """Random layers of two heads, over Q: their logits at "=" are separable, with linear and with
    uniform attention; those of linear heads at the position of b are not."""
    found = {
        f"{name} at {where}": sum(
            separable(random_layer(run.rng, name == "uniform"), at) for _ in range(count)
        )
        for name, where, at in (
            ("linear", "'='", 2),
            ("uniform", "'='", 2),
            ("uniform", "b", 1),
            ("linear", "b", 1),
        )
    }
    yield same(
        "separable",
        f"random layers of attention without an MLP, {count} of each kind, with logits "
        "u_c(a) + v_c(b), over Q",
        found,
        {kind: 0 if kind == "linear at b" else count for kind in found},
        words=", ".join(f"{kind} {number}" for kind, number in found.items()),
        wanted="all, but for linear heads at the position of b, which have products",
    )


def random_layer(rng: np.random.Generator, uniform: bool) -> Transformer:
    """Two heads without a mask over the tokens a, b and "=", with integer weights."""
    d = 4

    def drawn(*shape: int) -> Any:
        return torch.as_tensor(rng.integers(-3, 4, shape) * 1.0)

    asks = (0.0 if uniform else 1.0) * drawn(2, d, d)
    heads = (asks, *(drawn(2, d, d) for _ in range(3)), 0.0 * drawn(2, d), drawn(2, d))
    attention = Attention(*heads, normalise="hardmax" if uniform else "linear", mask="full")
    return Transformer(
        Embed(drawn(PLACES + 1, d)),
        [Block(attention)],
        Unembed(drawn(d, PLACES)),
        pos_embed=PosEmbed(drawn(3, d)),
        interface=Sums(PLACES, PLACES, None),
        stream=Stream(state=d),
        source="random weights",
    )


def separable(model: Transformer, at: int) -> bool:
    """Whether the logits at this position are a function of a plus a function of b, over Q."""
    domain = Rational()
    z = np.empty((PLACES, PLACES, PLACES), dtype=object)
    for a, b in np.ndindex(PLACES, PLACES):
        *_, H = streams(model, model.prompt(np.array([a, b])), domain)
        (z[a, b],) = unembedding(model, domain.matrix([H.tolist()[at]]), domain).tolist()
    return not second_differences(z).any()
