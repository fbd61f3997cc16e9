"""Numbers of layers and sizes that suffice, or are necessary, for retrieval."""

from __future__ import annotations

from math import log2
from typing import Annotated, NamedTuple

from theory.kinds import Count, Within, checked


@checked
def hop_layers(k: Count) -> int:
    """The number ⌊log₂k⌋ + 2 of layers that suffice for the k-hop task [Sanford2024, Theorem 4.2].

    A hop from a position goes to the position after the latest earlier occurrence of the same
    token. The k-hop task is to output the token after k hops from each position.
    """
    return k.bit_length() + 1


@checked
def doubling_layers(k: Count) -> int:
    """The number ⌈log₂k⌉ + 2 of layers for the k-hop task if layers double the number of hops.

    A hop from a position goes to the position after the latest earlier occurrence of the same
    token. The k-hop task is to output the token after k hops from each position. The first layer
    computes the token before each position, and the second layer computes the first hop. Each later
    layer doubles the number of hops. The result is ⌊log₂k⌋ + 2 (`hop_layers(k)`) if k is a power of
    two, and ⌊log₂k⌋ + 3 otherwise.
    """
    return (k - 1).bit_length() + 2


@checked
def one_layer_bound(n_tokens: Annotated[Count, Within(most=2**1000)]) -> float:
    """The lower bound (n − 1)/2 on the size h(m + 1)p' of one layer that solves the induction task.

    The induction task is to output the token after the latest earlier occurrence of the last token.
    Consider one attention layer with h heads of value dimension m, whose partial sums are exact in
    p' bits. If the layer outputs the answer of the induction task at the last of n = `n_tokens`
    tokens, for all sequences over at least 4 symbols, then h(m + 1)p' ≥ (n − 1)/2 ([SanfordHsu2024]
    states hmp' = Ω(n) without the constant).

    Proof. The proof is a reduction from the communication problem INDEX, in which Alice sends one
    message to Bob. Alice holds B = (n − 1)/2 bits, the tokens at every other position. Bob marks
    one of the bits by putting the query's symbol just before this bit, and the answer is the marked
    bit. The query is the last token and is fixed. So the scores and values at Alice's positions
    depend only on her tokens. The output at the last token depends on Alice's tokens only through
    two sums over her positions in each head, the sums of e^{score} and of e^{score}·value. These
    sums are a message of h(m + 1)p' bits, which does not depend on the position that Bob marks. If
    the message is shorter than B bits, two different strings of Alice's bits have the same message.
    At a position where the strings differ, Bob outputs the same bit for both strings, and this bit
    is wrong for one of the strings.

    The same argument applies to the composition g(f(x)) of maps, for a prompt that lists the values
    of f and g and ends with x. Let g be the identity, and let f be one of the s^s maps of {0, …,
    s − 1} to itself. If the layer outputs f(x) for all f and x, and the token after x is the same
    in all prompts, then h(m + 1)p' ≥ s·log₂s [Peng2024].

    The bound does not exclude a layer with h(m + 1)p' ≥ (n − 1)/2.
    """
    return (n_tokens - 1) / 2


class CompositionBound(NamedTuple):
    """The lower bound of [Peng2024, Theorem 1] on the error of one attention layer in composition.

    The layer has H heads of dimension d, computes with numbers of p bits, and should output g(f(x))
    for functions f and g on n points. A table of f contains n·log₂n bits, and the heads transmit
    H(d + 1)p bits. `R` = n·log₂n − H(d + 1)p is the number of missing bits. `error` is a lower
    bound on the probability of a wrong output over random f, g and x: R/(3n·log₂n), or 0 if R ≤ 0.
    """

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
    """The lower bound on the error of one attention layer in composition, as a `CompositionBound`.

    The layer has H = `n_heads` heads of dimension d = `d_value`, and computes with numbers of
    p = `bits` bits. It should output g(f(x)) for functions f and g on n = `n_points` points. A
    table of f contains n·log₂n bits, and the heads transmit H(d + 1)p bits, so
    R = n·log₂n − H(d + 1)p bits are missing. If R > 0, the output of the layer differs from g(f(x))
    with probability at least R/(3n·log₂n) over random f, g and x [Peng2024, Theorem 1]. Otherwise
    the theorem is vacuous, and the bound on the error is 0.
    """
    n, H, d, p = n_points, n_heads, d_value, bits
    R = n * log2(n) - H * (d + 1) * p
    return CompositionBound(R, max(0.0, R / (3 * n * log2(n))))
