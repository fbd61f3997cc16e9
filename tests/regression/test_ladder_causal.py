"""The ladder for every prefix at once: exponents, layers, and what each token keeps."""

from itertools import pairwise

import numpy as np
import pytest
from exact import identity, newton_inverse, predict, prompt, registers
from flint import fmpq
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions import newton
from constructions.regression.ladder_causal import exponents, summands
from theory.regression.depth import ceil_log3
from verify.domains import Rational

Q = Rational()


@given(st.integers(1, 10**6))
def test_exponents_triple_and_are_made_of_those_below(power):
    plan = exponents(power)
    assert plan[0] in ((1,), (0, 1))
    assert plan[-1] == (power,)
    assert len(plan) - 1 == ceil_log3(power)
    for below, above in pairwise(plan):
        for n in above:
            a, c = summands(n, below)
            assert {a, c} <= {*below}
            assert a + 2 * c == n


@settings(max_examples=15)
@given(
    d=st.integers(1, 3),
    n=st.integers(1, 5),
    k=st.integers(0, 4),
    start=st.sampled_from(["gram", "identity"]),
    seed=st.integers(0, 99),
)
def test_every_prefix_has_its_own_powers(d, n, k, start, seed):
    """Over Q: predictions by the recursion on each prefix, and the rows of E^p and G_p."""
    x, y, q = prompt(np.random.default_rng(seed), n, d)
    model, alpha = newton(d, k, 0.25, "ladder", start=start, causal=True), fmpq(1, 4)
    assert model.n_layers == ceil_log3(2**k) + (3 if start == "gram" else 2)
    inputs, unit = np.concatenate([x, q]), identity(d)
    predictions = predict(model, Q, x, y, q)
    held = registers(model, Q, x, y, q)
    for t in range(n + 1):
        seen = x[:t] if t else x[:1] * 0  # no examples are as good as one that is all 0
        S, b = seen.T @ seen, seen.T @ y[: max(t, 1)]
        assert predictions[t] == inputs[t] @ newton_inverse(seen, k, alpha, start) @ b
        E, compared = unit - newton_inverse(seen, 0, alpha, start) @ S, 0
        for stage in model.stages:
            if stage.register[:3] in ("low", "hig"):
                power = unit
                for _ in range(stage.holds.power):
                    power = power @ E
                row = held[stage.after][stage.register][t]
                if "_E" in stage.register:
                    assert row.tolist() == power[stage.holds.row - 1].tolist()
                else:  # S·G = I − E^p
                    assert (row @ S).tolist() == (unit - power)[stage.holds.row - 1].tolist()
                compared += 1
        assert compared >= 2 * d


def test_what_has_no_causal_form_is_rejected():
    for name, more in (
        ("paper", {"layout": "paper", "n": 3}),
        ("interleaved", {"interleaved": True}),
    ):
        with rejects(name):
            newton(2, 1, 0.5, causal=True, **more)


@pytest.mark.parametrize(("d", "k"), [(3000, 3), (2, 10**7)])
def test_what_does_not_fit_into_memory_is_rejected_at_once(d, k):
    with rejects("memory"):
        newton(d, k, 0.5, "ladder", causal=True)


def test_rounding_grows_with_the_power_where_a_prefix_is_shorter_than_d():
    """Errors of E in directions that no example has seen triple in every layer; with more examples
    than dimensions they go out with E."""
    rng = np.random.default_rng(0)
    x, y, q = rng.standard_normal((12, 3)), rng.standard_normal(12), rng.standard_normal(3)
    wanted = [inputs @ np.linalg.pinv(x[:t]) @ y[:t] for t, inputs in enumerate([*x, q])]
    errors = {}
    for k in (24, 48):
        found = newton(3, k, 2.0**-6, "ladder", start="identity", causal=True)(x, y, q).numpy()
        errors[k] = np.abs(found - wanted)
    assert errors[48][6:].max() < 1e-11
    assert errors[48][1:3].max() > 1e4 * errors[24][1:3].max()
