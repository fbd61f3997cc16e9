"""The claim stock: every finding holds at small sizes, and says so without the extra."""

import pytest
from by_id import findings

from theory.checks import InputError
from verify.claim import Run
from verify.finding import Verdict
from verify.stock.gadgets import neutral_norm
from verify.stock.stock import stock


def test_all_findings_hold_at_small_sizes():
    found = findings(stock, d=2, n=3, k=2, samples=3)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
    models = {id.split("/")[0] for id in found if id.endswith("/slope")}
    assert models == {"descent", "newton", "ladder", "chebyshev"}
    assert 0.16 < found["gelu"].measured < 0.1701


def test_an_error_that_no_translation_is_sure_of_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("verify.stock.stock.lemmas", lambda run: pytest.fail("work was done"))
    with pytest.raises(InputError, match="error of 1e-30 is below what gradient_descent"):
        findings(stock, d=2, n=3, k=2, samples=3, error=1e-30)


def test_the_norm_is_enclosed_whatever_is_drawn():
    found = [neutral_norm(Run(seed=seed)) for seed in range(20)]
    assert {each.verdict for each in found} == {Verdict.HOLDS}


def test_without_the_extra_it_is_undecided(monkeypatch):
    monkeypatch.setattr("verify.stock.stock.installed", lambda: False)
    found = findings(stock, inside="gpt2")
    assert {id: f.verdict for id, f in found.items()} == {"package": Verdict.UNDECIDED}
    assert "pip install" in found["package"].wanted


@pytest.mark.slow
def test_it_holds_inside_gpt2():
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    found = findings(stock, inside="gpt2", d=2, n=3, k=2, samples=3)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []
