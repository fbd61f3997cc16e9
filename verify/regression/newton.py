"""The claim `newton`: a transformer computes k steps of the Newton–Schulz iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from constructions.regression.newton import direct_fits
from theory.kinds import InputError
from theory.regression import Start
from theory.regression import newton as solve
from verify.claim import Run, claim, option
from verify.domains import Rational
from verify.evidence.agreement import transformer_in_float
from verify.evidence.certificates import Recursion, certify
from verify.evidence.examples import computes
from verify.evidence.statement import Inputs, predict
from verify.finding import Finding, equal, labelled
from verify.regression.convergence import distance_to_ols, newton_converges, safe_alpha
from verify.regression.data import gaussian_examples
from verify.regression.options import (
    CAUSAL,
    DOMAINS,
    LAYOUTS,
    Equality,
    Explain,
    Layouts,
    Prompts,
    in_each_domain,
)
from verify.regression.statements import STEPS, layouts_of, newton_statement

QUICK = 4  # examples per prompt in the exact domains of a quick run


@claim(
    picture="verify.regression.pictures:newton_picture",
    certifies=True,
    faults_seen=[
        *in_each_domain(DOMAINS, layout="direct", d=2, n=3, k=2),
        {"layout": "direct", "domain": "modular", "d": 2, "n": 3, "k": 2, "explain": True},
        *(
            {
                "layout": layout,
                "start": start,
                "domain": "all",
                "d": 2,
                "n": 3,
                "k": k,
                "samples": 8,
            }
            for layout, start, k in (("causal", "identity", 1), ("causal-ladder", "gram", 2))
        ),
        *(
            {
                "layout": layout,
                "start": start,
                "domain": "all",
                "d": 2,
                "n": 3,
                "k": 2,
                "samples": 8,
            }
            for start, layouts in LAYOUTS.items()
            for layout in layouts
        ),
    ],
)
def newton(
    run: Run,
    *,
    k: Annotated[int, option("number of steps of the algorithm", min=0, max=10**4)] = 5,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[int, option("number of examples in a prompt", min=1, max=10**4)] = 10,
    layout: Annotated[
        Layouts,
        option(
            "the construction; all: direct, ladder and, from αS, paper if prompts × n² ≤ 5·10⁶ or "
            "with --domain formula; with --interleaved, direct only"
        ),
    ] = "all",
    start: Annotated[Start, option("M₀ = αS (gram) or αI (identity)")] = "gram",
    alpha: Annotated[
        float | None,
        option("scale α of M₀; default: a power of two for which every prompt converges"),
    ] = None,
    interleaved: Annotated[
        bool, option("use prompts with a token for each input and each label", "--interleaved")
    ] = False,
    domain: Equality = "all",
    samples: Prompts = 100,
    explain: Explain = False,
) -> Iterator[Finding]:
    """For all examples X with labels y and all queries x_q, hand-built transformers predict x_qᵀ
    M_k Xᵀ y exactly over Q, where M_k is the result of k steps of the Newton–Schulz iteration
    (Iterative Newton in [Fu2024]). The steps are M_{j+1} = 2M_j − M_j S M_j with S = XᵀX, from M₀ =
    αS or M₀ = αI, and α > 0 is one of the weights.

    Layout "paper" has the k + 8 layers of [Fu2024, Theorem 5.1], with ReLU attention and weights
    that depend on the number n of examples; "direct" has k + 2 layers of one linear head; "ladder"
    has ⌈log₃(2^(k+2) + 1)⌉ layers of linear heads, the smallest number of such layers. Models with
    a causal mask predict from every prefix at once. The transformers compute the iterates M_k for
    every X, whether or not they converge. On the range of S, the iterates converge to the
    pseudo-inverse of S iff 0 < α < 2/λmax(S)² for M₀ = αS, and iff 0 < α < 2/λmax(S) for M₀ = αI.
    Here λmax(S) is the largest eigenvalue of S.
    """
    if run.certificates is not None and (layout == "paper" or interleaved):
        raise InputError(
            f"layout is '{layout}' and interleaved is {interleaved}, for which there is no "
            "certificate: use another layout without --interleaved, or omit --certificate"
        )
    if layout in ("all", "direct"):
        direct_fits(k)  # before examples are drawn
    examples = gaussian_examples(run, samples, n, d)
    scale = safe_alpha(examples.x, start) if alpha is None else float(alpha)
    pairs = 0 if domain == "formula" else len(examples.x) * n * n
    rows = QUICK if run.quick else None
    cases = {
        chosen: newton_statement(run, chosen, start, scale, interleaved).at(d, n, k)
        for chosen in layouts_of(layout, start, pairs, interleaved)
    }
    for case in cases.values():
        case.model  # noqa: B018 options that a layout does not take are rejected first
    for chosen, case in cases.items():
        in_float = (
            transformer_in_float(case.model, *examples) if domain in ("all", "float") else None
        )
        found = computes(
            run,
            case,
            examples,
            domain,
            most_steps=STEPS,
            most_rows=rows,
            explain=explain,
            predicted=in_float,
        )
        yield from labelled(chosen, found)
        if chosen != "paper" and not interleaved:
            of = Recursion(f"{k} steps of Newton's method", k, scale, start)
            certify(run, case, of)
    if domain == "all":
        if "paper" in cases:
            yield _twice_as_many_examples(run)
        yield _theory(run, start)
    if in_float is not None:
        if layout in CAUSAL:  # the last prefix contains all examples
            in_float = in_float[0][..., -1], in_float[1][..., -1]
        yield newton_converges(examples.x, scale, start)
        yield distance_to_ols(examples, in_float, k, scale, start)
    x, y = examples.x[0], examples.y[0]
    run.draw(x, y, k, alpha or safe_alpha(x, start), start)


def _theory(run: Run, start: Start) -> Finding:
    """Compares `theory.regression.newton` with a transformer over Q, on small integers."""
    (n, d, k), alpha, domain = (3, 2, 2), 2.0**-6, Rational()
    X, y, Q = (run.rng.integers(-2, 3, shape).astype(float) for shape in ((n, d), (n, 1), (1, d)))
    case = newton_statement(run, "direct", start, alpha).at(d, n, k)
    given = Inputs(domain, *(domain.weights(array).tolist() for array in (X, y, Q)))
    prediction = case.predictions(given).tolist()[0][0]
    value = domain.number(*float(Q[0] @ solve(X, y[:, 0], k, alpha, start)).as_integer_ratio())
    return equal(
        "theory",
        "prediction of the function theory.regression.newton and of the transformer on integers, "
        f"d = {d}, n = {n}, k = {k}",
        None
        if prediction == value
        else f"the function gives {value} and the transformer {prediction}",
        words=f"both give {value}",
        wanted="equal predictions over Q",
    )


def _twice_as_many_examples(run: Run) -> Finding:
    """Checks over Q that the weights of "paper" compute steps from α(n/m)²·S on m examples.

    ReLU attention divides by m, so each factor n becomes r = n/m: the start is M₀ = rαS, a step is
    M ← 2M − r M S M, and the product with the labels has a factor r.  So r M satisfies Newton's
    recursion from r²αS, and the prediction is x_qᵀ (r M_k) Xᵀ y. Here m = 2n.
    """
    (d, n, k), alpha = (2, 3, 2), 2.0**-6
    ours, quarter = (newton_statement(run, "paper", "gram", a) for a in (alpha, alpha / 4))
    given = ours.at(d, 2 * n, k).rational(run.rng)
    prediction = predict(ours.at(d, n, k).model, given)
    wanted, other = (of.algorithm(*given.matrices, k) for of in (quarter, ours))
    answer, *both = (each.tolist()[0][0] for each in (prediction, wanted, other))
    differs = f"predicted {answer}; from α/4 it is {both[0]}, from α {both[1]}"
    return equal(
        "paper/other-n",
        f"prediction from m = {2 * n} examples by the construction newton(layout='paper') whose "
        f"weights are made for n = {n} examples, d = {d}, k = {k}",
        None if prediction == wanted != other else differs,
        words="equal to the result of k steps from α/4, and not to that from α",
        wanted="the result of k steps from α(n/m)²",
    )
