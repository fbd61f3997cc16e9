"""Attention patterns of the heads of a model over tokens, compared with a stated pattern."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Annotated, Any, TypeAlias

import numpy as np
from torch import Tensor

from constructions.tokens import in_front
from constructions.transformer import Transformer
from theory.kinds import InputError, Integers, Within, array_of, checked, shown
from verify.evidence.statistics import Mean, fraction_of
from verify.interpret.models import as_array, called, inputs_for, require_several

Sequences: TypeAlias = Annotated[Any, Integers("m T", Within(least=0))]
"""Tokens of m sequences, integers ≥ 0, shape (m, T)."""


@checked
def attention(
    model: Any,
    tokens: Sequences,
    stated: Callable[..., Any],
    patterns: Callable[..., Any] | None = None,
) -> HeadWeights:
    """The attention weight of each head on the keys of a stated pattern, on m sequences of tokens.

    `stated` is a function of the tokens (m, T) that returns a Boolean array (m, T, T), or (T, T)
    for a pattern that depends only on positions: entry (t, j) states that query t attends to key j.
    The weight of a head is the sum of its attention weights on the stated keys, averaged over the
    queries with a stated key. Its standard error is over sequences.

    The model is a transformer of this library, whose tokens in front of a sequence, such as BOS,
    are left out. For any other model, `patterns` is a function of (model, tokens) that returns the
    attention weights (m, heads, T, T) of each layer.

    Raises `ValueError` for fewer than 2 sequences, for patterns of another shape, for a stated
    pattern without keys, and in the cases in which `probe` does.
    """
    m, T = tokens.shape
    if m < 2:
        raise InputError(f"tokens has {m} sequence: give at least 2 sequences")
    wanted = array_of("the result of stated", called(stated, tokens.copy(), name="stated"))
    if wanted.dtype != bool or wanted.shape not in ((m, T, T), (T, T)):
        raise InputError(
            f"stated returns an array of {wanted.dtype} of shape {wanted.shape}: give a function "
            f"that returns Booleans of shape ({m}, {T}, {T}) or ({T}, {T})"
        )
    if not wanted.any():
        raise InputError("stated has no key for any query of these tokens: state some keys")
    wanted = np.broadcast_to(wanted, (m, T, T))
    counted, weights, uniform = np.asarray(wanted.any(-1)), {}, {}
    for layer, pattern in zip(
        _layers(model, patterns), _patterns(model, tokens, patterns), strict=False
    ):
        flat = uniform_pattern(pattern)
        uniform[layer] = fraction_of((flat * wanted).sum(-1), counted).mean
        for head in range(pattern.shape[1]):
            on_stated = (pattern[:, head] * wanted).sum(-1)
            weights[layer, head + 1] = fraction_of(on_stated, counted)
    return HeadWeights(weights, uniform)


@dataclass(frozen=True)
class HeadWeights:
    """The attention weights of heads on the keys of a stated pattern.

    `weights` has the weight of each (layer, head), both counted from 1 (layers of a model of this
    library as in `redirected`, those of `patterns` in their order), and `uniform` the weight
    that uniform attention has in each layer: over the keys up to the query if the layer attends to
    no later key, and over all keys otherwise.
    """

    weights: dict[tuple[int, int], Mean]
    uniform: dict[int, float]

    @property
    def best(self) -> tuple[int, int]:
        """The layer and head with the largest weight."""
        return max(self.weights, key=lambda each: self.weights[each].mean)

    def to_json(self) -> list[dict[str, Any]]:
        """The printed table as JSON values."""
        return [
            {"layer": layer, "head": head, **weight.value, "uniform": self.uniform[layer]}
            for (layer, head), weight in self.weights.items()
        ]

    def __str__(self) -> str:
        rows = [
            f"  layer {layer}, head {head}  {weight:.3f}  (uniform {self.uniform[layer]:.3f})"
            for (layer, head), weight in self.weights.items()
        ]
        return "\n".join(["attention weight on the stated keys", *rows])


def _layers(model: Any, patterns: Callable[..., Any] | None) -> Iterator[int]:
    """The numbers of the layers with heads, or of the given patterns, from 1."""
    if patterns is None and isinstance(model, Transformer):
        return (i for i, block in enumerate(model.blocks, start=1) if block.attn is not None)
    return count(1)


def _patterns(
    model: Any, tokens: np.ndarray, patterns: Callable[..., Any] | None
) -> Iterator[np.ndarray]:
    m, T = tokens.shape
    if patterns is None and not isinstance(model, Transformer):
        raise InputError(
            f"patterns is None, and {shown(model)} is no transformer of this library: give a "
            "function that returns its attention patterns"
        )
    given = inputs_for(model, tokens)
    found: Iterable[Any]
    if patterns is None:
        found = _without_prefix(model, *given)
    else:
        found = called(patterns, model, *given, of=model, name="patterns")
        require_several("patterns", found)
    for layer, each in enumerate(found, start=1):
        pattern = as_array(each, f"the attention pattern of layer {layer}")
        if pattern.shape != (m, *pattern.shape[1:2], T, T):
            raise InputError(
                f"the attention pattern of layer {layer} has shape {pattern.shape}: give `patterns`"
                f" of shape ({m}, heads, {T}, {T})"
            )
        yield pattern


def patterns_of(model: Transformer, tokens: np.ndarray) -> Iterator[np.ndarray]:
    """Yields the attention patterns (m, heads, T, T) of each layer with heads, for (m, T) tokens.

    Tokens that the model puts in front of a sequence, such as BOS, are left out.
    """
    for pattern in _without_prefix(model, tokens):
        yield pattern.cpu().numpy()


def _without_prefix(model: Transformer, tokens: np.ndarray) -> Iterator[Tensor]:
    front = in_front(model)
    return (pattern[..., front:, front:] for pattern in model.patterns(tokens))


def uniform_pattern(pattern: np.ndarray) -> np.ndarray:
    """Uniform attention (T, T) over earlier keys and the query, or over all if later ones count."""
    T = pattern.shape[-1]
    causal = not np.triu(pattern, 1).any()
    seen = np.tri(T) if causal else np.ones((T, T))
    return np.asarray(seen / seen.sum(-1, keepdims=True))


def attended(pattern: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The attention weight (m, heads, T) of each token on one position, for m sequences.

    `pattern` (m, heads, T, T) contains attention weights, and `places` (m, T) this position for
    each token, or −1; the weight for −1 is 0.
    """
    at = np.maximum(places, 0)[:, None, :, None]
    weights = np.take_along_axis(pattern, at, axis=-1)[..., 0]
    return np.asarray(weights * (places >= 0)[:, None])
