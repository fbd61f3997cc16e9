"""Hopfield updates as layers: by weights and by linear attention, against the definition."""

from itertools import product

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.memory.hopfield import hebbian_attention, hopfield_update
from theory.memory.hopfield import hebb, synchronous_update
from theory.memory.patterns import random_patterns
from verify.domains import Rational, streams


def network(rng, d, size=3):
    upper = np.triu(rng.integers(-size, size + 1, (d, d)), 1)
    return upper + upper.T, rng.integers(-size, size + 1, d)


def by_definition(w, b, s, steps):
    """Neuron by neuron, in Python integers."""
    for _ in range(steps):
        fields = [
            sum(int(w[i, j]) * int(s[j]) for j in range(len(s))) + int(b[i]) for i in range(len(s))
        ]
        s = [(h > 0) - (h < 0) or int(v) for h, v in zip(fields, s, strict=True)]
    return list(s)


scales = st.sampled_from([1.0, 2.0**-3, 2.0**-1074, 2.0**900, 3 * 2.0**-40])


@settings(max_examples=20)
@given(d=st.integers(1, 5), steps=st.integers(0, 3), scale=scales, seed=st.integers(0, 999))
def test_updates_by_weights_of_all_states(d, steps, scale, seed):
    w, b = network(np.random.default_rng(seed), d)
    s = np.array(list(product((-1, 1), repeat=d)))
    found = hopfield_update(w * scale, b * scale, steps)(s)
    assert found.dtype == torch.float64
    assert found.tolist() == [by_definition(w, b, row, steps) for row in s]


@settings(max_examples=15)
@given(d=st.integers(1, 5), P=st.integers(1, 5), steps=st.integers(0, 2), seed=st.integers(0, 999))
def test_updates_by_attention_of_all_states(d, P, steps, seed):
    xi = random_patterns(P, d, np.random.default_rng(seed))
    s = np.array(list(product((-1, 1), repeat=d)))
    zero = np.zeros(d, dtype=int)
    w = np.array([[int(xi[:, i] @ xi[:, j]) * (i != j) for j in range(d)] for i in range(d)])
    wanted = [by_definition(w, zero, row, steps) for row in s]
    assert hebbian_attention(xi, steps)(s).tolist() == wanted


def test_registers_are_those_of_the_proof():
    rng = np.random.default_rng(0)
    xi, s = random_patterns(3, 4, rng), random_patterns(5, 4, rng)
    model = hebbian_attention(xi, 2)
    assert [stage.after for stage in model.stages] == [1, 2]
    prompt = model.prompt(s)
    P = prompt.n_examples
    assert len(xi) == P
    for after, H in enumerate(streams(model, prompt, Rational())):
        rows = np.array([[int(v.p) for v in row] for row in H.tolist()])
        assert np.array_equal(rows[:P, model.stream["pattern"]], xi)
        assert (rows[:P, model.stream["state"]] == 0).all()
        assert (rows[:, model.stream["field"]] == 0).all()
        assert np.array_equal(rows[P:, model.stream["state"]], s)
        s = synchronous_update(hebb(xi), s) if after < 2 else s


def test_shapes():
    w = [[0, 1], [1, 0]]
    model = hopfield_update(w, [0, 1], 2)
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 0, 2)
    assert model([1, -1]).shape == (2,)
    assert model(np.ones((0, 3, 2))).shape == (0, 3, 2)
    assert model.blocks[0].mlp.W_in.shape == (2, 6)
    attention = hebbian_attention([[1, -1, 1]])
    assert (attention.n_layers, attention.n_heads, attention.d_model) == (1, 1, 9)
    assert all(register in str(attention) for register in ("pattern", "field"))
    assert hopfield_update([[0]], steps=0)([-1]).tolist() == [-1]
    assert hopfield_update([[0]])([[-1], [1]]).tolist() == [[-1], [1]]


def test_the_largest_weights_that_are_exact_and_the_next():
    """2·(Σ|w| + |b|) + 4 = 2^53 is accepted; one more unit raises ValueError."""
    most = 2**52 - 2
    w = np.array([[0, most - 1], [most - 1, 0]])
    s = np.array(list(product((-1, 1), repeat=2)))
    model = hopfield_update(w, [1, 1])
    assert model(s).tolist() == [by_definition(w, [1, 1], row, 1) for row in s]
    with rejects("weights", "float64"):
        hopfield_update(w + 2 * (1 - np.eye(2, dtype=int)), [1, 1])


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: hopfield_update([[0, 0.1], [0.1, 0]], [1e17, 0]), "weights"),
        (lambda: hopfield_update([[0, 2**60 + 1], [2**60 + 1, 0]]), "weights"),
        (lambda: hopfield_update([[0, 1e-300], [1e-300, 0]], [1e300, 0]), "weights"),
        (lambda: hopfield_update([[0, 1], [2, 0]]), "weights"),
        (lambda: hopfield_update([[0]])([0]), "states"),
        (lambda: hopfield_update([[0]])([1, 1]), "states"),
        (lambda: hopfield_update([[0]])([[float("nan")]]), "states"),
        (lambda: hebbian_attention([1, 1]), "patterns"),
        (lambda: hebbian_attention([[1, 1]])([1]), "states"),
    ],
)
def test_bad_input(call, name, unchecked):
    with rejects(name):
        call()


@pytest.mark.parametrize(
    ("dtype", "bits"), [(torch.float32, 24), (torch.float16, 11), (torch.bfloat16, 8)]
)
def test_a_shorter_dtype_is_exact_or_raises(dtype, bits):
    xi = random_patterns(3, 30, np.random.default_rng(0))
    for model in (hebbian_attention(xi), hopfield_update(hebb(xi))):
        found = model.to(dtype)(-xi).double()
        assert np.array_equal(found, synchronous_update(hebb(xi), -xi))
    fine = np.array([[0, 1, 2 ** (bits - 1)], [1, 0, 0], [2 ** (bits - 1), 0, 0]])
    with rejects("dtype"):
        hopfield_update(fine).to(dtype)([1, 1, 1])
    if bits < 24:
        many = random_patterns(2 ** (bits - 4), 10, np.random.default_rng(0))
        with rejects("dtype"):
            hebbian_attention(many).to(dtype)(many)
