"""The picture of `sparse-and-growth`: the smallest sample size of each learner by T."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import least_samples


def draw(table: dict[str, np.ndarray], sizes: list[int]) -> Figure:
    """The picture of the smallest sample size of each learner by the number T of bits.

    `table` has an array (seeds, sizes) of sample sizes for each learner, and `sizes` are the
    numbers T.  The lines are the medians over seeds, and Fano's bound for success probability ½.
    """
    figure = Figure(figsize=(6.4, 4.4))
    panel = figure.subplots()
    for number, (name, found) in enumerate(table.items()):
        shift = 1 + 0.02 * (number - 1.5)
        for each in found:
            panel.plot(np.array(sizes) * shift, each, ".", color=f"C{number}", alpha=0.35)
        medians = np.median(found, axis=0)
        panel.plot(np.array(sizes) * shift, medians, "-", color=f"C{number}", label=name)
    needed = [least_samples(T, 3, 0.5) for T in sizes]
    panel.plot(sizes, needed, ":", color="grey", label="Fano's bound")
    panel.set(xscale="log", yscale="log", xlabel="bits T", ylabel="smallest number of samples")
    panel.set_xticks(sizes, [str(T) for T in sizes])
    panel.minorticks_off()
    panel.legend()
    return figure
