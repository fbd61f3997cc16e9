"""The claim `mean-label`: one head answers with the mean of the labels."""

from collections.abc import Iterator
from typing import Annotated, Any

from verify.claim import Run, claim, option
from verify.evidence.identity import over_the_rationals
from verify.evidence.registers import registers_hold
from verify.evidence.size import size
from verify.evidence.statement import OverExamples
from verify.finding import Finding


def by_definition(domain: Any, X: Any, y: Any, Q: Any, k: int) -> Any:
    """(1/n) Σ_i y_i in any number system, for each row of queries Q."""
    total = domain.matrix([[domain.number(1, y.nrows())] * y.nrows()]) * y
    return domain.matrix(total.tolist() * Q.nrows())


@claim(source="mean_label/weights.py", faults_seen=[{}])
def mean_label(
    run: Run, *, d: Annotated[int, option("dimension of the inputs", min=1)] = 3
) -> Iterator[Finding]:
    """One head whose scores are all 0 answers with the mean of the labels."""

    def build(d: int, n: int, k: int) -> Any:
        from mean_label.weights import mean_of_labels

        return run.build(mean_of_labels, d)

    statement = OverExamples(
        build=build,
        algorithm=by_definition,
        command=lambda d, n, k: f"python -m verify mean-label --d {d}",
        holds=lambda _, domain, X, y, Q: lambda what: by_definition(domain, X, y, Q, 0),
        polynomial=False,  # a hardmax compares
    )
    yield size(statement.build(d, 5, 0), "mean-label", d=d)
    yield over_the_rationals(run, statement, d, 5, 0)
    yield registers_hold(run, statement, d, 5, 0)
