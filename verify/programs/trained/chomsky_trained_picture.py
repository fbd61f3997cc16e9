"""The picture of models trained on tasks of the Chomsky hierarchy: accuracy by length."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.figure import Figure

from theory.programs.chomsky import TASKS
from verify.programs.trained.generalisation import Accuracies


def draw(models: Mapping[str, Accuracies]) -> Figure:
    """The figure with a panel for each task: accuracy at lengths 1, …, 5T.

    Each trained model has a curve.  Further curves show the hand-built model and the best constant
    output of each length.  A dotted line marks T, the largest trained length.
    """
    groups = dict[str, dict[str, Accuracies]]()
    for label, model in models.items():
        groups.setdefault(model.inputs.task.problem, {})[label] = model
    figure = Figure(figsize=(max(4.2, 3.6 * len(groups)), 3.6))
    [panels] = figure.subplots(1, len(groups), squeeze=False, sharey=True)
    order = sorted(groups, key=[*TASKS].index)
    for panel, problem in zip(panels, order, strict=True):
        for label, model in groups[problem].items():
            seed = label.rsplit("-", 1)[-1]
            panel.plot(model.inputs.lengths, _means(model.of_model), lw=1, label=seed)
        inputs = model.inputs
        panel.plot(inputs.lengths, _means(inputs.of_built), "k", lw=1, label="hand-built")
        panel.plot(inputs.lengths, _means(inputs.of_constant), "0.6", lw=1, label="constant output")
        panel.axvline(inputs.task.length, color="0.4", ls=":", lw=1)
        panel.set_title(f"{problem}\n({TASKS[problem].level})")
        panel.set(xlabel="length of the input (dotted: trained up to here)", ylim=(0, 1.03))
        panel.grid()
    panels[0].set_ylabel("accuracy")
    panels[len(panels) // 2].legend()
    return figure


def _means(accuracies: list[np.ndarray]) -> list[float]:
    return [float(each.mean()) for each in accuracies]
