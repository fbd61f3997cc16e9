"""The picture of `hallucination`: the hallucination rates of models of a world, and bounds."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from theory.language import Levels, World, printed_bound
from theory.language.worlds import MODELS

GAMMA = 0.01  # the probability with which the printed bound may fail
WEIGHTS = np.linspace(0, 1, 21)


def draw(drawn: World) -> Figure:
    """The picture: mixtures of the calibrated model and the memoriser, and the terms of the bound.

    The terms are those of the deterministic bound, for the three models of the world.
    """
    figure = Figure(figsize=(11, 4.6))
    left, right = figure.subplots(1, 2)
    mixtures(left, drawn)
    terms(right, drawn)
    return figure


def mixtures(panel: Axes, drawn: World) -> None:
    """Plots mixtures of the calibrated model and the memoriser by the weight of the memoriser.

    The curves are the hallucination rate, the over-confidence and two bounds on the rate.  At
    weight 1, facts of equal counts have equal probabilities.  So at this weight, level sets merge,
    the miscalibration drops and the bound of [KalaiVempala2024] jumps.
    """
    tau, found = 1 / drawn.unseen, [drawn.mixture(weight) for weight in WEIGHTS]
    printed = [
        printed_bound(
            drawn.seen_once, of.miscalibration, drawn.facts, drawn.others, drawn.documents, GAMMA
        )
        for of in found
    ]
    hallucination = [of.hallucination for of in found]
    bound = [of.deterministic_bound(tau) for of in found]
    panel.plot(WEIGHTS, hallucination, color="C0", lw=6, alpha=0.35, label="g(H)")
    panel.plot(WEIGHTS, bound, "--", color="C0", label="deterministic bound on g(H)")
    panel.plot(WEIGHTS, [of.over_confidence(tau) for of in found], color="C1", label="δ⁺")
    label = f"printed bound on g(H), with probability {1 - GAMMA:.0%}"
    panel.plot(WEIGHTS[:-1], printed[:-1], ":", color="C3", label=label)
    label = "the same at weight 1, where level sets merge"
    panel.plot(1, printed[-1], "o", color="C3", mfc="none", label=label)
    panel.axhline(0, color="0.7", lw=0.8)
    panel.set(xlabel="weight of the memoriser in the model", ylabel="probability")
    panel.set_title(f"{drawn.facts:,} facts, {drawn.documents:,} documents")
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=2, fontsize=8)


def terms(panel: Axes, drawn: World) -> None:
    """Plots the deterministic bound with its terms, and the hallucination rate, for each model."""
    tau, models = 1 / drawn.unseen, [drawn.model(name) for name in MODELS]
    shown = {
        "p(U)": [of.unseen_mass for of in models],
        "−δ⁺": [-of.over_confidence(tau) for of in models],
        "−τ|F| + τ|A| − p(U∩A)": [rest(of, tau) for of in models],
        "bound (their sum)": [of.deterministic_bound(tau) for of in models],
        "g(H)": [of.hallucination for of in models],
    }
    width = 0.85 / len(shown)
    for i, (name, values) in enumerate(shown.items()):
        places = np.arange(len(models)) + width * (i - 2)
        bars = panel.bar(places, values, width, label=name)
        labels = [number(float(value)) for value in values]
        panel.bar_label(bars, labels, fontsize=7, padding=3, rotation=90)
    panel.axhline(0, color="0.7", lw=0.8)
    panel.margins(y=0.2)
    panel.set_xticks(np.arange(len(models)), MODELS)
    panel.set_ylabel("probability")
    panel.set_title("the deterministic bound on g(H) at τ = 1/|U|")
    panel.legend(loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=3, fontsize=8)


def rest(of: Levels, tau: float) -> float:
    """The sum −τ|F| + τ|A| − p(U∩A) of the last three terms of the deterministic bound.

    τ = `tau` is the threshold, F are the facts, U the unseen strings, A the strings of probability
    above τ under the model, and p is the distribution of documents.
    """
    return float(of.deterministic_bound(tau) - of.unseen_mass + of.over_confidence(tau))


def number(value: float) -> str:
    """A value as a label: with three decimals, or in powers of ten if it is below 0.0005."""
    if abs(value) < 1e-12:
        return "0"
    return (f"{value:.3f}" if abs(value) >= 5e-4 else f"{value:.0e}").replace("-", "−")
