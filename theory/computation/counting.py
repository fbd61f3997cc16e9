"""Past counting logic: linear inequalities between prefix counts of a word [YangChiang2024].

Counting logic is the logic of C-RASP.  A formula is true or false at each position i of a word.
Formulas are

    σ                       the symbol at position i is σ
    ¬φ, φ ∧ ψ, φ ∨ ψ        Boolean connectives
    low ≤ Σ_k a_k #φ_k ≤ high    #φ is the number of positions j ≤ i at which φ holds; the a_k and
                            the bounds are integers, and one of the bounds may be absent

`counting_syntax.py` parses formulas, and `conjunctions.py` splits their Boolean combinations.

Words of T symbols are integer arrays (…, T).  Symbol 0 of the alphabet "abc" is a, symbol 1 is b,
and so on.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from theory import kinds, machine
from theory.kinds import InputError

SYMBOLS = "abcdefghijklmnopqrstuvwxyz"
LARGEST = 2**20  # of a coefficient or a bound
NESTED, LARGE = 100, 10_000  # nesting depth and size of a formula


@dataclass(frozen=True)
class Symbol:
    """The formula that holds at a position of a word iff the symbol at this position is `symbol`.

    `symbol` is one of a, b, …, z.
    """

    symbol: str

    def __post_init__(self) -> None:
        if not (isinstance(self.symbol, str) and len(self.symbol) == 1 and self.symbol in SYMBOLS):
            raise InputError(f"symbol is {self.symbol!r}: give a symbol from a to z")
        _made_of(self, ())

    def __str__(self) -> str:
        return self.symbol


@dataclass(frozen=True)
class Not:
    """The negation of a formula."""

    of: Formula

    def __post_init__(self) -> None:
        _made_of(self, (self.of,))

    def __str__(self) -> str:
        return f"!{_inside(self.of)}"


@dataclass(frozen=True)
class And:
    """The conjunction of formulas; the empty conjunction is true."""

    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        _made_of(self, self.parts)

    def __str__(self) -> str:
        return " & ".join(map(_inside, self.parts)) or "true"


@dataclass(frozen=True)
class Or:
    """The disjunction of formulas; the empty disjunction is false."""

    parts: tuple[Formula, ...]

    def __post_init__(self) -> None:
        _made_of(self, self.parts)

    def __str__(self) -> str:
        return " | ".join(map(_inside, self.parts)) or "false"


@dataclass(frozen=True)
class Count:
    """The comparison low ≤ Σ a·#φ ≤ high, where the sum is over the terms (a, φ).

    #φ is the number of positions up to the current one at which φ holds.  If `low` or `high` is
    None, there is no bound on this side.
    """

    terms: tuple[tuple[int, Formula], ...]
    low: int | None
    high: int | None

    def __post_init__(self) -> None:
        _made_of(self, tuple(counted for _, counted in self.terms))
        for size in (self.low, self.high, *(a for a, _ in self.terms)):
            whole = isinstance(size, int) and not isinstance(size, bool)
            if not (size is None or whole) or abs(size or 0) > LARGEST:
                raise InputError(
                    f"a comparison contains {size!r}: give integers from −2^20 to 2^20"
                )
        if self.low is None and self.high is None:
            raise InputError("a comparison has neither low nor high: give at least one bound")
        if self.low is not None and self.high is not None and self.low > self.high:
            raise InputError(
                f"a comparison has low {self.low} and high {self.high}: give bounds with low ≤ high"
            )

    def __str__(self) -> str:
        total = ""
        for a, counted in self.terms:
            total += (" - " if a < 0 else " + ") if total else "-" * (a < 0)
            total += f"{abs(a)}" * (abs(a) != 1) + "#"
            total += str(counted) if isinstance(counted, Symbol) else f"({counted})"
        total = total or "0"
        if self.low == self.high:
            return f"{total} = {self.low}"
        above = [f"{total} >= {self.low}"] if self.low is not None else []
        return " & ".join(above + ([f"{total} <= {self.high}"] if self.high is not None else []))


def _made_of(formula: Formula, parts: object) -> None:
    if not isinstance(parts, tuple):
        raise InputError(
            f"the parts of {type(formula).__name__} have type {type(parts).__name__}: give a "
            "tuple of formulas"
        )
    for part in parts:
        if not isinstance(part, Formula):
            kind = type(part).__name__
            raise InputError(
                f"a part of {type(formula).__name__} has type {kind}: give a formula, for "
                "example parse(text)"
            )
    # Checked at construction, so that no formula is too large for recursive functions.
    deep = 1 + max((part.__dict__["nested"] for part in parts), default=0)
    size = 1 + sum(part.__dict__["size"] for part in parts)
    if deep > NESTED or size > LARGE:
        raise InputError(
            f"a formula has {size} parts and depth {deep}: "
            f"give a formula of at most {LARGE} parts and of depth at most {NESTED}"
        )
    formula.__dict__.update(nested=deep, size=size)


Formula = Symbol | Not | And | Or | Count
TRUE, FALSE = And(()), Or(())


def _inside(part: Formula) -> str:
    several = isinstance(part, And | Or) and bool(part.parts)
    return f"({part})" if several or isinstance(part, Count) else str(part)


def subformulas(formula: Formula) -> tuple[Formula, ...]:
    """The immediate subformulas of a formula, including the formulas that it counts."""
    match formula:
        case Symbol():
            return ()
        case Not(of):
            return (of,)
        case And(parts) | Or(parts):
            return parts
        case Count(terms):
            return tuple(counted for _, counted in terms)


def symbols(formula: Formula) -> set[str]:
    """The symbols that occur in a formula."""
    if isinstance(formula, Symbol):
        return {formula.symbol}
    return set[str]().union(*map(symbols, subformulas(formula)))


def counting_depth(formula: Formula) -> int:
    """The counting depth of a formula: the nesting depth of its counts."""
    return isinstance(formula, Count) + max(map(counting_depth, subformulas(formula)), default=0)


def holds(formula: Formula, words: ArrayLike, alphabet: str) -> np.ndarray:
    """Whether a formula holds at each position of words (…, T): booleans (…, T).

    Raises `ValueError` for tokens that are not in the alphabet, and for empty words.
    """
    tokens = kinds.read(kinds.Tokens, "words", words, below=len(alphabet))
    match formula:
        case Symbol(symbol):
            return tokens == alphabet.find(symbol)
        case Not(of):
            return ~holds(of, tokens, alphabet)
        case And(parts):
            return np.all([tokens >= 0, *(holds(each, tokens, alphabet) for each in parts)], axis=0)
        case Or(parts):
            return np.any([tokens < 0, *(holds(each, tokens, alphabet) for each in parts)], axis=0)
        case Count(low=low, high=high):
            total = counted(formula, tokens, alphabet)
            above = tokens >= 0 if low is None else total >= low
            return above if high is None else above & (total <= high)


def counted(formula: Count, words: ArrayLike, alphabet: str) -> np.ndarray:
    """The sum Σ a·#φ of a comparison at each position of words: (…, T) → (…, T).

    The sum is over the terms (a, φ) of `formula`, and #φ is the number of positions up to the
    current one at which φ holds.  Raises `ValueError` for tokens that are not in the alphabet, and
    for empty words.
    """
    tokens = kinds.read(kinds.Tokens, "words", words, below=len(alphabet))
    total = np.zeros_like(tokens)
    for a, each in formula.terms:
        total += a * holds(each, tokens, alphabet).cumsum(-1)
    return total


def checked_alphabet(alphabet: str, formula: Formula) -> str:
    """Returns the alphabet if its symbols are different and include the symbols of the formula.

    Raises `ValueError` otherwise.
    """
    if not isinstance(alphabet, str) or not alphabet or not set(alphabet) <= set(SYMBOLS):
        raise InputError(f"alphabet is {alphabet!r}: give symbols from a to z, such as 'abc'")
    if len(set(alphabet)) < len(alphabet):
        raise InputError(f"alphabet {alphabet!r} has a symbol twice: give each symbol once")
    if missing := sorted(symbols(formula) - set(alphabet)):
        raise InputError(
            f"alphabet {alphabet!r} lacks {missing[0]!r}, a symbol of the formula: give an "
            "alphabet that contains this symbol"
        )
    return alphabet


@kinds.checked
def counting_words(
    vocabulary_size: kinds.Count, length: kinds.Count, seed: kinds.Seed
) -> dict[str, np.ndarray]:
    """A dictionary of families of words (rows, length) on which the counts of symbols nearly tie.

    "equal runs"            one run of each symbol, all runs of one length, in every rotation
    "runs of all lengths"   one run of each symbol, with random or nearly equal lengths
    "one symbol exchanged"  equal runs in which one symbol is replaced by another symbol
    "shuffled"              equal counts of all symbols, in random order

    Raises `ValueError` for words that do not fit in memory.
    """
    T, V = length, vocabulary_size
    machine.fits_in_memory(f"words of {T} symbols", 8 * T * (4 * V + 32), "give a smaller length")
    generator: np.random.Generator = seed
    turns = np.arange(T) * V // T
    equal = (turns + np.arange(V)[:, None]) % V
    uneven = np.sort(generator.integers(T + 1, size=(8, V - 1)), axis=1)
    near = np.linspace(0, T, V + 1)[1:-1].round() + generator.integers(-2, 3, size=(8, V - 1))
    exchanged = np.tile(turns % V, (8, 1))
    exchanged[np.arange(8), generator.integers(T, size=8)] = generator.integers(V, size=8)
    return {
        "equal runs": equal,
        "runs of all lengths": np.array(
            [np.searchsorted(ends, np.arange(T), "right") for ends in (*uneven, *np.sort(near))]
        ),
        "one symbol exchanged": exchanged,
        "shuffled": generator.permuted(np.tile(turns % V, (8, 1)), axis=1),
    }


@kinds.checked
def random_formula(
    alphabet: str, depth: kinds.Steps, seed: kinds.Seed, size: kinds.Count = 3
) -> Formula:
    """A random formula of counting depth `depth`.

    A sum in the formula has at most `size` counts, and a Boolean combination at most `size` parts.
    """
    checked_alphabet(alphabet, TRUE)
    generator: np.random.Generator = seed

    def drawn(deep: int) -> Formula:
        """A combination: one part has counting depth `deep`, the others at most this depth."""
        parts = [part(each) for each in depths(deep)]
        if len(parts) == 1:
            return parts[0]
        return And(tuple(parts)) if generator.integers(2) else Or(tuple(parts))

    def depths(deep: int) -> list[int]:
        return [deep, *generator.integers(deep + 1, size=generator.integers(size)).tolist()]

    def part(deep: int) -> Formula:
        found: Formula = Symbol(str(generator.choice([*alphabet])))
        if deep:
            terms = tuple((int(generator.choice(FACTORS)), drawn(e)) for e in depths(deep - 1))
            low = int(generator.integers(-1, 3))
            high = low + int(generator.integers(2))
            sides = [(low, None), (None, high), (low, high)][generator.integers(3)]
            found = Count(terms, *sides)
        return Not(found) if generator.integers(4) == 0 else found

    return drawn(depth)


FACTORS = (-2, -1, -1, 1, 1, 2)
