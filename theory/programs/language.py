"""RASP: programs of elementwise maps, selectors and averages [Weiss2021].

A *sequence operation* (s-op) maps a sequence x_0, …, x_{n−1} of tokens to n values, and a
*selector* maps it to an n × n Boolean matrix with a row for each query position and a column for
each key position.

    s-op                                value at position i
    tokens, indices, length             x_i, i, n
    Map(f, a)                           f(a_i)
    SequenceMap(f, a, b)                f(a_i, b_i)
    LinearSequenceMap(a, b, p, q)       p·a_i + q·b_i
    Pair(a, b)                          (a_i, b_i)
    Full(c)                             c
    Aggregate(s, a, default)            the mean of a_j over the positions j that row i of s selects
    SelectorWidth(s)                    the number of positions j that row i of s selects

    selector                            entry (i, j)
    Select(keys, queries, predicate)    predicate(keys_j, queries_i)
    s & t, s | t, ~s                    entrywise

Arithmetic (also //, %, ** and abs), comparisons and the operators &, | and ~ of s-ops are
elementwise maps, also with constants; &, | and ~ are Python's `and`, `or` and `not`, so that 5 | 3
is 5.  For example, `SelectorWidth(Select(tokens, tokens, "=="))` counts the occurrences of each
token.  `evaluate` in `interpreter.py` defines the values.

A function or predicate depends on its arguments alone, and equal values, such as 1 and True, have
equal results.

Except for `Pair`, the classes and their attributes have the names that they have in Tracr
[Lindner2023], and `program_of` converts a program that is built from classes with these names and
attributes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, ClassVar, TypeVar

from theory.kinds import InputError, checked, read, shown
from theory.programs.values import (
    COMPARISONS,
    Value,
    WithRight,
    both,
    either,
    exact,
    is_number,
    power,
    quotient,
)

E = TypeVar("E", bound="Expression")

MOST_NAME = 1000  # characters of the name of an operator's result
# Names of classes whose objects are no values, of this file and of other libraries.
OF_EXPRESSIONS = {"SOp", "Selector", "TokensType", "IndicesType", "LengthType"}


@dataclass(frozen=True, eq=False, repr=False)
class Expression:
    """An s-op or a selector. Two expressions are equal only if they are the same object.

    Raises ValueError for `Expression()`, `SOp()` and `Selector()`, which have no values:
    expressions are objects of the classes below.
    """

    name: str = field(default="", kw_only=True)

    word: ClassVar[str]

    def __post_init__(self) -> None:
        read(str, "name", self.name)
        if not hasattr(self, "word"):
            raise InputError(
                f"{type(self).__name__}() has no values: give an expression such as tokens"
            )

    def named(self: E, name: str) -> E:
        """This expression with a name, by which errors and printed models refer to it."""
        if not isinstance(name, str) or name.splitlines() != [name]:
            raise InputError(f"name is {shown(name)}: give a text of one line that is not empty")
        return replace(self, name=name)

    @property
    def parts(self) -> tuple[Expression, ...]:
        """The expressions that this expression is computed from."""
        values = (getattr(self, field.name) for field in fields(self))
        return tuple(value for value in values if isinstance(value, Expression))

    def __repr__(self) -> str:
        return " ".join(self.name.splitlines()) or self.word


class SOp(Expression):
    """A sequence operation; operators with s-ops or constants give elementwise maps."""

    def __lt__(self, other: Any) -> SOp:
        return _elementwise(operator.lt, "<", self, other)

    def __le__(self, other: Any) -> SOp:
        return _elementwise(operator.le, "<=", self, other)

    def __gt__(self, other: Any) -> SOp:
        return _elementwise(operator.gt, ">", self, other)

    def __ge__(self, other: Any) -> SOp:
        return _elementwise(operator.ge, ">=", self, other)

    def __eq__(self, other: Any) -> SOp:  # type: ignore[override]
        return _elementwise(operator.eq, "==", self, other)

    def __ne__(self, other: Any) -> SOp:  # type: ignore[override]
        return _elementwise(operator.ne, "!=", self, other)

    __hash__ = object.__hash__

    def __add__(self, other: Any) -> SOp:
        return _elementwise(operator.add, "+", self, other)

    def __radd__(self, other: Any) -> SOp:
        return _elementwise(operator.add, "+", other, self)

    def __sub__(self, other: Any) -> SOp:
        return _elementwise(operator.sub, "-", self, other)

    def __rsub__(self, other: Any) -> SOp:
        return _elementwise(operator.sub, "-", other, self)

    def __mul__(self, other: Any) -> SOp:
        return _elementwise(operator.mul, "*", self, other)

    def __rmul__(self, other: Any) -> SOp:
        return _elementwise(operator.mul, "*", other, self)

    def __truediv__(self, other: Any) -> SOp:
        return _elementwise(quotient, "/", self, other)

    def __rtruediv__(self, other: Any) -> SOp:
        return _elementwise(quotient, "/", other, self)

    def __floordiv__(self, other: Any) -> SOp:
        return _elementwise(operator.floordiv, "//", self, other)

    def __rfloordiv__(self, other: Any) -> SOp:
        return _elementwise(operator.floordiv, "//", other, self)

    def __mod__(self, other: Any) -> SOp:
        return _elementwise(operator.mod, "%", self, other)

    def __rmod__(self, other: Any) -> SOp:
        return _elementwise(operator.mod, "%", other, self)

    def __pow__(self, other: Any) -> SOp:
        return _elementwise(power, "**", self, other)

    def __rpow__(self, other: Any) -> SOp:
        return _elementwise(power, "**", other, self)

    def __neg__(self) -> SOp:
        return Map(operator.neg, self, name=f"-{self}")

    def __abs__(self) -> SOp:
        return Map(abs, self, name=f"abs({self})")

    def __and__(self, other: Any) -> SOp:
        return _elementwise(both, "&", self, other)

    def __rand__(self, other: Any) -> SOp:
        return _elementwise(both, "&", other, self)

    def __or__(self, other: Any) -> SOp:
        return _elementwise(either, "|", self, other)

    def __ror__(self, other: Any) -> SOp:
        return _elementwise(either, "|", other, self)

    def __invert__(self) -> SOp:
        return Map(operator.not_, self, name=f"~{self}")

    def __bool__(self) -> bool:
        raise InputError(f"{self} has no truth value: combine s-ops with &, | and ~")


class Selector(Expression):
    """A selector; &, | and ~ act entrywise."""

    def __and__(self, other: Selector) -> Selector:
        return SelectorAnd(self, other)

    def __or__(self, other: Selector) -> Selector:
        return SelectorOr(self, other)

    def __invert__(self) -> Selector:
        return SelectorNot(self)

    def __bool__(self) -> bool:
        raise InputError(f"{self} has no truth value: combine selectors with &, | and ~")


@dataclass(frozen=True, eq=False, repr=False)
class Tokens(SOp):
    """The tokens: x_i."""

    word = "tokens"


@dataclass(frozen=True, eq=False, repr=False)
class Indices(SOp):
    """The positions: i = 0, …, n − 1."""

    word = "indices"


@dataclass(frozen=True, eq=False, repr=False)
class Length(SOp):
    """The number n of tokens; with causal evaluation, the number i + 1 of tokens up to i."""

    word = "length"


@dataclass(frozen=True, eq=False, repr=False)
class Full(SOp):
    """The constant `fill` at all positions.

    Raises ValueError for a value that is not hashable, NaN or infinite, and for an s-op.
    """

    fill: Value
    word = "full"

    def __post_init__(self) -> None:
        super().__post_init__()
        constant("fill", self.fill)

    def __repr__(self) -> str:
        return " ".join((self.name or repr(self.fill)).splitlines())


@dataclass(frozen=True, eq=False, repr=False)
class Map(SOp):
    """The values f(a_i) for the s-op a = `inner`; None where a_i is None.

    Raises ValueError if `f` is no function or `inner` is no s-op.
    """

    f: Callable[[Any], Any]
    inner: SOp
    word = "map"

    def __post_init__(self) -> None:
        super().__post_init__()
        _function("f", self.f)
        _is("inner", self.inner, SOp)


@dataclass(frozen=True, eq=False, repr=False)
class SequenceMap(SOp):
    """The values f(a_i, b_i) for the s-ops a = `fst` and b = `snd`; None where a_i or b_i is None.

    Raises ValueError if `f` is no function, or if `fst` or `snd` is no s-op.
    """

    f: Callable[[Any, Any], Any]
    fst: SOp
    snd: SOp
    word = "sequence_map"

    def __post_init__(self) -> None:
        super().__post_init__()
        _function("f", self.f)
        _is("fst", self.fst, SOp)
        _is("snd", self.snd, SOp)


@dataclass(frozen=True, eq=False, repr=False)
class LinearSequenceMap(SOp):
    """The numbers p·a_i + q·b_i for the s-ops a = `fst`, b = `snd` and the numbers p = `fst_fac`,
    q = `snd_fac`; None where a_i or b_i is None.

    Raises ValueError if `fst` or `snd` is no s-op, or if a factor is not a number.
    """

    fst: SOp
    snd: SOp
    fst_fac: Any
    snd_fac: Any
    word = "linear_sequence_map"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("fst", self.fst, SOp)
        _is("snd", self.snd, SOp)
        for name in ("fst_fac", "snd_fac"):
            if not is_number(exact(getattr(self, name))):
                raise InputError(f"{name} is {shown(getattr(self, name))}: give a number")


@dataclass(frozen=True, eq=False, repr=False)
class Pair(SOp):
    """The pairs (a_i, b_i) of the values of the s-ops a = `fst` and b = `snd`, also of None.

    Raises ValueError if `fst` or `snd` is no s-op.
    """

    fst: SOp
    snd: SOp
    word = "pair"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("fst", self.fst, SOp)
        _is("snd", self.snd, SOp)


@dataclass(frozen=True, eq=False, repr=False)
class Aggregate(SOp):
    """At position i, the mean of the values a_j of `sop` over all j that row i of `selector`
    selects, and `default` if it selects none.

    If all selected values are equal, the mean is this value, which need not be a number.

    Raises ValueError if `selector` is no selector or `sop` is no s-op, and for a default that is
    not hashable, NaN or infinite, or that is an s-op.
    """

    selector: Selector
    sop: SOp
    default: Value = None
    word = "aggregate"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("selector", self.selector, Selector)
        _is("sop", self.sop, SOp)
        constant("default", self.default)


@dataclass(frozen=True, eq=False, repr=False)
class SelectorWidth(SOp):
    """The number of positions that row i of the selector selects.

    Raises ValueError if `selector` is no selector.
    """

    selector: Selector
    word = "selector_width"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("selector", self.selector, Selector)


@dataclass(frozen=True, eq=False, repr=False)
class Select(Selector):
    """The matrix with entry predicate(keys_j, queries_i) in row i and column j.

    The predicate is a function of a key and a query, or one of the texts "==", "!=", "<", "<=",
    ">", ">=", "true" and "false"; "<" selects keys that are smaller than the query. If the key or
    the query is None, the entry is False, except for "true".

    Raises ValueError if `keys` or `queries` is no s-op, and for another predicate.
    """

    keys: SOp
    queries: SOp
    predicate: str | Callable[[Any, Any], Any]
    word = "select"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("keys", self.keys, SOp)
        _is("queries", self.queries, SOp)
        if isinstance(self.predicate, str) and self.predicate not in COMPARISONS:
            raise InputError(
                f"predicate is {shown(self.predicate)}: give one of {', '.join(COMPARISONS)}, or "
                "a function of a key and a query"
            )
        if not isinstance(self.predicate, str):
            _function("predicate", self.predicate)


@dataclass(frozen=True, eq=False, repr=False)
class SelectorAnd(Selector):
    """The entrywise conjunction of two selectors; raises ValueError for other objects."""

    fst: Selector
    snd: Selector
    word = "selector_and"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("fst", self.fst, Selector)
        _is("snd", self.snd, Selector)


@dataclass(frozen=True, eq=False, repr=False)
class SelectorOr(Selector):
    """The entrywise disjunction of two selectors; raises ValueError for other objects."""

    fst: Selector
    snd: Selector
    word = "selector_or"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("fst", self.fst, Selector)
        _is("snd", self.snd, Selector)


@dataclass(frozen=True, eq=False, repr=False)
class SelectorNot(Selector):
    """The entrywise negation of a selector; raises ValueError for another object."""

    inner: Selector
    word = "selector_not"

    def __post_init__(self) -> None:
        super().__post_init__()
        _is("inner", self.inner, Selector)


tokens: SOp = Tokens()
"""The tokens."""
indices: SOp = Indices()
"""The positions, from 0 on."""
length: SOp = Length()
"""The number of tokens."""


@checked
def expressions(program: Expression) -> list[Expression]:
    """The expressions that a program consists of, each once, after all of its own parts.

    Raises ValueError for an expression that contains itself.
    """
    found: dict[Expression, None] = {}
    waiting, open_ = [program], set[Expression]()
    while waiting:
        last = waiting[-1]
        missing = [part for part in last.parts if part not in found]
        if missing:
            if last in open_:
                raise InputError(f"{last} contains itself: give an expression without cycle")
            open_.add(last)
            waiting += reversed(missing)
        else:
            found[waiting.pop()] = None
    return list(found)


def constant(name: str, value: Any) -> Value:
    """A constant as an exact value; raises ValueError for s-ops and selectors, also of others."""
    if OF_EXPRESSIONS & {each.__name__ for each in type(value).__mro__}:
        if isinstance(value, Expression):
            raise InputError(f"{name} is {value}, which is no constant: give a value")
        raise InputError(
            f"{name} is a {type(value).__name__} of another library: convert it by `program_of`"
        )
    return exact(value)


def _elementwise(f: Callable[[Any, Any], Any], sign: str, a: Any, b: Any) -> SOp:
    """The s-op a sign b, of which one side may be a constant."""
    for each in (a, b):
        if isinstance(each, Selector):
            raise InputError(f"{each} is a selector: give an s-op or a constant")
        if each is None:
            raise InputError(
                f"{a} {sign} {b}: a map has the value None where its operand is None, so None has "
                "no use in operators: give `Aggregate` a default, and compare with it"
            )
    name = f"({a!r} {sign} {b!r})"
    if len(name) > MOST_NAME:  # of parts that occur many times
        name = f"{name[: MOST_NAME - 1]}…"
    if isinstance(a, SOp) and isinstance(b, SOp):
        return SequenceMap(f, a, b, name=name)
    if isinstance(a, SOp):
        right = constant("the right side", b)
        return Map(WithRight(f, right), a, name=name)
    left = constant("the left side", a)
    return Map(partial(f, left), b, name=name)


def _is(name: str, value: Any, kind: type[Expression]) -> None:
    if not isinstance(value, kind):
        what = "an s-op" if kind is SOp else "a selector"
        raise InputError(f"{name} is {shown(value)}: give {what}")


def _function(name: str, value: Any) -> None:
    if not callable(value):
        raise InputError(f"{name} is {shown(value)}: give a function")
