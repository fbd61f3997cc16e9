"""The picture of the claim `hop`: the pointers after each layer."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path as Curve
from numpy.typing import ArrayLike

from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.retrieval import hop_positions
from verify.retrieval.pictures import readable
from verify.retrieval.snapshots import pointed_to, snapshots
from verify.retrieval.words import answer_word

ALL, CHAIN, READ = "#b9c6d6", "#1f5fa8", "#b5651d"
UPRIGHT = 8  # longest label, in characters, that is not rotated
LARGE = 11  # points
SMALL = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def draw(model: Transformer, tokens: ArrayLike, words: Sequence[str]) -> Figure:
    """A figure with a row for each layer of a `hop` model.

    A pointer leads from a token to the position that the token has found by hops so far. Thin
    arrows are the pointers of all tokens, decoded from the stream after the layer. Blue arrows
    follow pointers from the last token. The brown arrow stands for the hops that the register
    `answer` already contains, so the blue and brown arrows together are k hops in every row.

    Raises ValueError for a model without pointers, for a prompt of more than 40 tokens, and as
    `labels` does.
    """
    if "pointer" not in model.stream or "answer" not in model.stream:
        raise InputError(
            f"{model.name} does not have the registers 'pointer' and 'answer': give a k-hop model"
        )
    names = readable(model, tokens, words)
    slot = 0.36 if max(map(len, names)) <= UPRIGHT // 2 else 0.62
    size = max(7.0, slot * len(names) + 1.4), 1.55 * model.n_layers + 1.0
    figure = Figure(figsize=size)
    panels = figure.subplots(model.n_layers, 1, squeeze=False)[:, 0]
    row, hops = np.asarray(tokens), hops_answered(model)
    answer = f" = {answer_word(model, row, words)} at the last token"
    for m, (panel, snapshot) in enumerate(zip(panels, snapshots(model, tokens), strict=True)):
        pointers = pointed_to(model, snapshot.after[:, model.stream["pointer"]])
        last = m == model.n_layers - 1
        title = [] if last else [f"pointer = find{str(2**m).translate(SMALL) * (m > 0)}"]
        place = len(names) - 1 if last else _chain(panel, pointers, hops[-1] // 2**m)
        if hops[m]:
            if place:
                target = int(hop_positions(row, hops[m])[place - 1]) + 1
                _arrow(panel, place, target, len(names), READ, 2.0)
            title.append(f"answer = hop{str(hops[m]).translate(LOW)}{answer * last}")
        heading = f"after layer {m + 1}: {', '.join(title)}"
        panel.set_title(heading, fontsize=LARGE, loc="left", parse_math=False)
        _tokens(panel, names)
    note = (
        f"{model.name}.  Position 0 is BOS and stands for ⊥: no match.\n"
        "Grey: pointers of all tokens.  Blue: pointers followed from the last token.  "
        "Brown: the hops of `answer`."
    )
    figure.supxlabel(note, fontsize=LARGE - 1, parse_math=False)
    return figure


def hops_answered(model: Transformer) -> list[int]:
    """The number of hops in the register `answer` after each layer: k mod 2^m after layer m + 1."""
    assert model.call is not None
    k = model.call.value("k")
    return [k % 2**m for m in range(model.n_layers)]


def _chain(panel: Axes, pointers: np.ndarray, steps: int) -> int:
    """Draws all pointers, and `steps` of them from the last token; returns the position reached."""
    T, place = len(pointers), len(pointers) - 1
    for i in range(1, T):
        if pointers[i]:
            _arrow(panel, i, int(pointers[i]), T, ALL, 0.9)
    for _ in range(steps):
        if place:
            _arrow(panel, place, int(pointers[place]), T, CHAIN, 2.0)
            place = int(pointers[place])
    return place


def _arrow(panel: Axes, start: int, end: int, T: int, colour: str, width: float) -> None:
    """Draws an arc over the tokens, higher for longer jumps, or a loop from a token to itself."""
    height = 0.32 + 0.9 * (abs(end - start) / T) ** 0.6
    left, right = (start - 0.05, end + 0.05) if start != end else (start + 0.18, end - 0.18)
    lean = 0.15 * (end - start)
    points = [(left, 0.06), (left + lean, height), (right - lean, height), (right, 0.06)]
    curve = Curve(points, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    tip, order = (10, 3) if width > 1 else (6, 2)
    arrow = FancyArrowPatch(path=curve, arrowstyle="-|>", color=colour, lw=width, zorder=order)
    arrow.set_mutation_scale(tip)
    panel.add_patch(arrow)


def _tokens(panel: Axes, names: list[str]) -> None:
    """Labels the axis with each token above its position, and ⊥ for BOS."""
    panel.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 0.96), yticks=[])
    labels = [f"{name if i else '⊥'}\n{i}" for i, name in enumerate(names)]
    panel.set_xticks(range(len(names)), labels, fontsize=LARGE - 1, parse_math=False)
    if max(map(len, names)) <= UPRIGHT:
        panel.annotate(
            "token\nposition",
            *((-0.6, 0), (0, -2), ("data", "axes fraction"), "offset points"),
            ha="right",
            va="top",
            fontsize=LARGE - 1,
        )
    if max(map(len, names)) > UPRIGHT:
        panel.tick_params(axis="x", rotation=90)
    panel.tick_params(length=0, pad=2)
    panel.spines[["top", "left", "right"]].set_visible(False)
