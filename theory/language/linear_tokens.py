"""The parity of k bits in ⌊log₂ k⌋ + 1 tokens, each a threshold of a linear form.

The tokens are the binary digits of the count c = Σ_{i ∈ S} x_i, highest first:

    z_j = [ Σ_{i ∈ S} x_i − Σ_{i > j} 2^i z_i ≥ 2^j ],      j = ⌊log₂ k⌋, …, 0,

and the last one is the parity: when z_j is predicted, the rest of the count is below 2^{j+1}.
In the same way a circuit of T threshold gates becomes T such tokens (compare [Malach2024]).

The last token satisfies an equation as well, z_0 = Σ_S x_i − Σ_{i > 0} 2^i z_i: linear algebra
finds S from d + ⌊log₂ k⌋ examples, as many as there are unknowns, if they are independent
(`letters_by_solving`).  Logistic regression of each token on what stands before it learns the
thresholds as well, from more of them (`tokens_by_regression`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, TypeAlias

import numpy as np

from theory.kinds import InputError, Integers, Positions, Within, checked
from theory.language.sparse_and import BitWords, logistic

BitTokens: TypeAlias = Annotated[Any, Integers("n T", Within(least=0, most=1))]
"""0 and 1, shape (n, T)."""


def count_of(d: int, letters: np.ndarray) -> np.ndarray:
    """1 at these positions, (d,).  Raises `ValueError` unless they are different."""
    if len(np.unique(letters)) < len(letters):
        raise InputError(f"letters are {letters.tolist()}: give different ones")
    return np.bincount(letters, minlength=d)


@checked
def linear_tokens(
    words: Annotated[Any, Integers("... d", Within(least=0, most=1))], letters: Positions
) -> np.ndarray:
    """The digits of the number of ones at `letters` in words (…, d) of 0 and 1, highest first,
    each by its threshold, (…, ⌊log₂ k⌋ + 1).

    Raises `ValueError` unless the positions `letters` are different.
    """
    left = words @ count_of(words.shape[-1], letters)
    tokens = []
    for j in reversed(range(len(letters).bit_length())):
        digit = (left >= 2**j).astype(np.int64)
        tokens.append(digit)
        left = left - 2**j * digit
    return np.stack(tokens, axis=-1)


def left_of_count(tokens: np.ndarray, letters: np.ndarray, d: int) -> np.ndarray:
    """Σ_S x − Σ 2^i z_i of the first t tokens of a history (…, T), d bits and digits whatever
    they are, for t = 1 … T: (…, T)."""
    L, T = len(letters).bit_length() - 1, tokens.shape[-1]
    weights = np.concatenate([count_of(d, letters), -(2 ** (L - np.arange(max(T - d, 0))))])
    return np.asarray(np.cumsum(tokens * weights[:T], axis=-1))


@checked
def letters_by_solving(words: BitWords, tokens: BitTokens) -> list[Fraction] | None:
    """The coefficients of the bits of the words in z_0 = Σ a_i x_i + Σ b_j z_j, over the rationals,
    (d,), or None where the examples (n, d), (n, ⌊log₂ k⌋ + 1) leave one of them open.

    Raises `ValueError` for tokens that no such form gives.
    """
    from flint import fmpq_mat, fmpz_mat

    x, z = words, tokens
    system = np.hstack([x, z])
    matrix, rank = fmpq_mat(fmpz_mat(system.tolist())).rref()
    reduced = np.array(matrix.tolist()[:rank], dtype=object)
    pivots = [int(np.flatnonzero(row)[0]) for row in reduced]
    unknowns = system.shape[1] - 1
    if unknowns in pivots:
        raise InputError("no linear form gives these last tokens: give examples of one parity")
    free = [j for j in range(unknowns) if j not in pivots]
    # A letter's coefficient is settled if no unknown that is left open has a part in its row.
    settled = {p: row[-1] for p, row in zip(pivots, reduced, strict=True) if not row[free].any()}
    if not set(range(x.shape[1])) <= settled.keys():
        return None
    return [Fraction(int(settled[i].p), int(settled[i].q)) for i in range(x.shape[1])]


@checked
def tokens_by_regression(
    words: BitWords,
    tokens: BitTokens,
    asked: Annotated[Any, Integers("m d", Within(least=0, most=1))],
) -> np.ndarray:
    """The tokens (m, T) of other words (m, d), each by logistic regression on the word and the
    tokens before, learned from examples (n, d) and (n, T) and decoded from its own tokens."""
    x, z = words, tokens
    seen, said = x, asked
    for token in z.T:
        scores = logistic(seen, token)(said)
        said = np.column_stack([said, scores > 0])
        seen = np.column_stack([seen, token])
    return said[:, x.shape[1] :]
