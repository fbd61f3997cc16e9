"""The picture of `worked-steps`: how much is decided as examples are seen, gate by gate."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from theory.language import GateLearner, random_circuit

EXAMPLES = 5, 10, 20, 40, 80


def draw(path: Path, rng: np.random.Generator, inputs: int, gates: int) -> None:
    """The share of random inputs on which each gate of a random circuit is decided."""
    circuit = random_circuit(inputs, gates, rng)
    words = rng.integers(2, size=(500, inputs))
    figure = Figure(figsize=(6.4, 4.0), layout="constrained")
    panel = figure.subplots()
    for n in EXAMPLES:
        seen = circuit.wires(rng.integers(2, size=(n, inputs)))
        answers = GateLearner(inputs, seen)(words)[:, inputs:]
        panel.plot(range(1, gates + 1), (answers >= 0).mean(axis=0), label=f"{n} examples")
    panel.set_ylim(0, 1.03)
    panel.set_xlabel("gate")
    panel.set_ylabel("share of inputs that are decided")
    panel.legend(fontsize=8)
    figure.savefig(path, dpi=150)
