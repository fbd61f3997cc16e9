"""Hand-built models in place of trained ones, for the self-test of `chomsky-trained`."""

from __future__ import annotations

from constructions.programs import chomsky_task
from verify.evidence.checkpoints import Trained


def built(models: list[Trained]) -> list[Trained]:
    """The hand-built models `chomsky_task` for the tasks on which `models` are trained."""
    return [
        Trained(name, chomsky_task(task.problem, task.longest), task) for name, _, task in models
    ]
