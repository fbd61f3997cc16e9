"""The ladders: every power over Q in the fewest layers, every register, and what rounding does."""

from itertools import pairwise

import numpy as np
import pytest
from exact import hyperpower_inverse, power_inverse, predict, prompt, registers
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import hyperpower, newton
from constructions.regression.ladder import ladder, powers
from constructions.regression.ladder_gram import (
    Level,
    _summands,
    gram_powers,
    level_below,
    power_ladder,
)
from constructions.regression.stages import Powers
from theory.regression.depth import ceil_log3, newton_lower_bound
from verify.claim import Run
from verify.domains import Rational
from verify.evidence.identity import modulo_primes
from verify.finding import Verdict
from verify.regression.statements import newton_statement

Q = Rational()
starts = st.sampled_from(["gram", "identity"])


def least(power, start):
    """The layers that the degree of the prediction needs."""
    return ceil_log3((4 if start == "gram" else 2) * power + 1)


@given(st.integers(1, 10**40))
def test_from_the_identity_a_plan_has_the_least_number_of_layers(power):
    """A layer makes its exponents from those of the layer below, and they are at most M_L."""
    plan = powers(power, 0.5)
    assert len(plan) == least(power, "identity")
    held = {"low": 0}
    for layer, rungs in enumerate(plan, start=1):
        made = {}
        for rung in rungs:
            (reached,) = {
                *(2 * held[a] + held[c] for a, c in rung.products),
                *(held[slot] for slot in rung.unchanged),
            }
            made[rung.slot] = rung.exponent
            assert rung.exponent - reached == len(rung.once) + len(rung.cubed) <= 1
            assert all(3 * held[slot] == reached for slot in rung.cubed)
            assert all(held[slot] == reached for slot in rung.once)
            assert rung.exponent <= (3**layer - 1) // 2
        held = made
    assert held == {"low": power}


@given(st.integers(1, 10**40))
def test_from_the_gram_matrix_a_plan_has_the_least_number_of_layers(power):
    plan = gram_powers(power)
    assert len(plan) == least(power, "gram")
    held, kept = {"low": 0}, set()
    for rungs in plan:
        made, keeps = {}, set()
        for slot, exponent, a, c, more, parts in rungs:
            assert exponent == 2 * held[a] + held[c] + more
            assert {0: set(), 1: {a}, 2: {a, c}}[more] <= kept
            assert more < 2 or "w" not in parts
            made[slot] = exponent
            keeps |= {slot} if "w" in parts else set()
        held, kept = made, keeps
    assert held == {"low": power}


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("largest", [25, pytest.param(200, marks=pytest.mark.slow)])
def test_every_power_is_exact_in_the_fewest_layers(largest, start):
    """Over Q at d = 2, n = 3, beside G with S·G = I − E^p by the bits of p."""
    x, y, q = prompt(np.random.default_rng(0), 3, 2, 1)
    for power in range(1, largest + 1):
        model = power_ladder(2, power, 0.25, start)
        assert model.n_layers == least(power, start)
        G = power_inverse(x, power, fmpq(1, 4), start)
        assert predict(model, Q, x, y, q) == (q @ G @ (x.T @ y)).tolist()


@settings(max_examples=25)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 4),
    power=st.integers(1, 60),
    start=starts,
    seed=st.integers(0, 99),
)
def test_every_register_satisfies_its_layer_invariant(d, n, power, start, seed):
    """On examples too, where s is y − xᵀG b and on queries −xᵀG b."""
    x, y, q = prompt(np.random.default_rng(seed), n, d, 2)
    model, alpha = power_ladder(d, power, 0.25, start), fmpq(1, 4)
    S, b, inputs = x.T @ x, x.T @ y, np.concatenate([x, q])
    labels = np.concatenate([y, 0 * q[:, 0]])
    held = registers(model, Q, x, y, q)
    for stage in model.stages:
        G = power_inverse(x, stage.holds.power, alpha, start)
        E = np.eye(d, dtype=int) - G @ S
        wanted = {
            "u": inputs @ G,
            "e": inputs @ E,
            "s": (labels - inputs @ G @ b)[:, None],
            "w": inputs @ E @ S,
            "f": (inputs @ E @ b)[:, None],
        }[stage.register[-1]]
        assert held[stage.after][stage.register].tolist() == wanted.tolist(), str(stage)


def test_exponents_are_made_of_neighbours_that_grow():
    plan = powers(2**20, 0.5)
    lows = [rungs[0].exponent for rungs in plan]
    assert all(3 * a <= b <= 3 * a + 3 for a, b in pairwise(lows))
    assert all(b.exponent == a.exponent + 1 for a, b in (r for r in plan if len(r) == 2))


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("kappa", [10.0, 1e4, 1e6])
def test_rounding_does_not_grow_with_the_power(start, kappa):
    """Solved to convergence and far beyond: what rounding leaves is κ·eps, not eps·3^L.

    From αS the equations are those of S², so to 1/κ² of the largest eigenvalue there κ² counts.
    """
    rng = np.random.default_rng(0)
    left, _ = np.linalg.qr(rng.standard_normal((10, 5)))
    right, _ = np.linalg.qr(rng.standard_normal((5, 5)))
    x = (left * np.sqrt(np.geomspace(1, kappa, 5))) @ right
    y, queries = rng.standard_normal(10), rng.standard_normal((20, 5))
    wanted = queries @ np.linalg.lstsq(x, y, rcond=None)[0]
    power = 2 if start == "gram" else 1
    scale = 2.0 ** -np.ceil(power * np.log2(kappa))
    enough = int(np.ceil(power * np.log2(kappa) + 7))
    for k in (enough, enough + 30):
        found = newton(5, k, scale, "ladder", start=start)(x, y, queries).numpy()
        error = np.abs(found - wanted).max() / np.abs(wanted).max()
        assert error < 1e-14 * kappa**power


def test_from_the_identity_a_rank_that_is_not_full_costs_nothing():
    """On the null space of S, u grows like α·N·x; s, which is read, does not see it."""
    rng = np.random.default_rng(0)
    x, y, q = rng.standard_normal((3, 5)), rng.standard_normal(3), rng.standard_normal(5)
    found = newton(5, 25, 2.0**-5, "ladder", start="identity")(x, y, q).item()
    assert abs(found - q @ np.linalg.pinv(x) @ y) < 1e-10


@settings(max_examples=25)
@given(
    d=st.integers(1, 2),
    n=st.integers(1, 3),
    k=st.integers(0, 3),
    order=st.integers(2, 4),
    start=starts,
    seed=st.integers(0, 99),
)
def test_hyperpower_is_its_recursion_over_q(d, n, k, order, start, seed):
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    M = hyperpower_inverse(x, k, order, fmpq(1, 4), start)
    model = hyperpower(d, k, order, 0.25, start=start)
    assert predict(model, Q, x, y, q) == (q @ M @ (x.T @ y)).tolist()


def test_one_slot_is_enough_where_exponents_triple_and_add_one():
    model = ladder(2, powers(40, 0.5), Powers(0.5, "identity"))
    assert (model.n_layers, model.n_heads, model.d_model) == (4, 5, 3 * 2 + 2)
    assert not any("high" in line for block in model.blocks for line in block.lines)


def test_powers_beyond_64_bits():
    model = hyperpower(1, 50, 3, 0.5)
    assert model.n_layers == 52
    assert model([[1.0]], [3.0], [2.0]).item() == 6.0


@pytest.mark.parametrize("r", range(3))
@pytest.mark.parametrize("kind", [(1, 0), (1, 1), (2, 0)])
def test_in_every_case_of_the_proof_the_degree_below_is_small_enough(kind, r):
    """The least odd number D with 3D ≥ (the degree of the level); only differences count."""
    q, (size, images) = 100, kind
    n = 3 * q + r
    top = Level(tuple(range(n, n + size)), frozenset(range(n, n + images)))
    below = level_below(top, 10**3)
    assert below.degree == next(D for D in range(1, 10**4, 2) if top.degree <= 3 * D)
    with_fewer = [
        Level(exponents, frozenset(images))
        for exponents, images in (((q,), ()), ((q,), (q,)), ((q, q + 1), ()))
        if Level(exponents, frozenset(images)).degree < below.degree
    ]
    for other in with_fewer:
        assert not all(_summands(each, top, other) for each in top.exponents)


def test_no_level_is_a_pair_with_images():
    """So the width is at most 6d + 4: x, y, two slots, and w and f of one of them."""
    for power in (*range(1, 200), 2**40, 3**25 + 7):
        for rungs in gram_powers(power):
            assert len(rungs) == 1 or all(rung.parts == ("u", "e", "s") for rung in rungs)
    assert newton(3, 2, 0.25, "ladder").d_model <= 6 * 3 + 4
    assert max(newton(3, k, 0.25, "ladder").d_model for k in range(9)) == 6 * 3 + 4


@pytest.mark.parametrize("start", ["gram", "identity"])
def test_the_proof_speaks_of_every_register_that_a_layer_makes(start):
    """Of all that heads add to, in every layer; the last makes only what is read."""
    for power in (1, 2, 5, 8, 40, 77):
        model = power_ladder(2, power, 0.25, start)
        for number, block in enumerate(model.blocks, start=1):
            added = {
                name for name in model.stream if bool(block.attn.W_O[..., model.stream[name]].any())
            }
            told = {stage.register for stage in model.stages if stage.after == number}
            assert added <= told
            assert all(name.endswith("_s") for name in told) is (number == model.n_layers)


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize("k", range(13))
def test_newton_steps_at_dimension_five_mod_primes(k, start):
    """For all inputs of these sizes, but for the error probability that is printed."""
    case = newton_statement(Run(), "ladder", start, 2.0**-6).at(5, 7, k)
    assert case.model.n_layers == newton_lower_bound(k, start)
    assert modulo_primes(Run(), case).verdict is Verdict.HOLDS
