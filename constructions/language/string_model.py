"""Any distribution on strings that is uniform outside a list of strings, by a table of prefixes.

Let g be the distribution on strings of L symbols.  A sequence is BOS and the symbols so far, at
positions 0, 1, …, L − 1, and the logits at each position are ln g(next symbol | symbols so far).

Layer 1 has L − 1 heads.  Head k attends to position k (`tokens.placed`), or to BOS if the sequence
is shorter, and writes the code of the token there to `symbol_k`.  The registers together are an
injective code ±1 of the prefix.  The MLP is a table.  It has a hidden neuron for each prefix of a
given string.  This neuron is 1 on its prefix and 0 otherwise, and its output weights are the
logits.  After any other prefix all strings are equally likely, and so are all next symbols.  Then
no neuron is active, and all logits are 0.

If the m given strings have probabilities that sum to 1 − ρ, a prefix x has the probability

    g(x) = Σ g(given strings that begin with x) + ρ·#(other strings that begin with x)/(V^L − m)

and the symbol v after x has the probability g(xv)/g(x).  As softmax does not output 0, an
impossible symbol has the logit −64, and so a probability of at most e^−64 = 1.6e−28.
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
from theory.language.documents import next_symbol

NEVER = -64.0  # the logit of an impossible symbol
SMALL = Fraction(1, 2**1000)  # numbers down to it are normal in float64
MOST = 500  # largest number of symbols of a string: each has a head


VocabularySize: TypeAlias = Annotated[Count, Within(most=10**15)]
"""An integer from 1 to 10^15."""


@construction
def string_model(
    vocabulary_size: VocabularySize,
    strings: Annotated[Any, Integers("m L", Within(least=0, below="vocabulary_size"))],
    probabilities: Sequence[Exact],
) -> Transformer:
    """A transformer that models a distribution on strings that is uniform outside a given list.

    The rows of `strings` (m, L) are m strings of L ≥ 2 symbols, which are numbers from 0 to V − 1
    with V = `vocabulary_size`. These strings have the exact `probabilities` (m,). The remaining
    probability is uniform on all other strings of L symbols. The inputs of the model are sequences
    (…, T) of BOS (the token V) and T − 1 < L symbols. `logits` are the logits of the next symbol,
    and `generate` decodes greedily. An impossible symbol has the logit −64, and so a probability of
    at most e^−64, not 0. The model has one layer with L − 1 heads, width L(r + 1) + V + 1 for
    r = ⌈log₂(V + 1)⌉, and one hidden neuron for each prefix of a given string.

    Raises ValueError for strings of one symbol or of more than 500, and for repeated strings. Also
    raises ValueError if a probability is negative, if the sum of the probabilities is more than 1,
    if all V^L strings are given and the sum is less than 1, or if the weights do not fit in memory.
    """
    V, given = vocabulary_size, strings
    rows_fit(V)
    m, L = given.shape
    if not 2 <= L <= MOST:
        raise InputError(f"strings have shape {given.shape}: give strings of 2 to {MOST} symbols")
    rest = _checked(given, probabilities, V)
    codes, here = binary_codes(V + 1), np.arange(L)
    r = codes.shape[1]
    places = range(1, L)
    machine.fits_in_memory(
        f"the table of {m:.4g} strings of {L} symbols",
        8 * m * L * (L * (r + 1) + 2 * V),
        "give fewer strings",
    )
    query = {f"query_{k}": 1 for k in places}
    symbol = {f"symbol_{k}": r for k in places}
    stream = Stream(code=r, j=1, norm=1, **query, **symbol, logit=V)
    stream.fits(1, heads=L)
    read = stream.read
    heads = [
        placed(read(a), (read("j"), read("norm")), read("code"), into)
        for a, into in zip(query, symbol, strict=True)
    ]
    prefixes, logits = _table(given, probabilities, rest, V)
    keys = codes[prefixes].reshape(len(prefixes), -1)
    table = Table(tuple(map(read, symbol)), keys, logits, "logit")
    queries = {f"query_{k}": np.where(here >= k, k, 0) for k in places}
    return Transformer(
        Embed(rows(stream, code=codes)),
        [block(stream, heads, [table], normalise="hardmax", mask="causal")],
        unembed(stream, read("logit")),
        pos_embed=PosEmbed(rows(stream, j=here, norm=here**2, **queries)),
        interface=Tokens(V + 1, L, slots=[range(V, V + 1), *[range(V)] * (L - 1)], answers=V),
        stream=stream,
        stages=(
            *(Stage(1, f"symbol_{k}", partial(_symbol, codes, k)) for k in places),
            Stage(1, "logit", partial(_logits, given, list(probabilities), V)),
        ),
        source="weightwright",
    )


def _checked(given: np.ndarray, probabilities: Sequence[Exact], V: int) -> Fraction:
    """The mass that remains for the other strings; raises ValueError for bad probabilities."""
    m, L = given.shape
    if len(probabilities) != m:
        raise InputError(
            f"there are {m} strings and {len(probabilities)} probabilities: "
            "give one probability for each string"
        )
    if len(np.unique(given, axis=0)) < m:
        raise InputError(f"the {m} strings are not distinct: give each string once")
    rest = 1 - Fraction(sum(probabilities))
    if min(probabilities) < 0 or rest < 0:
        raise InputError(
            f"probabilities have minimum {min(probabilities)} and sum {1 - rest}: give numbers ≥ 0 "
            "with a sum of at most 1"
        )
    if rest and m == V**L:
        raise InputError(
            f"probabilities of all {m} strings sum to {1 - rest}: give probabilities that sum to 1"
        )
    return rest


def _table(
    given: np.ndarray, probabilities: Sequence[Exact], rest: Fraction, V: int
) -> tuple[np.ndarray, np.ndarray]:
    """Prefixes (P, L − 1), padded with BOS, and the logits after them (P, V)."""
    m, L = given.shape
    listed, count = (
        defaultdict[tuple[int, ...], Fraction](Fraction),
        defaultdict[tuple[int, ...], int](int),
    )
    for string, probability in zip(given.tolist(), probabilities, strict=True):
        for t in range(L + 1):
            listed[tuple(string[:t])] += probability
            count[tuple(string[:t])] += 1

    def mass(prefix: tuple[int, ...]) -> Fraction:
        below = V ** (L - len(prefix)) - count.get(prefix, 0)
        return listed.get(prefix, Fraction(0)) + (rest * Fraction(below, V**L - m) if rest else 0)

    prefixes, logits = [], []
    for prefix in sorted(count):
        if len(prefix) == L or not (whole := mass(prefix)):
            continue
        following = [mass((*prefix, v)) / whole for v in range(V)]
        logits.append([_logit(p) for p in following])
        prefixes.append([*prefix, *[V] * (L - 1 - len(prefix))])
    return np.array(prefixes), np.array(logits)


def _logit(p: Fraction) -> float:
    """The logarithm of a probability, which may be below all numbers of float64."""
    if not p:
        return NEVER
    return log(p) if p > SMALL else log(p.numerator) - log(p.denominator)


def _symbol(codes: np.ndarray, k: int, tokens: np.ndarray) -> np.ndarray:
    """The code of token k at positions from k on, and of BOS before."""
    BOS, T = len(codes) - 1, tokens.shape[-1]
    return codes[np.where(np.arange(T) >= k, tokens[..., [min(k, T - 1)]], BOS)]


def _logits(
    given: np.ndarray, probabilities: list[Exact], V: int, tokens: np.ndarray
) -> np.ndarray:
    """The log-probabilities of the next symbol, by definition; 0 if all are equally likely."""

    def after(prefix: list[int]) -> list[float]:
        following = next_symbol(given, probabilities, V, prefix)
        if following is None:
            return [0.0] * V
        return [_logit(p) for p in following]

    symbols = tokens.reshape(-1, tokens.shape[-1])[:, 1:].tolist()
    found = [[after(row[:t]) for t in range(len(row) + 1)] for row in symbols]
    return np.array(found).reshape(*tokens.shape, V)
