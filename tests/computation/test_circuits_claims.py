"""The claims `hard-attention-cannot` and `constant-depth-circuits`."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from refusals import rejects

from constructions.computation import parity as parity_by_hand
from constructions.computation import semiautomaton
from constructions.computation import to_circuit as circuit_of
from constructions.computation.circuit_examples import contains_aa
from constructions.computation.hard_attention_circuit import most_gates
from constructions.computation.parity_of_retrieved import parity_of_retrieved
from theory.computation import cyclic, unary
from theory.computation.threshold_circuits import Gate
from theory.sequences import all_sequences
from verify.claim import Run
from verify.computation import constant_depth_circuits, hard_attention_cannot, to_circuit
from verify.computation.circuits_picture import draw
from verify.computation.one_layer import free_bits
from verify.computation.to_circuit import Circuits, Translated, free_symbols, translate
from verify.finding import Verdict


def contains(answers) -> Translated:
    return Translated("contains", 2, contains_aa, answers, "and-or", "2*n + 3", "3")


def in_a_row(words: np.ndarray) -> np.ndarray:
    return ((words[:, 1:] == 1) & (words[:, :-1] == 1)).any(1).astype(int)


def test_a_word_that_is_answered_otherwise_is_named():
    wrong = translate(contains(lambda words: words[:, 0]), range(1, 4))
    definition, model = to_circuit.on_all_words([wrong])
    assert (definition.verdict, model.verdict) == (Verdict.FAILS, Verdict.HOLDS)
    assert "contains_aa(max_length=3) on [1]" in definition.detail
    right = translate(contains(in_a_row), range(1, 4))
    assert next(to_circuit.on_all_words([right])).verdict is Verdict.HOLDS


def opposite(found: Circuits, n: int) -> Circuits:
    """The same, but the circuit of n symbols has the opposite answers."""
    circuit = found.circuits[n]
    other = replace(circuit, labels=tuple(1 - bit for bit in circuit.labels))
    return replace(found, circuits={**found.circuits, n: other})


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6])
def test_every_circuit_is_compared_with_both(n):
    found = [translate(contains(in_a_row), range(1, 4)), translate(contains(in_a_row), [5, 6])]
    place = int(n > 3)
    found[place] = opposite(found[place], n)
    assert [f.verdict for f in to_circuit.on_all_words(found)] == [Verdict.FAILS] * 2
    if place:
        assert to_circuit.on_long_words(Run(), found[1], 4).verdict is Verdict.FAILS


def test_long_words_are_compared_with_both():
    found = translate(contains(in_a_row), [5, 6])
    assert to_circuit.on_long_words(Run(), found, 40).verdict is Verdict.HOLDS
    always_0 = contains_aa(6)
    always_0.unembed.W_U.data *= 0
    for other in (
        replace(found, of=contains(lambda words: words[:, 0])),
        replace(found, model=always_0),
    ):
        assert to_circuit.on_long_words(Run(), other, 40).verdict is Verdict.FAILS


@pytest.mark.parametrize("size", ["11", "13", "≤ 12"])
def test_a_size_that_is_right_at_one_length_only_fails(size):
    found = [translate(contains(in_a_row), [n]) for n in (4, 5)]
    assert to_circuit.sizes(found) == {4: 11, 5: 13}
    for order in (found, found[::-1]):
        other = [replace(each, of=replace(each.of, size=size)) for each in order]
        assert to_circuit.size(other).verdict is Verdict.FAILS


def test_shorter_words_have_no_stated_size():
    found = [translate(contains(in_a_row), range(1, 6))]
    assert to_circuit.sizes(found) == {4: 11, 5: 13}
    assert to_circuit.depths(found) == {4: 3, 5: 3}


@pytest.mark.parametrize(("V", "longest", "last"), [(2, 10, 10), (3, 10, 9), (2, 4, 4), (1, 7, 7)])
def test_all_words_are_run_as_long_as_there_are_not_too_many(V, longest, last):
    of = replace(contains(in_a_row), V=V)
    assert to_circuit.shortest_words(of, longest) == range(1, last + 1)


@pytest.mark.parametrize("n", [3, 5, 7])
def test_free_symbols_of_two_in_a_row(n):
    """Fix 1 1, or every second symbol to 0."""
    found = translate(contains(in_a_row), [n])
    assert free_symbols(found) == {n: max(n - 2, (n + 1) // 2)}


def test_thresholds_are_counted():
    def counted(n):
        return parity_by_hand(n, causal=True)

    parity = Translated("p", 2, counted, lambda w: w.sum(1) % 2, "threshold", "n + 1", "2")
    found = [translate(parity, [5])]
    assert to_circuit.only_and_or(found).verdict is Verdict.FAILS
    assert to_circuit.largest_weight(found, "≤ 1").verdict is Verdict.HOLDS
    assert to_circuit.largest_weight(found, "≤ 0").verdict is Verdict.FAILS
    assert constant_depth_circuits.levels(found).verdict is Verdict.HOLDS
    assert constant_depth_circuits.levels(found).bound == 6 * 2 + 2  # of two layers, as stated
    other = translate(contains(in_a_row), [5])
    heavy = [replace(gate, weights=(2,) * len(gate.wires)) for gate in other.circuits[5].gates]
    other = replace(other, circuits={5: replace(other.circuits[5], gates=(*heavy,))})
    for both in ([found[0], other], [other, found[0]]):
        assert to_circuit.only_and_or(both).measured == 6 + 11
        assert to_circuit.largest_weight(both, "≤ 1").verdict is Verdict.FAILS
        assert to_circuit.largest_weight(both, "≤ 2*n").verdict is Verdict.HOLDS


def test_means_of_different_values_have_no_and_or_circuit():
    rejected, of_one_bit = hard_attention_cannot.rejected, hard_attention_cannot.bos_and_bit()
    assert rejected(parity_by_hand(3, causal=True), 3) == 1
    assert rejected(of_one_bit, 1) == 1
    assert of_one_bit([[0], [1]]).tolist() == [[0], [1]]
    assert circuit_of(of_one_bit, 1).answers(unary(np.array([[0], [1]]), 2)).tolist() == [0, 1]
    assert rejected(contains_aa(3), 3) == 0


def test_long_words_have_all_densities():
    rows = to_circuit.long_words(Run(), 40, 2, 100)
    assert rows.shape == (102, 40)
    ones = rows.sum(1)
    assert {0, 40} <= {*ones.tolist()}
    assert (abs(ones[:100] - 20) > 12).sum() > 10


@pytest.mark.parametrize("H", [1, 2, 3])
def test_one_layer_outputs_the_parity_of_what_its_heads_retrieve(H):
    """Heads at the positions before the last one; the last bit is the token's own."""
    n = 4
    ranks = np.array([np.roll(np.arange(n), -1 - h) for h in range(H)])
    words = all_sequences(n, 2)
    model = parity_of_retrieved(ranks, np.zeros(H, dtype=int))
    assert (model(words)[..., -1].numpy() == words[:, n - 1 - H :].sum(1) % 2).all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("ranks", "bit_weights", "name"),
    [([[0, 0]], [1], "ranks"), ([[0, 1]], [2], "bit_weights"), ([[0, 1]], [1, 1], "bit_weights")],
)
def test_heads_that_could_tie_are_rejected(ranks, bit_weights, name):
    with rejects(name):
        parity_of_retrieved(ranks, bit_weights)


@pytest.mark.parametrize(("H", "n"), [(1, 4), (2, 4), (3, 4), (2, 6)])
def test_h_heads_leave_n_minus_1_minus_h_bits_free(H, n):
    free = free_bits(H, n, 4, np.random.default_rng(0))
    assert free[0] == min(free) == n - 1 - H


def test_as_many_heads_as_other_bits_compute_parity():
    """For a number of heads that grows no bound holds: one layer, and 2^n + 2 gates."""
    for n in (2, 3, 5):
        model = semiautomaton(cyclic(2), n, radix=n)
        assert (model.n_layers, model.n_heads) == (1, n - 1)
        circuit = circuit_of(model, n, "and-or")
        assert (circuit.size, circuit.depth) == (2**n + 2, 2)
        words = all_sequences(n, 2)
        assert (circuit.answers(words) == words.sum(1) % 2).all()


@pytest.mark.parametrize("heads", [[1], [2], [1, 1], [2, 1]])
def test_the_bound_on_gates_is_polynomial_for_fixed_layers_and_heads(heads):
    """Twice as many tokens: at most 2^degree times as many gates."""
    degree = math.prod(H + 1 for H in heads)
    for N in (10, 100):
        assert most_gates(2, 2 * N, heads) <= 2**degree * most_gates(2, N, heads)


@pytest.mark.parametrize(
    ("free", "verdict"),
    [
        ({2: 0, 3: 1, 4: 2}, Verdict.HOLDS),
        ({3: 1, 4: 0, 5: 2}, Verdict.FAILS),
        ({2: 1}, Verdict.UNDECIDED),
    ],
)
def test_a_subcube_of_no_free_symbol_fails_from_three_symbols_on(free, verdict, monkeypatch):
    monkeypatch.setattr(hard_attention_cannot, "free_symbols", lambda _: free)
    found = translate(contains(in_a_row), range(1, 2))
    assert hard_attention_cannot._not_parity(found).verdict is verdict


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("more", [0, 1])
def test_one_circuit_of_more_gates_than_the_bound_fails(n, more):
    found = translate(contains(in_a_row), range(1, 4))
    bound = hard_attention_cannot._most_gates([found]).bound[n]
    circuit = replace(found.circuits[n], gates=(Gate((0,), (1,), 1),) * (bound + more))
    assert circuit.size == bound + more
    other = replace(found, circuits={**found.circuits, n: circuit})
    verdict = Verdict.FAILS if more else Verdict.HOLDS
    assert hard_attention_cannot._most_gates([other]).verdict is verdict


@pytest.mark.parametrize("more", [0, 1])
def test_one_circuit_above_the_stated_depth_fails(more, monkeypatch):
    found = translate(contains(in_a_row), range(1, 4))
    most = 6 * found.model.n_layers + 2
    monkeypatch.setattr(constant_depth_circuits, "depths", lambda _: {1: 1, 2: most + more, 3: 1})
    verdict = Verdict.FAILS if more else Verdict.HOLDS
    assert constant_depth_circuits.levels([found]).verdict is verdict


def test_the_picture_shows_gates_and_depths():
    families = {
        "first": [translate(contains(in_a_row), range(1, 8))],
        "second": [translate(contains(in_a_row), range(5, 7))],
    }
    figure = draw("contains aa", families)
    for panel, measure in zip(figure.axes, ("size", "depth"), strict=True):
        lines = {line.get_label(): line.get_xydata().tolist() for line in panel.lines}
        for label, (found,) in families.items():
            wanted = [[n, getattr(c, measure)] for n, c in found.circuits.items() if n >= 4]
            assert lines[label] == wanted
    gates, depths = (axes.get_ylim() for axes in figure.axes)
    assert gates[1] >= max(c.size for c in families["first"][0].circuits.values())
    assert depths[1] >= max(c.depth for c in families["first"][0].circuits.values())
