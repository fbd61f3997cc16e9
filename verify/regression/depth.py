"""The claim `depth`: the layers that suffice and that are necessary for k Newton steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise, product
from typing import Annotated

import numpy as np

from theory.kinds import InputError
from theory.regression import Start, newton_degree, newton_lower_bound
from verify.claim import Run, claim, option
from verify.domains import Degrees, NotPolynomial, streams
from verify.evidence.examples import degree_of
from verify.evidence.formula import formula
from verify.evidence.identity import DomainName, modulo_primes, over_the_rationals, symbolically
from verify.evidence.statement import OverExamples
from verify.finding import Evidence, Finding, Verdict, equal, same
from verify.ledger.theorems import theorem
from verify.regression.options import LAYOUTS
from verify.regression.stability import CONDITIONS, Errors, does_not_grow, errors, stays_within
from verify.regression.statements import newton_statement

ALPHA = 2.0**-6
LARGEST_K = 100  # largest k of the table
STARTED: dict[Start, str] = {"gram": "from αS", "identity": "from αI"}
MODULO = (
    modulo_primes,
    "equal predictions for d = 2 and n = 3, modulo random primes with error probabilities of at "
    "most 1e-20",
)
FORMULA = (formula, "equal formulas of the predictions, for all n (paper: n = 3) and inputs")
COMPARED: dict[DomainName, tuple[Callable[..., Finding] | None, str]] = {
    "all": FORMULA,
    "formula": FORMULA,
    "modular": MODULO,
    "exact": (over_the_rationals, "equal predictions for d = 2 and n = 3 over Q"),
    "symbolic": (symbolically, "equal predictions as polynomials for k ≤ 3 and d = n = 1"),
    "float": (None, "predictions that are not compared"),
}
"""For each domain, the check that the layouts compute the same steps, and its description."""
EVIDENCE: dict[DomainName, Evidence] = {
    "exact": "exact",
    "float": "exact",
    "modular": "identity",
    "symbolic": "identity",
}


@claim(
    picture="verify.regression.pictures:depth_picture",
    faults_seen=[
        {"largest_k": 2, "domain": "modular", "largest_condition": 1.0},
        *(
            {"largest_k": 1, "domain": name, "largest_condition": 1.0}
            for name in ("exact", "symbolic")
        ),
    ],
)
def depth(
    run: Run,
    *,
    largest_k: Annotated[
        int, option("largest number of steps k in the table", min=0, max=LARGEST_K)
    ] = 12,
    domain: Annotated[
        DomainName, option("how the layouts are compared: in a number system, or by formulas")
    ] = "all",
    largest_condition: Annotated[
        float,
        option("errors are measured for κ = 10, 100, … up to this number, at most 1e6", min=1),
    ] = 1e6,
) -> Iterator[Finding]:
    """If L layers of linear or ReLU attention with ReLU MLPs compute k Newton–Schulz steps, then
    3^L ≥ 2^{k+2} + 1 for the start M₀ = αS with S = XᵀX for the examples X and a fixed α > 0, and
    3^L ≥ 2^{k+1} + 1 for the start M₀ = αI. In both cases, for the smallest L that satisfies the
    inequality, L layers of linear attention suffice.

    The Newton–Schulz steps are M_{j+1} = 2M_j − M_j S M_j, and the prediction for a query x_q and
    labels y is x_qᵀ M_k Xᵀ y. The prediction is a polynomial in the prompt, of degree 2^{k+2} + 1
    for the start αS and 2^{k+1} + 1 for the start αI. A layer at most triples the degree: a head
    multiplies three quantities that are affine in the stream, and ReLU is piecewise linear. The
    embeddings of tokens are affine in the prompt, so L layers compute piecewise polynomials of
    degree ≤ 3^L. On an open set where the output is one polynomial, 3^L is at least the degree of
    the prediction.

    Rounding errors do not triple in each layer: the bound on the rounding errors grows at most
    linearly in the number of layers. This linear growth is proved to first order for the start αI
    with α ≤ 1/λmax(S) and invertible S (docs/depth.md), and observed for the start αS.
    """
    if largest_condition > CONDITIONS[-1]:
        raise InputError(
            f"largest_condition is {largest_condition:g}: give a condition number from 1 to "
            f"{CONDITIONS[-1]:g}"
        )
    for start in LAYOUTS:
        yield _degree_is_attained(run, start, min(largest_k, 5))
    for layout in LAYOUTS["gram"]:
        statement = newton_statement(run, layout, "gram", ALPHA)
        yield _degree_by_layer(layout, statement, min(largest_k, 6))
    yield _lower_bound(largest_k)
    for k in run.progress(range(largest_k + 1), "layers"):
        yield _row(run, k, domain)
    conditions = [condition for condition in CONDITIONS if condition <= largest_condition]
    found: dict[Start, list[Errors]] = {start: [] for start in LAYOUTS}
    for start, condition in run.progress([*product(LAYOUTS, conditions)], "errors"):
        found[start].append(errors(run, start, condition))
        yield stays_within(start, found[start][-1])
    for start, each in found.items():
        if each:
            yield does_not_grow(start, each)
    run.draw(largest_k, found)


def _degree_is_attained(run: Run, start: Start, largest_k: int) -> Finding:
    """Compares the degree of the transformer's prediction with that of the bound."""
    statement = newton_statement(run, "direct", start, ALPHA)
    return same(
        f"degree/{start}",
        "degree, as a polynomial in the prompt, of the prediction after k Newton–Schulz steps "
        f"{STARTED[start]}, k = 0 … {largest_k}",
        [degree_of(statement.at(1, 1, k)) for k in range(largest_k + 1)],
        [newton_degree(k, start) for k in range(largest_k + 1)],
        evidence="identity",
        wanted="2^{k+2} + 1" if start == "gram" else "2^{k+1} + 1",
    )


def _degree_by_layer(layout: str, statement: OverExamples, k: int) -> Finding:
    """Compares the degree of the stream after each layer with three times the degree before it."""
    id = f"{layout}/degrees"
    name = (
        "largest degree, as a polynomial in the prompt, in the stream before the first layer and "
        f"after each layer, for the construction newton(layout='{layout}') with k = {k} steps"
    )
    domain, case = Degrees(), statement.at(2, 3, k)
    try:
        # Zeros of the prompt count as constants, which can only raise a degree bound.
        prompt = case.prompt(case.filled(domain, 1))
        degrees = [int(np.max(H.array)) for H in streams(case.model, prompt, domain)]
    except NotPolynomial as reason:
        return equal(id, name, str(reason))
    tripled = all(after <= 3 * before for before, after in pairwise(degrees))
    final = newton_degree(k)
    holds = tripled and degrees[-1] == final
    wanted = f"at most 3 times the degree before the layer, and {final} at the end"
    return Finding(id, name, "exact", degrees, final, Verdict.of(holds), wanted=wanted)


def _lower_bound(largest_k: int) -> Finding:
    """Checks the arithmetic of the lower bound: 3^(L−1) < degree ≤ 3^L for every k."""
    cases = [(k, start) for k in range(largest_k + 1) for start in LAYOUTS]
    least = [(newton_lower_bound(k, start), newton_degree(k, start)) for k, start in cases]
    right = sum(3 ** (layers - 1) < degree <= 3**layers for layers, degree in least)
    return same(
        "lower-bound",
        "lower bound on the number L of layers of linear or ReLU heads and ReLU MLPs that, on "
        "tokens affine in the prompt, compute k Newton–Schulz steps, for k = 0 … "
        f"{largest_k} from αS and from αI",
        right,
        len(least),
        words=f"3^(L−1) < (degree of the prediction) ≤ 3^L in {right} of {len(least)} cases",
        wanted="the smallest L with 3^L ≥ (degree of the prediction) in every case",
    )


def _row(run: Run, k: int, domain: DomainName) -> Finding:
    """One row of the table: the layers of each layout, the stated number and the lower bound."""
    compare, compared = COMPARED[domain]
    sizes = (1, 1, min(k, 3)) if domain == "symbolic" else (2, 3, k)
    counted: dict[str, dict[str, int]] = {}
    bounds, verdicts, words, detail = {}, [], [], ""
    for start, layouts in LAYOUTS.items():
        bound = bounds[STARTED[start]] = newton_lower_bound(k, start)
        row = counted[STARTED[start]] = {}
        for layout in layouts:
            statement = newton_statement(run, layout, start, ALPHA)
            layers = row[layout] = statement.at(2, 3, k).model.n_layers
            stated = theorem(statement.theorem).sizes["layers"](k=k)
            met = layout != "ladder" or layers == bound
            verdicts.append(Verdict.of(layers == stated >= bound and met))
            if compare is not None:
                same_steps = compare(run, statement.at(*sizes))
                verdicts.append(same_steps.verdict)
                if same_steps.detail and not detail:
                    detail = f"{layout}: {same_steps.name}: {same_steps.detail}"
        layers_of = ", ".join(f"{layout} has {count}" for layout, count in row.items())
        words.append(f"{STARTED[start]}, {layers_of}, and the lower bound is {bound}")
    return Finding(
        f"layers/{k}",
        f"number of layers of the construction newton for k = {k} Newton–Schulz steps, by layout",
        EVIDENCE.get(domain, "formula"),
        counted,
        bounds,
        Verdict.together(verdicts),
        "; ".join(words),
        "the number stated for each layout, which is the lower bound for the layout ladder; "
        f"{compared}",
        detail,
    )
