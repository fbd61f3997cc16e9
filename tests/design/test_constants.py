"""Thresholds and limits are as recorded: none changes unnoticed."""

from __future__ import annotations

from constants import FILE, constants


def test_constants_are_as_recorded():
    """If this fails on purpose, write them again with `python tests/constants.py`."""
    assert constants() == FILE.read_text(encoding="utf-8").splitlines()
