"""k-hop induction heads [Sanford2024] in ⌊log₂k⌋ + 2 layers, by pointer doubling.

    hop_k(x)_i = x_{find^k(i)},     find(i) = max{ j ≤ i : x_{j−1} = x_i },     ⊥ if there is none.

Each layer has one unique-hard attention head.  Tokens have positions 1 … n, after a BOS at position
0, which represents ⊥; positions have lattice points P_j, with the origin for BOS, and tokens have
codes b(x).

Layer 1, whose mask is strictly causal (a token attends to those before it, not to itself): query
b(x_i), key b(x_p), and the latest match has the largest score, by M⟨b(x_i), b(x_p)⟩ + p as in
`induction.py`.  That p is find(i) − 1, so its value is the point of the position after itself:
`pointer` = P_{find(i)}, or P_0 from BOS if there is no match.

Layer 2 + m, m = 0, 1, …, ⌊log₂k⌋: token i looks up the position j of its `pointer`, find^{2^m}(i)
(`tokens/positions.py`), and receives from there

    pointer_j − P_j   added to `pointer`, which was P_j: it becomes pointer_j, of find^{2^{m+1}}(i)
    answer_j          to replace `answer`, if bit m of k is set

where `answer` is the code of hop_{k mod 2^m}, initially the token's own.  With
hop_{2^m + low}(i) = hop_low(find^{2^m}(i)) it becomes that of hop_{k mod 2^{m+1}}.  For the lowest
set bit the answer is written once; for every further one it is written to `fetched` first, and a
linear MLP moves it.  BOS points to itself and its answer is 0, so ⊥ stays ⊥.

For softmax at a fixed sharpness to follow the pointers at every n, the weights grow: scores are up
to max(r, 2)(n + 2), Θ(n), times c = Θ(log n + log k) in all layers but the last.

Why a strictly causal mask.  Under the causal mask that includes the token itself, every token is
its own latest match, so the pointer takes one layer more (previous token, then match) and the
answer comes with the doubling of pairs, in ⌈log₂k⌉ + 2 layers; whether fewer suffice there for a k
that is not a power of two is open here.

[Sanford2024, Theorem 4.2] states ⌊log₂k⌋ + 2 layers under that inclusive mask (their
lower-triangular Γ has Γ_ij = 0 for i ≥ j), with one head, constant width and O(log n) bits, where
queries, keys, values and the output may be any functions of token and position; these weights are
linear.  Its proof (Appendix D.1, arXiv version 1) takes a layer for the previous token and one for
find, and then layer ℓ + 1 looks up find^{2^{ℓ−2}}(i) and takes from there, if bit ℓ − 1 of k is
set,

    find^{k:ℓ−2}(find^{2^{ℓ−2}}(i)),   which is to be find^{k:ℓ−1}(i),   k:ℓ = k mod 2^{ℓ+1}.

These are 2^{ℓ−2} hops more than k:ℓ−2, where bit ℓ − 1 is worth 2^{ℓ−1}: for k = 3 layer 3 yields
find² and not find³.  Pointers that a layer composes from two of the layer before are over at most
twice as many hops, and over one hop after two layers: by this argument ⌊log₂k⌋ + 2 layers reach
2^⌊log₂k⌋ hops, which is k for powers of two, and k hops take ⌈log₂k⌉ + 2 layers.
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
    """Outputs the token that k hops lead to, at every position; −1 (⊥) if a hop finds no match.

    ⌊log₂k⌋ + 2 layers, one head each, width 2r + 8 with r = ⌈log₂V⌉ (3r + 8 if k is not a power of
    two), for all k and lengths.  The first layer's mask is strictly causal, the others are causal.

    k = 1 is the induction head of the latest match; tokens are 0 … V − 1, and sequences have at
    most n = max_length of them.  With a `sharpness` β the heads are softmax heads.

    Raises ValueError if the sharpness is too small for n.
    """
    V, n = sizes(vocabulary_size, max_length)
    codes, points, here = binary_codes(V), lattice(n + 1), np.arange(n + 1)
    r, M, reach = codes.shape[1], n // 2 + 1, float(abs(points).max())
    fetched = {"fetched": r} if k.bit_count() > 1 else {}
    stream = Stream(code=r, place=2, norm=1, after=2, rank=1, pointer=2, answer=r, **fetched)
    code, rank, after = map(stream.read, ("code", "rank", "after"))
    # A wrong pointer doubles in every layer and moves a score by up to 4·reach times itself.
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
    """The point of the position that the hops lead to; for ⊥ that of BOS."""
    return points[hop_positions(tokens, hops) + 1]


def _hopped(codes: np.ndarray, hops: int, tokens: np.ndarray) -> np.ndarray:
    """The code of the token that the hops lead to."""
    return codes[definition(tokens, hops)]


def _jump(stream: Stream, k: int, m: int, c: float) -> Block:
    """Layer 2 + m: the pointer at the position pointed to and, if bit m is set, its answer."""
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
