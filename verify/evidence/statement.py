"""Statements about constructions: "the model of every size computes the algorithm".

`statement.at(d, n, k)` is the statement at one size: a model, and the algorithm by definition.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from constructions.interface import Prompt
from constructions.transformer import Transformer
from theory.kinds import InputError
from verify.domains import (
    Domain,
    Modular,
    Rational,
    Symbolic,
    SymbolicBySympy,
    objects,
    outputs,
    written,
)
from verify.domains.base import Entry, Matrix

Rows = list[list[Entry]]


@dataclass(frozen=True)
class OverExamples:
    """The statement that a construction computes an algorithm on examples, at every size d, n, k.

    The inputs are examples X (n × d) and y (n × 1) and m queries Q (m × d), and k is the number of
    steps.

    build           (d, n, k) → the model, or its mutant in a self-test
    algorithm       (domain, X, y, Q, k) → the predictions by definition
    repeat          the options with which the claim makes this statement, except d, n and k
    polynomial      whether the model is a polynomial, which can be evaluated modulo primes
    rational_size   for predictions that are rational functions: (d, n, k) → the degree and the
                    bits of the coefficients of the difference times its denominators
    formula         whether the prediction is x_qᵀ g(S) b for a polynomial g that can be read from
                    the tensors (`theory.regression.register_programs`)
    theorem         the entry of the statement index with the sizes of the model
    parameters      further parameters of the entry's formulas, except d, n and k
    only_d          the dimension d, if there is a model for this dimension only
    """

    build: Callable[[int, int, int], Transformer]
    algorithm: Callable[[Domain, Matrix, Matrix, Matrix, int], Matrix]
    repeat: Mapping[str, Any] = field(default_factory=dict)
    polynomial: bool = True
    rational_size: Callable[[int, int, int], tuple[int, float]] | None = None
    formula: bool = False
    theorem: str = ""
    parameters: Mapping[str, int] = field(default_factory=dict)
    only_d: int | None = None

    def at(self, d: int, n: int, k: int) -> Case:
        """The statement for n examples in d dimensions and k steps."""
        return Case(self, d, n, k)


class Inputs(NamedTuple):
    """Examples X (n × d), y (n × 1) and queries Q (m × d), as rows of entries of a number system,
    the `domain`.
    """

    domain: Domain
    X: Rows
    y: Rows
    Q: Rows

    @property
    def matrices(self) -> tuple[Domain, Matrix, Matrix, Matrix]:
        """The domain, and the inputs X, y and Q as matrices of the domain."""
        return self.domain, *map(self.domain.matrix, self[1:])

    def __str__(self) -> str:
        return ", ".join(
            f"{name}={shown(rows)}"
            for name, rows in zip(("x", "y", "x_query"), self[1:], strict=True)
        )


@dataclass(frozen=True)
class Case:
    """A statement about examples at one size."""

    of: OverExamples
    d: int
    n: int
    k: int

    def __str__(self) -> str:
        return f"d={self.d}, n={self.n}, k={self.k}"

    @cached_property
    def model(self) -> Transformer:
        """The model of this size or, in a self-test, a mutant of this model."""
        return self.of.build(self.d, self.n, self.k)

    @property
    def shapes(self) -> tuple[tuple[int, int], ...]:
        """The shapes of X, y and one query."""
        return (self.n, self.d), (self.n, 1), (1, self.d)

    def prompt(self, given: Inputs) -> Prompt:
        """The model's prompt for these inputs."""
        return prompt_of(self.model, given)

    def predictions(self, given: Inputs) -> Matrix:
        """The model's answers to the inputs `given`, one answer in each row."""
        return predict(self.model, given)

    def by_definition(self, given: Inputs) -> Matrix:
        """The algorithm's answers to the inputs `given`, one answer in each row."""
        return self.of.algorithm(*given.matrices, self.k)

    def agrees(self, given: Inputs) -> bool:
        """Whether the model's answers equal the algorithm's."""
        wanted = self.by_definition(given)
        return bool(self.predictions(given) == wanted)

    def random(self, domain: Modular, rng: np.random.Generator) -> Inputs:
        """Returns random inputs modulo a prime."""
        return Inputs(domain, *(domain.random_entries(rng, *shape) for shape in self.shapes))

    def rational(self, rng: np.random.Generator) -> Inputs:
        """Returns inputs whose entries are small random fractions."""
        return rational_instance(rng, self.d, self.n)

    def filled(self, domain: Domain, entry: Entry) -> Inputs:
        """Returns inputs all of whose entries are `entry`."""
        return Inputs(
            domain, *([[entry] * columns for _ in range(rows)] for rows, columns in self.shapes)
        )

    def symbols(self, ring: type[Symbolic] | type[SymbolicBySympy] = Symbolic) -> Inputs:
        """Returns inputs whose entries are the variables of a polynomial ring."""
        return symbols(self.d, self.n, ring)


@dataclass(frozen=True)
class OverTokens:
    """A statement about a construction on sequences of at most n tokens of V symbols.

    label    the statement's name among the statements of the claim
    build    (V, n) → the model, or its mutant in a self-test
    answers  the definition: tokens (…, T) → answers (…, T), −1 for ⊥
    shown    tokens (T,) → a text of these tokens
    symbols  the number of symbols if V is not free, as for a given automaton
    theorem, parameters    as in `OverExamples`
    """

    label: str
    build: Callable[[int, int], Transformer]
    answers: Callable[[np.ndarray], np.ndarray]
    shown: Callable[[np.ndarray], str] = lambda row: str(row.tolist())
    symbols: int | None = None
    theorem: str = ""
    parameters: Mapping[str, int] = field(default_factory=dict)

    def at(self, V: int, n: int) -> TokenCase:
        """The statement for sequences of at most n tokens of V symbols."""
        return TokenCase(self, V, n)


@dataclass(frozen=True)
class TokenCase:
    """A statement about sequences of tokens at one size."""

    of: OverTokens
    V: int
    n: int

    def __str__(self) -> str:
        return f"{self.n} tokens, {self.V} symbols"

    @cached_property
    def model(self) -> Transformer:
        """The model of this size or, in a self-test, a mutant of this model.

        Raises ValueError if the statement builds no model.
        """
        model = self.of.build(self.V, self.n)
        if not isinstance(model, Transformer):
            raise InputError(
                f"the statement {self.of.label!r} builds an object of type "
                f"{type(model).__name__}: give a function that returns a Transformer"
            )
        return model


def prompt_of(model: Transformer, given: Inputs) -> Prompt:
    """The model's prompt for examples and queries with entries of a domain."""
    domain, X, y, Q = given
    queries = objects(Q) if model.interface.several_queries else objects(Q)[0]
    return written(model, domain, X, objects(y)[:, 0], queries)


def predict(model: Transformer, given: Inputs) -> Matrix:
    """The model's answers to the inputs `given`, one answer in each row."""
    return outputs(model, prompt_of(model, given), given.domain)


def symbols(d: int, n: int, ring: type[Symbolic] | type[SymbolicBySympy] = Symbolic) -> Inputs:
    """Inputs X (n × d), y (n × 1) and Q (1 × d) whose entries are the variables of a ring."""
    names = [f"x{i}_{j}" for i in range(1, n + 1) for j in range(1, d + 1)]
    domain = ring(
        [*names, *(f"y{i}" for i in range(1, n + 1)), *(f"q{j}" for j in range(1, d + 1))]
    )
    left = iter(domain.variables)
    X, y, Q = (
        [[next(left) for _ in range(columns)] for _ in range(rows)]
        for rows, columns in ((n, d), (n, 1), (1, d))
    )
    return Inputs(domain, X, y, Q)


def rational_instance(rng: np.random.Generator, d: int, n: int) -> Inputs:
    """Returns random inputs X (n × d), y (n × 1) and Q (1 × d) with small fractions as entries."""
    domain = Rational()

    def rows(count: int, width: int) -> Rows:
        numerators = rng.integers(-9, 10, size=(count, width)).tolist()
        denominators = rng.integers(1, 5, size=(count, width)).tolist()
        return [
            [domain.number(a, b) for a, b in zip(r, s, strict=True)]
            for r, s in zip(numerators, denominators, strict=True)
        ]

    return Inputs(domain, rows(n, d), rows(n, 1), rows(1, d))


def shown(rows: Rows) -> str:
    """Returns rows of entries as text."""
    return "[" + ", ".join("[" + ", ".join(map(str, row)) + "]" for row in rows) + "]"
