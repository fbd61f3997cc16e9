"""The numbers of a hardmax forward pass: their sizes, and the float dtypes in which it is exact.

Both follow from the weights, for all prompts: bounds on the coordinates of the stream, and powers
of two that divide all numbers.

exact_in         the number of bits of significand with which every partial sum of the hardmax
                 forward pass is exact: all numbers are integer multiples of a power of two, below a
                 bound
check_format     raises an error if a model whose answers are an argmax of logits is converted to a
                 dtype with fewer bits
check_squares    raises an error if a dtype rounds the squares of positions
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.blocks import Block, Stack, check_own_heads
from theory.kinds import InputError

Bound = float | Fraction
Numbers = tuple[Any, Any]  # upper bounds on sizes, and the powers of two that divide the numbers
SIGNIFICAND = 2**52 - 1  # the bits of a float64 that store its significand
Hardmax = tuple[list[np.ndarray], list[Numbers]]  # see `hardmax_numbers`


@dataclass(frozen=True)
class Exactness:
    """The requirements of exact arithmetic on a float dtype.

    The dtype needs a significand of at least `bits` bits and a largest number of at least
    `largest`. All numbers of the computation are multiples of `quantum`, a power of two, which must
    be a normal number of the dtype.
    """

    bits: int
    largest: float
    quantum: float

    def fits(self, significand: int, largest: Bound, smallest: Bound) -> bool:
        """Whether a dtype with this significand and this range meets the requirements.

        `largest` and `smallest` are the largest and the smallest normal number of the dtype.
        """
        return self.bits <= significand and self.largest <= largest and self.quantum >= smallest

    def fits_in(self, dtype: torch.dtype) -> bool:
        """Whether this dtype of torch meets the requirements."""
        kind = torch.finfo(dtype)
        return self.fits(significand(dtype), kind.max, kind.smallest_normal)


def significand(dtype: torch.dtype) -> int:
    """The number of bits of the significand of a float dtype of torch, including the hidden bit."""
    return 1 - round(math.log2(torch.finfo(dtype).eps))


def stream_quantum(model: Stack, hardmax: Hardmax | None = None) -> float:
    """The largest power of two that divides every number in the stream of the hardmax model."""
    _, numbers = hardmax_numbers(model) if hardmax is None else hardmax
    return min(np.min(quantum) for _, quantum in numbers if np.shape(quantum) == (model.d_model,))


def stream_square(model: Stack, hardmax: Hardmax | None = None) -> float:
    """An upper bound on ‖H‖², where H is the stream of the hardmax model, also within a layer.

    Within a layer means between the layer's heads and its MLP, where the bounds `model.at_most` on
    registers do not apply.
    """
    _, numbers = hardmax_numbers(model) if hardmax is None else hardmax
    return max(float(sizes @ sizes) for sizes, _ in numbers if np.shape(sizes) == (model.d_model,))


def exact_in(model: Stack, hardmax: Hardmax | None = None) -> Exactness:
    """The requirements on a float dtype under which the hardmax forward pass has no rounding error.

    `hardmax` is the result of `hardmax_numbers`, if known. If several tokens have the largest
    score, their values are averaged, and the average is rounded. The scores, the sets of attended
    tokens and the numbers of attended tokens are then still exact. If T is the largest number of
    tokens, frequencies that differ by 1/T stay different after rounding if the significand has two
    bits more than the integer T.
    """
    _, numbers = hardmax_numbers(model) if hardmax is None else hardmax
    smallest = min(float(np.min(quantum)) for _, quantum in numbers)
    if any(margin.ties for block in model.blocks for margin in block.margins):
        numbers = [*numbers, model.interface.averages or (1.0, 0.25 / model.interface.context)]
    # The largest number of quanta; a number that is always 0 has an infinite quantum.
    with np.errstate(over="ignore"):
        whole = max(float(np.max(sizes / quantum)) for sizes, quantum in numbers)
    # All integers up to 2^p, inclusive, are exact in p bits.
    mantissa, exponent = math.frexp(min(whole, sys.float_info.max))
    largest = max(float(np.max(sizes)) for sizes, _ in numbers)
    return Exactness(max(exponent - (mantissa == 0.5), 0), largest, smallest)


def check_format(model: Stack, dtype: torch.dtype) -> None:
    """Raises ValueError for a dtype in which rounding of partial sums could make answers wrong.

    For models with a margin between logits (`interface.margin`), the dtype must satisfy `exact_in`.
    For other constructions, no non-zero weight may become 0; if answers are labels, as those of
    `parity_bounded`, dtypes of 16 bits raise ValueError, and float32 is accepted without proof.
    float64, in which the weights were written, is always accepted.
    """
    if not dtype.is_floating_point or dtype.itemsize < 2:  # torch adds no numbers of 8 bits
        raise InputError(
            f"{dtype} is not a floating-point dtype of at least 16 bits: give a dtype such as "
            "torch.float32"
        )
    if dtype in (model.like.dtype, torch.float64):
        return
    if model.interface.margin is None and model.call is not None and not model.like.is_meta:
        lost = ((W != 0) & (W.to(dtype) == 0) for W in model.parameters())
        if any(bool(each.any()) for each in lost):
            raise InputError(
                f"a non-zero weight of {model.name} becomes 0 in {dtype}, whose smallest "
                f"normal number is {torch.finfo(dtype).tiny:.2g}: keep the model in float64"
            )
        if getattr(model.interface, "labels", None) and dtype.itemsize < 4:
            raise InputError(
                f"in {dtype} the answers of {model.name} could be wrong, because there is no bound "
                "on the difference of its largest logits: use float32 or float64"
            )
    if model.interface.margin is None:
        return
    needs = exact_in(model)
    if not needs.fits_in(dtype):
        kind, enough = torch.finfo(dtype), needs.fits_in(torch.float32)
        raise InputError(
            f"in {kind.dtype} the answers of {model.name} could be wrong: the model needs "
            f"{needs.bits} bits of significand and numbers from {needs.quantum:g} to "
            f"{needs.largest:g}, but this dtype has {significand(dtype)} bits and numbers "
            f"from {kind.smallest_normal:.2g} to {kind.max:.3g}: use "
            f"{('float32' if enough else 'float64')}"
        )


@np.errstate(over="ignore")  # numbers too large for float64 are bounded by infinity
def hardmax_numbers(model: Stack) -> Hardmax:
    """Bounds on the numbers of the hardmax forward pass.

    The first result bounds the absolute values of the coordinates of the stream before each block
    and at the end. The second result bounds all numbers of the pass, and contains powers of two
    that divide these numbers. The output of a hardmax head is an average of values; the output of a
    linear head is a sum of scores times values. Registers named in `model.at_most` have their bound
    from the construction's proof. Raises ValueError for ReLU heads: ReLU heads divide by the number
    of tokens, so their outputs are not multiples of a power of two.
    """
    check_own_heads(model)
    for number, block in enumerate(model.blocks, start=1):
        if block.attn is not None and block.attn.normalise == "relu":
            raise InputError(
                f"layer {number} of {model.name} has ReLU heads, which divide sums by the "
                "number of tokens and are therefore exact in no dtype: give a model without "
                "ReLU heads"
            )

    def capped(bounds: np.ndarray) -> np.ndarray:
        bounds = bounds.copy()
        for name, limit in model.at_most.items():
            bounds[model.stream[name]] = np.minimum(bounds[model.stream[name]], limit)
        return bounds

    tables = [model.embed.W_E, *([model.pos_embed.W_pos] if model.pos_embed is not None else [])]
    quantum = np.min([quantum_of(as_array(table)).min(0) for table in tables], axis=0)
    held = [capped(np.sum([abs(as_array(table)).max(0) for table in tables], axis=0))]
    numbers: list[Numbers] = [(held[0], quantum)]
    for block in model.blocks:
        before, added = (held[-1], quantum), np.zeros(model.d_model)
        for h, W in enumerate(heads_of(block)):
            Q, K, V = (_product(before, W[f"W_{x}"], W.get(f"b_{x}")) for x in "QKV")
            scores = Q[0] @ K[0], (Q[1] * K[1]).min()
            mixed = _mixed(model, block, h, scores, V)
            out = _product(mixed, W["W_O"])
            numbers += [Q, K, V, scores, mixed, out]
            added, quantum = added + out[0], np.minimum(quantum, out[1])
        bounds = held[-1] + added
        numbers.append((bounds, quantum))
        if (mlp := block.mlp) is not None:
            hidden = _product((bounds, quantum), as_array(mlp.W_in), as_array(mlp.b_in))
            out = _product(hidden, as_array(mlp.W_out), as_array(mlp.b_out))
            bounds, quantum = bounds + out[0], np.minimum(quantum, out[1])
            numbers += [hidden, (bounds, quantum)]
        held.append(capped(bounds))
    b_U = model.unembed.b_U
    last = as_array(model.unembed.W_U), None if b_U is None else as_array(b_U)
    return held, [*numbers, _product((held[-1], quantum), *last)]


def _mixed(model: Stack, block: Block, h: int, scores: Numbers, V: Numbers) -> Numbers:
    """Bounds on the output of a head before W_O: an average of values, or Σ score·value."""
    attn = block.attn
    if attn is None or attn.normalise != "linear":
        return V
    tokens = 1 if attn.masks[h] == "diagonal" else model.interface.context or math.inf
    return tokens * attn.scale * scores[0] * V[0], attn.scale * scores[1] * V[1]


def _product(held: Numbers, W: np.ndarray, b: np.ndarray | None = None) -> Numbers:
    """Bounds on the partial sums of H W + b and the powers of two that divide all of them."""
    (sizes, quantum), bias = held, np.zeros(W.shape[1]) if b is None else b
    with np.errstate(invalid="ignore"):
        products = np.where(W == 0, np.inf, quantum[:, None] * quantum_of(W))
    return sizes @ abs(W) + abs(bias), np.minimum(products.min(0, initial=np.inf), quantum_of(bias))


def quantum_of(values: np.ndarray) -> np.ndarray:
    """The largest power of two that divides each float of an array; it is infinity for 0."""
    sizes = abs(values.astype(np.float64, copy=False))
    bits = sizes.view(np.int64)
    found = bits - 1
    found &= bits  # without the lowest bit of the significand that is 1
    found = np.subtract(sizes, found.view(np.float64), out=found.view(np.float64))
    np.copyto(found, sizes, where=bits & SIGNIFICAND == 0)  # a power of two
    found[sizes == 0] = np.inf
    return found


def heads_of(block: Block) -> list[dict[str, np.ndarray]]:
    """The weights of each head, by name."""
    attn = block.attn
    if attn is None:
        return []
    names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")
    heads = range(attn.n_heads)
    return [{name: as_array(getattr(attn, name)[h]) for name in names} for h in heads]


def as_array(weights: Tensor) -> np.ndarray:
    return weights.detach().double().cpu().numpy()


def check_squares(last: int, dtype: torch.dtype) -> None:
    """Raises ValueError if a dtype rounds scores of positions up to `last`.

    The scores 2aj − j² of positions a and j are at most last² for a ≥ 0, and 2aj is even. A head
    may add ±2 to them. All these integers are exact in dtypes in which last² + 2 is.
    """
    exact = 2 / torch.finfo(dtype).eps  # all integers up to this number
    if last**2 + 2 > exact:
        raise InputError(
            f"the last position is {last}, and {dtype} is exact for squares of positions up to "
            f"{math.isqrt(int(exact) - 2)}: use shorter inputs, or a wider dtype, for example "
            "model.double()"
        )
