"""Addition with Fourier features in two layers: a comb for residues mod 10 and a bump for the size.

Registers.  The embedding of a number n ≤ L = `largest` contains the following.  The registers
`angle2_5`, `angle5` and `angle10` contain (cos, sin) of 2πn/T for T = 2.5, 5, 10, and `angle2`
contains cos πn.  The register `size` contains (cos, sin) of 2πm/p, where m is the multiple of
`step` nearest to n: the size is given only to this precision.  p is the smallest multiple of 10
above 2L, and at least 20.  `here` is 1 at numbers; `second` and `equals` are 1 at the second number
and at "=".

Layer 1.  Linear heads with query at b and key at a; the value is `here` of a, which is 1.  With
s = a + b
    cos: query (cos, sin), key (cos, −sin):    cos b cos a − sin b sin a = cos s
    sin: query (sin, cos), key (cos, sin):     sin b cos a + cos b sin a = sin s
are written to `sum2` … `sum10`, and those of the sizes to `raw`.  The angles of "=" are 0, so its
output is 0.  The first token attends to itself, and later layers do not read its output.

Layer 2.  "=" attends to the second number, with values `sum2` … `sum10` and `raw`; the MLP adds
`raw` = relu(raw) − relu(−raw) to the register `low`.

Unembedding.  The logit of c is, by the addition theorem of the cosine,

    Σ_T cos(2π(s − c)/T) + α cos(2π(c − m_a − m_b)/p),

where m_a and m_b are the rounded sizes of a and b.  The maximum is attained at c = s only, for all
a and b, if α is at most the limit of the theorem in `theory/arithmetic/adder.py` and step ≤ 5,
because then |m_a + m_b − s| ≤ 4.  A model with a larger α or step is built as well; it may predict
wrong sums.

Exactness.  Cosines and sines, and α times them in the unembedding, are rounded to multiples of
2^−bits.  A logit is then a sum of products of three such numbers, a multiple of 2^{−3·bits} below
2α + 8 = 8(α/4 + 1) in every order of summation: it is exact in float64 if 53 bits suffice for such
numbers.  The rounding of the weights changes a logit by at most `rounding_of_logits(alpha, bits)`,
and twice this bound must be below the smallest gap.
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
    default_alpha,
    default_bits,
    largest_alpha,
    largest_bits,
    least_gap,
    n_candidates,
    round_to_multiple,
    rounding_of_logits,
    sufficient_bits,
)
from theory.arithmetic.adder_balls import turn_of_sum
from theory.kinds import Count, InputError, Positive

PERIODS = {"2": 5, "2_5": 4, "5": 2, "10": 1}
"""The frequency f of cos(2πfn/10) for each period, which names the registers."""

FINE = 5  # for steps up to 5 the error of the size of a sum is below 5
CONJUGATE = Map(np.diag([1.0, -1.0]), "(cos, −sin)")
SWAPPED = Map(np.array([[0.0, 1.0], [1.0, 0.0]]), "(sin, cos)")
COSINE, SINE = Map(np.array([[1.0, 0.0]]), "cos"), Map(np.array([[0.0, 1.0]]), "sin")


@construction
def adder(
    largest: Count = 260, step: Count = 5, alpha: Positive | None = None, bits: Count | None = None
) -> Transformer:
    """The transformer that adds numbers by Fourier features, from pairs (…, 2) to sums (…, 1).

    The numbers are from 0 to `largest`. For every `largest` the model has 2 layers, 9 linear heads,
    width 23 and 4 hidden ReLU neurons. The size of a number is the multiple of `step` nearest to
    the number. The embedding of a number contains Fourier features (cosines and sines) of the
    number, with periods 2, 2.5, 5 and 10, and of its size, with period p. Here p is the number of
    candidates for the sum, the smallest multiple of 10 that is above 2·largest and at least 20.
    `alpha` is the weight of the part of the logits that depends on the sizes. The default of
    `alpha` is `default_alpha(p)`, which is 64 for p ≥ 90. `bits` is the number of binary places of
    the weights, and its default is `default_bits(p, step, alpha)`.

    Raises ValueError for a step at which all numbers have size 0. Raises ValueError if rounding of
    the weights could change a prediction, because there are too few bits or because alpha is too
    small. Raises ValueError for so many bits that logits are rounded in float64. The message
    contains sufficient values of alpha and bits, if there are any.

    The sums are right for step ≤ 5 and alpha ≤ `largest_alpha(p)`. With other values, the model
    warns (`OutsideHypotheses`) when it is called, and sums can be wrong.
    """
    L = largest
    if step > 2 * L:
        raise InputError(
            f"step is {step}: all numbers up to {L} would be rounded to 0; give a smaller step"
        )
    rows_fit(3 * L)
    p = n_candidates(L)
    alpha = default_alpha(p) if alpha is None else alpha
    bits = default_bits(p, step, alpha) if bits is None else bits
    margin = _margin(p, step, alpha, bits)
    numbers, answers = np.arange(L + 1), np.arange(p)
    widths = {f"angle{T}": 1 if f == 5 else 2 for T, f in PERIODS.items()}
    sums = {f"sum{T}": widths[f"angle{T}"] for T in PERIODS}
    stream = Stream(**widths, size=2, here=1, second=1, equals=1, **sums, raw=2, low=2)
    angles = {
        f"angle{T}": _turn(f * numbers, 10, bits, widths[f"angle{T}"]) for T, f in PERIODS.items()
    }
    embedded = rows(
        stream,
        **angles,
        size=_turn(round_to_multiple(numbers, step), p, bits),
        here=numbers * 0 + 1,
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
    # The largest length of (cos, sin) of a sum: each number has an error of √2·2^{−bits−1}.
    longest = (1 + 2.0**-bits) ** 2
    return Transformer(
        Embed(pad(embedded, (0, 0, 0, 1))),  # "=" is 0
        [
            block(stream, sum(adding, start=()), mask="strictly causal"),
            block(stream, [carry], [Move(stream.read("raw"), "low")], mask="strictly causal"),
        ],
        unembed(stream, sum(read, start=bump)),
        pos_embed=PosEmbed(rows(stream, second=np.eye(3)[1], equals=np.eye(3)[2])),
        interface=Sums(L + 1, p, max(margin, 0.0), _violated(p, step, alpha)),
        stream=stream,
        stages=(
            *(Stage(2, f"sum{T}", partial(_comb, f, bits)) for T, f in PERIODS.items()),
            Stage(2, "low", partial(_size, p, step, bits)),
        ),
        at_most=dict.fromkeys((*into, "low"), longest),
        source="after [Zhou2024]",
    )


def _violated(p: int, step: int, alpha: float) -> str:
    """How step and alpha violate the hypotheses of the theorem, or ""."""
    limit, _ = largest_alpha(p)
    if step > FINE:
        return f"step is {step}, and sums can be wrong: give step ≤ {FINE}"
    return f"alpha is {alpha:g}, and sums can be wrong: give alpha ≤ {limit:.6g}" * (alpha > limit)


def _turn(n: np.ndarray, period: int, bits: int, width: int = 2, times: float = 1.0) -> np.ndarray:
    """times · (cos, sin) of 2πn/period, rounded to multiples of 2^−bits, (len(n), width)."""
    angles = 2 * np.pi * (n % period) / period
    both = np.stack([np.cos(angles), np.sin(angles)], axis=1)[:, :width]
    return np.asarray(np.floor(times * both * 2.0**bits + 0.5) / 2.0**bits)


def _heads(stream: Stream, angle: str, into: str) -> tuple[Head, ...]:
    """The heads for the cosine and, if the angle has a sine, the sine of the sum of two angles."""
    own, here = stream.read(angle), stream.read("here")
    if own.width == 1:
        return (Head(own, own, here, into),)
    conjugate: LinearRead = own @ CONJUGATE
    return (
        Head(own, conjugate, here, into, times=COSINE),
        Head(own @ SWAPPED, own, here, into, times=SINE),
    )


def _comb(f: int, bits: int, pairs: np.ndarray) -> np.ndarray:
    """(cos, sin) of 2πfs/10 for the sum s, from rounded (cos, sin) of the two numbers; only cos πs
    for period 2.
    """
    width = 1 if f == PERIODS["2"] else 2
    return 2.0 ** (-2 * bits) * turn_of_sum(f * pairs, 10, bits)[..., None, :width]


def _size(p: int, step: int, bits: int, pairs: np.ndarray) -> np.ndarray:
    """(cos, sin) of 2πm/p for the sum m of the two sizes."""
    return 2.0 ** (-2 * bits) * turn_of_sum(round_to_multiple(pairs, step), p, bits)[..., None, :]


def _margin(p: int, step: int, alpha: float, bits: int) -> float:
    """A lower bound on the gap of the right logit to the others, negative if alpha or step are too
    large for the theorem.  Raises ValueError for too many or too few bits.
    """
    gap, moved = least_gap(p, alpha, 2 * (step // 2)), rounding_of_logits(alpha, bits)
    promised, most = step <= FINE and alpha <= largest_alpha(p)[0], largest_bits(alpha)
    if bits > most:
        remedy = f"at most bits = {most}" if most > 0 else "a smaller alpha"
        raise InputError(
            f"bits is {bits} and alpha is {alpha:g}: logits have more than the {FLOAT64_BITS} bits "
            f"of float64; give {_remedy(p, step, alpha) if promised else remedy}"
        )
    if promised and not gap > 2 * moved:
        raise InputError(
            f"bits is {bits} and alpha is {alpha:g}: rounding changes logits by up to {moved:.3g}, "
            f"and their smallest gap is {gap:.3g}; give {_remedy(p, step, alpha)}"
        )
    return gap - 2 * moved


def _remedy(p: int, step: int, alpha: float) -> str:
    """The remedy of an error message: bits that suffice at this alpha, else an alpha and bits that
    suffice, if there are any.

    At half the limit of alpha, half of each gap of the comb remains.  Below that the gap grows in
    proportion to alpha and the rounding error does not: for given bits the largest alpha is best.
    """
    if enough := sufficient_bits(p, step, alpha):
        return f"bits = {enough[0]}" + (f" … {enough[-1]}" if len(enough) > 1 else "")
    for bits in range((FLOAT64_BITS - 3) // 3, 0, -1):
        alpha = min(2.0 ** (FLOAT64_BITS - 3 * bits - 1) - 4, largest_alpha(p)[0] / 2)
        if least_gap(p, alpha, 2 * (step // 2)) > 2 * rounding_of_logits(alpha, bits):
            return f"alpha = {alpha:g} and bits = {bits}"
    return "a smaller largest number, as no alpha and bits suffice in float64"
