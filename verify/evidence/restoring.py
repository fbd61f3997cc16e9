"""Outputs of MLPs on all possible inputs, also inexact inputs, and the sufficient sharpness.

Inputs are inexact after softmax heads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product

import numpy as np

from constructions.blocks import MLP
from constructions.margins import Restores
from constructions.stream import Stream
from constructions.transformer import Transformer
from verify.evidence.gaps import exact_product
from verify.evidence.softmax import enclosed_error
from verify.finding import Finding, Verdict, at_most

Values = Mapping[str, np.ndarray]

SEARCHED = 1.001  # the sharpness that the search finds is at most this factor times the smallest
ENCLOSED = 2.0**-64  # a bound on the distance of softmax from hardmax logits, by balls of 192 bits


def makes(
    id: str, name: str, model: Transformer, layers: Mapping[int, tuple[Values, Values]]
) -> Finding:
    """The finding that the MLPs of the layers in `layers` map every state as the proof states.

    For each layer, `layers` contains the values, (states, width), of the registers that the MLP
    reads, and the values after the MLP of the registers that the MLP changes. Registers that the
    layer restores must have the same values for all combinations of allowed errors. Values with
    errors lie between the smallest and the largest value, since softmax averages values.
    """
    wrong, tried, exact, forgiving = 0, 0, True, False
    for layer, (before, wanted) in layers.items():
        block, stream = model.blocks[layer - 1], model.stream
        assert block.mlp is not None
        H = _rows(stream, before)
        stray = [r for r in stream if r not in before and block.mlp.W_in[stream[r]].any()]
        if stray:
            found = f"the MLP of layer {layer} reads register {stray[0]}"
            return Finding(
                id, name, "proved", found, 0, Verdict.FAILS, found, "registers that are listed"
            )
        after, alike = after_mlp(block.mlp, H)
        right = _rows(stream, {**before, **wanted})
        bad = np.asarray((after != right).any(axis=1))
        exact = exact and alike
        for made in block.restores:
            traced, alike = traces(block.mlp, stream, H, made)
            bad, exact, forgiving = bad | traced, exact and alike, True
        wrong, tried = wrong + int(bad.sum()), tried + len(H)
    also = ", without or with allowed errors in the registers" if forgiving else ""
    return Finding(
        id,
        name,
        "proved" if exact else "float",
        wrong,
        0,
        Verdict.of(wrong == 0) if tried and exact else Verdict.UNDECIDED,
        f"{wrong} of {tried} inputs give a wrong output{also}",
        "none",
    )


def restored(id: str, name: str, model: Transformer, layer: int, states: Values) -> Finding:
    """The finding that the MLP of layer `layer` removes all allowed errors of the restored
    registers.

    `states` contains the values of the registers that the MLP reads, (states, width).
    """
    block, H = model.blocks[layer - 1], _rows(model.stream, states)
    assert block.mlp is not None
    bad, exact = np.zeros(len(H), dtype=bool), True
    for made in block.restores:
        traced, alike = traces(block.mlp, model.stream, H, made)
        bad, exact = bad | traced, exact and alike
    wrong = int(bad.sum())
    return Finding(
        id,
        name,
        "proved" if exact else "float",
        wrong,
        0,
        Verdict.of(wrong == 0) if exact and block.restores else Verdict.UNDECIDED,
        f"errors change the output for {wrong} of {len(H)} inputs",
        "none",
    )


def _rows(stream: Stream, values: Values) -> np.ndarray:
    H = np.zeros((max(map(len, values.values())), stream.d_model))
    for register, held in values.items():
        H[:, stream[register]] = np.reshape(held, (len(H), -1))
    return H


def _tensors(mlp: MLP) -> tuple[np.ndarray, ...]:
    return tuple(W.detach().numpy() for W in (mlp.W_in, mlp.b_in, mlp.W_out, mlp.b_out))


def after_mlp(mlp: MLP, H: np.ndarray) -> tuple[np.ndarray, bool]:
    """The stream after an MLP in float64, and whether its computation is exact."""
    W_in, b_in, W_out, b_out = _tensors(mlp)
    ones = np.ones((len(H), 1))
    read, first = exact_product(np.hstack([H, ones]), np.vstack([W_in, b_in]))
    parts = np.hstack([H, np.maximum(read, 0.0), ones])
    after, second = exact_product(parts, np.vstack([np.eye(len(W_in)), W_out, b_out]))
    return after, first and second


def traces(mlp: MLP, stream: Stream, H: np.ndarray, made: Restores) -> tuple[np.ndarray, bool]:
    """Whether errors that `made` allows can change the registers `made.into`, for each state.

    The second result is whether the computation is exact.

    The allowed errors form a box, over which the input of each hidden neuron has a smallest and a
    largest value. If no neuron that writes to `made.into` has an input that changes sign in the
    box, the output is linear in the errors. In this case the output is constant if all errors have
    the coefficient 0.
    """
    W_in, b_in, W_out, _ = _tensors(mlp)
    into = np.concatenate([np.r_[stream[name]] for name in made.into])
    units = W_out[:, into].any(axis=1)
    W_in, b_in, W_out = W_in[:, units], b_in[units], W_out[units][:, into]
    unknown = [r for r in stream if r not in made.within and W_in[stream[r]].any()]
    if unknown:  # the error of this register is not bounded
        return np.ones(len(H), dtype=bool), True
    off = np.zeros(H.shape[1])
    for name, within in made.within.items():
        off[stream[name]] = within
    low = np.maximum(-off, H.min(axis=0) - H)
    high = np.minimum(off, H.max(axis=0) - H)
    ones = np.ones((len(H), 1))
    up, down = np.maximum(W_in, 0.0), np.minimum(W_in, 0.0)
    bias = np.vstack([W_in, up, down, b_in])
    least, first = exact_product(np.hstack([H, low, high, ones]), bias)
    most, second = exact_product(np.hstack([H, high, low, ones]), bias)
    on, exact = least >= 0, first and second
    bad = np.asarray((~on & (most > 0)).any(axis=1))
    moved = np.flatnonzero(off)
    kept = np.eye(len(off))[moved][:, into]
    patterns, index = np.unique(on, axis=0, return_inverse=True)
    for number, pattern in enumerate(patterns):
        added, alike = exact_product(W_in[moved] * pattern, W_out)
        exact = exact and alike
        if (added + kept).any():
            bad |= index.ravel() == number
    return bad, exact


def sharpness_at_two_lengths(
    id: str, build: Callable[[int], Transformer], length: int, bound: float, wanted: str
) -> Finding:
    """The finding that the sufficient sharpness is at most a bound that does not depend on length.

    The sufficient sharpness is the smallest at which the error bounds for all prompts ensure right
    answers. The sufficient sharpness is computed at `length` and at 8·`length`.
    """
    found = {T: build(T).least_sharpness() for T in (length, 8 * length)}
    return Finding(
        id,
        "smallest inverse temperature β of softmax attention for which a search finds that the "
        "answers are those of hardmax attention, for words of length T",
        "float",
        {f"T = {T}": beta for T, beta in found.items()},
        bound,
        Verdict.of(max(found.values()) <= bound * SEARCHED),
        ", ".join(f"β = {beta:.5g} for T = {T}" for T, beta in found.items()),
        f"for both T, at most {bound:.5g}{f' = {wanted}' * bool(wanted)}, plus 0.1 % because the "
        "search is inexact",
    )


def same_as_hardmax(id: str, model: Transformer, rows: np.ndarray) -> Finding:
    """The finding that softmax logits at the smallest sharpness equal hardmax logits, in balls."""
    beta = model.least_sharpness()
    leak = max(max(layer, default=0.0) for layer in model.softmax_error(beta).leaks)
    real = enclosed_error(model, beta, rows)
    gaps = [m.gap for block in model.blocks for m in block.margins if m.gap < math.inf]
    attends = "all visible tokens have equal scores, so no token is wrong"
    if gaps:
        weight = f"at most {leak:.2g}" if leak else "below 1e-300"
        attends = f"the attention weight on wrong tokens is {weight}"
    scale = f" and score gaps of at least {min(gaps):.3g}" if gaps else ""
    return at_most(
        id,
        f"largest distance of softmax logits, at the inverse temperature β = {beta:.3g}{scale}, "
        f"from the logits of average-hard attention ({len(rows)} words of {rows.shape[1]} tokens)",
        "enclosure",
        real,
        ENCLOSED,
        words=f"at most {real[1]:.2g}; {attends}",
        wanted="a distance of at most 2^−64",
    )


def all_maps_of(n: int) -> np.ndarray:
    """All maps of the set of n states to itself, (nⁿ, n)."""
    return np.array(list(product(range(n), repeat=n)), dtype=np.float64)


def leak_bound(graded: float) -> float:
    """An inverse temperature β at which 4q/(1 − q)² is at most `graded` < 1, where q = e^{−β}."""
    # (1 − q)² ≥ 1 − 2q, so q = graded/(4 + 2·graded) is small enough.
    return math.log((4 + 2 * graded) / graded)
