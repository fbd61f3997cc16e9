"""The printed Fourier matrix: rank, eigenvalues, and the claim."""

from __future__ import annotations

import numpy as np
import pytest
from by_id import not_holding
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.arithmetic import (
    printed_gram,
    printed_inversion_error,
    printed_matrix,
    printed_quadratic,
    printed_scales,
)
from verify.arithmetic import fourier_matrix as claims
from verify.arithmetic.fourier_matrix import eigenvalues, fourier_matrix, orthonormal
from verify.arithmetic.printed import printed, rank
from verify.claim import Run
from verify.finding import Verdict


@given(st.integers(1, 30))
def test_its_spectrum(half):
    p = 2 * half + 1
    F, N = printed_matrix(p), p - 1
    assert np.allclose(F[:, 0], F[:, N])
    scales = np.sqrt([float(s) for s in printed_scales(p)])
    assert np.allclose(F @ F.T, scales[:, None] * printed_gram(p) / 2 * scales)
    total, product = map(float, printed_quadratic(p))
    root = np.sqrt(total**2 / 4 - product)
    wanted = np.sort([0.0, *[1.0] * (N - 2), total / 2 - root, total / 2 + root])
    found = np.linalg.eigvalsh(F @ F.T)
    assert np.allclose(found, wanted, atol=1e-9)
    assert rank(printed_gram(p)) == N
    missed = ((F.T @ F - np.eye(p)) ** 2).sum()
    assert np.isclose(missed, float(printed_inversion_error(p)))
    off = F @ F.T - np.diag(np.diag(F @ F.T))
    assert np.isclose(abs(off).max(), (2 if p > 3 else np.sqrt(2)) / N)


def test_the_printed_numbers():
    found = eigenvalues(521, printed_gram(521), printed_scales(521))
    assert found.verdict is Verdict.HOLDS
    assert "2.062986 and 1.938937" in found.words
    (erratum,) = printed(Run())
    assert erratum.verdict is Verdict.HOLDS


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, Verdict.HOLDS), (1 + 1e-11, Verdict.FAILS)])
def test_a_transform_with_an_error_above_rounding_fails(factor, verdict, monkeypatch):
    right = claims.transform
    monkeypatch.setattr(claims, "transform", lambda p: right(p) * factor)
    assert orthonormal(530).verdict is verdict


@pytest.mark.parametrize("p", [3, 5, 101])
def test_it_holds_at_other_sizes(p):
    assert not_holding(fourier_matrix, p=p) == {}


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: list(fourier_matrix.findings(Run(), p=20)), "p"),
        (lambda: list(fourier_matrix.findings(Run(), p=9999)), "p 2001"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()
