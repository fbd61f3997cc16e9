"""The printed proof: each mistake is one.  What a finding needs to hold, the self-test changes."""

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
