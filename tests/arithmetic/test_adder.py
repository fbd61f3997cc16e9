"""Adders: all pairs, what float64 rounds, the claim, and every refusal."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from constructions import adder, linear_adder
from constructions.exactness import exact_in
from theory.arithmetic import coarse, largest_alpha, least_gap, rounding_of_logits, usual_alpha
from theory.arithmetic.adder import adder_logits, candidates
from theory.checks import InputError
from verify.arithmetic.adder import adder as claim
from verify.arithmetic.adder import adds_with_error
from verify.arithmetic.limits import turn
from verify.arithmetic.pairs import enumerated, rows_of_pairs, sums
from verify.claim import Run
from verify.finding import Verdict
from verify.selftest.tensor_mutations import FAULTS

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
    alpha = min(8.0, largest_alpha(candidates(largest))[0] / 2)
    model = adder(largest, step, alpha)
    error = int(coarse([a, b], step).sum()) - a - b
    wanted = adder_logits(candidates(largest), alpha, a + b, error)
    assert np.allclose(
        model.logits([a, b])[0].numpy(), wanted, rtol=0, atol=rounding_of_logits(alpha, 14)
    )
    assert model([a, b]).tolist() == [a + b]


def test_the_default_adds_the_pairs_of_the_talk():
    model = adder()
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 9, 23)
    assert model([[15, 93], [260, 260], [0, 0], [131, 87]]).tolist() == [[108], [520], [0], [218]]
    assert exact_in(model).bits <= 53
    assert not exact_in(model).fits_in(torch.float32)


@pytest.mark.slow
def test_all_pairs_of_the_talk():
    found = enumerated(adder(), sums)
    assert (found.pairs, found.wrong) == (68_121, 0)
    assert found.least > 0.08


def test_linear_heads_are_sums_in_the_bits_that_a_model_takes():
    """Products of three numbers of 14 binary places are multiples of 2^−42, and the largest sum is
    that of the read-out; of an average of what is carried, the score would not count."""
    model = adder(25, 5, 2.0)
    needs = exact_in(model)
    assert needs.grain == 2.0**-42
    pairs = pairs_up_to(25)
    logits = model.logits(pairs).numpy()
    assert (np.ldexp(logits, 42) == np.round(np.ldexp(logits, 42))).all()
    assert abs(logits).max() <= needs.largest
    assert abs(logits).max() < 2.0 ** (needs.bits - 42)
    assert needs.bits >= 44  # sums above 2, of averages they would take fewer


@pytest.mark.parametrize("largest", [3, 9, 10, 13, 20, 29, 30, 44])
def test_the_usual_alpha_does_for_small_numbers_too(largest):
    pairs = np.argwhere(np.ones((largest + 1, largest + 1)))
    assert (adder(largest)(pairs)[:, 0].numpy() == pairs.sum(1)).all()


def test_the_usual_alpha_is_the_largest_power_of_two_that_is_allowed_or_64():
    for p in range(20, 200, 10):
        alpha, limit = usual_alpha(p), largest_alpha(p)[0]
        assert alpha == 64 <= limit or alpha <= limit < 2 * alpha
    assert usual_alpha(530) == 64
    with pytest.raises(InputError, match="p is 15"):
        usual_alpha(15)


@pytest.mark.parametrize(
    ("largest", "alpha", "bits"), [(10, 4, 14), (1000, 64, 15), (1250, 12, 16)]
)
def test_the_bits_that_are_taken_are_enough(largest, alpha, bits):
    model = adder(largest, 5, float(alpha))
    assert model.name.endswith(f"bits={bits})")
    assert exact_in(model).bits <= 53
    p = candidates(largest)
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


def test_beyond_the_limit_another_candidate_wins():
    p = candidates(10)
    limit, d = largest_alpha(p)
    assert d == 5
    assert least_gap(p, 4 * limit, 4) < 0
    model = adder(10, 5, 4 * limit)
    wrong = pairs_up_to(10)
    off = model(wrong).numpy()[:, 0] - wrong.sum(1)
    assert off.any()
    findings = {f.id: f for f in claim.findings(Run(quick=True), largest=10, alpha=4 * limit)}
    assert findings["tolerance"].verdict is Verdict.FAILS
    assert "c = s + 5 wins" in findings["tolerance"].detail
    assert findings["fourier/all-pairs"].verdict is Verdict.FAILS
    assert "wins with logit" in findings["fourier/all-pairs"].detail


def test_too_coarse_a_step_is_built_and_answers_wrongly():
    model = adder(30, 7, 1.0)
    pairs = pairs_up_to(30)
    wrong = model(pairs).numpy()[:, 0] != pairs.sum(1)
    off = coarse(pairs, 7).sum(1) - pairs.sum(1)
    assert wrong[abs(off) > 5].all()
    assert not wrong[abs(off) < 5].any()


@pytest.mark.parametrize("error", [0, 1, 3, -4])
def test_the_linear_adder_bears_half(error):
    from fractions import Fraction

    assert adds_with_error(Fraction(error, 9)) == (abs(Fraction(error, 9)) < Fraction(1, 2))
    assert not adds_with_error(Fraction(1, 2))


def test_rounded_cosines_by_balls_are_those_of_the_weights():
    for period in (10, 30, 530):
        angles = 2 * np.pi * np.arange(period) / period
        wanted = np.floor(np.stack([np.cos(angles), np.sin(angles)], axis=1) * 2.0**14 + 0.5)
        assert (turn(period, 14) == wanted).all()


def test_halves_go_up():
    assert coarse([3, 9, 2], 6).tolist() == [6, 12, 0]


def test_what_rounding_moves():
    """Of 3 combs, and of a bump and its own rounding."""
    off = 2**0.5 * 2.0**-15
    wanted = 3 * ((1 + off) ** 3 - 1) + (64 + off) * (1 + off) ** 2 - 64
    assert np.isclose(rounding_of_logits(64.0, 14), wanted, rtol=1e-12)
    assert np.isclose(rounding_of_logits(64.0, 14), (9 + 129) * off, rtol=1e-3)


def test_the_linear_adder_bears_nothing_from_a_half_on_and_all_below():
    from fractions import Fraction

    borne = [k for k in range(-16, 17) if adds_with_error(Fraction(k, 16))]
    assert borne == list(range(-7, 8))


@pytest.mark.parametrize("construction", [adder, linear_adder])
def test_a_margin_that_is_declared_too_large_is_seen(construction):
    def boastful(model):
        if model.name.startswith(construction.__name__):
            model.interface.margin = 1e6
        return model

    assert claim.verdict(Run(quick=True, fault=boastful), **SMALL) is Verdict.FAILS


def test_rows_of_pairs_are_all_pairs():
    assert (np.concatenate(list(rows_of_pairs(linear_adder(4)))) == pairs_up_to(4)).all()


def test_no_row_has_another_mistake_than_the_one_that_is_told():
    model = adder(10, 5, 40.0)
    found = enumerated(model, sums)
    (a, b), c = map(int, found.first.split(":")[0].split(" + ")), found.first.split()[3]
    assert model([a, b]).tolist() == [int(c)]


@pytest.mark.parametrize(
    "options", [SMALL, {"largest": 12, "alpha": 2.0, "step": 3, "bits": 13}, CLOSE]
)
def test_it_holds(options):
    findings = list(claim.findings(Run(quick=True), **options))
    assert [f.id for f in findings if f.verdict is not Verdict.HOLDS] == []
    assert len({f.id for f in findings}) == len(findings) == 12


@pytest.mark.parametrize("fault", FAULTS)
def test_it_sees_every_fault(fault):
    assert claim.verdict(Run(quick=True, fault=FAULTS[fault]), **SMALL) is Verdict.FAILS


def test_it_draws(tmp_path):
    run = Run(quick=True, plot=tmp_path / "adder.png")
    assert claim.verdict(run, **SMALL) is Verdict.HOLDS
    assert (tmp_path / "adder.png").stat().st_size > 10_000


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: adder(0), "largest is 0"),
        (lambda: adder(True), "largest is True"),
        (lambda: adder(2.5), "largest is 2.5"),
        (lambda: adder(10, 0), "step is 0"),
        (lambda: adder(10, -5), "step is -5"),
        (lambda: adder(10, True), "step is True"),
        (lambda: adder(10, 21), "step is 21: all numbers up to 10"),
        (lambda: adder(10, 5, 0.0), "alpha is 0"),
        (lambda: adder(10, 5, math.nan), "alpha is nan"),
        (lambda: adder(10, 5, math.inf), "alpha is inf"),
        (lambda: adder(10, 5, -1.0), "alpha is -1"),
        (lambda: adder(10, 5, 4.0, 0), "bits is 0"),
        (lambda: adder(10, 5, 4.0, True), "bits is True"),
        (lambda: adder(10, 5, 4.0, 17), "bits = 17 and alpha = 4 take 55 bits .* bits = 5 … 16"),
        (lambda: adder(bits=10), "bits = 10 may move logits by .* give bits = 12 … 15"),
        (lambda: adder(alpha=1e-3), "bits = 14 may move .* give alpha = 12 and bits = 16"),
        (lambda: adder(1250), "bits = 14 may move .* give alpha = 12 and bits = 16"),
        (lambda: adder(1250, bits=16), "float64 has 53: give alpha = 12 and bits = 16"),
        (lambda: adder(2000), "give a smaller largest number: no alpha and bits do"),
        (lambda: adder(10, 5, 1e308), "bits = 1 and alpha = 1e.308 take .* smaller alpha"),
        (
            lambda: adder(10, 5, 1e-16),
            "bits = 14 may move logits by .*, and wrong sums are 0 below",
        ),
        (lambda: adder(260, 5, 1e-13), "bits = 14 may move logits"),
        (lambda: adder(10, 1, 1e-17), "bits = 14 may move logits"),
        (lambda: adder(10, 5, 1e-320), "bits = 14 may move logits"),
        (lambda: list(claim.findings(Run(), largest=10, alpha=1e-17)), "bits = 14 may move"),
        (lambda: adder(10, 5, 1e20), "alpha = 1e.20 take .* smaller alpha"),
        (lambda: adder(10, 5, 4.0)([11, 0]), "tokens contain 11 but the vocabulary has 11"),
        (lambda: adder(10, 5, 4.0)([-1, 0]), "tokens contain -1"),
        (lambda: adder(10, 5, 4.0)([1]), "the sequence has 1 tokens: this model takes 2"),
        (lambda: adder(10, 5, 4.0)([1, 2, 3]), "the sequence has 3 tokens"),
        (lambda: adder(10, 5, 4.0)([1.5, 2]), "tokens have dtype"),
        (lambda: adder(10, 5, 4.0)([]), "empty sequence"),
        (lambda: adder(10, 5, 4.0).float(), "takes .* bits of significand .* use float64"),
        (lambda: adder(10, 5, 4.0).generate([1, 2], 1), "is not a model over tokens"),
        (lambda: linear_adder(0), "largest is 0"),
        (lambda: linear_adder(10)([11, 0]), "tokens contain 11"),
        (lambda: linear_adder(260).half(), "takes .* bits of significand"),
        (lambda: adder_logits(25, 1.0, 0, 0.0), "p is 25: give a multiple of 10"),
        (lambda: adder_logits(10, 1.0, 0, 0.0), "p is 10: give a multiple of 10, at least 20"),
        (lambda: adder_logits(30, -1.0, 0, 0.0), "alpha contains -1"),
        (lambda: largest_alpha(31), "p is 31"),
        (lambda: coarse([1.5], 5), "n is"),
        (lambda: coarse([1], 0), "step is 0"),
        (lambda: list(claim.findings(Run(), largest=0)), "largest is 0"),
        (lambda: list(claim.findings(Run(), largest=5000)), "logits, of at most"),
        (lambda: list(claim.findings(Run(), largest=10, alpha=-1.0)), "alpha is -1"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)
