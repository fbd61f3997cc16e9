"""The claim `mean-label`: one head outputs the mean of the labels."""

from collections.abc import Iterator
from typing import Annotated

from mean_label.theory import by_definition
from mean_label.weights import mean_of_labels
from verify.claim import Run, claim, option
from verify.evidence.identity import over_the_rationals
from verify.evidence.registers import registers_hold
from verify.evidence.size import size
from verify.evidence.statement import OverExamples
from verify.finding import Finding


@claim(faults_seen=[{}])
def mean_label(
    run: Run, *, d: Annotated[int, option("dimension of the inputs", min=1)] = 3
) -> Iterator[Finding]:
    """One head whose scores are all 0 outputs the mean of the labels."""
    case = OverExamples(
        build=lambda d, n, k: run.build(mean_of_labels, d),
        algorithm=lambda of, X, y, Q, k: by_definition(of, X, y, Q),
        polynomial=False,  # a hardmax compares
    ).at(d, n=5, k=0)
    yield size(case.model, "mean-label", d=d)
    yield over_the_rationals(run, case)
    yield registers_hold(run, case)
