"""Past linear temporal logic (past LTL), with strict operators.

A formula is true or false at each position i of a word.  Formulas are

    a             symbol i is a              true, false
    not φ         ¬φ, !φ, ~φ                 yesterday φ      φ at i − 1
    φ and ψ       φ ∧ ψ, φ & ψ               once φ           φ at some j < i
    φ or ψ        φ ∨ ψ, φ | ψ               historically φ   φ at all j < i
    φ since ψ     ψ at some j < i, and φ at all positions strictly between j and i

The operators not, yesterday, once and historically have the highest precedence, then since, which
associates to the right, then and, then or.  At the first position `yesterday true` is false and
`historically false` is true.  The identities

    yesterday φ = false since φ      once φ = true since φ      historically φ = ¬ once ¬φ

reduce every formula to symbols and the operators not, and, or, since.  The temporal depth of a
formula is the nesting depth of its `since`.  The language of a formula is the set of words at whose
last position the formula holds.

A formula is equivalent to an automaton whose state contains the truth value of each `since`:

    (φ since ψ)ᵢ₊₁ = ψᵢ ∨ (φᵢ ∧ (φ since ψ)ᵢ)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np

from theory.computation.kinds import Alphabet
from theory.computation.languages import Language, explored
from theory.kinds import InputError, Seed, Steps, Tokens, Within, checked, read

Truth = np.ndarray | np.bool_
"""Truth values, of any shape."""

MOST_DRAWN = 20  # temporal depth of a random formula
MOST_SHOWN = 500  # the largest number of symbols and connectives that are printed


@dataclass(frozen=True, eq=False)
class Formula:
    """A formula of past linear temporal logic (past LTL), true or false at each position of a word.

    The operators are `not`, `and`, `or` and `since`. The formula `φ since ψ` holds at position i if
    ψ holds at an earlier position j and φ holds at all positions strictly between j and i.

    A formula may be a part of several formulas. Two formulas are equal only if they are the same
    object. If a formula has at most 500 symbols and operators, `temporal_syntax.formula` parses its
    text. The text of a larger formula gives only its size.

    Raises ValueError for `Formula()`, which has no operator: formulas are objects of the classes
    below, such as `Symbol`.
    """

    def __post_init__(self) -> None:
        if type(self) is Formula:
            raise InputError("a formula has no operator: give a formula such as Symbol('a')")

    def __str__(self) -> str:
        count = size(self)
        return _written(self, 0) if count <= MOST_SHOWN else f"a formula of {count} parts"

    def __deepcopy__(self, memo: dict[int, Any]) -> Formula:
        """The formula itself, since formulas are compared by identity."""
        return self


@dataclass(frozen=True, eq=False)
class Symbol(Formula):
    """The formula that holds at position i iff the symbol at position i is `symbol`."""

    symbol: str
    __str__ = Formula.__str__


@dataclass(frozen=True, eq=False)
class Not(Formula):
    """The negation of the formula `of`."""

    of: Formula
    __str__ = Formula.__str__


@dataclass(frozen=True, eq=False)
class And(Formula):
    """The conjunction of the formulas `parts`; the empty conjunction is true."""

    parts: tuple[Formula, ...]
    __str__ = Formula.__str__


@dataclass(frozen=True, eq=False)
class Or(Formula):
    """The disjunction of the formulas `parts`; the empty disjunction is false."""

    parts: tuple[Formula, ...]
    __str__ = Formula.__str__


@dataclass(frozen=True, eq=False)
class Since(Formula):
    """The formula φ since ψ, where φ is `throughout` and ψ is `then`.

    The formula holds at position i iff there is a position j < i such that ψ holds at j and φ holds
    at all positions strictly between j and i.
    """

    throughout: Formula
    then: Formula
    __str__ = Formula.__str__

    @cached_property
    def stop(self) -> Formula:
        """The formula `then` ∨ ¬`throughout`, by which the truth value of the `since` is computed.

        At a position i, let j < i be the latest position at which `then` ∨ ¬`throughout` holds.
        The formula `throughout` since `then` holds at i iff `then` holds at j.
        """
        return Or((self.then, Not(self.throughout)))


TRUE, FALSE = And(()), Or(())


def yesterday(of: Formula) -> Formula:
    """The formula that holds iff the formula `of` held one position before."""
    return Since(FALSE, of)


def once(of: Formula) -> Formula:
    """The formula that holds iff the formula `of` held at some earlier position."""
    return Since(TRUE, of)


def historically(of: Formula) -> Formula:
    """The formula that holds iff the formula `of` held at all earlier positions."""
    return Not(once(Not(of)))


# ------------------------------------------------------------------------------------------ text


LOOSE, MIDDLE, TIGHT = 1, 2, 4  # or; and; operators before one operand


def _written(of: Formula, around: int) -> str:
    """The text of a formula, with parentheses if the surrounding precedence requires them."""

    def joined(word: str, parts: tuple[Formula, ...], level: int) -> str:
        text = f" {word} ".join(_written(part, level) for part in parts)
        return f"({text})" if around >= level else text

    if isinstance(of, Symbol):
        return of.symbol
    if isinstance(of, And | Or) and len(of.parts) < 2:
        if of.parts:
            return _written(of.parts[0], around)
        return "true" if isinstance(of, And) else "false"
    if isinstance(of, And):
        return joined("and", of.parts, MIDDLE)
    if isinstance(of, Or):
        return joined("or", of.parts, LOOSE)
    if isinstance(of, Since) and not _is_constant(of.throughout):
        return joined("since", (of.throughout, of.then), 3)
    if isinstance(of, Not):
        inner = of.of
        if isinstance(inner, Since) and isinstance(inner.then, Not) and _is_true(inner.throughout):
            return f"historically {_written(inner.then.of, TIGHT)}"
        return f"not {_written(inner, TIGHT)}"
    assert isinstance(of, Since)
    return f"{'once' if _is_true(of.throughout) else 'yesterday'} {_written(of.then, TIGHT)}"


def _is_constant(of: Formula) -> bool:
    return isinstance(of, And | Or) and not of.parts


def _is_true(of: Formula) -> bool:
    return isinstance(of, And) and not of.parts


# --------------------------------------------------------------------------------------- meaning


def combined(
    of: Formula,
    symbol: Callable[[str], Truth],
    since: Callable[[Since], Truth],
    known: dict[Formula, Truth] | None = None,
) -> Truth:
    """The truth values of a formula, from those of its symbols and of its outermost `since` parts.

    `symbol` and `since` are functions that return the truth values of a symbol and of a `since`
    part.  `known` contains the values that have already been computed, and new values are added to
    `known`.
    """
    known = {} if known is None else known

    def value(of: Formula) -> Truth:
        if of not in known:
            known[of] = found(of)
        return known[of]

    def found(of: Formula) -> Truth:
        if isinstance(of, Symbol):
            return symbol(of.symbol)
        if isinstance(of, Since):
            return since(of)
        if isinstance(of, Not):
            return ~value(of.of)
        assert isinstance(of, And | Or)
        total: Truth = np.bool_(isinstance(of, And))
        for part in of.parts:
            total = total & value(part) if isinstance(of, And) else total | value(part)
        return total

    return value(of)


@checked
def holds(formula: Formula, words: Tokens, alphabet: Alphabet) -> np.ndarray:
    """Whether a formula holds at each position of words (…, T), computed by the definition.

    Returns booleans (…, T).  Raises ValueError for tokens that are not in the alphabet, and for an
    alphabet that lacks a symbol of the formula.
    """
    has_symbols_of(alphabet, formula)
    array = read(Tokens, "words", words, below=len(alphabet))
    T, known = array.shape[-1], dict[Formula, Truth]()

    def value(of: Formula) -> np.ndarray:
        found = combined(of, lambda a: array == alphabet.index(a), since, known)
        return np.broadcast_to(found, array.shape)

    def since(of: Since) -> np.ndarray:
        throughout, then = value(of.throughout), value(of.then)
        found = np.zeros(array.shape, dtype=bool)
        for i in range(T):
            for j in range(i):
                found[..., i] |= then[..., j] & throughout[..., j + 1 : i].all(-1)
        return found

    return value(formula)


def subformulas(of: Formula) -> list[Formula]:
    """The different subformulas of a formula, each listed after its parts."""
    found, seen = list[Formula](), set[Formula]()

    def visit(of: Formula) -> None:
        if of in seen:
            return
        seen.add(of)
        for part in _parts(of):
            visit(part)
        found.append(of)

    visit(of)
    return found


def sinces(of: Formula) -> list[Since]:
    """The `since` subformulas of a formula, where inner subformulas come first."""
    return [part for part in subformulas(of) if isinstance(part, Since)]


def has_symbols_of(alphabet: str, of: Formula) -> None:
    """Raises ValueError for an alphabet that lacks a symbol of a formula."""
    used = {part.symbol for part in subformulas(of) if isinstance(part, Symbol)}
    if missing := sorted(used - {*alphabet}):
        raise InputError(
            f"alphabet {alphabet!r} lacks {missing[0]!r}, a symbol of the formula: give an "
            "alphabet that contains this symbol"
        )


def temporal_depth(of: Formula) -> int:
    """The temporal depth of a formula: the nesting depth of its `since` operators."""
    depths = dict[Formula, int]()

    def depth(of: Formula) -> int:
        if of not in depths:
            inside = max(map(depth, _parts(of)), default=0)
            depths[of] = inside + isinstance(of, Since)
        return depths[of]

    return depth(of)


def size(of: Formula) -> int:
    """The number of symbols and connectives in the text of a formula."""
    sizes = dict[Formula, int]()

    def count(of: Formula) -> int:
        if of not in sizes:
            sizes[of] = 1 + sum(map(count, _parts(of)))
        return sizes[of]

    return count(of)


def outermost(of: Formula) -> list[Since]:
    """The `since` subformulas of a formula that are not inside another `since`."""
    found, seen, left = list[Since](), set[Formula](), [of]
    while left:
        part = left.pop()
        if part in seen:
            continue
        seen.add(part)
        if isinstance(part, Since):
            found.append(part)
        else:
            left += reversed(_parts(part))
    return found


def _parts(of: Formula) -> Sequence[Formula]:
    if isinstance(of, Not):
        return (of.of,)
    if isinstance(of, Since):
        return of.throughout, of.then
    return of.parts if isinstance(of, And | Or) else ()


@checked
def language(formula: Formula, alphabet: Alphabet, name: str = "") -> Language:
    """The regular language of a formula of past linear temporal logic, with its minimal automaton.

    A word is in the language iff the formula holds at the last position of the word. Raises
    ValueError if (a) the formula contains a symbol that is not in the alphabet, or (b) the
    automaton, before it is minimised, has more than 2000 states.
    """
    has_symbols_of(alphabet, formula)
    nodes = sinces(formula)

    def step(state: tuple[bool, ...], symbol: str) -> tuple[bool, ...]:
        before = dict(zip(nodes, state[1:], strict=True))
        known = dict[Formula, Truth]()

        def value(of: Formula) -> bool:
            return bool(
                combined(of, lambda a: np.bool_(a == symbol), lambda s: np.bool_(before[s]), known)
            )

        after = (value(s.then) or (value(s.throughout) and before[s]) for s in nodes)
        return value(formula), *after

    start = (False,) * (len(nodes) + 1)
    return explored(start, step, lambda state: state[0], alphabet, name or str(formula))


@checked
def random_formula(
    alphabet: Alphabet, depth: Annotated[Steps, Within(most=MOST_DRAWN)], seed: Seed
) -> Formula:
    """A random formula of past linear temporal logic, of temporal depth at most `depth`.

    The temporal depth is the largest number of nested operators among `since`, `yesterday` and
    `once`. Each part of the formula is drawn uniformly from six cases: (1) a symbol, (2) `not`,
    (3) `and`, (4) `or`, (5) `since`, and (6) `yesterday` or `once`. If a temporal operator would
    exceed the depth, the case is drawn again. The operators `not`, `and`, `or` and `since` are
    nested in each other at most four deep.
    """
    rng: np.random.Generator = seed

    def drawn(depth: int, size: int) -> Formula:
        kind = rng.integers(6) if size else 0
        if kind == 0:
            return Symbol(alphabet[rng.integers(len(alphabet))])
        if kind == 1:
            return Not(drawn(depth, size - 1))
        if kind in (2, 3):
            parts = drawn(depth, size - 1), drawn(depth, size - 1)
            return And(parts) if kind == 2 else Or(parts)
        if depth == 0:
            return drawn(depth, size - 1)
        if kind == 4:
            return (yesterday, once)[rng.integers(2)](drawn(depth - 1, size))
        return Since(drawn(depth - 1, size - 1), drawn(depth - 1, size - 1))

    return drawn(depth, 4)
