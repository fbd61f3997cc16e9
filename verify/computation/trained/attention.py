"""What heads of trained and built models of automata look at, and what they say of other places.

Shape glossary: m words in rows of N tokens; a word may begin later in its row, after tokens V that
are no symbols.  Patterns are between the tokens of a row, without those that a built model writes
in front.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
import torch

from constructions.trained import Attends, LooksAt
from constructions.transformer import Transformer
from theory.computation import Semiautomaton
from theory.computation.cascade import NONE, cascade

CHUNK = 250  # words that are run at once


class Words(NamedTuple):
    """Symbols (m, N), V before a word, and the states after them, −1 outside of it."""

    tokens: np.ndarray
    states: np.ndarray

    @property
    def inside(self) -> np.ndarray:
        """Which tokens are symbols of the word, (m, N)."""
        return self.states >= 0

    @property
    def last(self) -> np.ndarray:
        """Where the word ends, (m,)."""
        return self.states.shape[1] - 1 - self.inside[:, ::-1].argmax(1)

    def first(self, count: int) -> Words:
        """So many of them."""
        return Words(*(each[:count] for each in self))

    def after(self, symbol: int) -> Words:
        """Where the first symbols of rows, so many, are not asked about."""
        later = np.arange(self.states.shape[1]) >= symbol
        return Words(self.tokens, np.where(later, self.states, -1))

    def permuted(self, rng: np.random.Generator) -> np.ndarray:
        """The tokens with the symbols of each word in a random order, (m, N)."""
        places = np.arange(self.tokens.shape[1])
        keys = np.where(places > self.last[:, None], 2.0, np.where(self.inside, 0, -1.0))
        order = np.argsort(keys + self.inside * rng.random(keys.shape), axis=1, kind="stable")
        return np.take_along_axis(self.tokens, order, axis=1)


def answers(model: Transformer, tokens: np.ndarray) -> np.ndarray:
    """What the model says after each token, (m, N)."""
    parts = [model(tokens[i : i + CHUNK]).numpy() for i in range(0, len(tokens), CHUNK)]
    return np.concatenate(parts)


def streams_at(model: Transformer, tokens: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The stream at one place of each word after embedding and layers, (layers + 1, m, D)."""
    front, parts = len(model.interface.prefix), []
    for i in range(0, len(tokens), CHUNK):
        at = places[i : i + CHUNK] + front
        streams = model.streams(tokens[i : i + CHUNK])
        parts.append(np.stack([H.numpy()[np.arange(len(at)), at] for H in streams]))
    return np.concatenate(parts, axis=1).astype(np.float64)


def patterns(model: Transformer, tokens: np.ndarray) -> Iterator[np.ndarray]:
    """The patterns (m, heads, N, N) of each layer."""
    front = len(model.interface.prefix)
    for block, H in zip(model.blocks, model.streams(tokens), strict=False):
        assert block.attn is not None
        seen = H if block.ln1 is None else block.ln1(H)
        yield block.attn.pattern(seen, 0).numpy()[..., front:, front:]


def attended(pattern: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The attention (m, heads, N) of each token at its place (m, N), 0 where that is −1."""
    at = np.maximum(places, 0)[:, None, :, None]
    shares = np.take_along_axis(pattern, at, axis=-1)[..., 0]
    return np.asarray(shares * (places >= 0)[:, None])


def maps(machine: Semiautomaton, words: Words, symbols: int) -> np.ndarray:
    """Where the last symbols of each word, so many, send every state, (m, states)."""
    at = words.last[:, None] + np.arange(1 - symbols, 1)
    table, images = np.array(machine.transitions), np.arange(machine.n_states)[None]
    for read in np.take_along_axis(words.tokens, at, axis=1).T:
        images = table[read[:, None], images]
    return images


def giving(machine: Semiautomaton) -> np.ndarray:
    """Which symbols give something to the first stage of the automaton's cascade, (symbols,)."""
    table = cascade(machine).stages[0].table
    return np.array([table((a,)) != NONE for a in range(machine.n_symbols)])


def gave_before(machine: Semiautomaton, words: Words) -> np.ndarray:
    """Which earlier symbols of the word (columns) gave something, for the symbols that do not,
    or, where every symbol does, for all: (m, N, N)."""
    gives = np.append(giving(machine), False)  # the token before a word gives nothing
    gave = gives[words.tokens] & words.inside
    asks = words.inside & (~gave | gives[:-1].all())
    return np.asarray(gave[:, None] & asks[..., None] & np.tri(gave.shape[1], k=-1, dtype=bool))


def latest(gave: np.ndarray) -> np.ndarray:
    """The latest of these (m, N, N) for each token, −1 where there is none."""
    return np.where(gave.any(-1), gave.shape[-1] - 1 - gave[..., ::-1].argmax(-1), -1)


def some(gave: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random one of these for each token, −1 where there is none."""
    return np.where(gave.any(-1), (gave * (1 - rng.random(gave.shape))).argmax(-1), -1)


def even(model: Transformer, layer: int, words: Words, outside: int) -> np.ndarray:
    """The even pattern over all that a head of the layer may see, but the token `outside` of the
    rows: (m, front + N, front + N), 0 where it sees nothing else."""
    front, (m, N) = len(model.interface.prefix), words.tokens.shape
    attn = model.blocks[layer - 1].attn
    assert attn is not None
    hidden = attn.parts()[0].hidden(torch.zeros(front + N, front + N)).numpy()
    shown = np.concatenate([np.ones((m, front), bool), words.tokens != outside], axis=1)
    seen = shown[:, None] & ~hidden
    return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))


def changed(model: Transformer, layer: int, change: Any) -> Transformer:
    """The same weights, but with change(heads) in the place of a layer's heads."""
    copy = deepcopy(model, {id(weights): weights for weights in model.parameters()})
    block = copy.blocks[layer - 1]
    block.attn = change(block.attn)
    return copy


def looking_at(model: Transformer, layer: int, places: np.ndarray) -> Transformer:
    """All heads of a layer look at these tokens (m, N) of these words; −1 leaves them alone."""
    front = len(model.interface.prefix)
    moved = np.where(places >= 0, places + front, -1)
    filled = np.pad(moved, ((0, 0), (front, 0)), constant_values=-1)
    return changed(model, layer, lambda heads: LooksAt(heads, filled))


def made_even(model: Transformer, layer: int, words: Words, outside: int) -> Transformer:
    """All heads of a layer attend evenly, as `even`, for these words."""
    return changed(model, layer, lambda heads: Attends(heads, even(model, layer, words, outside)))
