"""Prompts of examples and queries: `model(x, y, x_query)`.

Every encoder maps x (…, n, d), y (…, n) and queries (…, m, d) to a prompt whose example tokens come
first.  Encoders only place numbers (one of them divides by ‖x‖²), so they are written once for
torch tensors and for numpy arrays of any exact type: `xp` is the module torch or numpy.

| encoder     | tokens                                             | columns        | answers     |
|-------------|----------------------------------------------------|----------------|-------------|
| packed      | (x_i, y_i) for each example, (x_q, 0) for a query  | x, y           | any queries |
| interleaved | x₁, y₁, …, x_n, y_n, x_q, each with its position   | x, y, t, t², s | one query   |
| alternating | the same, y padded to the width of x               | x or y         | each prefix |
| shifted     | (x_t, x_{t−1}, y_{t−1}), t = 1 … n + 1             | x, key, y      | each prefix |
| fitted      | (0, 0, 0), (x_i, x_i/‖x_i‖², y_i), (x_q, 0, 0)     | x, key, y      | any queries |
| measured    | (x_i, ‖x_i‖², y_i), (x_q, 0, 0)                    | x, square, y   | any queries |
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from constructions.exactness import check_squares
from constructions.interface import ROWS, Draw, Interface, Prompt, finite_tensors
from theory.kinds import InputError, Reals

Encoder = Callable[[Any, Any, Any, Any], Prompt]
KINDS = {"x": Reals("... n d"), "y": Reals("... n"), "x_query": Reals("+... d")}


def packed(xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
    """Returns the prompt with the tokens (x_i, y_i) of the examples and (x_q, 0) of the queries."""
    return _with_queries(xp, xp.concat([x, y[..., None]], axis=-1), queries)


def interleaved(xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
    """Returns the prompt x₁, y₁, …, x_n, y_n, x_q of [Garg2022], with position columns.

    The token at position t = 0, …, 2n also contains t, t² and (−1)^t.
    """
    no_label, no_input = y[..., None] * 0, x * 0
    inputs = xp.concat([x, no_label], axis=-1)
    labels = xp.concat([no_input, y[..., None]], axis=-1)
    pairs = xp.stack([inputs, labels], axis=-2)
    rows = pairs.reshape(*x.shape[:-2], 2 * x.shape[-2], x.shape[-1] + 1)
    rows = _with_queries(xp, rows, queries).tokens
    zero = rows[..., 0, :1] * 0
    places = [[zero + t, zero + t * t, zero + (-1) ** t] for t in range(rows.shape[-2])]
    positions = xp.stack([xp.concat(place, axis=-1) for place in places], axis=-2)
    return Prompt(xp.concat([rows, positions], axis=-1), 2 * x.shape[-2], slice(-1, None))


def alternating(xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
    """Returns the prompt x₁, y₁, …, x_n, y_n, x_q, with answers at all inputs x.

    Labels are padded with zeros to the width of the inputs.
    """
    labels = xp.concat([y[..., None], x[..., 1:] * 0], axis=-1)
    pairs = xp.stack([x, labels], axis=-2)
    rows = pairs.reshape(*x.shape[:-2], 2 * x.shape[-2], x.shape[-1])
    tokens = xp.concat([rows, queries], axis=-2)
    return Prompt(tokens, tokens.shape[-2], slice(0, None, 2))


def shifted(xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
    """Returns the prompt of tokens (x_t, x_{t−1}, y_{t−1}) for t = 1, …, n + 1.

    There are n examples (x_t, y_t). The input x_{n+1} is the query x_q, and x_0 = 0 and y_0 = 0.
    Under a causal mask, token t sees exactly the examples 1, …, t − 1, and predicts the label y_t.
    """
    own = xp.concat([x, queries], axis=-2)
    keys = xp.concat([queries * 0, x], axis=-2)
    labels = xp.concat([queries[..., 0] * 0, y], axis=-1)
    tokens = xp.concat([own, keys, labels[..., None]], axis=-1)
    return Prompt(tokens, tokens.shape[-2])


def fitted(xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
    """Returns the prompt of (0, 0, 0), (x_i, x_i/‖x_i‖², y_i) and, for queries, (x_q, 0, 0).

    With x_i/‖x_i‖² as key, a step on example i (Kaczmarz' method) fits this example exactly. An
    example x_i = 0 has key 0. Under a strictly causal mask, the first token attends to itself: its
    value is 0.

    The division is part of the encoding, not of the transformer.
    """
    squares = (x * x).sum(-1)[..., None]
    keys = x / (squares + (squares == 0) * 1)
    rows = xp.concat([x, keys, y[..., None]], axis=-1)
    return _with_queries(xp, xp.concat([rows[..., :1, :] * 0, rows], axis=-2), queries)


def measured(xp: Any, x: Any, y: Any, queries: Any) -> Prompt:
    """Returns the prompt of tokens (x_i, ‖x_i‖², y_i) and, for queries, (x_q, 0, 0).

    The encoding computes the squared norms, not the transformer.
    """
    squares = (x * x).sum(-1)[..., None]
    return _with_queries(xp, xp.concat([x, squares, y[..., None]], axis=-1), queries)


def _with_queries(xp: Any, rows: Any, queries: Any) -> Prompt:
    blank = rows[..., :1, queries.shape[-1] :] * 0 + queries[..., :1] * 0
    tokens = xp.concat([rows, xp.concat([queries, blank], axis=-1)], axis=-2)
    return Prompt(tokens, rows.shape[-2], slice(rows.shape[-2], None))


class Condition(Protocol):
    """A condition on the inputs x (…, n, d) of examples."""

    def holds(self, x: Tensor) -> bool:
        """Whether all inputs x satisfy the condition."""
        ...

    def outside(self, x: Tensor) -> str:
        """How inputs x violate the condition, with the remedy, or ""."""
        ...

    def requirement(self, scale: float) -> str:
        """The condition in words, for inputs that are divided by `scale`, or ""."""
        ...


class Examples(Interface):
    """The interface of models that map examples and queries to predictions (…).

    The examples are x (…, n, d) and y (…, n), and the queries are x_query (…, d).

    x and y have the same leading dimensions, and the leading dimensions of x_query broadcast with
    them. If x_query has further leading dimensions in front, these dimensions count several queries
    for the same examples. If `several_queries` (the encoders packed, fitted and measured), each
    query is one more token of the same prompt. If `every_prefix` (the encoders alternating and
    shifted), predictions have shape (…, n + 1): entry t is the prediction from the first t
    examples, for the input of example t + 1 if t < n, and for the query if t = n.

    `n` is the number of examples if the weights depend on it; with `at_most`, fewer examples are
    allowed.  Inputs and labels are divided by `scale`, and answers are multiplied by it.

    Raises ValueError for shapes that do not fit, NaN or infinite entries, a number of examples for
    which the weights were not built, interleaved examples at positions whose squares the dtype
    rounds, and inputs whose products (of x with x, y or x_query) are outside the range of normal
    numbers of the dtype, where answers could be wrong by underflow.
    A construction that computes an iteration sets `convergence`, the condition on x under which it
    converges.
    """

    convergence: Condition | None = None

    def __init__(
        self,
        d: int,
        encode: Encoder = packed,
        *,
        n: int | None = None,
        at_most: bool = False,
        scale: float = 1.0,
    ) -> None:
        super().__init__()
        self.d, self.encode, self.n, self.at_most, self.scale = d, encode, n, at_most, scale
        self.every_prefix = encode in (alternating, shifted)
        self.several_queries = encode in (packed, fitted, measured)

    @property
    def hard(self) -> bool:
        """Whether a head copies each input to the token of its label."""
        return self.encode is interleaved

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        x, y, x_query = finite_tensors(like, inputs, *KINDS)
        sizes: dict[str, Any] = {"d": ("d", self.d)}
        for (name, kind), each in zip(KINDS.items(), (x, y, x_query), strict=True):
            kind.fit(name, each.shape, sizes)
        n = x.shape[-2]
        if self.n is not None and (n > self.n if self.at_most else n != self.n):
            bound = "at most " if self.at_most else ""
            raise InputError(
                f"x has {n} examples, but the weights were built for n = {self.n}: pass "
                f"{bound}{self.n} examples, or build the model with n={n}"
            )
        if self.encode is interleaved:
            check_squares(2 * n, x.dtype)
        self._check_products(x, y, x_query)
        return x, y, x_query

    def outside(self, *inputs: Any) -> str:
        x, condition = inputs[0], self.convergence
        return "" if condition is None else condition.outside(x / self.scale)

    def _check_products(self, x: Tensor, y: Tensor, x_query: Tensor) -> None:
        """Raises ValueError if a largest product of two entries is not a normal float, nor 0.

        If all are, underflow changes the sums of products by less than rounding does.  The encoder
        `fitted` divides by ‖x_i‖², so it requires a normal square of every example.
        """
        x, y, x_query = (each.detach().abs() / self.scale for each in (x, y, x_query))
        largest, rows = x.amax((-2, -1)), x.amax(-1)
        squares = rows if self.encode is fitted else largest
        pairs = {
            "x": (squares, squares),
            "x and y": (largest, y.amax(-1)),
            "x and x_query": (largest, x_query.amax(-1)),
        }
        lowest, highest = (
            math.frexp(each)[1] for each in (torch.finfo(x.dtype).tiny, torch.finfo(x.dtype).max)
        )
        for names, (one, other) in pairs.items():
            exponents = torch.frexp(one).exponent + torch.frexp(other).exponent
            most = highest - math.frexp(math.prod(x.shape[-2:]))[1]
            wrong = (exponents <= lowest) | (exponents > most)
            if (wrong & (one != 0) & (other != 0)).any():
                raise InputError(
                    f"products of entries of {names} are outside the range of normal numbers of "
                    f"{x.dtype}: rescale the inputs"
                )

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        x, y, x_query = inputs
        if self.scale != 1:
            x, y, x_query = x / self.scale, y / self.scale, x_query / self.scale
        further, prompts = self._leading(x, x_query)
        queries = xp.broadcast_to(x_query, (*further, *prompts, self.d))
        queries = queries.reshape(math.prod(further), *prompts, self.d)
        x = xp.broadcast_to(x, (*prompts, *x.shape[-2:]))
        y = xp.broadcast_to(y, (*prompts, y.shape[-1]))
        return self.encode(xp, x, y, xp.einsum("q...d->...qd", queries))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        answers = outputs[..., 0] * self.scale
        if self.every_prefix:
            return answers
        further, prompts = self._leading(inputs[0], inputs[2])
        return answers.movedim(-1, 0).reshape((*further, *prompts))

    def requirement(self) -> str:
        return "" if self.convergence is None else self.convergence.requirement(self.scale)

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[np.ndarray, ...]:
        n, queries = self.n or ROWS, draw(1 + self.several_queries, self.d)
        return draw(n, self.d), draw(n, 1)[:, 0], queries if self.several_queries else queries[0]

    def _leading(self, x: Any, x_query: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The leading dimensions that become further queries, and those of the prompts."""
        leading = np.broadcast_shapes(x.shape[:-2], x_query.shape[:-1])
        own = len(leading) - (x.ndim - 2) if self.several_queries else 0
        return leading[:own], leading[own:]
