"""Adders: all pairs, exactness in float64, the claim with other options, rejected arguments."""

from __future__ import annotations

import math
from decimal import Decimal, localcontext
from fractions import Fraction

import numpy as np
import pytest
import torch
from by_id import not_holding
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import adder, linear_adder
from constructions.exactness import exact_in
from theory.arithmetic import (
    default_alpha,
    largest_alpha,
    least_gap,
    round_to_multiple,
    rounding_of_logits,
)
from theory.arithmetic.adder import adder_logits, n_candidates
from theory.arithmetic.adder_balls import turn
from theory.kinds import OutsideHypotheses
from verify.arithmetic.adder import adder as claim
from verify.arithmetic.adder import adds_with_error, unlike_theorem
from verify.arithmetic.modular_margin import ahead_by_all
from verify.arithmetic.pairs import Enumerated, all_right, enumerated, rows_of_pairs, sums
from verify.claim import Run
from verify.finding import Verdict

SMALL = {"largest": 10, "alpha": 4.0}
CLOSE = {"largest": 10, "alpha": 7.9, "bits": 5}  # just below the limit 8, by few bits


def pairs_up_to(largest: int) -> np.ndarray:
    numbers = np.arange(largest + 1)
    return np.stack(np.meshgrid(numbers, numbers, indexing="ij"), axis=-1).reshape(-1, 2)


@pytest.mark.parametrize("largest", [1, 2, 9, 10, 25])
@pytest.mark.parametrize("step", [1, 2])
def test_all_small_pairs(largest, step):
    pairs = pairs_up_to(largest)
    for model in (adder(largest, step, alpha=2.0), linear_adder(largest)):
        assert (model(pairs).numpy()[:, 0] == pairs.sum(1)).all()
        assert model([largest, 1]).shape == (1,)
        assert model(pairs.reshape(largest + 1, -1, 2)).shape == (largest + 1, largest + 1, 1)


@given(st.integers(3, 40), st.integers(3, 5), st.integers(0, 39), st.integers(0, 39))
def test_logits_are_those_of_the_definition(largest, step, a, b):
    a, b = min(a, largest), min(b, largest)
    alpha = min(8.0, largest_alpha(n_candidates(largest))[0] / 2)
    model = adder(largest, step, alpha)
    error = int(round_to_multiple([a, b], step).sum()) - a - b
    wanted = adder_logits(n_candidates(largest), alpha, a + b, error)
    assert np.allclose(
        model.logits([a, b])[0].numpy(), wanted, rtol=0, atol=rounding_of_logits(alpha, 14)
    )
    assert model([a, b]).tolist() == [a + b]


@pytest.mark.parametrize(
    ("p", "s", "error"),
    [(260, 2**63, 1e15), (90, 10**40 + 7, -3e17), (20, 3, 1e308), (90, 5, 89.5)],
)
def test_errors_of_many_periods(p, s, error):
    """c − s − ε is reduced modulo p over Q."""
    found = adder_logits(p, 1.0, s, error)
    for c in (0, 1, 7, p - 1):
        of_sum = math.cos(2 * math.pi * float((c - s - Fraction(error)) % p) / p)
        without = adder_logits(p, 0.0, s, error)[c]
        assert found[c] - without == pytest.approx(of_sum, abs=1e-12)
        assert without == adder_logits(p, 0.0, s, 0.0)[c]


def test_published_pairs_with_default_arguments():
    model = adder()
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 9, 23)
    assert model([[15, 93], [260, 260], [0, 0], [131, 87]]).tolist() == [[108], [520], [0], [218]]
    assert exact_in(model).bits <= 53
    assert not exact_in(model).fits_in(torch.float32)


@pytest.mark.slow
def test_all_pairs_of_the_published_range():
    found = enumerated(adder(), sums)
    assert (found.pairs, found.wrong) == (68_121, 0)
    assert found.least > 0.08


def test_bits_of_exact_logits():
    """Products of three numbers of 14 binary places are multiples of 2^−42, and the largest sum is
    that of the unembedding; the bits of an average of values would not include those of scores."""
    model = adder(25, 5, 2.0)
    needs = exact_in(model)
    assert needs.quantum == 2.0**-42
    pairs = pairs_up_to(25)
    logits = model.logits(pairs).numpy()
    assert (np.ldexp(logits, 42) == np.round(np.ldexp(logits, 42))).all()
    assert abs(logits).max() <= needs.largest
    assert abs(logits).max() < 2.0 ** (needs.bits - 42)
    assert needs.bits >= 44  # sums above 2, of averages they would take fewer


@pytest.mark.parametrize("largest", [3, 9, 10, 13, 20, 29, 30, 44])
def test_default_alpha_for_small_numbers(largest):
    pairs = np.argwhere(np.ones((largest + 1, largest + 1)))
    assert (adder(largest)(pairs)[:, 0].numpy() == pairs.sum(1)).all()


def test_default_alpha_is_the_largest_allowed_power_of_two_up_to_64():
    for p in range(20, 200, 10):
        alpha, limit = default_alpha(p), largest_alpha(p)[0]
        assert alpha == 64 <= limit or alpha <= limit < 2 * alpha
    assert default_alpha(530) == 64
    with rejects("p"):
        default_alpha(15)


@pytest.mark.parametrize(
    ("largest", "alpha", "bits"), [(10, 4, 14), (1000, 64, 15), (1250, 12, 16)]
)
def test_default_bits_suffice(largest, alpha, bits):
    model = adder(largest, 5, float(alpha))
    assert exact_in(model).bits <= 53
    p = n_candidates(largest)
    assert (
        model.interface.margin == least_gap(p, alpha, 4) - 2 * rounding_of_logits(alpha, bits) > 0
    )
    assert model([[largest - 1, largest], [2, 2], [3, largest]]).tolist() == [
        [2 * largest - 1],
        [4],
        [largest + 3],
    ]


@given(
    st.integers(2, 12),
    st.floats(0.1, 1e4),
    st.integers(0, 40),
    st.sets(st.integers(1, 5), min_size=1),
)
def test_the_least_gap_is_that_of_all_candidates(tens, alpha, error, F):
    p = 10 * tens
    logits = [adder_logits(p, alpha, 0, e, F) for e in range(-error, error + 1)]
    wanted = min(z[0] - z[1:].max() for z in logits)
    assert least_gap(p, alpha, error, F) == pytest.approx(wanted, abs=1e-9 * (1 + alpha))


@pytest.mark.parametrize("p", [10**4, 10**8, 10**10])
def test_the_least_gap_keeps_its_digits_for_many_candidates(p):
    """Without an error it is 1 − cos(2π·10/p) = 2 sin²(10π/p)."""
    assert least_gap(p, 1.0, 0) == pytest.approx(
        2 * math.sin(10 * math.pi / p) ** 2, rel=1e-12, abs=0
    )


def test_above_the_limit_another_candidate_is_predicted():
    p = n_candidates(10)
    limit, d = largest_alpha(p)
    assert d == 5
    assert least_gap(p, 4 * limit, 4) < 0
    model = adder(10, 5, 4 * limit)
    wrong = pairs_up_to(10)
    with pytest.warns(OutsideHypotheses, match="alpha"):
        off = model(wrong).numpy()[:, 0] - wrong.sum(1)
    assert off.any()
    findings = {f.id: f for f in claim.findings(Run(quick=True), largest=10, alpha=4 * limit)}
    assert findings["tolerance"].verdict is Verdict.FAILS
    assert "s + 5" in findings["tolerance"].detail
    assert findings["fourier/all-pairs"].verdict is Verdict.FAILS


def test_a_model_that_is_being_compiled_does_not_warn(monkeypatch, recwarn):
    model = adder(10, 5, 40.0)
    with monkeypatch.context() as patched:
        patched.setattr(torch.compiler, "is_compiling", lambda: True)
        model([4, 5])
    assert not recwarn
    with pytest.warns(OutsideHypotheses, match="alpha"):
        model([4, 5])


def test_a_coarse_step_predicts_wrong_sums():
    model = adder(30, 7, 1.0)
    pairs = pairs_up_to(30)
    with pytest.warns(OutsideHypotheses, match="step"):
        wrong = model(pairs).numpy()[:, 0] != pairs.sum(1)
    off = round_to_multiple(pairs, 7).sum(1) - pairs.sum(1)
    assert wrong[abs(off) > 5].all()
    assert not wrong[abs(off) < 5].any()


def test_rounded_cosines_by_balls_are_those_of_the_weights():
    for period in (10, 30, 530):
        angles = 2 * np.pi * np.arange(period) / period
        wanted = np.floor(np.stack([np.cos(angles), np.sin(angles)], axis=1) * 2.0**14 + 0.5)
        assert (turn(period, 14) == wanted).all()


def test_cosines_of_more_digits_than_are_computed_are_not_rounded():
    with pytest.raises(ArithmeticError, match="half"):
        turn(7, 10**4)


def test_halves_are_rounded_up():
    assert round_to_multiple([3, 9, 2], 6).tolist() == [6, 12, 0]


@pytest.mark.parametrize(("alpha", "bits"), [(64.0, 14), (1e6, 20), (0.0, 40)])
def test_rounding_of_logits(alpha, bits):
    """The bound is that of 3 combs, plus that of the bump, up to a few roundings."""
    with localcontext(prec=60):
        off, size = Decimal(2).sqrt() * Decimal(2) ** (-bits - 1), Decimal(alpha)
        wanted = 3 * ((1 + off) ** 3 - 1) + (size + off) * (1 + off) ** 2 - size
        assert float(rounding_of_logits(alpha, bits)) == pytest.approx(float(wanted), 2e-15, 0)
    assert np.isclose(rounding_of_logits(alpha, bits), (10 + 2 * alpha) * float(off), rtol=1e-3)


def test_the_linear_adder_tolerates_errors_below_a_half():
    borne = [k for k in range(-16, 17) if adds_with_error(Fraction(k, 16))]
    assert borne == list(range(-7, 8))


@pytest.mark.parametrize("construction", [adder, linear_adder])
def test_a_declared_margin_that_is_too_large_fails(construction):
    def boastful(model):
        if model.name.startswith(construction.__name__):
            model.interface.margin = 1e6
        return model

    assert claim.verdict(Run(quick=True, fault=boastful), **SMALL) is Verdict.FAILS


def test_rows_of_pairs_are_all_pairs():
    assert (np.concatenate(list(rows_of_pairs(linear_adder(4)))) == pairs_up_to(4)).all()


def test_the_reported_mistake_is_one_of_the_model():
    model = adder(10, 5, 40.0)
    found = enumerated(model, sums)
    (a, b), c = map(int, found.first.split(":")[0].split(" + ")), found.first.split()[3]
    with pytest.warns(OutsideHypotheses, match="alpha"):
        assert model([a, b]).tolist() == [int(c)]


@pytest.mark.parametrize("options", [{"largest": 12, "alpha": 2.0, "step": 3, "bits": 13}, CLOSE])
def test_it_holds_at_other_options(options):
    assert not_holding(claim, **options) == {}


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: adder(10, 21), "step 10"),
        (lambda: adder(10, 5, 4.0, 17), "alpha bits"),
        (lambda: adder(bits=10), "bits"),
        (lambda: adder(alpha=1e-3), "alpha bits"),
        (lambda: adder(1250), "alpha bits"),
        (lambda: adder(1250, bits=16), "float64"),
        (lambda: adder(2000), "largest"),
        (lambda: adder(10, 5, 1e308), "alpha bits"),
        (lambda: adder(10, 5, 1e-16), "alpha bits"),
        (lambda: adder(10, 5, 1e-320), "alpha bits"),
        (lambda: adder(10, 5, 1e20), "alpha bits"),
        (lambda: list(claim.findings(Run(), largest=10, alpha=1e-17)), "alpha bits"),
        (lambda: adder(10, 5, 4.0)([11, 0]), "tokens"),
        (lambda: adder(10, 5, 4.0)([1]), "1 2"),
        (lambda: adder(10, 5, 4.0)([1, 2, 3]), "3 2"),
        (lambda: adder(10, 5, 4.0).float(), "float32"),
        (lambda: adder(10, 5, 4.0).generate([1, 2], 1), "adder"),
        (lambda: linear_adder(10)([11, 0]), "tokens"),
        (lambda: linear_adder(260).half(), "float16"),
        (lambda: list(claim.findings(Run(), largest=5000)), "5000 1250"),
        (lambda: list(claim.findings(Run(), step=6)), "step 5"),
        (lambda: list(claim.findings(Run(), largest=10, alpha=-1.0)), "alpha"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.parametrize(
    ("wrong", "least", "declared", "verdict"),
    [
        (0, 2.0, 2.0, Verdict.HOLDS),
        (1, 2.0, 2.0, Verdict.FAILS),
        (0, 0.0, 0.0, Verdict.FAILS),
        (0, 1.9, 2.0, Verdict.FAILS),
    ],
)
def test_all_predictions_are_right_without_ties_and_with_the_margin(
    wrong, least, declared, verdict
):
    model = linear_adder(2)
    model.interface.margin = declared
    found = all_right(model, Enumerated(9, wrong, least), "float")
    assert found.verdict is verdict


@pytest.mark.parametrize(
    ("wrong", "least", "declared", "verdict"),
    [
        (0, 10.0, 9.0, Verdict.HOLDS),
        (1, 10.0, 9.0, Verdict.FAILS),
        (0, 9.9, 9.0, Verdict.FAILS),
        (0, 10.0, 10.1, Verdict.FAILS),
    ],
)
def test_the_right_residue_is_ahead_by_2p_and_by_the_margin(wrong, least, declared, verdict):
    assert ahead_by_all(Enumerated(25, wrong, least), 5, declared).verdict is verdict


@pytest.mark.parametrize("step", [6, 7])
def test_pairs_within_and_beyond_the_tolerance_are_both_judged(step, monkeypatch):
    model = adder(30, step, 1.0, 14)
    strange, beyond = unlike_theorem(model)
    pairs = pairs_up_to(30)
    off = abs(round_to_multiple(pairs, step).sum(1) - pairs.sum(1))
    assert (strange, beyond) == (0, (off >= 5).sum())
    for lead, wrong in ((-1.0, (off < 5).sum()), (1e6, beyond)):
        monkeypatch.setattr(
            "verify.arithmetic.adder.ahead", lambda z, s, lead=lead: np.full(len(z), lead)
        )
        assert unlike_theorem(model) == (wrong, beyond)
