"""The mean of labels, by its definition."""

from typing import Any

import numpy as np


def mean_of(y: np.ndarray) -> np.ndarray:
    """(1/n) Σ_i y_i (…), for labels y (…, n)."""
    return np.asarray(y, dtype=np.float64).mean(-1)


def by_definition(of: Any, X: Any, y: Any, Q: Any) -> Any:
    """In any number system: (1/n) Σ_i y_i of labels y (n × 1), for each row of queries Q."""
    total = of.matrix([[of.number(1, y.nrows())] * y.nrows()]) * y
    return of.matrix(total.tolist() * Q.nrows())
