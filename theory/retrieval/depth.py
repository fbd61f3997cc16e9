"""Layers and sizes that retrieval takes and needs, as the theorems state them."""

from __future__ import annotations

from math import log2
from typing import Annotated, NamedTuple

from theory.kinds import Count, Within, checked


@checked
def hop_layers(k: Count) -> int:
    """⌊log₂k⌋ + 2, a number of layers that suffices for k-hop [Sanford2024, Theorem 4.2]."""
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
    h(m + 1)p' ≥ (length − 1)/2 ([SanfordHsu2024] without the constant: hmp' = Ω(length)).

    Proof. By reduction from INDEX: Alice holds B = (length − 1)/2 bits, as the tokens at every
    other position; Bob marks one of them by the query's symbol just before it, and the answer is
    that bit. The query, the last token, is fixed. So Alice's scores and values depend on her tokens
    alone, and all that reaches the last token from her are, in each head, the sums of e^{score} and
    of e^{score}·value over her positions: a message of h(m + 1)p' bits, whatever Bob marks. If it
    is shorter than B, two different strings have the same message; where they differ, Bob gets one
    answer and needs two. In the same way a table of s values in 0 … s − 1, of which there are s^s,
    needs h(m + 1)p' ≥ s·log₂s bits if g(f(x)) is to be right for all f, g = identity and x, with a
    last token after x that is the same in all prompts [Peng2024].

    The bound is vacuous for a model that is large already: compare before quoting it.
    """
    return (length - 1) / 2


class CompositionBound(NamedTuple):
    """The shortfall of one layer at function composition, and the error that it forces."""

    R: float
    """n·log₂n − H(d + 1)p, in bits; the theorem is vacuous unless it is positive."""
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
    f, g and x [Peng2024, Theorem 1]. Otherwise the theorem is vacuous and the error is 0.
    """
    n, H, d, p = size, heads, d_value, bits
    R = n * log2(n) - H * (d + 1) * p
    return CompositionBound(R, max(0.0, R / (3 * n * log2(n))))
