"""Dyck languages of k types of brackets and any depth, in four layers of one head.

After each symbol the transformer outputs whether the prefix is a Dyck word: every closing bracket
matches the latest open bracket, and no bracket is left open.  BOS is at position 0, and the symbols
are at 1 … T.  N is the number of tokens up to a token, s is a scale ≥ 1 of scores, and C > N is a
power of two.

Layer 1.  A head with constant scores averages `sign` (+1 for opening and −1 for closing brackets)
    into `average` = b/N, where b is the balance so far.  It averages the flag of BOS into
    `inverse` = 1/N.  The MLP adds [b < 0] to `error`; this is exact, as |C·b/N| is 0 or ≥ 1.
Layer 2.  Scores s(T + 1)(2·average·j − inverse·j²) = s(T + 1)/N·(b² − (b − j)²) are largest at
    position j = b, by at least s, and at 0 if b < 0; the values there are j and j².
Layer 3.  A closing bracket looks up the latest opening bracket after which the balance was b + 1,
    one more than at the closing bracket: up to the first error this is the bracket that it matches.
    With M = 2T + 2 the score is M(b + 1)² − M(b_j − b − 1)² + j, minus M for closing brackets, and
    M(b + 1)² − M/2 at BOS, where b_j is the balance at position j; the largest score exceeds the
    others by at least 1.  Types are numbers.  The type found is subtracted from `type` at the
    token.  At closing brackets, the MLP adds 1 to `error` if the difference is not 0.
Layer 4.  A head adds the average of `error` to `error`: the sum is 0 if there was no error so far,
    and above 1/C otherwise.  The MLP sets `rejected` if C·error + b ≥ 1.

For a bound D on the depth, one more step function in layer 2 adds [b ≥ D + 1] to `error`.

For one type of brackets layers 1 and 4 suffice, without positions or BOS.  The condition for
`rejected` is C(2·error + b/N) ≥ 1.  If b < 0, there have been at least |b| errors, so 2·error + b/N
is at least 1/N if there was an error.

Softmax.  Averages have constant scores and are exact.  All step functions are constant within ¼ of
every integer, so errors of at most ¼ in b or in a type do not change the output.  With s = Θ(log T)
the softmax errors of layer 2 do not matter in the scores of layer 3.  So the required sharpness
does not depend on T: layer 3 may put 1/(8(k − 1)) of its weight on other tokens.

Types and balances are numbers, not one-hot codes, so neither the width nor the number of ReLUs
depends on k.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Block, Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.margins import Margin, Restores, sharpening
from constructions.primitives import Step
from constructions.stream import LinearRead, Map, Stream, one
from constructions.tokens import Tokens, average, counted, inverse, per_token, sizes, written
from constructions.transformer import Transformer
from theory.computation.dyck import balances, is_dyck, match_types
from theory.kinds import Count, Positive

YES = np.array([0.0, 1.0])  # logits of a word that is not rejected


@construction
def dyck(
    k: Count, max_length: Count, *, depth: Count | None = None, sharpness: Positive | None = None
) -> Transformer:
    """Returns a model that outputs, after each symbol, whether the prefix is a Dyck word.

    A Dyck word is a balanced word of brackets of k types. The output is 1 for a Dyck word and else
    0. Symbol a < k opens a bracket of type a, and symbol k + a closes such a bracket. Words have at
    most T = max_length symbols. If `depth` is given, the output is 1 only if at most D = depth
    brackets were open at the same time.

    |              | layers | heads | width | MLP ReLUs of a layer |
    |--------------|--------|-------|-------|----------------------|
    | k = 1        | 2      | 1     | 4     | 2                    |
    | k = 1, depth | 3      | 1     | 9     | 2                    |
    | k > 1        | 4      | 1     | 11    | 4                    |

    Hard attention with D + 1 layers recognises the Dyck words of depth at most D [Yao2021]. In the
    models of the table the number of layers does not depend on D, but the entries of the position
    embeddings grow with T.

    With a `sharpness` β, attention is softmax at inverse temperature β; otherwise it is hardmax.
    Raises ValueError for a sharpness at which answers could be wrong.
    """
    V, T = sizes(2 * k, max_length)
    counts, typed = k > 1 or depth is not None, k > 1
    stream = Stream(
        **dict.fromkeys(("sign", "average", "error", "rejected"), 1),
        **dict.fromkeys(("bos", "inverse", "j", "square", "balance") * counts, 1),
        **dict.fromkeys(("type", "balance_square") * typed, 1),
    )
    C = 2.0 ** (T + 1).bit_length()
    blocks = [_balance_layer(stream, C)]
    if counts:
        blocks.append(_lookup(stream, T, None if depth is None else min(depth, T)))
    if typed:
        blocks.append(_match(stream, k, T))
    blocks.append(_verdict(stream, C))
    here, types, prefix = np.arange(T + 1), np.arange(k), (V,) * counts
    sign = np.repeat([1.0, -1.0, 0.0], [k, k, len(prefix)])
    held = {"sign": sign, "bos": sign == 0, "type": np.hstack([types, types, 0])}
    held = {name: values for name, values in held.items() if name in stream.widths}
    line = PosEmbed(rows(stream, j=here, square=here**2)) if counts else None
    return Transformer(
        Embed(rows(stream, **held)),
        blocks,
        unembed(stream, stream.read("rejected") @ Map(np.array([[1.0, -1.0]]), "±"), bias=YES),
        pos_embed=line,
        interface=Tokens(V, T, prefix=prefix, labels=2, margin=1.0),
        stream=stream,
        stages=_stages(k, depth, len(prefix)),
        at_most={name: bound for name, bound in _bounds(k, T).items() if name in stream.widths},
        source="weightwright; the languages are those of [Yao2021]",
    ).sharpened(sharpness)


def _balance_layer(stream: Stream, C: float) -> Block:
    """Layer 1 computes b/N and 1/N, and adds [b < 0] to `error`."""
    names = {"sign": "average"} | ({"bos": "inverse"} if "bos" in stream.widths else {})
    head = average(tuple(map(stream.read, names)), tuple(names.values()))
    below = _at_least(1, -C * stream.read("average"), "error")
    return block(stream, [head], [below], normalise="hardmax", mask="causal")


def _lookup(stream: Stream, T: int, depth: int | None) -> Block:
    """Layer 2 computes b, and b² if k > 1, and adds [b > D] to `error`."""
    read, typed = stream.read, "type" in stream.widths
    s = sharpening((2 * T + 2) * T**2 if typed else T)
    line = read("j"), read("square")
    into = ("balance", "balance_square")[: 1 + typed]
    head = counted(
        read("average"), read("inverse"), line, line[: 1 + typed], into, int(s) * (T + 1) - 1
    )
    head = replace(head, margin=Margin(s))
    deep, restores = list[Step](), list[Restores]()
    if depth is not None:
        deep.append(_at_least(depth + 1, read("balance"), "error"))
        restores.append(Restores(("error",), {"balance": 0.25, "error": 0.0}))
    return block(stream, [head], deep, normalise="hardmax", mask="causal", restores=restores)


def _match(stream: Stream, k: int, T: int) -> Block:
    """Layer 3 subtracts the type of the matching bracket and adds [difference ≠ 0] to `error`."""
    read = stream.read
    b, square, sign, bos = map(read, ("balance", "balance_square", "sign", "bos"))
    query = b + one, square + 2.0 * b + one
    closes = 0.5 * (one - bos - sign)
    head = written(query, (b, square + closes), read("j"), bos, -read("type"), "type", T)
    off = float(k) * (one - closes)
    words = [_at_least(1, side * read("type") - off, "error") for side in (1.0, -1.0)]
    exact = {"type": 0.25, "sign": 0.0, "bos": 0.0, "error": 0.0}
    restores = [Restores(("error",), exact)]
    return block(stream, [head], words, normalise="hardmax", mask="causal", restores=restores)


def _verdict(stream: Stream, C: float) -> Block:
    """The last layer computes whether there was an error so far or a bracket is open."""
    read = stream.read
    head = average(read("error"), "error")
    if "balance" in stream.widths:
        left, exact = C * read("error") + read("balance"), {"balance": 0.25, "error": 0.0}
    else:
        left, exact = 2 * C * read("error") + C * read("average"), {"average": 0.0, "error": 0.0}
    restores = [Restores(("rejected",), exact)]
    words = [_at_least(1, left, "rejected")]
    return block(stream, [head], words, normalise="hardmax", mask="causal", restores=restores)


def _at_least(number: int, reads: LinearRead, into: str) -> Step:
    """The primitive [reads ≥ number], exact for numbers within a quarter of an integer."""
    return Step(reads, number - 0.25, into, margin=0.5)


def _stages(k: int, depth: int | None, prefix: int) -> tuple[Stage, ...]:
    """The layer invariants: b/N, 1/N, b, b², the type differences, and errors after each layer."""
    counts, typed = bool(prefix), k > 1
    found = [
        Stage(1, "average", partial(_average, k, prefix)),
        Stage(1, "error", partial(_errors, k, 1, None)),
        Stage(2 + counts + typed, "rejected", partial(_rejected, k, depth)),
    ]
    if counts:
        found += [Stage(1, "inverse", inverse), Stage(2, "balance", partial(_balance, k, 1))]
        found += [Stage(2, "error", partial(_errors, k, 2, depth))]
    if typed:
        found += [Stage(2, "balance_square", partial(_balance, k, 2))]
        found += [
            Stage(3, "type", partial(_off, k)),
            Stage(3, "error", partial(_errors, k, 3, depth)),
        ]
    return tuple(found)


def _average(k: int, prefix: int, words: np.ndarray) -> np.ndarray:
    """b/N after each symbol, where N counts the prefix tokens."""
    return per_token(balances(words, k), prefix)


def _balance(k: int, power: int, words: np.ndarray) -> np.ndarray:
    """b, or b², after each symbol; 0 where b < 0."""
    return np.maximum(balances(words, k), 0)[..., None] ** power


def _off(k: int, words: np.ndarray) -> np.ndarray:
    """The type of each token minus the type of the matching bracket."""
    return (words % k)[..., None] - match_types(words, _balance(k, 1, words)[..., 0], k)[..., None]


def _errors(k: int, layer: int, depth: int | None, words: np.ndarray) -> np.ndarray:
    """The number of errors at each symbol that are detected up to a layer.

    The errors are b < 0, b > D, and a closing bracket whose type differs from its matching bracket.
    """
    b = balances(words, k)[..., None]
    found = (b < 0).astype(int)
    if depth is not None:
        found += b > depth
    if layer == 3:
        found += (words >= k)[..., None] & (_off(k, words) != 0)
    return found


def _rejected(k: int, depth: int | None, words: np.ndarray) -> np.ndarray:
    """Whether the prefix is not a Dyck word."""
    return ~is_dyck(words, k, depth)[..., None]


def _bounds(k: int, T: int) -> dict[str, float]:
    """Upper bounds of the registers; `error` is at most 2 plus a mean of such numbers."""
    largest = {"balance": T, "balance_square": T**2, "type": k - 1}
    small = dict.fromkeys(("average", "inverse", "rejected"), 1.0)
    return {"error": 4.0, **small, **{name: float(bound) for name, bound in largest.items()}}
