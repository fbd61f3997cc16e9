"""The claim `newton`: a transformer computes k steps of Iterative Newton."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from theory.regression import Start
from verify.claim import Run, claim, option
from verify.evidence.agreement import transformer_in_float
from verify.evidence.identity import DomainName
from verify.finding import Finding, labelled
from verify.regression.convergence import distance_to_ols, newton_converges, safe_alpha
from verify.regression.data import gaussian_examples
from verify.regression.pictures import newton_picture
from verify.regression.statements import LAYOUTS, STEPS, Layouts, computes, newton_statements


@claim(
    source="[Fu2024, Theorem 5.1]; fewer layers proved in constructions/regression/",
    draws=True,
    faults_seen=[
        {"layout": layout, "start": start, "domain": domain, "d": 2, "n": 3, "k": 2, "samples": 2}
        for start, layouts in LAYOUTS.items()
        for layout in layouts
        for domain in ("all", "float", "exact", "modular", "symbolic")
    ],
)
def newton(
    run: Run,
    *,
    k: Annotated[int, option("steps of the algorithm", min=0)] = 5,
    d: Annotated[int, option("dimension of the inputs", min=1)] = 5,
    n: Annotated[int, option("examples in a prompt", min=1)] = 10,
    layout: Annotated[Layouts, option("which construction")] = "all",
    start: Annotated[Start, option("M₀ = αS (gram) or αI (identity)")] = "gram",
    alpha: Annotated[
        float | None, option("α; default: the largest power of two that is safe for the prompts")
    ] = None,
    interleaved: Annotated[
        bool, option("a token for each input and each label", "--interleaved")
    ] = False,
    domain: Annotated[DomainName, option("number system of the equality")] = "all",
    samples: Annotated[int, option("generated prompts for the float comparison", min=1)] = 100,
) -> Iterator[Finding]:
    """On any examples and query, hand-built weights compute k steps of Iterative Newton.

    The prediction is x_qᵀ M_k Xᵀ y with M₀ = αS (or αI), M_{j+1} = 2M_j − M_j S M_j,
    S = XᵀX. Computing the recursion needs no hypothesis; it converges to the pseudo-inverse iff
    0 < α < 2/λmax(S)² (from αI: 2/λmax(S)).
    """
    examples = gaussian_examples(run, samples, n, d)
    scale = safe_alpha(examples.x, start) if alpha is None else float(alpha)
    pairs = len(examples.x) * n * n
    statements = newton_statements(run, layout, start, scale, pairs, interleaved)
    for chosen, statement in statements.items():
        found = computes(run, statement, examples, k, domain, scale, start, most_steps=STEPS)
        yield from labelled(chosen, found)
    if domain in ("all", "float"):
        in_float = transformer_in_float(statement.build(d, n, k), *examples)
        yield newton_converges(examples.x, scale, start)
        yield distance_to_ols(examples, in_float, k, scale, start)
    if run.plot:
        x, y = examples.x[0], examples.y[0]
        newton_picture(run.plot, x, y, k, alpha or safe_alpha(x, start), start)
