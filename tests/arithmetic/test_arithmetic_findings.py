"""Each finding on arithmetic fails for wrong data, such as one wrong value of many."""

from __future__ import annotations

import copy
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from faults import always, failing, off_by, once, plant, where

from constructions.arithmetic import adder, modular_addition
from theory.arithmetic import default_bits
from verify.arithmetic import adder as adders
from verify.arithmetic import comb, fourier_filters, fourier_matrix, modular_margin, printed
from verify.claim import Run
from verify.domains import Ball
from verify.finding import Verdict

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
ONE_MORE = off_by(1)
ADDER, SIX, SEVEN = (adder(10, step, 4.0, default_bits(30, step, 4.0)) for step in (5, 6, 7))
MODELS = {p: modular_addition(p) for p in (3, 5)}
TABLE = fourier_filters.filtered(ADDER)


def in_balls(call):
    """The findings of a call in ball arithmetic."""

    def found():
        with Ball.precision(comb.BITS):
            several = call()
            return several if hasattr(several, "id") else list(several)

    return found


def slightly(found):
    return found * (1 + 1e-9)


def twice(found):
    return found * 2


CALLS = {
    "fourier": lambda: adders.fourier(ADDER),
    "gap": lambda: adders.gap(ADDER, adders.enumerated(ADDER, adders.sums)),
    "coarser": lambda: adders.coarser({"step 6": SIX, "step 7": SEVEN}),
    "linear": lambda: adders.linear(Run(), 10),
    "table": comb.table,
    "closure": comb.closure,
    "squares": comb.identities,
    "limits": in_balls(lambda: comb.limits(30)),
    "binds": in_balls(comb.binds),
    "by hand": in_balls(lambda: comb.by_hand(20)),
    "signatures": in_balls(lambda: comb.signatures(30)),
    "layers": lambda: comb.layers(Run(), 2),
    "masks": lambda: fourier_filters.masks(Run(quick=True)),
    "bins": lambda: fourier_filters.registers_are_bins(ADDER),
    "leaks": lambda: fourier_filters.leaks(ADDER),
    "published": lambda: fourier_filters.beside_published(TABLE),
    "defects": lambda: fourier_matrix.defects(11),
    "printed": lambda: printed.printed(Run()),
    "proof": lambda: modular_margin.proof(Run(), [3]),
    "models": lambda: modular_margin.of_models(Run(quick=True), MODELS),
    "neurons": lambda: modular_margin.random_networks(Run(), [3, 5]),
    "few": lambda: modular_margin.few_frequencies(Run(quick=True)),
}


def smaller(call, monkeypatch):
    if call == "by hand":
        monkeypatch.setattr(comb, "SETS", comb.SETS[:2])
    monkeypatch.setattr(modular_margin, "MOST_EVERY_QUICK", 3)


@pytest.mark.parametrize(
    ("call", "target", "fault", "ids"),
    [
        ("fourier", "adder.rounded_logits", once(ONE_MORE), {"whole-numbers"}),
        ("fourier", "adder.exact_in", once(lambda of: replace(of, bits=54)), {"exactness"}),
        ("gap", "adder.least_gap", once(ONE_MORE), {"gap"}),
        ("gap", "adder.least_gap", once(off_by(-1)), {"gap"}),
        ("gap", "adder.rounding_of_logits", once(slightly), {"gap"}),
        ("coarser", "adder.ahead", once(lambda lead: 0 * lead, 3), {"coarser"}),
        ("linear", "adder.adds_with_error", once(np.logical_not, 8), {"tolerance"}),
        ("linear", "adder.adds_with_error", once(np.logical_not, 9), {"tolerance"}),
        ("table", "comb.comb_gap", where(lambda F: tuple(F) == (1,), lambda gap: -gap), {"apart"}),
        ("table", "comb.comb_gap", where(lambda F: tuple(F) == (1,), lambda g: g - g), {"apart"}),
        ("table", "comb.rational", once(np.logical_not, 1), {"rational"}),
        ("closure", "comb.halving_closure", once(lambda found: found[:-1]), {"closure"}),
        ("squares", "comb.point", once(lambda at: (at[0], at[1] + 1), 33), {"squares"}),
        (
            "limits",
            "comb.largest_alpha",
            once(lambda found: (found[0] * (1 + 1e-9), found[1]), 2),
            {"limits"},
        ),
        (
            "limits",
            "comb.alpha_limit",
            once(lambda found: (found[0] * 1000, found[1])),
            {"limits"},
        ),
        ("binds", "comb.C", once(lambda value: value + value, 4), {"binds"}),
        ("by hand", "comb.wins", once(lambda verdict: FAILS, 7), {"below"}),
        (
            "by hand",
            "comb.alpha_limit",
            once(lambda found: (found[0] / 2, found[1]), 1),
            {"above"},
        ),
        (
            "signatures",
            "comb.wins",
            always(lambda verdict: FAILS),
            {"no-comb", "no-bump", "beyond", "tie"},
        ),
        ("layers", "comb.separable", once(np.logical_not, 1), {"separable"}),
        ("layers", "comb.separable", once(np.logical_not, 7), {"separable"}),
        ("masks", "fourier_filters.leakage", once(lambda found: found / 9), {"mask/random"}),
        ("masks", "fourier_filters.leakage", once(ONE_MORE, 1), {"mask/circulant"}),
        ("bins", "fourier_filters.null_space_projection", once(ONE_MORE), {"registers"}),
        ("bins", "fourier_filters.null_space_projection", once(ONE_MORE, 1), {"registers"}),
        ("leaks", "fourier_filters.leakage", once(ONE_MORE), {"leakage"}),
        ("leaks", "fourier_filters.leakage", once(ONE_MORE, 1), {"leakage"}),
        (
            "published",
            "fourier_filters.published",
            once(lambda table: table | {("mlp", "low"): 100.0}),
            {"published"},
        ),
        ("defects", "fourier_matrix.differing", once(ONE_MORE), {"columns"}),
        ("defects", "fourier_matrix.rank", once(ONE_MORE), {"rank"}),
        ("defects", "fourier_matrix.rank", once(ONE_MORE, 1), {"eigenvalues"}),
        ("defects", "fourier_matrix.rank", once(ONE_MORE, 2), {"eigenvalues"}),
        (
            "defects",
            "fourier_matrix.printed_quadratic",
            once(lambda found: (found[0], found[1] + 1)),
            {"eigenvalues"},
        ),
        ("defects", "fourier_matrix.printed_inversion_error", once(ONE_MORE), {"inverse"}),
        ("printed", "printed.rank", once(ONE_MORE), {"fourier-basis"}),
        ("printed", "printed.differing", once(ONE_MORE), {"fourier-basis"}),
        (
            "printed",
            "printed.norms",
            once(lambda found: found | {Fraction(9): 1}),
            {"fourier-basis"},
        ),
        ("proof", "modular_margin.by_definition", once(ONE_MORE, 1), {"mean"}),
        ("proof", "modular_margin.by_frequencies", once(ONE_MORE, 1), {"fourier"}),
        ("proof", "modular_margin.largest_margin_squared", once(ONE_MORE), {"constant"}),
        ("models", "modular_margin.forward_bound", once(lambda bound: -bound), {"all-logits"}),
        ("models", "modular_margin.unlike_neurons", once(lambda _: ["other"], 1), {"network"}),
        ("models", "modular_margin.margin_of_tensors", once(twice), {"ratio"}),
        ("models", "modular_margin.margin_of_tensors", once(twice, 1), {"ratio"}),
        ("models", "modular_margin.as_proved", once(lambda found: [*found, FAILS]), {"logits"}),
        ("models", "modular_margin.exact_margin_squared", once(ONE_MORE, 1), {"exact"}),
        ("neurons", "modular_margin.mean_over_cubes", once(ONE_MORE, 5), {"neurons"}),
        ("neurons", "modular_margin.mean_over_cubes", always(lambda found: found / 2), {"neurons"}),
        ("few", "modular_margin.few_frequencies_margin", once(slightly), {"few-frequencies"}),
        ("few", "modular_margin.few_frequencies_margin", once(off_by(9), 99), {"few-frequencies"}),
        (
            "few",
            "modular_margin.few_frequencies_margin",
            where(lambda p, K: len(K) == 3, lambda margin: -margin),
            {"few-frequencies"},
        ),
    ],
)
def test_a_wrong_value_fails(call, target, fault, ids, monkeypatch):
    smaller(call, monkeypatch)
    plant(monkeypatch, f"verify.arithmetic.{target}", fault)
    assert failing(CALLS[call]()) == ids


@pytest.mark.parametrize("call", CALLS)
def test_right_values_do_not_fail(call, monkeypatch):
    smaller(call, monkeypatch)
    assert failing(CALLS[call]()) == set()


@pytest.mark.parametrize(
    ("name", "field", "value", "ids"),
    [
        ("none removed", "right", Fraction(120), {"none"}),
        ("low removed", "right", Fraction(120, 3), {"low"}),
        ("low removed", "most", 4, {"low"}),
        ("low removed", "least", 2, {"low"}),
        ("low removed", "errors", {-10, 0, 9}, {"low"}),
        ("high removed", "right", Fraction(1), {"high"}),
        ("high removed", "errors", {-4, 5}, {"high"}),
        ("high removed", "errors", {-5, 4}, {"high"}),
        ("low and period 2", "errors", {0, 2, 3}, {"low-and-period-2"}),
        ("low and period 5", "errors", {0, 4, 5}, {"low-and-period-5"}),
    ],
)
def test_predictions_of_one_filter_fail(name, field, value, ids):
    table = copy.deepcopy(TABLE)
    assert not failing(fourier_filters.effects(ADDER, table, 10, 5, certain=True))
    setattr(table[name], field, value)
    assert failing(fourier_filters.effects(ADDER, table, 10, 5, certain=True)) == ids


def test_one_wrong_logit_in_balls_fails():
    with Ball.precision(comb.BITS):
        verdicts = modular_margin.as_proved(modular_addition(3), every=True)
        assert {*verdicts} == {HOLDS}
        assert len(verdicts) == 27
        wrong = modular_addition(3)
        wrong.unembed.W_U[:, 2] *= 1.001
        assert FAILS in modular_margin.as_proved(wrong, every=True)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, HOLDS), (1 + 1e-12, FAILS)])
def test_rounding_of_the_printed_matrix_is_bounded(factor, verdict, monkeypatch):
    right = fourier_matrix.printed_matrix
    monkeypatch.setattr(fourier_matrix, "printed_matrix", lambda p: right(p) * factor)
    (gram,) = [each for each in fourier_matrix.defects(11) if each.id == "gram"]
    assert gram.verdict is verdict


def test_a_sum_above_its_bound_fails():
    model = copy.deepcopy(ADDER)
    model.at_most = {name: most / 2 for name, most in model.at_most.items()}
    assert failing(adders.fourier(model)) >= {"exactness"}


def test_logits_of_another_linear_adder_fail():
    def shifted(model):
        model.unembed.W_U[:, 3] += 0.5
        return model

    assert "logits" in failing(adders.linear(Run(fault=shifted), 10))


@pytest.mark.parametrize(("factor", "fails"), [(1.0, False), (1 + 1e-12, True)])
def test_logits_in_balls_are_enclosed_as_narrowly_for_larger_moduli(factor, fails):
    """The error 5·10⁻¹¹ is 20 times p²·2⁻⁴⁸, and less than the bounds of a larger order in p."""
    model = modular_addition(25)
    model.unembed.W_U[:, 0] *= factor
    with Ball.precision(comb.BITS):
        assert (FAILS in modular_margin.as_proved(model, every=False)) == fails


def test_rounding_that_may_change_predictions_without_high_bins_is_undecided():
    """At α = 0.002, rounding changes predictions, and at α = 0.1 it provably changes none."""
    found = {
        alpha: {
            each.id: each.verdict
            for each in fourier_filters.fourier_filters.findings(
                Run(quick=True), largest=40, step=3, alpha=alpha
            )
        }
        for alpha in (0.002, 0.1)
    }
    assert found[0.1]["high"] is Verdict.HOLDS
    assert found[0.002].pop("high") is Verdict.UNDECIDED
    assert {*found[0.002].values()} == {Verdict.HOLDS}
    small = adder(40, 3, 0.1, default_bits(90, 3, 0.1))
    assert fourier_filters.low_suffices(small)
    assert not fourier_filters.low_suffices(adder(260, 5, 64.0, 14))
