"""Spectra of number embeddings: the statistic, its null distribution, the optional package."""

from __future__ import annotations

import hashlib
import sys

import numpy as np
import pytest
from by_id import not_holding
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.arithmetic import (
    fourier_matrix,
    peak_ratios,
    permutation_maxima,
    without_confounds,
    without_trend,
)
from verify.arithmetic.trained import minilm
from verify.arithmetic.trained.number_embeddings import number_embeddings
from verify.claim import Run
from verify.finding import Verdict

claim_module = sys.modules["verify.arithmetic.trained.number_embeddings"]
PLANTED = {"embeddings": "planted"}


def test_a_planted_period_is_a_peak_and_a_shuffled_one_is_not():
    rng = np.random.default_rng(0)
    E = rng.normal(size=(100, 20))
    E += 2 * fourier_matrix(100)[19:21].T @ rng.normal(size=(2, 20))  # bin 10
    bound = np.quantile(permutation_maxima(E, 5, 100, rng), 0.99)
    assert peak_ratios(E, 5)[10] > bound > 1
    assert peak_ratios(E[rng.permutation(100)], 5)[10] < bound


@given(st.integers(0, 99))
def test_bin_of_half_the_numbers_has_one_row(seed):
    """For random rows its statistic has the size of the others."""
    E = np.random.default_rng(seed).normal(size=(40, 300))
    assert 0.7 < peak_ratios(E, 5)[-1] < 1.3
    assert peak_ratios(E + 7.0, 5)[0] == 0


def test_the_median_is_robust():
    """One bin far above all others does not change it."""
    E = fourier_matrix(40).T @ np.diag([0.0, *[1.0] * 18, 1e6, *[1.0] * 20])
    ratios = peak_ratios(E, 1)
    assert np.isclose(np.median(ratios[1:]), 1)
    assert np.isclose(ratios[1], 1)
    assert claim_module.LEVEL == 0.99


def test_trends_and_confounds_are_removed():
    x = np.linspace(-1, 1, 30)
    E = np.stack([x**3 - x, 1 + x], axis=1)
    assert np.allclose(without_trend(E, 3), 0)
    assert not np.allclose(without_trend(E, 2), 0)
    assert np.allclose(without_confounds(E[:, 1:], x), 0)
    groups = np.eye(3)[np.arange(30) % 3]  # and a constant, which they have among them
    assert np.allclose(without_confounds(groups, groups), 0)


def test_the_control_holds_without_the_package():
    assert not_holding(number_embeddings, **PLANTED) == {}


def test_noise_has_no_peaks(monkeypatch):
    def noise(rng: np.random.Generator) -> minilm.NumberTokens:
        return minilm.NumberTokens(rng.normal(size=(300, 384)), rng.permutation(300))

    monkeypatch.setattr(minilm, "planted", noise)
    found = {f.id: f.verdict for f in number_embeddings.findings(Run(quick=True), **PLANTED)}
    assert found["peaks"] is found["trend"] is found["rank"] is Verdict.FAILS


def test_without_the_package_it_is_undecided(monkeypatch):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_here")
    (finding,) = number_embeddings.findings(Run(quick=True))
    assert finding.verdict is Verdict.UNDECIDED
    assert "pip install" in finding.wanted


def test_a_missing_package_is_undecided_without_an_error(monkeypatch):
    from verify.cli.running import Checked, news

    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_here")
    findings = list(number_embeddings.findings(Run()))
    checked = Checked("number-embeddings", findings, "")
    assert news(checked, strictly=True) == (Verdict.HOLDS, [])


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The folder of a small file that replaces the package's."""
    from safetensors.numpy import save_file

    table = np.arange(310.0 * 2, dtype=np.float32).reshape(310, 2)
    save_file({minilm.TENSOR: table}, tmp_path / "model.safetensors")
    words = [f"w{i}" for i in range(10)] + [str(n) for n in reversed(range(300))]
    (tmp_path / "vocab.txt").write_text("\n".join(words), encoding="utf-8")
    hashes = {
        name: hashlib.sha256((tmp_path / name).read_bytes()).hexdigest() for name in minilm.SHA256
    }
    monkeypatch.setattr(minilm, "SHA256", hashes)
    return tmp_path


def test_rows_of_the_numbers_are_read(folder):
    rows, ranks = minilm.number_tokens(folder)
    assert ranks.tolist() == [309 - n for n in range(300)]
    assert rows[:, 0].tolist() == (2.0 * ranks).tolist()


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_another_file_is_refused(name, folder, monkeypatch):
    """A file is recognised by its hash: in a vocabulary of another order tokens have other rows."""
    with (folder / name).open("ab") as file:
        file.write(b" ")
    with rejects(name, "sha256"):
        minilm.number_tokens(folder)
    monkeypatch.setattr(minilm, "folder", lambda: folder)
    with rejects(name, "sha256"):
        list(number_embeddings.findings(Run(quick=True)))


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_missing_file_is_refused(name, folder):
    (folder / name).unlink()
    with rejects(name):
        minilm.number_tokens(folder)


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: peak_ratios(np.ones((10, 2)), 1), "rows"),
        (lambda: peak_ratios(np.eye(10), 6), "first 5"),
        (lambda: without_confounds(np.eye(3), np.ones(4)), "E confound"),
        (lambda: without_confounds(np.eye(3), 1.0), "E confound"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


def test_the_fraction_at_the_peaks_is_compared_with_equal_variances():
    """The identity has the same variance in every frequency, so its fraction is the bound."""
    found = claim_module.variance_at_peaks(np.eye(claim_module.NUMBERS))
    least, most = found.bound
    assert found.measured == pytest.approx(least, rel=1e-12)
    assert most == 0.1


@pytest.mark.parametrize("turned", [*claim_module.READ, *claim_module.NOT_READ])
def test_every_residue_must_be_read_or_not_read_as_stated(turned, monkeypatch):
    accuracies = {
        m: float(m in claim_module.READ) for m in (*claim_module.READ, *claim_module.NOT_READ)
    }
    accuracies[turned] = 1 - accuracies[turned]
    monkeypatch.setattr(claim_module, "residue_accuracies", lambda E: accuracies)
    E = np.random.default_rng(0).normal(size=(claim_module.NUMBERS, 2))
    found = [*claim_module.probes(Run(), E, 3)]
    assert [each.wanted.split(" ")[0] for each in found] == ["above", "at"]
    failed = [each.id for each in found if each.verdict is Verdict.FAILS]
    assert failed == ["probes" if turned in claim_module.READ else "probes-others"]
