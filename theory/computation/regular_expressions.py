"""Regular expressions, and their least automata by derivatives.

    a, b, 0, …    this symbol                     r|s    r or s
    .             any symbol                      r&s    r and s
    rs            r, then s                       ~r     not r: all other words
    r*  r+  r?    any number, at least one,       ()     the empty word
                  none or one

From the tightest: *, +, ?; ~; one after the other; &; |.  So ~ab is (~a)b.

The derivative of r by a symbol a is the expression of the words w with aw in r:

    (rs)ₐ = rₐ s | sₐ if r has the empty word            (r*)ₐ = rₐ r*
    (r|s)ₐ = rₐ | sₐ,   (r&s)ₐ = rₐ & sₐ,   (~r)ₐ = ~(rₐ)

Up to order and repetition in | and & an expression has finitely many derivatives; these are the
states of an automaton, and those that have the empty word accept.
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
    """The language of a regular expression, with its least automaton.

    `alphabet` are those of its words; without it, those that the expression names, in their order.
    Raises ValueError for a text that is no expression, and says at which character; for a symbol
    that is not among `alphabet`; and for an automaton of more than 2000 states.
    """
    reader = Reader("regular expression", text, r"\S", MOST_CHARACTERS)
    named = "".join(sorted({token for token, _ in reader.tokens if token.isalnum()}))
    if alphabet is None and not named:
        raise InputError(f"alphabet is empty in {text!r}: give some, such as 'ab'")
    alphabet = named if alphabet is None else alphabet
    of = _Expressions()
    expression = _either(reader, alphabet, of)
    if reader.next:
        reader.fail("an operator or the end")
    return explored(expression, of.derivative, of.has_empty, alphabet, text.strip())


class _Expressions:
    """Expressions by number, equal ones once: `nodes` has the kind and the parts of each, the
    numbers of other ones; the empty word is a sequence of nothing, no word a choice of nothing."""

    def __init__(self) -> None:
        self.nodes = list[tuple[str, Any]]()
        self.number: dict[tuple[str, Any], int] = {}
        self.derivatives: dict[tuple[int, str], int] = {}
        self.empty = self.made("then", ())
        self.nothing = self.made("or", frozenset())
        self.everything = self.made("and", frozenset())

    def made(self, kind: str, parts: Any) -> int:
        """The number of an expression."""
        key = kind, parts
        if key not in self.number:
            self.number[key] = len(self.nodes)
            self.nodes.append(key)
        return self.number[key]

    def either(self, parts: Iterable[int]) -> int:
        """One of them."""
        return self._gathered("or", parts, self.everything)

    def both(self, parts: Iterable[int]) -> int:
        """All of them."""
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
        """One after the other."""
        flat = list[int]()
        for part in parts:
            flat += self.nodes[part][1] if self.nodes[part][0] == "then" else (part,)
        if self.nothing in flat:
            return self.nothing
        return flat[0] if len(flat) == 1 else self.made("then", tuple(flat))

    def star(self, of: int) -> int:
        """Any number of them."""
        if of in (self.nothing, self.empty):
            return self.empty
        return of if self.nodes[of][0] == "star" else self.made("star", of)

    def complement(self, of: int) -> int:
        """All other words."""
        if of in (self.nothing, self.everything):
            return self.everything if of == self.nothing else self.nothing
        kind, part = self.nodes[of]
        return part if kind == "not" else self.made("not", of)

    def has_empty(self, of: int) -> bool:
        """Whether the empty word is in it."""
        kind, parts = self.nodes[of]
        if kind == "or":
            return any(map(self.has_empty, parts))
        if kind in ("and", "then"):
            return all(map(self.has_empty, parts))
        return not self.has_empty(parts) if kind == "not" else kind == "star"

    def derivative(self, of: int, symbol: str) -> int:
        """The words that are left after a symbol."""
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
        reader.fail(f"a symbol of {alphabet!r}, '.', '~' or '('")
    return of.made("symbol", reader.take())
