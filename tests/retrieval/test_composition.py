"""Function composition against `theory.retrieval.composition`, with its two registers."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions import composition
from theory.retrieval import all_sequences, composition_by_definition, composition_prompt
from theory.retrieval import composition as composed


@pytest.mark.parametrize("size", [1, 2, 3])
def test_all_pairs_of_functions(size):
    prompts = all_sequences(2 * size + 1, size)
    f, g, x = prompts[:, :size], prompts[:, size : 2 * size], prompts[:, -1]
    model = composition(size)
    found = model(composition_prompt(f, g, x))
    assert np.array_equal(found[:, -1], composed(f, g, x))
    soft = model.sharpened(model.least_sharpness() * 1.001)
    assert torch.equal(soft(prompts), found)


@given(
    size=st.integers(1, 40),
    batch=st.lists(st.integers(1, 3), max_size=2),
    dtype=st.sampled_from([torch.float64, torch.float32]),
    seed=st.integers(0, 999),
)
def test_its_definition(size, batch, dtype, seed):
    rng = np.random.default_rng(seed)
    f, g = rng.integers(size, size=(2, *batch, size))
    x = rng.integers(size, size=tuple(batch))
    model = composition(size).to(dtype)
    prompt = composition_prompt(f, g, x)
    found = model(prompt)
    assert found.shape == (*batch, 2 * size + 1)
    for place in np.ndindex(*batch):
        tables = f[place], g[place]
        assert found[place][-1] == composition_by_definition(*tables, int(x[place]))
        # At every position, for the value that stands there.
        assert found[place].tolist() == tables[1][tables[0][prompt[place]]].tolist()


@pytest.mark.parametrize("size", [1, 4, 9, 30])
def test_softmax_at_the_least_sharpness(size):
    model = composition(size)
    soft = model.sharpened(model.least_sharpness() * 1.001)
    tokens = np.random.default_rng(size).integers(size, size=(100, 2 * size + 1))
    assert torch.equal(soft(tokens), model(tokens))


def test_a_large_table():
    rng = np.random.default_rng(0)
    f, g = rng.permutation(500), rng.permutation(500)
    model, x = composition(500), 123
    tokens = composition_prompt(f, g, x)
    assert model(tokens)[-1] == g[f[x]]
    assert model.sharpened(model.least_sharpness() * 1.001)(tokens)[-1] == g[f[x]]


def test_the_query_is_not_looked_up():
    """Another query changes no answer but its own."""
    f, g = [1, 2, 0], [2, 2, 1]
    found = [composition(3)(composition_prompt(f, g, x)) for x in range(3)]
    assert torch.equal(found[0][:-1], found[1][:-1])
    assert [int(answers[-1]) for answers in found] == [g[f[x]] for x in range(3)]
