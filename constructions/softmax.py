"""What softmax attention does to a construction, as bounds with explicit constants.

A construction is exact with hardmax attention.  It declares, with each head, the gap by which the
right token's score exceeds all others in every prompt (`block.margins`) and, by its proof, bounds
on registers (`model.at_most`); the bound follows from its weights:

softmax_error    hardmax replaced by softmax at sharpness β.  If the scores of a head are off by at
                 most σ, the weight that leaks to wrong tokens is at most

                     e^{2βσ} · min(others·q, 4q/(1 − q)²),      q = e^{−β·gap},

                 and at most 1; the second if the scores are graded: at most 4m tokens are at
                 least m, and less than m + 1, gaps below the right one (Σ_m 4m q^m).  Tokens that
                 share the weight get uneven shares, by e^{2βσ} − 1.  Errors of the registers then
                 pass through |W_V|, |W_O| and |W_U| and, in the next layer, into σ; but what an MLP
                 restores (`block.restores`) is exact again, so that they do not add up.

Which float formats hold the numbers of a hardmax pass is said by `exactness.py`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from constructions.blocks import Stack
from constructions.exactness import Hardmax, as_array, hardmax_numbers, heads_of
from theory.kinds import InputError, Positive, checked

# The bounds are sums of products of numbers that are not negative, evaluated in float64: thousands
# of operations without cancellation, each off by 2^−53, which a part in 10⁹ more than covers.
WIDER = 1 + 1e-9


@dataclass(frozen=True)
class SoftmaxError:
    """Bounds for one sharpness: leaked weights by layer and head, errors of registers and logits.

    `stream` bounds the error of any register, `in_quanta` that of any number in multiples of its
    quantum (`exact_in`).
    """

    leaks: tuple[tuple[float, ...], ...]
    registers: Mapping[str, float]
    logits: float
    stream: float
    in_quanta: float


@checked
@np.errstate(invalid="ignore")  # of infinite errors
def softmax_error(
    model: Stack,
    sharpness: Positive,
    hardmax: Hardmax | None = None,
    *,
    share: float = 0.0,
    beside: float = 0.0,
    grows: float = 0.0,
) -> SoftmaxError:
    """How far softmax attention at this sharpness is from hardmax, for all prompts.

    `hardmax` is what `hardmax_numbers` says, if known.  What is read may be off by `share` of
    itself and of `beside`, and errors grow by the share `grows`, as in stock models.  ValueError
    for a sharpness at which scores overflow.
    """
    _check_followed(model)
    held, numbers = hardmax_numbers(model) if hardmax is None else hardmax
    error = np.zeros(model.d_model)

    def read(error: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        return (1 + grows) * (error + share * (sizes + error + beside) if share else error)

    leaks, errors = [], [error]  # in the order of `numbers`
    for block, bounds in zip(model.blocks, held, strict=False):
        added, between = np.zeros(model.d_model), bounds
        layer, seen = [], read(error, bounds)
        for W, margin in zip(heads_of(block), block.margins, strict=False):
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
            units = seen @ abs(as_array(mlp.W_in)) + share * (1 + abs(as_array(mlp.b_in)))
            error = (error + units @ abs(as_array(mlp.W_out))) * (1 + grows)
            errors += [units, error]
        for name in exact:
            error[model.stream[name]] = 0.0
        leaks.append(tuple(layer))
    error = error * WIDER
    registers = {name: float(error[model.stream[name]].max()) for name in model.stream}
    logits = read(error, held[-1]) @ abs(as_array(model.unembed.W_U))
    if model.unembed.b_U is not None:
        logits = logits + share * abs(as_array(model.unembed.b_U))
    widest = math.inf  # with linear heads, whose errors are not followed
    if len(numbers) == len(errors) + 1:
        pairs = zip([*errors, logits], numbers, strict=True)
        widest = max(float(np.max(each / quantum)) for each, (_, quantum) in pairs) * WIDER
    stream = max(float(each.max()) for each in errors if each.shape == error.shape) * WIDER
    return SoftmaxError(tuple(leaks), registers, float(logits.max()), stream, widest)


def _check_followed(model: Stack) -> None:
    """Raise ValueError for a layer whose errors have no bound here."""
    compared = False
    for number, block in enumerate(model.blocks, start=1):
        if (attn := block.attn) is None:
            continue
        where = f"layer {number} of {model.name}"
        if attn.normalise not in ("softmax", "hardmax"):
            if compared:
                raise InputError(
                    f"{where} has {attn.normalise} heads behind a layer that compares scores, and "
                    "no errors are followed through those: give a model of hardmax heads alone"
                )
            continue
        compared, unknown = True, ""
        if len(block.margins) != attn.n_heads:
            unknown = "for whose gaps nothing is proved"
        elif model.interface.context is None:
            unknown = "of any number of tokens"
        if unknown:
            raise InputError(
                f"{where} compares scores {unknown}, so softmax may be any distance from hardmax: "
                "give a model over tokens"
            )


@checked
def least_sharpness(model: Stack, error: Positive) -> float:
    """The smallest sharpness, to one part in a thousand, with logit errors of at most `error`.

    It is not searched below 2^−20.  Raises ValueError as `softmax_error`.
    """
    _check_followed(model)
    held = hardmax_numbers(model)
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


def score_sizes(model: Stack, hardmax: Hardmax | None = None) -> list[tuple[float, ...]]:
    """Bounds on |scores| of hardmax heads, by layer and head, for all prompts.

    A gap between scores is one thing and their size another: sharpness is measured in gaps, but
    what is compared are numbers of this size, in weights that hold them.  `hardmax` is what
    `hardmax_numbers` says, if known.
    """
    held, _ = hardmax_numbers(model) if hardmax is None else hardmax
    pairs = zip(model.blocks, held, strict=False)
    return [
        tuple(float(np.dot(*_asked(bounds, W))) for W in heads_of(block)) for block, bounds in pairs
    ]


def _asked(bounds: np.ndarray, W: Mapping[str, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """Bounds on queries and keys of a head, from those on the stream."""
    q, k = (bounds @ abs(W[f"W_{x}"]) + abs(W[f"b_{x}"]) for x in "QK")
    return q, k
