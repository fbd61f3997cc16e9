"""Every task on sequences, batched, against its definition on one sequence."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from sequences_of import by_rows, problems

from theory import retrieval as r


def table(V):
    """Scores from three values, so that the largest is often reached by several tokens."""
    return np.random.default_rng(V).choice([-1.0, 0.0, 2.5], (V, V))


# Batched (tokens, V) and by definition (row, V).  A quotient of integers below 2^53 is the float64
# nearest to the fraction, in both.
CASES = {
    "find": (lambda x, V: r.find(x), lambda row, V: r.find_by_definition(row)),
    "previous token": (
        lambda x, V: r.previous_token(x),
        lambda row, V: r.previous_token_by_definition(row),
    ),
    "frequencies": (r.token_frequencies, r.token_frequencies_by_definition),
    "skip-gram": (
        lambda x, V: r.skip_gram(x, table(V)),
        lambda row, V: r.skip_gram_by_definition(row, table(V)),
    ),
}
CASES |= {
    f"induction, {match}, {no_match}": (
        lambda x, V, kind=(match, no_match): r.induction(x, *kind),
        lambda row, V, kind=(match, no_match): r.induction_by_definition(row, *kind),
    )
    for match, no_match in itertools.product(("latest", "first", "mean"), ("bottom", "self"))
}
CASES |= {
    f"{k} hops": (lambda x, V, k=k: r.hop(x, k), lambda row, V, k=k: r.hop_by_definition(row, k))
    for k in (1, 2, 3, 4, 7, 15)
}
CASES |= {
    f"positions after {k} hops": (
        lambda x, V, k=k: r.hop_positions(x, k),
        lambda row, V, k=k: r.hop_positions_by_definition(row, k),
    )
    for k in (1, 2, 3, 4, 7, 15)
}
CASES |= {
    f"counts of order {order}": (
        lambda x, V, order=order: r.ngram_counts(x, V, order),
        lambda row, V, order=order: r.ngram_counts_by_definition(row, V, order),
    )
    for order in range(1, 7)
}
every = pytest.mark.parametrize("name", CASES)


def assert_defined(name, tokens, V):
    batched, definition = CASES[name]
    found, expected = batched(tokens, V), by_rows(definition, tokens, V)
    assert found.dtype == (np.float64 if expected.dtype == object else np.int64)
    np.testing.assert_array_equal(found, expected.astype(found.dtype))


@every
@given(problems(length=10, size=5))
def test_batches(name, problem):
    assert_defined(name, *problem)


@every
@pytest.mark.parametrize(("length", "V"), [(1, 3), (6, 3), (8, 2)])
def test_every_sequence(name, length, V):
    assert_defined(name, r.all_sequences(length, V), V)
