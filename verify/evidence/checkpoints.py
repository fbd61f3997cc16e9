"""The trained models of a claim."""

from __future__ import annotations

from typing import Any, NamedTuple

from constructions.trained import Configuration, configuration_of, load, shipped, sidecar
from constructions.trained.checkpoint import names_a_file, run_of, unknown
from theory.kinds import InputError
from verify.finding import Finding, Verdict


class Trained(NamedTuple):
    """A trained model, its task, and the name of its shipped checkpoint or file."""

    name: str
    model: Any
    task: Any


def models_of(name: str, kind: str) -> list[Trained]:
    """Returns the trained models whose checkpoints have this name, one for each seed.

    Raises ValueError if there is no such checkpoint, or if `kind_of` a model is not `kind`.
    """
    found = []
    for each in seeds_of(name):
        made, label = configuration_of(each), each.rsplit("/", 1)[-1].removesuffix(".safetensors")
        if kind_of(made) != kind:
            raise InputError(
                f"{label} is {kind_of(made)}, but this claim is about {kind}: give {kind}"
            )
        found.append(Trained(label, load(each), made.task))
    return found


def seeds_of(name: str) -> list[str]:
    """Returns the names of the shipped checkpoints `name`, or `name`-seed0, `name`-seed1, ….

    If `name` is the path of a file, returns only this path.

    Raises ValueError if there is no such checkpoint.
    """
    if names_a_file(name):
        return [name]
    found = [other for other in shipped() if other == name or other.startswith(f"{name}-seed")]
    if not found:
        raise unknown(name, sorted({other.rsplit("-seed", 1)[0] for other in shipped()}))
    return found


def kind_of(made: Configuration) -> str:
    """The shape and the task of a model in words: "a softmax transformer trained on regression"."""
    return f"{made.shape.words} trained on {made.task.kind}"


class Snapshot(NamedTuple):
    """A model during training, after some steps, with its task and the path of its checkpoint."""

    steps: int
    model: Any
    task: Any
    path: str


def runs_of(name: str, kind: str) -> dict[str, list[Snapshot]]:
    """Returns the snapshots of each training run named `name`, in the order of training steps.

    Raises ValueError in the cases in which `models_of` does.
    """
    found: dict[str, list[Snapshot]] = {}
    for path, each in zip(seeds_of(name), models_of(name, kind), strict=True):
        snapshot = Snapshot(sidecar(path)["steps"], each.model, each.task, path)
        found.setdefault(run_of(path), []).append(snapshot)
    return {label: sorted(run, key=lambda each: each.steps) for label, run in found.items()}


def absent(what: str, why: str, remedy: str) -> Finding:
    """The undecided finding for missing data, with the reason and the remedy."""
    return Finding(
        "package", what, "trained", "none", "the data", Verdict.UNDECIDED, f"skipped: {why}", remedy
    )
