"""Statements of many cases, which hold if there is no counterexample."""

from __future__ import annotations

from collections.abc import Iterable

from verify.finding import Finding, equal


def nowhere(id: str, name: str, counterexamples: Iterable[str], *, words: str = "") -> Finding:
    """An exact statement of many cases, which holds if there is no counterexample."""
    return equal(id, name, next(iter(counterexamples), None), words=words or "no counterexample")
