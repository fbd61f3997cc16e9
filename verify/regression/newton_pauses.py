"""The claim `newton-pauses`: Newton's method under a causal mask, with pause tokens."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated

from constructions import newton_with_pauses
from theory.kinds import Positive, read
from theory.regression import by_definition
from verify.claim import Run, claim, option
from verify.evidence.examples import computes
from verify.evidence.identity import DomainName
from verify.evidence.statement import OverExamples
from verify.finding import Finding
from verify.regression.convergence import newton_converges, safe_alpha
from verify.regression.data import gaussian_examples
from verify.regression.options import Prompts, in_each_domain


@claim(
    faults_seen=in_each_domain(k=2, d=2, n=3),
)
def newton_pauses(
    run: Run,
    *,
    k: Annotated[int, option("number of steps of the algorithm", min=0, max=1000)] = 5,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[int, option("number of examples in a prompt", min=1, max=10**4)] = 10,
    alpha: Annotated[
        float | None,
        option("scale α of M₀; default: a power of two for which every prompt converges"),
    ] = None,
    domain: Annotated[DomainName, option("number system of the equality")] = "all",
    samples: Prompts = 50,
) -> Iterator[Finding]:
    """For all examples X with labels y and all queries x_q, k + 2 causal layers of one linear head,
    with dk pause tokens between the examples and the query, predict x_qᵀ M_k Xᵀ y exactly over Q,
    where M₀ = αI for a number α > 0, M_{j+1} = 2M_j − M_j S M_j and S = XᵀX.

    Each example with its label is one token. The pause tokens are k groups of d tokens, one group
    for each step of the recursion for M.
    """
    examples = gaussian_examples(run, samples, n, d)
    scale = safe_alpha(examples.x, "identity") if alpha is None else alpha
    scale = read(Positive, "alpha", scale)

    case = OverExamples(
        build=lambda d, n, k: run.build(newton_with_pauses, d, k, scale),
        algorithm=partial(by_definition.newton, alpha=scale, start="identity"),
        repeat={"alpha": scale},
        theorem="newton-with-pauses",
    ).at(d, n, k)
    yield from computes(run, case, examples, domain)
    if domain in ("all", "float"):
        yield newton_converges(examples.x, scale, "identity")
