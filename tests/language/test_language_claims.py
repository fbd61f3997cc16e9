"""The claims on language: vacuous bounds, known values, and options that do not go together."""

import sys
from fractions import Fraction as F

import numpy as np
import pytest
from faults import always, plant
from refusals import rejects

from theory.language import (
    Log,
    conditional_entropy,
    distributions_on_grid,
    even_process,
    log,
    mean_difference,
    most_mean_difference,
    most_mean_square,
    seen_and_once,
    window_cost,
    world,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.language import direct_gradients, rescalings
from verify.language.bounds import shown, unless_vacuous
from verify.language.good_turing import most_mean, square_bound
from verify.language.hallucination import hallucination, in_a_sentence, of_world
from verify.language.rescalings import reaches
from verify.language.sampling_or_argmax import between
from verify.language.tiny_worlds import (
    forty_answers,
    forty_strings,
    probable,
)


def test_vacuous_bounds_are_marked():
    from verify.finding import at_least

    assert shown(0.25) == "0.2500"
    assert shown(-0.25) == "−0.2500 (vacuous)"
    for bound, verdict in ((0.1, "holds"), (0.0, "undecided"), (-0.1, "undecided")):
        holds = at_least("a", "a", "exact", 1, bound)
        assert str(unless_vacuous(holds, bound).verdict) == verdict
    assert unless_vacuous(at_least("a", "a", "exact", -1, -0.1), -0.1).verdict is Verdict.FAILS


def test_the_bound_of_good_turing_is_as_stated_for_many_documents():
    for n in (2, 3, 50_000):
        assert square_bound(n) == pytest.approx(float(most_mean_square(n)), 2e-15, 0)


def test_worlds_with_vacuous_bounds_are_undecided():
    """All facts are seen, or half of all strings are facts: the bounds are vacuous."""
    for sizes in ((100, 10**5, 10**4, "uniform"), (100, 100, 10**4, "zipf")):
        found = {each.id: each.verdict for each in of_world(world(*sizes, 0))}
        assert set(found.values()) == {Verdict.UNDECIDED}
    drawn = world(100, 10**7, 50, "uniform", 0)
    found = {each.id: each for each in of_world(drawn)}
    assert found["trade"].verdict is found["sure"].verdict is Verdict.HOLDS
    guessed = drawn.unseen_mass * 100 / drawn.unseen
    assert found["trade"].bound == pytest.approx(guessed, abs=1e-8, rel=1e-6)


def test_the_model_given_all_facts_is_calibrated():
    of = world(50, 1000, 40, "uniform", 0).known()
    assert of.mass.sum() == pytest.approx(1)
    assert (of.miscalibration, of.hallucination) == (0, 0)
    assert of.strings.sum() == 1050
    assert of.unseen_mass > 0.2


def test_a_bound_that_mostly_holds_fails_sometimes():
    """One fact, and a model uniform on nine of 40 strings: in 9 of 40 worlds; γ = ¼."""
    assert probable(True).measured == pytest.approx(9 / 40)


def test_least_means_and_their_bounds_are_fractions():
    for claimed, least, bound in (
        (forty_strings(True), F(19, 39), F(35, 78)),
        (forty_answers(True), F(117, 320), F(117, 320)),
    ):
        assert (claimed.measured, claimed.bound) == (least, bound)
    assert forty_answers(True).wanted.endswith("13/40")


def test_no_model_with_prompts_has_a_smaller_mean_than_the_calibrated_one():
    """E err + E δ⁺ ≥ MM(1 − 1/m) by definition: two prompts, one of them answered by answer 0."""
    rng, m = np.random.default_rng(0), 3

    def mean(alpha, g):
        law = [[F(0)] * m + [1 - alpha] for _ in range(2)]
        law[0][0], total = alpha, F(0)
        for answer in range(m):
            truth = [law[0], law[1].copy()]
            truth[1][answer] = alpha
            pairs = [
                (q, p, i)
                for G, P in zip(g, truth, strict=True)
                for i, (q, p) in enumerate(zip(G, P, strict=True))
            ]
            err = sum(q for q, p, i in pairs if not p) / 2
            over = sum(q - p for q, p, _ in pairs if q > F(1, m)) / 2
            total += (err + max(over, F(0))) / m
        return total

    for alpha in (F(1, 3), F(1, 2), F(2, 3)):
        least = alpha / 2 * (1 - F(1, m))
        calibrated = [[alpha, 0, 0, 1 - alpha], [alpha / m] * m + [1 - alpha]]
        assert mean(alpha, calibrated) == least
        for weights in rng.integers(0, 7, (300, 2, m + 1)).tolist():
            g = [[F(w, sum(row)) for w in row] for row in weights if sum(row)]
            assert len(g) < 2 or mean(alpha, g) >= least


def test_gains_are_compared_with_squares():
    assert reaches(log(2), F(69, 100))
    assert not reaches(log(2), F(70, 100))
    assert reaches(Log(), F(0))


def test_the_figures_of_the_even_process_are_those_of_the_ledger():
    of = even_process()
    costs = [f"{float(window_cost(of, 10, window)):.4f}" for window in (0, 1, 2, 4, 6)]
    assert costs == ["0.1654", "0.1349", "0.0782", "0.0346", "0.0128"]
    H = [f"{float(conditional_entropy(of, t)):.6f}" for t in (1, 2, 3, 10)]
    assert H == ["0.636514", "0.605939", "0.549306", "0.471088"]


def test_corpora_and_grids_are_all_there():
    assert len({*distributions_on_grid(4, 3)}) == 15
    assert {sum(each) for each in distributions_on_grid(4, 3)} == {1}
    of = seen_and_once(3, 2)
    assert sum(of.values()) == 1
    assert float(of[1, 0]) == pytest.approx(1 / 3)
    assert set(of) == {(1, 0), (2, 2)}


@pytest.mark.slow
def test_a_vacuous_bound_is_undecided():
    few = {
        "facts": 4000,
        "strings": 8000,
        "documents": 20,
        "distribution": "uniform",
        "samples": 200,
    }
    found = {each.id: each for each in hallucination.findings(Run(quick=True), **few)}
    assert found["world/printed"].verdict is Verdict.UNDECIDED
    assert found["world/corpus"].verdict is Verdict.UNDECIDED
    assert found["world/sure"].verdict is Verdict.HOLDS  # half of p(U) is left of it
    assert found["built/memoriser/sure"].verdict is Verdict.HOLDS


def test_sizes_in_a_sentence_are_those_of_means():
    rich, other = (in_a_sentence(world(100, 10**9, 50, "uniform", seed)) for seed in (0, 1))
    assert {"50", "100"} <= set(rich.split())
    assert rich == other  # of means, not of one draw
    poor = in_a_sentence(world(100, 100, 2, "uniform", 0))
    assert "50" not in poor.split()


@pytest.mark.parametrize(
    ("options", "parameter"),
    [
        ({"facts": 10, "strings": 5}, "strings"),
        ({"facts": 10**9, "strings": 10**11}, "facts"),
    ],
)
def test_combinations_that_no_range_of_an_option_excludes_are_rejected(options, parameter):
    with rejects(parameter):
        next(hallucination.findings(Run(quick=True), **{**hallucination.defaults, **options}))


def test_as_many_errors_as_facts_are_enough():
    options = {**hallucination.defaults, "facts": 10, "strings": 20, "documents": 30}
    assert next(hallucination.findings(Run(quick=True), **options))


ARGMAX = "verify.language.sampling_or_argmax"


@pytest.mark.parametrize(
    ("first", "rest", "verdict"),
    [
        ((6, 6, 6), (6, 6, 6), Verdict.HOLDS),
        ((6, 4, 12), (6, 6, 6), Verdict.FAILS),
        ((3, 6, 4), (6, 6, 6), Verdict.FAILS),
        ((0, 6, 6), (0, 6, 6), Verdict.FAILS),
        ((6, 6, 12), (6, 6, 12), Verdict.FAILS),
    ],
)
def test_both_inequalities_and_both_equalities_of_errors_are_checked(
    first, rest, verdict, monkeypatch
):
    """The errors in twelfths, for the first distribution and for all others."""
    triples = [first]

    def errors(p):
        triples.append(rest)
        return tuple(F(each, 12) for each in triples[-2][:2])

    monkeypatch.setattr(f"{ARGMAX}.errors", errors)
    monkeypatch.setattr(f"{ARGMAX}.most_sampling_error", lambda *_: F(triples[-2][2], 12))
    assert between(True).verdict is verdict


@pytest.mark.parametrize(
    ("equal", "others", "verdict"),
    [
        (0, -1, Verdict.HOLDS),
        (-1, -1, Verdict.FAILS),
        (0, 0, Verdict.FAILS),
        (0, 1, Verdict.FAILS),
    ],
)
def test_the_largest_mean_error_is_attained_only_by_equal_facts(
    equal, others, verdict, monkeypatch
):
    """The error is off its maximum by these numbers, for n equal facts and for others."""
    module = sys.modules["verify.language.good_turing"]
    most = module.most_mean_difference

    def error(p, n):
        return most(n) + (equal if len(p) == n else others)

    monkeypatch.setattr(module, "mean_difference", error)
    assert most_mean().verdict is verdict


@pytest.mark.parametrize("fault", ["", "gain", "scale"])
def test_the_best_scale_gains_most_and_as_much_as_stated(fault, monkeypatch):
    gain = rescalings.rescaling_gain
    if fault == "gain":
        monkeypatch.setattr(rescalings, "rescaling_gain", lambda p, g, A: gain(p, p, A))
    if fault == "scale":
        monkeypatch.setattr(rescalings, "scales", lambda rng, count: [F(1)] * count)
    assert bool(list(rescalings.other_gains(Run(), 3))) == bool(fault)


@pytest.mark.parametrize("facts", [1, 4, 5, 6, 15])
def test_a_mean_error_above_the_maximum_fails(facts, monkeypatch):
    """Whether it is above for as many equal facts as documents, or for another number."""

    def above(p, n):
        return 2 * most_mean_difference(n) if len(p) == facts else mean_difference(p, n)

    assert most_mean().verdict is Verdict.HOLDS
    monkeypatch.setattr("verify.language.good_turing.mean_difference", above)
    assert most_mean().verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("off", "verdict"),
    [
        (3e-10, Verdict.FAILS),
        (-3e-10, Verdict.FAILS),
        (3e-11, Verdict.HOLDS),
        (-3e-11, Verdict.HOLDS),
    ],
)
def test_rounding_of_the_gradients_of_a_transformer(off, verdict, monkeypatch):
    target = "verify.language.direct_gradients.signals"
    plant(monkeypatch, target, always(lambda found: found * (1 + off)))
    assert direct_gradients._transformer(Run(), 3).verdict is verdict


@pytest.mark.parametrize(("factor", "holds"), [("3/2", False), ("21/10", True)])
def test_the_constant_2_of_squares_is_compared(factor, holds, monkeypatch):
    """For probabilities that are 1/100 apart the bound is 2·10⁻⁴; gains are log(1 + factor/10⁴)."""
    near, half = F(51, 100), F(1, 2)
    p, g, gain = (half, half), (near, 1 - near), log(1 + F(factor) / 10**4)
    of_prompts = iter([[F(1, 3)] * 3, p, p, p, g, g, g])
    for name, found in (
        ("drawn", lambda run, draws: [(p, g, [0])] * draws),
        ("rescaling_gain", lambda *given: gain),
        ("calibration_gain", lambda *given: gain),
        ("miscalibration", lambda *given: near - half),
        ("common_scale_loss", lambda *given: -gain),
        ("random_distribution", lambda rng, size: p if size > 3 else next(of_prompts)),
    ):
        monkeypatch.setattr(rescalings, name, found)
    assert ([*rescalings.below_squares(Run(), 1)] == []) == holds
    assert ([*rescalings.level_sets_below_squares(Run(), 1)] == []) == holds
    assert ([*rescalings.prompts_below_squares(Run(), 1)] == []) == holds
