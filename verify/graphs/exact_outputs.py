"""Exact outputs of models on graphs, compared with their definition."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from constructions.transformer import Transformer
from verify.domains import Rational, outputs, written
from verify.finding import Evidence

BITS = 53  # significant bits of float64


def in_float64(model: Transformer, A: np.ndarray) -> np.ndarray:
    """The outputs (…, n, n) of a model on graphs A (…, n, n), run in float64."""
    return np.asarray(model.logits(A).numpy())


def evidence_of(model: Transformer, A: np.ndarray) -> Evidence:
    """The kind of evidence of a float64 run on graphs A, for a model with integer values ≥ 0.

    In such a model every token has an entry 1, so that no score exceeds the largest output of the
    head. A sum is at least each of its terms.  If n² times every entry of the stream is below 2^53
    (scores may be multiplied by n and divided again), no operation rounds, and the run is exact.
    """
    n = A.shape[-1]
    largest = max(float(H.max()) for H in (*model.streams(A), model.logits(A)))
    return "exact" if n * n * largest < 2.0**BITS else "float"


def over_q(model: Transformer, A: np.ndarray) -> np.ndarray:
    """The outputs of a model on one graph A (n, n), as an object array (n, n) of fractions."""
    domain = Rational()
    rows = [[domain.number(int(entry)) for entry in row] for row in A]
    return np.array(outputs(model, written(model, domain, rows), domain).tolist(), dtype=object)


def exactly(model: Transformer, A: np.ndarray) -> np.ndarray:
    """The exact outputs (…, n, n) of a model with integer values ≥ 0, as an object array.

    The run is in float64 if that is exact and all outputs are integers, and otherwise in rational
    arithmetic.
    """
    if evidence_of(model, A) == "exact":
        found = in_float64(model, A)
        integers = found.astype(np.int64)
        if np.array_equal(integers, found):
            return integers.astype(object)
    flat = A.reshape(-1, *A.shape[-2:])
    return np.stack([over_q(model, graph) for graph in flat]).reshape(A.shape)


def differences(found: np.ndarray, wanted: np.ndarray, graphs: np.ndarray) -> Iterator[str]:
    """Yields a line for each entry in which the arrays `found` and `wanted` (…, n, n) differ."""
    for at in map(tuple, np.argwhere(np.asarray(found != wanted, dtype=bool))):
        yield f"nodes {at[-2]}, {at[-1]} of {shown(graphs[at[:-2]])}: {found[at]}, not {wanted[at]}"


def shown(A: np.ndarray) -> str:
    """A description of a graph A (n, n) by its edges."""
    i, j = np.nonzero(np.triu(A, 1))
    edges: Any = list(zip(i.tolist(), j.tolist(), strict=True))
    return f"the graph on {len(A)} nodes with edges {edges}"
