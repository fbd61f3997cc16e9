"""The claim `gradient-descent`: a transformer computes k steps of gradient descent."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal, get_args

from theory.kinds import Positive, read
from verify.claim import Run, claim, option
from verify.evidence.certificates import Recursion, certify
from verify.evidence.examples import computes
from verify.finding import Finding, labelled
from verify.regression.convergence import descent_converges, safe_alpha
from verify.regression.data import gaussian_examples
from verify.regression.options import (
    DOMAINS,
    NUMBERS,
    Descent,
    Equality,
    Explain,
    Prompts,
    in_each_domain,
)
from verify.regression.statements import descent_statement

Layouts = Literal["all", Descent]


@claim(
    faults_seen=[
        options
        for layout in get_args(Descent)
        for options in in_each_domain(
            NUMBERS if layout == "causal" else DOMAINS, layout=layout, d=2, n=3, k=3
        )
    ],
    certifies=True,
)
def gradient_descent(
    run: Run,
    *,
    k: Annotated[int, option("number of steps of the algorithm", min=1, max=10**4)] = 10,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[int, option("number of examples in a prompt", min=1, max=10**4)] = 10,
    layout: Annotated[
        Layouts,
        option(
            "the construction; all: each of them, but not causal with --explain or --domain formula"
        ),
    ] = "all",
    step_size: Annotated[
        float | None,
        option("step size η; default: a power of two for which every prompt converges"),
    ] = None,
    domain: Equality = "all",
    samples: Prompts = 50,
    explain: Explain = False,
) -> Iterator[Finding]:
    """For all examples X with labels y and all queries x_q, k layers of one linear head predict
    ⟨w_k, x_q⟩ exactly over Q, where w_k is the result of k steps w ← w − η(S w − Xᵀy) of gradient
    descent from w = 0, with S = XᵀX. With causal attention, k layers predict the label of every
    input from the examples before it, in one forward pass. With full attention, ⌈log₃(2k + 1)⌉
    layers of several heads suffice, and fewer layers do not suffice.

    The step size η is a weight of the model. The width is d + 1 for layers of one head, 2d + 2 for
    causal layers, and at most 5d + 3 for the layout "ladder" with ⌈log₃(2k + 1)⌉ layers. The k
    steps multiply the error of w by the matrix (I − ηS)^k. Each layer of the layout "ladder"
    triples the exponent k of this matrix.
    """
    examples = gaussian_examples(run, samples, n, d)
    chosen_size = safe_alpha(examples.x, "identity") if step_size is None else step_size
    eta = read(Positive, "step_size", chosen_size)
    layouts = get_args(Descent) if layout == "all" else (layout,)
    cases = {chosen: descent_statement(run, chosen, eta).at(d, n, k) for chosen in layouts}
    by_formula = explain or domain == "formula"
    for chosen, case in cases.items():
        if layout == "all" and by_formula and not case.of.formula:
            continue
        yield from labelled(chosen, computes(run, case, examples, domain, explain=explain))
        of = Recursion(f"{k} steps of gradient descent", 1, eta, "identity", k)
        certify(run, case, of)
    if domain in ("all", "float"):
        yield descent_converges(examples.x, eta)
