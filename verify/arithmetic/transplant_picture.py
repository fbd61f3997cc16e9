"""A picture of models that add numbers: answers, spectra, errors, and what is left without bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.arithmetic.spectrum import peak_ratios
from verify.arithmetic.number_models import (
    HEADS,
    HIGH,
    MLPS,
    PERIODS,
    Adder,
    accuracy,
    before_training,
    by_layer,
    masked,
)

COLOURS = {"minilm": "#1f5fa8", "scratch": "#b5651d", "untrained": "0.7"}
AROUND = 12  # errors on either side


def draw(path: Path, models: Mapping[str, Sequence[Adder]]) -> None:
    """Saved to path: every seed's test pairs by rows, and, of the first seeds, the spectrum of the
    logits, the errors, and answers by layer and without bins of heads and MLPs."""
    figure = Figure(figsize=(13, 8.5), layout="constrained")
    panels = figure.subplots(2, 2)
    _answers(panels[0, 0], models)
    _spectra(panels[0, 1], models)
    _errors(panels[1, 0], models)
    _parts(panels[1, 1], models["minilm"])
    figure.savefig(path, dpi=150)


def _answers(panel: Axes, models: Mapping[str, Sequence[Adder]]) -> None:
    for place, (rows, seeds) in enumerate(models.items()):
        shares = [accuracy(each.logits, each.sums) for each in seeds]
        places = place + np.linspace(-0.1, 0.1, len(shares))
        panel.plot(places, shares, "o", color=COLOURS.get(rows, "0.4"))
    panel.set_xticks(range(len(models)), [*models])
    panel.set(ylim=(-0.03, 1.03), ylabel="test pairs right")
    panel.set_title("by rows of the embedding, every seed", fontsize=10)
    panel.grid(alpha=0.3, axis="y")


def _spectra(panel: Axes, models: Mapping[str, Sequence[Adder]]) -> None:
    first = models["minilm"][0]
    shown = {
        "untrained": before_training(first.name, first.pairs),
        "scratch": models["scratch"][0],
        "minilm": first,
    }
    for rows, adder in shown.items():
        ratios = peak_ratios(adder.logits.T, HIGH)
        bins = np.arange(HIGH, len(ratios))
        label = "minilm before training" if rows == "untrained" else rows
        panel.plot(bins, ratios[HIGH:], lw=1.0, color=COLOURS[rows], label=label)
    p = first.logits.shape[1]
    for name, period in PERIODS.items():
        panel.axvline(p / float(period), color="black", lw=0.5, ls=":")
        panel.text(p / float(period), panel.get_ylim()[1], f" {name}", fontsize=8, va="top")
    panel.set(xlabel=f"bin k, period {p}/k", ylabel="size over the median")
    panel.set_title("spectrum of the logits over the test pairs, seed 0", fontsize=10)
    panel.legend(frameon=False, fontsize=8)


def _errors(panel: Axes, models: Mapping[str, Sequence[Adder]]) -> None:
    sizes = np.arange(-AROUND, AROUND + 1)
    for shift, rows in ((-0.2, "minilm"), (0.2, "scratch")):
        errors = models[rows][0].errors
        shares = [(errors == size).mean() if len(errors) else 0.0 for size in sizes]
        label = f"{rows}, {len(errors)} errors"
        panel.bar(sizes + shift, shares, width=0.4, color=COLOURS[rows], label=label)
    panel.set(xlabel="answer less sum", ylabel="share of the errors")
    panel.set_title("errors, seed 0", fontsize=10)
    panel.legend(frameon=False, fontsize=8)


def _parts(panel: Axes, seeds: Sequence[Adder]) -> None:
    names = ["embedding", "layer 1", "layer 2"]
    names += [f"{m} without {b}" for m in ("heads", "MLPs") for b in ("low", "high")]
    for each in seeds:
        cut = [masked(each, modules, high) for modules in (HEADS, MLPS) for high in (False, True)]
        panel.plot([*by_layer(each), *cut], range(len(names)), "o", color=COLOURS["minilm"])
    panel.set_yticks(range(len(names)), names, fontsize=9)
    panel.invert_yaxis()
    panel.set(xlim=(-0.03, 1.03), xlabel="test pairs right")
    panel.set_title("minilm: read after a layer, and without bins of what is added", fontsize=10)
    panel.grid(alpha=0.3, axis="x")
