"""The claim `comb`: sums of cosines that separate the residues mod 10, exactly in Q(√5)."""

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
from theory.arithmetic.congruence import Candidates
from theory.arithmetic.golden import Golden, cosine
from theory.arithmetic.residues import second_differences, separability_inequalities
from theory.kinds import read
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
SMALL = 30  # the p at which all logits are enclosed
ROUNDED = arb(2) ** -40  # relative error of a limit in float64, whose sines lose a few bits
LEAST_AHEAD = 2.0**-60  # smallest gap of the largest logit that balls certify
MOST = 10_000  # candidates
MODULI, PLACES = 24, 4  # largest modulus of the inequalities, modulus of the random layers


@claim(faults_seen=[{}])
def comb(
    run: Run,
    *,
    p: Annotated[int, option("number of candidates, a multiple of 10", min=20, max=MOST)] = 530,
) -> Iterator[Finding]:
    """Sums of cosines of periods 2, 2.5, 5 and 10 (combs) separate the residues mod 10.

    Closure.  A period 10/f is given by an integer f ≢ 0 mod 10.  Two periods count as one if their
    numbers f agree mod 10 up to sign, because their cosines then agree at all integers.  The
    closure of {2, 10} under halving of periods is {2, 2.5, 5, 10}.

    Tolerance.  Let p ≥ 20 be a multiple of 10, let s be the right answer, an integer from 0 to p −
    1, and let α > 0.  Let the logit of the candidate c = 0, …, p − 1 be Σ_T cos(2π(c − s)/T) + α
    cos(2π(c − s − ε)/p), where T runs over 2, 2.5, 5 and 10.  Then c = s is the only candidate with
    the largest logit for all real errors ε with |ε| < 5 if and only if α ≤ 2/sin²(5π/p).

    Residues.  For m ≥ 2 no functions u_c and v_c exist such that, for all residues a and b mod m,
    the largest of the logits u_c(a) + v_c(b) is at c = a + b mod m, with ties broken by any fixed
    order of the c.  One layer of linear or uniform attention without an MLP has only logits of the
    form u_c(a) + v_c(b) at a position whose token is neither a nor b.

    The value of a comb at an integer is a number x + y√5 with rational x and y.  The signs of such
    numbers are computed exactly in integers.
    """
    read(Candidates, "p", p, most=MOST)
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
    """The finding that the exact cosines of multiples of 36° satisfy their defining equations.

    The equations are cos 5θ = −1 and cos θ > 0 for θ = 36°, which determine cos θ, and the
    recurrence for the other cosines.
    """
    return no_counterexample(
        "cosines",
        "equation cos 180° = −1, inequality cos 36° > 0 and recurrence of cosines, for the exact "
        "values of cos 36°k, k = 0 … 20",
        wrong_cosines(),
        words="all hold",
    )


def wrong_cosines() -> Iterator[str]:
    """The equations of the finding `cosines` that do not hold."""
    if cosine(5) != Golden(Fraction(-1)) or not cosine(1).sign > 0:
        yield f"cos 180° = {cosine(5)}, cos 36° = {cosine(1)}"
    for k in range(1, 20):
        if cosine(k + 1) + cosine(k - 1) != 2 * cosine(1) * cosine(k):
            yield f"c_{k + 1} + c_{k - 1} is not 2 c₁ c_{k}"


def table() -> Iterator[Finding]:
    """The findings on values and gaps of combs, and on sets of periods whose comb is rational."""
    for F, wanted in TABLE.items():
        found = [*(C(F, d) for d in range(6)), comb_gap(F)]
        stated = [Golden(Fraction(a, 4), Fraction(b, 4)) for a, b in wanted]
        differ = [
            f"{got}, not {value}" for got, value in zip(found, stated, strict=True) if got != value
        ]
        folded = all(C(F, d) == C(F, -d) == C(F, d + 10) for d in range(10))
        yield no_counterexample(
            f"table/{named(F)}",
            f"exact values C(0), …, C(5) of the comb C of periods {named(F)}, and gap between C(0) "
            "and the largest of C(1), …, C(9)",
            [*differ, *["not even, or not of period 10"] * (not folded)],
            words=f"values {', '.join(map(str, found[:-1]))}, gap {found[-1]} = "
            f"{float(found[-1]):.3f}; equal to the table in closed form",
        )
    apart = {named(F): comb_gap(F).sign > 0 for F in SETS}
    positive = dict.fromkeys(apart, True)
    name = "sets of periods whose comb separates the residues mod 10 (has a positive gap)"
    yield same("apart", name, apart, positive, words=", ".join(apart), wanted="all of these sets")
    closed = {named(F): rational(F) for F in TABLE}
    stated_closed = {named(ZHOU): False, named(RATIONAL): True, named(ALL): True}
    yield same(
        "rational",
        "sets of periods whose comb has only rational values",
        closed,
        stated_closed,
        words=", ".join(name for name, is_closed in closed.items() if is_closed),
        wanted="2-2.5-5 and all five periods, but not 2-2.5-5-10",
    )


def rational(F: Iterable[int]) -> bool:
    """Whether all values of the comb of the frequencies F are rational."""
    values = [C(F, d) for d in range(10)]
    return all(value == value.conjugate for value in values)


def named(F: Iterable[int]) -> str:
    """The periods of the frequencies F in words, for example "2-2.5-5-10"."""
    return "-".join(f"{float(period(f)):.3g}" for f in F)


def closure() -> Finding:
    """The finding that the closure of the periods {2, 10} under halving is {2, 2.5, 5, 10}."""
    found = halving_closure((5, 1))
    return same(
        "closure",
        "closure of the periods 2 and 10 under halving",
        [str(period(f)) for f in found],
        [str(period(f)) for f in ZHOU],
        words=", ".join(str(period(f)) for f in found),
        wanted="2, 5/2, 5, 10",
    )


def identities() -> Finding:
    """The finding that cos(a + b) and sin(a + b) follow from squares of averages.

    The averages are the mean cosine and the mean sine of the angles a and b.  The formulas also
    contain the cosines and sines of 2a and 2b.  The points (1 − t², 2t)/(1 + t²) and
    (1 − x², 2x)/(1 + x²) of the circle belong to a and b, with rational parameters t and x.  Both
    sides, times (1 + t²)²(1 + x²)², have degree at most 4 in t and in x, so a grid of 5 × 5 points
    decides; the grid here has 9 × 9 points.
    """
    return no_counterexample(
        "squares",
        "cos(a + b) and sin(a + b), compared with formulas in the mean cosines and mean sines of "
        "the angles a and b and of 2a and 2b",
        (wrong for t, x in product(range(-4, 5), repeat=2) for wrong in wrong_squares(t, x)),
        evidence="proved",
        words="equal as polynomials, since equal on a grid with more points than the degree "
        "requires",
    )


def wrong_squares(t: int, x: int) -> Iterator[str]:
    """The identities of the finding `identities` that fail for the parameters t and x."""
    (c, s), (C, S) = point(t), point(x)
    u, v = (c + C) / 2, (s + S) / 2
    double_u, double_v = (c * c - s * s + C * C - S * S) / 2, s * c + S * C
    sums = 2 * (u * u - v * v) - double_u, 4 * u * v - double_v
    if sums != (c * C - s * S, s * C + c * S):
        yield f"at t = {t}, {x}"
    if u * u - v * v != (1 + c * C + s * S) / 2 * (c * C - s * S):
        yield f"without half the period, at t = {t}, {x}"


def point(t: int) -> tuple[Fraction, Fraction]:
    """The rational point (1 − t², 2t)/(1 + t²) of the circle."""
    return Fraction(1 - t * t, 1 + t * t), Fraction(2 * t, 1 + t * t)


def limits(p: int) -> Finding:
    """The finding on the largest weight α of the bump, for each set of periods.

    There are p candidates for the sum.  The largest α is 2/sin²(5π/p) for the periods 2, 2.5, 5 and
    10.  A further period increases the largest α, since the period adds 1 − cos ≥ 0 to all
    differences C(0) − C(d) of the comb C.
    """
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
        "largest weight α of the bump that tolerates all errors |ε| < 5 of the size of a sum, by "
        f"set of periods of the comb, p = {p} candidates",
        verdicts,
        words=f"{', '.join(f'{value:.1f} for {name}' for name, value in found.items())}; if the "
        "periods 2, 2.5 and 5 are added to the period 10, the largest α increases by a factor of "
        f"{ratio:.2f}",
        wanted="2/sin²(5π/p) for 2-2.5-5-10, and larger if a period is added",
    )


def binds() -> Finding:
    """The finding that the condition on α is strictest for candidates at distance 5 from the sum.

    The proof in Q(√5) is given in `theory/arithmetic/adder.py`.
    """
    above = {d: C(ZHOU, 0) - C(ZHOU, d) for d in range(1, 10)}
    four = Golden(Fraction(4))
    as_proved = {d: above[d] > four for d in (1, 3, 4)}
    as_proved |= {2: above[2] > Fraction(16, 25) * four, 5: above[5] == four}
    as_proved |= {10 - d: above[10 - d] == above[d] for d in range(1, 5)}
    return no_counterexample(
        "binds",
        "differences C(0) − C(d) of the comb C of periods 2, 2.5, 5 and 10, by which the condition "
        "on α is strictest for candidates at distance 5 from the sum",
        (f"not at d = {d}" for d, holds in as_proved.items() if not holds),
        evidence="proved",
        words="4 at d = 5, above 4 at d = 1, 3 and 4, and above 0.64·4 at d = 2",
    )


def by_hand(p: int) -> Iterator[Finding]:
    """The findings that check the theorem on α by enumeration, for p candidates.

    The weight α of the bump is below or above the limit.  All candidates are compared for errors of
    the size from −5 to 5.
    """
    below, above = list[Verdict](), list[Verdict]()
    steps = [Fraction(k, 8) for k in range(-39, 40)] + [Fraction(4999, 1000), Fraction(-4999, 1000)]
    for F in SETS:
        limit, d = alpha_limit(p, F)
        for error in steps:
            below.append(wins(logits(p, limit * (1 - arb(2) ** -10), error, F), [0]))
        z = logits(p, limit * arb(1.02), Fraction(4999, 1000), F)
        above.append(Verdict.of(bool(z[d] > z[0])))
    name = (
        "candidate c with the largest logit z(c) for the sum s, if α is (1 − 2^−10) times the "
        f"limit for errors |ε| < 5, p = {p} candidates, {len(steps)} such errors and {len(SETS)} "
        "sets of periods"
    )
    yield all_hold("below", name, below, words="the sum s", wanted="the sum s only")
    name = (
        "difference between the logit z(c) of a wrong candidate c and the logit z(s) of the sum s, "
        f"if α is 1.02 times the limit for errors |ε| < 5, p = {p} candidates, ε = 4.999"
    )
    yield all_hold("above", name, above, words="positive for some c", wanted="positive for some c")


def signatures(p: int) -> Iterator[Finding]:
    """The findings on predictions without the comb, without the bump, and at errors beyond 5."""
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
        "error of the prediction from the bump without the comb, for errors ε of the size up to "
        f"{p // 2}, p = {p} candidates",
        all_errors(halves, round, ()),
        words="ε rounded to an integer",
        wanted="ε rounded to an integer",
    )
    z = logits(p, arb(0), Fraction(0), ZHOU)
    yield all_hold(
        "no-bump",
        f"candidates c with the largest logit for the sum s, without the bump, p = {p} candidates",
        [wins(z, list(range(0, p, 10)))],
        words=f"the {p // 10} candidates c ≡ s mod 10, which tie",
        wanted="the candidates c ≡ s mod 10, which tie",
    )
    tens = [e for e in quarters if e % 10 != 5 and abs(e) < p / 2]
    yield all_hold(
        "beyond",
        f"error of the prediction from comb and bump, for errors ε of the size up to {p // 2}, "
        f"p = {p} candidates",
        all_errors(tens, lambda e: 10 * round(e / 10), ZHOU),
        words="ε rounded to a multiple of 10",
        wanted="ε rounded to a multiple of 10",
    )
    at_five = logits(p, alpha, Fraction(5), ZHOU)
    verdicts = [wins(at_five, [0, 10]), same_ball(at_five[0], at_five[10])]
    name = f"candidates with the largest logit for the sum s, if its size is s + 5, p = {p}"
    tied = "s and s + 10, which tie"
    yield all_hold("tie", name, verdicts, words=tied, wanted=tied)


def wins(z: list[arb], expected: list[int]) -> Verdict:
    """Whether the logits of the expected candidates are equal, and larger than all other logits.

    The difference must exceed the rounding.
    """
    best = z[expected[0]]
    ahead = [best - value for c, value in enumerate(z) if c not in expected]
    if any(not z[c].overlaps(best) for c in expected) or any(gap < 0 for gap in ahead):
        return Verdict.FAILS
    return Verdict.of(True) if all(gap > LEAST_AHEAD for gap in ahead) else Verdict.UNDECIDED


def impossible(most: int) -> Finding:
    """The finding that no separable logits add mod m, for m = 2, …, `most`.

    For every m and every residue r ≠ 0 mod m, the sum of the required inequalities is 0 > 0.
    """
    return no_counterexample(
        "residues",
        "sum of the inequalities that logits u_c(a) + v_c(b) for addition mod m would have to "
        f"satisfy, m = 2 … {most}",
        satisfiable(most),
        evidence="proved",
        words="0 > 0 for every residue r ≠ 0, so no such logits exist",
        wanted="the contradiction 0 > 0",
    )


def satisfiable(most: int) -> Iterator[str]:
    """The systems of inequalities mod m ≤ `most` that are malformed or whose rows do not sum to 0.

    The iterator yields a description of each of these systems in words.
    """
    for r, m in combinations(range(1, most + 1), 2):
        rows = separability_inequalities(m, r)
        if rows.sum(0).any() or not (np.abs(rows).sum(1) == 2).all() or len(rows) != 2 * m:
            yield f"m = {m}, r = {r}: the rows sum to {rows.sum(0).tolist()}"


def layers(run: Run, count: int) -> Iterator[Finding]:
    """The finding on whether logits of random attention layers of two heads are separable, over Q.

    The prompt is the numbers a and b and the token "=".  Logits are separable at "=" for linear and
    for uniform attention, and at the position of b for uniform attention.  Logits of linear heads
    at the position of b are not separable.
    """
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
        "number of random attention layers whose logits have the form u(a) + v(b) over Q, of "
        f"{count} for each kind of attention and position",
        found,
        {kind: 0 if kind == "linear at b" else count for kind in found},
        words=", ".join(f"{number} for {kind}" for kind, number in found.items()),
        wanted=f"{count} each, but 0 for linear attention at the position of b, whose logits "
        "contain products of functions of a and b",
    )


def random_layer(rng: np.random.Generator, uniform: bool) -> Transformer:
    """A layer of two heads with random integer weights and no mask, on two numbers and "="."""
    d = 4

    def drawn(*shape: int) -> Any:
        return torch.as_tensor(rng.integers(-3, 4, shape) * 1.0)

    queries = (0.0 if uniform else 1.0) * drawn(2, d, d)
    heads = (queries, *(drawn(2, d, d) for _ in range(3)), 0.0 * drawn(2, d), drawn(2, d))
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
    """Whether the logits at a position have the form u(a) + v(b) over Q.

    Here a and b are the two numbers of the prompt.
    """
    domain = Rational()
    z = np.empty((PLACES, PLACES, PLACES), dtype=object)
    for a, b in np.ndindex(PLACES, PLACES):
        *_, H = streams(model, model.prompt(np.array([a, b])), domain)
        (z[a, b],) = unembedding(model, domain.matrix([H.tolist()[at]]), domain).tolist()
    return not second_differences(z).any()
