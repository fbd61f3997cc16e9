"""Circuits of threshold gates, forms over their wires, and constant subcubes."""

from __future__ import annotations

from contextlib import nullcontext
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from theory.computation import Subcube, ThresholdCircuit, largest_constant_subcube, unary, wiring
from theory.computation.threshold_circuits import Gate
from theory.computation.wiring import ONE, ZERO, Form, Wiring, number
from theory.sequences import all_sequences

AND, OR = Gate((0, 1), (1, 1), 2), Gate((0, 1), (1, 1), 1)
XOR = ThresholdCircuit(2, (OR, AND, Gate((2, 3), (1, -1), 1)), (4, ~4), (1, 0))

ARRAY_IN_ARRAY = np.array([1, None])
ARRAY_IN_ARRAY[1] = np.zeros(2)


def test_the_answer_of_a_circuit_is_one_of_its_labels():
    words = all_sequences(2, 2)
    assert XOR(words).tolist() == [[False, True], [True, False], [True, False], [False, True]]
    assert XOR.answers(words).tolist() == [0, 1, 1, 0]
    assert XOR.answers([1, 0]) == 1
    assert (XOR.size, XOR.depth, XOR.largest_weight, XOR.connections) == (3, 2, 1, 6)
    assert XOR.kinds == {"and": 2, "or": 1, "threshold": 0}
    assert str(XOR) == "2 bits, 3 gates (2 and, 1 or), depth 2"
    assert str(XOR.gates[2]) == "[1·w2 − 1·w3 ≥ 1]"


@pytest.mark.parametrize(
    ("weights", "threshold", "kind"),
    [
        ((1, 1, 1), 3, "and"),
        ((1, -1, 1), 2, "and"),
        ((-1, -1), 0, "and"),
        ((1, 1), 1, "or"),
        ((1, -1, -1), -1, "or"),
        ((1, 1, 1), 2, "threshold"),
        ((2, 1), 3, "threshold"),
    ],
)
def test_kinds_of_gates_are_what_they_compute(weights, threshold, kind):
    gate = Gate(tuple(range(len(weights))), weights, threshold)
    assert gate.kind == kind
    bits = all_sequences(len(weights), 2)
    literals = np.where(np.array(weights) > 0, bits, 1 - bits)
    outputs = ThresholdCircuit(len(weights), (gate,), (len(weights),), (1,))(bits)[:, 0]
    if kind != "threshold":
        assert (outputs == (literals.all(1) if kind == "and" else literals.any(1))).all()


def test_constants_are_no_gates_and_have_no_depth():
    circuit = ThresholdCircuit(1, (Gate((), (), 0), Gate((), (), 1)), (1, 2, 0), (1, 2, 3))
    assert (circuit.size, circuit.depth, circuit.largest_weight) == (0, 0, 0)
    assert circuit([[0], [1]]).tolist() == [[True, False, False], [True, False, True]]
    with rejects("output"):
        circuit.answers([1])


def test_weights_beyond_int64_are_exact():
    gate = Gate((0, 1), (2**70, -(2**70) + 1), 1)
    circuit = ThresholdCircuit(2, (gate,), (2,), (1,))
    assert circuit(all_sequences(2, 2))[:, 0].tolist() == [False, False, True, True]


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Gate((0,), (1, 1), 1), "wires weights"),
        (lambda: Gate((0, 0), (1, 1), 1), "wires"),
        (lambda: Gate((0,), (0,), 1), "weights 0"),
        (lambda: ThresholdCircuit(1, (Gate((1,), (1,), 1),), (1,), (1,)), "gates wires"),
        (lambda: ThresholdCircuit(1, (), (1,), (1,)), "outputs"),
        (lambda: ThresholdCircuit(1, (), (0,), ()), "outputs labels"),
        (lambda: ThresholdCircuit(1, (), (), ()), "outputs labels"),
        (lambda: XOR([0, 1, 0]), "bits"),
        (lambda: XOR([0, 2]), "bits"),
        (lambda: XOR(1), "bits"),
        (lambda: XOR.answers(ARRAY_IN_ARRAY), "bits"),
        (lambda: Wiring(2, 0), "n"),
        (lambda: Wiring(0, 1), "vocabulary_size"),
    ],
)
def test_bad_circuits_are_rejected(make, names):
    with rejects(*names.split()):
        make()


def test_symbols_are_bits_in_unary():
    assert unary([[0, 1, 2]], 3).astype(int).tolist() == [[0, 0, 1, 0, 1, 1]]
    words = all_sequences(3, 2)
    assert (unary(words, 2) == words).all()


def evaluated(made: Wiring, form: Form, V: int, length: int) -> list[Fraction]:
    """The form's value on all words, by evaluating every gate."""
    bits = unary(all_sequences(length, V), V).astype(object)
    wires = list(bits.T)
    for gate in made.gates:
        read = [c * wires[w] for c, w in zip(gate.weights, gate.wires, strict=True)]
        total = sum(read, start=np.zeros(len(bits), dtype=object))
        wires.append((total >= gate.threshold).astype(int).astype(object))
    total = np.full(len(bits), form.constant, dtype=object)
    for wire, c in form.terms.items():
        total = total + c * wires[wire]
    return total.tolist()


coefficients = st.fractions(min_value=-3, max_value=3, max_denominator=3)


KINDS = "sum", "compare", "strictly", "product", "relu"
steps = st.tuples(
    st.sampled_from(KINDS), st.integers(0, 99), st.integers(0, 99), *[coefficients] * 3
)
programs = st.tuples(
    st.sampled_from([(2, 3), (3, 2), (2, 1), (4, 2)]), st.lists(steps, min_size=1, max_size=5)
)


def run(program):
    """A wiring, and forms over it, some of which compare, multiply or rectify earlier ones."""
    (V, length), steps = program
    made = Wiring(V, length)
    forms, wanted = [], []
    words = all_sequences(length, V)
    for token in range(length):
        for x in range(V):
            forms.append(made.symbol(token, x))
            wanted.append([Fraction(int(word[token] == x)) for word in words])
    for kind, i, j, a, b, k in steps:
        i, j = i % len(forms), j % len(forms)
        total = a * forms[i] + b * forms[j] + number(k)
        values = [a * x + b * y + k for x, y in zip(wanted[i], wanted[j], strict=True)]
        if kind == "product":
            total = made.product(forms[i], forms[j])
            values = [x * y for x, y in zip(wanted[i], wanted[j], strict=True)]
        elif kind == "relu":
            total, values = made.relu(total), [max(v, Fraction(0)) for v in values]
        elif kind in ("compare", "strictly"):
            strictly = kind == "strictly"
            total = made.indicator(made.at_least_zero(total, strictly=strictly))
            values = [Fraction(int(v > 0 or (v == 0 and not strictly))) for v in values]
        forms.append(total)
        wanted.append(values)
    return made, V, length, forms, wanted


@given(programs)
@settings(max_examples=20, deadline=None)
def test_forms_have_their_values_and_lie_within_their_bounds(program):
    made, V, length, forms, wanted = run(program)
    for form, values in zip(forms, wanted, strict=True):
        assert evaluated(made, form, V, length) == values
        least, most = made.bounds(form)
        assert least <= min(values)
        assert max(values) <= most
        assert {*values} <= {*made.values(form)}


@given(programs, st.tuples(*[st.integers(0, 99)] * 4))
@settings(max_examples=15, deadline=None)
def test_conjunctions_and_what_is_seen_to_exclude(program, drawn):
    made, V, length, forms, wanted = run(program)
    picks = [each % len(forms) for each in drawn]
    conditions = [made.at_least_zero(forms[i] - number(Fraction(1, 2))) for i in picks]
    truths = [[v >= Fraction(1, 2) for v in wanted[i]] for i in picks]
    one, other = (made.together(conditions[at : at + 2]) for at in (0, 2))
    truth = [all(row) for row in zip(*truths[:2], strict=True)]
    rest = [all(row) for row in zip(*truths[2:], strict=True)]
    assert evaluated(made, made.indicator(one), V, length) == truth
    if made.exclude(one, other):
        assert not any(a and b for a, b in zip(truth, rest, strict=True))
    bits = [made.indicator(c) for c in conditions]
    either = [any(row) for row in zip(*truths, strict=True)]
    assert evaluated(made, made.any_of(bits), V, length) == either
    circuit = made.circuit([made.any_of(bits), made.indicator(one)], (0, 1))
    outputs = circuit(unary(all_sequences(length, V), V))
    assert outputs[:, 0].tolist() == either
    assert outputs[:, 1].tolist() == truth


def test_comparisons_of_one_sum_share_their_gates():
    made = Wiring(2, 4)
    count = sum((made.symbol(i, 1) for i in range(4)), start=ZERO)
    half = made.indicator(made.at_least_zero(count - number(2)))
    assert made.indicator(made.at_least_zero(3 * count - number(4))) == half  # rounded up
    assert made.indicator(made.at_least_zero(number(1) - count)) == ONE - half
    three = made.indicator(made.at_least_zero(count - number(3)))
    assert made.product(half, three) == three  # of one chain: no AND
    assert made.all_of([half, ONE - three]) == half - three  # exactly two
    assert len(made.gates) == 2
    assert made.values(half + three) == [0, 1, 2]


def test_steps_of_one_sum_stay_in_its_chain():
    """A clipped sum [S ≥ 4] + … + [S ≥ 6] and [S ≥ 2]: their product takes no AND."""
    made = Wiring(2, 6)
    count = sum((made.symbol(i, 1) for i in range(6)), start=ZERO)
    clipped = made.relu(count - number(3))
    two = made.indicator(made.at_least_zero(count - number(2)))
    assert made.product(clipped, two) == clipped
    assert made.values(clipped + two) == [0, 1, 2, 3, 4]
    assert [gate.threshold for gate in made.gates] == [4, 5, 6, 2]


def test_a_gate_is_compared_as_the_sum_that_it_compares():
    made = Wiring(2, 3)
    count = sum((made.symbol(i, 1) for i in range(3)), start=ZERO)
    two = made.indicator(made.at_least_zero(count - number(2)))
    reached, missed = (made.at_least_zero(f) for f in (count - number(2), number(1) - count))
    for form, positive, at_least_zero in (
        (number(0), None, {}),
        (two, reached, {}),
        (two - ONE, None, reached),
        (ONE - two, missed, {}),
        (ZERO - two, None, missed),
    ):
        assert made.at_least_zero(form, strictly=True) == positive
        assert made.at_least_zero(form) == at_least_zero


def test_conditions_within_the_bounds_of_a_sum_alone_take_gates():
    """A condition that always holds is {}, and one that never holds is None."""
    made = Wiring(2, 4)
    spread = sum((3**i * made.symbol(i, 1) for i in range(4)), start=ZERO)  # from 0 to 40
    for form, strictly, wanted in (
        (spread, False, {}),
        (number(40) - spread, False, {}),
        (spread - number(40), True, None),
        (ZERO - spread, True, None),
    ):
        assert made.at_least_zero(form, strictly=strictly) == wanted
    for form, strictly in (
        (spread, True),
        (number(40) - spread, True),
        (spread - number(40), False),
        (ZERO - spread, False),
    ):
        assert made.at_least_zero(form, strictly=strictly)


def test_a_clipped_count_has_a_gate_for_each_value():
    made = Wiring(2, 5)
    count = sum((made.symbol(i, 1) for i in range(5)), start=ZERO)
    made.relu(count - number(2))
    assert [gate.threshold for gate in made.gates] == [3, 4, 5]
    assert made.relu(count) == count
    assert made.relu(ZERO - count) == ZERO


def test_forms_and_circuits_that_explode_are_rejected(monkeypatch):
    made = Wiring(2, 20)
    spread = sum((3**i * made.symbol(i, 1) for i in range(20)), start=ZERO)
    with rejects("2000"):
        made.relu(spread - number(1))
    for last, most in ((976, 2000), (977, 2001)):  # sums from 0 to 1023 + last
        weights = [*(2**i for i in range(10)), last]
        spread = sum((w * made.symbol(i, 1) for i, w in enumerate(weights)), start=ZERO)
        if most == 2000:
            assert made.values(spread) == [*range(2000)]
        else:
            with rejects("2000"):
                made.values(spread)
    for most in (3, 4):  # gates at 2, 3, 4 and 5
        monkeypatch.setattr(wiring, "MOST_GATES", most)
        made = Wiring(2, 5)
        count = sum((made.symbol(i, 1) for i in range(5)), start=ZERO)
        with nullcontext() if most == 4 else rejects("3"):
            made.relu(count - number(1))


def brute_force(values: np.ndarray, n: int, V: int) -> int:
    best = 0
    words = all_sequences(n, V)
    for fixed in product([*range(V), None], repeat=n):
        inside = np.ones(len(words), dtype=bool)
        for i, symbol in enumerate(fixed):
            inside &= True if symbol is None else words[:, i] == symbol
        if len({*values[inside].tolist()}) == 1:
            best = max(best, fixed.count(None))
    return best


@given(st.integers(0, 2**32 - 1), st.sampled_from([(1, 2), (3, 2), (4, 2), (2, 3), (3, 3)]))
@settings(max_examples=40, deadline=None)
def test_the_largest_subcube_by_brute_force(seed, size):
    n, V = size
    rng = np.random.default_rng(seed)
    values = (rng.random(V**n) < rng.random()) * rng.integers(1, 3, size=V**n)
    found = largest_constant_subcube(values, V)
    assert found.dimension == brute_force(values, n, V)
    words = all_sequences(n, V)
    inside = np.ones(len(words), dtype=bool)
    for i, symbol in enumerate(found.symbols):
        inside &= True if symbol is None else words[:, i] == symbol
    assert {*values[inside].tolist()} == {found.value}


@pytest.mark.parametrize("symbols", [1e-300, None, [0.5], "01"])
def test_symbols_that_are_none(symbols, unchecked):
    with rejects("symbols"):
        Subcube(symbols=symbols, value=2)


@pytest.mark.parametrize("n", [1, 2, 5, 10])
def test_parity_and_its_negation_alone_are_constant_on_no_subcube(n):
    parity = all_sequences(n, 2).sum(1) % 2
    assert largest_constant_subcube(parity).dimension == 0
    assert largest_constant_subcube(1 - parity).dimension == 0
    changed = parity.copy()
    changed[-1] = 1 - changed[-1]
    assert largest_constant_subcube(changed).dimension >= (n > 1)


def test_a_subcube_is_shown_with_stars():
    assert str(largest_constant_subcube([0, 1, 0, 0])) in ("1 *", "* 0")
    assert largest_constant_subcube([3, 3]).symbols == (None,)


@pytest.mark.parametrize(
    ("values", "V", "names"),
    [
        ([0, 1, 1], 2, "values"),
        ([0], 2, "values"),
        ([], 2, "values"),
        (np.zeros(2**15, dtype=int), 2, "15 3"),
    ],
)
def test_bad_values_are_rejected(values, V, names):
    with rejects(*names.split()):
        largest_constant_subcube(values, V)
