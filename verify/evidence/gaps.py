"""The smallest score gap of a head over all prompts, from its very weights.

A head's score depends only on the registers that it reads.  When these take finitely many values,
every pair of a query and a key that any prompt can bring together is listed, and so is what the
proof prefers; the gap is the least amount by which the score of a key that may be attended to
exceeds that of a key which must then not be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verify.finding import Finding, Verdict

if TYPE_CHECKING:
    from constructions.transformer import Transformer

Values = Mapping[str, np.ndarray]
ALL = slice(None)


@dataclass(frozen=True)
class States:
    """What the head in `layer` (from 1) can be asked by and can find.

    queries, keys  register → its values, a row for each state; the head must read no other register
    preference     (queries, keys): the visible key of largest preference is the right one, those of
                   equal preference share; −inf marks keys that are never right
    position       (keys,): states of one position exclude each other
    """

    layer: int
    queries: Values
    keys: Values
    preference: np.ndarray
    position: np.ndarray
    head: int = 0


def at_positions(model: Transformer, *registers: str, at: slice | np.ndarray = ALL) -> Values:
    """What these registers hold at the positions `at`, from the embedding of positions."""
    assert model.pos_embed is not None
    W_pos = model.pos_embed.W_pos.numpy()[at]
    return {name: W_pos[:, model.stream[name]] for name in registers}


def looking_up(
    model: Transformer, layer: int, queries: Values, wanted: np.ndarray, head: int = 0
) -> States:
    """The states of a head that finds positions by their points (`tokens/positions.py`): query q
    asks for position wanted[q], among all that it may be asked about."""
    keys = at_positions(model, "place", "norm", at=slice(model.interface.n_examples or None))
    here = np.arange(len(keys["norm"]))
    return States(layer, queries, keys, np.where(wanted[:, None] == here, 0.0, -np.inf), here, head)


def gap_finding(label: str, model: Transformer, states: States) -> Finding:
    """The head's declared margin is at most the smallest gap, and scores are graded as declared."""
    declared = model.blocks[states.layer - 1].margins[states.head]
    stray = _reads_others(model, states)
    id = f"{label}/gap/layer-{states.layer}" + f"-head-{states.head + 1}" * (states.head > 0)
    id = id.replace(" ", "-")
    name = f"{label}: layer {states.layer}, smallest score gap over all valid pairs"
    if stray:
        return Finding(
            id, name, "proved", "different", declared.gap, Verdict.FAILS, "not listed", "", stray
        )
    scores = _scores(model, states)
    gap, tie, crowd, shared = _measured(scores, states, declared.gap)
    holds = gap >= declared.gap and tie == 0 and (not declared.graded or crowd <= 1)
    holds = holds and (declared.ties or not shared)
    words, wanted = f"{scores.size} pairs, all equal", f"≥ {declared.gap:g}"
    if gap < np.inf:
        words = f"{gap:g} over {scores.size} pairs"
        if declared.graded:
            words += f"; at most {crowd:.2g}·4m tokens m gaps below"
            wanted += "; 4m"
    return Finding(
        id,
        name,
        "proved",
        gap,
        declared.gap,
        Verdict.of(holds),
        words,
        wanted if declared.gap < np.inf else "all equal",
        ""
        if holds
        else f"gap {gap}, keys that should tie differ by {tie}, crowd {crowd}, ties: {shared}",
    )


def _measured(
    scores: np.ndarray, states: States, declared: float
) -> tuple[float, float, float, bool]:
    """The smallest gap, the largest difference of keys that should tie, how many tokens crowd below
    a right one (over what is allowed), and whether any keys should tie."""
    gap, tie, crowd, shared = np.inf, 0.0, 0.0, False
    _, place = np.unique(states.position, return_inverse=True)
    for row, preference in zip(scores, states.preference, strict=True):
        # Of the states of one position only one is there: the one with the largest score counts.
        below = np.full(place.max() + 1, -np.inf)
        never = preference == -np.inf
        np.maximum.at(below, place[never], row[never])
        by_preference = np.flatnonzero(~never)[np.argsort(preference[~never], kind="stable")]
        levels = np.flatnonzero(np.diff(preference[by_preference])) + 1
        for keys in np.split(by_preference, levels):
            right, lower = row[keys], below[below > -np.inf]
            tie, shared = max(tie, float(np.ptp(right))), shared or len(keys) > 1
            if lower.size:
                gap = min(gap, float(right.min() - lower.max()))
                crowd = max(crowd, _crowd((right.min() - lower) / declared))
            np.maximum.at(below, place[keys], right)
    return gap, tie, crowd, shared


def _scores(model: Transformer, states: States) -> np.ndarray:
    attn = model.blocks[states.layer - 1].attn
    assert attn is not None
    sides = []
    queries, keys = (states.queries, attn.W_Q, attn.b_Q), (states.keys, attn.W_K, attn.b_K)
    for count, (values, W, b) in zip(states.preference.shape, (queries, keys), strict=True):
        rows = np.zeros((count, model.d_model))
        for name, held in values.items():
            rows[:, model.stream[name]] = held.reshape(count, -1)
        sides.append(rows @ W[states.head].numpy() + b[states.head].numpy())
    return sides[0] @ sides[1].T


def _reads_others(model: Transformer, states: States) -> str:
    """The registers that the head reads although they are not among the listed values."""
    attn = model.blocks[states.layer - 1].attn
    if attn is None:
        return f"layer {states.layer} has no heads"
    for side, values, W in (("query", states.queries, attn.W_Q), ("key", states.keys, attn.W_K)):
        read = np.abs(W[states.head].numpy()).max(axis=1)
        for name in model.stream:
            if name not in values and read[model.stream[name]].any():
                return f"the {side} of layer {states.layer} reads register {name}"
    return ""


def _crowd(distances: np.ndarray) -> float:
    """max over m of (number of distances in [m, m + 1))/(4m)."""
    level, count = np.unique(np.floor(distances), return_counts=True)
    return float((count / (4 * np.maximum(level, 1))).max())
