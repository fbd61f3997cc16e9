"""Configurations by name: what to train, how large and for how long.

small    minutes on two cores; for regression d = 5, 11 points
ten      d = 10, 21 points, as deep as `paper` and as narrow as `small`: hours on one core
medium   d = 10, 21 points: hours on two cores, minutes on a GPU
paper    d = 20, 41 points, with the curriculum of [Garg2022]: a GPU
linear   attention-only linear transformers, for regression
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from constructions.trained.configuration import Configuration, Curriculum
from constructions.trained.models import SHAPES, LSTMShape, Shape, TransformerShape
from constructions.trained.tasks.bigrams import Bigrams
from constructions.trained.tasks.hop import Hop
from constructions.trained.tasks.regression import Regression
from constructions.trained.tasks.task import Task
from constructions.transformer import plural
from theory import checks
from theory.checks import InputError

TOKENS = {"steps": 6_000, "learning_rate": 1e-3, "warmup": 200, "final_rate": 0.01}
SHORT = TOKENS | {"steps": 12_000, "warmup": 500}
LONG = TOKENS | {"steps": 60_000, "warmup": 1000, "learning_rate": 5e-4}
TEN = LONG | {"learning_rate": 1e-3, "curriculum": Curriculum(5, 11, 1000)}
PAPER = {"steps": 500_001, "learning_rate": 1e-4, "curriculum": Curriculum(5, 11, 2000)}
COPYING = TransformerShape(2, 1, 64, 0, layer_norm=False)
LINEAR = TransformerShape(2, 4, 32, 0, layer_norm=False, normalise="linear")

_Rows = dict[str, tuple[Task, dict[str, Any], *tuple[Shape, ...]]]
_REGRESSION: _Rows = {
    "small": (Regression(5, 11), SHORT, TransformerShape(6, 4, 64, 256), LSTMShape(3, 128)),
    "ten": (Regression(10, 21), TEN, TransformerShape(12, 4, 64, 256), LSTMShape(5, 128)),
    "medium": (Regression(10, 21), LONG, TransformerShape(8, 8, 128, 512), LSTMShape(5, 256)),
    "paper": (Regression(20, 41), PAPER, TransformerShape(12, 8, 256, 1024), LSTMShape(10, 256)),
    "linear": (Regression(5, 21), SHORT | {"steps": 10_000}, LINEAR),
}
_ROWS: dict[str, _Rows] = {
    "regression": _REGRESSION,
    "induction": {"small": (Hop(16, 64), TOKENS, COPYING)},
    "bigrams": {"small": (Bigrams(8, 64), TOKENS, COPYING)},
    "hop": {"small": (Hop(8, 64, k=4), TOKENS, TransformerShape(4, 4, 64, 256))},
}
PRESETS = {
    name: {
        (size, shape.kind): Configuration(task, shape, **training)
        for size, (task, training, *shapes) in rows.items()
        for shape in shapes
    }
    for name, rows in _ROWS.items()
}
"""By the name of a task: configurations by size and kind of model."""

OPTIONS = {"regression": ("covariance", "noise"), "hop": ("k",)}
"""What of a task can be chosen besides."""


def preset(
    task: str,
    size: str = "small",
    *,
    model: str = "transformer",
    layers: int | None = None,
    seed: int = 0,
    steps: int | None = None,
    **options: Any,
) -> Configuration:
    """The configuration of a task and a size.

    `model` is "transformer" or "lstm" (for regression); `options` are `covariance` and `noise` for
    regression, `k` for hop; they, `layers` and `steps` are the preset's unless given.

    Raises ValueError for words that are not known, for sizes that a task does not have, and for
    what is for another task.
    """
    sizes = [size for made in PRESETS.values() for size, _ in made]
    checks.one_of("task", task, tuple(PRESETS))
    checks.one_of("preset", size, tuple(dict.fromkeys(sizes)))
    checks.one_of("model", model, tuple(SHAPES))
    for owner, names in OPTIONS.items():
        if owner != task and not options.keys().isdisjoint(names):
            are, them = ("are", "them") if len(names) > 1 else ("is", "it")
            raise InputError(f"{' and '.join(names)} {are} for {owner}: leave {them} out of {task}")
    known = PRESETS[task]
    if (size, model) not in known:
        if len(known) > 1 and size in (each for each, _ in known):
            raise InputError(f"preset {size} is a transformer: leave --model out")
        has = " or ".join(f"{each}, a {kind}" for each, kind in known)
        raise InputError(f"{task} has the preset {has}: leave the other options out")
    made = known[size, model]
    return replace(
        made,
        task=replace(made.task, **options),
        shape=made.shape if layers is None else replace(made.shape, n_layers=layers),
        steps=made.steps if steps is None else steps,
        seed=seed,
    )


def name_of(task: str, size: str, configuration: Configuration) -> str:
    """What a checkpoint is called: regression-small-lstm-ill-conditioned-seed1."""
    made, shape = configuration.task, configuration.shape
    words = [task, size, *[shape.kind] * (shape.kind != "transformer")]
    if isinstance(made, Regression):
        words += [made.covariance] * (made.covariance != "isotropic")
        words += [f"noise{made.noise:g}"] * (made.noise > 0)
    if task != "regression" or size == "linear":
        words.append(plural(shape.n_layers, "layer").replace(" ", "-"))
    if isinstance(made, Hop) and task == "hop":
        words.append(f"k{made.k}")
    return "-".join([*words, f"seed{configuration.seed}"])
