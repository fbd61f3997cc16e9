"""One layer of attention as a message from some tokens to the last token.

A prompt is split between Alice, who holds some tokens, and Bob, who holds the others. Bob's tokens
include the last token, whose output is the answer, and the model's prefix. In a model with one
layer of attention and a fixed last token, the score s_j and the value v_j (m numbers) of token j
depend only on its symbol and position. So the last token depends on Alice's tokens only through
these numbers of each head:

    softmax        Σ e^{s_j − r}, Σ e^{s_j − r} v_j                                   m + 1
    linear, relu   Σ s_j v_j,  Σ relu(s_j) v_j                                         m
    hardmax        the largest s_j, its multiplicity, and the sum of the v_j there     m + 2

Sums are over Alice's tokens. r is the largest score that any symbol could have at her positions, so
r does not depend on her tokens. Bob adds the sums over his tokens, divides, and computes the rest
(MLPs and the unembedding act on each token separately).  This is the reduction of [SanfordHsu2024]
and [Peng2024], carried out on the weights: scores and values are exact over Q, exponentials are
balls.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
from flint import arb, fmpq

from constructions.attention import Attention
from constructions.blocks import Block
from constructions.transformer import Transformer
from theory.kinds import Choice, Count, InputError, Integers, Within, read
from verify.domains import Ball, Domain, Rational, outputs, through, unembedding
from verify.domains.base import Entry, Matrix
from verify.evidence.formats import FORMATS

EXACT = Rational()
PRECISION = 192  # bits of the balls, far more than the longest format
WORKING = Ball.precision(PRECISION)  # without effect on rational numbers
Part = tuple[Entry, ...]  # the numbers of one head; () for hardmax without tokens
Message = tuple[Part, ...]
"""The numbers of all heads.  Messages can be compared for equality unless they contain unrounded
exponentials, which are balls."""


class Split:
    """A one-layer model with the positions of its prompt divided between Alice and Bob.

        split = Split(model, len(tokens), alice, tokens[-1])
        split.complete(split.message(tokens), tokens)       # the logits at the last position

    `alice` contains Alice's positions. The tokens at all other positions are Bob's, as is the
    prefix of the model, such as BOS. Positions count from 0, without the prefix. `message` depends
    only on Alice's tokens, and `complete` only on the message and Bob's tokens. With a
    `precision`, "bfloat16", "float16", "float32" or "float64", each number of the message is
    rounded once to this format. The result models a layer whose partial sums over Alice's tokens
    are rounded to the format, while all other numbers are exact.

    Raises ValueError for a model with zero or several layers of attention, for the mask
    "context-only", for positions that are not between 0 and n_tokens − 2, for more tokens than the
    model has positions, and for an unknown precision.
    """

    def __init__(
        self,
        model: Transformer,
        n_tokens: int,
        alice: Sequence[int],
        query: int,
        precision: str | None = None,
    ) -> None:
        self.model, self.n_tokens = model, read(Count, "n_tokens", n_tokens)
        self._before, self.attn, self._after = _parts(model)
        self.alice, self.query = tuple(alice), int(query)
        if precision is not None:
            Choice(tuple(FORMATS)).read("precision", precision)
        self.format = None if precision is None else FORMATS[precision]
        self.prefix: tuple[int, ...] = model.interface.prefix
        self.vocabulary_size: int = model.interface.vocabulary_size
        total = self.n_tokens + len(self.prefix)
        if model.pos_embed is not None and total > len(model.pos_embed.W_pos):
            raise InputError(
                f"{model.name} has {len(model.pos_embed.W_pos)} positions and the prompt has "
                f"{total} tokens: give fewer tokens"
            )
        if len({*self.alice}) < len(self.alice) or not {*self.alice} <= {*range(n_tokens - 1)}:
            raise InputError(
                f"alice holds the positions {self.alice}: give distinct positions from 0 to "
                f"{n_tokens - 2}, since the last token is Bob's"
            )
        seen = range(max(total - (self.attn.masks[0] == "strictly causal"), 1))
        self._bob = [j for j in seen if j - len(self.prefix) not in {*self.alice}]
        self._n_seen = len(seen)
        # The numbers of a head before its sums of values; the last of them is the denominator.
        self._n_weights = {"softmax": 1, "hardmax": 2}.get(str(self.attn.normalise), 0)
        self.domain: Domain = Ball() if self.attn.normalise == "softmax" else Rational()
        self._last = self._embedded([(self.query, total - 1)])
        self._heads = [self._head(h) for h in range(self.attn.n_heads)]
        self._lifted: dict[tuple[int, int], Message] = {}
        self._references = [fmpq(0)] * self.attn.n_heads
        if self.attn.normalise == "softmax" and self.alice:
            places = [j + len(self.prefix) for j in self.alice]
            pairs = [(v, j) for j in places for v in range(self.vocabulary_size)]
            of_heads = zip(*self._scores_values(pairs), strict=True)
            self._references = [max(score for score, _ in head) for head in of_heads]

    @property
    def n_numbers(self) -> int:
        """The number of numbers in a message, h(m + 1) for h softmax heads of value dimension m."""
        return self.attn.n_heads * (self.attn.W_V.shape[-1] + self._n_weights)

    @property
    def bits(self) -> int | None:
        """The number of bits of a message, or None without a precision.

        For h softmax heads of value dimension m and numbers of p' bits, a message has h(m + 1)p'
        bits.
        """
        return None if self.format is None else self.n_numbers * self.format.bits

    @property
    def nothing(self) -> Message:
        """The message of the empty set of tokens."""
        width = 0 if self.attn.normalise == "hardmax" else self.n_numbers // self.attn.n_heads
        return ((self.domain.number(0),) * width,) * self.attn.n_heads

    @WORKING
    def part(self, token: int, position: int) -> Message:
        """The unrounded message of a single token at one of Alice's positions."""
        return self._singles([(token, position + len(self.prefix))])[0]

    @WORKING
    def merge(self, one: Message, other: Message) -> Message:
        """The unrounded message of the union of two sets of tokens, from the two messages."""
        return tuple(map(self._joined, one, other))

    @WORKING
    def message(self, tokens: Sequence[int]) -> Message:
        """The message of Alice's tokens; Bob's tokens are ignored."""
        self._checked(tokens)
        heads = self._summed([(tokens[j], j + len(self.prefix)) for j in self.alice])
        return tuple(tuple(map(self._rounded, head)) for head in heads)

    @WORKING
    def complete(self, message: Message, tokens: Sequence[int]) -> list[Entry]:
        """The logits at the last position, from Alice's message and Bob's tokens."""
        self._checked(tokens)
        full = [*self.prefix, *tokens]
        heads = self.merge(message, self._summed([(full[j], j) for j in self._bob]))
        # Multiplication by the domain's 1 converts rational numbers to balls.
        H = self.domain.matrix([[self.domain.number(1) * x for x in self._last.tolist()[0]]])
        for W_O, head in zip(self.attn.W_O.numpy(force=True), heads, strict=True):
            mixed = self.domain.matrix([self._normalised(head)])
            H = H + mixed * self.domain.weights(W_O)
        *_, H = through(self._after, H, 0, self.domain)
        return unembedding(self.model, H, self.domain).tolist()[0]

    @WORKING
    def forward(self, tokens: Sequence[int]) -> list[Entry]:
        """The logits at the last position, by the model's forward pass on the whole prompt."""
        self._checked(tokens)
        return outputs(self.model, self.model.prompt(tokens), self.domain).tolist()[-1]

    def answer(self, logits: Sequence[Entry]) -> int | None:
        """The token of largest logit, −1 for ⊥, or None if the largest logits (balls) overlap."""
        place = max(range(len(logits)), key=logits.__getitem__)
        if not all(i == place or logit <= logits[place] for i, logit in enumerate(logits)):
            return None
        return place if place < self.vocabulary_size else -1

    def _checked(self, tokens: Sequence[int]) -> None:
        kind = Integers("T", Within(least=0, below=self.vocabulary_size))
        row = kind.read("tokens", list(tokens)).tolist()
        if len(row) != self.n_tokens or row[-1] != self.query:
            raise InputError(
                f"the prompt has {len(row)} tokens and ends in {row[-1]}, but this Split is for "
                f"prompts of {self.n_tokens} tokens that end in {self.query}: give such a prompt"
            )

    def _embedded(self, pairs: Sequence[tuple[int, int]]) -> Matrix:
        """The stream before the attention, over Q, for tokens at positions of the full prompt."""
        tokens, positions = map(list, zip(*pairs, strict=True))
        H = EXACT.weights(self.model.embed.W_E.numpy(force=True)[tokens])
        if self.model.pos_embed is not None:
            H = H + EXACT.weights(self.model.pos_embed.W_pos.numpy(force=True)[positions])
        *_, H = through(self._before, H, 0, EXACT)
        return H

    def _head(self, h: int) -> tuple[Matrix, Entry, Matrix]:
        """(k, c, W_V) over Q, where the last query has scores ⟨H_j, k⟩ + c and values H_j W_V."""
        W_Q, b_Q, W_K, b_K, W_V = (
            EXACT.weights(np.atleast_2d(getattr(self.attn, name)[h].numpy(force=True)))
            for name in ("W_Q", "b_Q", "W_K", "b_K", "W_V")
        )
        scale = EXACT.number(*float(self.attn.scale).as_integer_ratio())
        query = scale * (self._last * W_Q + b_Q).transpose()
        return W_K * query, (b_K * query).tolist()[0][0], W_V

    def _scores_values(self, pairs: Sequence[tuple[int, int]]) -> list[list[tuple[fmpq, Part]]]:
        """Score and value of each token at its position, for each head, over Q."""
        H, by_head = self._embedded(pairs), []
        for key, offset, W_V in self._heads:
            rows = zip((H * key).tolist(), (H * W_V).tolist(), strict=True)
            by_head.append([(score + offset, tuple(value)) for (score,), value in rows])
        return [list(row) for row in zip(*by_head, strict=True)]

    def _singles(self, pairs: Sequence[tuple[int, int]]) -> list[Message]:
        """The message of each single token; cached."""
        new = [pair for pair in dict.fromkeys(pairs) if pair not in self._lifted]
        for pair, row in zip(new, self._scores_values(new) if new else [], strict=True):
            of_heads = zip(row, self._references, strict=True)
            self._lifted[pair] = tuple(self._single(*head, r) for head, r in of_heads)
        return [self._lifted[pair] for pair in pairs]

    def _single(self, score: fmpq, values: Part, reference: fmpq) -> Part:
        """The numbers of one head for a single token with this score and value."""
        if self.attn.normalise == "hardmax":
            return (score, fmpq(1), *values)
        if self.attn.normalise == "softmax":
            power = arb(score - reference).exp()
            return (power, *(power * value for value in values))
        weight = max(score, fmpq(0)) if self.attn.normalise == "relu" else score
        return tuple(weight * value for value in values)

    def _summed(self, pairs: Sequence[tuple[int, int]]) -> Message:
        return reduce(self.merge, self._singles(pairs), self.nothing)

    def _joined(self, one: Part, other: Part) -> Part:
        if self.attn.normalise == "hardmax":
            if not one or not other or one[0] != other[0]:
                return max(one, other, key=lambda part: (len(part), part[:1]))
            return (one[0], *(a + b for a, b in zip(one[1:], other[1:], strict=True)))
        return tuple(a + b for a, b in zip(one, other, strict=True))

    def _normalised(self, part: Part) -> list[Entry]:
        count = self._n_seen if self.attn.normalise == "relu" else 1
        total = part[self._n_weights - 1] if self._n_weights else count
        return [value / total for value in part[self._n_weights :]]

    def _rounded(self, value: Entry) -> Entry:
        if self.format is None:
            return value
        ends = {self.format.round(end) for end in fractions(value)}
        if len(ends) > 1:
            raise InputError(
                f"the precision is {self.format.bits} bits, and {PRECISION}-bit balls are too wide "
                "to determine the rounded value of a sum: give Split a shorter `precision`"
            )
        (rounded,) = ends
        return fmpq(rounded.numerator, rounded.denominator)


def fractions(value: Entry) -> tuple[Fraction, ...]:
    """The fraction equal to a rational number, or the two ends of a ball as fractions."""
    if isinstance(value, fmpq):
        return (Fraction(int(value.p), int(value.q)),)
    ends = (end.man_exp() for end in (value.lower(), value.upper()))
    return tuple(int(mantissa) * Fraction(2) ** int(exponent) for mantissa, exponent in ends)


def _parts(model: Transformer) -> tuple[list[Block], Attention, list[Block]]:
    """The blocks before the attention layer, the attention layer, and the blocks after it."""
    layers = [(i, block.attn) for i, block in enumerate(model.blocks) if block.attn is not None]
    if len(layers) != 1:
        raise InputError(
            f"{model.name} has {len(layers)} layers of attention, and Alice's message is defined "
            "for one layer: give a model with one layer of attention"
        )
    blocks, ((i, attn),) = list(model.blocks), layers
    if set(attn.masks) not in ({"full"}, {"causal"}, {"strictly causal"}):
        raise InputError(
            f"{model.name} has the mask '{attn.masks[0]}': give a model whose mask is full, causal "
            "or strictly causal"
        )
    if any(block.ln1 is not None for block in blocks):
        raise InputError(
            f"{model.name} has a layer norm, and the output of a layer norm is not rational: give "
            "a model without a layer norm before the heads"
        )
    after = Block(None, blocks[i].mlp, norm=blocks[i].norm, ln2=blocks[i].ln2)
    return blocks[:i], attn, [after, *blocks[i + 1 :]]
