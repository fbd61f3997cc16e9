"""Bounds with explicit constants on the error of softmax attention in place of hardmax.

A construction is exact with hardmax attention.  By its proof, it declares for each head a lower
bound on the score gap over all prompts (`block.margins`), and bounds on registers
(`model.at_most`).  The error bound follows from these and the weights:

softmax_error    hardmax replaced by softmax at sharpness β.  If the scores of a head are off by at
                 most σ, the weight that leaks to wrong tokens is at most

                     x/(1 + x),    x = e^{2βσ} · min(others·q, 4q/(1 − q)²),    q = e^{−β·gap}.

                 The second term holds if the scores are graded: at most 4m tokens have scores at
                 least m, and less than m + 1, gaps below the largest (Σ_m 4m q^m).
                 The relative change of the weight of a tied token is at most e^{2βσ} − 1.  Errors
                 of the registers are propagated through |W_V|, |W_O| and |W_U| and, in the next
                 layer, into σ; registers that an MLP restores (`block.restores`) are exact again,
                 up to the rounding of its sums, so that errors of different layers do not add up.

`exactness.py` determines the float dtypes in which a hardmax pass is exact.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from constructions.blocks import MLP, Stack
from constructions.exactness import Hardmax, as_array, hardmax_numbers, heads_of
from theory.kinds import InputError, Positive, checked

# The bounds are sums of products of non-negative numbers, evaluated in float64 by thousands of
# operations without cancellation, each with relative error 2^−53: a factor 1 + 10⁻⁹ covers these.
WIDER = 1 + 1e-9


@dataclass(frozen=True)
class SoftmaxError:
    """Bounds on the error of softmax attention at one sharpness, compared with hardmax.

    The bounds are on the weights that leak to wrong tokens, by layer and head, and on the errors of
    registers and logits.

    `stream` is a bound on the error of every register. `in_quanta` is a bound on the error of every
    number, in multiples of the quantum that divides this number (`exact_in`).
    """

    leaks: tuple[tuple[float, ...], ...]
    registers: Mapping[str, float]
    logits: float
    stream: float
    in_quanta: float


@checked
@np.errstate(over="ignore", invalid="ignore")  # of infinite errors
def softmax_error(
    model: Stack,
    sharpness: Positive,
    hardmax: Hardmax | None = None,
    *,
    relative: float = 0.0,
    constant: float = 0.0,
    rounding: float = 0.0,
    stored: Callable[[Any, int], Any] = lambda error, terms: error,
) -> SoftmaxError:
    """Bounds on the distance from softmax attention at this sharpness to hardmax, for all prompts.

    `hardmax` is the result of `hardmax_numbers`, if known. For stock models, every linear read v
    may have an error of up to `relative`·(|v| + `constant`). Registers that an MLP restores have
    the errors of its sums (`_of_sums`), where a term has the relative error `rounding`.
    `stored(error, terms)` bounds the sum of the errors of this number of rounded numbers, from a
    bound on the sum before rounding.
    Raises ValueError for a sharpness at which scores overflow.
    """
    _check_followed(model)
    held, numbers = hardmax_numbers(model) if hardmax is None else hardmax
    error = np.zeros(model.d_model)

    def read(error: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return stored(error + relative * (sizes + error + constant) if relative else error, 1)

    leaks, errors = [], [error]  # in the order of `numbers`
    for block, bounds in zip(model.blocks, held, strict=False):
        added, between = np.zeros(model.d_model), bounds
        layer, seen = [], read(error, bounds)
        for W, margin in zip(heads_of(block), block.margins, strict=False):
            # |⟨q + δ, k + ε⟩ − ⟨q, k⟩| ≤ |δ||k| + |q||ε| + |δ||ε|, coordinate by coordinate.
            q, k = _queries_keys(bounds, W)
            if not math.isfinite(sharpness * (largest := float(q @ k))):
                raise InputError(
                    f"sharpness {sharpness:g} is too large: scores of up to {largest:g} overflow: "
                    "give a sharpness of at most "
                    f"1e{math.floor(math.log10(sys.float_info.max / largest))}"
                )
            dq, dk, dv = (stored(seen @ abs(W[f"W_{x}"]), 1) for x in "QKV")
            sigma = float(stored(dq @ k + q @ dk + dq @ dk, 1))
            others = model.interface.context - 1
            layer.append(margin.leak(sharpness, sigma, others))
            moved = min(2.0, 2 * layer[-1] + margin.tie_imbalance(sharpness, sigma))
            values = bounds @ abs(W["W_V"])
            mixed = stored(dv + stored(moved, others + 1) * values, 1)
            out = stored(mixed @ abs(W["W_O"]), 1)
            added += out
            errors += [dq, dk, dv, np.array(sigma), mixed, out]
            between = between + values @ abs(W["W_O"])
        error = stored(error + added, 1)
        errors.append(error)
        seen = read(error, between)
        restored = [
            name
            for made in block.restores
            if all((seen[model.stream[r]] <= off).all() for r, off in made.within.items())
            for name in made.into
        ]
        if (mlp := block.mlp) is not None:
            units = seen @ abs(as_array(mlp.W_in)) + relative * (1 + abs(as_array(mlp.b_in)))
            units = stored(units, 1)
            rounded = np.zeros(model.d_model)
            if rounding:  # otherwise infinite bounds would give 0·∞
                rounded = rounding * _of_sums(mlp, between + error, constant)
            error = stored(error + stored(units @ abs(as_array(mlp.W_out)), 1), 1)
            errors += [units, error]
            for name in restored:
                error[model.stream[name]] = rounded[model.stream[name]]
        leaks.append(tuple(layer))
    error, errors = _bounds(error * WIDER), [*map(_bounds, errors)]
    registers = {name: float(error[model.stream[name]].max()) for name in model.stream}
    logits = read(error, held[-1]) @ abs(as_array(model.unembed.W_U))
    if model.unembed.b_U is not None:
        logits = logits + relative * abs(as_array(model.unembed.b_U))
    logits = _bounds(stored(logits, 1))
    widest = math.inf  # with linear heads, whose errors are not propagated
    if len(numbers) == len(errors) + 1:
        pairs = zip([*errors, logits], numbers, strict=True)
        widest = max(float(np.max(each / quantum)) for each, (_, quantum) in pairs) * WIDER
    stream = max(float(each.max()) for each in errors if each.shape == error.shape) * WIDER
    return SoftmaxError(tuple(leaks), registers, float(logits.max()), stream, widest)


def _of_sums(mlp: MLP, sizes: np.ndarray, constant: float) -> np.ndarray:
    """Bounds on the errors of the outputs of an MLP by its own sums, in units of u.

    `sizes` are bounds on the numbers that the MLP reads, each as half the difference of two numbers
    with `constant` added. So a hidden neuron with t weights is a sum of 2t products and a bias, of
    which the activation is computed with two roundings; its error is at most (2t + 3)u times the
    sum of the absolute values. The error of an output, a sum of t products and a bias, is at most
    (t + 1)u times this sum. Zeros are added without error.
    """
    W_in, W_out = abs(as_array(mlp.W_in)), abs(as_array(mlp.W_out))
    terms = (sizes + constant) @ W_in + 1 + abs(as_array(mlp.b_in))
    hidden = (2 * (W_in > 0).sum(0) + 3) * terms
    output = ((W_out > 0).sum(0) + 1) * (terms @ W_out + abs(as_array(mlp.b_out)))
    return np.asarray(hidden @ W_out + output)


def _bounds(errors: np.ndarray) -> np.ndarray:
    """Bounds on errors: infinite also where an infinite error was multiplied by 0."""
    return np.asarray(np.nan_to_num(errors, nan=np.inf, posinf=np.inf))


def followed_numbers(model: Stack) -> Hardmax:
    """The result of `hardmax_numbers`, for a model all of whose errors are bounded here.

    Raises ValueError for another model.
    """
    _check_followed(model)
    return hardmax_numbers(model)


def _check_followed(model: Stack) -> None:
    """Raises ValueError for a layer whose errors are not bounded here."""
    compared = False
    for number, block in enumerate(model.blocks, start=1):
        if (attn := block.attn) is None:
            continue
        where = f"layer {number} of {model.name}"
        if attn.normalise not in ("softmax", "hardmax"):
            if compared:
                raise InputError(
                    f"{where} has {attn.normalise} heads after softmax or hardmax heads, and the "
                    "error bound is not defined for this order: give a model with only hardmax "
                    "heads"
                )
            continue
        compared, unknown = True, ""
        if len(block.margins) != attn.n_heads:
            unknown = "without proved gaps"
        elif model.interface.context is None:
            unknown = "of any number of tokens"
        if unknown:
            raise InputError(
                f"{where} compares scores {unknown}, so the distance from softmax to hardmax "
                "has no bound: give a model over tokens in which all score gaps are proved"
            )


@checked
@np.errstate(invalid="ignore")  # of infinite bounds on the numbers of linear heads
def least_sharpness(model: Stack, error: Positive, hardmax: Hardmax | None = None) -> float:
    """The smallest sharpness, up to 0.1 %, at which the errors of all logits are at most `error`.

    The result is at least 2^−20. `hardmax` is the result of `hardmax_numbers`, if known. Raises
    ValueError in the cases in which `softmax_error` does.
    """
    held = followed_numbers(model) if hardmax is None else hardmax
    high = low = 2.0**-20
    factor = 2.0
    while not softmax_error(model, high, held).logits <= error:
        low, high, factor = high, factor * high, min(factor**2, 2.0**16)
    while high > 2 * low:  # both are powers of two
        middle = 2.0 ** round((math.log2(low) + math.log2(high)) / 2)
        if softmax_error(model, middle, held).logits <= error:
            high = middle
        else:
            low = middle
    while high - low > 1e-3 * high:
        middle = (low + high) / 2
        if softmax_error(model, middle, held).logits <= error:
            high = middle
        else:
            low = middle
    return high


def score_sizes(model: Stack, hardmax: Hardmax | None = None) -> list[tuple[float, ...]]:
    """Upper bounds on the absolute values of hardmax scores, by layer and head, for all prompts.

    The sharpness needed depends on the gaps between scores; the precision needed depends on the
    sizes of scores.  `hardmax` is the result of `hardmax_numbers`, if known.
    """
    held, _ = hardmax_numbers(model) if hardmax is None else hardmax
    pairs = zip(model.blocks, held, strict=False)
    return [
        tuple(float(np.dot(*_queries_keys(bounds, W))) for W in heads_of(block))
        for block, bounds in pairs
    ]


def _queries_keys(bounds: np.ndarray, W: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on the queries and keys of a head, from bounds on the stream."""
    q, k = (bounds @ abs(W[f"W_{x}"]) + abs(W[f"b_{x}"]) for x in "QK")
    return q, k
