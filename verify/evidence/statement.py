"""What a claim says of a construction: "the model of every size computes the algorithm".

What evidence needs of an algorithm are its answers and, for the proof, what stands in registers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from constructions.interface import Prompt
from constructions.transformer import Transformer
from verify.domains import Domain, Rational, Symbolic, SymbolicBySympy, objects, outputs, written
from verify.domains.base import Entry, Matrix

Rows = list[list[Entry]]


@dataclass(frozen=True)
class OverExamples:
    """A construction on examples X (n × d), y (n × 1) and queries Q (m × d), of size d, n, k.

    build           (d, n, k) → the model, with the planted fault if any
    algorithm       (domain, X, y, Q, k) → the predictions by definition
    command         (d, n, k) → how to repeat the claim at these sizes
    holds           (model, domain, X, y, Q) → a function from what a stage of the model's proof
                    says it holds to times·register at the answers, a row for each
    polynomial      whether the model has a meaning mod p
    rational_size   where the prediction is a rational function: (d, n, k) → the degree and the bits
                    of the coefficients of the difference, once multiplied by its denominators
    theorem         the entry of the ledger that states the model's sizes
    parameters      what its formulas contain besides d, n and k
    """

    build: Callable[[int, int, int], Transformer]
    algorithm: Callable[[Domain, Matrix, Matrix, Matrix, int], Matrix]
    command: Callable[[int, int, int], str]
    holds: Callable[..., Callable[[Any], Matrix]] | None = None
    polynomial: bool = True
    rational_size: Callable[[int, int, int], tuple[int, float]] | None = None
    theorem: str = ""
    parameters: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class OverTokens:
    """A construction on sequences of at most n tokens of V symbols.

    label    what tells it from others of its claim
    build    (V, n) → the model, with the planted fault if any
    answers  tokens (…, T) → answers (…, T), −1 for ⊥: the definition
    holds    (model, tokens (…, T)) → for what a stage of the model's proof says it holds, the
             register at these tokens (…, T, width), the prefix left out
    shown    tokens (T,) → how they are shown to a reader
    symbols  how many symbols there are, where V is not free: of a given automaton, say
    """

    label: str
    build: Callable[[int, int], Transformer]
    answers: Callable[[np.ndarray], np.ndarray]
    holds: Callable[[Transformer, np.ndarray], dict[Any, np.ndarray]]
    shown: Callable[[np.ndarray], str] = lambda row: str(row.tolist())
    symbols: int | None = None


def prompt_of(model: Transformer, domain: Domain, X: Rows, y: Rows, Q: Rows) -> Prompt:
    """The prompt of examples and queries whose entries are the domain's."""
    queries = objects(Q) if model.interface.several_queries else objects(Q)[0]
    return written(model, domain, X, objects(y)[:, 0], queries)


def predict(model: Transformer, domain: Domain, X: Rows, y: Rows, Q: Rows) -> Matrix:
    """The model's answers, a row for each."""
    return outputs(model, prompt_of(model, domain, X, y, Q), domain)


def symbols(
    d: int, n: int, ring: type[Symbolic] | type[SymbolicBySympy] = Symbolic
) -> tuple[Symbolic | SymbolicBySympy, Rows, Rows, Rows]:
    """The polynomial ring in all inputs, and the inputs: X (n × d), y (n × 1), Q (1 × d)."""
    names = [f"x{i}_{j}" for i in range(1, n + 1) for j in range(1, d + 1)]
    domain = ring(
        [*names, *(f"y{i}" for i in range(1, n + 1)), *(f"q{j}" for j in range(1, d + 1))]
    )
    left = iter(domain.variables)
    X, y, Q = (
        [[next(left) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in ((n, d), (n, 1), (1, d))
    )
    return domain, X, y, Q


def rational_instance(rng: np.random.Generator, d: int, n: int) -> tuple[Rows, Rows, Rows]:
    """Small random fractions: X (n × d), y (n × 1), Q (1 × d)."""
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
    """The inputs as matrices of the domain."""
    return domain.matrix(X), domain.matrix(y), domain.matrix(Q)
