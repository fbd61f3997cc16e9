"""The claim depth: its table of layers, from the tensors."""

import pytest
from by_id import findings
from reference_layers import TABLE

from verify.finding import Verdict
from verify.regression.depth import depth

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def table():
    """Layers counted; that the layouts are equal is shown at smaller k."""
    return findings(depth, largest_k=12, domain="float")


@pytest.mark.parametrize("k", TABLE)
def test_the_table_of_layers(k, table):
    paper, direct, bound, bound_identity = TABLE[k]
    row = table[f"layers/{k}"]
    assert row.verdict is Verdict.HOLDS
    assert row.measured == {
        "from αS": {"direct": direct, "ladder": bound, "paper": paper},
        "from αI": {"direct": direct - 1, "ladder": bound_identity},
    }
    assert row.bound == {"from αS": bound, "from αI": bound_identity}


def test_the_lower_bound_names_its_models_and_is_arithmetic(table):
    bound = table["lower-bound"]
    assert (bound.evidence, bound.measured) == ("exact", bound.bound)
    assert "affine in the prompt" in bound.name


def test_the_evidence_of_the_table(table):
    for k in range(13):
        row = table[f"layers/{k}"]
        assert row.evidence == "exact"
    compared = findings(depth, largest_k=1)
    for k in range(2):
        assert compared[f"layers/{k}"].evidence == "formula"


def test_the_degree_is_that_of_the_polynomial(table):
    for start, power in (("gram", 2), ("identity", 1)):
        finding = table[f"degree/{start}"]
        assert finding.evidence == "identity"
        assert finding.measured == [2 ** (k + power) + 1 for k in range(6)]
