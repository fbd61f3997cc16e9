"""Models on graphs, run so that their numbers are exact, and compared with definitions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from constructions.transformer import Transformer
from verify.domains import Rational, outputs, written
from verify.finding import Evidence

BITS = 53  # of a float64


def in_float64(model: Transformer, A: np.ndarray) -> np.ndarray:
    """The outputs (…, n, n) of a run in float64, as they are."""
    return np.asarray(model.logits(A).numpy())


def evidence_of(model: Transformer, A: np.ndarray) -> Evidence:
    """What a run in float64 on these graphs establishes, of a model whose numbers are whole and not
    negative.

    Such numbers only grow on their way: every token holds a 1 of its own, so no score is above what
    the head adds, and a sum is not below its parts.  If all of the stream is below 2^53, also after
    a multiplication by n² that a division by n may follow, nothing has been rounded.
    """
    n = A.shape[-1]
    largest = max(float(H.max()) for H in (*model.streams(A), model.logits(A)))
    return "exact" if n * n * largest < 2.0**BITS else "float"


def over_q(model: Transformer, A: np.ndarray) -> np.ndarray:
    """The outputs on one graph (n, n) over the rationals, as an object array."""
    domain = Rational()
    rows = [[domain.number(int(entry)) for entry in row] for row in A]
    return np.array(outputs(model, written(model, domain, rows), domain).tolist(), dtype=object)


def exactly(model: Transformer, A: np.ndarray) -> np.ndarray:
    """The outputs on graphs (…, n, n), exactly, as an object array: of a model whose numbers are
    whole and not negative by a run in float64, if that rounds nothing."""
    if evidence_of(model, A) == "exact":
        return in_float64(model, A).astype(object)
    flat = A.reshape(-1, *A.shape[-2:])
    return np.stack([over_q(model, graph) for graph in flat]).reshape(A.shape)


def differences(found: np.ndarray, wanted: np.ndarray, graphs: np.ndarray) -> Iterator[str]:
    """The entries in which these arrays (…, n, n) differ."""
    for at in map(tuple, np.argwhere(np.asarray(found != wanted, dtype=bool))):
        yield f"nodes {at[-2]}, {at[-1]} of {shown(graphs[at[:-2]])}: {found[at]}, not {wanted[at]}"


def shown(A: np.ndarray) -> str:
    """A graph as its edges."""
    i, j = np.nonzero(np.triu(A, 1))
    edges: Any = list(zip(i.tolist(), j.tolist(), strict=True))
    return f"the graph on {len(A)} nodes with edges {edges}"
