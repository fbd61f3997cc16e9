"""The printed proof: each mistake is one.  What a finding needs to hold, the self-test changes."""

from types import SimpleNamespace

import numpy as np
import pytest

from verify.claim import Run
from verify.finding import Verdict
from verify.ledger.theorems import ledger
from verify.regression import printed_proof


def test_the_printed_mistakes_are_all_there():
    found = list(printed_proof.printed(Run()))
    assert {f.id: f.evidence for f in found} == {
        "newton-signs": "float",
        "newton-alpha": "exact",
        "newton-expansions": "identity",
        "newton-any-examples": "exact",
        "newton-products": "exact",
        "newton-causal-remark": "float",
    }
    assert all(f.verdict is Verdict.HOLDS for f in found)
    assert all(ledger()[f.id].kind == "erratum" for f in found)


def test_a_fixed_alpha_leaves_its_range():
    assert printed_proof.fixed_alpha().measured == -15


@pytest.mark.parametrize("seed", range(8))
def test_the_causal_remark_diverges_for_every_seed(seed):
    assert printed_proof.causal_remark(Run(seed=seed)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("fault", ["repaired", "absolute", "small"])
def test_each_condition_on_the_printed_signs_is_checked(fault, monkeypatch):
    """A repair that changes nothing, other errors than |u| explains, and scores that are ≥ 0."""
    run, right = Run(), printed_proof.deepcopy

    def other_scores(model):
        found = right(model)
        found.blocks[3].attn.W_Q *= 2
        return found

    if fault == "small":
        normal = run.rng.standard_normal
        run.rng = SimpleNamespace(standard_normal=lambda shape: abs(normal(shape)))
    else:
        wrong = other_scores if fault == "absolute" else lambda model: model
        monkeypatch.setattr(printed_proof, "deepcopy", wrong)
    assert printed_proof.equal_signs(run).verdict is Verdict.FAILS


def test_printed_coefficients_that_are_right_are_no_mistake(monkeypatch):
    monkeypatch.setattr(printed_proof, "PRINTED", (printed_proof.RIGHT[0], (4, -12, 16, -16)))
    assert printed_proof.printed_expansions().verdict is Verdict.FAILS


@pytest.mark.parametrize("fault", ["start", "one step", "end"])
def test_each_condition_on_the_causal_remark_is_checked(fault, monkeypatch):
    right = printed_proof._causal_stream

    def planted(x, alpha, k):
        sigma = np.stack([x[:t].T @ x[:t] / t for t in range(1, len(x) + 1)])
        M = alpha * sigma
        changed = {
            ("start", 0): np.einsum("tij,tj->ti", 2 * M, x),
            ("one step", 1): np.einsum("tij,tj->ti", 2 * M - M @ sigma @ M, x),
        }
        for j, m in zip(range(3 if fault == "end" else k), right(x, alpha, k), strict=False):
            yield changed.get((fault, j), m)

    monkeypatch.setattr(printed_proof, "_causal_stream", planted)
    assert printed_proof.causal_remark(Run()).verdict is Verdict.FAILS
