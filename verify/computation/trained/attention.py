"""Words of automata, what models read at them, and models with uniform attention on them.

There are m words, in rows of N tokens. A word may begin later in its row, after tokens V, the
number of symbols, which are not symbols.  Attention patterns are between the tokens of a row,
without the prefix of a hand-built model.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import torch

from constructions.transformer import Transformer
from theory.computation import Semiautomaton
from theory.computation.cascade import NONE, cascade
from verify.interpret.interventions import patched

CHUNK = 250  # words that are run together


class Words(NamedTuple):
    """A set of m words in rows of N tokens, with the states of an automaton as labels.

    `tokens` (m, N) are the symbols 0 … V − 1 of the words, and V at places before a word. `states`
    (m, N) are the states after the symbols, and −1 elsewhere.
    """

    tokens: np.ndarray
    states: np.ndarray

    @property
    def inside(self) -> np.ndarray:
        """Whether each token is a symbol of its word, as booleans (m, N) for m words."""
        return self.states >= 0

    @property
    def last(self) -> np.ndarray:
        """The position of the last symbol of each of the m words, as integers (m,)."""
        return self.states.shape[1] - 1 - self.inside[:, ::-1].argmax(1)

    def first(self, count: int) -> Words:
        """The first `count` of the words."""
        return Words(*(each[:count] for each in self))

    def after(self, symbol: int) -> Words:
        """The same words, without labels at the first `symbol` positions."""
        later = np.arange(self.states.shape[1]) >= symbol
        return Words(self.tokens, np.where(later, self.states, -1))

    def permuted(self, rng: np.random.Generator) -> np.ndarray:
        """The tokens (m, N) of m words, with the symbols of each word in a random order."""
        places = np.arange(self.tokens.shape[1])
        keys = np.where(places > self.last[:, None], 2.0, np.where(self.inside, 0, -1.0))
        order = np.argsort(keys + self.inside * rng.random(keys.shape), axis=1, kind="stable")
        return np.take_along_axis(self.tokens, order, axis=1)


def answers(model: Transformer, tokens: np.ndarray) -> np.ndarray:
    """The outputs (m, N) of the model after each of the N tokens of m words."""
    parts = [model(tokens[i : i + CHUNK]).numpy() for i in range(0, len(tokens), CHUNK)]
    return np.concatenate(parts)


def streams_at(model: Transformer, tokens: np.ndarray, places: np.ndarray) -> np.ndarray:
    """The stream at one position of each of m words, after the embedding and after each layer.

    `places` (m,) are the positions. The result is an array (layers + 1, m, D), where D is the width
    of the stream.
    """
    front, parts = len(model.interface.prefix), []
    for i in range(0, len(tokens), CHUNK):
        at = places[i : i + CHUNK] + front
        streams = model.streams(tokens[i : i + CHUNK])
        parts.append(np.stack([H.numpy()[np.arange(len(at)), at] for H in streams]))
    return np.concatenate(parts, axis=1).astype(np.float64)


def maps(machine: Semiautomaton, words: Words, symbols: int) -> np.ndarray:
    """The state map that the last `symbols` symbols of each of m words induce, (m, states)."""
    at = words.last[:, None] + np.arange(1 - symbols, 1)
    table, images = np.array(machine.transitions), np.arange(machine.n_states)[None]
    for read in np.take_along_axis(words.tokens, at, axis=1).T:
        images = table[read[:, None], images]
    return images


def setting_symbols(machine: Semiautomaton) -> np.ndarray:
    """Whether each symbol sets the first stage of the automaton's cascade, (symbols,)."""
    table = cascade(machine).stages[0].table
    return np.array([table((a,)) != NONE for a in range(machine.n_symbols)])


def set_before(machine: Semiautomaton, words: Words) -> np.ndarray:
    """Whether each earlier symbol sets the first stage of the automaton's cascade, (m, N, N).

    The axes are the m words, the present tokens, and the earlier tokens. Present tokens are the
    symbols that do not set the stage, or all symbols if every symbol sets the stage; other entries
    are False.
    """
    setting = np.append(setting_symbols(machine), False)  # a token before a word sets nothing
    sets = setting[words.tokens] & words.inside
    rows = words.inside & (~sets | setting[:-1].all())
    return np.asarray(sets[:, None] & rows[..., None] & np.tri(sets.shape[1], k=-1, dtype=bool))


def latest(columns: np.ndarray) -> np.ndarray:
    """The last column that is true in each row of an array (…, N, N), or −1 if no column is."""
    return np.where(columns.any(-1), columns.shape[-1] - 1 - columns[..., ::-1].argmax(-1), -1)


def some(columns: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A random column that is true in each row of an array (…, N, N), or −1 if no column is."""
    return np.where(columns.any(-1), (columns * (1 - rng.random(columns.shape))).argmax(-1), -1)


def uniform(model: Transformer, layer: int, words: Words, outside: int) -> np.ndarray:
    """The uniform attention pattern over the tokens that the mask of a layer admits.

    The token `outside` gets no attention. For m words in rows of N tokens the shape is (m, front +
    N, front + N), where front is the length of the model's prefix. A row is 0 if the mask admits
    only tokens `outside`.
    """
    front, (m, N) = len(model.interface.prefix), words.tokens.shape
    attn = model.blocks[layer - 1].attn
    assert attn is not None
    hidden = attn.parts()[0].hidden(torch.zeros(front + N, front + N)).numpy()
    shown = np.concatenate([np.ones((m, front), bool), words.tokens != outside], axis=1)
    seen = shown[:, None] & ~hidden
    return np.asarray(seen / np.maximum(seen.sum(-1, keepdims=True), 1))


def with_uniform(model: Transformer, layer: int, words: Words, outside: int) -> Transformer:
    """The model with a layer whose heads all attend uniformly on the given words.

    The token `outside` gets no attention.
    """
    return patched(model, layer, uniform(model, layer, words, outside))
