"""The picture of a word of brackets: its depth, its errors, and the brackets that match."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.computation.dyck import balances, brackets
from verify.retrieval.pictures import WEIGHTS
from verify.retrieval.snapshots import snapshots

DEPTH, ERROR, WORD = "#1f5fa8", "#b5651d", "#2e8b57"


def draw(model: Transformer, word: np.ndarray, k: int) -> Figure:
    """The figure of the open brackets after each symbol, the errors, and the Dyck prefixes.

    For more than one type, a second panel shows the attention of the head that matches brackets.
    """
    T, taken = len(word), list(snapshots(model, word))
    after = model.prompt(word).answers
    error = taken[-2].after[after, model.stream["error"]][:, 0]
    signs, here = brackets(word, k), np.arange(T)
    labels = signs.split() if " " in signs else list(signs)
    typed = model.n_layers > 3
    height = 2.4 + (0.2 * T + 0.6) * typed
    figure = Figure(figsize=(max(5.0, 0.3 * T + 1.2), height))
    ratios = [2.4, 0.2 * T + 0.6] if typed else [1]
    panels = figure.subplots(len(ratios), 1, squeeze=False, height_ratios=ratios)[:, 0]
    depth, top = balances(word, k), panels[0]
    top.step(here, depth, where="mid", color=DEPTH)
    top.axhline(0, color="0.8", lw=0.8, zorder=0)
    wrong, right = here[error > 0], here[model(word).numpy() > 0]
    top.plot(wrong, depth[wrong], "x", color=ERROR, ms=8, mew=2, label="error")
    top.plot(right, depth[right], "o", color=WORD, ms=6, label="the prefix is a word")
    top.set_title("brackets open after each symbol", fontsize=9, loc="left")
    top.legend(ncols=2, loc="lower right", bbox_to_anchor=(1, 1))
    top.yaxis.get_major_locator().set_params(integer=True)
    top.set_xlim(-1.5 if typed else -0.5, T - 0.5)
    top.set_xticks(here, labels)
    if typed:
        pattern, below = taken[2].patterns[0], panels[1]
        closing = np.where((word < k)[:, None], np.nan, pattern[after])
        below.set_facecolor("#dedede")
        box = -1.5, T - 0.5, T - 0.5, -0.5  # BOS at −1, symbols below those above
        below.imshow(closing, cmap=WEIGHTS, vmin=0, vmax=1, aspect="auto", extent=box)
        below.set_title("attention of closing brackets", fontsize=9, loc="left")
        below.set_xticks(np.arange(-1, T), ["BOS", *labels], fontsize=8)
        below.set_yticks(here, labels, fontsize=8)
    return figure
