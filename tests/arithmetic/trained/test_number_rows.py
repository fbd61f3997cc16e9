"""Rows for numbers: shipped rows against the weights of their source, and the controls."""

import hashlib

import numpy as np
import pytest
from refusals import rejects

from constructions.trained.numbers import FILE, FORMS, PERIODS, number_rows
from theory.arithmetic import bin_of, bin_sizes, peak_ratios
from verify.arithmetic.trained import minilm


def rows(kind, p=300, d=128, seed=0):
    return number_rows(kind, p, d, np.random.default_rng(seed))


@pytest.mark.skipif(minilm.folder() is None, reason="the optional package is not installed")
def test_the_rows_that_ship_are_those_of_the_package():
    """Less their mean, on their principal axes, each turned so that its largest entry is positive;
    float32 of float64 sums, which another machine may round otherwise."""
    E = minilm.number_tokens(minilm.folder()).rows
    E = E - E.mean(0)
    _, _, axes = np.linalg.svd(E, full_matrices=False)
    wanted = E @ axes[:128].T
    wanted *= np.sign(wanted[abs(wanted).argmax(0), np.arange(128)])
    shipped = np.load(FILE)
    assert (shipped.shape, shipped.dtype) == ((300, 128), np.float32)
    assert np.allclose(shipped, wanted, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", FORMS)
def test_rows_have_one_mean_squared_length(kind):
    found, squared = rows(kind), (np.load(FILE).astype(float) ** 2).sum(1).mean()
    assert found.shape == (300, 128)
    wanted, off = (128 * 0.02**2, 0.03) if kind == "scratch" else (squared, 1e-6)
    assert (found**2).sum(1).mean() == pytest.approx(wanted, rel=off)
    assert np.array_equal(found, rows(kind))
    assert np.array_equal(found, rows(kind, seed=1)) == (kind == "minilm")


def test_shuffled_rows_are_the_same_in_another_order():
    found, given = rows("shuffled"), rows("minilm")
    assert not np.allclose(found, given)
    assert np.allclose(np.sort(found, axis=0), np.sort(given, axis=0))
    assert np.allclose(np.sort(found @ found.T, axis=None), np.sort(given @ given.T, axis=None))


def test_gaussian_rows_have_the_variances_of_the_axes():
    """Up to the sampling error of 300 rows, and without peaks."""
    ratio = rows("gaussian").var(0) / rows("minilm").var(0)
    assert abs(ratio - 1).max() < 5 * np.sqrt(2 / 300)
    assert max(peak_ratios(rows("gaussian"), 29)[[30, 60, 120, 150]]) < 1.6


def test_the_file_is_the_one_that_is_described():
    digest = hashlib.sha256(FILE.read_bytes()).hexdigest()
    assert digest in FILE.with_name("README.md").read_text("utf-8")


def test_exact_features_have_their_periods_and_no_others():
    sizes = bin_sizes(rows("fourier"))
    bins = [bin_of(period, 300) for period in PERIODS]
    assert (sizes[bins] > 0.5).all()
    assert np.allclose(np.delete(sizes, bins), 0)
    # Two features of every period but 2, which has one, all as large as each other.
    wanted = np.linalg.norm(np.load(FILE)) / np.sqrt(15)
    assert np.allclose(np.linalg.svd(rows("fourier"), compute_uv=False)[:15], wanted)
    assert np.linalg.matrix_rank(rows("fourier")) == 15


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("values", "names"),
    [
        (("gpt", 300, 128), "form gpt"),
        (("minilm", 302, 128), "p"),
        (("gaussian", 1, 128), "p"),  # of variance 0
        (("shuffled", 300, 129), "d_model"),
        (("fourier", 300, 14), "d_model"),
        (("fourier", 200, 128), "200"),
    ],
)
def test_rejected_arguments(values, names):
    with rejects(*names.split()):
        number_rows(*values, np.random.default_rng(0))
