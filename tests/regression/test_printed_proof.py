"""The printed proof: each finding holds as printed, and not when the mistake is taken away."""

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


def test_a_relu_mlp_cannot_multiply():
    assert printed_proof.product_in_an_mlp().verdict is Verdict.HOLDS
    assert printed_proof.product_in_an_mlp(lambda t: 3 * t).verdict is Verdict.FAILS


def test_opposite_signs_are_no_mistake():
    found = printed_proof.equal_signs(Run())
    assert found.verdict is Verdict.HOLDS
    assert found.measured["repaired"] <= found.bound["repaired"] < 1e-10
    assert printed_proof.equal_signs(Run(), second=-1.0).verdict is Verdict.FAILS


@pytest.mark.parametrize(("numerator", "mistaken"), [(1, False), (2, True), (3, False)])
def test_only_twice_the_inverse_square_is_stuck(numerator, mistaken):
    assert printed_proof.printed_alpha(numerator).verdict is Verdict.of(mistaken)


@pytest.mark.parametrize(
    "expansions",
    [((2, -1), (4, -6, 4, -1)), ((2, -1), (4, -12, 16, -16)), ((2, -4), (4, -6, 4, -1))],
    ids=["both right", "M₁ right", "M₂ right"],
)
def test_the_right_expansions_are_no_mistake(expansions):
    assert printed_proof.printed_expansions(expansions).verdict is Verdict.FAILS


def test_a_fixed_alpha_leaves_its_range():
    assert printed_proof.fixed_alpha().measured == -15


@pytest.mark.parametrize("seed", range(8))
def test_the_causal_remark_diverges_for_every_seed(seed):
    assert printed_proof.causal_remark(Run(seed=seed)).verdict is Verdict.HOLDS


def test_a_causal_stream_that_is_right_is_no_mistake(monkeypatch):
    """Newton on every prefix, with d² numbers per token, is what the remark claims."""

    def separate(x, alpha, k):
        sigma = np.stack([x[: t + 1].T @ x[: t + 1] / (t + 1) for t in range(len(x))])
        M = alpha * sigma
        yield np.einsum("tij,tj->ti", M, x)
        for _ in range(k):
            M = 2 * M - M @ sigma @ M
            yield np.einsum("tij,tj->ti", M, x)

    monkeypatch.setattr(printed_proof, "_causal_stream", separate)
    assert printed_proof.causal_remark(Run()).verdict is Verdict.FAILS
