"""Patterns and classical Hopfield networks against their definitions."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.memory import hopfield
from theory.memory import patterns as pattern_module
from theory.memory.hopfield import (
    asynchronous_update,
    asynchronous_update_by_definition,
    hebb,
    hebb_fields,
    hebb_synchronous_run,
    hopfield_energy,
    hopfield_fields,
    synchronous_run,
    synchronous_update,
)
from theory.memory.patterns import exact_dtype, flipped, mixture, overlap, random_patterns

sizes = {"d": st.integers(1, 9), "seed": st.integers(0, 999)}


def network(rng, d, size=3, scale=1):
    upper = np.triu(rng.integers(-size, size + 1, (d, d)), 1)
    return (upper + upper.T) * scale, rng.integers(-size, size + 1, d) * scale


def field(w, s, b, i):
    return sum(int(w[i, j]) * int(s[j]) for j in range(len(s)) if j != i) + int(b[i])


@given(count=st.integers(1, 5), **sizes)
def test_random_patterns_are_signs_and_repeat_with_their_seed(count, d, seed):
    drawn = random_patterns(count, d, np.random.default_rng(seed))
    assert drawn.shape == (count, d)
    assert drawn.dtype == np.int64
    assert set(np.unique(drawn)) <= {-1, 1}
    assert np.array_equal(drawn, random_patterns(count, d, np.random.default_rng(seed)))


def test_both_signs_of_every_bit_are_drawn():
    """All 2^13 equally likely: a bit that is the same 60 times over has probability 26·2^−60."""
    drawn = random_patterns(60, 13, np.random.default_rng(0))
    assert (abs(drawn.sum(axis=0)) < 60).all()


@given(count=st.integers(1, 4), data=st.data(), **sizes)
def test_the_number_of_bits_flipped_in_every_row(count, d, seed, data):
    rng = np.random.default_rng(seed)
    xi, flips = random_patterns(count, d, rng), data.draw(st.integers(0, d))
    before = xi.copy()
    changed = flipped(xi[None], flips, rng)
    assert changed.shape == (1, count, d)
    assert ((changed != xi).sum(axis=-1) == flips).all()
    assert np.array_equal(xi, before)
    assert np.allclose(np.diagonal(overlap(changed[0], xi)), 1 - 2 * flips / d, rtol=1e-15)


@given(count=st.integers(1, 4), **sizes)
def test_overlap_and_mixture_are_sums(count, d, seed):
    rng = np.random.default_rng(seed)
    xi, s = random_patterns(2 * count - 1, d, rng), random_patterns(2, d, rng)
    wanted = [[sum(a * b for a, b in zip(u, v, strict=True)) / d for v in xi] for u in s]
    assert np.array_equal(overlap(s, xi), wanted)
    assert (mixture(xi) * xi.sum(axis=0) > 0).all()


def test_dtypes_are_exact_up_to_their_limits():
    for largest, dtype in (
        (2**24, np.float32),
        (2**24 + 1, np.float64),
        (2**53, np.float64),
        (2**53 + 1, np.int64),
    ):
        assert exact_dtype(largest) is dtype
    assert np.float32(2**24 - 1) + np.float32(1) == 2**24


@pytest.mark.parametrize(
    ("weights", "bias"), [([2**53 + 1], 0), ([2**53, 1, 1, 1], 0), ([2**53], 1)]
)
def test_fields_just_above_the_integers_of_float64(weights, bias):
    """The sums of sizes round to 2⁵³."""
    d = len(weights) + 1
    w = np.zeros((d, d), dtype=np.int64)
    w[0, 1:] = w[1:, 0] = weights
    s, b = np.ones(d, dtype=np.int64), np.full(d, bias)
    h = sum(weights) + bias
    assert int(hopfield_fields(w, s, b)[0]) == h
    assert int(hopfield_energy(w, s, b)) == -sum(weights) - bias * d
    last = np.full(d, -1)
    last[0] = 1
    assert asynchronous_update(w, last, range(d), np.r_[sum(weights), b[1:]]).states[0] == 1


@given(P=st.integers(1, 6), **sizes)
def test_hebb_by_its_sum_and_fields_without_weights(P, d, seed):
    rng = np.random.default_rng(seed)
    xi, s = random_patterns(P, d, rng), random_patterns(3, d, rng)
    w = hebb(xi)
    wanted = [[sum(int(r[i] * r[j]) for r in xi) * (i != j) for j in range(d)] for i in range(d)]
    assert w.dtype == np.int64
    assert w.tolist() == wanted
    assert np.array_equal(hebb_fields(xi, s), hopfield_fields(w, s))


@given(scale=st.sampled_from([1, 2**23, 2**50, 2**54]), **sizes)
def test_fields_and_energies_by_their_sums_in_every_format(d, seed, scale):
    rng = np.random.default_rng(seed)
    (w, b), s = network(rng, d, scale=scale), random_patterns(2, d, rng)[None]
    h, e = hopfield_fields(w, s, b), hopfield_energy(w, s, b)
    assert h.dtype == np.int64
    assert e.shape == (1, 2)
    for k in range(2):
        state = s[0, k]
        assert h[0, k].tolist() == [field(w, state, b, i) for i in range(d)]
        pairs = sum(int(w[i, j] * state[i] * state[j]) for i in range(d) for j in range(i))
        assert int(e[0, k]) == -pairs - int(b @ state)


@given(**sizes)
def test_integers_in_float_weights_give_the_same(d, seed):
    rng = np.random.default_rng(seed)
    (w, b), s = network(rng, d), random_patterns(4, d, rng)
    order = rng.permutation(d)
    for function in (hopfield_fields, hopfield_energy, synchronous_update):
        floats = function(w / 4, s, b / 4)
        exact = function(w, s, b)
        assert np.array_equal(floats, exact if function is synchronous_update else exact / 4)
    fast, slow = asynchronous_update(w / 4, s, order, b / 4), asynchronous_update(w, s, order, b)
    assert np.array_equal(fast.states, slow.states)
    assert np.array_equal(fast.flips, slow.flips)


def test_one_of_weights_and_biases_may_be_floats():
    s, whole, halves = [1, -1], [[0, 1], [1, 0]], [[0, 0.5], [0.5, 0]]
    assert hopfield_fields(halves, s, [1, 0]).tolist() == [0.5, 0.5]
    assert hopfield_fields(whole, s, [0.5, 0]).tolist() == [-0.5, 1.0]


@given(**sizes)
def test_asynchronous_runs_are_those_of_the_definition(d, seed):
    rng = np.random.default_rng(seed)
    (w, b), s = network(rng, d, 2), random_patterns(3, d, rng)
    order = rng.permutation(d)
    found = asynchronous_update(w, s, order, b)
    for k in range(3):
        visited = np.array(asynchronous_update_by_definition(w, s[k], order, b))
        assert np.array_equal(found.states[k], visited[-1])
        assert found.flips[k] == (visited[1:] != visited[:-1]).sum()
        assert found.sweeps[k] == (len(visited) - 1) // d
        energies = hopfield_energy(w, visited, b)
        # Every update sets one neuron to the sign of its field, or leaves it unchanged.
        for step in range(len(visited) - 1):
            i, before = order[step % d], visited[step]
            h = field(w, before, b, i)
            assert visited[step + 1, i] == (np.sign(h) if h else before[i])
            flips = visited[step + 1, i] != before[i]
            assert energies[step + 1] - energies[step] == (-2 * abs(h) if flips else 0)
    assert found.converged.all()


@given(**sizes)
def test_random_orders_end_in_stable_states(d, seed):
    rng = np.random.default_rng(seed)
    (w, b), s = network(rng, d), random_patterns(4, d, rng).reshape(2, 2, d)
    found = asynchronous_update(w, s, rng, b)
    assert found.states.shape == s.shape
    assert found.flips.shape == found.sweeps.shape == (2, 2)
    assert (hopfield_fields(w, found.states, b) * found.states >= 0).all()
    drop = hopfield_energy(w, s, b) - hopfield_energy(w, found.states, b)
    assert (drop >= 2 * found.flips).all()


def test_sweeps_are_counted_and_limited():
    w, b = network(np.random.default_rng(3), 8)
    s = random_patterns(6, 8, np.random.default_rng(4))
    none = asynchronous_update(w, s, range(8), b, sweeps=0)
    assert np.array_equal(none.states, s)
    assert not none.converged.any()
    one = asynchronous_update(w, s, range(8), b, sweeps=1)
    assert (one.sweeps == 1).all()
    assert np.array_equal(one.converged, one.flips == 0)


@pytest.mark.parametrize(("P", "d"), [(3, 40), (30, 40), (1, 1), (5, 4)])
def test_runs_through_patterns_and_through_weights_agree(P, d):
    rng = np.random.default_rng(P)
    xi = random_patterns(P, d, rng)
    s = flipped(xi, d // 4, rng)
    through, direct = hebb_synchronous_run(xi, s), synchronous_run(hebb(xi), s)
    for name in ("states", "period", "steps"):
        assert np.array_equal(getattr(through, name), getattr(direct, name))


def test_too_few_steps_are_reported():
    w = 1 - np.eye(2, dtype=int)
    found = synchronous_run(w, [[1, -1], [1, 1]], max_steps=0)
    assert found.period.tolist() == [2, 1]  # both are on their cycle already
    rng = np.random.default_rng(0)
    xi = random_patterns(9, 30, rng)
    s = random_patterns(20, 30, rng)
    whole = hebb_synchronous_run(xi, s)
    few = hebb_synchronous_run(xi, s, max_steps=1)
    late = whole.steps > 1
    assert late.any()
    assert (few.period[late] == 0).all()
    assert np.array_equal(few.period[~late], whole.period[~late])
    assert np.array_equal(few.states[late], synchronous_update(hebb(xi), s[late]))


def test_an_empty_batch_stays_empty():
    w = np.zeros((3, 3), dtype=int)
    empty = np.zeros((0, 3), dtype=int)
    assert asynchronous_update(w, empty, range(3)).states.shape == (0, 3)
    assert synchronous_run(w, empty).period.shape == (0,)
    assert hopfield_energy(w, empty).shape == (0,)


def test_a_neuron_with_zero_field_is_unchanged():
    for value in (-1, 1):
        assert synchronous_update([[0]], [value]).tolist() == [value]
        assert asynchronous_update([[0]], [value], [0]).states.tolist() == [value]


def test_more_neurons_than_memory_raise(monkeypatch):
    monkeypatch.setattr("theory.machine.available_memory", lambda: 10**6)
    with rejects("weights", "1000"):
        hebb(np.ones((1, 1000)))


def test_fields_are_exact_where_single_overlaps_fit_a_smaller_dtype(monkeypatch):
    """With a dtype that is exact up to 2^11 in place of float32."""

    def few_bits(largest):
        return np.float16 if largest <= 2**11 else np.float64

    monkeypatch.setattr("theory.memory.hopfield.exact_dtype", few_bits)
    for P, d in ((3, 1001), (1001, 3)):
        ones = np.ones((P, d), dtype=np.int64)
        assert hebb_fields(ones, ones[0]).tolist() == [P * (d - 1)] * d
        assert hebb(ones).sum() == P * d * (d - 1)


def test_each_sum_is_exact_in_the_dtype_of_its_bound(monkeypatch):
    """The bounds for which a dtype is chosen are at least the sums of patterns of ones."""
    P, d = 5, 13
    few, many = np.ones((P, d), dtype=int), np.ones((d, P), dtype=int)
    cases = (
        (hebb, (many,), [d]),
        (hebb_fields, (few, few), [d, P * d]),
        (overlap, (few, few), [d]),
        (hebb_synchronous_run, (few, few), [P * d]),
        (hebb_synchronous_run, (many, many), [d, d * (P - 1)]),
        (hopfield_fields, (few[:, :P] - np.eye(P, dtype=int), few[:, :P]), [P - 1]),
    )
    bounds = list[float]()

    def asked(largest):
        bounds.append(largest)
        return np.int64

    for module in (hopfield, pattern_module):
        monkeypatch.setattr(module, "exact_dtype", asked)
    for function, arguments, sums in cases:
        bounds.clear()
        function(*arguments)
        assert len(bounds) == len(sums)
        assert (np.sort(bounds) >= np.sort(sums)).all()
