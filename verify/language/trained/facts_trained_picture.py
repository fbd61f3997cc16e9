"""The picture of `facts-trained`: hallucination, over-confidence and bounds during training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from constructions.trained.tasks.facts import Facts
from verify.language.trained.figures import Figures, Snapshot

LINES = {
    "hallucination": ("g(H): probability of strings that are not facts", "C3", "-"),
    "over_confidence": ("δ⁺: over-confidence", "C0", "-"),
    "recall": ("recall of seen facts", "C2", "-"),
    "deterministic": ("deterministic bound on g(H)", "C3", "--"),
    "printed": ("printed bound on g(H)", "0.5", ":"),
}


def draw(
    runs: Mapping[str, Sequence[Snapshot]],
    again: Mapping[str, Figures],
    task: Facts,
) -> Figure:
    """The picture of hallucination and over-confidence during training, and after recalibration.

    The left panel shows the first run as lines and the other runs as circles.  The right panel
    shows the last models before and after recalibration.
    """
    figure = Figure(figsize=(10, 4.6))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for i, run in enumerate(runs.values()):
        steps = [one.steps for one in run]
        for name, (label, colour, style) in LINES.items():
            values = [getattr(one.figures, name) for one in run]
            if i:
                left.plot(steps, values, "o", color=colour, mfc="none", ms=6)
            else:
                left.plot(steps, values, style, color=colour, marker="o", ms=3, label=label)
    unseen = next(iter(again.values())).unseen
    left.axhline(unseen, color="0.8", lw=0.8, label="p(U): mass of unseen facts")
    left.axhspan(-0.2, 0, color="0.95", label="vacuous bounds")
    left.set_ylim(-0.2, 1.05)
    left.set_xscale("log", base=2)
    left.set(xlabel="steps (rings: further seeds)", ylabel="probability")
    left.set_title(f"{len(task.facts)} facts, {task.documents} documents")
    figure.legend(loc="outside lower center", ncols=4)
    shown = "hallucination", "over_confidence", "deterministic", "printed"
    for i, name in enumerate(shown):
        _, colour, style = LINES[name]
        before = [getattr(run[-1].figures, name) for run in runs.values()]
        after = [getattr(each, name) for each in again.values()]
        for a, b in zip(before, after, strict=True):
            right.plot([i - 0.2, i + 0.2], [a, b], style, color=colour, marker="o", ms=4)
    right.axhline(0, color="0.8", lw=0.8)
    right.set_xticks(range(len(shown)), ["g(H)", "δ⁺", "bound", "printed"])
    right.set_ylabel("probability")
    right.set_title("last models before (left) and after (right)\nrecalibration on fresh documents")
    return figure
