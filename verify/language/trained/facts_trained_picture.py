"""The picture of `facts-trained`: hallucination, over-confidence and the bounds along training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from matplotlib.figure import Figure

from constructions.trained.tasks.facts import Facts
from verify.language.trained.figures import Figures, Kept

LINES = {
    "said": ("g(H): said, and no fact", "C3", "-"),
    "over": ("δ⁺: over-confidence", "C0", "-"),
    "recall": ("recall of what was seen", "C2", "-"),
    "sure": ("sure bound", "C3", "--"),
    "printed": ("printed bound", "0.5", ":"),
}


def draw(
    runs: Mapping[str, Sequence[Kept]],
    again: Mapping[str, Figures],
    task: Facts,
) -> Figure:
    """The first run as lines and the others as rings; right, the last models recalibrated."""
    figure = Figure(figsize=(10, 4.6))
    left, right = figure.subplots(1, 2, width_ratios=(3, 2))
    for i, run in enumerate(runs.values()):
        steps = [kept.steps for kept in run]
        for name, (label, colour, style) in LINES.items():
            values = [getattr(kept.figures, name) for kept in run]
            if i:
                left.plot(steps, values, "o", color=colour, mfc="none", ms=6)
            else:
                left.plot(steps, values, style, color=colour, marker="o", ms=3, label=label)
    unseen = next(iter(again.values())).unseen
    left.axhline(unseen, color="0.8", lw=0.8, label="p(U): what was not seen")
    left.axhspan(-0.2, 0, color="0.95", label="below 0 a bound is vacuous")
    left.set_ylim(-0.2, 1.05)
    left.set_xscale("log", base=2)
    left.set(xlabel="steps (rings: further seeds)", ylabel="probability")
    left.set_title(f"{len(task.facts)} facts, {task.documents} documents, all strings scored")
    figure.legend(loc="outside lower center", ncols=4)
    shown = "said", "over", "sure", "printed"
    for i, name in enumerate(shown):
        _, colour, style = LINES[name]
        before = [getattr(run[-1].figures, name) for run in runs.values()]
        after = [getattr(each, name) for each in again.values()]
        for a, b in zip(before, after, strict=True):
            right.plot([i - 0.2, i + 0.2], [a, b], style, color=colour, marker="o", ms=4)
    right.axhline(0, color="0.8", lw=0.8)
    right.set_xticks(range(len(shown)), ["g(H)", "δ⁺", "sure bound", "printed"])
    right.set_ylabel("probability")
    right.set_title(
        "last models, before (left) and after (right)\none number is fitted on fresh documents"
    )
    return figure
