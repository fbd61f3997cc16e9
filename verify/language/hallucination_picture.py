"""The picture of `hallucination`: a world's models from calibrated to memoriser, and the bounds."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import Levels, World, printed_bound
from theory.language.worlds import MODELS

CHANCE = 0.01  # with which the printed bound may fail
SHARES = np.linspace(0, 1, 21)


def draw(drawn: World) -> Figure:
    """g(H), δ⁺ and the bounds by the memoriser's share; and the three models beside each other."""
    tau, found = 1 / drawn.unseen, [drawn.mixture(share) for share in SHARES]
    printed = [
        printed_bound(
            drawn.seen_once, of.miscalibration, drawn.facts, drawn.others, drawn.documents, CHANCE
        )
        for of in found
    ]
    figure = Figure(figsize=(11, 4.2))
    left, right = figure.subplots(1, 2, width_ratios=(1, 1))
    left.plot(SHARES, [of.hallucination for of in found], label="g(H): said, and no fact")
    left.plot(SHARES, [of.over_confidence(tau) for of in found], label="δ⁺: over-confidence")
    left.plot(SHARES, [of.deterministic_bound(tau) for of in found], "--", label="sure bound")
    left.plot(SHARES, printed, ":", label="printed bound")
    left.axhline(0, color="0.7", lw=0.8)
    left.set(xlabel="share of the memoriser in the model", ylabel="probability")
    left.set_title(f"{drawn.facts:,} facts, {drawn.documents:,} documents")
    left.legend()
    models = [drawn.model(name) for name in MODELS]
    terms = {
        "p(U)": [of.unseen_mass for of in models],
        "− δ⁺": [-of.over_confidence(tau) for of in models],
        "− τ|F|": [-tau * of.valid for of in models],
        "τ|A| − p(U∩A)": [bracket(of, tau) for of in models],
        "sure bound": [of.deterministic_bound(tau) for of in models],
        "g(H)": [of.hallucination for of in models],
    }
    width = 0.8 / len(terms)
    for i, (name, values) in enumerate(terms.items()):
        right.bar(np.arange(3) + width * (i - 2.5), values, width, label=name)
    right.axhline(0, color="0.7", lw=0.8)
    right.set_xticks(np.arange(3), MODELS)
    right.set_ylabel("probability")
    right.set_title("the terms of the sure bound, their sum, and what it bounds", fontsize=9)
    right.legend(loc="lower left")
    return figure


def bracket(of: Levels, tau: float) -> float:
    """τ|A| − p(U∩A): what is left of the bound."""
    return float(
        of.deterministic_bound(tau) - of.unseen_mass + of.over_confidence(tau) + tau * of.valid
    )
