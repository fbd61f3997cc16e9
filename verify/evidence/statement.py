"""What a claim says of a construction, and how a construction is run in any number system."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from verify.domains import Domain, Rational, Symbolic, outputs
from verify.domains.base import Entry, Matrix

if TYPE_CHECKING:
    from constructions.regression import InContextRegression

Rows = list[list[Entry]]


@dataclass(frozen=True)
class Statement:
    """ "The model of size (d, n, k) computes the algorithm", for all d, n, k.

    `build(d, n, k)` is the model; `algorithm(domain, X, y, Q, k)` the predictions by definition;
    `start(domain, S)` is M₀ where the model's stages speak of inverses; `polynomial` says whether
    the model has a meaning mod p; `command(d, n, k)` repeats the claim at these sizes.  Where the
    prediction is a rational function, `rational_size(d, n, k)` bounds the degree and the bits of
    the coefficients of the difference once it is multiplied by its denominators.
    """

    build: Callable[[int, int, int], InContextRegression]
    algorithm: Callable[[Domain, Matrix, Matrix, Matrix, int], Matrix]
    command: Callable[[int, int, int], str]
    start: Callable[[Domain, Matrix], Matrix] | None = None
    polynomial: bool = True
    rational_size: Callable[[int, int, int], tuple[int, float]] | None = None


def predict(model: InContextRegression, domain: Domain, X: Rows, y: Rows, Q: Rows) -> Matrix:
    tokens, n_examples = tokens_of(model, domain, X, y, Q)
    rows = outputs(model, tokens, n_examples, domain).tolist()
    return domain.matrix(rows if model.all_prefixes else rows[-len(Q) :])


def tokens_of(
    model: InContextRegression, domain: Domain, X: Rows, y: Rows, Q: Rows
) -> tuple[Matrix, int]:
    tokens, n_examples = model.encode(np, _objects(X), _objects(y)[:, 0], _objects(Q))
    return domain.matrix(tokens.tolist()), n_examples


def symbols(d: int, n: int) -> tuple[Symbolic, Rows, Rows, Rows]:
    """The polynomial ring in all inputs, and the inputs: X (n × d), y (n × 1), Q (1 × d)."""
    names = [f"x{i}_{j}" for i in range(1, n + 1) for j in range(1, d + 1)]
    domain = Symbolic(
        [*names, *(f"y{i}" for i in range(1, n + 1)), *(f"q{j}" for j in range(1, d + 1))]
    )
    left = iter(domain.variables)
    X, y, Q = (
        [[next(left) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in ((n, d), (n, 1), (1, d))
    )
    return domain, X, y, Q


def rational_instance(rng: np.random.Generator, d: int, n: int) -> tuple[Rows, Rows, Rows]:
    domain = Rational()

    def rows(count: int, width: int) -> Rows:
        numerators = rng.integers(-9, 10, size=(count, width)).tolist()
        denominators = rng.integers(1, 5, size=(count, width)).tolist()
        return [
            [domain.number(a, b) for a, b in zip(r, s, strict=True)]
            for r, s in zip(numerators, denominators, strict=True)
        ]

    return rows(n, d), rows(n, 1), rows(1, d)


def matrices(domain: Domain, X: Rows, y: Rows, Q: Rows) -> tuple[Matrix, Matrix, Matrix]:
    return domain.matrix(X), domain.matrix(y), domain.matrix(Q)


def _objects(rows: Rows) -> np.ndarray:
    """An object array; numpy would take polynomials apart if it built the array itself."""
    array = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for j, entry in enumerate(row):
            array[i, j] = entry
    return array
