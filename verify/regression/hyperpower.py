"""The claim `hyperpower`: a transformer computes k hyperpower steps of any order."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Annotated

import constructions
from theory.kinds import Positive, read
from theory.regression import Start, by_definition
from verify.claim import Run, claim, option
from verify.evidence.certificates import Recursion, certify
from verify.evidence.examples import computes
from verify.evidence.formula import formula
from verify.evidence.statement import OverExamples
from verify.finding import Finding, labelled
from verify.regression.convergence import newton_converges, safe_alpha
from verify.regression.data import gaussian_examples
from verify.regression.options import DOMAINS, Equality, Explain, Prompts, in_each_domain


@claim(
    faults_seen=in_each_domain(DOMAINS, order=3, k=1, d=2, n=3),
    certifies=True,
)
def hyperpower(
    run: Run,
    *,
    k: Annotated[int, option("number of steps of the algorithm", min=0, max=100)] = 2,
    order: Annotated[
        int, option("order p; a step raises the residual to the power p", min=2, max=1000)
    ] = 3,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[int, option("number of examples in a prompt", min=1, max=10**4)] = 10,
    alpha: Annotated[
        float | None,
        option("scale α of M₀; default: a power of two for which every prompt converges"),
    ] = None,
    domain: Equality = "all",
    samples: Prompts = 50,
    explain: Explain = False,
) -> Iterator[Finding]:
    """For all examples X with labels y and all queries x_q, ⌈log₃(4p^k + 1)⌉ layers of linear
    attention, the smallest possible number, predict x_qᵀ M_k Xᵀ y exactly over Q, where M_k is the
    result of k hyperpower steps of order p ≥ 2. The steps are M_{j+1} = M_j (I + E + … + E^{p−1})
    with E = I − S M_j, from M₀ = αS with a number α > 0 and S = XᵀX.

    M_k converges to the pseudo-inverse of S iff 0 < α < 2/λmax², where λmax is the largest
    eigenvalue of S. For p = 2, the hyperpower iteration is the Newton–Schulz iteration. Fewer
    layers do not suffice, because the prediction is a polynomial of degree 4p^k + 1 in the prompt,
    and a layer at most triples the degree (claim `depth`). The claim also compares the formula
    of the prediction from M₀ = αI.
    """
    examples = gaussian_examples(run, samples, n, d)
    scale = safe_alpha(examples.x, "gram") if alpha is None else alpha
    scale = read(Positive, "alpha", scale)

    def statement(start: Start) -> OverExamples:
        return OverExamples(
            build=lambda d, n, k: run.build(
                constructions.hyperpower, d, k, order, scale, start=start
            ),
            algorithm=partial(by_definition.hyperpower, order=order, alpha=scale, start=start),
            repeat={"order": order, "alpha": scale},
            formula=True,
            theorem="hyperpower",
            parameters={"p": order},
        )

    case = statement("gram").at(d, n, k)
    yield from computes(run, case, examples, domain, explain=explain)
    if domain in ("all", "formula"):
        yield from labelled("start identity", [formula(run, statement("identity").at(d, n, k))])
    of = Recursion(f"{k} steps of order {order}", k, scale, order=order)
    certify(run, case, of)
    if domain in ("all", "float"):
        yield newton_converges(examples.x, scale, "gram")
