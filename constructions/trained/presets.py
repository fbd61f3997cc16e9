"""Configurations by name: what to train, how large and for how long.

small    d = 5, 11 points: minutes on two cores
ten      d = 10, 21 points, as deep as `paper` and as narrow as `small`: hours on one core
medium   d = 10, 21 points: hours on two cores, minutes on a GPU
paper    d = 20, 41 points, with the curriculum of [Garg2022]: a GPU
linear   attention-only linear transformers, for regression
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from constructions.trained.configuration import (
    Bigrams,
    Configuration,
    Curriculum,
    Hop,
    LSTMShape,
    Regression,
    Shape,
    TransformerShape,
)
from theory import checks
from theory.checks import InputError

TASKS = ("regression", "induction", "bigrams", "hop")
SIZES = ("small", "ten", "medium", "paper", "linear")


@dataclass(frozen=True)
class _Size:
    d: int
    points: int
    transformer: TransformerShape
    lstm: LSTMShape
    steps: int
    learning_rate: float
    warmup: int
    final_rate: float
    curriculum: Curriculum | None = None


_REGRESSION = {
    "small": _Size(
        5, 11, TransformerShape(6, 4, 64, 256), LSTMShape(3, 128), 12_000, 1e-3, 500, 0.01
    ),
    "ten": _Size(
        10,
        21,
        TransformerShape(12, 4, 64, 256),
        LSTMShape(5, 128),
        60_000,
        1e-3,
        1000,
        0.01,
        Curriculum(5, 11, 1000),
    ),
    "medium": _Size(
        10, 21, TransformerShape(8, 8, 128, 512), LSTMShape(5, 256), 60_000, 5e-4, 1000, 0.01
    ),
    "paper": _Size(
        20,
        41,
        TransformerShape(12, 8, 256, 1024),
        LSTMShape(10, 256),
        500_001,
        1e-4,
        0,
        1.0,
        Curriculum(5, 11, 2000),
    ),
}


def preset(
    task: str,
    size: str = "small",
    *,
    model: str = "transformer",
    covariance: str = "isotropic",
    noise: float = 0.0,
    layers: int | None = None,
    k: int | None = None,
    seed: int = 0,
    steps: int | None = None,
) -> Configuration:
    """The configuration of a task and a size.

    `model` ("transformer" or "lstm"), `covariance` and `noise` are for regression, `k` (4 unless
    given) for hop; `layers` and `steps` are the preset's unless given.

    Raises ValueError for words that are not known, for sizes that a task does not have, and for
    what is for another task.
    """
    checks.one_of("task", task, TASKS)
    checks.one_of("preset", size, SIZES)
    checks.one_of("model", model, ("transformer", "lstm"))
    if k is not None and task != "hop":
        raise InputError(f"k is for hop: leave it out of {task}")
    if task != "regression":
        if (covariance, noise) != ("isotropic", 0.0):
            raise InputError(f"covariance and noise are for regression: leave them out of {task}")
        made = _tokens(task, size, model, 4 if k is None else k)
    elif size == "linear":
        made = _linear(model, covariance, noise)
    else:
        made = _regression(size, model, covariance, noise)
    if layers is not None:
        made = replace(made, shape=replace(made.shape, n_layers=layers))
    return replace(made, seed=seed, steps=made.steps if steps is None else steps)


def _regression(size: str, model: str, covariance: str, noise: float) -> Configuration:
    chosen = _REGRESSION[size]
    shape: Shape = chosen.transformer if model == "transformer" else chosen.lstm
    return Configuration(
        Regression(chosen.d, chosen.points, covariance, noise),
        shape,
        chosen.steps,
        chosen.learning_rate,
        warmup=chosen.warmup,
        final_rate=chosen.final_rate,
        curriculum=chosen.curriculum,
    )


def _linear(model: str, covariance: str, noise: float) -> Configuration:
    if model != "transformer":
        raise InputError("preset linear is a transformer: leave --model out")
    shape = TransformerShape(2, 4, 32, 0, layer_norm=False, normalise="linear")
    task = Regression(5, 21, covariance, noise)
    return Configuration(task, shape, 10_000, 1e-3, warmup=500, final_rate=0.01)


def _tokens(task: str, size: str, model: str, k: int) -> Configuration:
    if size != "small" or model != "transformer":
        raise InputError(f"{task} has the preset small, a transformer: leave the other options out")
    wanted: Hop | Bigrams
    if task == "hop":
        wanted = Hop(8, 64, k)
        shape = TransformerShape(4, 4, 64, 256)
    else:
        wanted = Hop(16, 64) if task == "induction" else Bigrams(8, 64)
        shape = TransformerShape(2, 1, 64, 0, layer_norm=False)
    return Configuration(wanted, shape, 6_000, 1e-3, warmup=200, final_rate=0.01)


def name_of(task: str, size: str, configuration: Configuration) -> str:
    """What a checkpoint is called: regression-small-lstm-ill-conditioned-seed1."""
    made = configuration
    words = [task, size]
    if isinstance(made.shape, LSTMShape):
        words.append("lstm")
    if isinstance(made.task, Regression) and made.task.covariance != "isotropic":
        words.append(made.task.covariance)
    if isinstance(made.task, Regression) and made.task.noise:
        words.append(f"noise{made.task.noise:g}")
    if size == "linear" or isinstance(made.task, Hop | Bigrams):
        words.append(f"{made.shape.n_layers}-layer{'s' * (made.shape.n_layers != 1)}")
    if task == "hop" and isinstance(made.task, Hop):
        words.append(f"k{made.task.k}")
    return "-".join([*words, f"seed{made.seed}"])
