"""The sequence generators: shapes, seeds, the properties of each family, bad input."""

import itertools

import numpy as np
import pytest
from refusals import rejects

from theory import retrieval as r

FAMILIES = {
    "all tokens equal",
    "periodic",
    "no repeats",
    "two symbols",
    "codes one bit apart",
    "match at the first position only",
    "long gaps",
    "latest match just before the end",
}
# (length, vocabulary): every combination of small ones, and some in which all families exist.
SIZES = [*itertools.product((1, 2, 3, 4, 7), (1, 2, 3, 5)), (6, 8), (16, 16), (40, 37), (7, 300)]


def family(name):
    """The family at all sizes and three seeds, without those at which it does not exist."""
    found = [
        (length, V, rows)
        for length, V in SIZES
        for seed in range(3)
        if (rows := r.adversarial_sequences(length, V, seed).get(name)) is not None
    ]
    assert len(found) >= 3
    return found


GENERATORS = {
    "random": lambda seed: r.random_sequences(4, 9, 5, seed),
    "markov": lambda seed: r.markov_sequences(4, 9, 5, 2, 1.0, seed),
    "adversarial": lambda seed: np.concatenate(list(r.adversarial_sequences(9, 9, seed).values())),
}


@pytest.mark.parametrize("name", GENERATORS)
def test_seeds(name):
    tokens = GENERATORS[name](7)
    assert tokens.dtype == np.int64
    np.testing.assert_array_equal(tokens, GENERATORS[name](np.random.default_rng(7)))
    assert (tokens != GENERATORS[name](8)).any()


def test_shapes_and_ranges():
    for tokens in (r.random_sequences(50, 20, 3, 0), r.markov_sequences(50, 20, 3, 2, 1.0, 0)):
        assert tokens.shape == (50, 20)
        assert set(tokens.ravel().tolist()) == {0, 1, 2}
    assert not r.markov_sequences(2, 5, 1, 3, 0.5, 0).any()
    assert r.markov_sequences(2, 3, 4, 6, 1.0, 0).shape == (2, 3)


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_markov_chain_with_tiny_alpha_is_a_function_of_its_context(order):
    """Dirichlet rows with alpha = 10⁻⁶ have one entry of nearly 1: the next token is determined."""
    tokens = r.markov_sequences(20, 60, 3, order, 1e-6, 1)
    seen, conflicts = 0, 0
    functions = []
    for row in tokens.tolist():
        follower, shorter = {}, {}
        for j in range(order - 1, 60):
            context = tuple(row[j - order + 1 : j])
            seen += context in follower
            assert follower.setdefault(context, row[j]) == row[j]
            conflicts += shorter.setdefault(context[1:], row[j]) != row[j]
        functions.append(tuple(sorted(follower.items())))
    assert seen >= 20 * 30
    # The whole context is needed.
    assert (conflicts > 0) == (order > 1)
    # Every sequence has rows of its own.
    assert len(set(functions)) > 1


@pytest.mark.parametrize(("length", "size"), [(1, 1), (3, 1), (1, 4), (3, 2), (4, 3), (27, 1)])
def test_all_sequences(length, size):
    tokens = r.all_sequences(length, size)
    assert tokens.dtype == np.int64
    assert tokens.tolist() == [list(s) for s in itertools.product(range(size), repeat=length)]


def test_families_exist_where_they_can():
    for length, V in SIZES:
        expected = {"all tokens equal", "periodic"}
        expected |= {"no repeats"} if length <= V else set()
        if V >= 2:
            expected |= {"two symbols", "codes one bit apart"}
            expected |= {"match at the first position only"} if length >= 2 else set()
            expected |= {"long gaps"} if length >= 3 else set()
            expected |= {"latest match just before the end"} if length >= 4 else set()
        families = r.adversarial_sequences(length, V, 0)
        assert set(families) == expected
        for rows in families.values():
            assert rows.dtype == np.int64
            assert rows.shape == (len(rows), length)
            assert len(rows) >= 1
            assert rows.min() >= 0
            assert rows.max() < V
    assert set(r.adversarial_sequences(6, 8, 0)) == FAMILIES


def test_all_tokens_equal():
    for length, V, rows in family("all tokens equal"):
        assert rows.tolist() == [[token] * length for token in range(min(V, 8))]


def test_periodic():
    """Row p − 1 repeats after p positions and not before: within a period no token repeats."""
    for length, V, rows in family("periodic"):
        assert len(rows) == min(V, length)
        for period, row in enumerate(rows.tolist(), start=1):
            assert row[period:] == row[:-period]
            assert len(set(row[:period])) == period


def test_no_repeats():
    for length, _, rows in family("no repeats"):
        assert all(len(set(row)) == length for row in rows.tolist())
        assert (r.find(rows) == -1).all()


def test_two_symbols():
    for length, _, rows in family("two symbols"):
        assert max(len(set(row)) for row in rows.tolist()) == min(length, 2)
        assert all(len(set(row)) <= 2 for row in rows.tolist())
        for row in rows[:2]:
            assert (row[1:] != row[:-1]).all()
            assert (row[2:] == row[:-2]).all()


def test_codes_one_bit_apart():
    for length, _, rows in family("codes one bit apart"):
        for i, row in enumerate(rows.tolist()):
            assert row[:-1].count(row[-1]) == (i % 2 == 0 and length > 1)
            others = [token for token in row[:-1] if token != row[-1]]
            assert all((token ^ row[-1]).bit_count() == 1 for token in others)


def test_match_at_the_first_position_only():
    for _, _, rows in family("match at the first position only"):
        assert (rows[:, 0] == rows[:, -1]).all()
        assert (rows[:, 1:-1] != rows[:, -1:]).all()
        np.testing.assert_array_equal(r.induction(rows)[:, -1], rows[:, 1])


def test_long_gaps():
    """w c … c w: each token of the second w has its one match length − m positions before."""
    for length, V, rows in family("long gaps"):
        assert len(rows) == min(8, V - 1, (length - 1) // 2)
        for m, row in enumerate(rows, start=1):
            assert len(set(row.tolist())) == m + 1
            assert len(set(row[m : length - m].tolist())) == 1
            np.testing.assert_array_equal(row[-m:], row[:m])
            np.testing.assert_array_equal(r.find(row)[-m:], np.arange(1, m + 1))


def test_latest_match_just_before_the_end():
    for length, _, rows in family("latest match just before the end"):
        assert (rows[:, 0] == rows[:, -1]).all()
        last = r.find(rows)[:, -1]
        assert (last[::2] == length - 2).all()
        assert (last[1::2] == length - 1).all()


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: r.markov_sequences(9, 1, 10, 9, 1.0, 0), "2^27"),
        (lambda: r.markov_sequences(1, 1, 2, 10**9, 1.0, 0), "2^27"),
        (lambda: r.all_sequences(9, 10), "10^9"),
        (lambda: r.all_sequences(10**9, 2), "2^1000000000"),
        (lambda: r.all_sequences(2**28, 1), "1^268435456"),
    ],
)
def test_rejected(call, names):
    with rejects(*names.split()):
        call()
