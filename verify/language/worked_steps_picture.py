"""The picture of `worked-steps`: how much is decided as examples are seen, gate by gate."""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from theory.language import GateLearner, random_circuit

EXAMPLES = 5, 10, 20, 40, 80


def draw(rng: np.random.Generator, inputs: int, gates: int) -> Figure:
    """The share of random inputs on which each gate of a random circuit is decided."""
    circuit = random_circuit(inputs, gates, rng)
    words = rng.integers(2, size=(500, inputs))
    shares = []
    for n in EXAMPLES:
        seen = circuit.wires(rng.integers(2, size=(n, inputs)))
        answers = GateLearner(inputs, seen)(words)[:, inputs:]
        shares.append((answers >= 0).mean(axis=0))
    figure = Figure(figsize=(9.0, 2.8))
    panel = figure.subplots()
    image = panel.imshow(
        shares, vmin=0, vmax=1, aspect="auto", extent=(0.5, gates + 0.5, len(EXAMPLES) - 0.5, -0.5)
    )
    panel.set_yticks(range(len(EXAMPLES)), list(map(str, EXAMPLES)))
    panel.set(xlabel="gate", ylabel="examples seen")
    figure.colorbar(image, ax=panel, label="share of inputs decided")
    return figure
