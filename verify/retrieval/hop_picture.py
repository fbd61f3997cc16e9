"""The picture of pointer doubling: where the pointers of a k-hop model lead after each layer."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import matplotlib
import numpy as np
from numpy.typing import ArrayLike

from theory.checks import InputError
from theory.retrieval import hop_positions
from verify.retrieval.attention_picture import readable
from verify.retrieval.narration import added_parts, answer_word, pointed_to, states_by_layer

matplotlib.use("Agg")
import matplotlib.pyplot as plt
from matplotlib.axes import Axes
from matplotlib.patches import FancyArrowPatch
from matplotlib.path import Path as Curve

if TYPE_CHECKING:
    from constructions.retrieval import SequenceModel

ALL, CHAIN, READ = "#b9c6d6", "#1f5fa8", "#b5651d"
UPRIGHT = 8  # letters of the longest word whose label is not turned
SMALL = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
LOW = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def draw(path: Path, model: SequenceModel, tokens: ArrayLike, words: Sequence[str]) -> None:
    """A row for each layer of a `hop` model, saved to path.

    Thin arrows are the pointers of all tokens, decoded from the stream.  Blue arrows follow them
    from the last token; the brown one is the hops that `answer` has made already, so that blue and
    brown together are k hops in every row.

    Raises ValueError for a model without pointers, for a prompt of more than 40 tokens, and as
    `labels` does.
    """
    if "pointer" not in model.stream or "answer" not in model.stream:
        raise InputError(f"{model.name} has no register 'pointer': give a hop model")
    names = readable(model, tokens, words)
    T, hops = len(names), hops_answered(model)
    k, row = hops[-1], np.asarray(tokens)
    slot = 0.36 if max(map(len, names)) <= UPRIGHT // 2 else 0.62
    figure, panels = plt.subplots(
        model.n_layers,
        1,
        figsize=(max(6.0, slot * T + 0.6), 1.6 * model.n_layers + 0.4),
        squeeze=False,
        layout="constrained",
    )
    for number, (state, panel) in enumerate(
        zip(states_by_layer(model, tokens), panels[:, 0], strict=True), start=1
    ):
        answered, last = hops[number - 1], number == model.n_layers
        length = 2 ** (number - 1)
        pointers = pointed_to(model, state.after[:, model.stream["pointer"]])
        place = T - 1
        if not last:
            for i in range(1, T):
                if pointers[i]:
                    _arrow(panel, i, int(pointers[i]), T, ALL, 0.9)
            for _ in range(k // length):
                if place:
                    _arrow(panel, place, int(pointers[place]), T, CHAIN, 2.0)
                    place = int(pointers[place])
        said = [] if last else [f"pointer = find{str(length).translate(SMALL) * (length > 1)}"]
        if answered:
            target = int(hop_positions(row, answered)[place - 1]) + 1 if place else 0
            if place:
                _arrow(panel, place, target, T, READ, 2.0)
            said.append(f"answer = hop{str(answered).translate(LOW)}")
        if last:
            said[-1] += f" = {answer_word(model, row, words)}, at the last token"
        panel.set_title(
            f"after layer {number}: {', '.join(said)}", fontsize=9, loc="left", parse_math=False
        )
        _tokens(panel, names)
    note = f"{model.name}.  ⊥ is BOS; blue: followed from the last token, brown: held by `answer`"
    figure.supxlabel(note, fontsize=8, parse_math=False)
    figure.savefig(path, dpi=150)
    plt.close(figure)


def hops_answered(model: SequenceModel) -> list[int]:
    """After each layer, how many hops `answer` has made: k mod 2^m, and k after the last.

    Layer 2 + m takes an answer if bit m of k is set; read from what its head writes.
    """
    hops, k = [], 0
    for number, block in enumerate(model.blocks):
        written = {part.into for part in added_parts(model, block, 0)}
        k += 2 ** (number - 1) if written & {"answer", "fetched"} else 0
        hops.append(k)
    return hops


def _arrow(panel: Axes, start: int, end: int, T: int, colour: str, width: float) -> None:
    """An arc over the tokens, higher for longer jumps; a loop for a jump to the same token."""
    height = 0.32 + 0.9 * (abs(end - start) / T) ** 0.6
    left, right = (start - 0.05, end + 0.05) if start != end else (start + 0.18, end - 0.18)
    lean = 0.15 * (end - start)
    points = [(left, 0.06), (left + lean, height), (right - lean, height), (right, 0.06)]
    curve = Curve(points, [Curve.MOVETO, Curve.CURVE4, Curve.CURVE4, Curve.CURVE4])
    emphasis = width > 1
    panel.add_patch(
        FancyArrowPatch(
            path=curve,
            arrowstyle="-|>",
            mutation_scale=10 if emphasis else 6,
            color=colour,
            lw=width,
            zorder=3 if emphasis else 2,
        )
    )


def _tokens(panel: Axes, names: list[str]) -> None:
    panel.set(xlim=(-0.6, len(names) - 0.4), ylim=(0, 0.96), yticks=[])
    labels = [f"{name}\n{i}" if i else name for i, name in enumerate(names)]
    panel.set_xticks(range(len(names)), labels, fontsize=8, parse_math=False)
    if max(map(len, names)) > UPRIGHT:
        panel.tick_params(axis="x", rotation=90)
    panel.tick_params(length=0, pad=2)
    for side in ("top", "left", "right"):
        panel.spines[side].set_visible(False)
