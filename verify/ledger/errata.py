"""The claim `errata`: mistakes in print, of all topics."""

from __future__ import annotations

from collections.abc import Iterator

from verify.arithmetic.printed import printed as printed_on_arithmetic
from verify.claim import Run, claim
from verify.finding import Finding, labelled
from verify.memory.printed import printed as printed_on_memory
from verify.regression.printed_proof import printed as printed_on_regression


@claim()
def errata(run: Run) -> Iterator[Finding]:
    """Published statements and proofs with a mistake fail as printed and hold as corrected.

    The publications are on linear regression, associative memories and arithmetic. A finding holds
    if the printed version fails and the corrected version holds. A theorem with a printed mistake
    may nevertheless be true: the theorem of [Fu2024] is true, and its repaired proof is in
    constructions/regression/newton_paper.py.
    """
    yield from labelled("regression", printed_on_regression(run))
    yield from labelled("memory", printed_on_memory(run))
    yield from labelled("arithmetic", printed_on_arithmetic(run))
