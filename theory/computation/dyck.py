"""Dyck languages: words of brackets of k types that close in the order in which they open.

Symbols 0 … k − 1 open a bracket of that type and k … 2k − 1 close one: k + a closes a.  With a
bound D, Dyck-(k, D), at most D brackets may be open at once [Yao2021].

Shape glossary: words (…, T) are integer arrays of symbols.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, TypeAlias

import numpy as np

from theory import machine
from theory.kinds import Count, InputError, OneSequence, Seed, Tokens, Within, checked, read

PAIRS = "()", "[]", "{}", "<>"
ROWS = 8
"""Rows of an adversarial family."""

Types: TypeAlias = Annotated[Count, Within(most=2**61)]
"""How many types of brackets there are; symbols are int64."""


@checked
def is_dyck(words: Tokens, k: Types, depth: Count | None = None) -> np.ndarray:
    """Which prefixes of words (…, T) are Dyck words of k types (…, T), bool: by a stack.

    A prefix that no symbols can make a word, one with a bracket that closes nothing or the wrong
    one, or deeper than `depth`, stays none.  Raises `ValueError` for symbols that are not brackets
    of k types.
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
    """How many brackets more are opened than closed up to each symbol (…, T), of any type.

    Raises `ValueError` as `is_dyck` does.
    """
    symbols = read(Tokens, "words", words, below=2 * k)
    return np.where(symbols < k, 1, -1).cumsum(-1)


def match_types(words: np.ndarray, b: np.ndarray, k: int) -> np.ndarray:
    """At each symbol the type of the latest bracket so far that opened and led to a balance one
    above that now, by going back; 0 if there is none."""
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
    """One word as text: `([)]`, and `(0 (1 0) 1)` if k > 4. Raises `ValueError` as `is_dyck`."""
    symbols = read(OneSequence, "word", word, below=2 * k).tolist()
    if k > len(PAIRS):
        return " ".join(f"({a}" if a < k else f"{a - k})" for a in symbols)
    return "".join(PAIRS[a % k][a // k] for a in symbols)


@checked
def read_brackets(text: str, k: Annotated[Count, Within(most=len(PAIRS))]) -> list[int]:
    """The symbols of a text of the first k of () [] {} <>.

    Raises `ValueError` for another sign.
    """
    known = [pair[side] for side in (0, 1) for pair in PAIRS[:k]]
    for place, sign in enumerate(text, start=1):
        if sign not in known:
            raise InputError(f"sign {place} of text is {sign!r}: give {' '.join(PAIRS[:k])}")
    return [known.index(sign) for sign in text]


@checked
def random_dyck(batch: Count, length: Count, k: Types, seed: Seed) -> np.ndarray:
    """Uniform Dyck words (batch, T) of k types; for odd T their first T of T + 1 symbols.

    With r symbols to come and h brackets open, (r − h)(h + 2) of 2r(h + 1) words go on by opening
    one.  Raises `ValueError` for more than the memory holds.
    """
    generator: np.random.Generator = seed
    T, even = length, length + length % 2
    machine.fits_in_memory(f"{batch} words of {T} symbols", 8 * batch * even, "give fewer")
    words = np.empty((batch, even), dtype=np.int64)
    for row in words:
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
    """Families of words (some rows, T) on which recognisers go wrong.

    "words"                random Dyck words
    "deep"                 all brackets open, then all close: depth T/2
    "alternating"          each bracket closes at once
    "one kind of symbol"   the same bracket all along: the balance is never right
    "one bracket flipped"  a Dyck word, one bracket of which opens for closes or closes for opens
    "below 0 and back"     a Dyck word with a pair of brackets back to front somewhere in it
    "one wrong type"       a Dyck word, one bracket of which has another type (k ≥ 2)
    "crossing"             a Dyck word with ([)] somewhere in it (k ≥ 2, T ≥ 4)
    "as deep as allowed"   down to `depth` and back, again and again; and then one bracket deeper
                           (if `depth` is given)

    For odd T the first T symbols of longer ones.
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
    """A Dyck word with some symbols in front of one of its brackets: ROWS words of `even` symbols,
    the symbols made of two types that differ (if there are two)."""
    rows = []
    for _ in range(ROWS):
        a = int(generator.integers(k))
        inside = made(a, (a + 1) % k)
        left = even - len(inside)
        around = random_dyck(1, left, k, generator)[0] if left else np.empty(0, dtype=np.int64)
        rows.append(np.insert(around, generator.integers(left + 1), inside))
    return np.array(rows)


def _deep(even: int, k: int, depth: int) -> np.ndarray:
    """Down to `depth` and back, again and again, the types in turn; the last time not so deep."""
    word = list[int]()
    while len(word) < even:
        types = [a % k for a in range(min(depth, (even - len(word)) // 2))]
        word += [*types, *(k + a for a in reversed(types))]
    return np.array(word)
