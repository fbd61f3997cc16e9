"""The parity of k bits by ⌊log₂ k⌋ + 1 tokens, each a threshold of a linear form.

Let S be a set of k of the bits x_i.  The tokens are the binary digits of the count c =
Σ_{i ∈ S} x_i, highest first,

    z_j = [ Σ_{i ∈ S} x_i − Σ_{i > j} 2^i z_i ≥ 2^j ],      j = ⌊log₂ k⌋, …, 0,

and z_0 is the parity.  The thresholds are right since the remainder is below 2^{j+1} before z_j is
computed.  In the same way a circuit of T threshold gates becomes T such tokens (compare
[Malach2024]).

The last token also satisfies the linear equation z_0 = Σ_S x_i − Σ_{i > 0} 2^i z_i.  So linear
algebra finds S from d + ⌊log₂ k⌋ linearly independent examples, as many as there are unknowns
(`coefficients_by_solving`).  Logistic regression of each token on all d bits and the earlier tokens
learns the thresholds from more examples (`tokens_by_regression`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Integers, Positions, Within, checked
from theory.language.sparse_and import BitWords, logistic

BitTokens: TypeAlias = Annotated[Any, Integers("n T", Within(least=0, most=1))]
"""0 and 1, shape (n, T)."""


def count_of(d: int, positions: np.ndarray) -> np.ndarray:
    """The indicator vector (d,) of the positions: 1 at each position and 0 elsewhere.

    Raises `ValueError` unless the positions are distinct.
    """
    if len(np.unique(positions)) < len(positions):
        raise InputError(f"positions are {positions.tolist()}: give each position once")
    return np.bincount(positions, minlength=d)


@checked
def linear_tokens(
    words: Annotated[Any, Integers("... d", Within(least=0, most=1))], positions: Positions
) -> np.ndarray:
    """The binary digits (…, ⌊log₂ k⌋ + 1), highest first, of the number of ones at k positions.

    `words` (…, d) are words of d bits, 0 and 1, and `positions` has the k positions.  Each digit is
    1 if and only if a linear form of the bits and of the higher digits is at least a threshold.
    The last digit is the parity of the bits at the positions.  Raises `ValueError` unless the
    positions are distinct.
    """
    left = words @ count_of(words.shape[-1], positions)
    tokens = []
    for j in reversed(range(len(positions).bit_length())):
        digit = (left >= 2**j).astype(np.int64)
        tokens.append(digit)
        left = left - 2**j * digit
    return np.stack(tokens, axis=-1)


def left_of_count(tokens: np.ndarray, positions: np.ndarray, d: int) -> np.ndarray:
    """The remainder (…, T) of the count after each token of histories `tokens` (…, T).

    A history is a word x of d bits, followed by arbitrary binary digits z_i with the values 2^i,
    highest first.  The remainder after a token is the sum of the bits at `positions` up to the
    token, minus Σ 2^i z_i over the digits up to the token.
    """
    L, T = len(positions).bit_length() - 1, tokens.shape[-1]
    weights = np.concatenate([count_of(d, positions), -(2 ** (L - np.arange(max(T - d, 0))))])
    return np.asarray(np.cumsum(tokens * weights[:T], axis=-1))


@checked
def coefficients_by_solving(words: BitWords, tokens: BitTokens) -> list[Fraction] | None:
    """The coefficients (d,) of the bits in a linear form for the last token, over the rationals.

    A row of `words` (n, d) has the bits x_i of an example, and a row of `tokens` (n, T) has its
    tokens z_{T−1} to z_0, in this order.  The linear form is z_0 = Σ_i a_i x_i + Σ_{j > 0} b_j z_j
    for the last token z_0, and the result has the a_i.  Returns None if the examples do not
    determine all a_i.  Raises `ValueError` if no linear form gives the last tokens of all examples.
    """
    from flint import fmpq_mat, fmpz_mat

    x, z = words, tokens
    system = np.hstack([x, z])
    matrix, rank = fmpq_mat(fmpz_mat(system.tolist())).rref()
    reduced = np.array(matrix.tolist()[:rank], dtype=object)
    pivots = [int(np.flatnonzero(row)[0]) for row in reduced]
    unknowns = system.shape[1] - 1
    if unknowns in pivots:
        raise InputError(
            "no linear form of the bits and the earlier tokens gives the last tokens: "
            "give examples of the parity of one set of positions"
        )
    free = [j for j in range(unknowns) if j not in pivots]
    # A coefficient is determined if its row contains no free unknown.
    determined = {p: row[-1] for p, row in zip(pivots, reduced, strict=True) if not row[free].any()}
    if not set(range(x.shape[1])) <= determined.keys():
        return None
    return [Fraction(int(determined[i].p), int(determined[i].q)) for i in range(x.shape[1])]


@checked
def tokens_by_regression(
    words: BitWords,
    tokens: BitTokens,
    queries: Annotated[Any, Integers("m d", Within(least=0, most=1))],
) -> np.ndarray:
    """The tokens (m, T) of the words `queries` (m, d), decoded by T logistic regressions.

    The examples are n words `words` (n, d) of d bits, and the T bits `tokens` (n, T) that follow
    each word.  The regression for a token is fitted to the examples, and its inputs are the word
    and the earlier tokens.  For the queries, the earlier tokens are those decoded before.
    """
    seen, decoded = words, queries
    for token in tokens.T:
        scores = logistic(seen, token)(decoded)
        decoded = np.column_stack([decoded, scores > 0])
        seen = np.column_stack([seen, token])
    return decoded[:, words.shape[1] :]
