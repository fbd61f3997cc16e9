"""Pictures of models over tokens: the attention of each head, and the stream after each layer."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.cm import ScalarMappable
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.image import AxesImage
from numpy.typing import ArrayLike

from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.claim import Run
from verify.evidence.statement import OverTokens
from verify.retrieval.snapshots import Snapshot, snapshots
from verify.retrieval.words import labels

MOST = 41  # largest number of tokens in a picture, BOS included
LABEL = 14  # largest number of characters of a label
WEIGHTS = LinearSegmentedColormap.from_list("weights", ["#ffffff", "#1f5fa8"])
VALUES = LinearSegmentedColormap.from_list("values", ["#b5651d", "#ffffff", "#2e8b57"])
TITLE, WORD, REGISTER = 8.0, 7.0, 6.5  # points


def draw_random(run: Run, statement: OverTokens, V: int, n: int) -> Figure:
    """Draws the model of a statement for V symbols on a random sequence of n tokens, by `draw`."""
    row = run.rng.integers(0, V, n)
    return draw(statement.at(V, n).model, row, [str(v) for v in row])


def draw(model: Transformer, tokens: ArrayLike, words: Sequence[str]) -> Figure:
    """A figure of attention and stream, with a row of panels for the embedding and for each layer.

    The left panels show the attention of each head: rows are queries, and columns are keys. The
    right panel shows the stream (tokens × coordinates) after the layer. Each register is divided by
    its largest entry over all layers.

    Raises ValueError for a prompt of more than 40 tokens, and as `labels` does.
    """
    names = readable(model, tokens, words)
    taken = list(snapshots(model, tokens))
    heads, T = max(1, model.n_heads), len(names)
    cell = 0.135 if T > 20 else 0.2
    map_width, stream_width = max(2.9, cell * T + 0.5), min(14.0, max(3.2, 0.115 * model.d_model))
    size = heads * map_width + stream_width + 0.4, (1 + len(taken)) * max(3.0, cell * T + 1.1)
    figure = Figure(figsize=size)
    ratios = [map_width] * heads + [stream_width]
    panels = figure.subplots(1 + len(taken), heads + 1, squeeze=False, width_ratios=ratios)
    for panel in panels.flat:
        panel.set_axis_off()
    scale = _largest(model, [taken[0].before, *(snapshot.after for snapshot in taken)])
    values = _stream(panels[0, -1], model, taken[0].before / scale, names, "embedding")
    for number, snapshot in enumerate(taken, start=1):
        *maps, last = panels[number]
        for h in range(len(snapshot.patterns)):
            title = f"layer {number}" + (f", head {h + 1}" if len(snapshot.patterns) > 1 else "")
            _head(maps[h], snapshot, h, names, title, int(15 * (map_width - 0.2)))
        moves = [line for line in snapshot.block.lines if line.startswith("mlp")]
        moves = [part for line in moves for part in textwrap.wrap(line, int(15 * stream_width))]
        title = "\n".join([f"after layer {number}", *moves])
        _stream(last, model, snapshot.after / scale, names, title)
    _legend(figure, panels[0, 0], model, values)
    return figure


def readable(model: Transformer, tokens: ArrayLike, words: Sequence[str]) -> list[str]:
    """The shortened labels of the prompt's tokens; raises ValueError for more than 40 tokens."""
    names, front = labels(model, tokens, words), len(model.interface.prefix)
    if len(names) > MOST:
        raise InputError(
            f"the prompt has {len(words)} tokens, and the model prepends {front}, too many for a "
            f"picture: give a prompt of at most {max(0, min(MOST - 1, MOST - front))} tokens"
        )
    return [name if len(name) <= LABEL else f"{name[: LABEL - 1]}…" for name in names]


def _head(
    panel: Axes, snapshot: Snapshot, h: int, names: list[str], title: str, line_length: int
) -> None:
    """Draws the attention of one head, with its description in the block as title."""
    block, pattern = snapshot.block, snapshot.patterns[h]
    panel.set_facecolor("#dedede")  # masked entries are transparent
    rows, columns = np.indices(pattern.shape)
    hidden = {"causal": columns > rows, "strictly causal": columns >= np.maximum(rows, 1)}
    mask = hidden.get(block.attn.masks[0] if block.attn else "", False)
    panel.imshow(np.ma.array(pattern, mask=mask), cmap=WEIGHTS, vmin=0, vmax=1)
    T, attended = pattern.shape
    panel.hlines(np.arange(1, T) - 0.5, -0.5, attended - 0.5, color="0.93", lw=0.4)
    panel.vlines(np.arange(1, attended) - 0.5, -0.5, T - 0.5, color="0.93", lw=0.4)
    _label(panel, names, names[:attended])
    words = block.lines[h].split("head: ")[-1] if h < len(block.lines) else ""
    lines = [title, *textwrap.wrap(words, line_length)]
    panel.set_title("\n".join(lines), fontsize=TITLE, loc="left")


def _stream(
    panel: Axes, model: Transformer, H: np.ndarray, names: list[str], title: str
) -> AxesImage:
    image = panel.imshow(H, cmap=VALUES, vmin=-1, vmax=1, aspect="auto", interpolation="nearest")
    spans = [model.stream[name] for name in model.stream]
    edges = np.array([span.start for span in spans[1:]]) - 0.5
    panel.vlines(edges, -0.5, len(H) - 0.5, color="0.6", lw=0.6)
    _label(panel, names, list(model.stream), [(s.start + s.stop - 1) / 2 for s in spans])
    panel.set_title(f"stream: {title}", fontsize=TITLE, loc="left")
    return image


def _label(panel: Axes, rows: list[str], columns: list[str], at: list[float] | None = None) -> None:
    panel.set_axis_on()
    panel.set_yticks(range(len(rows)), rows, fontsize=WORD, parse_math=False)
    places, size = (at, REGISTER) if at else (range(len(columns)), WORD)
    panel.set_xticks(places, columns, rotation=90, fontsize=size, parse_math=False)
    panel.tick_params(length=0, pad=2)


def _largest(model: Transformer, streams: list[np.ndarray]) -> np.ndarray:
    """For each coordinate, the largest entry of its register, or 1 if all entries are 0."""
    largest = np.max([abs(H).max(0) for H in streams], axis=0)
    of_registers = [largest[model.stream[name]].max() or 1.0 for name in model.stream]
    return np.repeat(of_registers, [*model.stream.widths.values()])


def _legend(figure: Figure, panel: Axes, model: Transformer, values: AxesImage) -> None:
    lines = [
        *textwrap.wrap(model.name, 44),
        "",
        "Attention maps: rows are queries, columns are",
        "keys; grey entries are masked.",
        "Streams: each register is divided by its",
        "largest entry.",
    ]
    panel.text(0, 1, "\n".join(lines), fontsize=TITLE, va="top", transform=panel.transAxes)
    weights = ScalarMappable(Normalize(0, 1), WEIGHTS)
    for shown, label, at, ticks in (
        (weights, "attention weight", 0.3, [0, 0.5, 1]),
        (values, "register / its largest entry", 0.06, [-1, 0, 1]),
    ):
        place = panel.inset_axes((0.0, at, 0.7, 0.05))
        bar = figure.colorbar(shown, cax=place, orientation="horizontal", ticks=ticks)
        bar.set_label(label, fontsize=WORD)
        bar.ax.tick_params(labelsize=WORD)
