"""The picture of models trained on automata: accuracy by symbol, and attention."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from constructions import semiautomaton, shortcut
from constructions.transformer import Transformer
from theory.computation import NotSolvable
from verify.computation.trained.mechanisms import FLIP_FLOPS, Subject
from verify.interpret.attention import patterns_of


def draw(subjects: Mapping[str, Subject]) -> Figure:
    """The figure with a column of three panels for each automaton.

    The first panel of a column shows the accuracy of each model at symbols 1 … 2T, where T is the
    trained length. The second panel shows the attention of the first model on one word, and the
    third panel the attention of the hand-built model.
    """
    groups = dict[str, dict[str, Subject]]()
    for label, subject in subjects.items():
        groups.setdefault(subject.task.automaton, {})[label] = subject
    figure = Figure(figsize=(max(4.2, 3.6 * len(groups)), 10))
    panels = figure.subplots(3, len(groups), squeeze=False)
    for column, (automaton, group) in zip(panels.T, groups.items(), strict=True):
        for label, subject in group.items():
            symbols, seed = np.arange(2 * subject.T) + 1, label.rsplit("-", 1)[-1]
            column[0].plot(symbols, subject.by_symbol, lw=1, label=seed)
        first = next(iter(group.values()))
        column[0].axvline(first.T, color="grey", lw=0.8, ls=":")
        column[0].set_title(f"{automaton}: accuracy")
        column[0].set(xlabel="symbol (dotted: trained up to here)", ylim=(0, 1.03))
        column[0].grid()
        column[0].legend()
        for panel, (title, attention) in zip(column[1:], _looks(first), strict=True):
            _show(panel, title, attention, first.start.tokens[0])
    return figure


def _looks(subject: Subject) -> list[tuple[str, np.ndarray]]:
    """Titles and attention (T, T) of the trained and of the hand-built model on one word.

    The head is the one with most attention to the latest symbol that sets the first flip-flop.  If
    there is no flip-flop, the attention is the mean over the heads of layer 1.
    """
    word, found = subject.start.first(1), list[tuple[str, np.ndarray]]()
    try:
        built: Transformer = shortcut(subject.machine, subject.T)
        flip_flop = subject.task.automaton in FLIP_FLOPS
    except NotSolvable:
        built, flip_flop = semiautomaton(subject.machine, subject.T), False
    for kind, model in (("trained", subject.model), ("built", built)):
        maps = [each[0] for each in patterns_of(model, word.tokens)]
        if flip_flop:
            layer, head = subject.head if kind == "trained" else (1, 1)
            found.append((f"{kind}, layer {layer}, head {head}", maps[layer - 1][head - 1]))
        else:
            found.append((f"{kind}, layer 1", maps[0].mean(0)))
    return found


def _show(panel: Axes, title: str, attention: np.ndarray, symbols: np.ndarray) -> None:
    panel.imshow(attention, cmap="Blues", vmin=0, vmax=attention.max())
    panel.set_title(f"attention: {title}")
    panel.set_xticks(range(len(symbols)), symbols.tolist(), fontsize=6)
    panel.set_yticks(range(len(symbols)), symbols.tolist(), fontsize=6)
    panel.set(xlabel="key", ylabel="query")
