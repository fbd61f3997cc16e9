"""Register programs: what linear attention computes, as polynomials in S = XᵀX, for all d and n.

The examples X (n × d) have labels y (n × 1), S = XᵀX and b = Xᵀy.  A token has an input x and a
label y, which is 0 for a query.  It has *vector registers* of width d and *scalar registers* of
width 1, and a program acts on whole registers by numbers: it does not mix the coordinates of a
vector register.

**Theorem.**  Let the embedding write multiples of x to vector registers and multiples of y to
scalar registers, and let every layer consist of
(i)  linear heads that attend to the examples.  The score of a head is Σ c_rs ⟨r, s⟩ over pairs of a
     query register r and a key register s of the same kind, and its value is Σ v_rs r, added to
     registers s of the same kind.  In scores, the constant 1 may stand for a scalar register;
(ii) linear maps of the token's own registers and of the constant 1, which add Σ v_rs r to registers
     s of the same kind.
Then after every layer, for all d, n, X and y and at every token, a vector register contains
p(S) x + q(S) b, and a scalar register contains a·y + xᵀ g(S) b + c.  The numbers a and c and the
polynomials p, q and g depend on the numbers of the program alone (and on n, if a sum below contains
it), provided that no sum below contains an undefined moment.  A sum contains it even if the terms
of several heads cancel.

**Proof.**  By induction over layers.  The claim is true after the embedding, and (ii) preserves it.
For a head, write score and value of example i as affine functions of (x_i, y_i):

    score  ⟨k, x_i⟩ + w·y_i + m        with a vector k and scalars w, m of the token,
    value  P x_i + v                   for a vector register, with P = P(S) and v = v(S) b,
           a·y_i + ⟨x_i, h⟩ + c        for a scalar register, with h = g(S) b.

Since Σ x_i x_iᵀ = S, Σ x_i y_i = b and Σ 1 = n, the sum of score times value over the examples is

    vector   P S k + w·P b + n·m·v,
    scalar   a ⟨k, b⟩ + ⟨S k, h⟩ + n·m·c,

plus products that contain Σ x_i, Σ y_i, Σ y_i², bᵀ q(S) b or two factors that depend on x or y.
Where such a product occurs, `NoFormula` is raised.  Polynomials in S commute and are symmetric, so
P S k and ⟨S k, h⟩ have the stated form.  ∎

So a program predicts x_qᵀ g(S) b, and two programs are equal for all d, n and inputs if and only if
their polynomials g are equal (for "only if": d = n = 1 and y = x_q = 1 give x·g(x²)).

The computation is written once for all commutative rings: polynomials in t (FLINT), residues at a
random t, sizes.  In the code, the content of a register is a mapping from "x" and "b" (p and q) or
from "y", "x b" and "1" (a, g and c) to elements of the ring; an absent entry is 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, Protocol, runtime_checkable

from flint import fmpq, fmpq_poly

from theory.kinds import InputError

Content = dict[str, Any]
Contents = dict[str, Content]
Factors = Mapping[tuple[str, str], Fraction]

ONE = "1"  # the name of the constant 1 among the registers: a bias


class NoFormula(InputError):
    """The error for a model, or a program, to which the theorem does not apply."""


@runtime_checkable
class Ring(Protocol):
    """A commutative ring that contains Q, with a distinguished element t."""

    t: Any

    def number(self, numerator: int, denominator: int = 1) -> Any: ...


class Polynomials:
    """The ring of polynomials over Q in one variable; by default, t is the variable."""

    def __init__(self, t: fmpq_poly | None = None) -> None:
        self.t = fmpq_poly([0, 1]) if t is None else t

    def number(self, numerator: int, denominator: int = 1) -> fmpq_poly:
        """The constant polynomial numerator/denominator."""
        return fmpq_poly([fmpq(numerator, denominator)])


@dataclass(frozen=True)
class RegisterHead:
    """A linear head that attends to the examples.

    `scores` maps pairs (query register, key register) to factors of their inner product, and
    `values` maps pairs (value register, output register) to factors. The name "1" in `scores` is
    the constant 1.
    """

    scores: Factors
    values: Factors


@dataclass(frozen=True)
class RegisterLayer:
    """Heads that attend to the examples and a map of the token's own registers, then another map.

    `own` maps pairs (source, target) of registers to factors, and describes what heads with the
    diagonal mask add; `mlp` describes what the MLP adds to the registers after the heads. The
    source "1" is the constant 1.
    """

    heads: tuple[RegisterHead, ...] = ()
    own: Factors | None = None
    mlp: Factors | None = None


@dataclass(frozen=True)
class RegisterProgram:
    """A program on registers, whose prediction at a query x_q is x_qᵀ g(S) b for a polynomial g.

    kinds       the kind of each register, "vector" or "scalar"
    embedding   pairs (column, register) and factors, for the columns "x" and "y" of a token
    layers      the layers, in order
    answer      the factors of the scalar registers in the prediction
    n           the number of examples, if the program depends on it
    """

    kinds: Mapping[str, Literal["vector", "scalar"]]
    embedding: Factors
    layers: tuple[RegisterLayer, ...]
    answer: Mapping[str, Fraction]
    n: int | None = None

    def contents(self, ring: Ring) -> Iterator[Contents]:
        """Yields the contents of all registers after the embedding and after each layer.

        Raises NoFormula for a layer to which the theorem does not apply.
        """
        now: Contents = {name: {} for name in self.kinds}
        for (column, register), factor in self.embedding.items():
            _add(now[register], {column: _number(ring, factor)})
        yield now
        for number, layer in enumerate(self.layers, start=1):
            try:
                now = self._after(ring, layer, now)
            except NoFormula as outside:
                raise NoFormula(f"layer {number}, {outside}") from None
            yield now

    def prediction(self, ring: Ring) -> Any:
        """The polynomial g of the prediction x_qᵀ g(S) b, as an element of the ring.

        Raises NoFormula if the prediction contains a constant.
        """
        *_, last = self.contents(ring)
        answer: Content = {}
        for register, factor in self.answer.items():
            _add(answer, _scaled(ring, factor, last[register]))
        if ONE in answer:
            raise NoFormula("the prediction contains a constant")
        return answer.get("x b", ring.number(0))

    def _after(self, ring: Ring, layer: RegisterLayer, now: Contents) -> Contents:
        """The contents after a layer, from the contents before it."""
        after = _mapped(ring, layer.own, now)
        for number, head in enumerate(layer.heads, start=1):
            try:
                score = self._score(ring, head, now)
                values: Contents = {}
                for (source, target), factor in head.values.items():
                    value = _scaled(ring, factor, now[source])
                    _add(values.setdefault(target, {}), value)
                for target, value in values.items():
                    of = self._vector if self.kinds[target] == "vector" else self._scalar
                    _add(after[target], of(ring, value, *score))
            except NoFormula as outside:
                raise NoFormula(f"head {number}: {outside}") from None
        return after if layer.mlp is None else _mapped(ring, layer.mlp, after)

    def _score(self, ring: Ring, head: RegisterHead, now: Contents) -> tuple[Content, ...]:
        """The vector k and the scalars w and m of the score ⟨k, x_i⟩ + w·y_i + m."""
        k: Content = {}
        w: Content = {}
        m: Content = {}
        one = {ONE: ring.number(1)}
        for (query, key), factor in head.scores.items():
            asked = _scaled(ring, factor, one if query == ONE else now[query])
            given = one if key == ONE else now[key]
            if "x" in given:
                _add(k, _times(given["x"], asked))
            if "b" in given and asked:
                _add(m, _inner(asked, given["b"], "the score"))
            if "x b" in given and asked:
                _add(k, {"b": _constant(asked, "the score") * given["x b"]})
            if "y" in given:
                _add(w, _times(given["y"], asked))
            if ONE in given:
                _add(m, _times(given[ONE], asked))
        return k, w, m

    def _vector(self, ring: Ring, value: Content, k: Content, w: Content, m: Content) -> Content:
        """P S k + w·P b + n·m·v for the value P x_i + v."""
        _defined(value, k, w, m, vector="x", constant="b")
        total: Content = {}
        if "x" in value:
            _add(total, _times(ring.t * value["x"], k))
            if w:
                _add(total, {"b": _constant(w, "the value") * value["x"]})
        if "b" in value and m:
            _add(total, {"b": self._count(ring) * _constant(m, "the value") * value["b"]})
        return total

    def _scalar(self, ring: Ring, value: Content, k: Content, w: Content, m: Content) -> Content:
        """a ⟨k, b⟩ + ⟨S k, h⟩ + n·m·c for the value a·y_i + ⟨x_i, h⟩ + c, with h = g(S) b."""
        _defined(value, k, w, m, vector="x b", constant=ONE)
        if "y" in value and (w or m):
            raise NoFormula(f"it adds Σ {'y_i²' if w else 'y_i'} over the examples")
        if "x b" in value and w:
            raise NoFormula("it adds a product of bᵀ q(S) b")
        total: Content = {}
        if k and "y" in value:
            _add(total, _inner(k, value["y"], "the value"))
        if k and "x b" in value:
            _add(total, _inner(k, ring.t * value["x b"], "the value"))
        if m and ONE in value:
            _add(total, _times(self._count(ring) * value[ONE], m))
        return total

    def _count(self, ring: Ring) -> Any:
        """The number of examples, as an element of the ring."""
        if self.n is None:
            raise NoFormula("it adds a multiple of the number of examples")
        return ring.number(self.n)


def _defined(
    value: Content, k: Content, w: Content, m: Content, *, vector: str, constant: str
) -> None:
    """Raises NoFormula if score times value contains Σ x_i or Σ y_i."""
    if (k and constant in value) or (m and vector in value):
        raise NoFormula("it adds a multiple of Σ x_i over the examples")
    if w and constant in value:
        raise NoFormula("it adds a multiple of Σ y_i over the examples")


def _mapped(ring: Ring, factors: Factors | None, now: Contents) -> Contents:
    """The contents r + Σ v_rs s; factors that cancel 1 remove the register's old content."""
    after: Contents = {}
    for target, content in now.items():
        kept = 1 + (factors or {}).get((target, target), 0)
        after[target] = _scaled(ring, kept, content) if kept else {}
    for (source, target), factor in (factors or {}).items():
        if source != target:
            content = {ONE: ring.number(1)} if source == ONE else now[source]
            _add(after[target], _scaled(ring, factor, content))
    return after


def _constant(content: Content, where: str) -> Any:
    """The constant c of a scalar that contains nothing else."""
    if content.keys() != {ONE}:
        raise NoFormula(f"{where} is multiplied by a second factor that depends on x, y or b")
    return content[ONE]


def _inner(content: Content, h: Any, where: str) -> Content:
    """The scalar ⟨p(S) x, h(S) b⟩ for a vector p(S) x."""
    if content.keys() != {"x"}:
        raise NoFormula(f"{where} contains bᵀ q(S) b")
    return {"x b": content["x"] * h}


def _scaled(ring: Ring, factor: Fraction | int, content: Content) -> Content:
    """A new content, the multiple of a content by a number."""
    return dict(content) if factor == 1 else _times(_number(ring, factor), content)


def _times(factor: Any, content: Content) -> Content:
    return {name: factor * value for name, value in content.items()}


def _add(content: Content, more: Content) -> None:
    """Adds `more` to the content in place."""
    for name, value in more.items():
        content[name] = content[name] + value if name in content else value


def _number(ring: Ring, factor: Fraction | int) -> Any:
    return ring.number(*factor.as_integer_ratio())
