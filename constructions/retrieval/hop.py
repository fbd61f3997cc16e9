"""k-hop induction heads [Sanford2024] in ⌊log₂k⌋ + 2 layers, by pointer doubling.

    hop_k(x)_i = x_{find^k(i)},     find(i) = max{ j ≤ i : x_{j−1} = x_i },     ⊥ if there is none.

One hardmax head a layer.  Tokens stand at positions 1 … n behind a BOS at position 0, which stands
for ⊥; positions have lattice points P_j, with the origin for BOS, and tokens have codes b(x).

Layer 1, whose mask is strict (a token sees those before it, and not itself): token i asks for its
own code, position p answers with its code, and the latest wins, by scores M⟨b(x_i), b(x_p)⟩ + p as
in `induction.py`.  That p is find(i) − 1, so it carries the point of the position after
itself: `pointer` = P_{find(i)}, or P_0 from BOS if there is no match.

Layer 2 + m, m = 0, 1, …, ⌊log₂k⌋: token i asks for the position of its `pointer`, which is
find^{2^m}(i), with the score 2⟨pointer, P_j⟩ − |P_j|², largest there by at least 1.  From that
position j it takes

    pointer_j − P_j   added to `pointer`, which was P_j: it becomes pointer_j, of find^{2^{m+1}}(i)
    answer_j          to replace `answer`, if bit m of k is set

where `answer` is the code of hop_{k mod 2^m}, to begin with the token's own.  With
hop_{2^m + low}(i) = hop_low(find^{2^m}(i)) it becomes that of hop_{k mod 2^{m+1}}.  The answer is
written once for the lowest set bit; at every further one it goes to `fetched` first, and a linear
MLP moves it.  BOS points to itself and its answer is 0, so ⊥ stays ⊥.

Why a strict mask.  Under the mask that includes the token itself, every token is its own latest
match, so the pointer takes one layer more (previous token, then match) and the answer comes with
the doubling of pairs, in ⌈log₂k⌉ + 2 layers; whether fewer suffice there for a k that is not a
power of two is open here.  Which of the two masks the theorem of [Sanford2024] assumes was not
checked; its MLPs may be any functions of a token, and these weights need only linear ones.
"""

from __future__ import annotations

import numpy as np

from constructions.assembly import Head, Move, block, rows
from constructions.retrieval.codes import binary_codes, lattice
from constructions.retrieval.margins import Margin, sharpening
from constructions.retrieval.sequence_model import Answers, Prompt, SequenceModel, decode
from constructions.stream import Stream, one
from constructions.transformer import Block, Embed, PosEmbed
from theory import checks

SOURCE = "[Sanford2024]; proved in constructions/retrieval/hop.py"


def hop(
    k: int, vocabulary_size: int, max_length: int, sharpness: float | None = None
) -> SequenceModel:
    """The token that k hops lead to, at every position; −1 (⊥) where a hop finds no match.

    ⌊log₂k⌋ + 2 layers, one head each, width 2r + 8 with r = ⌈log₂V⌉ (3r + 8 if k is not a power of
    two), whatever k and the length.  The first layer's mask is strict.

    Args:
        k: number of hops, ≥ 1; hop(1, …) is the induction head of the latest match.
        vocabulary_size: V ≥ 1; tokens are 0 … V − 1.
        max_length: n ≥ 1; sequences have at most n tokens.
        sharpness: softmax attention at this sharpness instead of hardmax.

    Raises ValueError for parameters outside these ranges, and for a sharpness too small for n.
    """
    k = checks.dimension("k", k)
    V = checks.dimension("vocabulary_size", vocabulary_size)
    n = checks.dimension("max_length", max_length)
    codes, points = binary_codes(V), lattice(n + 1)
    r, M, several = codes.shape[1], n // 2 + 1, k.bit_count() > 1
    stream = Stream(
        code=r,
        place=2,
        norm=1,
        after=2,
        rank=1,
        pointer=2,
        answer=r,
        **{"fetched": r} if several else {},
    )
    here = np.arange(n + 1)
    positions = rows(
        stream,
        place=points,
        norm=(points**2).sum(1),
        after=points[np.where((here == 0) | (here == n), 0, here + 1)],
        rank=np.where(here == 0, M * r, here),
    )
    reach = float(abs(points).max())
    layers = k.bit_length() + 1
    # A wrong pointer doubles in every layer and moves a score by up to 4·reach times itself.
    c = sharpening(16 * 2.0**layers * reach**2)
    code, rank, after = map(stream.read, ("code", "rank", "after"))
    find = Head((c * M * code, c * one), (code, rank), after, "pointer")
    blocks = [block(stream, [find], normalise="hardmax", mask="strict")]
    for m in range(k.bit_length()):
        blocks.append(_jump(stream, k, m, c if m < k.bit_length() - 1 else 1.0))
    return SequenceModel(
        Embed(rows(stream, code=np.vstack([codes, np.zeros(r)]))),
        blocks,
        decode(stream, stream.read("answer"), codes, bottom=r / 2),
        pos_embed=PosEmbed(positions),
        stream=stream,
        prompt=Prompt(V, n, prefix=(V,)),
        answers=Answers(margin=min(r / 2, 2.0)),
        margins=(*((Margin(c),) for _ in range(layers - 1)), (Margin(1.0),)),
        at_most={"pointer": reach, "answer": 1.0, "fetched": 1.0}
        if several
        else {"pointer": reach},
        name=f"hop({k}, {V}, {n})",
        source=SOURCE,
    ).sharpened(sharpness)


def _jump(stream: Stream, k: int, m: int, c: float) -> Block:
    """Layer 2 + m: from the pointed-to position, its pointer and, if bit m is set, its answer."""
    read, place, pointer = stream.read, stream.read("place"), stream.read("pointer")
    lowest, last = (k & -k).bit_length() - 1, k.bit_length() - 1
    carries, into, moves = [], [], []
    if m < last:
        carries.append(pointer - place)
        into.append("pointer")
    if k >> m & 1:
        carries.append(read("code" if m == lowest else "answer"))
        into.append("answer" if m == lowest else "fetched")
        if m != lowest:
            moves = [
                Move(read("fetched") - read("answer"), "answer"),
                Move(-read("fetched"), "fetched"),
            ]
    head = Head((2 * c * pointer, -c * one), (place, read("norm")), tuple(carries), tuple(into))
    return block(stream, [head], moves, normalise="hardmax", mask="causal")
