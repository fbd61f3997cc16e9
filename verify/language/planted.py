"""A model that distinguishes all prompts, for the self-test of `is-it-valid`."""

from __future__ import annotations

from dataclasses import replace

from theory.language import IsItValid


def distinguished(given: IsItValid) -> IsItValid:
    """The instance of *is it valid?* in which the model is p, and gives wrong responses mass 0."""
    return replace(given, g=given.p)
