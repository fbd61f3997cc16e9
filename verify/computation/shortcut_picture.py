"""The picture of a shortcut: the value of every stage of its cascade before each symbol."""

from __future__ import annotations

import numpy as np
from matplotlib import colormaps
from matplotlib.figure import Figure

from constructions.blocks import plural
from constructions.transformer import Transformer
from theory.computation.cascade import Cascade

COLOURS = colormaps["Pastel1"].colors  # type: ignore[attr-defined]
SIZE = 8.0  # points


def draw(model: Transformer, of: Cascade, word: np.ndarray) -> Figure:
    """The figure of a word: a row for its symbols, a row for each stage, and a row for the states.

    Stages are in the order of the layers that complete them.  Their values are read from the
    registers of the model, not computed by the cascade.
    """
    rows = [("symbol", [str(a) for a in word.tolist()], word)]
    streams = list(model.streams(word))
    held = {line.register: streams[line.after].numpy()[1:] for line in model.stages}
    names_of = ["symbol", *(f"{stage.kind} {i}" for i, stage in enumerate(of.stages, start=1))]
    for line in sorted(model.stages, key=lambda line: line.after):
        values = held[line.register][:, model.stream[line.register]].argmax(axis=1)
        name = f"state, after layer {line.after}"
        if line.register != "state":
            i = int(line.register.removeprefix("is"))
            stage = of.stages[i - 1]
            kind = f" (mod {stage.size})" if stage.kind == "counter" else f" ({stage.size} values)"
            reads = ", ".join(names_of[v] for v in stage.table.reads)
            given = f": input from {reads}" if reads else ": constant input"
            name = f"{names_of[i]}{kind}, after layer {line.after}{given}"
        rows.append((name, [str(v) for v in values], values))
    width = 0.24 * len(word) + 0.062 * max(len(name) for name, *_ in rows) + 0.3
    figure = Figure(figsize=(max(width, 6.0), 0.34 * len(rows) + 0.9))
    panel = figure.subplots()
    shades = np.array([*COLOURS, (1.0, 1.0, 1.0)])
    white = np.full(len(word), len(COLOURS))
    shown = np.array([white, *(values % len(COLOURS) for _, _, values in rows[1:])])
    panel.imshow(shades[shown], aspect="auto")
    for y, (_, names, _) in enumerate(rows):
        for x, text in enumerate(names):
            panel.text(x, y, text, fontsize=SIZE, ha="center", va="center", parse_math=False)
    panel.hlines(np.arange(len(rows)) - 0.5, -0.5, len(word) - 0.5, color="white", lw=4)
    panel.set_yticks(range(len(rows)), [name for name, *_ in rows], fontsize=SIZE, parse_math=False)
    panel.set_xticks([])
    panel.tick_params(length=0)
    for side in panel.spines.values():
        side.set_visible(False)
    # This is the title of the figure, since the panel of a short word is narrower than the title.
    layers = plural(model.n_layers, "layer")
    title = f"{model.name}: {layers}\nStages before each symbol, and the state after it"
    figure.suptitle(title, x=0.02, ha="left", fontsize=SIZE + 1, parse_math=False)
    return figure
