"""The picture of `hallucination`: a world's models from calibrated to memoriser, and the bounds."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from theory.language import World, printed_bound
from verify.language.hallucination import CHANCE, MODELS, mixed

SHARES = np.linspace(0, 1, 21)


def draw(path: Path, drawn: World) -> None:
    """g(H), δ⁺ and the bounds by the memoriser's share; and the three models beside each other."""
    tau, found = 1 / drawn.unseen, [mixed(drawn, share) for share in SHARES]
    printed = [
        printed_bound(
            drawn.seen_once, of.miscalibration, drawn.facts, drawn.others, drawn.documents, CHANCE
        )
        for of in found
    ]
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    left.plot(SHARES, [of.hallucination for of in found], label="g(H): said, and no fact")
    left.plot(SHARES, [of.over_confidence(tau) for of in found], label="δ⁺: over-confidence")
    left.plot(SHARES, [of.sure_bound(tau) for of in found], "--", label="sure bound")
    left.plot(SHARES, printed, ":", label="printed bound")
    left.axhline(0, color="0.7", lw=0.8)
    left.set(xlabel="share of the memoriser in the model", ylabel="probability")
    left.set_title(f"{drawn.facts:.0e} facts, {drawn.documents:.0e} documents")
    left.legend(fontsize=8)
    models = [drawn.model(name) for name in MODELS]
    bars = {
        "g(H)": [of.hallucination for of in models],
        "sure bound": [max(0.0, of.sure_bound(tau)) for of in models],
        "δ⁺": [of.over_confidence(tau) for of in models],
    }
    for i, (name, values) in enumerate(bars.items()):
        right.bar(np.arange(3) + 0.25 * i, values, 0.25, label=name)
    right.set_xticks(np.arange(3) + 0.25, MODELS)
    right.legend(fontsize=8, loc="center right")
    figure.savefig(path, dpi=150)
