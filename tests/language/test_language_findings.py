"""Each finding on language fails for wrong data, such as one wrong value of many."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import islice

import numpy as np
import pytest
from faults import always, failing, off_by, once, plant, where

from theory.language import IsItValid, uniform_mean_square, world
from verify.claim import Run
from verify.finding import Verdict
from verify.language import (
    built_models,
    direct_gradients,
    even_process,
    good_turing,
    hallucination,
    head_cover,
    is_it_valid,
    learned_gates,
    linear_tokens,
    log_linear,
    one_gradient_step,
    parity_with_steps,
    rescalings,
    restriction_access,
    sampling_or_argmax,
    sparse_and,
    sparse_certificates,
    tiny_worlds,
)

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
QUICK, ONE_MORE = Run(quick=True), off_by(1)
TREE = one_gradient_step.shuffled(Run(), 12, 4)
TREES = [one_gradient_step.shuffled(Run(), d, 4) for d in (8, 9, 8)]
DRAWN = world(100, 10**7, 50, "uniform", 0)


def slightly(found):
    """A relative error above the rounding of some thousand operations."""
    return found * (1 + 1e-9)


def twice(found):
    return found * 2


def nothing(found):
    return 0 * found


CALLS = {
    "integers": lambda: direct_gradients._integers(Run(), 4),
    "transformer": lambda: direct_gradients._transformer(Run(), 2),
    "signal": lambda: direct_gradients._signal(64),
    "eliminated": lambda: direct_gradients._eliminated(Run(), 12),
    "even process": lambda: even_process.known_source(True),
    "corpora": lambda: good_turing.counted(Run()),
    "most square": lambda: good_turing.most_square(Run()),
    "world": lambda: hallucination.of_world(DRAWN),
    "prompts": lambda: hallucination.of_prompts(Run(), "few", 100, 60),
    "irregular": lambda: hallucination.not_regular(Run()),
    "deviation": lambda: head_cover._deviation(Run()),
    "lipschitz": lambda: head_cover._lipschitz(Run()),
    "sharp": head_cover._sharp,
    "vectors": lambda: head_cover._vectors(Run(), 4, 3),
    "heads": lambda: head_cover._heads(Run(), 4, 3),
    "occam": lambda: head_cover._occam(Run()),
    "certificate": lambda: head_cover._certificate(4),
    "solved": lambda: linear_tokens._solved(Run(), [1, 3, 4], 8),
    "likelihood": lambda: islice(log_linear.log_linear.findings(QUICK), 7),
    "closed form": lambda: one_gradient_step._closed_form(TREES[:2]),
    "relations": lambda: one_gradient_step._relations(TREES),
    "counted": lambda: one_gradient_step._counted(TREES),
    "rounded": lambda: one_gradient_step._rounded(Run(), TREES),
    "tolerance": lambda: one_gradient_step._tolerance(TREE),
    "permuted": lambda: one_gradient_step._permuted(Run(), TREE, 2000),
    "leak": lambda: parity_with_steps.leak(16, 8),
    "rescaled": lambda: rescalings.rescalings(Run(), 4),
    "restricted": lambda: restriction_access._trees(Run(), 6, 4),
    "terms": lambda: restriction_access._terms(Run(), 8, 2),
    "excess": lambda: sampling_or_argmax.excess(Run(), 8),
    "greedy": sampling_or_argmax.greedy,
    "likeliest": sampling_or_argmax.likeliest,
    "memoriser": sampling_or_argmax.memoriser,
    "two uses": lambda: sampling_or_argmax.two_uses(Run(), Fraction(1, 2)),
    "false bits": lambda: sparse_and._false_bits(Run(), 20),
    "fano": lambda: sparse_and._fano(Run(), 50),
    "expected": tiny_worlds.expected,
    "upper": lambda: tiny_worlds.upper(QUICK),
}


@pytest.fixture
def few_seeds(monkeypatch):
    monkeypatch.setattr(restriction_access, "SEEDS", 3)


@pytest.mark.parametrize(("d", "k"), [(4, 3), (2, 11), (30, 4)])
def test_the_size_of_the_cover_is_stated(d, k):
    base, power, logarithm = re.search(
        r"the cover has (\d+)\^(\d+) = e\^(\d+) heads", head_cover._heads(Run(), d, k).words
    ).groups()
    assert int(base) == 2 * d + 1
    assert math.log(int(base)) * int(power) == pytest.approx(int(logarithm), abs=0.5)


@pytest.mark.parametrize(
    ("call", "target", "fault", "ids"),
    [
        ("integers", "direct_gradients.signals", once(ONE_MORE, 2), {"integers"}),
        ("transformer", "direct_gradients.signals", once(off_by(1.0)), {"transformer"}),
        ("signal", "direct_gradients.least_step_signal", once(slightly), {"signal"}),
        ("signal", "direct_gradients.mean_signal_bound", once(slightly), {"signal"}),
        ("eliminated", "direct_gradients.bits_by_elimination", always(nothing), {"eliminated"}),
        ("eliminated", "direct_gradients.bits_by_elimination", always(ONE_MORE), {"eliminated"}),
        ("corpora", "good_turing.mean_difference", once(ONE_MORE, 5), {"mean"}),
        ("corpora", "good_turing.mean_square", once(ONE_MORE, 5), {"square"}),
        ("most square", "good_turing.mean_square", once(ONE_MORE, 7), {"most-square"}),
        ("most square", "good_turing.square_bound", once(slightly, 1), {"most-square"}),
        ("world", "hallucination.bound_given_corpus", once(slightly), {"corpus"}),
        ("world", "hallucination.printed_bound", once(slightly), {"printed"}),
        ("irregular", "hallucination.printed_bound", once(off_by(-9)), {"regular"}),
        *(
            ("prompts", f"hallucination.{name}", once(slightly), {"prompts/few"})
            for name in (
                "prompted_bound_given_data",
                "printed_prompted_bound",
                "expected_prompted_bound",
            )
        ),
        ("deviation", "head_cover.speed", once(off_by(99), 7), {"deviation"}),
        ("lipschitz", "head_cover.ratio", once(ONE_MORE, 7), {"lipschitz"}),
        ("sharp", "head_cover.ratio", once(lambda found: found / 2), {"sharp"}),
        ("sharp", "head_cover.ratio", once(lambda found: found * 2), {"sharp"}),
        ("vectors", "head_cover.nearest_in_cover", once(off_by(99), 3), {"vectors"}),
        ("heads", "head_cover.cover_radius", once(lambda found: found / 1e9, 5), {"heads"}),
        ("heads", "head_cover.cover_radius", where(lambda A, *_: A == 2.0, slightly), {"heads"}),
        ("occam", "head_cover.occam", once(lambda found: found / 2), {"occam"}),
        ("certificate", "head_cover.growth", once(ONE_MORE), {"certificate"}),
        ("certificate", "head_cover.enough", always(ONE_MORE), {"certificate"}),
        ("solved", "linear_tokens.coefficients_by_solving", always(lambda _: None), {"solved"}),
        (
            "likelihood",
            "log_linear.separating_direction",
            once(lambda found: [0], 3),
            {"separable"},
        ),
        (
            "closed form",
            "one_gradient_step.gradient_in_closed_form",
            once(ONE_MORE, 2),
            {"closed-form"},
        ),
        (
            "relations",
            "one_gradient_step.relations",
            once(lambda found: (off_by(5)(found[0]), *found[1:]), 2),
            {"relations"},
        ),
        ("counted", "one_gradient_step.gradient_by_counting", once(ONE_MORE, 2), {"counted"}),
        ("rounded", "one_gradient_step.scores", once(ONE_MORE, 1), {"all-words"}),
        (
            "tolerance",
            "one_gradient_step.noise_tolerance",
            once(lambda found: found / 2),
            {"noise-tolerance"},
        ),
        ("leak", "parity_with_steps.others", once(off_by(99)), {"leak"}),
        ("rescaled", "rescalings.best_scale", once(twice, 2), {"gain"}),
        ("rescaled", "rescalings.cross_entropy", once(twice, 4), {"slope"}),
        ("rescaled", "rescalings.reaches", once(lambda found: False, 2), {"squares"}),
        ("rescaled", "rescalings.calibration_gain", always(nothing), {"level-sets"}),
        ("rescaled", "rescalings.common_scale_loss", once(nothing, 2), {"prompts"}),
        (
            "restricted",
            "restriction_access.values_of",
            once(lambda values: [None if v is None else 1 - v for v in values], 4),
            {"right"},
        ),
        (
            "restricted",
            "restriction_access.enough_restrictions",
            once(ONE_MORE, 2),
            {"found"},
        ),
        ("terms", "restriction_access.formula_found", once(lambda found: False, 2), {"found"}),
        ("terms", "restriction_access.formula_found", always(lambda found: True), {"too-few"}),
        ("terms", "restriction_access.enough_for_terms", once(ONE_MORE), {"found"}),
        ("excess", "sampling_or_argmax.excess_error", once(off_by(9), 3), {"excess"}),
        ("greedy", "sampling_or_argmax.distance_of_greedy", once(ONE_MORE, 1), {"greedy"}),
        ("likeliest", "sampling_or_argmax.greedy_text", once(lambda text: (1, 1)), {"likeliest"}),
        ("memoriser", "sampling_or_argmax.kl", once(twice, 1), {"memoriser"}),
        *(
            ("two uses", "sampling_or_argmax.used", once(change), {"two-uses/half"})
            for change in (
                lambda found: (found[0] + 1e-9, found[1]),
                lambda found: (found[0], found[1] + 1e-9),
            )
        ),
        ("false bits", "sparse_and.false_bits", once(twice), {"false-bits"}),
        ("fano", "sparse_and.remaining_bits", always(nothing), {"too-few"}),
        ("fano", "sparse_and.greatest_probability", once(off_by(0.001)), {"too-few"}),
        ("expected", "tiny_worlds.expected_bound", once(slightly, 1), {"expected"}),
        ("upper", "tiny_worlds.kl", once(nothing, 4), {"upper"}),
    ],
)
@pytest.mark.usefixtures("few_seeds")
def test_a_wrong_value_fails(call, target, fault, ids, monkeypatch):
    plant(monkeypatch, f"verify.language.{target}", fault)
    assert failing(CALLS[call]()) == ids


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("few_seeds")
def test_right_values_do_not_fail(call):
    assert failing(CALLS[call]()) == set()


@pytest.mark.parametrize(
    ("call", "faults", "ids"),
    [
        (
            "even process",
            {
                "even_process.conditional_entropy": once(twice, 3),
                "even_process.entropy_rate": once(twice),
                "even_process.window_cost": once(twice, 2),
            },
            {"entropies", "closed", "windows"},
        ),
        (
            "likelihood",
            {
                "log_linear.entropy": once(twice, 2),
                "log_linear.slope": once(ONE_MORE, 5),
                "log_linear.projection": once(lambda found: (found[0], found[1][::-1]), 2),
                "log_linear.separating_direction": once(lambda found: None, 2),
            },
            {"decomposition", "hessian", "projection", "separable"},
        ),
    ],
)
def test_several_wrong_values_fail(call, faults, ids, monkeypatch):
    for target, fault in faults.items():
        plant(monkeypatch, f"verify.language.{target}", fault)
    assert failing(CALLS[call]()) == ids


@pytest.mark.parametrize("at", [0, 3])
@pytest.mark.parametrize(
    ("name", "call", "id"),
    [
        ("bound", is_it_valid._attained, "attained"),
        ("mean_misclassified", lambda: is_it_valid._averaged(Run(), 5), "averaged"),
        ("choice_bound", lambda: is_it_valid._choices(Run(), 5), "choices"),
        ("errors", is_it_valid._trigram, "trigram"),
        ("choice_bound", is_it_valid._trigram, "trigram"),
    ],
)
def test_one_wrong_instance_fails(at, name, call, id, monkeypatch):
    fault = once(off_by(Fraction(9)), at)
    monkeypatch.setattr(IsItValid, name, property(fault(getattr(IsItValid, name).fget)))
    assert failing(call()) == {id}


@pytest.mark.parametrize(
    ("drawn", "verdict"), [([0, 0], HOLDS), ([0, -1], HOLDS), ([1, -1], FAILS), ([1, 1], FAILS)]
)
def test_errors_of_good_turing_beyond_the_bound_are_counted(drawn, verdict):
    """Of 20 corpora, one may be beyond on either side."""
    assert good_turing.deviates(np.array([*drawn, *[0.0] * 18]), 1000).verdict is verdict


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, HOLDS), (1.5, FAILS), (0.5, FAILS)])
def test_the_mean_square_of_good_turing_is_compared(factor, verdict):
    drawn = np.full(400, factor * np.sqrt(uniform_mean_square(200, 100)))
    assert good_turing.typical(drawn, 200, 100).verdict is verdict


@pytest.mark.parametrize(
    ("decided", "fractions", "ids"),
    [
        (1.0, [0.1, 0.2, 0.2, 0.9], set()),
        (0.0, [0.1, 0.2, 0.2, 0.9], {"enough"}),
        (1.0, [0.1, 0.3, 0.2, 0.9], {"grows"}),
        (1.0, [0.6, 0.6, 0.6, 0.9], {"few"}),
        (1.0, [0.1, 0.2, 0.2, 0.4], {"most"}),
    ],
)
def test_fractions_of_learned_gates_are_compared(decided, fractions, ids, monkeypatch):
    plant(monkeypatch, "verify.language.learned_gates.decided", lambda right: lambda *_: 1.0)
    plant(monkeypatch, "verify.language.learned_gates.decided", once(lambda _: decided, 1))
    monkeypatch.setattr(learned_gates, "growing", lambda *_: fractions)
    monkeypatch.setattr(learned_gates, "FEW", (4,))
    assert failing(learned_gates._gates(QUICK, 4, 4, 8)) == ids


@pytest.mark.parametrize(("off", "ids"), [(0, set()), (1, {"samples"})])
def test_one_step_that_does_not_find_the_tree_fails(off, ids):
    written = one_gradient_step.scores(Run(), TREE)
    steps = [written + 0.0, off_by(off)(written) + 0.0]
    n = one_gradient_step.enough_samples(TREE, one_gradient_step.DELTA)
    assert failing(one_gradient_step._sampled(Run(), TREE, n, steps)) == ids
    assert failing(one_gradient_step._sampled(Run(), TREE, n + 1, steps)) == {"samples"}


@pytest.mark.parametrize(("noisy", "verdict"), [(None, HOLDS), (0, FAILS), (2, FAILS)])
def test_the_noise_of_one_node_fails(noisy, verdict):
    step = np.zeros_like(TREE.scores, dtype=float)
    for row, node in enumerate(one_gradient_step.nodes(TREE)):
        step[row, :node] = one_gradient_step.expected(TREE, node) + (row == noisy)
    assert one_gradient_step._noise(TREE, 100, [step]).verdict is verdict


def test_labels_that_are_not_permuted_fail(monkeypatch):
    monkeypatch.setattr(one_gradient_step, "permuted", lambda run, labels: labels)
    assert failing(CALLS["permuted"]()) == {"permuted"}


@pytest.mark.parametrize(("ratio", "verdict"), [(1.58, HOLDS), (1.0, FAILS), (2.5, FAILS)])
def test_errors_at_two_numbers_of_samples_are_compared(ratio, verdict, monkeypatch):
    few = one_gradient_step.APART[1]
    monkeypatch.setattr(
        one_gradient_step, "off", lambda run, d, n: [0.1 * (ratio if n == few else 1)] * 2
    )
    assert one_gradient_step._apart(Run()).verdict is verdict


@pytest.mark.parametrize(("at", "verdict"), [(None, HOLDS), (0, FAILS), (1, FAILS)])
def test_one_wrong_probability_of_a_string_fails(at, verdict):
    size = built_models.BASE ** (2 * built_models.DIGITS)
    g = [Fraction(1, size)] * size
    found = np.array([float(each) for each in g])
    if at is not None:
        found[-at] *= 1 + 1e-9
    assert built_models.agrees(found, g).verdict is verdict


@pytest.mark.parametrize("name", ["sure", "trade", "corpus"])
def test_rates_of_hallucination_below_their_bounds_fail(name, monkeypatch):
    monkeypatch.setattr(hallucination, "ROUNDING", -9)
    assert name in failing(CALLS["world"]())


@pytest.mark.parametrize("at", range(3))
def test_the_bound_on_one_of_three_models_fails(at, monkeypatch):
    Levels = hallucination.Levels
    fault = once(off_by(2), at)
    monkeypatch.setattr(Levels, "deterministic_bound", fault(Levels.deterministic_bound))
    assert failing(CALLS["world"]()) == {"sure"}


def test_random_restrictions_that_miss_a_tree_fail(monkeypatch):
    monkeypatch.setattr(restriction_access, "of_restrictions", lambda *_: None)
    assert failing(restriction_access._large(QUICK)) == {"sizes"}


@pytest.mark.parametrize(
    ("name", "by", "call", "id"),
    [
        ("deterministic_bound", Fraction(1), lambda: tiny_worlds.sure(QUICK), "sure"),
        ("over_confidence", Fraction(-1), lambda: tiny_worlds.forty_strings(True), "forty-strings"),
        ("over_confidence", Fraction(-1), lambda: tiny_worlds.forty_answers(True), "forty-answers"),
    ],
)
def test_one_wrong_world_of_many_fails(name, by, call, id, monkeypatch):
    Levels = tiny_worlds.Levels
    monkeypatch.setattr(Levels, name, once(off_by(by), 50)(getattr(Levels, name)))
    assert failing(call()) == {id}


def test_a_bound_that_fails_in_some_worlds_fails(monkeypatch):
    plant(monkeypatch, "verify.language.tiny_worlds.bound_given_corpus", always(off_by(0.5)))
    assert failing(tiny_worlds.probable(True)) == {"probable"}


@pytest.mark.parametrize(
    ("change", "ids"),
    [
        ({}, set()),
        ({"error": 0.9}, {"largest/error"}),
        ({"error": np.nan}, {"largest/right"}),
        ({"vote": 0.9}, {"vote"}),
        ({"norms": 0.9}, {"norms"}),
        ({"vote_samples": 100.0}, {"vote-samples"}),
        ({"norms_samples": 100.0}, {"norms-samples"}),
    ],
)
def test_one_head_whose_bounds_are_not_vacuous_fails(change, ids):
    head = sparse_certificates.Certified(0.0)
    heads = [head, head._replace(**change), head]
    assert failing(sparse_certificates.certificates(heads, 50, 3, 100, 3)) == ids


@pytest.mark.parametrize(("name", "right"), [("attention", False), ("logistic", True)])
def test_a_learner_with_another_result_than_observed_fails(name, right, monkeypatch):
    wrong = sparse_and.LEARNERS[name]
    failing_ones = [sparse_and.LEARNERS[each] for each in sparse_and.FAILING]

    def success(run, T, m, learner):
        return right if learner is wrong else learner not in failing_ones

    monkeypatch.setattr(sparse_and, "success", success)
    found = islice(sparse_and._learned(Run(), 20), len(sparse_and.LEARNERS))
    assert failing(found) == {name}


def test_trees_that_are_not_learned_have_no_right_values(monkeypatch):
    monkeypatch.setattr(restriction_access, "values_of", lambda tree, words: [None] * len(words))
    monkeypatch.setattr(restriction_access, "SEEDS", 1)
    right, _ = CALLS["restricted"]()
    assert (right.id, right.verdict) == ("right", Verdict.UNDECIDED)


@pytest.mark.parametrize("quick", [True, False])
def test_the_largest_trees_are_left_out_if_quick(quick, monkeypatch):
    sizes, drawn = restriction_access.FROM, set()

    def learned(run, tree, d, n):
        drawn.add(n)
        return tree

    monkeypatch.setattr(restriction_access, "of_restrictions", learned)
    assert restriction_access._large(Run(quick=quick)).verdict is HOLDS
    assert drawn == ({sizes[min(sizes)]} if quick else {*sizes.values()})
