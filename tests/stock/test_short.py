"""Rounding of small numbers to float16 and bfloat16, and the bounds that count it."""

import math
from fractions import Fraction

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import induction_heads, previous_token
from constructions.softmax import SoftmaxError
from constructions.stock import short, to_encoder
from constructions.stock.gadgets import Gadgets, unit_roundoff
from constructions.stock.short import stored_error

SHORT = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
DIGITS = {torch.float16: (11, -14), torch.bfloat16: (8, -126)}  # bits, exponent of least normal


def rounded(x, dtype):
    """Round to nearest, ties to even, by integers; bits and exponents are those of IEEE 754."""
    bits, lowest = DIGITS[dtype]
    if x == 0:
        return x
    exponent = lowest
    while Fraction(2) ** (exponent + 1) <= x:
        exponent += 1
    step = Fraction(2) ** (exponent - bits + 1)
    return round(x / step) * step


def near_zero(dtype):
    """Numbers beside all places where rounding changes, from 0 to above the least normal number."""
    bits, lowest = DIGITS[dtype]
    least = Fraction(2) ** (lowest - bits + 1)
    last = 2**bits + 4
    chosen = {*range(40), *range(last - 8, last), *map(int, np.geomspace(40, last, 40))}
    for whole in sorted(chosen):
        for part in (-1, 0, 1):
            yield least * (Fraction(2 * whole + 1, 2) + Fraction(part, 2**10))


@SHORT
def test_the_rounding_here_is_that_of_torch(dtype):
    for x in near_zero(dtype):
        # float64 has enough digits for these numbers, and torch rounds it once.
        assert Fraction(float(torch.tensor(float(x)).double().to(dtype))) == rounded(x, dtype)


@SHORT
def test_a_zero_that_is_off_at_most_doubles_below_the_normal_numbers(dtype):
    bits, lowest = DIGITS[dtype]
    u, least = Fraction(1, 2**bits), Fraction(2) ** (lowest - bits + 1)
    assert unit_roundoff(dtype) == u
    for x in near_zero(dtype):
        assert rounded(x, dtype) <= x + max(u * x, min(x, least / 2))
    # A relative error of u is too little for a number slightly above half the least one.
    x = least * Fraction(501, 1000)
    assert rounded(x, dtype) == least > Fraction(19, 10) * (1 + u) * x
    assert rounded(least / 2, dtype) == 0


@SHORT
@pytest.mark.parametrize("factors", [(1, 1), (1, 5), (Fraction(501, 1000), 1), (1, Fraction(2, 3))])
def test_two_roundings_at_two_scales_are_bounded(dtype, factors):
    bits, lowest = DIGITS[dtype]
    u, least = 2.0**-bits, 2.0 ** (lowest - bits + 1)
    scale = float(min(1, *factors))
    stored, worst = stored_error(dtype, scale), 0.0
    for x in near_zero(dtype):
        found = x
        for factor in factors:
            found = rounded(found * factor, dtype) / factor
        bound = stored(float(x), 1)
        wanted = (1 + 3 * u) * float(x) + min(3 * float(x), least / scale)
        assert bound == pytest.approx(wanted, rel=1e-12, abs=0)
        assert found <= bound
        worst = max(worst, float(found) / bound)
    assert worst > 0.5  # not loose


@SHORT
def test_sums_of_small_numbers_are_bounded(dtype):
    """Of many weights of softmax, each is rounded by itself."""
    least = torch.finfo(dtype).smallest_normal * torch.finfo(dtype).eps
    for each in (0.49, 0.51, 0.75, 1.2, 40.0):
        x = torch.full((100,), each * least, dtype=torch.float64)
        after, bound = x.to(dtype).double().sum(), stored_error(dtype, 1.0)(float(x.sum()), 100)
        assert after <= bound
        assert bound <= 4.1 * x.sum()


def test_the_bound_counts_subnormal_numbers():
    """bfloat16 has fewer digits than float16, but float16 loses more below its normal numbers."""
    model = induction_heads(8, 32)
    bounds = [to_encoder(model, dtype=dtype).bound() for dtype in (torch.float16, torch.bfloat16)]
    assert bounds[0] > 1.2 * bounds[1]


@pytest.mark.parametrize(
    ("part", "errors"),
    [
        ("all but half a unit", {"in_quanta": 2.0**-9}),
        ("half a unit", {"in_quanta": 2.0**-9 * 1.01}),
        ("in a register", {"stream": 2.0**-9}),
        ("a leak and roundings", {"leaks": ((2.0**-9,),)}),
    ],
    ids=str,
)
def test_errors_above_half_a_unit_are_not_restored(part, errors, monkeypatch):
    """In bfloat16, half of the unit roundoff is 2^-9."""
    none = {"leaks": (), "registers": {}, "logits": 0.5, "stream": 0.0, "in_quanta": 0.0}
    found = SoftmaxError(**none | errors)
    monkeypatch.setattr(short, "softmax_error", lambda *given, **options: found)
    numbers = Gadgets(1, 0.5, 1, 2.0**7, 16.0)
    bound = short.restored_bound(previous_token(3, 6), 1.0, numbers, 1.0, torch.bfloat16)
    assert bound == (0.5 if part == "all but half a unit" else math.inf)


@pytest.mark.parametrize("power", [-14, -12, -8, 0])
def test_leaks_of_subnormal_size_are_within_the_bound(power):
    """Values 2^power: what leaks to other tokens is rounded below the normal numbers."""
    model = previous_token(3, 6)
    (attn,) = model.attentions
    attn.W_V.mul_(2.0**power)
    attn.W_O.div_(2.0**power)
    stock = to_encoder(model, dtype=torch.float16)
    tokens = np.random.default_rng(0).integers(0, 3, (50, 6))
    off = (stock.logits(tokens).double() - model.logits(tokens)).abs().max()
    assert off <= stock.bound() < 1e-4


def test_multiples_of_the_sharpness_are_exact_too():
    """Numbers of 5 bits times 255, of 8 bits, do not fit into 8 bits; times 256 they do."""
    model = previous_token(3, 24)
    to_encoder(model.sharpened(256.0), dtype=torch.bfloat16)
    to_encoder(model.sharpened(255.0), dtype=torch.float32)
    with rejects("bfloat16", "255"):
        to_encoder(model.sharpened(255.0), dtype=torch.bfloat16)
