"""k-hop induction heads [Sanford2024] in ⌊log₂k⌋ + 2 layers, by pointer doubling.

    hop_k(x)_i = x_{find^k(i)},     find(i) = max{ j ≤ i : x_{j−1} = x_i },     ⊥ if there is none.

Each layer has one unique-hard attention head. Tokens have positions 1 … n; BOS at position 0
represents ⊥. Position j has the lattice point P_j, with P_0 = 0, and a token x has the code b(x).

Layer 1 has a strictly causal mask (a token attends only to tokens before it). The query is b(x_i),
the key is b(x_p), and the score M⟨b(x_i), b(x_p)⟩ + p is largest at the latest match, by at least
1, as in `induction.py`. Here M = ⌊n/2⌋ + 1 suffices: 2M > n, so tokens other than x_i have scores
of at most M(r − 2) + n − 1 < M·r − 1, and BOS has M·r. At the match p = find(i) − 1, so the value
of token p is P_{p+1}: `pointer` = P_{find(i)}, or P_0 from BOS if there is no match.

Layer 2 + m, m = 0, 1, …, ⌊log₂k⌋: token i looks up the position j of its `pointer`, find^{2^m}(i)
(`tokens/positions.py`), and receives from there

    pointer_j − P_j   added to `pointer`, which was P_j: it becomes pointer_j, of find^{2^{m+1}}(i)
    answer_j          to replace `answer`, if bit m of k is set

where `answer` is the code of hop_{k mod 2^m}(i), initially the code of the token. As
hop_{2^m + low}(i) = hop_low(find^{2^m}(i)), it becomes the code of hop_{k mod 2^{m+1}}(i). For the
lowest set bit, the head writes the answer directly. For every further set bit, the head writes it
to `fetched`, and a linear MLP moves it to `answer`. BOS points to itself and its answer is 0, so ⊥
stays ⊥.

Softmax at a fixed sharpness follows the pointers at every n because the weights grow: scores are at
most max(r, 2)(n + 2) = Θ(n), times c = Θ(log n + log k) in all layers but the last.

Why a strictly causal mask.  Under the causal mask that includes the token itself, every token would
be the latest match of itself. So the pointer requires one more layer (previous token, then match),
and doubling gives ⌈log₂k⌉ + 2 layers. Whether fewer layers suffice under this mask if k is not a
power of two is open here.

[Sanford2024, Theorem 4.2] states ⌊log₂k⌋ + 2 layers under the inclusive mask
(their lower-triangular Γ has Γ_ij = 0 for i ≥ j), with one head, constant width and O(log n) bits.
There queries, keys, values and the output may be arbitrary functions of token and position; the
weights here are linear. Its proof (Appendix D.1, arXiv version 1) uses one layer for the previous
token and one for find. Then layer ℓ + 1 looks up find^{2^{ℓ−2}}(i) and, if bit ℓ − 1 of k is set,
reads from there

    find^{k:ℓ−2}(find^{2^{ℓ−2}}(i)),   which should be find^{k:ℓ−1}(i),   k:ℓ = k mod 2^{ℓ+1}.

The number of hops grows by 2^{ℓ−2}, but bit ℓ − 1 has the value 2^{ℓ−1}: for k = 3, layer 3
computes find² instead of find³. A layer that composes two pointers of the previous layer at most
doubles the number of hops, and after two layers this number is 1. So this argument reaches
2^⌊log₂k⌋ hops in ⌊log₂k⌋ + 2 layers, and 2^⌊log₂k⌋ = k only for powers of two; for k hops, the
argument requires ⌈log₂k⌉ + 2 layers.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated

import numpy as np

from constructions.assembly import Head, block, rows
from constructions.blocks import Block, Embed, Stage
from constructions.call import construction
from constructions.margins import Margin, sharpening
from constructions.primitives import Move
from constructions.stream import Stream, one
from constructions.tokens import Tokens, binary_codes, decode, lattice, look_up, positions, sizes
from constructions.transformer import Transformer
from theory.kinds import Count, Positive, Within
from theory.retrieval import hop as definition
from theory.retrieval import hop_positions

LARGEST = 2**500  # hops, so that scores stay within float64


@construction
def hop(
    k: Annotated[Count, Within(below=LARGEST)],
    vocabulary_size: Count,
    max_length: Count,
    *,
    sharpness: Positive | None = None,
) -> Transformer:
    """A model that outputs the token reached by k hops from every position, or −1 if there is none.

    A hop leads from a position i to the position directly after the latest earlier occurrence of
    the token at position i. For all k and all lengths of sequences, the model has ⌊log₂k⌋ + 2
    layers of one head each. The width is 2r + 8 if k is a power of two, and 3r + 8 if not, with r =
    ⌈log₂V⌉ and V = `vocabulary_size`. The mask of the first layer is strictly causal (a token
    attends only to earlier tokens), and the masks of the other layers are causal. For k = 1 the
    outputs are those of `induction_heads` with match "latest". Tokens are 0 … V − 1, and sequences
    have at most n = `max_length` tokens. With a `sharpness` β, attention is softmax at inverse
    temperature β.

    Raises ValueError for a sharpness at which answers could be wrong for n tokens.
    """
    V, n = sizes(vocabulary_size, max_length)
    codes, points, here = binary_codes(V), lattice(n + 1), np.arange(n + 1)
    r, M, reach = codes.shape[1], n // 2 + 1, float(abs(points).max())
    fetched = {"fetched": r} if k.bit_count() > 1 else {}
    stream = Stream(code=r, place=2, norm=1, after=2, rank=1, pointer=2, answer=r, **fetched)
    code, rank, after = map(stream.read, ("code", "rank", "after"))
    # An error of a pointer doubles in every layer; it changes a score by up to 4·reach times the
    # error.
    c = sharpening(16 * 2.0 ** (k.bit_length() + 1) * reach**2)
    find = Head((c * M * code, c * one), (code, rank), after, "pointer", margin=Margin(c))
    return Transformer(
        Embed(rows(stream, code=np.vstack([codes, np.zeros(r)]))),
        [
            block(stream, [find], normalise="hardmax", mask="strictly causal"),
            *(_jump(stream, k, m, c) for m in range(k.bit_length() - 1)),
            _jump(stream, k, k.bit_length() - 1, 1.0),
        ],
        decode(stream, stream.read("answer"), codes, bottom=r / 2),
        pos_embed=positions(
            stream,
            points,
            after=points[np.where((here == 0) | (here == n), 0, here + 1)],
            rank=np.where(here == 0, M * r, here),
        ),
        interface=Tokens(V, n, prefix=(V,), margin=min(r / 2, 2.0), bottom=True),
        stream=stream,
        stages=_stages(k, codes, points),
        at_most={"pointer": reach, **dict.fromkeys(["answer", *fetched], 1.0)},
        source="[Sanford2024, Theorem 4.2]",
    ).sharpened(sharpness)


def _stages(k: int, codes: np.ndarray, points: np.ndarray) -> tuple[Stage, ...]:
    """The pointer after layer 1 + m is P_{find^{2^m}(i)}, the answer after 2 + m the code of
    hop_{k mod 2^{m+1}}."""
    bits = range(k.bit_length())
    pointers = (Stage(1 + m, "pointer", partial(_found, points, 2**m)) for m in bits)
    low = {m: k % 2 ** (m + 1) for m in bits}
    codes = np.vstack([codes, np.zeros(codes.shape[1])])  # ⊥ has none
    return *pointers, *(
        Stage(2 + m, "answer", partial(_hopped, codes, low[m])) for m in bits if low[m]
    )


def _found(points: np.ndarray, hops: int, tokens: np.ndarray) -> np.ndarray:
    """The lattice point of the position after the hops; for ⊥ the point of BOS."""
    return points[hop_positions(tokens, hops) + 1]


def _hopped(codes: np.ndarray, hops: int, tokens: np.ndarray) -> np.ndarray:
    """The code of the token after the hops."""
    return codes[definition(tokens, hops)]


def _jump(stream: Stream, k: int, m: int, c: float) -> Block:
    """Layer 2 + m: reads the next pointer and, if bit m of k is set, the answer from there."""
    code, place, pointer, answer = map(stream.read, ("code", "place", "pointer", "answer"))
    taken, moves = {}, list[Move]()
    if m < k.bit_length() - 1:
        taken["pointer"] = pointer - place
    if k % 2 ** (m + 1) == 2**m:  # the lowest bit
        taken["answer"] = code
    elif k >> m & 1:
        taken["fetched"] = answer
        fetched = stream.read("fetched")
        moves = [Move(fetched - answer, "answer"), Move(-fetched, "fetched")]
    head = look_up(stream, pointer, tuple(taken.values()), tuple(taken), c)
    return block(stream, [head], moves, normalise="hardmax", mask="causal")
