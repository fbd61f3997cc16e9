"""The claim `online-gradient-descent`: causal layers make one pass of Kaczmarz's method."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

from verify.claim import Run, claim, option
from verify.evidence.examples import in_float64
from verify.evidence.identity import modulo_primes, over_the_rationals
from verify.evidence.size import size
from verify.evidence.statement import Case, Inputs
from verify.finding import Finding, equal
from verify.regression.data import gaussian_examples
from verify.regression.options import Prompts, in_each_domain
from verify.regression.statements import online_statement


@claim(
    faults_seen=in_each_domain(("float", "exact", "modular"), d=2, n=3),
)
def online_gradient_descent(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the inputs", min=1, max=500)] = 5,
    n: Annotated[int, option("number of examples in a prompt", min=1, max=10**4)] = 10,
    domain: Annotated[Literal["all", "float", "exact", "modular"], option("number system")] = "all",
    samples: Prompts = 50,
) -> Iterator[Finding]:
    """For all examples X with labels y and all queries x_q, n strictly causal layers of one linear
    head and a ReLU MLP predict ⟨w_n, x_q⟩ exactly over Q, where w_n is the result of one pass of
    Kaczmarz's method (normalised LMS with step size 1) over n examples. The steps are w ← w + (y_i
    − ⟨w, x_i⟩) x_i/‖x_i‖² for i = 1, …, n from w = 0. Prompts contain x_i, y_i and x_i/‖x_i‖².

    This is online gradient descent in which each step fits its example exactly. The residual of
    token i is y_i at first, and y_i − ⟨w_{i−1}, x_i⟩ after n − 1 layers. Each of these layers
    replaces it by y_i plus a weighted sum of earlier residuals. Because of the divisions by ‖x_i‖²,
    the prediction is a rational function of the inputs, and not a polynomial. So the equality
    cannot be checked symbolically, as an identity of polynomials. With `domain="modular"`, it is
    checked modulo random primes, and the stated error probability accounts for the denominators.
    """
    case = online_statement(run).at(d, n, 0)
    yield size(case.model, case.of.theorem, d=d, n=n)
    if domain in ("all", "float"):
        yield in_float64(case, gaussian_examples(run, samples, n, d))
    if domain in ("all", "exact"):
        yield over_the_rationals(run, case)
        yield _last_example_fitted(run, case)
    if domain in ("all", "modular"):
        yield modulo_primes(run, case)


def _last_example_fitted(run: Run, case: Case) -> Finding:
    """Checks that the prediction at the last example is its label, exactly."""
    domain, X, y, _ = case.rational(run.rng)
    X[-1] = [entry if entry else domain.number(1) for entry in X[-1]]
    answer = case.predictions(Inputs(domain, X, y, [X[-1]])).tolist()[0][0]
    label = y[-1][0]
    return equal(
        "fitted",
        "prediction at the input of the last example, over Q",
        None if answer == label else f"predicted {answer}, the label is {label}",
        words=f"{answer}",
        wanted=f"the label {label} of the last example",
    )
