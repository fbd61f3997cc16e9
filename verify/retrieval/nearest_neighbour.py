"""The claim `nearest-neighbour`: one head outputs the nearest label, or a kernel smoother."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction
from typing import Annotated

import numpy as np
from flint import arb

from constructions import nearest_neighbour as construction
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import StepSize, read
from theory.retrieval import kernel_smoother, nearest_neighbour_by_definition
from theory.retrieval import nearest_neighbour as definition
from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, outputs
from verify.evidence.size import size
from verify.finding import Finding, at_most, no_counterexample, within_bounds

GRID = 3  # largest absolute value of the integer coordinates of the exact instances
EPS = np.finfo(float).eps
ROUNDING = 1e-60  # allowed for an enclosure with 256 bits


@claim(
    faults_seen=[{"d": 2, "n": 6, "samples": 8}, {"d": 1, "n": 3, "samples": 8}],
)
def nearest_neighbour(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the inputs", min=1, max=1000)] = 5,
    n: Annotated[int, option("examples in a prompt", min=1, max=1000)] = 20,
    samples: Annotated[int, option("random prompts", min=1, max=10**5)] = 100,
    sharpness: Annotated[float, option("inverse temperature β of the smoother", max=1e100)] = 4.0,
) -> Iterator[Finding]:
    """One average-hard head outputs the mean label of the examples nearest to the query.

    For the query x_q and the example x_j, the score 2⟨x_q, x_j⟩ − ‖x_j‖² equals ‖x_q‖² − ‖x_q −
    x_j‖², so it is largest for the nearest examples. With softmax at inverse temperature β, the
    same head outputs the estimate of a Gaussian kernel smoother (Nadaraya–Watson). For n examples
    with labels y, the outputs of the softmax head and of the average-hard head differ by at most (n
    − 1)·e^{−βγ}·(max y − min y). Here γ > 0 is the difference between the smallest squared distance
    of an example from the query and the next larger squared distance.
    """
    sharpness = read(StepSize, "sharpness", sharpness)
    model = run.build(construction, d)
    soft = model.sharpened(sharpness)
    machine.fits_in_memory(
        f"the scores of {samples} prompts of {n} examples",
        3 * 8 * samples * (n + 1) ** 2,
        "give fewer samples or a smaller n",
    )
    yield size(model, "nearest-neighbour", d=d)
    yield _integers(run, model, n, samples)
    yield no_counterexample(
        "rational",
        f"output over Q against the mean label of the nearest examples (5 prompts of {n} examples)",
        other_than_nearest(model, zip(*_grid(run, 5, n, d), strict=True)),
        words="equal",
    )
    yield _smoother(run, soft, n, samples, sharpness)
    yield _enclosed(run, soft, min(n, 12), sharpness)


def _grid(run: Run, samples: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prompts of integers with many ties, whose scores float64 computes exactly."""
    x = run.rng.integers(-GRID, GRID + 1, (samples, n, d)).astype(np.float64)
    y = run.rng.integers(-8, 9, (samples, n)).astype(np.float64)
    query = run.rng.integers(-GRID, GRID + 1, (samples, d)).astype(np.float64)
    return x, y, query


def _shown(x: np.ndarray, y: np.ndarray, query: np.ndarray) -> str:
    return f"x = {x.tolist()}, y = {y.tolist()}, query = {query.tolist()}"


def _integers(run: Run, model: Transformer, n: int, samples: int) -> Finding:
    """Compares the model with the definition on integers, for which each side rounds only once."""
    x, y, query = _grid(run, samples, n, model.interface.d)
    wanted, got = definition(x, y, query), model(x, y, query).numpy()
    error, worst = float(abs(got - wanted).max()), int(abs(got - wanted).argmax())
    squares = ((x - query[:, None]) ** 2).sum(-1)
    ties = int(((squares == squares.min(-1, keepdims=True)).sum(-1) > 1).sum())
    return at_most(
        "whole-numbers",
        f"largest float64 error of the output for {samples} prompts of {n} integer examples",
        "float",
        error,
        2 * EPS * 8,
        words=f"{error:.1e}; {ties} of the prompts have ties",
        detail=f"{_shown(x[worst], y[worst], query[worst])}: {got[worst]}, not {wanted[worst]}",
    )


def other_than_nearest(
    model: Transformer, prompts: Iterable[tuple[np.ndarray, ...]]
) -> Iterator[str]:
    """The prompts for which the transformer and the definition differ, both computed over Q."""
    for prompt in prompts:
        got = outputs(model, model.prompt(*prompt), Rational()).tolist()[0][0]
        if Fraction(int(got.p), int(got.q)) != nearest_neighbour_by_definition(*prompt):
            yield f"{_shown(*prompt)}: {got}"


def _smoother(run: Run, soft: Transformer, n: int, samples: int, sharpness: float) -> Finding:
    """Compares softmax at β with Σ exp(−β‖q − x_j‖²) y_j / Σ exp(−β‖q − x_j‖²).

    In either computation the rounding error of a score of d + 1 products is at most
    (d + 4)·eps·(2|q||x| + |x|²), which β multiplies in the exponent; the two sums of n terms add
    2(n + 4)·eps.
    """
    d = soft.interface.d
    x = run.rng.standard_normal((samples, n, d))
    y, query = run.rng.standard_normal((samples, n)), run.rng.standard_normal((samples, d))
    lengths = np.linalg.norm(x, axis=-1).max(-1)
    sizes = (lengths + np.linalg.norm(query, axis=-1)) ** 2
    relative = 4 * sharpness * (d + 4) * EPS * sizes + 2 * (n + 4) * EPS
    bound = 2 * relative * abs(y).max(-1)
    errors = abs(soft(x, y, query).numpy() - kernel_smoother(x, y, query, sharpness))
    ratio = float((errors / bound).max())
    return within_bounds(
        "smoother",
        f"distance of the softmax output at β = {sharpness:g} from the kernel smoother ({samples} "
        "prompts)",
        "float",
        ratio,
        words=f"at most {errors.max():.1e}, and at most {ratio:.1%} of the prompt's rounding bound",
        wanted=f"at most the rounding bound, which is at most {bound.max():.1e}",
    )


def _enclosed(run: Run, soft: Transformer, n: int, sharpness: float) -> Finding:
    """Compares an enclosure of the distance from softmax to the nearest label with its bound.

    The bound is 0 if all labels or all distances are equal, so `ROUNDING` is added to the bound.
    """
    domain, ratios, distances = Ball(), list[float](), list[float]()
    for x, y, query in zip(*_grid(run, 5, n, soft.interface.d), strict=True):
        gaps = np.diff(np.unique(((x - query) ** 2).sum(-1))).tolist()
        nearest = nearest_neighbour_by_definition(x, y, query).as_integer_ratio()
        with Ball.precision(256):
            value = outputs(soft, soft.prompt(x, y, query), domain).tolist()[0][0]
            distance = abs(value - domain.number(*nearest)).upper()
            leaked = (-arb(sharpness) * gaps[0]).exp() if gaps else arb(0)
            bound = (n - 1) * leaked * int(np.ptp(y)) + ROUNDING
            ratios.append(float(distance / bound))
            distances.append(float(distance))
    worst = float(np.max(ratios))
    shown = f"{distances[int(np.argmax(ratios))]:.2e}"
    return within_bounds(
        "enclosed",
        f"distance of the softmax output at β = {sharpness:g} from the mean label of the nearest "
        f"examples (5 prompts of {n} examples)",
        "enclosure",
        worst,
        words=f"at most {worst:.0%} of the bound of the prompt, for a distance of {shown}",
        wanted=f"at most the bound (n − 1)·e^(−βγ)·(max y − min y) + {ROUNDING:g}, where γ is the "
        "difference of the two smallest squared distances",
    )
