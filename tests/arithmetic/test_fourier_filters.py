"""Fourier matrices, filters as projections, and the adder with filters."""

from __future__ import annotations

import sys
from fractions import Fraction

import numpy as np
import pytest
from by_id import not_holding
from flint import fmpq_mat
from hypothesis import given
from hypothesis import strategies as st
from refusals import check_line, rejects

from constructions import adder
from theory.arithmetic import (
    bin_of,
    bin_sizes,
    fourier_bins,
    fourier_matrix,
    leakage,
    null_space_projection,
)
from theory.kinds import InputError
from verify.arithmetic.fourier_filters import (
    KEPT,
    filtered,
    fourier_filters,
    of_adder,
    projection,
    published,
    rational_rows,
)
from verify.claim import Run

module = sys.modules["verify.arithmetic.fourier_filters"]  # the package's claim has its name

SMALL = {"largest": 10, "alpha": 4.0}


@given(st.integers(1, 60))
def test_the_transform_is_orthonormal(p):
    Q = fourier_matrix(p)
    assert np.allclose(Q @ Q.T, np.eye(p), atol=1e-12)
    assert Q.shape == (p, p) == (len(fourier_bins(p)),) * 2


@given(st.integers(1, 40), st.integers(1, 4), st.integers(0, 99))
def test_bin_sizes_are_those_of_the_matrix(p, D, seed):
    E = np.random.default_rng(seed).normal(size=(p, D))
    coefficients, bins = fourier_matrix(p) @ E, fourier_bins(p)
    wanted = [np.linalg.norm(coefficients[bins == k]) for k in range(p // 2 + 1)]
    assert np.allclose(bin_sizes(E), wanted)
    assert np.isclose((bin_sizes(E) ** 2).sum(), (E**2).sum())


@pytest.mark.parametrize("scale", [2.0**-1000, 2.0**-560, 2.0**1000])
def test_scales_change_no_quotient(scale):
    R, K = np.random.default_rng(3).normal(size=(2, 3, 6))
    assert (bin_sizes(scale * K) == scale * bin_sizes(K)).all()
    assert np.isclose(leakage(scale * R, scale * K), leakage(R, K), rtol=1e-12)


def test_periods_that_are_bins():
    assert [bin_of(T, 530) for T in (2, Fraction(5, 2), 5, 10)] == [265, 212, 106, 53]


@given(st.integers(0, 99), st.integers(1, 4))
def test_a_filter_removes_its_rows(seed, r):
    rng = np.random.default_rng(seed)
    R, K = rng.normal(size=(r, 6)), rng.normal(size=(3, 6))
    P = null_space_projection(R)
    assert np.allclose(R @ P, 0)
    assert np.allclose(P @ P, P)
    assert np.isclose(np.trace(P), 6 - r)
    assert np.isclose(leakage(R, K @ P), 0, atol=1e-12)
    assert leakage(R, K) > 0


@given(st.integers(0, 99), st.floats(1e-6, 0.9))
def test_removed_rows_are_0_up_to_the_tolerance(seed, tolerance):
    rng = np.random.default_rng(seed)
    R = rng.normal(size=(4, 6)) * 10.0 ** rng.uniform(-4, 0, size=(4, 1))
    left = np.linalg.norm(R @ null_space_projection(R, tolerance), 2)
    assert left <= (tolerance + 1e-12) * np.linalg.norm(R, 2)


def test_a_large_bump_does_not_hide_the_comb():
    """With all bins but the constant one removed, so are all nine columns of the unembedding."""
    W = adder(260, 5, 1000.0).unembed.W_U.numpy().T
    P = null_space_projection((fourier_matrix(530) @ W)[1:])
    assert round(len(P) - np.trace(P)) == 9


def test_leakage():
    assert np.isclose(leakage([[1.0, 0.0]], [[3.0, 4.0]]), 0.6)


def test_rounding_does_not_remove_all():
    R = np.array([[1.0, 0.0], [0.0, 1e-5]])
    assert np.allclose(null_space_projection(R), np.diag([0.0, 1.0]))
    assert np.allclose(null_space_projection(0 * R), np.eye(2))
    assert leakage(R, 0 * R) == 0


@pytest.mark.parametrize("orthogonal", [True, False])
def test_projections_over_q_are_those_of_floats(orthogonal):
    removed, kept = rational_rows(np.random.default_rng(1), orthogonal)
    R, K = (
        np.array([[float(x.p) / float(x.q) for x in row] for row in M.tolist()])
        for M in (removed, kept)
    )
    P = np.array([[float(x.p) / float(x.q) for x in row] for row in projection(removed).tolist()])
    assert np.allclose(P, null_space_projection(R))
    assert (leakage(R, K) < 1e-12) == orthogonal


def test_rows_are_cosine_then_sine():
    Q = fourier_matrix(8)
    assert np.isclose(Q[1, 1], 0.5 * np.cos(np.pi / 4))
    assert np.isclose(Q[2, 2], 0.5)  # a sine, of the sign of sin(π/2)
    assert Q[2, 0] == 0


def test_registers_of_each_filter():
    assert KEPT["low and period 2"] == ("sum2", "low")
    assert published()["mlp", "high"] == 98.1
    table = filtered(adder(10, 5, 4.0))
    assert table["low and period 2"].errors != {0}


def test_predictions_with_each_filter():
    table = filtered(adder(10, 5, 4.0))
    assert {each.pairs for each in table.values()} == {121}
    assert table["none removed"].errors == {0}
    assert table["low removed"].errors == {-10, 0, 10} | {-15 + 5}
    assert table["low removed"].right == Fraction(121, 3)
    assert table["high removed"].errors == set(range(-4, 5))
    assert set(table) == set(KEPT)
    ours = of_adder(table)
    assert set(ours) == set(published())
    assert ours["mlp", "high"] == ours["attention", "low"] == ours["none", "none"] == 100
    assert published()["mlp", "low"] == 35.89


@pytest.mark.parametrize("step", [1, 2, 3, 4])
def test_it_holds_at_other_steps(step):
    """It holds for even steps too, where halves have errors of one sign."""
    assert not_holding(fourier_filters, **SMALL, step=step) == {}


def test_an_alpha_that_is_too_small_is_rejected_by_its_own_limits():
    """The claim has no option for the number of bits, which the message of `adder` names."""
    with pytest.raises(InputError) as caught:
        next(fourier_filters.findings(Run(), alpha=1e-4))
    check_line(str(caught.value), "alpha")
    assert "bits" not in str(caught.value)


@pytest.mark.slow
def test_accuracies_at_the_published_size():
    table = filtered(adder())
    assert table["none removed"].accuracy == 1
    assert table["low removed"].right == Fraction(68_121 * 10, 530)
    assert round(100 * table["high removed"].accuracy, 3) == 20.001
    assert round(100 * table["low and period 5"].accuracy, 2) == 76.18


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: bin_of(3, 530), "period 530"),
        (lambda: bin_of(Fraction(5, 2), 531), "period 531"),
        (lambda: bin_sizes(np.zeros((2, 2, 2))), "values"),
        (lambda: list(fourier_filters.findings(Run(), largest=10**6)), "1000000 1250"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.parametrize("fault", ["", "halved", "not removed", "not orthogonal"])
def test_each_condition_on_filters_is_checked(fault, monkeypatch):
    """The last two faults keep the equivalence of KP = K and KRᵀ = 0."""

    def planted(removed):
        P = projection(removed)
        if fault == "not removed":
            n, m = removed.ncols(), removed.nrows()
            return P + removed.transpose() * fmpq_mat(m, n, [1] * (m * n))
        return P / 2 if fault == "halved" else P

    monkeypatch.setattr(module, "projection", planted)
    if fault == "not orthogonal":
        monkeypatch.setattr(module, "rational_rows", lambda rng, _: rational_rows(rng, True))
    assert bool(list(module.against_criterion(Run(), 2))) == bool(fault)
