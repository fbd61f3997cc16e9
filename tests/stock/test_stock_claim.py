"""The claim stock: what is undecided or rejected, and that wrong answers are counted."""

import pytest
import torch
from by_id import findings
from flint import arb
from refusals import rejects

from constructions import induction_heads
from constructions.stock import Gadgets
from theory.retrieval import induction
from verify.claim import Run
from verify.finding import Verdict
from verify.regression.convergence import safe_alpha
from verify.regression.data import gaussian_examples
from verify.stock.gadgets import distances, gain, gelu, neutral_norm
from verify.stock.stock import a_priori, newton_a_priori, over_tokens, slope, stock


def test_an_error_that_no_translation_is_sure_of_is_refused_before_any_work(monkeypatch):
    monkeypatch.setattr("verify.stock.stock.lemmas", lambda run: pytest.fail("work was done"))
    with rejects("error", "1e-30"):
        findings(stock, d=2, n=3, k=2, samples=3, error=1e-30)


def test_without_the_extra_it_is_undecided(monkeypatch):
    monkeypatch.setattr("verify.stock.stock.installed", lambda: False)
    found = findings(stock, inside="gpt2")
    assert {id: f.verdict for id, f in found.items()} == {"package": Verdict.UNDECIDED}


@pytest.mark.parametrize("wrong", [0, 1])
def test_wrong_answers_over_tokens_are_counted(wrong, monkeypatch):
    def changed(tokens):
        answers = induction(tokens)
        answers[0, :wrong] += 1
        return answers

    monkeypatch.setattr("verify.stock.stock.induction", changed)
    said = next(over_tokens(Run(), "encoder", samples=2))
    assert (said.id, said.measured) == ("answers", wrong)
    assert said.verdict is (Verdict.FAILS if wrong else Verdict.HOLDS)


def test_a_bound_whose_hypothesis_fails_is_undecided(monkeypatch):
    run = Run()
    examples = gaussian_examples(run, 1, 3, 2)
    known = a_priori(run, "encoder", examples, 2, 2), newton_a_priori(run, examples, 2, 2)
    assert {each.verdict for each in known} == {Verdict.HOLDS}
    # Descent: θ so large that kηnBε > 1/12.  Newton: α so large that αλmax > 1.
    monkeypatch.setattr("verify.stock.stock.ANGLES", (1.0, 1.0))
    assert a_priori(run, "encoder", examples, 2, 2).verdict is Verdict.UNDECIDED
    monkeypatch.undo()
    larger = 4 * safe_alpha(examples.x, "identity")
    monkeypatch.setattr("verify.stock.stock.safe_alpha", lambda x, start: larger)
    assert newton_a_priori(run, examples, 2, 2).verdict is Verdict.UNDECIDED


@pytest.mark.parametrize("exponent", [1.8, 1.88, 1.92, 2.0, 2.08, 2.12, 2.6])
@pytest.mark.parametrize("wrong", [1, 2])
def test_the_slope_is_twice_the_order(wrong, exponent, monkeypatch):
    """For each of the two orders, within 5 %."""

    def error(inside, model, examples, numbers):
        power = exponent if numbers.order == wrong else 2
        return arb(numbers.theta) ** (power * numbers.order)

    monkeypatch.setattr("verify.stock.stock.method_error", error)
    found = slope("encoder", induction_heads(2, 4), gaussian_examples(Run(), 1, 3, 2))
    assert found.verdict is (Verdict.HOLDS if abs(exponent - 2) < 0.1 else Verdict.FAILS)


@pytest.mark.slow
def test_it_holds_inside_gpt2():
    pytest.importorskip("transformers", reason="the extra hf is not installed")
    found = findings(stock, inside="gpt2", d=2, n=3, k=2, samples=3)
    assert [f.id for f in found.values() if f.verdict is not Verdict.HOLDS] == []


def test_the_norm_is_enclosed_whatever_is_drawn():
    found = [neutral_norm(Run(seed=seed)) for seed in range(20)]
    assert {each.verdict for each in found} == {Verdict.HOLDS}


def test_a_factor_below_its_bound_fails(monkeypatch):
    """γ is right for the numbers by hand (K = 3), and too small for all others."""
    right = Gadgets.gamma

    def gamma(numbers, square):
        return right(numbers, square) * (1 if numbers.constant == 3 else 0.4)

    monkeypatch.setattr(Gadgets, "gamma", gamma)
    assert neutral_norm(Run()).verdict is Verdict.FAILS


@pytest.mark.parametrize("exponent", [-150, -20])
def test_a_factor_that_is_not_that_of_the_norm_fails(exponent, monkeypatch):
    def off(*given):
        return gain(*given) * (1 - arb(2) ** exponent)

    monkeypatch.setattr("verify.stock.gadgets.gain", off)
    assert neutral_norm(Run()).verdict is Verdict.FAILS


def test_the_error_of_gelu_is_the_known_one():
    assert 0.16 < gelu().measured < 0.1701


@pytest.mark.parametrize("x", [0.0, 2.0**-20, 0.5, 0.75, 1.0, 2.5, 5.0, 8.0])
def test_distances_of_both_forms_are_those_of_torch(x):
    for approximate, found in zip(("none", "tanh"), distances(arb(x)), strict=True):
        for sign in (1, -1):
            at = torch.tensor(sign * x, dtype=torch.float64)
            off = torch.relu(at) - torch.nn.functional.gelu(at, approximate=approximate)
            assert float(found) == pytest.approx(off.item(), rel=1e-11, abs=1e-15)


def test_one_short_example_is_enough():
    """Its square is so small that the default step size is above 2."""
    found = findings(stock, k=1, d=1, n=1, samples=1)
    assert Verdict.together(each.verdict for each in found.values()) is Verdict.HOLDS
