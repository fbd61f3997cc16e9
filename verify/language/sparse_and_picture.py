"""The picture of `sparse-and`: balanced accuracy of the learners by the number of samples."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import (
    attention,
    balanced_accuracy,
    elimination,
    least_samples,
    logistic,
    random_conjunction,
)

BITS, SEEDS = (50, 200), 6
LEARNERS = {"attention head": attention, "elimination": elimination, "logistic": logistic}


def draw(seed: int) -> Figure:
    """The picture of the mean balanced accuracy of learners by the number of samples.

    The picture has a panel for each number T of bits, with Fano's lower bound on the number of
    samples.
    """
    figure = Figure(figsize=(8.6, 3.8))
    for panel, T in zip(figure.subplots(1, 2, sharey=True), BITS, strict=True):
        least = least_samples(T, 3)
        samples = [least * part // 2 for part in (1, 2, 3, 4, 6, 8, 10)]
        for name, learner in LEARNERS.items():
            means = []
            for m in samples:
                each = []
                for number in range(SEEDS):
                    rng = np.random.default_rng([seed, number, m])
                    rule = random_conjunction(T, 3, rng)
                    words, queries = (rng.integers(2, size=(n, T)) for n in (m, 2000))
                    scores = learner(words, rule.labels(words))(queries)
                    each.append(balanced_accuracy(scores, rule.labels(queries)))
                means.append(np.mean(each))
            panel.plot(samples, means, marker="o", markersize=3, label=name)
        panel.axvline(least, color="grey", linestyle=":", label="Fano's bound")
        panel.set_title(f"T = {T}")
        panel.set_xlabel("samples")
    figure.axes[0].set_ylabel(f"balanced accuracy, mean of {SEEDS} seeds")
    figure.axes[0].legend()
    return figure
