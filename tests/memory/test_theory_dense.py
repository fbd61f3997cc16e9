"""Dense associative memories against integers, and the exponential memory against balls."""

import decimal

import mpmath
import numpy as np
import pytest
from flint import arb
from hypothesis import given, settings
from hypothesis import strategies as st

from theory.memory.dense import (
    _interaction,
    dense_energy,
    dense_preferred,
    dense_preferred_by_definition,
    dense_synchronous_update,
    dense_update,
    exponential_log_energy,
    sign_of_exponential_sum,
)
from theory.memory.patterns import flipped, random_patterns
from verify.domains import Ball

degrees = st.sampled_from([2, 3, 4, 5, 17, 40, 61, 200])
sizes = {"N": st.integers(1, 9), "d": st.integers(1, 7), "seed": st.integers(0, 999)}


def energy(xi, s, n):
    return -sum(sum(int(a * b) for a, b in zip(row, s, strict=True)) ** n for row in xi)


@given(degree=degrees, **sizes)
def test_energies_and_signs_are_those_of_integers(degree, N, d, seed):
    rng = np.random.default_rng(seed)
    xi, s = random_patterns(N, d, rng), random_patterns(3, d, rng)
    assert dense_energy(xi, s, degree).tolist() == [energy(xi, row, degree) for row in s]
    wanted = dense_preferred(xi, s[None], degree)[0]
    for k in range(3):
        assert wanted[k].tolist() == dense_preferred_by_definition(xi, s[k], degree)
        for i in range(d):
            up, down = s[k].copy(), s[k].copy()
            up[i], down[i] = 1, -1
            difference = energy(xi, down, degree) - energy(xi, up, degree)
            assert wanted[k, i] == (difference > 0) - (difference < 0)


@given(degree=degrees, **sizes)
def test_sweeps_are_updates_one_by_one(degree, N, d, seed):
    rng = np.random.default_rng(seed)
    xi, s = random_patterns(N, d, rng), random_patterns(2, d, rng)
    order = rng.permutation(d)
    found = dense_update(xi, s, degree, order, sweeps=1)
    for k in range(2):
        state = s[k].copy()
        for i in order:
            state[i] = dense_preferred_by_definition(xi, state, degree)[i] or state[i]
        assert np.array_equal(found.states[k], state)
    synchronous = dense_synchronous_update(xi, s, degree)
    for k in range(2):
        wanted = dense_preferred_by_definition(xi, s[k], degree)
        assert synchronous[k].tolist() == [w or v for w, v in zip(wanted, s[k], strict=True)]


@pytest.mark.parametrize("degree", [2, 3, 30, "exp"])
def test_updates_end_in_stable_states(degree):
    rng = np.random.default_rng(1)
    xi, s = random_patterns(12, 16, rng), random_patterns(6, 16, rng).reshape(2, 3, 16)
    found = dense_update(xi, s, degree, rng)
    assert found.converged.all()
    assert found.states.shape == s.shape
    assert found.flips.shape == (2, 3)
    assert (dense_preferred(xi, found.states, degree) * found.states >= 0).all()
    again = dense_update(xi, found.states, degree, rng)
    assert (again.flips == 0).all()
    assert (again.sweeps == 1).all()


@given(st.dictionaries(st.integers(-200, 200), st.integers(-9, 9), max_size=6))
def test_signs_of_sums_of_powers_of_e(counts):
    with Ball.precision(2000):
        total = sum((c * arb(k).exp() for k, c in counts.items()), arb(0))
    wanted = 0 if not any(counts.values()) else 1 if total > 0 else -1 if total < 0 else None
    assert sign_of_exponential_sum(counts) == wanted


@settings(max_examples=20)
@given(**sizes)
def test_exponential_signs_against_balls(N, d, seed):
    rng = np.random.default_rng(seed)
    xi, s = random_patterns(N, d, rng), random_patterns(1, d, rng)[0]
    found = dense_preferred(xi, s, "exp")
    with Ball.precision(300):
        for i in range(d):
            terms = [(int(row[i]), int(row @ s - row[i] * s[i])) for row in xi]
            tie = all(sum(b for b, v in terms if v == u) == 0 for _, u in terms)
            total = sum((b * arb(u).exp() for b, u in terms), arb(0))
            assert found[i] == (0 if tie else 1 if total > 0 else -1)
            assert tie or not total.contains(0)
        x = (xi @ s).tolist()
        log = sum((arb(v).exp() for v in x), arb(0)).log()
        assert abs(float(log) - exponential_log_energy(xi, s)) <= 1e-14 * (1 + max(map(abs, x)))


@pytest.mark.parametrize("seed", range(6))
def test_rounding_does_not_decide_a_sum_of_powers_of_e(seed):
    """Three coefficients of 40 digits: at 30 digits the sum is rounding, and of either sign."""
    rng = np.random.default_rng(seed)
    a, b = (int("".join(map(str, rng.integers(1, 10, 40)))) for _ in "ab")
    with decimal.localcontext(prec=120):
        total = decimal.Decimal(1).exp() * a + decimal.Decimal(2).exp() * b
        whole = round(total)
        wanted = 1 if total > whole else -1
    assert sign_of_exponential_sum({1: a, 2: b, 0: -whole}) == wanted


@pytest.mark.parametrize(("degree", "d"), [(20, 61), (60, 41), ("exp", 61)])
def test_errors_in_the_log_domain_are_below_their_bound(degree, d):
    """Signs not decided exactly rely on this bound."""

    def term(u):
        """G(u), of eˣ without its factor."""
        return (
            mpmath.exp(u) if degree == "exp" else mpmath.mpf((u + 1) ** degree - (u - 1) ** degree)
        )

    made, errors = _interaction(degree, 5, d), []
    with mpmath.workdps(100):
        for k, u in enumerate(range(1 - d, d)):
            if exact := term(u) / term(d - 1):
                found = made.sign[k] * np.exp(made.log[k] - made.log.max())
                errors.append(float(abs(found / exact - 1)))
    assert 0 < max(errors) <= made.term_error


def test_nothing_overflows_at_ten_thousand_neurons():
    rng = np.random.default_rng(0)
    xi = random_patterns(2, 10_000, rng)
    wrong = flipped(xi[0], 3000, rng)
    assert np.array_equal(dense_synchronous_update(xi, wrong, "exp"), xi[0])
    overlap = int(xi[1, :50] @ xi[0, :50])
    assert dense_energy(xi[:, :50], xi[0, :50], 301).item() == -(50**301) - overlap**301


def test_edges():
    empty = np.zeros((0, 3), dtype=int)
    xi = np.ones((1, 3), dtype=int)
    assert dense_update(xi, empty, 3, [0, 1, 2]).states.shape == (0, 3)
    assert dense_preferred(xi, empty, "exp").shape == (0, 3)
    none = dense_update(xi, [[-1, -1, 1]], 3, [0, 1, 2], sweeps=0)
    assert none.states.tolist() == [[-1, -1, 1]]
    assert not none.converged[0]
    assert dense_preferred([[1]], [-1], 2).tolist() == [0]  # a single neuron has no field
    assert dense_preferred([[1]], [-1], 3).tolist() == [1]  # but 1³ > (−1)³
    assert dense_preferred([[1, 1], [-1, -1]], [1, 1], "exp").tolist() == [1, 1]
    equal = np.tile(random_patterns(1, 5, np.random.default_rng(0)), (4, 1))
    assert np.array_equal(dense_preferred(equal, equal[0], 4), equal[0])
