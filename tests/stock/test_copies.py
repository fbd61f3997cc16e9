"""Layer norms in floats: what they do to the two copies of the stream, against exact arithmetic."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest
import torch
from torch import nn

from constructions import gradient_descent, newton, newton_with_pauses
from constructions.stock import Gadgets, to_encoder, to_gpt2
from constructions.stock.gadgets import unit_roundoff

RNG = np.random.default_rng(0)
EPSILON = 1e-5
DTYPES = pytest.mark.parametrize("dtype", [torch.float64, torch.float32], ids=str)
KINDS = {torch.float64: np.float64, torch.float32: np.float32}


def shares(z, weight, normed, K, dtype, W):
    """The error of half the difference of the copies, divided by its bound, at each coordinate.

    The exact norm of z is computed with fractions, except for one root in 60 digits.
    """
    d, half, u = len(z), len(z) // 2, 2.0 ** -(53 if dtype == torch.float64 else 24)
    exact = [Fraction(float(each)) for each in z]
    mean = sum(exact) / d
    variance = sum((each - mean) ** 2 for each in exact) / d + Fraction(EPSILON)
    with mpmath.workdps(60):
        s = mpmath.mpf(weight) / mpmath.sqrt(mpmath.mpf(variance.numerator) / variance.denominator)
        v = [(exact[i] - exact[half + i]) / 2 for i in range(W)]
        common = [abs(exact[i] + exact[half + i]) / 2 for i in range(W)]
        m = 3 * u * (K + float(sum(map(abs, v))))
        for i in range(W):
            got = (Fraction(float(normed[i])) - Fraction(float(normed[half + i]))) / 2
            wanted = s * mpmath.mpf(v[i].numerator) / v[i].denominator
            off = abs(mpmath.mpf(got.numerator) / got.denominator - wanted)
            size = abs(float(v[i])) + float(common[i])
            bound = float(s) * u * ((d / 2 + 6) * abs(float(v[i])) + 4 * (size + m))
            yield float(off) / (bound * (1 + 1e-5))  # terms of order u²


@DTYPES
@pytest.mark.parametrize("d", [8, 64, 576])
@pytest.mark.parametrize("exponent", [4, 16, 30])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
def test_half_the_difference_of_the_copies_is_within_the_bound(dtype, d, exponent, size):
    K, W = 2.0**exponent, min(d // 2 - 1, 12)
    weight = (2 * K**2 / d + EPSILON) ** 0.5
    norm = nn.LayerNorm(d, eps=EPSILON).to(dtype).requires_grad_(False)
    nn.init.constant_(norm.weight, weight)
    worst = 0.0
    for _ in range(3):
        v = torch.as_tensor(RNG.normal(size=W) * size * 10.0 ** RNG.integers(-6, 1, W)).to(dtype)
        z = torch.zeros(d, dtype=dtype)
        z[:W], z[W], z[d // 2 : d // 2 + W], z[d // 2 + W] = v, K, -v, -K
        normed = norm(z)
        found = [*shares(z, float(norm.weight[0]), normed, K, dtype, W)]
        worst = max(worst, *found)
    assert 0 < worst <= 1


@DTYPES
@pytest.mark.parametrize("d", [8, 64, 2048])
def test_the_mean_is_within_its_bound_in_every_order(dtype, d):
    """Sums in sequence, in pairs and at random, and the running mean."""
    kind, u = KINDS[dtype], unit_roundoff(dtype)
    for exponent in (0, 20):
        K = 2.0**exponent + 1 / 3
        v = (RNG.normal(size=d // 2 - 1) * 10.0 ** RNG.integers(-4, 3)).astype(kind)
        z = np.array([*v, kind(K), *-v, -kind(K)])
        numbers = Gadgets(1, 0.5, 8, float(kind(K)), 1.0)
        bound = float(numbers.mean(np.abs(v.astype(float)).sum(), u)) * (1 + 1e-3)
        assert bound == pytest.approx(
            3 * u * (float(kind(K)) + np.abs(v.astype(float)).sum()), 2e-3
        )
        for order in (np.arange(d), RNG.permutation(d)):
            total = running = kind(0)
            for j, each in enumerate(z[order], start=1):
                total = kind(total + each)
                running = kind(running + kind(kind(each - running) / kind(j)))
            assert abs(float(kind(total / kind(d)))) <= bound
            assert abs(float(running)) <= bound
        assert abs(float(np.mean(z, dtype=kind))) <= bound


def at_norms(stock, norms, K, *inputs):
    """The largest error of half the difference of copies in the norms of a module, by its bound."""
    seen = []
    hooks = [
        norm.register_forward_hook(lambda n, z, out: seen.append((n, z[0], out))) for norm in norms
    ]
    list(stock.streams(*inputs))
    for hook in hooks:
        hook.remove()
    found, W = [], stock.plan.soft.d_model
    for norm, before, after in seen:
        rows = before.flatten(0, -2), after.flatten(0, -2)
        for token in RNG.choice(len(rows[0]), 2):
            z, normed = (each[token] for each in rows)
            found += shares(z, float(norm.weight[0]), normed, K, z.dtype, W)
    assert len(seen) >= len(norms)
    return max(found)


X, Y, Q = RNG.normal(size=(2, 5, 2)), RNG.normal(size=(2, 5)), RNG.normal(size=(2, 2))


@DTYPES
def test_copies_in_an_encoder_are_within_the_bound(dtype):
    stock = to_encoder(newton(2, 2, 2.0**-5, start="identity"), X, Y, Q, dtype=dtype)
    norms = [norm for layer in stock.module.layers for norm in (layer.norm1, layer.norm2)]
    assert at_norms(stock, norms, stock.doubled.constant, X, Y, Q) <= 1


@DTYPES
@pytest.mark.parametrize(
    "model",
    [newton_with_pauses(2, 2, 2.0**-5), gradient_descent(2, 2, 2.0**-5, causal=True)],
    ids=["newton", "descent"],
)
def test_copies_in_gpt2_are_within_the_bound(model, dtype):
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    stock = to_gpt2(model, X, Y, Q, dtype=dtype)
    transformer = stock.module.transformer
    norms = [norm for layer in transformer.h for norm in (layer.ln_1, layer.ln_2)]
    assert at_norms(stock, [*norms, transformer.ln_f], stock.doubled.constant, X, Y, Q) <= 1
