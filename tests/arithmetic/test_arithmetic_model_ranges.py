"""Models of `constructions.arithmetic` at many sizes, compared with definitions."""

import numpy as np
import pytest
from arithmetic_by_definition import enough_bits, gap, most_bits, moved, rng
from refusals import rejects

from constructions import adder, linear_adder, modular_addition
from theory import arithmetic as A


@pytest.mark.parametrize(
    ("call", "last", "name"),
    [
        (lambda n: A.round_to_multiple([n], 1), 2**53, "n"),
        (lambda step: A.round_to_multiple([1], step), 2**53, "step"),
        (lambda bits: A.rounding_of_logits(1.0, bits), 1074, "bits"),
        (lambda f: A.comb([f], 1), 5, "F"),
        (lambda f: A.period(f), 5, "f"),
        (lambda k: A.few_frequencies_margin(401, [k]), 400, "K"),
        (lambda step: adder(30, step, 1.0), 60, "step"),
        (lambda n: adder(30)([n, 0]), 30, "tokens"),
        (lambda n: linear_adder(300)([0, n]), 300, "tokens"),
        (lambda n: modular_addition(17)([n, 0]), 16, "tokens"),
    ],
)
def test_largest_values(call, last, name):
    call(last)
    with rejects(name):
        call(last + 1)


@pytest.mark.parametrize(
    ("largest", "step", "alpha"),
    [
        *((3, 1, None), (10, 4, 4.0), (10, 5, 7.9), (50, 5, None), (260, 5, None)),
        *((1000, 3, None), (10, 5, 8.1), (30, 6, 1.0), (30, 7, 1.0)),
    ],
)
def test_adders_of_all_bits(largest, step, alpha):
    """Within the theorem, exactly the sufficient bits are accepted; outside, all exact ones."""
    p = A.n_candidates(largest)
    weight = A.default_alpha(p) if alpha is None else alpha
    promised = step <= 5 and weight <= A.largest_alpha(p)[0]
    most = most_bits(weight)
    accepted = enough_bits(p, step, weight) if promised else range(1, most + 1)
    for bits in range(1, most + 2):
        if bits not in accepted:
            with rejects("bits", "alpha"):
                adder(largest, step, alpha, bits)
        elif bits in (accepted[0], most):
            margin = adder(largest, step, alpha, bits).interface.margin
            wanted = gap(p, weight, 2 * (step // 2)) - 2 * moved(weight, bits)
            assert margin == pytest.approx(max(wanted, 0.0), rel=1e-6, abs=1e-11)


@pytest.mark.parametrize(
    ("L", "step", "alpha"),
    [(33, 5, None), (130, 4, 32.0), (300, 5, None), (999, 2, 16.0), (1000, 5, None)],
)
def test_adders(L, step, alpha):
    numbers = rng(L).integers(L + 1, size=(1200, 2))
    ends = [[a, b] for a in (0, 1, 2, 3, L // 2, L - 3, L - 2, L - 1, L) for b in (0, 1, L - 1, L)]
    pairs = np.concatenate([numbers, ends])
    assert (adder(L, step, alpha)(pairs).numpy()[:, 0] == pairs.sum(1)).all()
    assert (linear_adder(10 * L)(pairs).numpy()[:, 0] == pairs.sum(1)).all()
    assert linear_adder(10 * L)([10 * L, 10 * L]).tolist() == [20 * L]


@pytest.mark.parametrize("p", [33, 65, 101])
def test_modular_adders(p):
    pairs = rng(p).integers(p, size=(60, 2))
    pairs[:2] = [[0, 0], [p - 1, p - 1]]
    logits = modular_addition(p).logits(pairs)[:, 0].numpy()
    wanted = 2 * (p * (np.arange(p) == pairs.sum(1, keepdims=True) % p) - 1)
    assert np.allclose(logits, wanted, atol=1e-9 * p)
