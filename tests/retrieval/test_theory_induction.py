"""Induction and k-hop against their definitions, the conventions, bad input."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from sequences_of import batches, by_rows

from theory import retrieval as r
from theory.retrieval.ranks import ranks


@given(batches(), st.integers(1, 6), st.integers(1, 6))
def test_hops_add_up(tokens, j, k):
    """findʲ after findᵏ is findʲ⁺ᵏ."""
    first, second = r.hop_positions(tokens, k), r.hop_positions(tokens, j)
    both = np.where(first < 0, -1, np.take_along_axis(second, np.maximum(first, 0), axis=-1))
    np.testing.assert_array_equal(r.hop_positions(tokens, j + k), both)


@given(batches())
def test_one_hop_is_induction(tokens):
    np.testing.assert_array_equal(r.hop(tokens, 1), r.induction(tokens))


@given(batches(size=10**12))
def test_ranks(tokens):
    expected = by_rows(lambda row: [sorted(set(row.tolist())).index(t) for t in row], tokens)
    np.testing.assert_array_equal(ranks(tokens), expected)


def test_by_hand():
    """The symbol 1 stands at 0, 2, 4 and 6, followed by 7, 7 and 3."""
    tokens = [1, 7, 1, 7, 1, 3, 1]
    assert r.find(tokens).tolist() == [-1, -1, 1, 2, 3, -1, 5]
    assert r.induction(tokens).tolist() == [-1, -1, 7, 1, 7, -1, 3]
    assert r.induction(tokens, "first")[-1] == 7
    assert r.induction(tokens, "mean")[-1] == 7
    assert r.induction(tokens, no_match="self").tolist() == [1, 7, 7, 1, 7, 3, 3]
    # 6 → 5 → ⊥, and 4 → 3 → 2 → 1 → ⊥.
    assert r.hop_positions(tokens, 2).tolist() == [-1, -1, -1, 1, 2, -1, -1]
    assert r.hop(tokens, 3).tolist() == [-1, -1, -1, -1, 7, -1, -1]
    assert r.hop(tokens, 10**30).tolist() == [-1] * 7


def test_a_repeated_token_matches_itself():
    """With all tokens equal, find(i) = i for i ≥ 1: every number of hops stays there."""
    assert r.find([5, 5, 5]).tolist() == [-1, 1, 2]
    assert r.hop([5, 5, 5], 10**30).tolist() == [-1, 5, 5]


def test_a_tie_goes_to_the_smallest_token():
    assert r.induction([0, 9, 0, 4, 0], "mean")[-1] == 4
    assert r.induction([0, 4, 0, 9, 0], "mean")[-1] == 4


def test_a_batch_of_no_sequences():
    none = np.zeros((0, 4), dtype=np.int64)
    for answers in (r.induction(none), r.induction(none, "mean"), r.hop(none, 3)):
        assert answers.shape == (0, 4)


def test_large_tokens():
    big = 2**63 - 1
    assert r.induction([big, 3, big]).tolist() == [-1, -1, 3]
    assert r.induction(np.array([big, 3, big], dtype=np.uint64), "mean").tolist() == [-1, -1, 3]
