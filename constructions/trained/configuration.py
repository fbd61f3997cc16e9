"""What a trained model is: its task, its shape and how it is trained, in one record.

A configuration and a seed determine the weights, up to the rounding of the machine.  It is written
beside every checkpoint as JSON, with the version of this record.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any

from theory import checks
from theory.checks import InputError

VERSION = 1  # of the record; another one is refused
NOISE = 1e-6, 1e6  # what float32 can add to labels of about √d


@dataclass(frozen=True)
class Regression:
    """In-context linear regression: y_t = ⟨w, x_t⟩ + noise·ε_t for t = 1 … points [Garg2022].

    w ~ N(0, I_d), ε_t ~ N(0, 1) and x_t ~ N(0, Σ).  Σ is I, or, "ill-conditioned", has ⌊d/2⌋
    eigenvalues 100 and else 1, in a random basis of each prompt's own [Fu2024].
    """

    d: int
    points: int
    covariance: str = "isotropic"
    noise: float = 0.0

    def __post_init__(self) -> None:
        checks.dimension("d", self.d)
        checks.dimension("points", self.points)
        checks.one_of("covariance", self.covariance, ("isotropic", "ill-conditioned"))
        low, high = NOISE
        if checks.nonnegative("noise", self.noise) and not low <= self.noise <= high:
            raise InputError(f"noise is {self.noise}: give 0, or a number from {low:g} to {high:g}")


@dataclass(frozen=True)
class Hop:
    """Uniform random tokens; wanted at each position is the token that k hops lead to, a hop being
    to what followed the latest earlier copy of a token [Sanford2024].  k = 1 is induction.

    Positions from which fewer hops can be made are left out.
    """

    vocabulary_size: int
    length: int
    k: int = 1

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "length", "k"):
            checks.dimension(name, getattr(self, name))


@dataclass(frozen=True)
class Bigrams:
    """Sequences of a Markov chain of their own, with uniform (Dirichlet(1)) rows and start; wanted
    at each position is the next token [Edelman2024]."""

    vocabulary_size: int
    length: int

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "length"):
            checks.dimension(name, getattr(self, name))


@dataclass(frozen=True)
class TransformerShape:
    """Layers of `n_heads` heads of width d_model/n_heads, each with an MLP of `d_mlp` ReLUs (or
    none, 0), and layer norm before each and at the end, or none."""

    n_layers: int
    n_heads: int
    d_model: int
    d_mlp: int
    layer_norm: bool = True
    normalise: str = "softmax"

    def __post_init__(self) -> None:
        for name in ("n_layers", "n_heads", "d_model"):
            checks.dimension(name, getattr(self, name))
        checks.step_count("d_mlp", self.d_mlp)
        checks.one_of("normalise", self.normalise, ("softmax", "linear"))
        if self.d_model % self.n_heads:
            raise InputError(
                f"d_model is {self.d_model}: give a multiple of n_heads, {self.n_heads}"
            )


@dataclass(frozen=True)
class LSTMShape:
    """`n_layers` LSTMs, one on top of the other, of `width` units each."""

    n_layers: int
    width: int

    def __post_init__(self) -> None:
        checks.dimension("n_layers", self.n_layers)
        checks.dimension("width", self.width)


@dataclass(frozen=True)
class Curriculum:
    """From `d` coordinates and `points` points, one coordinate and two points more every so many
    steps, up to the task's [Garg2022]."""

    d: int
    points: int
    every: int

    def __post_init__(self) -> None:
        for name in ("d", "points", "every"):
            checks.dimension(name, getattr(self, name))


Task = Regression | Hop | Bigrams
Shape = TransformerShape | LSTMShape

KINDS: dict[str, type] = {
    "regression": Regression,
    "hop": Hop,
    "bigrams": Bigrams,
    "transformer": TransformerShape,
    "lstm": LSTMShape,
}


@dataclass(frozen=True)
class Configuration:
    """A model and its training: AdamW with `weight_decay` at `learning_rate` after `warmup` steps,
    along a half cosine down to `final_rate` of it at the last of `steps`, on `batch_size` fresh
    prompts a step, gradients clipped to length `clip`."""

    task: Task
    shape: Shape
    steps: int
    learning_rate: float
    batch_size: int = 64
    warmup: int = 0
    final_rate: float = 1.0
    weight_decay: float = 0.0
    clip: float = 1.0
    curriculum: Curriculum | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, kind, words in (
            ("task", Task, "a Regression, Hop or Bigrams"),
            ("shape", Shape, "a TransformerShape or LSTMShape"),
            ("curriculum", Curriculum | None, "a Curriculum or None"),
        ):
            if not isinstance(getattr(self, name), kind):
                raise InputError(f"{name} is {getattr(self, name)!r}: give {words}")
        for name in ("seed", "warmup"):
            checks.step_count(name, getattr(self, name))
        for name in ("steps", "batch_size"):
            checks.dimension(name, getattr(self, name))
        for name in ("learning_rate", "clip"):
            checks.positive(name, getattr(self, name))
        for name in ("final_rate", "weight_decay"):
            checks.nonnegative(name, getattr(self, name))
        if isinstance(self.shape, LSTMShape) and not isinstance(self.task, Regression):
            raise InputError("an LSTM is for regression: give a transformer's shape")
        if self.curriculum is not None and not isinstance(self.task, Regression):
            raise InputError("a curriculum is for regression: leave it out")

    @property
    def answers_queries(self) -> bool:
        """Whether the model answers queries after all examples, and not after every prefix."""
        return (
            isinstance(self.task, Regression) and getattr(self.shape, "normalise", "") == "linear"
        )

    def rate(self, step: int) -> float:
        """The learning rate of a step, as a fraction of `learning_rate`."""
        if step < self.warmup:
            return (step + 1) / self.warmup
        done = (step - self.warmup) / max(1, self.steps - self.warmup)
        return self.final_rate + (1 - self.final_rate) * (1 + math.cos(math.pi * done)) / 2

    def to_json(self) -> dict[str, Any]:
        """The record as JSON holds it; `from_json` reads it back."""
        names = {kind: name for name, kind in KINDS.items()}
        record: dict[str, Any] = {"version": VERSION}
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) in names:
                value = {"kind": names[type(value)], **asdict(value)}
            elif isinstance(value, Curriculum):
                value = asdict(value)
            record[field.name] = value
        return record

    @staticmethod
    def from_json(record: Mapping[str, Any]) -> Configuration:
        """The configuration that `to_json` wrote.

        Raises `ValueError` for a record of another version, or one that is none.
        """
        if not isinstance(record, Mapping):
            raise InputError(f"not a configuration of version {VERSION}: {record!r}")
        if record.get("version") != VERSION:
            raise InputError(
                f"the configuration is of version {record.get('version')!r} and this is version "
                f"{VERSION}: train the model again, or use the release that wrote it"
            )
        try:
            values = {name: value for name, value in record.items() if name != "version"}
            for name in ("task", "shape"):
                inner = dict(values[name])
                values[name] = KINDS[inner.pop("kind")](**inner)
            if values["curriculum"] is not None:
                values["curriculum"] = Curriculum(**values["curriculum"])
            return Configuration(**values)
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"not a configuration of version {VERSION}: {error}") from None
