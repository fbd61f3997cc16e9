"""Any distribution on strings of L symbols that is uniform on all but a few: a table of prefixes.

A sequence is BOS and the symbols so far, at positions 0, 1, …, L − 1; the output at each is the
next symbol, by its logits ln g(symbol | symbols so far).

Layer 1: L − 1 heads; head k attends to position k (`tokens.placed`), or to BOS where that is still
to come, and writes the code of that symbol, or of BOS, to `letter_k`.  So the
registers side by side are a code of the prefix: those of different prefixes differ, and are ±1.
The MLP is a table: the hidden neuron of a prefix of one of the given strings is 1 if that prefix
was read and 0 else, and its output weights are the logits.  After other prefixes all strings are
equally likely, and so are all symbols: no neuron is active, and all logits are 0.

With m strings given, of probabilities that sum to 1 − ρ, the prefix x has the probability

    g(x) = Σ (given strings that begin with x) + ρ·(other strings that begin with x)/(V^L − m)

and the symbol v after it g(xv)/g(x).  A softmax has no 0: an impossible symbol has the logit
−64, and at most e^−64 = 1.6e−28 of the probability.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from fractions import Fraction
from functools import partial
from math import log
from typing import Annotated, Any, TypeAlias

import numpy as np

from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.primitives import Table
from constructions.stream import Stream
from constructions.tokens import Tokens, binary_codes, placed, rows_fit
from constructions.transformer import Transformer
from theory import machine
from theory.kinds import Count, Exact, InputError, Integers, Within
from theory.language.documents import next_letter

NEVER = -64.0  # the logit of a letter that cannot follow
MOST = 500  # letters of a string, a head each


VocabularySize: TypeAlias = Annotated[Count, Within(most=10**15)]
"""An integer from 1 to 10^15."""


@construction
def string_model(
    strings: Annotated[Any, Integers("m L", Within(least=0, below="vocabulary_size"))],
    chances: Sequence[Exact],
    vocabulary_size: VocabularySize,
) -> Transformer:
    """A model of strings of L ≥ 2 symbols: the given `strings` (m, L) have the given exact
    `chances` (m,), and all others share what these leave of 1 evenly.

    It takes sequences (…, T) of BOS, which is the token `vocabulary_size`, and T − 1 < L symbols;
    `logits` are those of the next symbol, and `generate` goes on with the most probable ones.
    One layer, L − 1 heads, width L(r + 1) + V + 1, r = ⌈log₂(V + 1)⌉, and a unit for each prefix.

    Raises ValueError for strings of one symbol or of more than 500, a string that is given twice,
    probabilities that are negative or above 1 in all, or below 1 in all when all V^L strings are
    given, and for what no memory holds.
    """
    V, given = vocabulary_size, strings
    rows_fit(V)
    m, L = given.shape
    if not 2 <= L <= MOST:
        raise InputError(
            f"strings have shape {given.shape}: give (m, L) letters, L from 2 to {MOST}"
        )
    rest = _checked(given, chances, V)
    codes, here = binary_codes(V + 1), np.arange(L)
    r = codes.shape[1]
    places = range(1, L)
    machine.fits_in_memory(
        f"the table of {m:.4g} strings of {L} letters",
        8 * m * L * (L * (r + 1) + 2 * V),
        "give fewer strings",
    )
    ask = {f"ask_{k}": 1 for k in places}
    letter = {f"letter_{k}": r for k in places}
    stream = Stream(code=r, j=1, norm=1, **ask, **letter, logit=V)
    stream.fits(1, heads=L)
    read = stream.read
    heads = [
        placed(read(a), (read("j"), read("norm")), read("code"), into)
        for a, into in zip(ask, letter, strict=True)
    ]
    prefixes, logits = _table(given, chances, rest, V)
    keys = codes[prefixes].reshape(len(prefixes), -1)
    table = Table(tuple(map(read, letter)), keys, logits, "logit")
    asked = {f"ask_{k}": np.where(here >= k, k, 0) for k in places}
    return Transformer(
        Embed(rows(stream, code=codes)),
        [block(stream, heads, [table], normalise="hardmax", mask="causal")],
        unembed(stream, read("logit")),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2, **asked)),
        interface=Tokens(V + 1, L, slots=[range(V, V + 1), *[range(V)] * (L - 1)], answers=V),
        stream=stream,
        stages=(
            *(Stage(1, f"letter_{k}", partial(_letter, codes, k)) for k in places),
            Stage(1, "logit", partial(_logits, given, list(chances), V)),
        ),
        source="proved in constructions/language/string_model.py",
    )


def _checked(given: np.ndarray, chances: Sequence[Exact], V: int) -> Fraction:
    """What the given strings leave to the others."""
    m, L = given.shape
    if len(chances) != m:
        raise InputError(f"{m} strings and {len(chances)} chances: give as many")
    if len(np.unique(given, axis=0)) < m:
        raise InputError(f"{m} strings are not all different: give each once")
    rest = 1 - Fraction(sum(chances))
    if min(chances) < 0 or rest < 0:
        raise InputError(
            f"chances are at least {min(chances)} and sum to {1 - rest}: give numbers from 0 that "
            "sum to at most 1"
        )
    if rest and m == V**L:
        raise InputError(f"all {m} strings have {1 - rest} in all: give chances that sum to 1")
    return rest


def _table(
    given: np.ndarray, chances: Sequence[Exact], rest: Fraction, V: int
) -> tuple[np.ndarray, np.ndarray]:
    """Prefixes (P, L − 1), filled up with BOS, and the logits after them (P, V)."""
    m, L = given.shape
    listed, count = (
        defaultdict[tuple[int, ...], Fraction](Fraction),
        defaultdict[tuple[int, ...], int](int),
    )
    for string, chance in zip(given.tolist(), chances, strict=True):
        for t in range(L + 1):
            listed[tuple(string[:t])] += chance
            count[tuple(string[:t])] += 1

    def mass(prefix: tuple[int, ...]) -> Fraction:
        below = V ** (L - len(prefix)) - count.get(prefix, 0)
        return listed.get(prefix, Fraction(0)) + (rest * Fraction(below, V**L - m) if rest else 0)

    prefixes, logits = [], []
    for prefix in sorted(count):
        if len(prefix) == L or not (whole := mass(prefix)):
            continue
        shares = [mass((*prefix, v)) / whole for v in range(V)]
        logits.append([log(share) if share else NEVER for share in shares])
        prefixes.append([*prefix, *[V] * (L - 1 - len(prefix))])
    return np.array(prefixes), np.array(logits)


def _letter(codes: np.ndarray, k: int, tokens: np.ndarray) -> np.ndarray:
    """The code of token k from place k on, and of BOS before."""
    BOS, T = len(codes) - 1, tokens.shape[-1]
    return codes[np.where(np.arange(T) >= k, tokens[..., [min(k, T - 1)]], BOS)]


def _logits(given: np.ndarray, chances: list[Exact], V: int, tokens: np.ndarray) -> np.ndarray:
    """ln of the next symbol's probability, by definition; 0 where all symbols are as likely."""

    def after(prefix: list[int]) -> list[float]:
        shares = next_letter(given, chances, V, prefix)
        if shares is None:
            return [0.0] * V
        return [log(share) if share else NEVER for share in shares]

    letters = tokens.reshape(-1, tokens.shape[-1])[:, 1:].tolist()
    found = [[after(row[:t]) for t in range(len(row) + 1)] for row in letters]
    return np.array(found).reshape(*tokens.shape, V)
