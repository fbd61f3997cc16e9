"""Models that cannot be what a claim says of all, or are what it asks for, for the self-test."""

from __future__ import annotations

from dataclasses import replace

from constructions import parity_with_steps
from theory.language import IsItValid
from verify.evidence.checkpoints import Trained


def told_apart(given: IsItValid) -> IsItValid:
    """A model that tells all prompts apart: it says what is true."""
    return replace(given, g=given.p)


def built(models: list[Trained]) -> list[Trained]:
    """`parity_with_steps` over the letters of each model's task."""
    return [
        Trained(name, parity_with_steps(task.d, task.k, task.tree.letters), task)
        for name, _, task in models
    ]
