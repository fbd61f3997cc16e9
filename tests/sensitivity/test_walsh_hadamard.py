"""Boolean functions: the transform, influences, noise, standard functions, and bad input."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory import computation
from theory import sensitivity as s
from theory.sequences import all_sequences

DELTAS = st.fractions(0, 1, max_denominator=12)


@st.composite
def tables(draw, most=6):
    d = draw(st.integers(1, most))
    return np.array(draw(st.lists(st.sampled_from([-1, 1]), min_size=2**d, max_size=2**d)))


@given(tables())
def test_the_transform_is_its_definition_and_its_own_inverse(values):
    spectrum = s.walsh_hadamard(values)
    assert spectrum.tolist() == s.walsh_hadamard_by_definition(values).tolist()
    assert sum(s.fourier_weights(values)) == 1
    assert int((spectrum**2).sum()) == values.size**2


@given(tables())
def test_the_chain_of_inequalities(values):
    total, deg = s.total_influence(values), s.degree(values)
    assert s.variance(values) <= total <= deg <= s.max_sensitivity(values) ** 2
    assert s.influences(values) == s.influences_by_spectrum(values)
    assert s.mean_influence(values) * len(s.influences(values)) == total
    assert total == Fraction(int(s.sensitive_bits(values).sum()), values.size)


@pytest.mark.parametrize("d", [1, 2, 3])
def test_all_functions_have_the_figures_of_each(d):
    all_of_them = 1 - 2 * all_sequences(2**d, 2)
    for name, one, times in (
        ("Var", s.variance, 4**d),
        ("I", s.total_influence, 4**d),
        ("degree", s.degree, 4**d),
        ("s", s.max_sensitivity, 2**d),
    ):
        found = s.all_figures(d)[name].tolist()
        assert found == [times * one(values) for values in all_of_them]


@given(tables(4), DELTAS)
def test_noise_sensitivity_is_its_definition_and_bounded(values, delta):
    found = s.noise_sensitivity(values, delta)
    assert found == s.noise_sensitivity_by_definition(values, delta)
    assert found <= delta * s.total_influence(values)


@given(DELTAS)
def test_noise_sensitivities_in_closed_form(delta):
    parity = s.tabulated(lambda words: s.subset_parity(words, [0, 2]), 3)
    conjunction = s.tabulated(lambda words: s.conjunction(words, [0, 1, 2]), 3)
    multiplexer = s.tabulated(lambda words: s.multiplexer(words, 2), 6)
    majority = s.tabulated(lambda words: computation.majority(words)[..., -1], 5)
    assert s.parity_noise_sensitivity(2, delta) == s.noise_sensitivity(parity, delta)
    assert s.conjunction_noise_sensitivity(3, delta) == s.noise_sensitivity(conjunction, delta)
    assert s.multiplexer_noise_sensitivity(2, delta) == s.noise_sensitivity(multiplexer, delta)
    assert s.majority_noise_sensitivity(5, delta) == s.noise_sensitivity(majority, delta)


def test_the_figures_of_the_reference():
    majority = s.tabulated(lambda words: computation.majority(words)[..., -1], 9)
    parity = s.tabulated(lambda words: s.subset_parity(words, [0, 4, 8]), 9)
    multiplexer = s.tabulated(lambda words: s.multiplexer(words, 2), 6)
    noise = [
        float(s.noise_sensitivity(f, Fraction(1, 20))) for f in (majority, parity, multiplexer)
    ]
    assert [round(each, 4) for each in noise] == [0.1024, 0.1355, 0.0939]
    assert s.mean_influence(majority) == s.majority_mean_influence(9) == Fraction(35, 128)
    assert [s.majority_mean_influence(d) for d in (5, 7)] == [Fraction(3, 8), Fraction(5, 16)]
    assert s.mean_influence(multiplexer) == Fraction(1, 3)


@pytest.mark.parametrize("k", [1, 2, 4])
def test_a_conjunction_has_a_small_average_and_its_full_degree(k):
    values = s.tabulated(lambda words: s.conjunction(words, range(k)), 4)
    assert s.mean_influence(values) == Fraction(k, 4) * Fraction(2, 2**k)
    assert s.degree(values) == s.max_sensitivity(values) == k


def test_truth_values_are_signs_as_characters_have_them():
    assert s.truth_table([0, 1, 1, 0]).tolist() == [1, -1, -1, 1]
    assert s.walsh_hadamard([0, 1, 1, 0]).tolist() == [0, 0, 0, 4]
    assert s.truth_table([True, False]).tolist() == [-1, 1]
    assert s.truth_table([1, 1]).tolist() == [1, 1]
    assert s.truth_table([True, True]).tolist() == [-1, -1]
    assert s.walsh_hadamard([True, True]).tolist() == [-2, 0]


def test_a_junta_reads_its_first_position_as_the_highest_digit():
    words = all_sequences(3, 2)
    found = s.junta(words, [2, 0], [0, 1, 0, 0])
    assert (found == ((words[:, 2] == 0) & (words[:, 0] == 1))).all()


def test_a_multiplexer_reads_its_address_as_a_binary_number():
    assert s.multiplexer([0, 1, 0, 1, 0, 0], 2) == 1
    assert s.multiplexer([1, 0, 0, 1, 0, 0], 2) == 0


def test_twenty_bits_take_seconds():
    values = 1 - 2 * (np.arange(2**20) % 3 == 0)
    spectrum = s.walsh_hadamard(values)
    assert spectrum[0] == values.sum()
    signs = 1 - 2 * (np.bitwise_count(np.arange(2**20)).astype(int) % 2)
    assert spectrum[-1] == values @ signs


@pytest.mark.parametrize(
    "answers",
    [
        lambda words: words,
        lambda words: 1,
        lambda words: words.mean(-1),
        lambda words: 1 - 2 * words[:, 0],
        lambda words: words[:, 0] * np.nan,
        lambda words: ["a"] * 4,
    ],
)
def test_functions_that_do_not_answer_0_and_1_have_no_table(answers):
    with rejects("values"):
        s.tabulated(answers, 2)


@pytest.mark.parametrize("values", [[[0, 1], [1, 0]], [[0, 1, 1, 0]], 1, [1], [0, 1, 1]])
def test_tables_are_rows_of_a_power_of_two(values):
    with rejects("values"):
        s.walsh_hadamard(values)


def test_positions_are_distinct():
    words = all_sequences(3, 2)
    for function in (s.subset_parity, s.conjunction):
        with rejects("positions"):
            function(words, [0, 0])
    with rejects("positions"):
        s.junta(words, [0, 0], [0, 1, 1, 0])


def test_tables_multiplexers_and_majorities_have_their_sizes():
    words = all_sequences(3, 2)
    for call, name in (
        (lambda: s.junta(words, [0, 1], [0, 1]), "table"),
        (lambda: s.multiplexer(words, 2), "words"),
        (lambda: s.majority_mean_influence(4), "d"),
        (lambda: s.majority_noise_sensitivity(4, 0.1), "d"),
    ):
        with rejects(name):
            call()


def test_tables_of_truth_values_and_of_floats_are_read():
    words = all_sequences(3, 2)
    wanted = s.junta(words, [2, 0], [0, 1, 0, 0])
    for table in ([False, True, False, False], [0.0, 1.0, 0.0, 0.0]):
        assert (s.junta(words, [2, 0], table) == wanted).all()
