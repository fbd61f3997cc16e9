"""Sources with known entropies, greedy texts and errors."""

from fractions import Fraction as F
from itertools import pairwise

import pytest
from refusals import rejects

from theory.language import (
    conditional_entropy,
    entropy,
    entropy_rate,
    errors,
    even_process,
    excess_error,
    kl,
    log,
    most_probable_text,
    most_sampling_error,
    source,
    window_cost,
    window_entropy_by_definition,
)
from verify.language.sampling_or_argmax import fork

EVEN = even_process()


def test_the_even_process_by_its_beliefs_and_by_all_words():
    assert conditional_entropy(EVEN, 3) == F(1, 2) * log(3)
    for t in (1, 2, 5, 7):
        assert conditional_entropy(EVEN, t) == window_entropy_by_definition(EVEN, t, t - 1)
    for window in (0, 1, 3):
        of_last = window_entropy_by_definition(EVEN, 6, window)
        assert window_cost(EVEN, 6, window) == of_last - conditional_entropy(EVEN, 6)
    assert EVEN.probability([0, 1, 0]) == 0
    assert EVEN.probability([0, 1, 1, 0]) == F(2, 3) * F(1, 8)


def test_rates_fall_to_that_of_the_states():
    assert entropy_rate(EVEN) == F(2, 3) * log(2)
    rates = [conditional_entropy(EVEN, t) for t in range(1, 9)]
    assert all(later < earlier for earlier, later in pairwise(rates))
    assert entropy_rate(EVEN) < rates[-1]


def test_errors_of_predicting_and_of_sampling():
    assert errors([F(1, 2), F(1, 4), F(1, 4)]) == (F(1, 2), F(5, 8))
    assert most_sampling_error(F(1, 2), 3) == F(5, 8)
    assert excess_error([F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)]) == F(1, 3)
    assert excess_error([F(1, 2), F(1, 2)], [F(1, 4), F(3, 4)]) == 0


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: source([1], [[[F(1, 2)]]]), "state 0"),
        (lambda: source([1], [[[1, 0]]]), "steps"),
        (lambda: source([1], []), "steps"),
        (lambda: window_cost(fork(), 2, 1), "source"),
        (lambda: entropy_rate(fork()), "source"),
        (lambda: window_entropy_by_definition(EVEN, 17, 1), "2^17"),
        (lambda: most_probable_text(EVEN, 25), "2^25"),
    ],
)
def test_bad_sources_are_rejected(call, parameter, unchecked):
    with rejects(*parameter.split()):
        call()


@pytest.mark.parametrize(
    ("state", "symbol", "names"),
    [
        ([F(1, 2), F(1, 2)], -1, "symbol -1"),
        ([F(1, 2), F(1, 2)], 2, "symbol 2"),
        ([], 1, "state 2"),
        ([F(1)] * 3, 1, "state 2"),
        ("x", 0, "state"),
    ],
)
def test_beliefs_have_an_entry_for_each_state(state, symbol, names, unchecked):
    with rejects(*names.split()):
        even_process().moved(state, symbol)


def test_states_that_stay_hidden_have_no_such_rate():
    half = F(1, 2)
    hidden = source([half, half], [[[half, half], [0, 0]], [[0, 0], [half, half]]])
    with rejects("state"):
        entropy_rate(hidden)
    assert kl([half, half], [half, half]) == 0
    assert conditional_entropy(hidden, 2) == entropy([half, half])
