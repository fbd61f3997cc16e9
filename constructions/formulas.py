"""Reading the register program of a model from its tensors, exactly.

`theory.regression.register_programs` states the theorem.  Its hypotheses are read off here: the
matrices W_Q W_Kᵀ and W_V W_O of a head and W_in W_out of an MLP are computed as exact fractions,
and each block between two registers must be a multiple of the identity.  Products of matrices are
what the model depends on: the basis of keys and values within a head does not matter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from contextlib import contextmanager
from fractions import Fraction
from typing import Literal

import numpy as np
from torch import nn

from constructions.attention import Attention
from constructions.blocks import Stack, check_own_heads
from constructions.exactness import as_array
from constructions.examples import Examples, packed
from constructions.pairs import paired_heads, paired_neurons
from constructions.stream import Stream
from theory.kinds import InputError
from theory.regression.formulas import RegisterFormula, combination_text
from theory.regression.polynomial_sizes import Sizes
from theory.regression.register_programs import (
    ONE,
    Factors,
    NoFormula,
    Polynomials,
    RegisterHead,
    RegisterLayer,
    RegisterProgram,
)

MOST_BITS = 2**30  # of all coefficients of a polynomial: about ten seconds

Kinds = Mapping[str, Literal["vector", "scalar"]]
Matrix = dict[tuple[int, int], Fraction]  # the non-zero entries
HeadsAndMap = tuple[tuple[RegisterHead, ...], Factors | None]


def register_program(model: Stack, kinds: Kinds | None = None) -> RegisterProgram:
    """The program on whole registers that the tensors of a model contain.

    Registers of width d are vectors and those of width 1 are scalars. For d = 1 these widths are
    equal: `kinds` gives the kind of each register.

    Raises NoFormula, with the layer, the head and the block, for a model that is outside the
    theorem: softmax or hardmax attention, causal masks, ReLUs that do not come in pairs, layer
    norms, positions, or a block between two registers that is no multiple of the identity.
    """
    interface, stream = model.interface, model.stream
    if type(interface) is not Examples or interface.encode is not packed:
        raise NoFormula(
            f"{model.name} does not read tokens (x_i, y_i) and (x_q, 0): give a model that does, "
            "such as those of newton with the layout direct, ladder or paper"
        )
    for what, outside in {
        "divides its inputs": interface.scale != 1,
        "adds positions": model.pos_embed is not None,
        "has a final layer norm": model.ln_final is not None,
        "divides by n and takes fewer examples": interface.at_most,
    }.items():
        if outside:
            raise NoFormula(f"{model.name} {what}, which is outside the theorem")
    with _naming(model):
        reader = _Reader(stream, interface.d, kinds)
        embed, unembed = _numbers(model.embed, "embed"), _numbers(model.unembed, "unembed")
    check_own_heads(model)
    layers, known = list[RegisterLayer](), dict[Hashable, HeadsAndMap]()
    for number, block in enumerate(model.blocks, start=1):
        with _naming(model, f", layer {number}"):
            if block.norm is not None or block.ln1 is not None or block.ln2 is not None:
                raise NoFormula("a normalisation of tokens is no polynomial")
            heads, own = tuple[RegisterHead, ...](), None
            if block.attn is not None:
                weights = _arrays(block.attn, place := f"blocks.{number - 1}.attn")
                same = _identity(block.attn, weights)
                if same not in known:
                    known[same] = reader.attention(
                        block.attn, interface.n, **_finite(weights, place)
                    )
                heads, own = known[same]
            mlp = None
            if block.mlp is not None:
                mlp = reader.mlp(**_numbers(block.mlp, f"blocks.{number - 1}.mlp"))
        layers.append(RegisterLayer(heads, own, mlp))
    with _naming(model):
        embedding, answer = reader.embedding(**embed), reader.answer(**unembed)
    return RegisterProgram(reader.kinds, embedding, tuple(layers), answer, interface.n)


@contextmanager
def _naming(model: Stack, place: str = "") -> Iterator[None]:
    """NoFormula raised inside names the model and the place."""
    try:
        yield
    except NoFormula as outside:
        raise NoFormula(f"{model.name}{place}, {outside}") from None


def formulas(model: Stack) -> tuple[dict[str, RegisterFormula], ...]:
    """The formula of each register after the embedding and after each layer.

    Raises NoFormula for a model outside the theorem, and InputError for polynomials in S whose
    coefficients have more than 2³⁰ bits together.
    """
    contents = _printable(model).contents(Polynomials())
    return tuple({name: RegisterFormula(now[name]) for name in now} for now in contents)


def formula(model: Stack) -> RegisterFormula:
    """The formula xᵀ g(S) b of the prediction at a query x; raises the errors of `formulas`."""
    program = _printable(model)
    with _naming(model):
        return RegisterFormula({"x b": program.prediction(Polynomials())})


def _printable(model: Stack) -> RegisterProgram:
    """The program of a model; raises InputError if its polynomials are too long to be printed."""
    program, sizes = register_program(model), Sizes()
    with _naming(model):
        contents = [content for now in program.contents(sizes) for content in now.values()]
    every = [size for content in contents for size in content.values()]
    if any(sizes.all_bits(size) > MOST_BITS for size in every):
        degree = max(size.degree for size in every)
        shown = str(degree) if degree < 10**9 else f"at least 2^{degree.bit_length() - 1}"
        raise InputError(
            f"the formulas of {model.name} have degree {shown} in S, and more than "
            f"2^{MOST_BITS.bit_length() - 1} bits: give a model with fewer steps"
        )
    return program


def derivation(model: Stack) -> str:
    """The formulas of all registers, layer by layer, as a page of text.

    Each layer is described by its heads and the linear map of its MLP, as they are read from the
    tensors, followed by the registers that it changes. Raises the errors of `formulas`.
    """
    program = _printable(model)
    contents = program.contents(Polynomials())
    before: dict[str, RegisterFormula] = {}
    sizes = "" if program.n is None else f" It is for n = {program.n} examples."
    lines = [
        f"{model.name}, with S = XᵀX and b = Xᵀy. A token has an input x and a label y, which is 0 "
        f"for a query.{sizes} A head adds Σ_i score_i · value_i over the examples i to the "
        "registers after the arrows, where ⟨r, s⟩ has r at the token and s at the example."
    ]
    parts = ["embedding", *(f"layer {i}" for i in range(1, len(program.layers) + 1))]
    words = list[list[str]]([[], *map(_described, program.layers)])
    for part, described, each in zip(parts, words, contents, strict=True):
        now = {name: RegisterFormula(content) for name, content in each.items()}
        changed = [
            f"{name} = {now[name]}"
            for name in now
            if now[name] != before.get(name, RegisterFormula({}))
        ]
        shown = [*described, *changed]
        lines += [f"{part if i == 0 else '':10} {line}" for i, line in enumerate(shown)]
        before = now
    return "\n".join([*lines, f"prediction {formula(model)}"])


def _described(layer: RegisterLayer) -> list[str]:
    """The heads and the maps of a layer, a line for each."""
    lines = []
    for number, head in enumerate(layer.heads, start=1):
        score = {
            f"⟨{query}, {key}⟩".replace(f"⟨{ONE}, {ONE}⟩", ""): factor
            for (query, key), factor in head.scores.items()
        }
        lines.append(f"head {number}: score {combination_text(score)}, value {_moves(head.values)}")
    for what, factors in (("token itself", layer.own), ("mlp", layer.mlp)):
        if factors:
            lines.append(f"{what}: {_moves(factors)}")
    return lines


def _moves(factors: Factors) -> str:
    """A linear map of registers, as in "½u − x → u, y → s"."""
    into: dict[str, dict[str, Fraction]] = {}
    for (source, target), factor in factors.items():
        into.setdefault(target, {})["" if source == ONE else source] = factor
    return ", ".join(f"{combination_text(sources)} → {target}" for target, sources in into.items())


class _Reader:
    """The registers of a stream, and the blocks of matrices between them."""

    def __init__(self, stream: Stream, d: int, kinds: Kinds | None) -> None:
        if d == 1 and kinds is None:
            raise NoFormula("for d = 1, vector and scalar registers have the same width: use d ≥ 2")
        wrong = {name: width for name, width in stream.widths.items() if width not in (1, d)}
        if wrong:
            raise NoFormula(
                f"registers have other widths than d = {d} and 1: {wrong}; for a trained model, "
                "the nearest program is NearestProgram.of(model)"
            )
        by_width: Kinds = {
            name: "vector" if width == d else "scalar" for name, width in stream.widths.items()
        }
        self.kinds = by_width if kinds is None else kinds
        if self.kinds.keys() != stream.widths.keys():
            raise NoFormula("registers have other names than those whose kinds are given")
        self.at = [(name, i) for name, width in stream.widths.items() for i in range(width)]

    def attention(
        self,
        attn: Attention,
        n: int | None,
        W_Q: np.ndarray,
        W_K: np.ndarray,
        W_V: np.ndarray,
        W_O: np.ndarray,
        b_Q: np.ndarray,
        b_K: np.ndarray,
    ) -> HeadsAndMap:
        """The heads that attend to the examples, and the map of the heads that do not."""
        if attn.normalise not in ("linear", "relu"):
            raise NoFormula(f"{attn.normalise} attention is no polynomial of the prompt")
        scale, which = Fraction(attn.scale), list(range(attn.n_heads))
        if attn.normalise == "relu":
            if n is None:
                raise NoFormula("ReLU attention divides by a number of examples that is not known")
            which, alone = paired_heads(attn.masks, W_Q, W_K, W_V, W_O, b_Q, b_K)
            if alone:
                raise NoFormula(f"head {alone[0] + 1}: a ReLU without its opposite is not linear")
            scale /= n
        heads, own = [], dict[tuple[str, str], Fraction]()
        for h in which:
            keys = np.vstack([W_K[h], b_K[h]]).T
            products = _product(np.vstack([W_Q[h], b_Q[h]]), keys), _product(W_V[h], W_O[h])
            try:
                scores = self.blocks(products[0], "W_Q W_Kᵀ", [*self.at, (ONE, 0)])
                values = self.blocks(products[1], "W_V W_O", self.at)
            except NoFormula as outside:
                raise NoFormula(f"head {h + 1}: {outside}") from None
            scores = {pair: scale * factor for pair, factor in scores.items()}
            if attn.masks[h] == "diagonal":
                if scores.keys() - {(ONE, ONE)} or attn.normalise == "relu":
                    raise NoFormula(
                        f"head {h + 1}: the score of a token with itself is not constant"
                    )
                for pair, factor in values.items():
                    own[pair] = own.get(pair, Fraction(0)) + factor * scores.get((ONE, ONE), 0)
            elif attn.masks[h] == "context-only":
                heads.append(RegisterHead(scores, values))
            else:
                raise NoFormula(
                    f"head {h + 1}: its mask is {attn.masks[h]}, and S and b belong to all examples"
                )
        return tuple(heads), own or None

    def mlp(
        self, W_in: np.ndarray, b_in: np.ndarray, W_out: np.ndarray, b_out: np.ndarray
    ) -> Factors:
        """The map of registers that an MLP adds, if its ReLUs come in pairs."""
        neurons, alone = paired_neurons(W_in, b_in, W_out)
        constant = [neuron for neuron in alone if not W_in[:, neuron].any()]
        if len(constant) < len(alone):
            neuron = next(neuron for neuron in alone if neuron not in constant)
            raise NoFormula(f"MLP neuron {neuron + 1}: a ReLU without its opposite is not linear")
        before = np.vstack([W_in, b_in])[:, [*neurons, *constant]]
        before[-1, len(neurons) :] = before[-1, len(neurons) :].clip(min=0)
        product = _product(before, W_out[[*neurons, *constant]])
        for j, bias in enumerate(b_out.tolist()):
            where = len(before) - 1, j
            product[where] = product.get(where, Fraction(0)) + Fraction(bias)
        return self.blocks(product, "W_in W_out of the MLP", [*self.at, (ONE, 0)], self.at)

    def embedding(self, W_E: np.ndarray) -> Factors:
        """The factors from the columns x and y of a token to registers."""
        columns = [*(("x", i) for i in range(len(W_E) - 1)), ("y", 0)]
        return self.blocks(_matrix(W_E), "W_E", columns, self.at)

    def answer(self, W_U: np.ndarray, b_U: np.ndarray | None = None) -> Mapping[str, Fraction]:
        """The factors of the scalar registers in the output."""
        if W_U.shape[1] != 1:
            raise NoFormula(f"the unembedding has {W_U.shape[1]} outputs")
        found = self.blocks(_matrix(W_U), "W_U", self.at, [(ONE, 0)])
        if b_U is not None and b_U.any():
            raise NoFormula("the unembedding has a bias")
        return {register: factor for (register, _), factor in found.items()}

    def blocks(
        self,
        matrix: Matrix,
        what: str,
        rows: list[tuple[str, int]],
        columns: list[tuple[str, int]] | None = None,
    ) -> dict[tuple[str, str], Fraction]:
        """The number c of each block c·I of a matrix, by the registers of its rows and columns."""
        columns, found = rows if columns is None else columns, dict[tuple[str, str], Matrix]()
        for (i, j), value in matrix.items():
            (row, a), (column, b) = rows[i], columns[j]
            if value:
                found.setdefault((row, column), {})[a, b] = value
        heights, widths = (Counter(name for name, _ in names) for names in (rows, columns))
        factors = {}
        for (row, column), entries in found.items():
            c, width = next(iter(entries.values())), heights[row]
            if width != widths[column] or entries != {(a, a): c for a in range(width)}:
                raise NoFormula(
                    f"the block of {what} from {row} to {column} is no multiple of the identity"
                )
            factors[row, column] = c
        return factors


def _arrays(part: nn.Module, place: str) -> dict[str, np.ndarray]:
    """The weights of a part of a model, by name; `place` is the name of the part."""
    for name, W in part.named_parameters(recurse=False):
        if W.is_meta:
            raise NoFormula(f"the weight {place}.{name} has no values")
    return {name: as_array(W) for name, W in part.named_parameters(recurse=False)}


def _finite(arrays: dict[str, np.ndarray], place: str) -> dict[str, np.ndarray]:
    """The weights of a part of a model; raises NoFormula for NaN and infinite numbers."""
    for name, W in arrays.items():
        if not np.isfinite(W).all():
            raise NoFormula(f"the weight {place}.{name} contains NaN or an infinite number")
    return arrays


def _numbers(part: nn.Module, place: str) -> dict[str, np.ndarray]:
    return _finite(_arrays(part, place), place)


def _identity(attn: Attention, arrays: Mapping[str, np.ndarray]) -> Hashable:
    """An object that is equal for layers with equal heads."""
    numbers = ((name, W.shape, W.tobytes()) for name, W in arrays.items())
    return attn.normalise, attn.scale, tuple(attn.masks), *numbers


def _product(A: np.ndarray, B: np.ndarray) -> Matrix:
    """The non-zero entries of A B, computed from the exact values of the floats."""
    product: Matrix = {}
    for column, row in zip(A.T, B, strict=True):
        left, right = _entries(column), _entries(row)
        for (i, a), (j, b) in ((one, other) for one in left for other in right):
            product[i, j] = product.get((i, j), Fraction(0)) + a * b
    return {where: value for where, value in product.items() if value}


def _matrix(weights: np.ndarray) -> Matrix:
    return {(i, j): Fraction(float(weights[i, j])) for i, j in np.argwhere(weights).tolist()}


def _entries(vector: np.ndarray) -> list[tuple[int, Fraction]]:
    return [(i, Fraction(vector[i])) for i in vector.nonzero()[0].tolist()]
