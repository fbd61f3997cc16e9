"""The picture of the claim `transplant`: accuracies, spectra and errors, and masks of bins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.arithmetic.fourier import bin_sizes
from theory.arithmetic.spectrum import peak_ratios
from verify.arithmetic.trained.minilm import NUMBERS
from verify.arithmetic.trained.number_models import (
    HEADS,
    HIGH,
    MLPS,
    PERIODS,
    Adder,
    before_training,
    by_layer,
    masked,
    tied_embedding,
)

COLOURS = {"minilm": "#1f5fa8", "scratch": "#b5651d", "untrained": "0.7"}
OF_MODULES = {"heads 1": "#9dc3e6", "mlp 1": "#a9d18e", "heads 2": "#1f5fa8", "mlp 2": "#2e8b57"}
AROUND = 12  # errors on either side


def draw(models: Mapping[str, Sequence[Adder]]) -> Figure:
    """Draw accuracies, spectra and errors of models that add.

    The accuracies are drawn for every seed, by kind of embedding; the accuracies by layer and
    without bins of heads and MLPs are drawn for every seed with the embedding of MiniLM.  The
    spectra of the embedding, of the logits and of the contributions of modules, and the errors, are
    drawn for the first seeds.
    """
    figure = Figure(figsize=(15, 8.5))
    panels = figure.subplots(2, 3)
    given, learned = models["minilm"][0], models["scratch"][0]
    before = before_training(given.name, given.pairs)
    _answers(panels[0, 0], models)
    rows = {"minilm": tied_embedding(given.model), "scratch": tied_embedding(learned.model)}
    _spectra(panels[0, 1], rows, "the rows")
    logits = {"untrained": before.logits.T, "scratch": learned.logits.T, "minilm": given.logits.T}
    _spectra(panels[0, 2], logits, "the logits over the test pairs")
    _modules(panels[1, 0], given)
    _errors(panels[1, 1], models)
    _parts(panels[1, 2], models["minilm"])
    return figure


def _answers(panel: Axes, models: Mapping[str, Sequence[Adder]]) -> None:
    for place, (rows, seeds) in enumerate(models.items()):
        found = [each.right.mean.mean for each in seeds]
        places = place + np.linspace(-0.1, 0.1, len(found)) * (len(found) > 1)
        panel.plot(places, found, "o", color=COLOURS.get(rows, "0.4"))
    panel.set_xticks(range(len(models)), [*models])
    panel.set(ylim=(-0.03, 1.03), ylabel="test accuracy")
    panel.set_title("by rows of the embedding, every seed")
    panel.grid(axis="y")


def _spectra(panel: Axes, shown: Mapping[str, np.ndarray], what: str) -> None:
    for rows, values in shown.items():
        ratios = peak_ratios(values, HIGH)
        label = "minilm before training" if rows == "untrained" else rows
        panel.plot(range(HIGH, len(ratios)), ratios[HIGH:], lw=1, color=COLOURS[rows], label=label)
    panel.set_ylabel("size / median")
    _periods(panel, what)


def _modules(panel: Axes, adder: Adder) -> None:
    for module, colour in OF_MODULES.items():
        sizes = bin_sizes(adder.parts[module].T) / np.sqrt(len(adder.pairs))
        panel.semilogy(range(1, len(sizes)), sizes[1:], lw=1, color=colour, label=module)
    panel.axvspan(0, HIGH, color="0.93")
    panel.set_ylabel("size, root mean square")
    _periods(panel, "contributions to the logits, minilm")


def _periods(panel: Axes, what: str) -> None:
    p = NUMBERS
    for name, period in PERIODS.items():
        panel.axvline(p / float(period), color="black", lw=0.5, ls=":")
        place = p / float(period), panel.get_ylim()[1]
        panel.text(*place, f"{name} ", fontsize=8, va="top", ha="right")
    panel.set_xlabel(f"bin k, period {p}/k")
    panel.set_title(f"spectrum of {what}, seed 0")
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, 0.95))  # below the periods


def _errors(panel: Axes, models: Mapping[str, Sequence[Adder]]) -> None:
    sizes = np.arange(-AROUND, AROUND + 1)
    for shift, rows in ((-0.2, "minilm"), (0.2, "scratch")):
        errors = models[rows][0].errors
        found = [(errors == size).mean() if len(errors) else 0.0 for size in sizes]
        label = f"{rows}, {len(errors)} errors"
        panel.bar(sizes + shift, found, width=0.4, color=COLOURS[rows], label=label)
    panel.set(xlabel="prediction minus sum", ylabel="fraction of the errors")
    panel.set_title("errors, seed 0")
    panel.legend()


def _parts(panel: Axes, seeds: Sequence[Adder]) -> None:
    names = ["embedding", "layer 1", "layer 2"]
    names += [f"{m} without {b}" for m in ("heads", "MLPs") for b in ("low", "high")]
    for each in seeds:
        cut = [masked(each, modules, high) for modules in (HEADS, MLPS) for high in (False, True)]
        panel.plot([*by_layer(each), *cut], range(len(names)), "o", color=COLOURS["minilm"])
    panel.set_yticks(range(len(names)), names, fontsize=9)
    panel.invert_yaxis()
    panel.set(xlim=(-0.03, 1.03), xlabel="test accuracy")
    panel.set_title("minilm, read after a layer or without bins of modules")
    panel.grid(axis="x")
