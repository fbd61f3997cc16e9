"""MLPs that restore what softmax leaves inexact: that they do, and what that says of sharpness."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from itertools import product
from typing import TYPE_CHECKING

import numpy as np

from verify.evidence.gaps import exact_product
from verify.evidence.softmax import enclosed_error
from verify.finding import Finding, Verdict, at_most

if TYPE_CHECKING:
    from constructions.margins import Restores
    from constructions.transformer import Transformer

SEARCHED = 1.001  # how far above the least the sharpness that is found may be
ENCLOSED = 2.0**-64  # softmax and hardmax logits are one number as far as balls of 192 bits say


def restored(
    id: str,
    name: str,
    model: Transformer,
    layer: int,
    states: Mapping[str, np.ndarray],
    *,
    only: Restores | None = None,
) -> Finding:
    """Registers that the layer says to restore are exact after its MLP, on all these states.

    `states` has the values (states, width) of every register that the MLP reads.  A coordinate that
    may be off by r is put at both ends, as far as they lie between its least and its largest value:
    softmax averages contents.  Where no unit changes sign between the ends, what the MLP makes is
    linear there, and what is equal at the ends is equal between.  Coordinates are moved one by one,
    which is enough where no unit reads two that are off; for `only` one thing that is restored, all
    corners of their box are tried.
    """
    block = model.blocks[layer - 1]
    assert block.mlp is not None
    count = max(map(len, states.values()))
    H = np.zeros((count, model.d_model))
    for register, values in states.items():
        H[:, model.stream[register]] = values
    after, signs, exact = after_mlp(model, layer, H)
    wrong, tried = 0, 0
    for made in block.restores if only is None else (only,):
        columns = np.concatenate([np.r_[model.stream[name]] for name in made.into])
        writes = (block.mlp.W_out[:, columns] != 0).any(1).numpy()
        ends = [
            ((index, -off), (index, off))
            for name, off in made.within.items()
            if off
            for index in range(*model.stream[name].indices(model.d_model))
        ]
        corners = product(*ends) if only is not None else ((end,) for pair in ends for end in pair)
        for corner in corners:
            moved = H.copy()
            for index, off in corner:
                moved[:, index] = np.clip(H[:, index] + off, H[:, index].min(), H[:, index].max())
            now, seen, alike = after_mlp(model, layer, moved)
            kinks = (signs * seen < 0)[:, writes].any(axis=1)
            differs = (now[:, columns] != after[:, columns]).any(axis=1)
            wrong, tried = wrong + int((kinks | differs).sum()), tried + count
            exact = exact and alike
    return Finding(
        id,
        name,
        "proved" if exact else "float",
        wrong,
        0,
        Verdict.of(wrong == 0) if tried and exact else Verdict.UNDECIDED,
        f"{wrong} of {tried} states and errors leave a trace",
        "none",
    )


def after_mlp(model: Transformer, layer: int, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, bool]:
    """The stream after the MLP, the signs of what its units read, whether nothing was rounded."""
    mlp = model.blocks[layer - 1].mlp
    assert mlp is not None
    W_in, b_in, W_out, b_out = (
        W.detach().numpy() for W in (mlp.W_in, mlp.b_in, mlp.W_out, mlp.b_out)
    )
    ones = np.ones((len(H), 1))
    read, first = exact_product(np.hstack([H, ones]), np.vstack([W_in, b_in]))
    hidden = np.maximum(read, 0.0)
    parts = np.hstack([H, hidden, ones])
    after, second = exact_product(parts, np.vstack([np.eye(len(W_in)), W_out, b_out]))
    return after, np.sign(read), first and second


def sharpness_at_all_lengths(
    id: str, build: Callable[[int], Transformer], length: int, bound: float, wanted: str
) -> Finding:
    """The sharpness from which all answers are right, at a length and at 8 times it, beside a bound
    that is free of it."""
    found = {T: build(T).least_sharpness() for T in (length, 8 * length)}
    return Finding(
        id,
        "sharpness from which all answers are those of hardmax, by length",
        "proved",
        {f"T = {T}": beta for T, beta in found.items()},
        bound,
        Verdict.of(max(found.values()) <= bound * SEARCHED),
        ", ".join(f"T = {T}: β = {beta:.3g}" for T, beta in found.items()),
        f"at most {wanted} = {bound:.3g} at every length, searched to a thousandth",
    )


def same_as_hardmax(id: str, model: Transformer, rows: np.ndarray) -> Finding:
    """At that sharpness softmax logits are those of hardmax, in balls."""
    beta = model.least_sharpness()
    leak = max(max(layer, default=0.0) for layer in model.softmax_error(beta).leaks)
    real = max(enclosed_error(model, beta, row) for row in rows)
    return at_most(
        id,
        f"softmax logits at β = {beta:.3g} are those of hardmax ({rows.shape[1]} tokens, "
        f"{len(rows)} words)",
        "enclosure",
        real,
        ENCLOSED,
        words=f"≤ {real:.2g}, with weights that leak up to {leak:.1%}",
        wanted="2^−64: equal, as far as these balls say",
    )


def all_maps_of(n: int) -> np.ndarray:
    """All nⁿ maps of n states, (nⁿ, n)."""
    return np.array(list(product(range(n), repeat=n)), dtype=np.float64)


def leak_bound(graded: float) -> float:
    """The β at which 4q/(1 − q)², q = e^{−β}, is at most `graded` < 1: a bound in closed form."""
    # (1 − q)² ≥ 1 − 2q, so q = graded/(4 + 2·graded) is small enough.
    return math.log((4 + 2 * graded) / graded)
