"""Hand-built models in place of trained ones, for the self-test of `parity-trained`."""

from __future__ import annotations

from constructions import parity_with_steps
from verify.evidence.checkpoints import Trained


def built(models: list[Trained]) -> list[Trained]:
    """The hand-built models `parity_with_steps` for the parities on which `models` are trained."""
    return [
        Trained(name, parity_with_steps(task.d, task.k, task.tree.positions), task)
        for name, _, task in models
    ]
