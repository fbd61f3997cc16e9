"""Pictures of addition: the comb and the bump, and spectra and filters of the logits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from constructions.transformer import Transformer
from theory.arithmetic.fourier import bin_sizes

COMB = ("sum2", "sum2_5", "sum5", "sum10")
PARTS = {"comb, periods 2, 2.5, 5, 10": COMB, "bump of the size": ("low",)}
BLUE, BROWN, GREEN = "#1f5fa8", "#b5651d", "#2e8b57"
AROUND = 30  # candidates on either side of the sum
LEAST = 1e-2  # size of a bin that is drawn


def largest_at(candidates: np.ndarray) -> str:
    """The candidates with the largest logit, in words."""
    return f"largest at c = {', '.join(map(str, candidates))}"


def parts_of_logits(
    model: Transformer, pair: tuple[int, int], registers: Sequence[str]
) -> np.ndarray:
    """The contribution of the given registers to the logits of a pair, (answers,)."""
    *_, H = model.streams(np.array(pair))
    state, W = H[2].numpy(), model.unembed.W_U.numpy()
    return np.asarray(sum(state[model.stream[name]] @ W[model.stream[name]] for name in registers))


def draw_adder(model: Transformer, pair: tuple[int, int]) -> Figure:
    """Draw the comb, the bump, and the logits (comb + bump) around the sum of a pair."""
    total, p = sum(pair), model.interface.n_answers
    shown = np.arange(max(0, total - AROUND), min(p, total + AROUND + 1))
    figure = Figure(figsize=(9, 7))
    panels = figure.subplots(3, 1, sharex=True)
    added = {name: parts_of_logits(model, pair, held) for name, held in PARTS.items()}
    added["logits: comb + bump"] = sum(added.values(), start=np.zeros(p))
    for panel, (name, logits), colour in zip(
        panels, added.items(), (BLUE, BROWN, GREEN), strict=True
    ):
        best = np.flatnonzero(logits[shown] == logits[shown].max()) + shown[0]
        panel.vlines(shown, 0, logits[shown], color=colour, lw=2.2, alpha=0.45)
        panel.axhline(0, color="0.4", lw=0.8)
        panel.plot(shown, logits[shown], "o", ms=3.5, color=colour)
        panel.plot(best, logits[best], "o", ms=9, mfc="none", mec="black")
        panel.set_title(f"{name}; {largest_at(best)}", fontsize=10, loc="left")
        panel.axvline(total, color="black", lw=0.6, ls=":")
        panel.set_ylabel("logit")
        panel.grid(alpha=0.25)
    panels[-1].set_xlabel(f"candidate c for {pair[0]} + {pair[1]}")
    figure.suptitle(f"{model.name}: {pair[0]} + {pair[1]} = {total}", fontsize=11)
    return figure


def draw_filters(
    model: Transformer, pair: tuple[int, int], kept: Mapping[str, Sequence[str]]
) -> Figure:
    """Draw the spectrum of the logits by period and the logits themselves, for three filters."""
    total, p = sum(pair), model.interface.n_answers
    names = ("none removed", "low removed", "high removed")
    figure = Figure(figsize=(11, 7))
    panels = figure.subplots(3, 2, width_ratios=(1, 1.4))
    shown = np.arange(max(0, total - AROUND), min(p, total + AROUND + 1))
    bins = np.arange(1, p // 2 + 1)
    whole = bin_sizes(parts_of_logits(model, pair, kept["none removed"]))[1:]
    present = whole[whole > LEAST]
    for row, name in zip(panels, names, strict=True):
        logits = parts_of_logits(model, pair, kept[name])
        for sizes, style, label in (
            (whole, {"ms": 10, "mfc": "none", "mec": "0.4"}, "all logits"),
            (bin_sizes(logits)[1:], {"ms": 5, "color": BLUE}, "with the filter"),
        ):
            at = sizes > LEAST  # other bins contain only rounding errors
            row[0].plot(p / bins[at], sizes[at], "o", label=label, **style)
        row[0].set(xscale="log", yscale="log", ylim=(0.2 * present.min(), 3 * present.max()))
        row[0].set_xticks([2, 2.5, 5, 10, p], ["2", "2.5", "5", "10", str(p)])
        for tick, side in zip(row[0].get_xticklabels(), ("right", "left"), strict=False):
            tick.set_horizontalalignment(side)  # 2 and 2.5 are close
        row[0].minorticks_off()
        row[0].legend(loc="upper center")
        row[0].grid(alpha=0.25)
        row[0].set_ylabel("size of the bin")
        row[0].set_title(name, fontsize=10, loc="left")
        best = shown[logits[shown] >= logits[shown].max() - 1e-9]
        row[1].plot(shown, logits[shown], "o-", ms=3, lw=0.8, color=BLUE)
        row[1].plot(best, logits[best], "o", ms=9, mfc="none", mec="black")
        row[1].axvline(total, color="black", lw=0.6, ls=":")
        row[1].set_title(largest_at(best), fontsize=10, loc="left")
        row[1].grid(alpha=0.25)
        row[1].set_ylabel("logit")
    panels[-1, 0].set_xlabel("period of the bin")
    panels[-1, 1].set_xlabel(f"candidate c for {pair[0]} + {pair[1]}")
    figure.suptitle(f"{model.name}: logits of {pair[0]} + {pair[1]} with filters", fontsize=11)
    return figure
