"""Regular expressions and their minimal automata, which are computed by derivatives.

    a, b, 0, …    the symbol itself               r|s    union
    .             any symbol                      r&s    intersection
    rs            concatenation                   ~r     complement
    r*  r+  r?    any number, at least one,       ()     the empty word
                  at most one

The operators *, + and ? have the highest precedence, then ~, then concatenation, then &, then |.
So ~ab is (~a)b.

The derivative rₐ of an expression r by a symbol a is an expression for the words w with aw in r:

    (rs)ₐ = rₐ s | sₐ if r contains the empty word       (r*)ₐ = rₐ r*
    (r|s)ₐ = rₐ | sₐ,   (r&s)ₐ = rₐ & sₐ,   (~r)ₐ = ~(rₐ)

An expression has finitely many iterated derivatives, up to the order and repetition of the parts of
| and &.  These derivatives are the states of an automaton.  A state is accepting if its expression
contains the empty word.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from theory.computation.kinds import Alphabet
from theory.computation.languages import Language, explored
from theory.computation.reading import Reader
from theory.kinds import InputError, checked

MOST_CHARACTERS = 200


@checked
def regular_expression(text: str, alphabet: Alphabet | None = None) -> Language:
    """The language of a regular expression, with its minimal automaton.

    By default the alphabet consists of the symbols in the expression, in the order of their Unicode
    code points. Raises ValueError if (a) the text is not a regular expression, (b) a symbol is not
    in the alphabet, or (c) the automaton, before it is minimised, has more than 2000 states. In
    case (a) the message gives the position of the error in the text.
    """
    reader = Reader("regular expression", text, r"\S", MOST_CHARACTERS)
    named = "".join(sorted({token for token, _ in reader.tokens if token.isalnum()}))
    alphabet = named if alphabet is None else alphabet
    of = _Expressions()
    expression = _either(reader, alphabet, of)
    if reader.next:
        reader.fail("an operator or the end")
    if not alphabet:
        raise InputError(f"the regular expression {text!r} has no symbols: write one, as in a*")
    return explored(expression, of.derivative, of.has_empty, alphabet, text.strip())


class _Expressions:
    """Expressions by number; equal expressions have one number.

    `nodes` contains the kind and the parts of each expression; the parts are numbers of other
    expressions.  The empty word is the empty concatenation, and the empty language the empty union.
    """

    def __init__(self) -> None:
        self.nodes = list[tuple[str, Any]]()
        self.number: dict[tuple[str, Any], int] = {}
        self.derivatives: dict[tuple[int, str], int] = {}
        self.empty = self.made("then", ())
        self.nothing = self.made("or", frozenset())
        self.everything = self.made("and", frozenset())

    def made(self, kind: str, parts: Any) -> int:
        """The number of the expression of this kind and these parts."""
        key = kind, parts
        if key not in self.number:
            self.number[key] = len(self.nodes)
            self.nodes.append(key)
        return self.number[key]

    def either(self, parts: Iterable[int]) -> int:
        """The number of a union."""
        return self._gathered("or", parts, self.everything)

    def both(self, parts: Iterable[int]) -> int:
        """The number of an intersection."""
        return self._gathered("and", parts, self.nothing)

    def _gathered(self, kind: str, parts: Iterable[int], absorbing: int) -> int:
        flat = frozenset(
            p
            for part in parts
            for p in (self.nodes[part][1] if self.nodes[part][0] == kind else (part,))
        )
        if absorbing in flat:
            return absorbing
        return next(iter(flat)) if len(flat) == 1 else self.made(kind, flat)

    def sequence(self, parts: Iterable[int]) -> int:
        """The number of a concatenation."""
        flat = list[int]()
        for part in parts:
            flat += self.nodes[part][1] if self.nodes[part][0] == "then" else (part,)
        if self.nothing in flat:
            return self.nothing
        return flat[0] if len(flat) == 1 else self.made("then", tuple(flat))

    def star(self, of: int) -> int:
        """The number of a Kleene star."""
        if of in (self.nothing, self.empty):
            return self.empty
        return of if self.nodes[of][0] == "star" else self.made("star", of)

    def complement(self, of: int) -> int:
        """The number of a complement."""
        if of in (self.nothing, self.everything):
            return self.everything if of == self.nothing else self.nothing
        kind, part = self.nodes[of]
        return part if kind == "not" else self.made("not", of)

    def has_empty(self, of: int) -> bool:
        """Whether an expression contains the empty word."""
        kind, parts = self.nodes[of]
        if kind == "or":
            return any(map(self.has_empty, parts))
        if kind in ("and", "then"):
            return all(map(self.has_empty, parts))
        return not self.has_empty(parts) if kind == "not" else kind == "star"

    def derivative(self, of: int, symbol: str) -> int:
        """The number of the derivative of an expression by a symbol."""
        if (of, symbol) not in self.derivatives:
            self.derivatives[of, symbol] = self._derived(*self.nodes[of], of, symbol)
        return self.derivatives[of, symbol]

    def _derived(self, kind: str, parts: Any, of: int, symbol: str) -> int:
        if kind == "symbol":
            return self.empty if symbol in parts else self.nothing
        if kind in ("or", "and"):
            found = [self.derivative(part, symbol) for part in parts]
            return self.either(found) if kind == "or" else self.both(found)
        if kind == "not":
            return self.complement(self.derivative(parts, symbol))
        if kind == "star":
            return self.sequence([self.derivative(parts, symbol), of])
        found = list[int]()
        for i, part in enumerate(parts):
            found.append(self.sequence([self.derivative(part, symbol), *parts[i + 1 :]]))
            if not self.has_empty(part):
                break
        return self.either(found)


def _either(reader: Reader, alphabet: str, of: _Expressions) -> int:
    found = [_both(reader, alphabet, of)]
    while reader.skip("|"):
        found.append(_both(reader, alphabet, of))
    return of.either(found)


def _both(reader: Reader, alphabet: str, of: _Expressions) -> int:
    found = [_sequence(reader, alphabet, of)]
    while reader.skip("&"):
        found.append(_sequence(reader, alphabet, of))
    return of.both(found)


def _sequence(reader: Reader, alphabet: str, of: _Expressions) -> int:
    found = [_repeated(reader, alphabet, of)]
    while reader.next and reader.next not in "|&)":
        found.append(_repeated(reader, alphabet, of))
    return of.sequence(found)


def _repeated(reader: Reader, alphabet: str, of: _Expressions) -> int:
    with reader.nested():
        if reader.skip("~"):
            return of.complement(_repeated(reader, alphabet, of))
        found = _atom(reader, alphabet, of)
        while reader.next and reader.next in "*+?":
            mark = reader.take()
            if mark == "?":
                found = of.either([found, of.empty])
            else:
                many = of.star(found)
                found = many if mark == "*" else of.sequence([found, many])
    return found


def _atom(reader: Reader, alphabet: str, of: _Expressions) -> int:
    if reader.skip("."):
        return of.made("symbol", alphabet)
    if reader.skip("("):
        if reader.skip(")"):
            return of.empty
        found = _either(reader, alphabet, of)
        if not reader.skip(")"):
            reader.fail("')'")
        return found
    if not reader.next or reader.next not in alphabet:
        symbol = f"a symbol of {alphabet!r}" if alphabet else "a symbol"
        reader.fail(f"{symbol}, '.', '~' or '('")
    return of.made("symbol", reader.take())
