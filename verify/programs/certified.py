"""The statement of a certificate: that a compiled model computes its program."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from fractions import Fraction
from typing import Any

from constructions.blocks import plural
from constructions.transformer import Transformer
from theory.kinds import InputError, shown
from theory.programs.domains import Domains
from theory.programs.language import (
    Aggregate,
    Expression,
    Full,
    Indices,
    Length,
    LinearSequenceMap,
    Map,
    Select,
    Selector,
    SelectorAnd,
    SelectorNot,
    SelectorOr,
    SelectorWidth,
    SequenceMap,
    SOp,
    Tokens,
    expressions,
    tokens,
)
from theory.programs.selectors import related
from theory.programs.simplify import simplified
from theory.programs.tabulated import Lookup, Tables
from theory.programs.values import exact, is_number
from verify.evidence.certificates import Statement, weights

WORDS: dict[type[Expression], str] = {
    Tokens: "tokens",
    Indices: "indices",
    Length: "length",
    SelectorAnd: "and",
    SelectorOr: "or",
    SelectorNot: "not",
}


def computes_program(model: Transformer, sop: SOp, name: str, *, causal: bool) -> Statement:
    """Returns the statement that a compiled model computes the program `sop` of this name.

    It holds for all sequences of at most as many tokens as the model takes. The tables of maps have
    rows for the combinations of values that occur.

    Raises ValueError for a program that contains expressions that the checker does not read.
    """
    interface = model.interface
    domains = Domains(tokens, interface.vocabulary, interface.max_length, causal=causal)
    simple = simplified(sop, domains)
    operations = _Operations(model, domains)
    operations.add(simple)
    none = [None] * interface.bottom
    return {
        "kind": "program",
        "name": f"{name} at all sequences of at most {plural(interface.max_length, 'token')} of "
        f"{shown(list(interface.vocabulary))}",
        "causal": causal,
        "length": interface.max_length,
        "tokens": [*map(written, interface.vocabulary)],
        "answers": [written(v) for v in (*interface.values, *none)],
        "operations": operations.made,
        "layers": [*operations.layers()],
        "model": weights(model),
    }


def written(value: Any) -> str:
    """A value as text: numbers as fractions, others as Python writes them."""
    return str(Fraction(value)) if is_number(value) else repr(value)


class _Operations:
    """The operations of a program, each once, as `verify/program_checker.py` reads them."""

    def __init__(self, model: Transformer, domains: Domains) -> None:
        self.model, self.domains, self.tables = model, domains, Tables(domains)
        self.made, self.number = list[dict[str, Any]](), dict[int, int]()
        self.classes = _Classes()
        holds: dict[str, Any] = {each.register: each.holds for each in model.stages}
        self.held = {register: self.classes(each.sop) for register, each in holds.items()}
        self.heads = [*self._heads()]
        self.computed = {own for layer in self.heads for head in layer for own, _ in head}

    def add(self, program: Expression) -> int:
        """The number of an expression, which is added if it is new, after its parts."""
        for each in expressions(program):
            if (own := self.classes(self.tables.of(each))) not in self.number:
                parts = [self.number[self.classes(self.tables.of(part))] for part in each.parts]
                operation = self._operation(each, parts)
                self.number[own] = len(self.made)
                self.made.append(operation)
        return self.number[self.classes(self.tables.of(program))]

    def layers(self) -> Iterator[list[list[list[int]]]]:
        """For each head of each layer, the operations that it computes, with their columns."""
        if len({*self.held.values()} - self.number.keys()):
            raise InputError(f"{self.model.name} has no certificate: a register is no operation")
        for layer in self.heads:
            yield [[[self.number[own], column] for own, column in head] for head in layer]

    def _heads(self) -> Iterator[list[list[tuple[int, int]]]]:
        """For each head of each layer, the classes that it computes, with their columns."""
        starts = {self.model.stream[name].start: own for name, own in self.held.items()}
        for block in self.model.blocks:
            every = () if block.attn is None else block.attn.W_O
            columns = [W_O.abs().sum(0).nonzero().flatten().tolist() for W_O in every]
            yield [[(starts[c], c) for c in each if c in starts] for each in columns]

    def _operation(self, each: Expression, parts: list[int]) -> dict[str, Any]:
        match each:
            case Tokens() | Indices() | Length():
                return {"op": WORDS[type(each)]}
            case SelectorAnd() | SelectorOr() | SelectorNot():
                return {"op": WORDS[type(each)], "of": parts}
            case Select():
                sides = {"keys": parts[0], "queries": parts[1]}
                return {"op": "select", **sides, "pairs": self._pairs(each)}
            case SelectorWidth(selector):
                widths = [*self._widths(selector)]
                if not widths and self._is_computed(each):
                    return {"op": "width", "selector": parts[0]}
                terms = {"of": [k for k, _ in widths], "factors": [factor for _, factor in widths]}
                return {"op": "sum", "selector": parts[0], **terms}
            case Aggregate(selector, _, default):
                value = written(exact(default))
                if self._is_computed(each):
                    return {"op": "mean", "selector": parts[0], "of": parts[1], "default": value}
                self.domains.add(width := SelectorWidth(selector))
                return {"op": "map", "of": [self.add(width)], "table": [["0", value]]}
        match self.tables.of(each):
            case LinearSequenceMap(_, _, p, q):
                factors = [written(exact(p)), written(exact(q))]
                return {"op": "linear", "of": parts, "factors": factors}
            case Map(Lookup(rows), _) | SequenceMap(Lookup(rows), _, _):
                table = [[*map(written, (*given, value))] for given, value in rows.items()]
                return {"op": "map", "of": parts, "table": table}
            case Full(fill):
                return {"op": "map", "of": [], "table": [[written(exact(fill))]]}
        raise InputError(f"{each} has no certificate: it is a {each.word}")

    def _is_computed(self, each: Expression) -> bool:
        """Whether a head computes an expression; otherwise its selector selects nothing."""
        return self.classes(self.tables.of(each)) in self.computed

    def _pairs(self, select: Select) -> Any:
        """The predicate: a comparison of numbers, or the pairs of a key and a query."""
        predicate, values = select.predicate, self.domains.values
        keys, queries = values[select.keys], values[select.queries]
        if isinstance(predicate, str) and (
            predicate in ("true", "==", "!=")
            or all(v is None or is_number(v) for v in (*keys, *queries))
        ):
            return predicate
        query, key = (related(select, keys, queries) == 1).nonzero()
        return [[written(keys[k]), written(queries[q])] for k, q in zip(key, query, strict=True)]

    def _widths(self, selector: Selector) -> Iterator[tuple[int, str]]:
        """Widths of single heads, with factors, whose sum is the width, if there are several."""
        parts = self.domains.relations.widths(selector)
        for factor, relations in parts if len(parts) > 1 else ():
            both: Selector = relations[0]
            for other in relations[1:]:
                both &= other
            self.domains.add(width := SelectorWidth(both))
            if self._is_computed(width):  # otherwise it is 0
                yield self.add(width), str(factor)


class _Classes:
    """Numbers of expressions whose functions are tables: equal for equal expressions."""

    def __init__(self) -> None:
        self.known, self.of = dict[Any, int](), dict[Expression, int]()

    def __call__(self, expression: Expression) -> int:
        for each in expressions(expression):
            if each not in self.of:
                values = (getattr(each, it.name) for it in fields(each) if it.name != "name")
                key = type(each), *map(self._key, values)
                self.of[each] = self.known.setdefault(key, len(self.known))
        return self.of[expression]

    def _key(self, value: Any) -> Any:
        if isinstance(value, Expression):
            return self.of[value]
        return frozenset(value.rows.items()) if isinstance(value, Lookup) else (type(value), value)
