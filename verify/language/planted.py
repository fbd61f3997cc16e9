"""Models that cannot be what a claim says of all, for the self-test."""

from __future__ import annotations

from dataclasses import replace

from theory.language import IsItValid


def told_apart(given: IsItValid) -> IsItValid:
    """A model that tells all prompts apart: it says what is true."""
    return replace(given, g=given.p)
