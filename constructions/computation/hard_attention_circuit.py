"""The translation of unique-hard attention into a circuit of AND, OR and NOT gates.

[Hao2022] show that languages of unique-hard-attention transformers are in AC⁰.  This file
implements their argument on the tensors of a given model, with fewer gates.  A *content* of a token
after a layer is a possible value of the token's stream, as exact rationals, in the coordinates that
a later layer reads.  Each content has a wire, which is 1 if the stream has this value.  The
contents of one token exclude each other.  The contents of an input token are the symbols.

A layer.  Let u be a content of the query token.  The scores of u against all contents of the tokens
that the mask admits are known when the circuit is built.  So the query token attends to token j
with content c under the condition

    attends(u; j, c) = present(u) ∧ present(j, c) ∧ ¬present(b) for every b of another token
                       of larger score

which is one AND.  If the score of a content is below the scores of all contents of some other
token, the head never attends to this content, and the content is left out.  The new content of the
query token, with the MLP applied, is a function of u and of the value of c.  The wire of a new
content is the OR over all (u; j, c) that lead to this content.  So a layer takes two levels of
gates, at every length.  The contents after the last layer are the answers, so the unembedding takes
no level.  If a layer has several heads, the value of each head is an OR of ANDs, and the
conjunction of these values is another AND, so the layer takes four levels.  If there are more than
two symbols, a symbol in the middle of the alphabet is an AND of two input bits, and symbols with
equal embeddings are joined by an OR.  This takes at most two levels before the first layer.

If tokens with different values can share the largest score, the head averages the values.  The mean
has no wire, so `hard_attention_circuit` raises ValueError.

Size.  A token has at most C₀ = V contents before layer 1.  If each of N tokens has at most C
contents before a layer of H heads, it has at most C·(N·C)^H after the layer, which has at most

    N·C·(4H·N·C + 4(N·C)^H) gates      (`most_gates`).

So N·C becomes (N·C)^(H + 1), and L layers have O(N^((H + 1)^L)) gates.  This number is polynomial
in the length for every fixed number of layers *and* of heads.  For an unbounded number of heads
this is false: one layer of n − 1 heads computes the parity of n bits (`semiautomaton(cyclic(2), n,
radix=n)`), and the circuit of this model has 2^n + 2 gates.

One layer.  The output is read at the last token.  Fix the symbol of the last token to any symbol u.
Then each of the H heads orders all pairs (token j, content c) by score.  For the pair with the
largest score, fix token j to the content c, unless j is the last token or a token of the prefix,
such as BOS.  The head attends to this token for all values of the other symbols.  So the answer is
constant on a subcube of at least n − 1 − H free symbols.  Hence one layer of H heads computes the
parity of n bits only if H ≥ n − 1.  The bound is attained.

`hard_attention_circuit` raises ValueError if a token has more than MOST_CONTENTS contents.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import product

from constructions.computation.exact_weights import ExactHead, ExactLayer, ExactModel
from theory.computation.threshold_circuits import ThresholdCircuit
from theory.computation.wiring import ONE, Form, Wiring
from theory.kinds import InputError

MOST_CONTENTS = 512  # the largest number of contents of one token after one layer

Row = tuple[Fraction, ...]
Contents = dict[Row, Form]
Terms = list[list[Form]]
"""An OR of ANDs."""


def hard_attention_circuit(model: ExactModel) -> ThresholdCircuit:
    """A circuit of AND, OR and NOT gates that computes the last answer of a model.

    The model has unique-hard attention.  Raises `ValueError` for a head that averages different
    values, and for a token whose stream can have more than 512 values.
    """
    built = _Built(model)
    answers = built.contents(len(model.layers), model.answered)
    outputs = [answers.get((Fraction(answer),), 0 * ONE) for answer in model.answers]
    return built.wiring.circuit(outputs, model.answers)


def most_gates(vocabulary_size: int, n_tokens: int, n_heads: Sequence[int]) -> int:
    """An upper bound on the number of gates of the circuit of a unique-hard-attention transformer.

    The model has N = n_tokens tokens and V = vocabulary_size symbols, and `n_heads` is the number
    of heads of each layer.  The bound is 4N·V for the symbols, plus the sum over layers of
    N·C·(4H·N·C + 4(N·C)^H).  Here H is the number of heads of the layer, and C bounds the number of
    values of a token's stream: C = V before the first layer, and a layer replaces C by C·(N·C)^H.
    Each AND, OR and range of a wire takes at most two gates.
    """
    N, C, total = n_tokens, vocabulary_size, 4 * n_tokens * vocabulary_size
    for H in n_heads:
        total += N * C * (4 * H * N * C + 4 * (N * C) ** H)
        C *= (N * C) ** H
    return total


class _Built:
    def __init__(self, model: ExactModel) -> None:
        self.model, self.wiring = model, Wiring(model.vocabulary_size, model.n_symbols)
        self.contents = cache(self._contents)

    def _contents(self, layer: int, token: int) -> Contents:
        """The contents of a token after a number of layers, with their wires."""
        model, wiring = self.model, self.wiring
        found: dict[Row, Terms] = defaultdict(list)
        if layer == 0:
            symbol = model.symbols[token]
            for x, row in enumerate(model.embedding[token]):
                here = ONE if symbol is None else wiring.symbol(symbol, x)
                found[self._read_later(row, 0)].append([here])
        else:
            step = model.layers[layer - 1]
            for u, here, own in self._queries(step, layer, token):
                for value, terms in self._mixed(step, layer, token, u, here, own):
                    after = _after_mlp(step, [a + b for a, b in zip(u, value, strict=True)])
                    found[self._read_later(after, layer)] += terms
        if len(found) > MOST_CONTENTS:
            raise InputError(
                f"a token of {model.name} has {len(found)} possible contents after layer {layer}, "
                f"more than {MOST_CONTENTS}: give a smaller length n"
            )
        return {row: self._any_of(terms) for row, terms in found.items()}

    def _queries(
        self, step: ExactLayer, layer: int, token: int
    ) -> list[tuple[Row, Form, Contents]]:
        """The contents of a query token, each with its wire and the token's contents as a key."""
        own = self.contents(layer - 1, token)
        read = step.read_by_itself
        if len({tuple(u[i] for i in read) for u in own}) == 1:
            return [(next(iter(own)), ONE, own)]  # all contents have one query
        return [(u, here, {u: ONE}) for u, here in own.items()]

    def _read_later(self, row: list[Fraction], layer: int) -> Row:
        """The coordinates of a row that later layers read; after the last layer, the answer."""
        model = self.model
        if layer == len(model.layers):
            logits = model.unembedding(row, Fraction(1))
            return (Fraction(model.answers[logits.index(max(logits))]),)
        read = model.layers[layer].read
        return tuple(value if i in read else Fraction(0) for i, value in enumerate(row))

    def _mixed(
        self, step: ExactLayer, layer: int, token: int, u: Row, here: Form, own: Contents
    ) -> Iterator[tuple[Row, Terms]]:
        """The sums of the outputs of the heads at a token of content u, with their conditions."""
        each = [self._head(head, layer, token, u, own) for head in step.heads]
        if not each:
            yield (Fraction(0),) * len(u), [[here]]
        elif len(each) == 1:
            yield from ((value, [[here, *t] for t in terms]) for value, terms in each[0].items())
        else:
            wires = [{v: self._any_of(terms) for v, terms in found.items()} for found in each]
            for values in product(*wires):
                parts = [found[v] for found, v in zip(wires, values, strict=True)]
                total = (sum(column, start=Fraction(0)) for column in zip(*values, strict=True))
                yield tuple(total), [[here, *parts]]

    def _head(
        self, head: ExactHead, layer: int, token: int, u: Row, own: Contents
    ) -> dict[Row, Terms]:
        """The outputs of a head at a token of content u, each with its OR of ANDs."""
        query = head.query(u, Fraction(1))
        levels: dict[Fraction, list[tuple[int, Form, Row, int]]] = defaultdict(list)
        for j in head.seen(token, len(self.model.embedding)):
            contents = own if j == token else self.contents(layer - 1, j)
            given = [(*self._key_and_value(head, c), present) for c, present in contents.items()]
            if all(each[:2] == given[0][:2] for each in given):
                given = [(*given[0][:2], ONE)]  # all contents have one key and value
            for key, value, present in given:
                score = sum((a * b for a, b in zip(query, key, strict=True)), start=Fraction(0))
                levels[score].append((j, present, value, len(given)))
        found: dict[Row, Terms] = defaultdict(list)
        better, listed = list[tuple[int, Form]](), dict[int, int]()
        for score in sorted(levels, reverse=True):
            level = levels[score]
            self._no_mean(level)
            for j, present, value, _ in level:
                absent = [ONE - other for i, other in better if i != j]
                found[value].append([present, *absent])
            for j, present, _, _ in level:
                better.append((j, present))
                listed[j] = listed.get(j, 0) + 1
            if any(listed[j] == count for j, _, _, count in level):
                break  # one of the contents of this token is present: no lower score matters
        return found

    def _key_and_value(self, head: ExactHead, c: Row) -> tuple[list[Fraction], Row]:
        one = Fraction(1)
        return head.key(c, one), tuple(head.value(c, one))

    def _no_mean(self, level: list[tuple[int, Form, Row, int]]) -> None:
        for place, (j, _, value, _) in enumerate(level):
            if any(i != j and other != value for i, _, other, _ in level[:place]):
                raise InputError(
                    f"a head of {self.model.name} averages tokens that share the largest score, "
                    "and only threshold gates translate averages: give gates='threshold'"
                )

    def _any_of(self, terms: Terms) -> Form:
        """The OR of ANDs, as a wire or the negation of one."""
        wiring = self.wiring
        return wiring.literal(wiring.any_of(wiring.literal(wiring.all_of(t)) for t in terms))


def _after_mlp(step: ExactLayer, row: list[Fraction]) -> list[Fraction]:
    if step.mlp is None:
        return row
    first, second = step.mlp
    hidden = [max(value, Fraction(0)) for value in first(row, Fraction(1))]
    return [a + b for a, b in zip(row, second(hidden, Fraction(1)), strict=True)]
