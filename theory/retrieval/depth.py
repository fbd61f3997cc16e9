"""Layers and sizes that retrieval takes and needs, as the theorems state them."""

from __future__ import annotations

from math import log2
from typing import Annotated, NamedTuple

from theory.kinds import Count, Within, checked


@checked
def hop_layers(k: Count) -> int:
    """⌊log₂k⌋ + 2 layers suffice for k-hop, in whole numbers [Sanford2024]."""
    return k.bit_length() + 1


@checked
def doubling_layers(k: Count) -> int:
    """⌈log₂k⌉ + 2 layers: the previous token, `find`, then one layer for each doubling of hops.

    Equal to `hop_layers` when k is a power of two, and one more otherwise.
    """
    return (k - 1).bit_length() + 2


@checked
def one_layer_bound(length: Annotated[Count, Within(most=2**1000)]) -> float:
    """(length − 1)/2: the number of bits that h(m + 1)p' must reach in one exact layer.

    If one layer of h heads of value dimension m, whose partial sums are exact in p' bits, answers
    the induction task at the last of `length` tokens without error, over at least 4 symbols, then
    h(m + 1)p' ≥ (length − 1)/2. By reduction from INDEX: one party holds the tokens at every other
    position, the other marks one of them by the query's symbol just before it; with the query
    fixed, all that the first can tell is its h(m + 1) partial sums [SanfordHsu2024].

    The bound says nothing of a model that is large already: compare before quoting it.
    """
    return (length - 1) / 2


class CompositionBound(NamedTuple):
    """The shortfall of one layer at function composition, and the error that it forces."""

    R: float
    """n·log₂n − H(d + 1)p, in bits; the theorem says something only if it is positive."""
    error: float
    """max(0, R/(3n·log₂n)), at most 1/3."""


@checked
def composition_bound(
    size: Annotated[Count, Within(least=2, most=2**300)],
    heads: Annotated[Count, Within(most=2**300)],
    d_value: Annotated[Count, Within(most=2**300)],
    bits: Annotated[Count, Within(most=2**300)],
) -> CompositionBound:
    """R = n·log₂n − H(d + 1)p and the probability max(0, R/(3n·log₂n)) of a wrong answer.

    If R > 0, one layer of H = `heads` heads of dimension d = `d_value` in p = `bits` bits answers
    g(f(x)), for functions on n = `size` points, wrongly with at least this probability over random
    f, g and x [Peng2024, Theorem 1]. Otherwise the theorem says nothing and the error is 0.
    """
    n, H, d, p = size, heads, d_value, bits
    R = n * log2(n) - H * (d + 1) * p
    return CompositionBound(R, max(0.0, R / (3 * n * log2(n))))
