"""Numbers of layers and sizes that suffice, or are necessary, for retrieval."""

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
def one_layer_bound(n_tokens: Annotated[Count, Within(most=2**1000)]) -> float:
    """(n − 1)/2, a lower bound for the bits h(m + 1)p' of one exact layer that solves induction.

    If one layer of h heads of value dimension m, whose partial sums are exact in p' bits, outputs
    the answer of the induction task at the last of n = `n_tokens` tokens without error, over at
    least 4 symbols, then h(m + 1)p' ≥ (n − 1)/2 ([SanfordHsu2024] without the constant:
    hmp' = Ω(n)).

    Proof. By reduction from INDEX: Alice holds B = (n − 1)/2 bits, as the tokens at every other
    position; Bob marks one of them by putting the query's symbol just before it, and the answer is
    that bit. The query, the last token, is fixed. So Alice's scores and values depend on her tokens
    alone, and the last token depends on them only through, in each head, the sums of e^{score} and
    of e^{score}·value over her positions: a message of h(m + 1)p' bits, whichever bit Bob marks. If
    it is shorter than B, two different strings have the same message; at a position where they
    differ, Bob outputs one answer where two are needed. In the same way a table of s values in
    0 … s − 1, of which there are s^s, needs h(m + 1)p' ≥ s·log₂s bits if the output is g(f(x)) for
    all f, g = identity and all x, with a last token after x that is the same in all prompts
    [Peng2024].

    The bound is vacuous for a layer whose h(m + 1)p' exceeds it already.
    """
    return (n_tokens - 1) / 2


class CompositionBound(NamedTuple):
    """The missing bits of one layer at function composition, and the error that they force."""

    R: float
    """n·log₂n − H(d + 1)p, in bits; the theorem is vacuous unless it is positive."""
    error: float
    """max(0, R/(3n·log₂n)), at most 1/3."""


@checked
def composition_bound(
    n_points: Annotated[Count, Within(least=2, most=2**300)],
    n_heads: Annotated[Count, Within(most=2**300)],
    d_value: Annotated[Count, Within(most=2**300)],
    bits: Annotated[Count, Within(most=2**300)],
) -> CompositionBound:
    """R = n·log₂n − H(d + 1)p and the probability max(0, R/(3n·log₂n)) of a wrong answer.

    If R > 0, the output of one layer of H = `n_heads` heads of dimension d = `d_value` in
    p = `bits` bits differs from g(f(x)), for functions on n = `n_points` points, with at least this
    probability over random f, g and x [Peng2024, Theorem 1]. Otherwise the theorem is vacuous and
    the error is 0.
    """
    n, H, d, p = n_points, n_heads, d_value, bits
    R = n * log2(n) - H * (d + 1) * p
    return CompositionBound(R, max(0.0, R / (3 * n * log2(n))))
