"""The picture of `parity`: cross-entropy against length, and attention weights of CLS."""

from __future__ import annotations

from typing import Any

import numpy as np
from flint import arb
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from constructions.computation import parity
from theory.computation.ones import bits_lost, cross_entropy, words_by_ones
from theory.computation.parity import bounded_logit, signed_counts
from verify.domains import Ball

SHARPNESS, SYMBOLS, BITS = (2, 4, 8), 12, 128
LENGTHS = [1, 2, 3, 4, 6, 8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256]


def draw() -> Figure:
    """The figure of cross-entropy against length and of the attention weights of CLS.

    The left panel shows the cross-entropy of a word's parity, with positions j and j² at three
    inverse temperatures and with bounded positions.  The middle panel shows 1 minus the
    cross-entropy with bounded positions.  The right panel shows the attention weights of CLS in
    layer 2 for every number of ones.
    """
    figure = Figure(figsize=(14.5, 4.3))
    left, middle, right = figure.subplots(1, 3, width_ratios=(1.15, 1, 1.1))
    with Ball.precision(BITS):
        e = (1 / arb(5).sqrt()).exp()
        bounded = {n: [bounded_logit(n, k, e) for k in range(n + 1)] for n in LENGTHS}
        _lost(left, bounded, "bounded", color="C3", marker="s")
        for beta, colour in zip(SHARPNESS, ("C9", "C0", "black"), strict=True):
            ours = {n: signed_counts(n, (-arb(beta)).exp()) for n in LENGTHS}
            _lost(left, ours, f"positions j, j², β = {beta}", color=colour, marker="o")
        for signed, colour in ((bounded, "C3"), (ours, "black")):
            larger = {n: [8 * s for s in values] for n, values in signed.items()}
            _lost(left, larger, "the same, logits × 8", color=colour, ls=":")
        missing = [float(1 - cross_entropy(n, bounded[n].__getitem__)) for n in LENGTHS]
        normed = float(bits_lost(arb(10).sqrt()))
    left.axhline(normed, color="C1", lw=1.5, ls="--", label="bounded, layer norms with ε = 0")
    left.set(
        xscale="log", ylim=(-0.03, 1.05), xlabel="symbols n", ylabel="cross-entropy, bits a word"
    )
    left.set_title("mean cross-entropy over all words")
    left.legend(fontsize=7.5, loc="lower right", bbox_to_anchor=(1, 0.06), ncols=2)
    limit = np.tanh(1 / np.sqrt(5)) / np.log(2) / (np.array(LENGTHS) + 1.0) ** 2
    middle.loglog(LENGTHS, limit, color="0.5", lw=1, label="tanh(1/√5)/(N² ln 2)")
    middle.loglog(LENGTHS, missing, "s", ms=3, color="C3", label="bounded: 1 − cross-entropy")
    middle.set(xlabel="symbols n, N = n + 1", ylabel="bits")
    middle.set_title("1 − cross-entropy, bounded positions")
    middle.legend()
    _attention(right)
    return figure


def _lost(panel: Axes, signed: dict[int, list[arb]], label: str, **style: Any) -> None:
    """Plots the cross-entropy of signed logits, given by length and number of ones."""
    values = [float(cross_entropy(n, logits.__getitem__)) for n, logits in signed.items()]
    panel.plot(list(signed), values, ms=3, label=label, **style)


def _attention(panel: Axes) -> None:
    """Shows the attention weights of CLS in layer 2 at the smallest β, by number of ones."""
    beta = SHARPNESS[0]
    model = parity(SYMBOLS, sharpness=beta)
    _, before, _ = model.streams(words_by_ones(SYMBOLS))
    attn = model.blocks[1].attn
    assert attn is not None
    shown = panel.imshow(attn.pattern(before, 0)[:, 0, 0].numpy(), cmap="Blues", vmin=0, vmax=1)
    panel.set(xlabel="position j, with sign (−1)^j", ylabel="ones k")
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
    panel.set_title(f"attention of CLS, n = {SYMBOLS}, β = {beta}")
    panel.figure.colorbar(shown, ax=panel, shrink=0.8)
