"""The tensors of a hardmax transformer over tokens as exact linear maps, for whoever translates it.

Every float64 is a rational number, so nothing is rounded.  A map applies to rows of rationals and
to rows of affine forms alike: it only adds and multiplies by weights.  A head enters as what asks,
what answers, and what it carries, W_V W_O in one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from constructions.attention import Mask
from constructions.tensors import require_finite
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, checked

Number = TypeVar("Number", bound=Any)


@dataclass(frozen=True)
class Linear:
    """x ↦ x W + b: of each column its non-zero entries, by row, and its bias."""

    columns: tuple[tuple[Fraction, tuple[tuple[int, Fraction], ...]], ...]

    @classmethod
    def of(cls, W: np.ndarray, b: np.ndarray | None = None) -> Linear:
        """From a matrix of Fractions, or of floats, which are read exactly."""
        biases = np.zeros(W.shape[1]) if b is None else b
        return cls(
            tuple(
                (
                    Fraction(bias),
                    tuple((int(r), Fraction(column[r])) for r in np.flatnonzero(column)),
                )
                for column, bias in zip(W.T, biases, strict=True)
            )
        )

    def __call__(self, row: Sequence[Number], one: Number) -> list[Number]:
        """The image of a row of numbers of which `one` is the 1."""
        found = []
        for bias, entries in self.columns:
            total = bias * one
            for place, weight in entries:
                total = total + weight * row[place]
            found.append(total)
        return found

    @property
    def read(self) -> set[int]:
        """The coordinates that it depends on."""
        return {place for _, entries in self.columns for place, _ in entries}


@dataclass(frozen=True)
class ExactHead:
    """Which tokens are seen; what asks, what answers, and what is added to the stream."""

    mask: Mask
    asks: Linear
    answers: Linear
    carries: Linear

    def seen(self, token: int, n_tokens: int) -> range:
        """The tokens that a token may attend to."""
        if self.mask == "diagonal":
            return range(token, token + 1)
        return range(
            {"causal": token + 1, "strictly causal": max(token, 1)}.get(self.mask, n_tokens)
        )


@dataclass(frozen=True)
class ExactLayer:
    """Heads, then the two maps of an MLP, if there is one.

    `read_by_itself` are the coordinates of a token before the layer that its own questions, its
    MLP, or what comes later at it depend on; `read` are those that other tokens look at, too.
    """

    heads: tuple[ExactHead, ...]
    mlp: tuple[Linear, Linear] | None
    read_by_itself: frozenset[int]

    @property
    def read(self) -> frozenset[int]:
        looked_at = (head.answers.read | head.carries.read for head in self.heads)
        return self.read_by_itself.union(*looked_at)


@dataclass(frozen=True)
class ExactModel:
    """`first[i][x]` is what token i holds at first, if it is letter x; a token that the model puts
    in front has one row.  `answer_at` is the token whose answer is asked for, the last one."""

    name: str
    vocabulary_size: int
    first: tuple[tuple[list[Fraction], ...], ...]
    front: int
    layers: tuple[ExactLayer, ...]
    unembedding: Linear
    answers: tuple[int, ...]

    @property
    def answer_at(self) -> int:
        return len(self.first) - 1

    @property
    def length(self) -> int:
        return len(self.first) - self.front


@checked
def exact_model(model: Transformer, length: Count) -> ExactModel:
    """The model on words of `length` letters, its tensors read exactly.

    Raises `ValueError` for what is no hardmax transformer over tokens, for parts that have no
    circuit here (norms; softmax, linear and ReLU attention; answers that are frequencies), and for
    a length that the model does not take.
    """
    interface, T = model.interface, length
    if not isinstance(interface, Tokens):
        raise InputError(f"{model.name} is no transformer over tokens: give one, such as hop(…)")
    least, most = interface.length or 1, interface.length or interface.max_length
    if not least <= T <= most:
        raise InputError(f"length is {T}: {model.name} takes {least} to {most} letters")
    _translatable(model)
    W_E = _exact(model.embed.W_E)
    rows = len(interface.prefix) + T
    W_pos = np.zeros((rows, model.d_model), dtype=object) + Fraction(0)
    if model.pos_embed is not None:
        W_pos = _exact(model.pos_embed.W_pos[:rows])
    letters = [[token] for token in interface.prefix]
    letters += [list(range(interface.vocabulary_size))] * T
    first = tuple(
        tuple((W_E[x] + here).tolist() for x in which)
        for which, here in zip(letters, W_pos, strict=True)
    )
    b_U = model.unembed.b_U
    unembedding = Linear.of(_exact(model.unembed.W_U), None if b_U is None else _exact(b_U))
    layers, read = list[ExactLayer](), frozenset(unembedding.read)
    for block in reversed(model.blocks):
        heads, mlp = list[ExactHead](), None
        if block.mlp is not None:
            first_map, second = (
                Linear.of(_exact(W), _exact(b))
                for W, b in (
                    (block.mlp.W_in, block.mlp.b_in),
                    (block.mlp.W_out, block.mlp.b_out),
                )
            )
            mlp, read = (first_map, second), read | first_map.read
        for h in range(block.attn.n_heads if block.attn is not None else 0):
            assert block.attn is not None
            W = {n: _exact(getattr(block.attn, n)[h]) for n in _NAMES}
            head = ExactHead(
                block.attn.masks[h],
                Linear.of(W["W_Q"], W["b_Q"]),
                Linear.of(W["W_K"], W["b_K"]),
                Linear.of(W["W_V"] @ W["W_O"]),
            )
            heads.append(head)
            read = read | head.asks.read
        layers.insert(0, ExactLayer(tuple(heads), mlp, frozenset(read)))
        read = layers[0].read
    labels = tuple(range(interface.n_answers)) + (-1,) * interface.bottom
    return ExactModel(
        model.name,
        interface.vocabulary_size,
        first,
        len(interface.prefix),
        tuple(layers),
        unembedding,
        labels,
    )


_NAMES = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")


def _translatable(model: Transformer) -> None:
    """Raise ValueError for a part that has no circuit here."""
    part = ""
    if model.ln_final is not None or any(b.ln1 or b.ln2 or b.norm for b in model.blocks):
        part = "a norm"
    for attn in model.attentions:
        if attn.normalise != "hardmax":
            part = f"{attn.normalise} attention"
        if "context-only" in attn.masks:
            part = "a mask of examples"
    if model.interface.frequencies:
        part = "frequencies for answers"
    if part:
        raise InputError(
            f"{model.name} has {part}, which is not translated: give a hardmax model, such as "
            "model.sharpened(None)"
        )


def _exact(weights: Tensor) -> np.ndarray:
    """The entries as Fractions, in an object array."""
    require_finite("the weights", weights)
    floats = weights.detach().double().cpu().numpy()
    entries = np.empty(floats.size, dtype=object)
    entries[:] = [Fraction(value) for value in floats.ravel().tolist()]
    return entries.reshape(floats.shape)
