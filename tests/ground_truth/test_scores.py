"""The scores of methods of attribution, by their definitions; no package is needed."""

from fractions import Fraction
from itertools import pairwise, permutations
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import induction_heads, newton, parity_bounded, prefix_sums
from constructions.circuits import circuit
from verify.ground_truth.cases import Case
from verify.ground_truth.hooked import Link
from verify.ground_truth.results import PAIRS, Result
from verify.ground_truth.results import _pairs as pairs_of
from verify.ground_truth.results import _scores as scores_of
from verify.ground_truth.scores import auc, magnitudes, named
from verify.ground_truth.tables import SHOWN, decoy_summary, summary

entries = st.lists(st.tuples(st.integers(0, 3), st.booleans()), min_size=1, max_size=8)


@given(entries)
def test_auc_is_the_probability_of_the_right_order(pairs):
    scores, true = (np.array(each) for each in zip(*pairs, strict=True))
    compared = [
        1.0 if a > b else 0.5 if a == b else 0.0 for a in scores[true] for b in scores[~true]
    ]
    found = auc(scores, true)
    assert np.isnan(found) if not compared else found == pytest.approx(np.mean(compared), abs=1e-15)


@given(st.lists(st.integers(0, 2), min_size=1, max_size=6), st.integers(1, 6))
def test_named_entries_are_the_largest_in_random_order(scores, n):
    """By all orders of the entries: stable sorting takes the first n positive ones."""
    k, n = len(scores), min(n, len(scores))
    counts = np.zeros(k)
    orders = [*permutations(range(k))]
    for order in orders:
        best = sorted(order, key=lambda i: -scores[i])[:n]
        counts[[i for i in best if scores[i] > 0]] += 1
    assert np.allclose(named(np.array(scores), n), counts / len(orders), rtol=1e-12, atol=0)


def test_rounding_errors_are_no_scores():
    assert magnitudes(np.array([-2.0, 1e-9, 3e-9, 0.0])).tolist() == [2.0, 0.0, 3e-9, 0.0]
    assert magnitudes(np.array([1e-12, -2e-12])).tolist() == [1e-12, 2e-12]
    assert magnitudes(np.array([1.0, -1e-9, -2e-9])).tolist() == [1.0, 0.0, 2e-9]
    assert magnitudes(np.zeros(2)).tolist() == [0.0, 0.0]


def test_the_summary_averages_over_seeds_and_circuits():
    def result(case, seed, value):
        fields = dict.fromkeys(SHOWN, value)
        return Result(case=case, method="mine", seed=seed, entries=9, true=3, **fields)

    results = [result("a", 0, 0.5), result("a", 1, 0.7), result("b", 0, 0.9), result("b", 1, 0.9)]
    results += [result("c", seed, float("nan")) for seed in range(2)]
    name, *numbers = summary(results).splitlines()[1].split()
    assert name == "mine"
    # The mean of 0.6 and 0.9, their deviation, and the root of the mean of 0.02 and 0.
    assert [float(each) for each in numbers] == [0.75, 0.21, 0.1] + [0.75] * 7
    one = summary([each for each in results if each.seed == 0])
    assert one.splitlines()[1].split()[1:4] == ["0.70", "0.28", "–"]


@pytest.mark.parametrize("table", [summary, decoy_summary])
@pytest.mark.parametrize("results", [1.0, True, np.eye(2), ["a"]], ids=str)
def test_results_that_are_none(table, results, unchecked):
    with rejects("results"):
        table(results)


NODES = circuit(induction_heads(3, 4)).nodes
LINKS = [Link(source, target, "input") for source, target in pairwise(NODES)]
OF = SimpleNamespace(links=LINKS, sources=NODES[:-1], clean=torch.zeros(2, 3))
ZEROS = dict.fromkeys(OF.sources, torch.zeros(2, 3))


@pytest.mark.usefixtures("unchecked")
def test_scores_of_some_links_or_of_all_nodes():
    for found in ({LINKS[1]: 2.0}, dict.fromkeys(LINKS, torch.tensor(1.0))):
        assert scores_of("mine", lambda of, found=found: found, OF) == found
    found = scores_of("mine", lambda of: ZEROS, OF)
    assert all(torch.equal(found[node], ZEROS[node].double()) for node in ZEROS)


@pytest.mark.usefixtures("unchecked")
def test_scores_are_numbers_of_any_type():
    slope = torch.tensor(2.0, requires_grad=True)
    for score, number in ((slope, 2.0), (1e308, 1e308), (np.float32(0.5), 0.5), (3, 3.0)):
        assert scores_of("mine", lambda of, score=score: {LINKS[0]: score}, OF) == {
            LINKS[0]: number
        }
    for rows in (np.ones((2, 3)), [[1, 1, 1]] * 2, torch.ones(2, 3, dtype=torch.bfloat16)):
        found = scores_of("mine", lambda of, rows=rows: dict.fromkeys(OF.sources, rows), OF)
        assert all((scores == torch.ones(2, 3).double()).all() for scores in found.values())


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    "found",
    [
        None,
        {},
        [(LINKS[0], 1.0)],
        {LINKS[0]: 1.0, "other": 1.0},
        {LINKS[0]: 1.0, NODES[0]: 1.0},
        {LINKS[0]: 1.0, LINKS[-1]: float("nan")},
        {LINKS[0]: 1.0, LINKS[-1]: float("inf")},
        {LINKS[0]: torch.zeros(2)},
        {LINKS[0]: "1"},
        {LINKS[0]: None},
        {LINKS[0]: Fraction(1, 3)},
        {LINKS[0]: 10**400},
        {LINKS[0]: 1j},
        {LINKS[0]: torch.tensor(1j)},
        ZEROS | {NODES[-1]: torch.zeros(2, 3)},
        ZEROS | {"other": torch.zeros(2, 3)},
        {node: ZEROS[node] for node in OF.sources[1:]},
        {node: ZEROS[node] for node in OF.sources[:-1]},
        ZEROS | {OF.sources[-1]: torch.zeros(3, 2)},
        ZEROS | {OF.sources[-1]: torch.full((2, 3), torch.nan)},
        ZEROS | {OF.sources[-1]: 0.0},
    ],
)
def test_what_is_no_scores_names_the_method(found):
    with rejects("'mine'"):
        scores_of("mine", lambda of: found, OF)


def test_pairs_of_prompts_have_different_answers():
    answers = np.zeros((300, 2), dtype=int)
    with rejects("answers"):
        pairs_of(answers, np.random.default_rng(0))
    answers[::2, 1] = 1
    first, second = pairs_of(answers, np.random.default_rng(0))
    assert len(first) == len(second) == PAIRS
    assert (answers[first] != answers[second]).any(-1).all()


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("case", "named"),
    [
        (lambda: Case("its name", lambda: None, 3), "its name"),
        (lambda: Case("its name", lambda: newton(2, 1, 0.1), 3), "its name"),
        (lambda: Case("its name", lambda: prefix_sums(2), 3), "its name"),
        (lambda: Case("its name", lambda: parity_bounded(3), 3), "its name"),
        (lambda: Case("its name", lambda: induction_heads(40, 40), 40), "length"),
        (lambda: Case("its name", None, 3), "build"),
        (lambda: Case("its name", lambda: induction_heads(2, 3), 0), "length"),
        (lambda: Case("its name", lambda: induction_heads(2, 3), 3, decoys="x"), "decoys"),
    ],
)
def test_cases_that_are_none(case, named):
    with rejects(named):
        made = case()
        made.model()
        made.prompts()
