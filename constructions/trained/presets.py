"""Configurations by name: task, size and length of training.

small    minutes on two cores; for regression d = 5, 11 points
ten      d = 10, 21 points, as deep as `paper` and as narrow as `small`: hours on one core
medium   d = 10, 21 points: hours on two cores, minutes on a GPU
paper    d = 20, 41 points, with the curriculum of [Garg2022]: needs a GPU; for search 100 points,
         as in [Salemohamed2025], with paper-plane and paper-sphere
linear   attention-only linear transformers, for regression
channels disentangled transformers in two channels, for connectivity
dense    disentangled transformers with free weights, for connectivity
p7, p11, p23   quadratic networks modulo p, for modular
minilm, scratch, shuffled, gaussian, fourier   forms of the embedding, for addition
level    for digits: as `small`, but training stops at a given loss, not at an accuracy
uniform-16, frozen-16, compare-7, hard-15, extra-16, hints-16, uniform-32, plane-32   lookup
         networks, for search
sketch-32      a sketch of 32 cells, for counts
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Annotated, Any

from constructions.blocks import plural
from constructions.trained.configuration import Configuration
from constructions.trained.tasks import (
    addition,
    automata,
    bigrams,
    chomsky,
    connectivity,
    counts,
    digits,
    even_process,
    facts,
    hop,
    modular,
    parity,
    regression,
    search,
    text,
)
from theory.kinds import Choice, Count, InputError, Steps, checked

PRESETS = {
    "regression": regression.PRESETS,
    "induction": hop.INDUCTION,
    "bigrams": bigrams.PRESETS,
    "hop": hop.PRESETS,
    "automata": automata.PRESETS,
    "connectivity": connectivity.PRESETS,
    "facts": facts.PRESETS,
    "even-process": even_process.PRESETS,
    "addition": addition.PRESETS,
    "modular": modular.PRESETS,
    "parity": parity.PRESETS,
    "digits": digits.PRESETS,
    "text": text.PRESETS,
    "search": search.PRESETS,
    "counts": counts.PRESETS,
    "chomsky": chomsky.PRESETS,
}
"""For each task its configurations, by size and kind of model."""

OPTIONS = {
    "regression": ("covariance", "noise"),
    "hop": ("k",),
    "automata": ("automaton", "stay"),
    "connectivity": ("graphs",),
    "parity": ("say",),
    "digits": ("training",),
    "text": ("read",),
    "chomsky": ("problem",),
}
"""For each task its own options."""


def sizes_of(task: str) -> Choice:
    """The kind of the sizes of a task."""
    return Choice(tuple(dict.fromkeys(size for size, _ in PRESETS[task])))


@checked
def preset(
    task: Annotated[str, Choice(tuple(PRESETS))],
    size: str = "small",
    *,
    model: str | None = None,
    n_layers: Count | None = None,
    seed: Steps = 0,
    steps: Count | None = None,
    **options: Any,
) -> Configuration:
    """Returns the configuration of a training run for a task and a size of the model.

    `model` is the architecture of the model, for example "transformer". The architecture "lstm" is
    for the tasks regression, digits and text. The architecture "disentangled" is for connectivity,
    and "mlp" and "cnn" are for digits. The `options` are `covariance` and `noise` for regression,
    `k` for hop, `automaton` and `stay` for automata, `graphs` for connectivity, `say` for parity,
    `training` for digits, `read` for text, and `problem` for chomsky. The task and the size
    determine the defaults of the options, of `model`, of `n_layers` and of `steps`.

    Raises ValueError for a size or an option that the task does not have, and for an architecture
    that this size does not have.
    """
    sizes_of(task).read("size", size)
    if wrong := ", ".join(name for name in options if name not in OPTIONS.get(task, ())):
        raise InputError(f"{wrong} is not an option of {task}: omit {wrong}")
    usual = usual_model(task, size)
    kinds = tuple(kind for other, kind in PRESETS[task] if other == size)
    model = Choice(kinds).read("model", usual if model is None else model)
    made = PRESETS[task][size, model]
    if n_layers is not None and "n_layers" not in (each.name for each in fields(made.shape)):
        raise InputError(
            f"n_layers is {n_layers}, but the number of layers of a {model} network is fixed: omit "
            "n_layers"
        )
    return replace(
        made,
        task=replace(made.task, **options),
        shape=made.shape if n_layers is None else replace(made.shape, n_layers=n_layers),  # type: ignore[arg-type]
        steps=made.steps if steps is None else steps,
        seed=seed,
    )


def usual_model(task: str, size: str) -> str:
    """The kind of model that a preset has by default, such as "transformer"."""
    return next((kind for each, kind in PRESETS[task] if each == size), "transformer")


def name_of(task: str, size: str, configuration: Configuration) -> str:
    """The name of a checkpoint, such as regression-small-lstm-ill-conditioned-seed1."""
    made = configuration
    kind = [made.shape.kind] * (made.shape.kind != usual_model(task, size))
    layers = plural(made.shape.n_layers, "layer").replace(" ", "-")
    return "-".join([task, size, *kind, *made.task.words(task, size, layers), f"seed{made.seed}"])
