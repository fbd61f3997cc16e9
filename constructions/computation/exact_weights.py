"""The exact linear maps of a hardmax transformer over tokens, for translation into circuits.

Every float64 is a rational number, so nothing is rounded.  A map only adds, and multiplies by
weights, so it applies to rows of rationals and to rows of affine forms.  A head consists of three
maps: the query, the key, and the value with the output projection (W_V W_O).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, TypeVar

import numpy as np
from torch import Tensor

from constructions.attention import Mask
from constructions.blocks import check_own_heads
from constructions.tensors import require_finite
from constructions.tokens import Tokens
from constructions.transformer import Transformer
from theory.kinds import Count, InputError, checked

Number = TypeVar("Number", bound=Any)


@dataclass(frozen=True)
class Linear:
    """An affine map x ↦ x W + b of row vectors x, stored by the columns of the matrix W.

    `columns` contains, for each coordinate of the image, its bias (the entry of b), and the pairs
    of index and value of the non-zero entries of its column of W.
    """

    columns: tuple[tuple[Fraction, tuple[tuple[int, Fraction], ...]], ...]

    @classmethod
    def of(cls, W: np.ndarray, b: np.ndarray | None = None) -> Linear:
        """The map x ↦ x W + b of row vectors x, for arrays of Fractions or of floats.

        Floats are converted exactly.
        """
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
        """The image of a row of numbers, among which `one` is the number 1."""
        found = []
        for bias, entries in self.columns:
            total = bias * one
            for place, weight in entries:
                total = total + weight * row[place]
            found.append(total)
        return found

    @property
    def read(self) -> set[int]:
        """The indices of the coordinates of the input on which the map depends."""
        return {place for _, entries in self.columns for place, _ in entries}


@dataclass(frozen=True)
class ExactHead:
    """An attention head: its mask, and its query, key and value maps of the residual stream.

    The value map includes the output projection: its matrix is the product W_V W_O.
    """

    mask: Mask
    query: Linear
    key: Linear
    value: Linear

    def seen(self, token: int, n_tokens: int) -> range:
        """The tokens to which a token may attend according to the mask."""
        if self.mask == "diagonal":
            return range(token, token + 1)
        return range(
            {"causal": token + 1, "strictly causal": max(token, 1)}.get(self.mask, n_tokens)
        )


@dataclass(frozen=True)
class ExactLayer:
    """A layer: its heads, and the two linear maps of its MLP if there is an MLP.

    `read_by_itself` contains the coordinates of a token's stream, before the layer, on which the
    queries, the MLP or the later layers of the same token depend.  `read` also contains the
    coordinates on which the keys and values for other tokens depend.
    """

    heads: tuple[ExactHead, ...]
    mlp: tuple[Linear, Linear] | None
    read_by_itself: frozenset[int]

    @property
    def read(self) -> frozenset[int]:
        looked_at = (head.key.read | head.value.read for head in self.heads)
        return self.read_by_itself.union(*looked_at)


@dataclass(frozen=True)
class ExactModel:
    """A transformer on words of one fixed length, with exact rational weights.

    `embedding[i][x]` is the residual stream of token i before layer 1 if token i is symbol x.
    `symbols[i]` is the index in the word of the symbol of token i; it is None for a token that the
    model adds, such as BOS, which has only one row.  The last answer is read at token `answered`.
    """

    name: str
    vocabulary_size: int
    embedding: tuple[tuple[list[Fraction], ...], ...]
    symbols: tuple[int | None, ...]
    answered: int
    layers: tuple[ExactLayer, ...]
    unembedding: Linear
    answers: tuple[int, ...]

    @property
    def n_symbols(self) -> int:
        """The number of symbols of a word."""
        return sum(symbol is not None for symbol in self.symbols)


@checked
def exact_model(model: Transformer, n: Count) -> ExactModel:
    """The given model, restricted to words of n symbols, with its tensors as exact rationals.

    Raises `ValueError` for a model that is not a hardmax transformer over tokens, and for a length
    n that the model does not accept.  Also raises `ValueError` for parts that are not translated:
    norms, softmax, linear or ReLU attention, and answers that are frequencies.
    """
    interface = model.interface
    if not isinstance(interface, Tokens):
        raise InputError(
            f"{model.name} is not a transformer over tokens: give a model such as hop(…)"
        )
    least, most = interface.length or interface.least, interface.length or interface.max_length
    if not least <= n <= most:
        raise InputError(f"n is {n}: give a length from {least} to {most} for {model.name}")
    _translatable(model)
    W_E, every = _exact(model.embed.W_E), range(interface.vocabulary_size)
    prompt = interface.write(np, -1 - np.arange(n))  # −1 − i stands for symbol i of the word
    tokens = prompt.tokens.tolist()
    W_pos = np.zeros((len(tokens), model.d_model), dtype=object) + Fraction(0)
    if model.pos_embed is not None:
        W_pos = _exact(model.pos_embed.W_pos[: len(tokens)])
    embedding = tuple(
        tuple((W_E[x] + here).tolist() for x in (every if token < 0 else [token]))
        for token, here in zip(tokens, W_pos, strict=True)
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
            W = {name: _exact(getattr(block.attn, name)[h]) for name in _NAMES}
            head = ExactHead(
                block.attn.masks[h],
                Linear.of(W["W_Q"], W["b_Q"]),
                Linear.of(W["W_K"], W["b_K"]),
                Linear.of(W["W_V"] @ W["W_O"]),
            )
            heads.append(head)
            read = read | head.query.read
        layers.insert(0, ExactLayer(tuple(heads), mlp, frozenset(read)))
        read = layers[0].read
    labels = tuple(range(interface.n_answers)) + (-1,) * interface.bottom
    return ExactModel(
        model.name,
        interface.vocabulary_size,
        embedding,
        tuple(-1 - token if token < 0 else None for token in tokens),
        range(len(tokens))[prompt.answers][-1],
        tuple(layers),
        unembedding,
        labels,
    )


_NAMES = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")


def _translatable(model: Transformer) -> None:
    """Raises ValueError for a part that is not translated."""
    check_own_heads(model)
    part, remedy = "", ""
    if model.ln_final is not None or any(b.ln1 or b.ln2 or b.norm for b in model.blocks):
        part, remedy = "a norm", "a model without norms"
    for attn in model.attentions:
        if attn.normalise != "hardmax":
            part = f"{attn.normalise} attention"
            remedy = "a model with hardmax attention, such as model.sharpened(None)"
        if "context-only" in attn.masks:
            part, remedy = "a context-only mask", "a model with other masks"
    if model.interface.frequencies:
        part, remedy = "frequencies as logits", "a model that does not compare frequencies"
    if part:
        raise InputError(f"{model.name} has {part}, which cannot be translated: give {remedy}")


def _exact(weights: Tensor) -> np.ndarray:
    """The entries of a tensor as Fractions, in an object array."""
    require_finite("the weights", weights)
    floats = weights.detach().double().cpu().numpy()
    entries = np.empty(floats.size, dtype=object)
    entries[:] = [Fraction(value) for value in floats.ravel().tolist()]
    return entries.reshape(floats.shape)
