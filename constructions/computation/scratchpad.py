"""Every semiautomaton in one layer of one head, with the states as a chain of thought.

BOS is at position 0, the symbols x₁ … x_T are at 1 … T, the start state q₀ is at T + 1, and the
decoded state q_i is at T + 1 + i.  At position t = T + 1 + i the next state is q_i · x_{i+1}, the
state to which symbol x_{i+1} leads from q_i.  This symbol is at position t − T, so no pointer is
needed.

One head looks up position a = t − T, by positions j and their squares:

    score 2a·j − j² = a² − (a − j)²        largest at j = a, by at least 1; for a < 0 at j = 0

The head adds the symbol at this position to `symbol`, which is 0 at a state.  The MLP has a ReLU
for each state q and symbol x, relu([q] + [x] − 1), which is 1 where both occur and 0 elsewhere.
This ReLU replaces the one-hot code of q by that of q · x in `state`.  At the symbols of the word
a ≤ 0, so the head finds BOS, which has no symbol, and all ReLUs are 0.

The logits of the states are 2·state, and the logit of ⊥ is 1.  So ⊥ is the output at the symbols of
the word.

A word of T symbols takes T decoded states and depth 1, for every automaton.  This includes automata
without a shortcut (see `shortcut.py`), such as A5.  With softmax the states are right if the
sharpness gives the fetched symbol more than half of the weight.  Decoded tokens have no error, so
errors do not accumulate.
"""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.primitives import Table
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, placed, sizes
from constructions.transformer import Transformer
from theory.computation.benchmark_automata import Automaton
from theory.computation.semiautomata import Semiautomaton, written_next
from theory.kinds import Count, InputError, Integers, Positive, Within


class Scratchpad(Tokens):
    """The interface of a model that decodes the states of an automaton as a chain of thought.

    The first tokens are the symbols, and the next tokens are the states.
    """

    def __init__(self, automaton: Semiautomaton, length: int) -> None:
        symbols, V = automaton.n_symbols, automaton.n_symbols + automaton.n_states
        slots = [range(symbols)] * length + [range(symbols, V)] * length
        super().__init__(V, 2 * length, prefix=(V,), slots=slots, margin=1.0, bottom=True)
        self.automaton, self.word_length = automaton, length

    def prompt(self, words: ArrayLike) -> np.ndarray:
        """The prompts (…, T + 1) for words (…, T): the symbols, followed by the start state.

        T is the length for which the model was built.  Raises ValueError for symbols that the
        automaton does not have, and for words of another length.
        """
        symbols = Within(least=0, below=self.automaton.n_symbols)
        array = Integers(f"... {self.word_length}", symbols).read("words", words)
        start = np.full((*array.shape[:-1], 1), self.automaton.n_symbols + self.automaton.start)
        return np.concatenate([array, start], axis=-1)

    def states(self, tokens: ArrayLike) -> np.ndarray:
        """The states of the automaton, as numbers, that decoded tokens represent.

        Raises ValueError for a token that is not a state.
        """
        symbols = self.automaton.n_symbols
        numbers = Within(least=0, below=symbols + self.automaton.n_states)
        array = Integers("... T", numbers).read("tokens", tokens)
        if (array < symbols).any():
            raise InputError(
                f"token {array[array < symbols].flat[0]} is a symbol, not a state: give tokens "
                "that generate(…) returns, "
                f"from {symbols} to {symbols + self.automaton.n_states - 1}"
            )
        return array - symbols


@construction
def scratchpad(
    automaton: Automaton, length: Count, *, sharpness: Positive | None = None
) -> Transformer:
    """Returns a model that computes the states of an automaton as a chain of thought.

    For a word of T = `length` symbols, the states after 1, …, T symbols are

        model.interface.states(model.generate(model.interface.prompt(word), T))

    The model has 1 layer, 1 head, width |Q| + |Σ| + 2 and |Q||Σ| ReLUs, where Q are the states and
    Σ the symbols of the automaton.

    With a `sharpness` β, attention is softmax at inverse temperature β; otherwise it is hardmax.
    Raises ValueError for a sharpness at which answers could be wrong.
    """
    symbols, n = automaton.n_symbols, automaton.n_states
    V, T = sizes(symbols + n, length)
    stream = Stream(symbol=symbols, state=n, j=1, square=1)
    stream.fits(1, neurons=symbols * n)
    symbol, state, j, square = map(stream.read, stream)
    here = np.arange(2 * T + 1)
    head = placed(j - float(T) * one, (j, square), symbol, "symbol")
    pairs = [(q, x) for q in range(n) for x in range(symbols)]
    at, by = np.array(pairs).T
    to = np.array([automaton.transitions[x][q] for q, x in pairs])
    moved = np.eye(n)[to] - np.eye(n)[at]
    table = Table((state, symbol), np.hstack([np.eye(n)[at], np.eye(symbols)[by]]), moved, "state")
    unembedding = Map(np.pad(2.0 * np.eye(n), ((0, 0), (symbols, 1))), "2·tokens")
    return Transformer(
        Embed(rows(stream, symbol=np.eye(V + 1, symbols), state=np.eye(V + 1, n, -symbols))),
        [block(stream, [head], [table], normalise="hardmax", mask="causal")],
        unembed(stream, state @ unembedding, bias=np.eye(V + 1)[V]),
        pos_embed=PosEmbed(rows(stream, j=here, square=here**2)),
        interface=Scratchpad(automaton, T),
        stream=stream,
        stages=(Stage(1, "state", partial(_next, automaton)),),
        at_most={"symbol": 2.0, "state": 1.0},
        source="[Li2024] for chains of thought; these weights: weightwright",
    ).sharpened(sharpness)


def _next(automaton: Semiautomaton, tokens: np.ndarray) -> np.ndarray:
    """The next state, one-hot, at each state; 0 at symbols."""
    codes = np.vstack([np.eye(automaton.n_states), np.zeros(automaton.n_states)])
    return codes[np.maximum(written_next(automaton, tokens) - automaton.n_symbols, -1)]
