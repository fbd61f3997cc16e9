"""The claim `nearest-neighbour`: one head is the nearest neighbour; softmax smooths it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import numpy as np

from theory.retrieval import kernel_smoother
from theory.retrieval import nearest_neighbour as definition
from verify.claim import Run, claim, option
from verify.domains import Ball, Rational, outputs
from verify.finding import Finding, Verdict

if TYPE_CHECKING:
    from constructions.regression import InContextRegression

GRID = 3  # coordinates of the exact instances are whole numbers of at most this size


@claim(
    source="proved in constructions/retrieval/nearest_neighbour.py; [Edelman2024] for the setting",
    faults_seen=[{"d": 2, "n": 6, "samples": 8}, {"d": 1, "n": 3, "samples": 8}],
)
def nearest_neighbour(
    run: Run,
    *,
    d: Annotated[int, option("dimension of the inputs", min=1)] = 5,
    n: Annotated[int, option("examples in a prompt", min=1)] = 20,
    samples: Annotated[int, option("prompts", min=1)] = 100,
    sharpness: Annotated[float, option("softmax sharpness β of the smoothing")] = 4.0,
) -> Iterator[Finding]:
    """One head of width d + 3 answers with the label of the nearest example.

    The score 2⟨x_q, x_j⟩ − ‖x_j‖² is ‖x_q‖² − ‖x_q − x_j‖²; equally near examples are averaged.
    With softmax at sharpness β the same head is the Gaussian kernel smoother, which differs from
    the nearest label by at most (n − 1)·e^{−βγ}·(max y − min y), γ the gap of squared distances.
    """
    from constructions import nearest_neighbour as construction

    model = run.build(construction, d)
    yield Finding(
        "size",
        "exact",
        f"{model.n_layers} layer, {model.n_heads} head, width {model.d_model}",
        f"1 layer, 1 head, width d + 3 = {d + 3}",
        Verdict.of((model.n_layers, model.n_heads, model.d_model) == (1, 1, d + 3)),
    )
    yield _whole_numbers(run, model, n, samples)
    yield _over_q(run, model, n)
    yield _smoother(run, model, n, samples, sharpness)
    yield _enclosed(run, model, min(n, 12), sharpness)


def _grid(run: Run, samples: int, n: int, d: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Prompts of whole numbers, among them many ties; float64 computes their scores exactly."""
    x = run.rng.integers(-GRID, GRID + 1, (samples, n, d)).astype(np.float64)
    y = run.rng.integers(-8, 9, (samples, n)).astype(np.float64)
    query = run.rng.integers(-GRID, GRID + 1, (samples, d)).astype(np.float64)
    return x, y, query


def _whole_numbers(run: Run, model: InContextRegression, n: int, samples: int) -> Finding:
    x, y, query = _grid(run, samples, n, model.d)
    wanted, got = definition(x, y, query), model(x, y, query).numpy()
    # Sums of labels are whole; one division rounds on each side.
    error, bound = float(abs(got - wanted).max()), 2 * np.finfo(float).eps * 8
    squares = ((x - query[:, None]) ** 2).sum(-1)
    ties = int(((squares == squares.min(-1, keepdims=True)).sum(-1) > 1).sum())
    worst = int(abs(got - wanted).argmax())
    return Finding(
        f"{samples} prompts of {n} whole-number examples",
        "float",
        f"error {error:.1e}, {ties} prompts with ties",
        f"{bound:.1e}",
        Verdict.of(bool(error <= bound)),
        ""
        if error <= bound
        else f"x = {x[worst].tolist()}, y = {y[worst].tolist()}, query = {query[worst].tolist()}: "
        f"{got[worst]} instead of {wanted[worst]}",
    )


def _over_q(run: Run, model: InContextRegression, n: int) -> Finding:
    """The transformer over Q against the definition over Q, by comparing squared distances."""
    from flint import fmpq

    domain, wrong, count = Rational(), None, 5
    for x, y, query in zip(*_grid(run, count, n, model.d), strict=True):
        tokens, n_examples = model.tokens(x, y, query)
        H = domain.weights(tokens.numpy())
        got = outputs(model, H, n_examples, domain).tolist()[-1][0]
        squares = [
            sum((int(a) - int(b)) ** 2 for a, b in zip(row, query, strict=True)) for row in x
        ]
        near = [int(label) for label, s in zip(y, squares, strict=True) if s == min(squares)]
        if got != fmpq(sum(near), len(near)):
            wrong = f"x = {x.tolist()}, y = {y.tolist()}, query = {query.tolist()}: {got}"
    return Finding(
        f"over Q ({count} prompts of {n} examples)",
        "exact",
        "equal" if wrong is None else "they differ",
        "the mean label of the nearest",
        Verdict.of(wrong is None),
        wrong or "",
    )


def _smoother(
    run: Run, model: InContextRegression, n: int, samples: int, sharpness: float
) -> Finding:
    """Softmax at β is Σ exp(−β‖q − x_j‖²) y_j / Σ exp(−β‖q − x_j‖²).

    A score of d + 1 products is off by at most (d + 4)·eps·(2|q||x| + |x|²) in either computation,
    which β multiplies in the exponent; the two sums of n terms add 2(n + 4)·eps.
    """
    x = run.rng.standard_normal((samples, n, model.d))
    y, query = run.rng.standard_normal((samples, n)), run.rng.standard_normal((samples, model.d))
    got = model.sharpened(sharpness)(x, y, query).numpy()
    wanted = kernel_smoother(x, y, query, sharpness)
    lengths = np.linalg.norm(x, axis=-1).max(-1)
    sizes = (lengths + np.linalg.norm(query, axis=-1)) ** 2
    eps = np.finfo(float).eps
    relative = 4 * sharpness * (model.d + 4) * eps * sizes + 2 * (n + 4) * eps
    bound = 2 * relative * abs(y).max(-1)
    ratio = float((abs(got - wanted) / bound).max())
    return Finding(
        f"softmax at β = {sharpness:g} is the kernel smoother ({samples} prompts)",
        "float",
        f"error {abs(got - wanted).max():.1e}, at most {ratio:.1%} of its bound",
        f"{bound.max():.1e}",
        Verdict.of(ratio <= 1),
    )


def _enclosed(run: Run, model: InContextRegression, n: int, sharpness: float) -> Finding:
    """The real distance from softmax to the nearest label, under (n − 1)·e^{−βγ}·(max − min)."""
    from flint import arb

    soft, worst, shown = model.sharpened(sharpness), 0.0, ""
    for x, y, query in zip(*_grid(run, 5, n, model.d), strict=True):
        squares = np.unique(((x - query) ** 2).sum(-1))
        near = y[((x - query) ** 2).sum(-1) == squares[0]]
        tokens, n_examples = soft.tokens(x, y, query)
        with Ball.precision(256):
            domain = Ball()
            value = outputs(soft, domain.weights(tokens.numpy()), n_examples, domain).tolist()
            nearest = arb(int(near.sum())) / len(near)
            distance = abs(value[-1][0] - nearest).upper()
            gap = int(squares[1] - squares[0]) if len(squares) > 1 else None
            spread = int(np.ptp(y))
            bound = (n - 1) * (-arb(sharpness) * gap).exp() * spread if gap else arb(0)
            ratio = float(distance / bound) if bound else 0.0 if distance < 1e-60 else np.inf
        if ratio >= worst:
            worst, shown = ratio, f"{float(distance):.2e}"
    return Finding(
        f"softmax at β = {sharpness:g} and the nearest label (5 prompts of {n} examples)",
        "enclosure",
        f"{shown}, {worst:.0%} of its bound",
        "(n − 1)·e^(−βγ)·(max y − min y)",
        Verdict.of(worst <= 1),
    )
