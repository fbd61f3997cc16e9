"""Sizes that no memory holds, where more than one argument or another than the default decides.

Huge values of every single parameter are tried in `test_public_functions.py`.
"""

import numpy as np
import pytest
from refusals import rejects

from constructions import (
    binary_search,
    chebyshev,
    count_min,
    gradient_descent,
    hebbian_attention,
    hop,
    hopfield_update,
    hyperpower,
    in_context_ngram,
    induction_heads,
    interpolation_search,
    kd_descent,
    kd_layout,
    newton,
    online_gradient_descent,
    sphere_dynamics,
    squaring,
    tripling,
)
from constructions.structures import sort
from theory import machine

HUGE = 10**12


@pytest.mark.parametrize(
    ("call", "needs"),
    [
        (lambda: newton(5, 10**9, 0.1, "ladder"), "6.309e+08 layers of width 28"),
        (lambda: newton(HUGE, 1, 0.5, "ladder"), "GiB"),
        (lambda: newton(1, HUGE, 0.5, "paper", n=4), "GiB"),
        (lambda: newton(HUGE, 1, 0.5, interleaved=True), "GiB"),
        (lambda: gradient_descent(1, HUGE, 0.5, causal=True), "GiB"),
        (lambda: gradient_descent(HUGE, 1, 0.5, "ladder"), "GiB"),
        (lambda: hyperpower(1, 10**9, 10**9, 0.5), "GiB"),
        (lambda: hop(10**400, 2, 3), "k"),
        (lambda: induction_heads(5, 10**10), "1e+10 tokens and positions need 4.77e+03 GiB"),
        (lambda: induction_heads(2, HUGE, match="mean"), "GiB"),
        (lambda: in_context_ngram(2, 3, 10**6, 0), "GiB"),
    ],
)
def test_what_no_memory_holds_is_refused_at_once(call, needs, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 2**34)
    with rejects(needs):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: newton(2, 10**5, 0.1, "ladder"),
        lambda: gradient_descent(2, 10**5, 0.1),
        lambda: online_gradient_descent(2, 10**5),
        lambda: squaring(2, 10_001),
        lambda: squaring(2, 10_001, form="robust"),
        lambda: tripling(2, 10_001),
        lambda: hopfield_update(np.zeros((2, 2)), steps=10_001),
        lambda: hebbian_attention(np.ones((1, 2)), steps=10_001),
        lambda: sphere_dynamics(2, 1.0, 0.5, 10_001),
    ],
)
def test_more_layers_than_are_built_in_minutes_are_refused(call, monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 2**50)
    with rejects("layers", "10000"):
        call()


# Chebyshev takes ⌈log₃(2k + 1)⌉ layers and hop ⌊log₂k⌋ + 2, a few for any number that one types; a
# step of whatever order is as many powers of three.  A range of numbers takes no memory.
@pytest.mark.parametrize(
    "call",
    [
        lambda n: chebyshev(1, n, 1.0, 2.0),
        lambda n: hop(n, 2, 3),
        lambda n: hyperpower(1, 1, n, 0.5),
        lambda n: binary_search(1, largest=n),
        lambda n: interpolation_search(2, 1, largest=n),
        lambda n: sort(2, largest=n),
        lambda n: kd_layout(3, 1, largest=n),
        lambda n: kd_descent(1, 1, largest=n),
        lambda n: count_min([[0, 1]], 2, max_length=n),
    ],
)
def test_what_takes_few_layers_at_any_size_is_built(call):
    assert call(10**9).n_layers < 40
