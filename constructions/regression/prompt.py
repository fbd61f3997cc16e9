"""How examples and queries are written as tokens.

Every encoder maps x (…, n, d), y (…, n) and queries (…, m, d) to tokens (…, T, columns) and the
number of example tokens, which come first.  Encoders only place numbers (one of them divides by
‖x‖²), so they are written once for torch tensors and for numpy arrays of any exact type: `xp` is
the module torch or numpy.

| encoder     | tokens                                             | columns          | queries m |
|-------------|----------------------------------------------------|------------------|-----------|
| packed      | (x_i, y_i) for each example, (x_q, 0) for a query  | x, y             | any       |
| interleaved | x₁, y₁, …, x_n, y_n, x_q, each with its position   | x, y, t, t², s   | 1         |
| shifted     | (x_t, x_{t−1}, y_{t−1}), t = 1 … n + 1             | x, key, y        | 1         |
| fitted      | (x_i, x_i/‖x_i‖², y_i), (x_q, 0, 0)                | x, key, y        | any       |
| measured    | (x_i, ‖x_i‖², y_i), (x_q, 0, 0)                    | x, square, y     | any       |
"""

from __future__ import annotations

from typing import Any

Tokens = tuple[Any, int]


def packed(xp: Any, x: Any, y: Any, queries: Any) -> Tokens:
    """One token per example and per query."""
    rows = xp.concat([x, y[..., None]], axis=-1)
    return _with_queries(xp, rows, queries), x.shape[-2]


def interleaved(xp: Any, x: Any, y: Any, queries: Any) -> Tokens:
    """The prompt of [Garg2022]: inputs and labels are tokens of their own.

    Position t = 0 … 2n is written as t, t² and the parity s = (−1)^t.
    """
    no_label, no_input = y[..., None] * 0, x * 0
    inputs = xp.concat([x, no_label], axis=-1)
    labels = xp.concat([no_input, y[..., None]], axis=-1)
    pairs = xp.stack([inputs, labels], axis=-2)
    rows = pairs.reshape(*x.shape[:-2], 2 * x.shape[-2], x.shape[-1] + 1)
    rows = _with_queries(xp, rows, queries)
    zero = rows[..., 0, :1] * 0
    places = [[zero + t, zero + t * t, zero + (-1) ** t] for t in range(rows.shape[-2])]
    positions = xp.stack([xp.concat(place, axis=-1) for place in places], axis=-2)
    return xp.concat([rows, positions], axis=-1), 2 * x.shape[-2]


def shifted(xp: Any, x: Any, y: Any, queries: Any) -> Tokens:
    """Each token asks with its own input and answers with the pair before it.

    Under a causal mask token t then sees exactly the pairs 1 … t − 1, and predicts its label.
    """
    asks = xp.concat([x, queries], axis=-2)
    answers = xp.concat([queries * 0, x], axis=-2)
    labels = xp.concat([queries[..., 0] * 0, y], axis=-1)
    return xp.concat([asks, answers, labels[..., None]], axis=-1), asks.shape[-2]


def fitted(xp: Any, x: Any, y: Any, queries: Any) -> Tokens:
    """Examples with the key x/‖x‖², for which one step fits the example exactly; x = 0 has key 0.

    The division is done here, when the prompt is written, and not by the transformer.
    """
    squares = (x * x).sum(-1)[..., None]
    keys = x / (squares + (squares == 0) * 1)
    rows = xp.concat([x, keys, y[..., None]], axis=-1)
    return _with_queries(xp, rows, queries), x.shape[-2]


def measured(xp: Any, x: Any, y: Any, queries: Any) -> Tokens:
    """Examples with their squared length, which is computed here and not by the transformer."""
    squares = (x * x).sum(-1)[..., None]
    rows = xp.concat([x, squares, y[..., None]], axis=-1)
    return _with_queries(xp, rows, queries), x.shape[-2]


def _with_queries(xp: Any, rows: Any, queries: Any) -> Any:
    blank = rows[..., :1, queries.shape[-1] :] * 0 + queries[..., :1] * 0
    return xp.concat([rows, xp.concat([queries, blank], axis=-1)], axis=-2)


SEVERAL_QUERIES = (packed, fitted, measured)
"""Encoders under which any number of queries can follow the same examples."""
