"""The picture of `learned-gates`: how often each gate is decided, by the number of examples."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import GateLearner, random_circuit

EXAMPLES = 5, 10, 20, 40, 80


def draw(rng: np.random.Generator, n_inputs: int, n_gates: int) -> Figure:
    """The picture of the fraction of random inputs on which each gate of a circuit is decided.

    The circuit is random, and the rows are numbers of examples.
    """
    circuit = random_circuit(n_inputs, n_gates, rng)
    words = rng.integers(2, size=(500, n_inputs))
    fractions = []
    for n in EXAMPLES:
        seen = circuit.wires(rng.integers(2, size=(n, n_inputs)))
        answers = GateLearner(n_inputs, seen)(words)[:, n_inputs:]
        fractions.append((answers >= 0).mean(axis=0))
    figure = Figure(figsize=(9.0, 2.8))
    panel = figure.subplots()
    image = panel.imshow(
        fractions,
        vmin=0,
        vmax=1,
        aspect="auto",
        extent=(0.5, n_gates + 0.5, len(EXAMPLES) - 0.5, -0.5),
    )
    panel.set_yticks(range(len(EXAMPLES)), list(map(str, EXAMPLES)))
    panel.set(xlabel="gate", ylabel="examples")
    figure.colorbar(image, ax=panel, label="fraction of inputs decided")
    return figure
