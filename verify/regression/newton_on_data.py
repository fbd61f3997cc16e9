"""The claim `newton-on-data`: Newton–Schulz transformers on the rows of a CSV file."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from typing import Annotated, Literal

import numpy as np

from theory.kinds import InputError
from theory.regression import Start, newton_residual, ols
from verify.claim import Run, claim, option
from verify.domains import Rational
from verify.evidence.agreement import transformer_in_float
from verify.evidence.examples import Examples, computes
from verify.evidence.identity import DomainName, modulo_primes
from verify.evidence.statement import Inputs, OverExamples
from verify.finding import Finding, at_most, equal, labelled
from verify.output.files import deliver, file_target
from verify.regression.convergence import distance_to_ols, from_ols, newton_converges, safe_alpha
from verify.regression.data import Table, read_table
from verify.regression.options import Packed
from verify.regression.statements import STEPS, layouts_of, newton_statement

MOST_ROWS = 100  # rows of the data in the exact domains
LARGEST_EXACT = 4e6  # largest bits·n·d² in rational arithmetic; larger ones take seconds
MODULAR = 40  # largest number of steps for which the degree suits primes of 61 bits
MOST_NEEDED = 1000  # the largest number of steps whose weights, up to 2^k, are float64 numbers
ACCURACY = 1e-6  # the distance to least squares for which steps are counted


SMALL = Path(__file__).with_name("selftest.csv")


@claim(
    picture="verify.regression.pictures:newton_picture",
    faults_seen=[{"data": SMALL, "layout": "direct", "k": 2}],
)
def newton_on_data(
    run: Run,
    *,
    data: Annotated[Path, option("CSV file whose rows are examples", "--data")],
    target: Annotated[str | None, option("column to predict; default: the last column")] = None,
    k: Annotated[int, option("number of steps of the algorithm", min=0, max=10**4)] = 5,
    layout: Annotated[
        Literal["all", Packed],
        option("the construction; none with a causal mask, since queries share the examples"),
    ] = "all",
    start: Annotated[Start, option("M₀ = αS (gram) or αI (identity)")] = "gram",
    alpha: Annotated[
        float | None,
        option("scale α of M₀; default: a power of two for which the data converge"),
    ] = None,
    domain: Annotated[DomainName, option("number system of the equality")] = "all",
    predictions: Annotated[
        Path | None,
        option("CSV file for predictions of held-out rows by the transformer and by OLS"),
    ] = None,
) -> Iterator[Finding]:
    """From the rows of a table, with features X and targets y, hand-built transformers predict qᵀ
    M_k Xᵀ y exactly over Q for every query q, where M_{j+1} = 2M_j − M_j S M_j, M₀ = αS and S =
    XᵀX. If 0 < α < 2/λmax(S)², this prediction is within ε = 10⁻⁶ of the least-squares prediction
    after log₂(ln(‖q‖‖w‖/ε)/(−ln ρ)) steps, where w = S⁺Xᵀy and ρ is the largest |1 − αλ²| over the
    nonzero eigenvalues λ of S.

    The matrix S⁺ is the pseudo-inverse of S, and λmax(S) is the largest eigenvalue of S. Columns
    are standardised, and a fifth of the rows are held out as queries. The claim `newton` checks the
    same prediction on random examples. Further findings report the number of steps after which the
    predictions agree with ordinary least squares, and the accuracy on the held-out rows, both for
    the recursion and for the transformer in float64.
    """
    if predictions is not None:
        file_target(predictions)
        if predictions.exists() and predictions.samefile(data):
            raise InputError(
                f"--predictions would overwrite the data in {data}: give the name of another file"
            )
        if domain not in ("all", "float"):
            raise InputError(
                f"--domain is {domain}, and --predictions requires float64: "
                "give --domain all or --domain float"
            )
    table = read_table(data, target, run.rng)
    examples = table.examples
    (x, y, queries), (n, d) = examples, examples.x.shape
    scale = safe_alpha(x, start) if alpha is None else float(alpha)
    what = f"{len(queries)} held-out rows of {data.name}"
    needed, stated = steps_to_ols(examples, scale, start)
    predicted: dict[str, np.ndarray] = {}
    statements = {
        chosen: newton_statement(run, chosen, start, scale)
        for chosen in layouts_of(layout, start, n * n)
    }
    for statement in statements.values():
        statement.at(d, n, k).model  # noqa: B018 options that a layout does not take are rejected
    for chosen, statement in statements.items():
        case = statement.at(d, n, k)
        in_float = (
            transformer_in_float(case.model, *examples) if domain in ("all", "float") else None
        )
        found = computes(
            run,
            case,
            examples,
            domain,
            most_steps=STEPS,
            most_rows=MOST_ROWS,
            what=what,
            predicted=in_float,
        )
        yield from labelled(chosen, found)
        if in_float is not None:
            predicted[chosen] = in_float[0]
            of_layout = [held_out(table, in_float, k, scale, start, needed)]
            of_layout[0].detailed = len(predicted) == 1  # the table is the same for every layout
            if needed is not None:
                of_layout.append(steps_taken(statement, examples, needed, scale, start))
            if domain == "all" and needed is not None and needed <= MODULAR:
                of_layout.append(modulo_primes(run, statement.at(d, n, needed)))
                of_layout[-1].id = "steps/modular"
            yield from labelled(chosen, of_layout)
        if domain in ("all", "exact"):
            rows = x[:MOST_ROWS], y[:MOST_ROWS]
            yield from labelled(chosen, [exactly(statement, *rows, queries, k)])
    if in_float is not None:
        yield newton_converges(x, scale, start)
        yield distance_to_ols(examples, in_float, k, scale, start)
    if needed is not None:
        kappa = condition(x)
        name = f"steps of the recursion on {data.name} until it is within {ACCURACY:g} of OLS"
        given = f"(the condition number κ(S) is {kappa:.3g} and the option k is {k})"
        wanted = f"at most {stated} steps, by the rate of convergence"
        yield at_most("steps", f"{name} {given}", "float", needed, stated, wanted=wanted)
    if predictions is not None:
        deliver(predictions, as_csv(table, predicted).encode())
    run.draw(x, y, k, scale, start)


def exactly(
    statement: OverExamples, x: np.ndarray, y: np.ndarray, queries: np.ndarray, k: int
) -> Finding:
    """Checks that transformer and recursion are equal over Q on the data, for every held-out row.

    The entries of the data are float64 numbers. A prediction has about 53 bits times its degree; k
    is reduced if the predictions would be too long.
    """
    n, d = x.shape
    while k > 1 and 53 * 2 ** (k + 2) * n * d * d > LARGEST_EXACT:
        k -= 1
    domain = Rational()
    rows = (domain.weights(array).tolist() for array in (x, y[:, None], queries))
    differs = not statement.at(d, n, k).agrees(Inputs(domain, *rows))
    return equal(
        "on-data",
        f"transformer and recursion, exactly on {n} rows of the data, k = {k}",
        "the predictions over Q differ" if differs else None,
    )


def steps_to_ols(examples: Examples, alpha: float, start: Start) -> tuple[int | None, int]:
    """The steps of the recursion until it is within ACCURACY of least squares, and a bound on them.

    The number of steps and the bound are maxima over queries. The number of steps is None if the
    recursion does not converge.
    """
    x, y, queries = examples
    eigenvalues, vectors = _spectrum(x)
    with np.errstate(over="ignore"):  # infinite rates do not converge
        rates = alpha * eigenvalues ** (2 if start == "gram" else 1)
    if rates[-1] >= 2:
        return None, 0
    w, directions = vectors.T @ (x.T @ y) / eigenvalues, queries @ vectors

    def enough(steps: int) -> bool:
        left = newton_residual(eigenvalues, steps, alpha, start) * w
        return float(np.abs(directions @ left).max()) <= ACCURACY

    needed = next((steps for steps in range(MOST_NEEDED + 1) if enough(steps)), None)
    if needed is None:
        raise InputError(
            f"alpha is {alpha:g}: give a larger number, since more than {MOST_NEEDED} steps are "
            "needed to agree with OLS"
        )
    scale = float(np.linalg.norm(queries, axis=-1).max() * np.linalg.norm(w))
    # The logarithm of the largest residual doubles in each step.
    slowest = min(float(np.minimum(rates, 2 - rates).min()), 1 - 2.0**-53)
    stated = np.log2(np.log(max(scale / ACCURACY, np.e)) / -np.log1p(-slowest))
    return needed, max(0, int(np.ceil(stated)))


def steps_taken(
    statement: OverExamples, examples: Examples, k: int, alpha: float, start: Start
) -> Finding:
    """Checks that the transformer is within ACCURACY of least squares after k steps.

    The finding is undecided if rounding alone may explain a larger distance; otherwise it fails.
    """
    n, d = examples.x.shape
    in_float = transformer_in_float(statement.at(d, n, k).model, *examples)
    found = from_ols(examples, in_float, 2**k, alpha, start)
    certain = np.maximum(found.distance - found.rounding, 0)
    farthest, least = float(found.distance.max()), float(certain.max())
    return at_most(
        "steps",
        f"relative distance of the transformer in float64 from OLS after k = {k} steps",
        "float",
        (least, farthest),
        ACCURACY,
        words=f"{farthest:.1e}; in exact arithmetic, at least {least:.1e}",
        detail=""
        if farthest <= ACCURACY
        else "rounding is amplified by columns that are nearly linear combinations of other "
        "columns: leave out some of these columns, or try another layout",
    )


def held_out(
    table: Table,
    in_float: tuple[np.ndarray, np.ndarray],
    k: int,
    alpha: float,
    start: Start,
    needed: int | None,
) -> Finding:
    """Compares the root mean squared errors of the transformer and least squares on held-out rows.

    By the triangle inequality, the two root mean squared errors differ by at most the root mean
    square of the distances between the two predictions. `from_ols` bounds these distances. The
    bound allows for the rounding of the three root mean squares.
    """
    examples, answers = table.examples, table.answers
    (x, y, queries), (n, d) = examples, examples.x.shape
    eigenvalues, vectors = _spectrum(x)
    found = from_ols(examples, in_float, 2**k, alpha, start)
    w, directions = vectors.T @ (x.T @ y) / eigenvalues, queries @ vectors

    def rmse(predictions: np.ndarray) -> float:
        return float(np.sqrt(np.mean((predictions - answers) ** 2)))

    def after(steps: int) -> np.ndarray:
        return directions @ ((1 - newton_residual(eigenvalues, steps, alpha, start)) * w)

    def described(error: float) -> str:
        # Relative to the mean of the training rows, which is 0.
        r_squared = (
            f"{1 - (error / rmse(0 * answers)) ** 2:.4g}" if rmse(0 * answers) else "undefined"
        )
        return f"R² {r_squared}, RMSE {table.spread * error:.4g}"

    with np.errstate(over="ignore", invalid="ignore"):
        of_steps, of_ols = rmse(in_float[0]), rmse(queries @ ols(x, y))
        most = float(np.sqrt(np.mean(found.bound**2)))
        most += (len(answers) + 4) * np.finfo(float).eps * (of_steps + of_ols + most)
    dropped = f"; constant columns, ignored: {', '.join(table.constant)}" * bool(table.constant)
    lines = [
        f"n = {n} training rows and {len(answers)} held out, d = {d} features of rank "
        f"{len(eigenvalues)}, target {table.target}{dropped}",
        f"OLS: {described(of_ols)}",
    ]
    if needed is not None:
        errors = [rmse(after(steps)) for steps in range(needed + 1)]
        shown = sorted({0, k, int(np.argmin(errors)), needed} & {*range(needed + 1)})
        lines += [f"k = {steps}: {described(errors[steps])}" for steps in shown]
        lines.append(
            f"smallest RMSE on these rows (k chosen on them): k = {int(np.argmin(errors))}; "
            f"k = {needed} is OLS up to {ACCURACY:g}"
        )
    return at_most(
        "held-out",
        f"|RMSE after {k} steps − RMSE of OLS| on the held-out rows, on which the steps have "
        f"{described(of_steps)}",
        "float",
        abs(of_steps - of_ols),
        most,
        wanted=f"at most {most:.2e}, in standard units",
        detail="\n".join(lines),
    )


def condition(x: np.ndarray) -> float:
    """The condition number of XᵀX on its range, where X is the matrix of the inputs x (n, d)."""
    eigenvalues, _ = _spectrum(x)
    return float(eigenvalues[-1] / eigenvalues[0])


def _spectrum(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The eigenvalues of S above rounding errors, and their eigenvectors."""
    eigenvalues, vectors = np.linalg.eigh(x.T @ x)
    kept = eigenvalues > max(x.shape) * np.finfo(float).eps * eigenvalues[-1]
    return eigenvalues[kept], vectors[:, kept]


def as_csv(table: Table, predicted: dict[str, np.ndarray]) -> str:
    """The text of a CSV file with the held-out rows and the predictions for these rows.

    The columns are the line in the file, the target, the prediction of each layout, and the
    prediction of ordinary least squares (`ols`).
    """
    x, y, queries = table.examples
    columns = {table.target: table.answers, **predicted, "ols": queries @ ols(x, y)}
    values = zip(*(table.in_units(column) for column in columns.values()), strict=True)
    file = StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["line", *columns])
    writer.writerows(
        [line, *map(float, row)] for line, row in zip(table.lines, values, strict=True)
    )
    return file.getvalue()
