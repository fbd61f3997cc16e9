"""Dyck languages: well-nested words of brackets of k types.

Symbol a < k opens a bracket of type a, and symbol k + a closes such a bracket.  In the words of
Dyck-(k, D) at most D brackets are open at once [Yao2021].

Words of T symbols are integer arrays (…, T).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, OneSequence, Seed, Tokens, Within, checked, read, shown
from theory.waiting import announced

PAIRS = "()", "[]", "{}", "<>"
ROWS = 8
"""Rows of an adversarial family."""

Types: TypeAlias = Annotated[Count, Within(most=2**61)]
"""The number of types of brackets; symbols are int64."""


@checked
def is_dyck(words: Tokens, k: Types, depth: Count | None = None) -> np.ndarray:
    """Whether each prefix of words is a Dyck word (a well-nested word of brackets), by a stack.

    `words` (…, T) are words of brackets of k types, and the result (…, T) contains booleans. Symbol
    a < k opens a bracket of type a, and symbol k + a closes a bracket of type a. If a prefix has an
    unmatched closing bracket, or more than `depth` brackets that are open at once, the result is
    false for this prefix and for all longer prefixes.

    Raises `ValueError` for symbols ≥ 2k.
    """
    symbols = read(Tokens, "words", words, below=2 * k)
    most = symbols.shape[-1] if depth is None else depth
    judged = [_judged(word, k, most) for word in symbols.reshape(-1, symbols.shape[-1]).tolist()]
    return np.array(judged, dtype=bool).reshape(symbols.shape)


def _judged(word: list[int], k: int, most: int) -> list[bool]:
    stack, found = list[int](), list[bool]()
    for symbol in word:
        if symbol < k and len(stack) < most:
            stack.append(symbol)
        elif symbol < k or not stack or stack.pop() != symbol - k:
            break
        found.append(not stack)
    return found + [False] * (len(word) - len(found))


@checked
def balances(words: Tokens, k: Types) -> np.ndarray:
    """The number of opening minus the number of closing brackets up to each position, (…, T).

    `words` (…, T) are words of brackets of k types. A symbol a < k opens a bracket, and a symbol
    k + a closes a bracket. Raises `ValueError` for symbols ≥ 2k.
    """
    symbols = read(Tokens, "words", words, below=2 * k)
    return np.where(symbols < k, 1, -1).cumsum(-1)


def match_types(words: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """The type of the bracket that a closing bracket at each position matches, or 0.

    `b` is the balance (opening minus closing brackets) at each position of `words`.  The matching
    bracket is the latest opening bracket at which the balance is one more than at the current
    position.  If there is no such bracket, the type is 0.
    """
    found = np.zeros_like(words)
    for at in np.ndindex(words.shape):
        *row, i = at
        for j in range(i, -1, -1):
            if words[(*row, j)] < k and b[(*row, j)] == b[at] + 1:
                found[at] = words[(*row, j)]
                break
    return found


@checked
def brackets(word: OneSequence, k: Types) -> str:
    """The text of a word of k types of brackets, such as `([)]`, or `(0 (1 0) 1)` if k > 4.

    The word is an array of symbols. Symbol a < k opens a bracket of type a, and symbol k + a closes
    a bracket of type a. Raises `ValueError` for symbols ≥ 2k.
    """
    symbols = read(OneSequence, "word", word, below=2 * k).tolist()
    if k > len(PAIRS):
        return " ".join(f"({a}" if a < k else f"{a - k})" for a in symbols)
    return "".join(PAIRS[a % k][a // k] for a in symbols)


@checked
def read_brackets(text: str, k: Annotated[Count, Within(most=len(PAIRS))]) -> list[int]:
    """The symbols of a text of brackets; the k types are the first k of () [] {} <>.

    A bracket of type a = 0, …, k − 1 opens as symbol a and closes as symbol k + a. Raises
    `ValueError` for a character that is not one of these brackets.
    """
    known = [pair[side] for side in (0, 1) for pair in PAIRS[:k]]
    for place, sign in enumerate(text, start=1):
        if sign not in known:
            raise InputError(
                f"character {place} of text is {sign!r}: give only the brackets "
                f"{' '.join(PAIRS[:k])}"
            )
    return [known.index(sign) for sign in text]


@checked
def random_dyck(n_words: Count, length: Count, k: Types, seed: Seed) -> np.ndarray:
    """Uniform random Dyck words (n_words, T) of T = `length` brackets of k types.

    A Dyck word is a well-nested word of brackets. Symbol a < k opens a bracket of type a, and
    symbol k + a closes a bracket of type a. If r symbols are left and h brackets are open, the next
    symbol opens a bracket with probability (r − h)(h + 2) / (2r(h + 1)). If T is odd, the words are
    the first T symbols of Dyck words of T + 1 symbols.

    Raises `ValueError` for words that do not fit in memory.
    """
    generator: np.random.Generator = seed
    T, even = length, length + length % 2
    machine.fits_in_memory(
        f"{shown(n_words)} words of {shown(T)} symbols",
        8 * n_words * even,
        "give fewer or shorter words",
    )
    words = np.empty((n_words, even), dtype=np.int64)
    for row in announced(words, "Dyck words"):
        stack = list[int]()
        for i in range(even):
            r, h = even - i, len(stack)
            if generator.integers(2 * r * (h + 1)) < (r - h) * (h + 2):
                stack.append(int(generator.integers(k)))
                row[i] = stack[-1]
            else:
                row[i] = k + stack.pop()
    return words[:, :T]


@checked
def adversarial_words(
    length: Count, k: Types, seed: Seed, depth: Count | None = None
) -> dict[str, np.ndarray]:
    """Families of words (rows, T) of T = `length` brackets: hard tests for Dyck recognisers.

    A Dyck word is a well-nested word of brackets of k types. Symbol a < k opens a bracket of type
    a, and symbol k + a closes a bracket of type a. The result is a dictionary with these families:

    "words"                random Dyck words
    "deep"                 all brackets open, then all close; the depth is T/2
    "alternating"          each opening bracket is closed by the next symbol
    "one kind of symbol"   the same bracket at all positions
    "one bracket flipped"  a Dyck word in which one bracket is reversed: ( to ), or ) to (
    "below 0 and back"     a Dyck word in which a closing and then an opening bracket are inserted
    "one wrong type"       a Dyck word in which one bracket has another type (k ≥ 2)
    "crossing"             a Dyck word in which ([)] is inserted (k ≥ 2, T ≥ 4)
    "as deep as allowed"   words whose depth goes up to `depth`, or to `depth` + 1, and back to 0
                           repeatedly (if `depth` is given)

    The depth at a position is the number of brackets that are open there. If T is odd, the words
    are the first T symbols of words of T + 1 symbols.
    """
    generator: np.random.Generator = seed
    T, even = length, length + length % 2
    words = random_dyck(ROWS, even, k, generator)
    types = generator.integers(k, size=(ROWS, even // 2))
    rows, at = np.arange(ROWS), generator.integers(even, size=ROWS)
    flipped, retyped = words.copy(), words.copy()
    flipped[rows, at] = (flipped[rows, at] + k) % (2 * k)
    families = {
        "words": words,
        "deep": np.hstack([types, k + types[:, ::-1]]),
        "alternating": np.stack([types, k + types], axis=-1).reshape(ROWS, -1),
        "one kind of symbol": np.repeat(np.arange(min(2 * k, ROWS))[:, None], even, axis=1),
        "one bracket flipped": flipped,
        "below 0 and back": _with_inside(even, k, generator, lambda a, b: [k + a, a]),
    }
    if k > 1:
        was = retyped[rows, at]
        retyped[rows, at] = was // k * k + (was + generator.integers(1, k, size=ROWS)) % k
        families["one wrong type"] = retyped
    if k > 1 and even >= 4:
        crossing = _with_inside(even, k, generator, lambda a, b: [a, b, k + a, k + b])
        families["crossing"] = crossing
    if depth is not None:
        families["as deep as allowed"] = np.array([_deep(even, k, D) for D in (depth, depth + 1)])
    return {name: made[:, :T] for name, made in families.items()}


def _with_inside(
    even: int, k: int, generator: np.random.Generator, made: Callable[[int, int], list[int]]
) -> np.ndarray:
    """ROWS Dyck words with symbols inserted at a random place; each has `even` symbols in all.

    `made` returns the inserted symbols from two types, which differ if k ≥ 2.
    """
    rows = []
    for _ in announced(range(ROWS), "Dyck words with symbols inserted"):
        a = int(generator.integers(k))
        inside = made(a, (a + 1) % k)
        left = even - len(inside)
        around = random_dyck(1, left, k, generator)[0] if left else np.empty(0, dtype=np.int64)
        rows.append(np.insert(around, generator.integers(left + 1), inside))
    return np.array(rows)


def _deep(even: int, k: int, depth: int) -> np.ndarray:
    """A word that goes to depth `depth` and back repeatedly (the last time less deep).

    The types of its brackets alternate.
    """
    word = list[int]()
    while len(word) < even:
        types = [a % k for a in range(min(depth, (even - len(word)) // 2))]
        word += [*types, *(k + a for a in reversed(types))]
    return np.array(word)
