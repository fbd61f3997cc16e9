"""The picture of trained induction heads: attention compared with built heads, circuits, losses."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from constructions.transformer import Transformer
from verify.retrieval.trained.circuits import attention_of, circuits_of


def draw(
    model: Transformer,
    built: Transformer,
    tokens: np.ndarray,
    logs: Mapping[str, list[dict[str, float]]],
) -> Figure:
    """A figure of the attention of two models, the circuits of one, and training losses.

    The attention of both layers on the sequence `tokens` (T,) is shown for the trained model and,
    below, for the built model. The three circuits are those of the trained model. `logs` maps a
    label to the log of a training run.
    """
    figure = Figure(figsize=(15, 7.6))
    panels = figure.subplots(2, 4)
    for row, (kind, shown) in zip(panels, (("trained", model), ("built", built)), strict=True):
        maps = attention_of(shown, tokens)
        for layer, (panel, attention) in enumerate(zip(row, maps, strict=False), start=1):
            panel.imshow(attention, cmap="Blues", vmin=0, vmax=1)
            panel.set_title(f"{kind}, layer {layer}: attention")
            panel.set_xticks(range(len(tokens)), tokens.tolist(), fontsize=7, rotation=90)
            panel.set_yticks(range(len(tokens)), tokens.tolist(), fontsize=7)
            panel.set(xlabel="key token", ylabel="query token")
    circuits = circuits_of(model)
    _matrix(panels[0, 2], circuits["match"][0], "trained circuit, layer 2: match", "copied token")
    _matrix(panels[1, 2], circuits["copy"][0], "trained circuit, layer 2: copy", "logit")
    n = len(tokens)
    position = np.where(np.isfinite(circuits["position"][0]), circuits["position"][0], 0)
    title = "trained circuit, layer 1: position"
    _matrix(panels[1, 3], position[: n - 1, : n - 1], title, "key position", "query position − 1")
    for label, log in logs.items():
        steps, losses = ([line[key] for line in log] for key in ("step", "loss"))
        panels[0, 3].plot(steps, losses, label=label, lw=1)
    panels[0, 3].set_title("training")
    panels[0, 3].set(xlabel="step", ylabel="loss (nats/position)", xscale="log", ylim=(0, None))
    panels[0, 3].legend()
    panels[0, 3].grid()
    return figure


def _matrix(panel: Axes, matrix: np.ndarray, title: str, across: str, down: str = "token") -> None:
    largest = float(np.abs(matrix).max())
    panel.imshow(matrix, cmap="RdBu", vmin=-largest, vmax=largest)
    panel.set_title(title)
    panel.set(xlabel=across, ylabel=down)
    for axis in (panel.xaxis, panel.yaxis):
        axis.set_major_locator(MaxNLocator(integer=True))
