"""Regular expressions, and their least automata by derivatives.

    a, b, 0, …    this letter                     r|s    r or s
    .             any letter                      r&s    r and s
    rs            r, then s                       ~r     not r: all other words
    r*  r+  r?    any number, at least one,       ()     the empty word
                  none or one

From the tightest: *, +, ?; ~; one after the other; &; |.  So ~ab is (~a)b.

The derivative of r by a letter a is the expression of the words w with aw in r:

    (rs)ₐ = rₐ s | sₐ if r has the empty word            (r*)ₐ = rₐ r*
    (r|s)ₐ = rₐ | sₐ,   (r&s)ₐ = rₐ & sₐ,   (~r)ₐ = ~(rₐ)

Up to order and repetition in | and & an expression has finitely many derivatives; these are the
states of an automaton, and those that have the empty word accept.
"""

from __future__ import annotations

from typing import Any

from theory.checks import InputError
from theory.computation.languages import Language, explored
from theory.computation.reading import Reader, alphabet

# An expression is a tuple: its kind, and its parts. Parts of "or" and "and" are frozensets.
Expression = tuple[Any, ...]
NOTHING: Expression = ("or", frozenset())
EVERYTHING: Expression = ("and", frozenset())
EMPTY: Expression = ("empty",)


def regular_expression(text: str, letters: str | None = None) -> Language:
    """The language of a regular expression, with its least automaton.

    `letters` are those of its words; without it, those that the expression names, in their order.
    Raises ValueError for a text that is no expression, and says at which character; for a letter
    that is not among `letters`; and for an automaton of more than 2000 states.
    """
    reader = Reader("regular expression", text, r"\S")
    named = "".join(sorted({token for token, _ in reader.tokens if token.isalnum()}))
    if letters is None and not named:
        raise InputError(f"regular expression {text!r} names no letter: give letters, such as 'ab'")
    letters = alphabet(named if letters is None else letters)
    expression = _either(reader, letters)
    if reader.next:
        reader.fail("an operator or the end")
    return explored(expression, _derivative, _has_empty, letters, text.strip())


def _either(reader: Reader, letters: str) -> Expression:
    found = [_both(reader, letters)]
    while reader.skip("|"):
        found.append(_both(reader, letters))
    return _or(found)


def _both(reader: Reader, letters: str) -> Expression:
    found = [_sequence(reader, letters)]
    while reader.skip("&"):
        found.append(_sequence(reader, letters))
    return _and(found)


def _sequence(reader: Reader, letters: str) -> Expression:
    found = [_repeated(reader, letters)]
    while reader.next and reader.next not in "|&)":
        found.append(_repeated(reader, letters))
    joined = EMPTY
    for part in reversed(found):
        joined = _then(part, joined)
    return joined


def _repeated(reader: Reader, letters: str) -> Expression:
    with reader.nested():
        if reader.skip("~"):
            return _not(_repeated(reader, letters))
        found = _atom(reader, letters)
        while reader.next and reader.next in "*+?":
            mark = reader.take()
            if mark == "?":
                found = _or([found, EMPTY])
            else:
                found = _star(found) if mark == "*" else _then(found, _star(found))
    return found


def _atom(reader: Reader, letters: str) -> Expression:
    if reader.skip("."):
        return ("letter", letters)
    if reader.skip("("):
        if reader.skip(")"):
            return EMPTY
        found = _either(reader, letters)
        if not reader.skip(")"):
            reader.fail("')'")
        return found
    if reader.next not in letters or not reader.next:
        reader.fail(f"a letter of {letters!r}, '.', '~' or '('")
    return ("letter", reader.take())


def _or(parts: list[Expression]) -> Expression:
    return _gathered("or", parts, absorbing=EVERYTHING)


def _and(parts: list[Expression]) -> Expression:
    return _gathered("and", parts, absorbing=NOTHING)


def _gathered(kind: str, parts: list[Expression], absorbing: Expression) -> Expression:
    """The parts of all parts of this kind, without order and repetition."""
    flat = frozenset(p for part in parts for p in (part[1] if part[0] == kind else [part]))
    if absorbing in flat:
        return absorbing
    return next(iter(flat)) if len(flat) == 1 else (kind, flat)


def _then(first: Expression, second: Expression) -> Expression:
    if NOTHING in (first, second):
        return NOTHING
    if first == EMPTY:
        return second
    return first if second == EMPTY else ("then", first, second)


def _star(of: Expression) -> Expression:
    if of in (NOTHING, EMPTY):
        return EMPTY
    return of if of[0] == "star" else ("star", of)


def _not(of: Expression) -> Expression:
    if of in (NOTHING, EVERYTHING):
        return NOTHING if of == EVERYTHING else EVERYTHING
    return of[1] if of[0] == "not" else ("not", of)


def _has_empty(of: Expression) -> bool:
    """Whether the empty word is in it."""
    kind, *parts = of
    if kind in ("or", "and"):
        return (any if kind == "or" else all)(map(_has_empty, parts[0]))
    if kind == "not":
        return not _has_empty(parts[0])
    if kind == "then":
        return _has_empty(parts[0]) and _has_empty(parts[1])
    return kind in ("star", "empty")


def _derivative(of: Expression, letter: str) -> Expression:
    """The words that are left after a letter."""
    kind, *parts = of
    if kind == "letter":
        return EMPTY if letter in parts[0] else NOTHING
    if kind in ("or", "and"):
        return (_or if kind == "or" else _and)([_derivative(part, letter) for part in parts[0]])
    if kind == "not":
        return _not(_derivative(parts[0], letter))
    if kind == "star":
        return _then(_derivative(parts[0], letter), of)
    if kind == "then":
        first, second = parts
        found = _then(_derivative(first, letter), second)
        return _or([found, _derivative(second, letter)]) if _has_empty(first) else found
    return NOTHING
