"""The interface of a number system in which a transformer can be run.

Statements are about the tensors that torch runs: every float64 is a rational number, and `weights`
reads it exactly.  Matrices of a domain support `+`, `-`, `*` (product), `transpose()`,
`nrows()`, `ncols()`, `tolist()` (entries, row by row) and `entry * matrix`.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from hashlib import blake2b
from typing import Any, Protocol, runtime_checkable

import numpy as np

Entry = Any
Matrix = Any

CACHED = 2**23  # entries of the most recently used matrices, which `cached_weights` stores


class NotPolynomial(ValueError):
    """The error for a layer that is not a polynomial map in a domain without order."""


@runtime_checkable
class Domain(Protocol):
    """A number system in which a transformer can be run.

    If the domain is `ordered`, entries can be compared, as ReLU and hardmax require.
    """

    name: str
    ordered: bool

    def number(self, numerator: int, denominator: int = 1) -> Entry:
        """Returns the rational number numerator/denominator as an entry of the domain."""
        ...

    def matrix(self, rows: Sequence[Sequence[Entry]]) -> Matrix:
        """Returns the matrix with these rows of entries."""
        ...

    def weights(self, array: np.ndarray) -> Matrix:
        """Returns a float64 matrix as a matrix of the domain, without rounding."""
        ...


def read_exactly(domain: Domain, array: np.ndarray) -> np.ndarray:
    """Returns the entries of a float64 matrix as entries of the domain, in an object array.

    Each distinct value is converted once, and zeros, the value of most weights, are skipped.
    """
    flat = np.asarray(array, dtype=np.float64).ravel()
    positions = np.flatnonzero(flat)
    values, where = np.unique(flat[positions], return_inverse=True)
    read = np.empty(len(values), dtype=object)
    for i, value in enumerate(values.tolist()):
        read[i] = domain.number(*value.as_integer_ratio())
    entries = np.empty(flat.size, dtype=object)
    entries.fill(domain.number(0))  # np.full would treat a polynomial as a sequence
    entries[positions] = read[where]
    return entries.reshape(array.shape)


def exact_weights(domain: Domain, array: np.ndarray) -> Matrix:
    """Returns a float64 matrix as a matrix of the domain; `domain.number` converts the entries."""
    return domain.matrix(read_exactly(domain, array).tolist())


_cache: OrderedDict[Hashable, tuple[int, Matrix]] = OrderedDict()
_cached_entries = 0


def cached_weights(domain: Domain, array: np.ndarray, number_system: Hashable) -> Matrix:
    """Returns a float64 matrix as a matrix of the domain, cached for each array and number system.

    The result equals the result of `exact_weights`. The cache saves time, because a run reads the
    same weights for every point and every instance, and a self-test for every mutant.  Matrices are
    never changed in place.
    """
    global _cached_entries
    content = np.ascontiguousarray(array, dtype=np.float64)
    key = number_system, content.shape, blake2b(content.data, digest_size=32).digest()
    if key in _cache:
        _cache.move_to_end(key)
        return _cache[key][1]
    matrix = exact_weights(domain, array)
    _cache[key] = content.size, matrix
    _cached_entries += content.size
    while _cached_entries > CACHED:
        _cached_entries -= _cache.popitem(last=False)[1][0]
    return matrix


def entrywise(domain: Domain, function: Callable[[Entry], Entry], matrix: Matrix) -> Matrix:
    """Returns the matrix of the values of a function at the entries of a matrix."""
    return domain.matrix([[function(entry) for entry in row] for row in matrix.tolist()])
