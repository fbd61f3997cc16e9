"""Averaging hard attention is thresholds, in constant depth: numbers as affine forms over wires.

Languages of saturated transformers, whose heads average the tokens of largest score, are in TC⁰
[MSS2022], also with exact rationals [Chiang2025], as are those of softmax transformers of
logarithmic precision [MS2023].  This is the argument for averaging heads and exact rationals, on
the tensors of a given model.  A coordinate of a token is an affine form over wires
(`theory/computation/wiring.py`); what is linear in the model costs nothing.

A head.  Scores s_j are sums of products of forms: of two forms that both depend on the word, an AND
for each pair of wires.  Token j is attended to if s_j ≥ s_j' for all j' that are seen,

    m_j = ∧_{j'} [s_j − s_j' ≥ 0]      n² comparisons, and n conjunctions of them

which is a constant where scores do not depend on the word: averages over such tokens are free.
Where no two m_j can hold together, by the ranges of their comparisons, the head carries Σ m_j V_j.
Else the mean M = Σ m_j V_j / Σ m_j is a staircase over the values v_1 < v_2 < … it may take,

    v_0 + Σ (v_k − v_{k−1})·[M ≥ v_k],      [M ≥ v] = [Σ m_j (V_j − v) ≥ 0]

without a division.  The MLP is a staircase too, relu(u) = Σ (v_k − v_{k−1})·[u ≥ v_k] over the
positive values of u.  The answer is a conjunction of comparisons of logits.

Levels of gates: products 1, comparisons 1, conjunctions 1, values 1, means 1, ReLUs 1, at most 6 a
layer; the unembedding 2.  So the depth is at most 6·layers + 2, at every length.  A form takes at
most as many values as there are integers in its range, over a common denominator; where the
model's numbers are whole, or shares k/N, of a size polynomial in n, so is the circuit.

Parity in two layers (`parity(n, causal=True)`) becomes n + 1 gates in depth 2, n ≥ 2: scores of the
second layer depend on the share k/N alone, so that their comparisons are the n thresholds [k ≥ t];
the sign that is found is their alternating sum, and the last gate is its comparison with 1.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

from constructions.computation.exact_weights import ExactHead, ExactModel
from theory.computation.threshold_circuits import ThresholdCircuit
from theory.computation.wiring import ONE, ZERO, Form, Wiring, number

LEVELS = 6  # of gates, at most, for a layer
LEVELS_TO_ANSWER = 2

Row = list[Form]


def averaging_circuit(model: ExactModel) -> ThresholdCircuit:
    """The circuit of threshold gates that outputs the answer at the last token, of depth at most
    6·layers + 2.

    Raises `ValueError` for a model whose numbers take too many values, and for too many gates.
    """
    built = _Built(model)
    logits = model.unembedding(built.held(len(model.layers), model.answer_at), ONE)
    outputs = []
    for a, logit in enumerate(logits):  # the first of equal ones is the answer
        beats = [
            built.wiring.at_least_zero(logit - other, strictly=b < a)
            for b, other in enumerate(logits)
            if a != b
        ]
        outputs.append(built.wiring.indicator(built.wiring.together(beats)))
    return built.wiring.circuit(outputs, model.answers)


class _Built:
    def __init__(self, model: ExactModel) -> None:
        self.model, self.wiring = model, Wiring(model.length, model.vocabulary_size)
        self.held = cache(self._held)

    def _held(self, layer: int, token: int) -> Row:
        """What a token holds after so many layers."""
        model, wiring = self.model, self.wiring
        if layer == 0:
            rows = model.first[token]
            if token < model.front:
                return [number(value) for value in rows[0]]
            letters = [wiring.letter(token - model.front, x) for x in range(len(rows))]
            return [
                sum((row[d] * each for row, each in zip(rows, letters, strict=True)), start=ZERO)
                for d in range(len(rows[0]))
            ]
        step = model.layers[layer - 1]
        row = before = self.held(layer - 1, token)
        for head in step.heads:
            added = self._head(head, layer, token, before)
            row = [a + b for a, b in zip(row, added, strict=True)]
        if step.mlp is None:
            return row
        first, second = step.mlp
        hidden = [wiring.relu(form) for form in first(row, ONE)]
        return [a + b for a, b in zip(row, second(hidden, ONE), strict=True)]

    def _head(self, head: ExactHead, layer: int, token: int, row: Row) -> Row:
        """What a head adds to a token that holds row."""
        wiring, asks = self.wiring, head.asks(row, ONE)
        held = [self.held(layer - 1, j) for j in head.seen(token, len(self.model.first))]
        scores = [
            sum(map(wiring.product, asks, head.answers(other, ONE)), start=ZERO) for other in held
        ]
        chosen = [
            wiring.together(wiring.at_least_zero(s - other) for other in scores) for s in scores
        ]
        seen = [j for j, ranges in enumerate(chosen) if ranges is not None]
        wires = [wiring.indicator(chosen[j]) for j in seen]
        values = [head.carries(held[j], ONE) for j in seen]
        count = sum(wires, start=ZERO)
        alone = all(
            wiring.exclude(chosen[i], chosen[j]) for i, j in combinations(seen, 2)
        )  # the count is then 1
        return [
            self._mean(wires, [V[d] for V in values], ONE if alone else count)
            for d in range(len(row))
        ]

    def _mean(self, wires: list[Form], values: list[Form], count: Form) -> Form:
        """The mean of the values whose wires are 1; so many are, at least one."""
        wiring = self.wiring
        if not any(V.terms or V.constant for V in values):
            return ZERO
        total = sum(map(wiring.product, wires, values), start=ZERO)
        if count.is_constant:
            return (1 / count.constant) * total
        ends = list(map(wiring.bounds, values))
        least, most = min(low for low, _ in ends), max(high for _, high in ends)
        sizes = range(1, len(values) + 1)
        found = {a / c for a in wiring.values(total) for c in sizes}
        steps = [least, *sorted(v for v in found if least < v <= most)]
        return wiring.staircase(steps, [total - v * count for v in steps[1:]])
