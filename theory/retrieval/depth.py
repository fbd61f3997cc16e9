"""Numbers of layers and sizes that suffice, or are necessary, for retrieval."""

from __future__ import annotations

from math import log2
from typing import Annotated, NamedTuple

from theory.kinds import Count, Within, checked


@checked
def hop_layers(k: Count) -> int:
    """The number ⌊log₂k⌋ + 2 of layers that suffice for k-hop [Sanford2024, Theorem 4.2]."""
    return k.bit_length() + 1


@checked
def doubling_layers(k: Count) -> int:
    """The number ⌈log₂k⌉ + 2 of layers for k-hop if each layer doubles the number of hops.

    The first two layers compute the previous token and the match of the induction task. The number
    is `hop_layers(k)` if k is a power of two, and `hop_layers(k) + 1` otherwise.
    """
    return (k - 1).bit_length() + 2


@checked
def one_layer_bound(n_tokens: Annotated[Count, Within(most=2**1000)]) -> float:
    """The lower bound (n − 1)/2 on the size h(m + 1)p' of one layer that solves the induction task.

    Consider one layer with h heads of value dimension m, whose partial sums are exact in p' bits.
    If the layer outputs the answer of the induction task at the last of n = `n_tokens` tokens, for
    all sequences over at least 4 symbols, then h(m + 1)p' ≥ (n − 1)/2
    ([SanfordHsu2024] states hmp' = Ω(n) without the constant).

    Proof. By reduction from INDEX: Alice holds B = (n − 1)/2 bits, the tokens at every other
    position. Bob marks one of the bits by putting the query's symbol just before this bit, and the
    answer is the marked bit. The query is the last token and is fixed. So the scores and values at
    Alice's positions depend only on her tokens. The output at the last token depends on Alice's
    tokens only through two sums over her positions in each head, the sums of e^{score} and of
    e^{score}·value. These sums are a message of h(m + 1)p' bits, which does not depend on the
    position that Bob marks. If the message is shorter than B bits, two different strings of
    Alice's bits have the same message. At a position where the strings differ, Bob outputs the
    same bit for both strings, and this bit is wrong for one of the strings. The same argument
    applies to composition: let f be one of the s^s maps of {0, …, s − 1} to itself. If the layer
    outputs f(x) for all f and x (g is the identity), and the token after x is the same in all
    prompts, then h(m + 1)p' ≥ s·log₂s [Peng2024].

    The bound is vacuous for a layer with h(m + 1)p' ≥ (n − 1)/2.
    """
    return (n_tokens - 1) / 2


class CompositionBound(NamedTuple):
    """The number of bits that one layer lacks for function composition, and its least error."""

    R: float
    """n·log₂n − H(d + 1)p, in bits; the theorem is vacuous unless R is positive."""
    error: float
    """max(0, R/(3n·log₂n)), at most 1/3."""


@checked
def composition_bound(
    n_points: Annotated[Count, Within(least=2, most=2**300)],
    n_heads: Annotated[Count, Within(most=2**300)],
    d_value: Annotated[Count, Within(most=2**300)],
    bits: Annotated[Count, Within(most=2**300)],
) -> CompositionBound:
    """The `CompositionBound` of one layer of attention for functions on `n_points` points.

    The layer has H = `n_heads` heads of dimension d = `d_value`, and computes with numbers of p =
    `bits` bits. For the composition g(f(x)) of functions f, g on n = `n_points` points, the layer
    lacks R = n·log₂n − H(d + 1)p bits. If R > 0, the output of the layer differs from g(f(x)) with
    probability at least R/(3n·log₂n) over random f, g and x [Peng2024, Theorem 1]. Otherwise the
    theorem is vacuous and the error is 0.
    """
    n, H, d, p = n_points, n_heads, d_value, bits
    R = n * log2(n) - H * (d + 1) * p
    return CompositionBound(R, max(0.0, R / (3 * n * log2(n))))
