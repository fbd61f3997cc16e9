"""Addition with Fourier features: a comb for the residues mod 10, a bump for the size, two layers.

Registers.  A number n ≤ L = `largest` holds (cos, sin) of 2πn/T for T = 2.5, 5, 10 in `angle2_5`,
`angle5` and `angle10`, cos πn in `angle2`, and (cos, sin) of 2πm/p in `size`: m is the multiple of
`step` nearest to n, so no more is known of its size.  p is the least multiple of 10 above 2L, and
at least 20.  `here` is 1 at numbers; `second` and `equals` are 1 at those two tokens.

Layer 1.  Linear heads with the query of b and the key of a; the value is `here` of a, which is 1:
    cos: query (cos, sin), key (cos, −sin):    cos b cos a − sin b sin a = cos s
    sin: query (sin, cos), key (cos, sin):     sin b cos a + cos b sin a = sin s
with s = a + b are written to `sum2` … `sum10`, and those of the sizes to `raw`.  "=" has no angle,
so its output is 0; the first token attends to itself, and its output is not read.

Layer 2.  "=" attends to the second number, with the values `sum2` … `sum10` and `raw`; the MLP adds
`raw` = relu(raw) − relu(−raw) to `low`.

Unembedding.  The logit of c is, by cos(u − v) = cos u cos v + sin u sin v,

    Σ_T cos(2π(s − c)/T) + α cos(2π(c − m_a − m_b)/p),

which is largest at c = s alone for all a and b if α is at most the limit of the theorem in
`theory/arithmetic/adder.py` and step ≤ 5: then |m_a + m_b − s| ≤ 4.  A larger α or step is built as
well, and may answer wrongly.

Exactness.  Cosines and sines, and α times them in the read-out, are rounded to multiples of
2^−bits.  A logit is then a sum of products of three such numbers, a multiple of 2^{−3·bits} below
2α + 8 = 8(α/4 + 1) in every order of adding: float64 rounds nothing while it has so many bits.  The
rounding of the weights moves no logit by more than `rounding_of_logits(alpha, bits)`; twice that
has to be below the least gap.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from torch.nn.functional import pad

from constructions.arithmetic.sums import Sums
from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.primitives import Move
from constructions.stream import LinearRead, Map, Stream
from constructions.tokens import rows_fit
from constructions.transformer import Transformer
from theory.arithmetic.adder import (
    FLOAT64_BITS,
    candidates,
    coarse,
    largest_alpha,
    least_gap,
    most_bits,
    rounding_of_logits,
    sufficient_bits,
    usual_alpha,
    usual_bits,
)
from theory.arithmetic.adder_balls import turn_of_sum
from theory.kinds import Count, InputError, Positive

PERIODS = {"2": 5, "2_5": 4, "5": 2, "10": 1}
"""Registers by period, and frequencies f of cos(2πfn/10)."""

FINE = 5  # steps up to here leave errors of the sum's size below 5
CONJUGATE = Map(np.diag([1.0, -1.0]), "(cos, −sin)")
SWAPPED = Map(np.array([[0.0, 1.0], [1.0, 0.0]]), "(sin, cos)")
COSINE, SINE = Map(np.array([[1.0, 0.0]]), "cos"), Map(np.array([[0.0, 1.0]]), "sin")


@construction
def adder(
    largest: Count = 260, step: Count = 5, alpha: Positive | None = None, bits: Count | None = None
) -> Transformer:
    """`adder(largest, step, alpha, bits)([a, b])`: a + b for numbers up to `largest`.

    (…, 2) → (…, 1).  2 layers, 9 linear heads, width 23, 4 ReLUs, whatever is largest.  `alpha` is
    64 by default, or for small numbers what the theorem allows, `usual_alpha(p)`.  `bits` are
    the binary places of the weights, by default `usual_bits(p, step, alpha)`.

    Raises ValueError for a step at which all numbers have size 0, for bits so few, or an alpha so
    small, that rounding could change an answer, and for bits so many that float64 rounds; with an
    alpha and bits that do, if there are.
    """
    L = largest
    if step > 2 * L:
        raise InputError(
            f"step is {step}: all numbers up to {L} would have size 0; give a smaller one"
        )
    rows_fit(3 * L)
    p = candidates(L)
    alpha = usual_alpha(p) if alpha is None else alpha
    bits = usual_bits(p, step, alpha) if bits is None else bits
    margin = _margin(p, step, alpha, bits)
    numbers, answers = np.arange(L + 1), np.arange(p)
    widths = {f"angle{T}": 1 if f == 5 else 2 for T, f in PERIODS.items()}
    sums = {f"sum{T}": widths[f"angle{T}"] for T in PERIODS}
    stream = Stream(**widths, size=2, here=1, second=1, equals=1, **sums, raw=2, low=2)
    held = {
        f"angle{T}": _turn(f * numbers, 10, bits, widths[f"angle{T}"]) for T, f in PERIODS.items()
    }
    embedded = rows(
        stream, **held, size=_turn(coarse(numbers, step), p, bits), here=numbers * 0 + 1
    )
    read = [
        stream.read(f"sum{T}")
        @ Map(_turn(f * answers, 10, bits, widths[f"angle{T}"]).T, f"angle{T}")
        for T, f in PERIODS.items()
    ]
    bump = stream.read("low") @ Map(_turn(answers, p, bits, times=alpha).T, "α·angle of size")
    adding = [_heads(stream, f"angle{T}", f"sum{T}") for T in PERIODS]
    adding.append(_heads(stream, "size", "raw"))
    into = (*sums, "raw")
    carry = Head(stream.read("equals"), stream.read("second"), tuple(map(stream.read, into)), into)
    longest = (1 + 2.0**-bits) ** 2  # of a sum's (cos, sin): numbers' are off by √2·2^{−bits−1}
    return Transformer(
        Embed(pad(embedded, (0, 0, 0, 1))),  # "=" is 0
        [
            block(stream, sum(adding, start=()), mask="strictly causal"),
            block(stream, [carry], [Move(stream.read("raw"), "low")], mask="strictly causal"),
        ],
        unembed(stream, sum(read, start=bump)),
        pos_embed=PosEmbed(rows(stream, second=np.eye(3)[1], equals=np.eye(3)[2])),
        interface=Sums(L + 1, p, max(margin, 0.0)),
        stream=stream,
        stages=(
            *(Stage(2, f"sum{T}", partial(_comb, f, bits)) for T, f in PERIODS.items()),
            Stage(2, "low", partial(_size, p, step, bits)),
        ),
        at_most=dict.fromkeys((*into, "low"), longest),
        source="after [Zhou2024]; proved in theory/arithmetic/adder.py",
    )


def _turn(n: np.ndarray, period: int, bits: int, width: int = 2, times: float = 1.0) -> np.ndarray:
    """times · (cos, sin) of 2πn/period, rounded to multiples of 2^−bits, (len(n), width)."""
    angles = 2 * np.pi * (n % period) / period
    both = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, :width]
    return np.asarray(np.floor(times * both * 2.0**bits + 0.5) / 2.0**bits)


def _heads(stream: Stream, angle: str, into: str) -> tuple[Head, ...]:
    """Cosine, and sine where there is one, of the sum of the angles of two tokens."""
    own, here = stream.read(angle), stream.read("here")
    if own.width == 1:
        return (Head(own, own, here, into),)
    conjugate: LinearRead = own @ CONJUGATE
    return (
        Head(own, conjugate, here, into, times=COSINE),
        Head(own @ SWAPPED, own, here, into, times=SINE),
    )


def _comb(f: int, bits: int, pairs: np.ndarray) -> np.ndarray:
    """(cos, sin) of 2πfs/10 for the sum s, from rounded ones of the two numbers; cos πs alone."""
    width = 1 if f == PERIODS["2"] else 2
    return 2.0 ** (-2 * bits) * turn_of_sum(f * pairs, 10, bits)[..., None, :width]


def _size(p: int, step: int, bits: int, pairs: np.ndarray) -> np.ndarray:
    """(cos, sin) of 2πm/p for the sum m of the two sizes."""
    return 2.0 ** (-2 * bits) * turn_of_sum(coarse(pairs, step), p, bits)[..., None, :]


def _margin(p: int, step: int, alpha: float, bits: int) -> float:
    """The least distance of the right logit from another: below 0 where alpha or step are beyond
    the theorem.  Raises ValueError for bits that are too many or too few."""
    gap, moved = least_gap(p, alpha, 2 * (step // 2)), rounding_of_logits(alpha, bits)
    promised, most = step <= FINE and alpha <= largest_alpha(p)[0], most_bits(alpha)
    if bits > most:
        remedy = f"at most bits = {most}" if most > 0 else "a smaller alpha"
        raise InputError(
            f"with bits = {bits} and alpha = {alpha:g} logits take more than the {FLOAT64_BITS} "
            f"bits of float64: give {_remedy(p, step, alpha) if promised else remedy}"
        )
    if promised and not gap > 2 * moved:
        raise InputError(
            f"bits = {bits} may move logits by {moved:.3g} at alpha = {alpha:g}, and wrong sums "
            f"are {gap:.3g} below: give {_remedy(p, step, alpha)}"
        )
    return gap - 2 * moved


def _remedy(p: int, step: int, alpha: float) -> str:
    """What to give: bits that do at this alpha, else an alpha and bits that do, if there are any.

    Half the limit of alpha leaves half of the comb's gaps; below it the gap grows in proportion to
    alpha, and what rounding moves does not: with so many bits the largest alpha is the best.
    """
    if enough := sufficient_bits(p, step, alpha):
        return f"bits = {enough[0]}" + (f" … {enough[-1]}" if len(enough) > 1 else "")
    for bits in range((FLOAT64_BITS - 3) // 3, 0, -1):
        alpha = min(2.0 ** (FLOAT64_BITS - 3 * bits - 1) - 4, largest_alpha(p)[0] / 2)
        if least_gap(p, alpha, 2 * (step // 2)) > 2 * rounding_of_logits(alpha, bits):
            return f"alpha = {alpha:g} and bits = {bits}"
    return "a smaller largest number: no alpha and bits do, in float64"
