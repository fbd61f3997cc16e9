"""The picture of trained linear transformers beside the best polynomials."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt


def draw(path: Path, trained: Mapping[str, tuple[int, float]], best: Sequence[float]) -> None:
    """Saved to path: the error of the best polynomial by its terms, and of every trained model.

    Mean squared errors.  A model of L layers is a line at its error, from the ladder's 3^(L−1)
    terms to the most that L layers allow, (3^L − 1)/2.
    """
    figure, panel = plt.subplots(figsize=(7, 4.6), layout="constrained")
    panel.plot(range(1, len(best) + 1), best, "k.-", lw=1, label="best polynomial of so many terms")
    for index, (depth, error) in enumerate(trained.values()):
        terms = 3 ** (depth - 1), (3**depth - 1) // 2
        label = (
            f"trained, {depth} layer{'s' * (depth > 1)}: 3^{depth - 1} … (3^{depth} − 1)/2 terms"
        )
        panel.plot(terms, (error, error), "|-", color=f"C{index}", lw=2, ms=12, label=label)
    panel.set(xscale="log", yscale="log", xlabel="terms", ylabel="mean squared error")
    panel.legend(frameon=False, fontsize=8)
    panel.grid(alpha=0.3)
    figure.savefig(path, dpi=150)
    plt.close(figure)
