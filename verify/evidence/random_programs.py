"""Random register programs, and transformers whose weights contain them.

The programs have the form of the theorem in `theory.regression.register_programs`. Their
transformers are no constructions of the library: keys and values are in a random basis of every
head, and only the products W_Q W_Kᵀ, W_V W_O and W_in W_out have blocks c·I.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from fractions import Fraction
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
import torch

from constructions.assembly import Head, block, embed, moved, signed_pair, unembed
from constructions.attention import Attention
from constructions.blocks import MLP
from constructions.examples import Examples
from constructions.primitives import Move
from constructions.stream import LinearRead, Stream, one
from constructions.tensors import weight
from constructions.transformer import Transformer
from theory.regression.register_programs import (
    ONE,
    Factors,
    NoFormula,
    Polynomials,
    RegisterHead,
    RegisterLayer,
    RegisterProgram,
)

KINDS: Mapping[str, Literal["vector", "scalar"]] = {
    **dict.fromkeys(("u", "v", "w"), "vector"),
    **dict.fromkeys(("s", "r", "t"), "scalar"),
}
NUMBERS = [Fraction(c) for c in ("-3", "-2", "-1", "-1/2", "1/4", "1", "2")]  # exact in float64
TRIED = 10_000  # programs, most of which contain an undefined moment


def random_program(rng: np.random.Generator, layers: int, n: int | None = None) -> RegisterProgram:
    """A random program to which the theorem applies, and whose prediction depends on S.

    If n is given, the heads are those of ReLU attention over n examples, whose scores are divided
    by n. Layers then have no heads with the diagonal mask.
    """
    embedding = {("x", "u"): Fraction(1), ("x", "v"): Fraction(-1, 2), ("y", "s"): Fraction(1)}
    answer = {"s": Fraction(2), "r": Fraction(1)}
    for _ in range(TRIED):
        made = tuple(_layer(rng, n) for _ in range(layers))
        program = RegisterProgram(KINDS, embedding, made, answer, n)
        try:
            if program.prediction(Polynomials()).degree() > 0:
                return program
        except NoFormula:
            continue
    raise RuntimeError(f"no program of {TRIED} has a formula")


def _layer(rng: np.random.Generator, n: int | None) -> RegisterLayer:
    heads = tuple(_head(rng, n) for _ in range(rng.integers(1, 3)))
    own = _factors(rng, KINDS, KINDS) if n is None and rng.random() < 0.5 else None
    mlp = _factors(rng, {**KINDS, ONE: "scalar"}, KINDS) if rng.random() < 0.5 else None
    return RegisterLayer(heads, own, mlp)


def _head(rng: np.random.Generator, n: int | None) -> RegisterHead:
    """Random scores and values; one head in four has the query 1 and scalars as keys.

    Otherwise, few vectors would contain multiples of b, as most such programs have no formula.
    """
    scalars = {name: kind for name, kind in KINDS.items() if kind == "scalar"}
    vectors = {name: kind for name, kind in KINDS.items() if kind == "vector"}
    unit = Fraction(1, n or 1)
    if rng.random() < 0.25:
        scores = _factors(rng, {ONE: "scalar"}, scalars, unit)
        return RegisterHead(scores, _factors(rng, vectors, vectors))
    ones = {**KINDS, ONE: "scalar"}
    return RegisterHead(_factors(rng, ones, ones, unit), _factors(rng, KINDS, KINDS))


def _factors(
    rng: np.random.Generator,
    sources: Mapping[str, str],
    targets: Mapping[str, str],
    unit: Fraction = Fraction(1),
) -> Factors:
    """One or two random numbers of pairs of registers of the same kind, as multiples of `unit`."""
    pairs = [(a, b) for a, b in product(sources, targets) if sources[a] == targets[b]]
    chosen = rng.choice(len(pairs), rng.integers(1, 3), replace=False)
    return {pairs[i]: unit * NUMBERS[rng.integers(len(NUMBERS))] for i in chosen}


def model_of(program: RegisterProgram, d: int, rng: np.random.Generator) -> Transformer:
    """A transformer whose blocks are those of the program, in a random basis of each head."""
    stream = Stream(**{name: d if kind == "vector" else 1 for name, kind in KINDS.items()})

    def read(register: str) -> LinearRead:
        return one if register == ONE else stream.read(register)

    def reads(factors: Factors, times: int = 1) -> tuple[LinearRead, ...]:
        return tuple(float(times * c) * read(source) for (source, _), c in factors.items())

    blocks = []
    for layer in program.layers:
        heads = [
            Head(
                reads(head.scores, program.n or 1),
                tuple(read(key) for _, key in head.scores),
                reads(head.values),
                tuple(target for _, target in head.values),
            )
            for head in layer.heads
        ]
        if program.n is not None:
            # the reader takes the second head of each pair
            heads = [each for head in heads for each in reversed(signed_pair(head))]
        if layer.own:
            heads.append(moved(reads(layer.own), tuple(target for _, target in layer.own)))
        moves = [
            Move(float(c) * read(source), target)
            for (source, target), c in (layer.mlp or {}).items()
        ]
        made = block(stream, heads, moves, normalise="linear" if program.n is None else "relu")
        assert made.attn is not None
        _change_basis(made.attn, rng, 1 if program.n is None else 2)
        blocks.append(made)
    columns: dict[str, dict[str, float]] = {"x": {}, "y": {}}
    for (column, register), c in program.embedding.items():
        columns[column][register] = float(c)
    answer = [float(c) * stream.read(register) for register, c in program.answer.items()]
    return Transformer(
        embed(stream, **columns),
        blocks,
        unembed(stream, sum(answer[1:], start=answer[0])),
        interface=Examples(d, n=program.n),
        stream=stream,
        name="a register program",
        source="weightwright",
    )


def _change_basis(attn: Attention, rng: np.random.Generator, together: int) -> None:
    """Changes the bases of queries and keys, and of values, by matrices of determinant 1.

    The matrices and their inverses consist of integers. Each `together` heads have the same bases.
    """
    for h in range(attn.n_heads):
        if h % together == 0:
            A, B = (_unimodular(rng, W.shape[-1]) for W in (attn.W_Q, attn.W_V))
        for W, by in ((attn.W_Q, A[0]), (attn.b_Q, A[0]), (attn.W_K, A[1].T), (attn.b_K, A[1].T)):
            W[h] = W[h] @ by
        attn.W_V[h], attn.W_O[h] = attn.W_V[h] @ B[0], B[1] @ attn.W_O[h]


def _unimodular(rng: np.random.Generator, size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """A random matrix of integers and its inverse, a product of 2·size additions of rows."""
    matrix, inverse = torch.eye(size).double(), torch.eye(size).double()
    for _ in range(2 * size * (size > 1)):
        i, j = rng.choice(size, 2, replace=False)
        sign = int(rng.choice([-1, 1]))
        matrix[i] += sign * matrix[j]
        inverse[:, j] -= sign * inverse[:, i]
    return matrix, inverse


class Entry(NamedTuple):
    """A change of one entry of a product of weights of a layer, by the number `change`.

    `product` is "W_Q W_Kᵀ" or "W_V W_O" of a head, or "W_in W_out" of the MLP, for which `head` is
    None. `row` and `column` are a register and a coordinate; the register "1" is the constant 1,
    that is, a bias.
    """

    layer: int
    head: int | None
    product: str
    row: tuple[str, int]
    column: tuple[str, int]
    change: Fraction

    @property
    def place(self) -> str:
        """The place that an error names if the block is no multiple of the identity."""
        head = "" if self.head is None else f" head {self.head + 1}:"
        of = " of the MLP" if self.head is None else ""
        return (
            f"layer {self.layer + 1},{head} the block of {self.product}{of} from {self.row[0]} to "
            f"{self.column[0]} is"
        )


def random_entry(rng: np.random.Generator, program: RegisterProgram, d: int) -> Entry:
    """A random entry of a random product of the weights of a program without ReLU heads."""
    layer = int(rng.integers(len(program.layers)))
    head: int | None = int(rng.integers(len(program.layers[layer].heads)))
    which = str(rng.choice(["W_Q W_Kᵀ", "W_V W_O", "W_in W_out"]))
    if which == "W_in W_out":
        head = None
    rows = [*KINDS] if which == "W_V W_O" else [*KINDS, ONE]
    columns = rows if which == "W_Q W_Kᵀ" else [*KINDS]

    def place(registers: list[str]) -> tuple[str, int]:
        register = registers[rng.integers(len(registers))]
        return register, int(rng.integers(d)) if KINDS.get(register) == "vector" else 0

    row, column = place(rows), place(columns)
    return Entry(layer, head, which, row, column, NUMBERS[rng.integers(len(NUMBERS))])


def with_entry(model: Transformer, entry: Entry) -> Transformer:
    """A copy of the model in which one entry of a product of weights is changed.

    The head has one more column of queries and keys, or of values; the MLP has two more neurons.
    """
    model = deepcopy(model)
    left, right = torch.zeros(2, model.d_model + 1).double()  # the last place is the bias
    for vector, (register, i) in ((left, entry.row), (right, entry.column)):
        vector[-1 if register == ONE else model.stream[register].start + i] = 1.0
    left *= float(entry.change)
    layer = model.blocks[entry.layer]
    if entry.head is None:
        signs = torch.tensor([1.0, -1.0]).double()
        parts = signs * left[:-1, None], signs * left[-1], signs[:, None] * right[:-1]
        old = layer.mlp
        if old is None:
            layer.mlp = MLP(*parts, torch.zeros(model.d_model).double())
            return model
        axes = zip((old.W_in, old.b_in, old.W_out), parts, (1, 0, 0), strict=True)
        W_in, b_in, W_out = (torch.cat([W, more], axis) for W, more, axis in axes)
        layer.mlp = MLP(W_in, b_in, W_out, old.b_out)
        return model
    attn = layer.attn
    assert attn is not None
    first, second = ("W_Q", "W_K") if entry.product == "W_Q W_Kᵀ" else ("W_V", "W_O")
    for name, vector in ((first, left), (second, right)):
        for each, more in ((name, vector[:-1]), (name.replace("W_", "b_"), vector[-1:])):
            if not hasattr(attn, each):
                continue
            W, axis = getattr(attn, each), 1 if each == "W_O" else -1
            column = torch.zeros_like(W.narrow(axis, 0, 1))
            column[entry.head] = more.reshape(column.shape[1:])
            setattr(attn, each, weight(torch.cat([W, column], axis)))
    return model


def with_number(program: RegisterProgram, entry: Entry) -> RegisterProgram | None:
    """The program with the changed number, or None if the changed block is no multiple of I.

    The entry is that of a dimension d ≥ 2.
    """
    (row, _), (column, _) = entry.row, entry.column
    if any(KINDS.get(register, "scalar") == "vector" for register in (row, column)):
        return None
    layers = list(program.layers)
    layer = layers[entry.layer]
    if entry.head is None:
        layers[entry.layer] = RegisterLayer(layer.heads, layer.own, _changed(layer.mlp, entry))
    else:
        heads = list(layer.heads)
        head = heads[entry.head]
        heads[entry.head] = (
            RegisterHead(_changed(head.scores, entry), head.values)
            if entry.product == "W_Q W_Kᵀ"
            else RegisterHead(head.scores, _changed(head.values, entry))
        )
        layers[entry.layer] = RegisterLayer(tuple(heads), layer.own, layer.mlp)
    return RegisterProgram(KINDS, program.embedding, tuple(layers), program.answer, program.n)


def _changed(factors: Factors | None, entry: Entry) -> Factors:
    """The factors after the change of the block of an entry."""
    pair = entry.row[0], entry.column[0]
    number = (factors or {}).get(pair, Fraction(0)) + entry.change
    others = {each: c for each, c in (factors or {}).items() if each != pair}
    return {**others, pair: number} if number else others
