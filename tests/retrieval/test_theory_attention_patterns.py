"""Single heads and function composition against their definitions; bad input."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from theory import retrieval as r


def test_patterns_by_hand():
    assert r.previous_token([4, 2, 2]).tolist() == [-1, 4, 2]
    assert r.token_frequencies([0, 1, 1, 0], 3)[-1].tolist() == [0.5, 0.5, 0]
    assert r.token_frequencies([0, 1], 3)[0].tolist() == [1, 0, 0]
    # Token 2 looks for token 1; the others score everything alike.
    table = np.zeros((4, 4))
    table[2, 1] = 5
    attended = r.skip_gram([1, 0, 0, 2, 3], table)
    assert attended[3].tolist() == [0, 1, 0, 0]
    assert attended[2].tolist() == [2 / 3, 1 / 3, 0, 0]
    assert attended[4].tolist() == [0.4, 0.2, 0.2, 0.2]
    assert r.skip_gram([0, 2], table)[1].tolist() == [0.5, 0, 0.5, 0]
    assert r.skip_gram([1, 0, 1, 0, 2], -table)[4].tolist() == [2 / 3, 0, 1 / 3, 0]


@given(st.integers(1, 5), st.lists(st.integers(1, 3), max_size=2), st.integers(0, 2**32))
def test_composition(size, leading, seed):
    generator = np.random.default_rng(seed)
    f, g = (generator.integers(size, size=(*leading, size)) for _ in "fg")
    x = generator.integers(size, size=leading)
    values = r.composition(f, g, x)
    assert values.shape == tuple(leading)
    for index in np.ndindex(*leading):
        expected = r.composition_by_definition(f[index], g[index], int(x[index]))
        assert values[index] == expected
    prompt = r.composition_prompt(f, g, x)
    assert prompt.shape == (*leading, 2 * size + 1)
    np.testing.assert_array_equal(prompt[..., :size], f)
    np.testing.assert_array_equal(prompt[..., size:-1], g)
    np.testing.assert_array_equal(prompt[..., -1], x)


def test_every_composition_on_two_points():
    """f then g, not g then f: for constant f and g = swap they differ."""
    functions = [[0, 0], [0, 1], [1, 0], [1, 1]]
    for f, g in itertools.product(functions, repeat=2):
        assert [int(r.composition(f, g, x)) for x in range(2)] == [g[f[0]], g[f[1]]]
    assert r.composition([0, 0], [1, 0], 1) == 1
    assert r.composition([1, 0], [0, 0], 1) == 0
    assert r.composition_prompt([0, 1, 2], [2, 0, 1], 2).tolist() == [0, 1, 2, 2, 0, 1, 2]
