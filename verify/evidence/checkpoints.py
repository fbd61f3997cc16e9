"""Which trained models a claim speaks of."""

from __future__ import annotations

from typing import Any, NamedTuple

from constructions.trained import Configuration, configuration_of, load, shipped, sidecar
from constructions.trained.checkpoint import run_of
from theory.kinds import InputError
from verify.finding import Finding, Verdict


class Trained(NamedTuple):
    """A trained model, its task, and the name under which it is shipped, or that of its file."""

    name: str
    model: Any
    task: Any


def models_of(name: str, kind: str) -> list[Trained]:
    """The models of `seeds_of(name)`; ValueError if one is not of the kind, in words as `kind_of`
    has them."""
    found = []
    for each in seeds_of(name):
        made, label = configuration_of(each), each.rsplit("/", 1)[-1].removesuffix(".safetensors")
        if kind_of(made) != kind:
            raise InputError(f"{label} is {kind_of(made)}: this claim is about {kind}")
        found.append(Trained(label, load(each), made.task))
    return found


def seeds_of(name: str) -> list[str]:
    """The shipped checkpoints of a name, one for each seed; a file `….safetensors` is itself.

    Raises ValueError if there is none.
    """
    if name.endswith(".safetensors"):
        return [name]
    found = [other for other in shipped() if other == name or other.startswith(f"{name}-seed")]
    if not found:
        known = sorted({other.rsplit("-seed", 1)[0] for other in shipped()})
        raise InputError(f"no checkpoint {name}: shipped are {', '.join(known) or 'none'}")
    return found


def kind_of(made: Configuration) -> str:
    """A shape and a task in words: "a softmax transformer trained on regression"."""
    return f"{made.shape.words} trained on {made.task.kind}"


class Kept(NamedTuple):
    """A model of a run, its task, the steps after which it was kept, and its checkpoint."""

    steps: int
    model: Any
    task: Any
    path: str


def runs_of(name: str, kind: str) -> dict[str, list[Kept]]:
    """The shipped checkpoints of a name, run by run, each in the order of its steps; ValueError as
    `models_of`."""
    found: dict[str, list[Kept]] = {}
    for path, each in zip(seeds_of(name), models_of(name, kind), strict=True):
        kept = Kept(sidecar(path)["steps"], each.model, each.task, path)
        found.setdefault(run_of(path), []).append(kept)
    return {label: sorted(run, key=lambda kept: kept.steps) for label, run in found.items()}


def absent(what: str, why: str, remedy: str) -> Finding:
    """Nothing to measure: said in a word, and undecided."""
    return Finding(
        "package", what, "trained", "none", "the data", Verdict.UNDECIDED, f"skipped: {why}", remedy
    )
