"""Prompts with a sink in front: every row and column, and which tokens are answered for."""

import numpy as np

from constructions import composition, induction_heads
from constructions.examples import Examples
from constructions.stock.sink import Sunk


def test_a_sink_stands_before_vectors_and_two_columns_behind_them():
    x, y, query = np.array([[2.0], [3.0]]), np.array([5.0, 7.0]), np.array([[11.0]])
    inner = Examples(1)
    ours = inner.write(np, x, y, query)
    assert (ours.n_examples, len(ours.tokens)) == (2, 3)
    tokens, n_examples, answers = Sunk(inner, 0, False).write(np, x, y, query)
    np.testing.assert_array_equal(tokens[1:, :-2], ours.tokens)
    assert not tokens[0, :-2].any()
    # Whether it is the sink, and whether it stands behind the examples.
    assert tokens[:, -2:].tolist() == [[1, 0], [0, 0], [0, 0], [0, 1]]
    assert n_examples == 3
    assert [*range(4)[answers]] == [1 + t for t in range(3)[ours.answers]]


def test_only_tokens_behind_examples_are_answered_for_where_that_is_asked():
    inner = composition(3).interface
    ours = inner.write(np, np.zeros((1, inner.length), dtype=int))
    T = ours.tokens.shape[-1]
    for sink, ahead in ((None, 0), (9, 1)):
        for only, first in ((False, range(T)[ours.answers].start), (True, ours.n_examples)):
            said = Sunk(inner, sink, only).write(np, np.zeros((1, inner.length), dtype=int))
            assert said.n_examples == ours.n_examples + ahead
            assert range(T + ahead)[said.answers].start == first + ahead
    assert ours.n_examples > 0


def test_over_tokens_it_is_one_more_of_them_and_the_margin_stays():
    inner = induction_heads(3, 4).interface
    sunk, plain = Sunk(inner, 9, False), Sunk(inner, None, False)
    tokens = np.array([[0, 1, 2]])
    ours = inner.write(np, tokens)
    assert sunk.write(np, tokens).tokens.tolist() == [[9, *ours.tokens[0].tolist()]]
    assert plain.write(np, tokens).tokens.tolist() == ours.tokens.tolist()
    assert (sunk.context, plain.context) == (inner.context + 1, inner.context)
    assert sunk.margin == plain.margin == inner.margin > 0
