"""The translation of average-hard attention into constant-depth threshold circuits.

The heads of average-hard (saturated) attention average the values of the tokens with the largest
score.  The languages of such transformers are in TC⁰ [MSS2022], also with exact rationals
[Chiang2025].  The languages of softmax transformers of logarithmic precision are in TC⁰ as well
[MS2023].  This file implements the argument for averaging heads and exact rationals, on the tensors
of a given model.  Each coordinate of the stream at a token is an affine form over wires
(`theory/computation/wiring.py`), so linear maps take no gates.

A head.  The score s_j of token j is a sum of products of forms.  The product of two forms that both
depend on the word takes an AND for each pair of wires.  Let m_j be 1 if the head attends to token
j, that is, if s_j ≥ s_j' for all j' that the mask admits:

    m_j = ∧_{j'} [s_j − s_j' ≥ 0]      (n² comparisons and n conjunctions for n tokens).

Let V_j be the value of token j.  If the scores do not depend on the word, the m_j are constants,
and averages take no gates.  If the ranges of the comparisons show that at most one m_j is 1, the
output of the head is Σ m_j V_j.  Otherwise let v_0 < v_1 < … be the possible values of the mean
M = Σ m_j V_j / Σ m_j.  Then

    M = v_0 + Σ (v_k − v_{k−1})·[M ≥ v_k],      [M ≥ v] = [Σ m_j (V_j − v) ≥ 0],

which takes no division.  A ReLU is a similar sum, relu(u) = Σ (v_k − v_{k−1})·[u ≥ v_k], where
v_0 = 0 and v_1 < v_2 < … are the positive values of u.  The answer is a conjunction of comparisons
of logits.

Depth.  Products, comparisons, conjunctions, values, means and ReLUs take one level of gates each,
so a layer takes at most 6 levels.  The unembedding takes 2 levels.  So the depth is at most 6L + 2
for L layers, at every length.

Size.  Let D be a common denominator of the coefficients of a form.  The values of the form are
multiples of 1/D in its range, which bounds their number.  If the numbers in the model are integers,
or fractions k/N, of size polynomial in n, the circuit has polynomial size.

Example.  For n ≥ 2, the two-layer transformer `parity(n, causal=True)` becomes a circuit of n + 1
gates and depth 2.  With k ones among N tokens, the scores of the second layer depend only on the
fraction k/N, so the comparisons of scores are the n thresholds [k ≥ t], t = 1 … n.  The sign that
the head retrieves is the alternating sum of these thresholds, and the last gate compares this sum
with 1.
"""

from __future__ import annotations

from functools import cache
from itertools import combinations

from constructions.computation.exact_weights import ExactHead, ExactModel
from theory.computation.threshold_circuits import ThresholdCircuit
from theory.computation.wiring import ONE, ZERO, Form, Ranges, Wiring, number
from theory.waiting import Pace

LEVELS = 6  # the largest number of levels of gates in a layer
LEVELS_TO_ANSWER = 2

Row = list[Form]


def averaging_circuit(model: ExactModel) -> ThresholdCircuit:
    """A threshold circuit, of depth at most 6L + 2, that computes the last answer of a model.

    The model has L layers.  Raises `ValueError` for a model whose
    numbers take too many values, and for a circuit of too many gates.
    """
    built = _Built(model)
    logits = model.unembedding(built.stream(len(model.layers), model.answered), ONE)
    outputs = []
    for a, logit in enumerate(logits):  # the first of equal logits is the answer
        beats = [
            built.wiring.at_least_zero(logit - other, strictly=b < a)
            for b, other in enumerate(logits)
            if a != b
        ]
        outputs.append(built.wiring.indicator(built.wiring.together(beats)))
    return built.wiring.circuit(outputs, model.answers)


class _Built:
    def __init__(self, model: ExactModel) -> None:
        self.model, self.wiring = model, Wiring(model.vocabulary_size, model.n_symbols)
        self.stream = cache(self._stream)
        tokens = len(model.embedding)
        asking = [range(tokens)] * (len(model.layers) - 1) + [[model.answered]]
        comparisons = sum(
            len(head.seen(token, tokens)) ** 2
            for step, those in zip(model.layers, asking, strict=False)  # a model may have no layers
            for head in step.heads
            for token in those
        )
        self.pace = Pace(f"the circuit of {model.name} at n = {model.n_symbols}", comparisons)

    def _stream(self, layer: int, token: int) -> Row:
        """The stream at a token after a number of layers."""
        model, wiring = self.model, self.wiring
        if layer == 0:
            rows, place = model.embedding[token], model.symbols[token]
            if place is None:
                return [number(value) for value in rows[0]]
            symbols = [wiring.symbol(place, x) for x in range(len(rows))]
            return [
                sum((row[d] * each for row, each in zip(rows, symbols, strict=True)), start=ZERO)
                for d in range(len(rows[0]))
            ]
        step = model.layers[layer - 1]
        row = before = self.stream(layer - 1, token)
        for head in step.heads:
            added = self._head(head, layer, token, before)
            row = [a + b for a, b in zip(row, added, strict=True)]
        if step.mlp is None:
            return row
        first, second = step.mlp
        hidden = [wiring.relu(form) for form in first(row, ONE)]
        return [a + b for a, b in zip(row, second(hidden, ONE), strict=True)]

    def _head(self, head: ExactHead, layer: int, token: int, row: Row) -> Row:
        """The output of a head at a token whose stream is `row`."""
        wiring, query = self.wiring, head.query(row, ONE)
        stream = [self.stream(layer - 1, j) for j in head.seen(token, len(self.model.embedding))]
        scores = [
            sum(map(wiring.product, query, head.key(other, ONE)), start=ZERO) for other in stream
        ]
        chosen = list[Ranges | None]()
        for score in scores:
            chosen.append(wiring.together(wiring.at_least_zero(score - other) for other in scores))
            self.pace.done(len(scores))
        seen = [j for j, ranges in enumerate(chosen) if ranges is not None]
        wires = [wiring.indicator(chosen[j]) for j in seen]
        values = [head.value(stream[j], ONE) for j in seen]
        count = sum(wires, start=ZERO)
        alone = all(
            wiring.exclude(chosen[i], chosen[j]) for i, j in combinations(seen, 2)
        )  # the count is then 1
        return [
            self._mean(wires, [V[d] for V in values], ONE if alone else count)
            for d in range(len(row))
        ]

    def _mean(self, wires: list[Form], values: list[Form], count: Form) -> Form:
        """The mean of the values whose wires are 1; `count` ≥ 1 is the number of these wires."""
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
