"""What softmax attention and short floats do to a construction, as bounds with explicit constants.

A construction is exact with hardmax attention.  It declares, with each head, the gap by which the
right token's score exceeds all others in every prompt (`block.margins`) and, by its proof, bounds
on registers (`model.at_most`); these bounds follow from its weights:

softmax_error    hardmax replaced by softmax at sharpness β.  If the scores of a head are off by at
                 most σ, the weight that leaks to wrong tokens is at most

                     e^{2βσ} · min(others·q, 4q/(1 − q)²),      q = e^{−β·gap},

                 and at most 1; the second if the scores are graded: at most 4m tokens are at
                 least m, and less than m + 1, gaps below the right one (Σ_m 4m q^m).  Tokens that
                 share the weight get uneven shares, by e^{2βσ} − 1.  Errors of the registers then
                 pass through |W_V|, |W_O| and |W_U| and, in the next layer, into σ; but what an MLP
                 restores (`block.restores`) is exact again, so that they do not add up.
exact_in         bits of significand in which every partial sum of the hardmax forward pass is
                 exact: all numbers are whole multiples of a power of two, below a bound.  A model
                 whose answers are the largest of several logits is not converted to a format that
                 has fewer (`check_format`).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from theory import checks
from theory.checks import InputError

if TYPE_CHECKING:
    from torch import Tensor

    from constructions.transformer import Block, Transformer

MOST_EXPONENT = 700.0  # e^700 is still a float64
# The bounds are sums of products of numbers that are not negative, evaluated in float64: thousands
# of operations without cancellation, each off by 2^−53, which a part in 10⁹ more than covers.
WIDER = 1 + 1e-9
Bound = float | Fraction
Numbers = tuple[Any, Any]  # upper bounds on sizes, and the powers of two that divide the numbers
Hardmax = tuple[list[np.ndarray], list[Numbers]]  # see `_hardmax`


@dataclass(frozen=True)
class Margin:
    """A head's smallest score gap between the attended tokens and all others, over all prompts.

    `graded` says that at most 4m tokens lie at least m, and less than m + 1, gaps below, for m ≥ 1;
    `ties` that several tokens may share the largest score, and hardmax its weight among them.
    """

    gap: float
    graded: bool = True
    ties: bool = False

    def leak(self, sharpness: float, score_error: float, others: int) -> float:
        """A bound on the softmax weight of all tokens that hardmax does not attend to."""
        q = math.exp(-sharpness * self.gap)
        crowd = others * q
        if self.graded and q < 1:
            crowd = min(crowd, 4 * q / (1 - q) ** 2)
        exponent = 2 * score_error * sharpness
        return min(1.0, crowd * math.exp(exponent)) if exponent < MOST_EXPONENT else 1.0

    def unevenness(self, sharpness: float, score_error: float) -> float:
        """A bound on Σ |weight − equal weight| over the tokens that share the largest score.

        Scores that are off by at most σ change each of their shares by a factor in e^{±2βσ}.
        """
        exponent = 2 * score_error * sharpness
        return min(2.0, math.expm1(min(exponent, MOST_EXPONENT))) if self.ties else 0.0


@dataclass(frozen=True)
class Restores:
    """After the MLP of a layer the registers `into` are exact, if before it each register named in
    `within` was off by at most the number there (0: it has to be exact)."""

    into: tuple[str, ...]
    within: Mapping[str, float]


def share_of_a_quarter(k: int) -> float:
    """How far each of k values may be off, a quarter in all: 1/(4k) in multiples of 2^−20."""
    return 2**18 // k / 2**20


@dataclass(frozen=True)
class SoftmaxError:
    """Bounds for one sharpness: leaked weights by layer and head, register and logit errors, and
    the largest errors: of the stream, and of any number in multiples of its grain (`exact_in`)."""

    leaks: tuple[tuple[float, ...], ...]
    registers: Mapping[str, float]
    logits: float
    stream: float
    in_grains: float


@dataclass(frozen=True)
class Exactness:
    """What a float format needs: bits of significand, the largest number that it must hold, and the
    power of two of which all numbers are multiples, which must not be below its normal numbers."""

    bits: int
    largest: float
    grain: float

    def fits(self, significand: int, largest: Bound, smallest: Bound) -> bool:
        """Whether a format of so many bits, whose normal numbers are between these, is enough."""
        return self.bits <= significand and self.largest <= largest and self.grain >= smallest

    def fits_in(self, dtype: torch.dtype) -> bool:
        """`fits`, for a format of torch."""
        kind = torch.finfo(dtype)
        return self.fits(significand(dtype), kind.max, kind.smallest_normal)


def significand(dtype: torch.dtype) -> int:
    """Bits of significand of a float format of torch, with the hidden one."""
    return 1 - round(math.log2(torch.finfo(dtype).eps))


def sharpening(amplification: float) -> float:
    """A power of two c with 16·amplification·e^{−c} ≤ 1/4.

    Scores of an early layer are multiplied by c, which costs no bit of precision: at β ≥ 1 their
    leak then moves the scores of a later layer, which multiply it by `amplification`, by less than
    a quarter of their gap.  So the sharpness needed does not grow with n, but the weights do: c is
    less than 2·ln(64·amplification), Θ(log n) where the amplification is a power of n, and scores
    of Θ(n) gaps stand in the weights besides (`score_sizes`).
    """
    return 2.0 ** math.ceil(math.log2(math.log(64 * amplification)))


@np.errstate(invalid="ignore")  # of infinite errors
def softmax_error(
    model: Transformer,
    sharpness: float,
    hardmax: Hardmax | None = None,
    *,
    share: float = 0.0,
    beside: float = 0.0,
    grows: float = 0.0,
) -> SoftmaxError:
    """How far softmax attention at this sharpness is from hardmax, for all prompts.

    `hardmax` is what `_hardmax` says, if known.  What is read may be off by `share` of itself and
    of `beside`, and errors grow by the share `grows`, as in stock models.  ValueError for a
    sharpness that is no finite number above 0, or at which scores overflow.
    """
    sharpness = checks.positive_number("sharpness", sharpness)
    for number, block in enumerate(model.blocks, start=1):
        attn = block.attn
        if attn is None or attn.normalise not in ("softmax", "hardmax"):
            continue
        if len(block.margins) != attn.n_heads:
            raise InputError(
                f"layer {number} of {model.name} compares scores for whose gaps nothing is proved, "
                "so softmax may be any distance from hardmax: give a model over tokens"
            )
    held, numbers = _hardmax(model) if hardmax is None else hardmax
    error = np.zeros(model.d_model)

    def read(error: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return (1 + grows) * (error + share * (sizes + error + beside) if share else error)

    leaks, errors = [], [error]  # in the order of `numbers`
    for block, bounds in zip(model.blocks, held, strict=False):
        added, between = np.zeros(model.d_model), bounds
        layer, seen = [], read(error, bounds)
        for W, margin in zip(_heads(block), block.margins, strict=False):
            # |⟨q + δ, k + ε⟩ − ⟨q, k⟩| ≤ |δ||k| + |q||ε| + |δ||ε|, coordinate by coordinate.
            q, k = _asked(bounds, W)
            if not math.isfinite(sharpness * (largest := float(q @ k))):
                raise InputError(
                    f"sharpness {sharpness:g} is too large: scores of up to {largest:g} overflow; "
                    f"give at most 1e{math.floor(math.log10(sys.float_info.max / largest))}"
                )
            dq, dk = (seen @ abs(W[f"W_{x}"]) for x in "QK")
            sigma = float(dq @ k + q @ dk + dq @ dk)
            layer.append(margin.leak(sharpness, sigma, model.interface.context - 1))
            astray = min(2.0, 2 * layer[-1] + margin.unevenness(sharpness, sigma)) * (1 + grows)
            values = bounds @ abs(W["W_V"])
            mixed = seen @ abs(W["W_V"]) + astray * values
            added += mixed @ abs(W["W_O"])
            errors += [dq, dk, mixed, np.array(sigma), mixed, mixed @ abs(W["W_O"])]
            between = between + values @ abs(W["W_O"])
        error = (error + added) * (1 + grows)
        errors.append(error)
        seen = read(error, between)
        exact = [
            name
            for made in block.restores
            if all((seen[model.stream[r]] <= off).all() for r, off in made.within.items())
            for name in made.into
        ]
        if (mlp := block.mlp) is not None:
            units = seen @ abs(_array(mlp.W_in)) + share * (1 + abs(_array(mlp.b_in)))
            error = (error + units @ abs(_array(mlp.W_out))) * (1 + grows)
            errors += [units, error]
        for name in exact:
            error[model.stream[name]] = 0.0
        leaks.append(tuple(layer))
    error = error * WIDER
    registers = {name: float(error[model.stream[name]].max()) for name in model.stream}
    logits = read(error, held[-1]) @ abs(_array(model.unembed.W_U))
    if model.unembed.b_U is not None:
        logits = logits + share * abs(_array(model.unembed.b_U))
    widest = math.inf  # with linear heads, whose errors are not followed
    if len(numbers) == len(errors) + 1:
        pairs = zip([*errors, logits], numbers, strict=True)
        widest = max(float(np.max(each / grain)) for each, (_, grain) in pairs) * WIDER
    stream = max(float(each.max()) for each in errors if each.shape == error.shape) * WIDER
    return SoftmaxError(tuple(leaks), registers, float(logits.max()), stream, widest)


def least_sharpness(model: Transformer, error: float) -> float:
    """The smallest sharpness, to one part in a thousand, with logit errors of at most `error`.

    It is not searched below 2^−20.  Raises ValueError for an error that is not above 0.
    """
    error = checks.positive_number("error", error)
    held = _hardmax(model)
    high = low = 2.0**-20
    while not softmax_error(model, high, held).logits <= error:
        low, high = high, 2 * high
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        if softmax_error(model, middle, held).logits <= error:
            high = middle
        else:
            low = middle
    return high


def score_sizes(model: Transformer) -> list[tuple[float, ...]]:
    """Bounds on |scores| of hardmax heads, by layer and head, for all prompts.

    A gap between scores is one thing and their size another: sharpness is measured in gaps, but
    what is compared are numbers of this size, in weights that hold them.
    """
    pairs = zip(model.blocks, _hardmax(model)[0], strict=False)
    return [
        tuple(float(np.dot(*_asked(bounds, W))) for W in _heads(block)) for block, bounds in pairs
    ]


def _asked(bounds: np.ndarray, W: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on queries and keys of a head, from those on the stream."""
    q, k = (bounds @ abs(W[f"W_{x}"]) + abs(W[f"b_{x}"]) for x in "QK")
    return q, k


def register_bounds(model: Transformer) -> list[np.ndarray]:
    """Bounds on |coordinates| of the hardmax stream before each block and at the end."""
    return _hardmax(model)[0]


def stream_grain(model: Transformer) -> float:
    """The power of two of which all numbers of the hardmax stream are multiples."""
    return min(np.min(g) for _, g in _hardmax(model)[1] if np.shape(g) == (model.d_model,))


def exact_in(model: Transformer) -> Exactness:
    """The float formats in which the hardmax forward pass makes no rounding error.

    With ties, whose averages are rounded, it is the scores, the sets of attended tokens and their
    counts that are exact, and frequencies 1/T apart stay apart, which takes two bits more than T.
    """
    _, numbers = _hardmax(model)
    smallest = min(float(np.min(grain)) for _, grain in numbers)
    if any(margin.ties for block in model.blocks for margin in block.margins):
        numbers.append((1.0, 0.25 / model.interface.context))
    # Of the largest whole number of grains; a number that is always 0 has infinite grain.
    with np.errstate(over="ignore"):
        whole = max(float(np.max(sizes / grain)) for sizes, grain in numbers)
    # Every whole number up to 2^p, itself included, has p bits.
    mantissa, exponent = math.frexp(min(whole, sys.float_info.max))
    largest = max(float(np.max(sizes)) for sizes, _ in numbers)
    return Exactness(max(exponent - (mantissa == 0.5), 0), largest, smallest)


def check_format(model: Transformer, dtype: torch.dtype) -> None:
    """Raise ValueError for a format in which partial sums, and so answers, could be wrong.

    It concerns formats other than float64, in which the weights were written: a weight that becomes
    0 there, of a model that was built, and models that say how far apart their logits are
    (`interface.margin`).
    """
    if not dtype.is_floating_point:
        raise InputError(f"{dtype} holds no real numbers: give a floating-point format")
    if dtype in (model.like.dtype, torch.float64):
        return
    if model.interface.margin is None and model.stages and not model.like.is_meta:
        lost = ((W != 0) & (W.to(dtype) == 0) for W in model.parameters())
        if any(bool(each.any()) for each in lost):
            raise InputError(
                f"a weight of {model.name} is 0 in {dtype}, whose least number is "
                f"{torch.finfo(dtype).tiny:.2g}: keep float64, or rescale the inputs"
            )
    if model.interface.margin is None:
        return
    needs = exact_in(model)
    if not needs.fits_in(dtype):
        kind, enough = torch.finfo(dtype), needs.fits_in(torch.float32)
        raise InputError(
            f"{model.name} takes {needs.bits} bits of significand and numbers from {needs.grain:g} "
            f"to {needs.largest:g}, and {kind.dtype} has {significand(dtype)} bits and numbers "
            f"from {kind.smallest_normal:.2g} to {kind.max:.3g}: its answers could be wrong; use "
            f"{'float32' if enough else 'float64'}"
        )


@np.errstate(over="ignore")  # what is too large for a float64 is bounded by infinity
def _hardmax(model: Transformer) -> Hardmax:
    """Bounds on |coordinates| of the hardmax stream before each block and at the end, and all
    numbers of the forward pass.

    What a head adds is an average of what it carries, or by linear scores, which are taken one by
    one as under a strict mask, a sum.  Registers named in `model.at_most` have a bound of their own
    from the construction's proof.
    """

    def capped(bounds: np.ndarray) -> np.ndarray:
        bounds = bounds.copy()
        for name, limit in model.at_most.items():
            bounds[model.stream[name]] = np.minimum(bounds[model.stream[name]], limit)
        return bounds

    tables = [model.embed.W_E, *([model.pos_embed.W_pos] if model.pos_embed is not None else [])]
    grain = np.min([grain_of(_array(table)).min(0) for table in tables], axis=0)
    held = [capped(np.sum([abs(_array(table)).max(0) for table in tables], axis=0))]
    numbers: list[Numbers] = [(held[0], grain)]
    for block in model.blocks:
        before, added = (held[-1], grain), np.zeros(model.d_model)
        for h, W in enumerate(_heads(block)):
            Q, K, V = (_product(before, W[f"W_{x}"], W.get(f"b_{x}")) for x in "QKV")
            scores = Q[0] @ K[0], (Q[1] * K[1]).min()
            mixed = _mixed(model, block, h, scores, V)
            out = _product(mixed, W["W_O"])
            numbers += [Q, K, V, scores, mixed, out]
            added, grain = added + out[0], np.minimum(grain, out[1])
        bounds = held[-1] + added
        numbers.append((bounds, grain))
        if (mlp := block.mlp) is not None:
            hidden = _product((bounds, grain), _array(mlp.W_in), _array(mlp.b_in))
            out = _product(hidden, _array(mlp.W_out), _array(mlp.b_out))
            bounds, grain = bounds + out[0], np.minimum(grain, out[1])
            numbers += [hidden, (bounds, grain)]
        held.append(capped(bounds))
    b_U = model.unembed.b_U
    last = _array(model.unembed.W_U), None if b_U is None else _array(b_U)
    return held, [*numbers, _product((held[-1], grain), *last)]


def _mixed(model: Transformer, block: Block, h: int, scores: Numbers, V: Numbers) -> Numbers:
    """Bounds on what a head sums up: an average of values, or a sum of scores times values."""
    attn = block.attn
    if attn is None or attn.normalise != "linear":
        return V
    tokens = 1 if attn.masks[h] == "own" else model.interface.context or math.inf
    return tokens * attn.scale * scores[0] * V[0], attn.scale * scores[1] * V[1]


def _product(held: Numbers, W: np.ndarray, b: np.ndarray | None = None) -> Numbers:
    """Bounds on the partial sums of H W + b and the powers of two that divide all of them."""
    (sizes, grain), bias = held, np.zeros(W.shape[1]) if b is None else b
    with np.errstate(invalid="ignore"):
        products = np.where(W == 0, np.inf, grain[:, None] * grain_of(W))
    return sizes @ abs(W) + abs(bias), np.minimum(products.min(0, initial=np.inf), grain_of(bias))


def grain_of(values: np.ndarray) -> np.ndarray:
    """The largest power of two that divides each float; infinity divides 0."""
    mantissa, exponent = np.frexp(values)
    whole = (mantissa * 2.0**53).astype(np.int64)
    lowest = (whole & -whole).astype(np.float64)
    return np.where(whole == 0, np.inf, np.ldexp(lowest, exponent - 53))


def _heads(block: Block) -> list[dict[str, np.ndarray]]:
    """The weights of each head, by name."""
    attn = block.attn
    if attn is None:
        return []
    names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")
    heads = range(attn.n_heads)
    return [{name: _array(getattr(attn, name)[h]) for name in names} for h in heads]


def _array(weights: Tensor) -> np.ndarray:
    return weights.detach().double().cpu().numpy()
