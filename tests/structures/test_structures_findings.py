"""Each finding about data structures fails for wrong data, such as one wrong value of many."""

from __future__ import annotations

from itertools import islice

import numpy as np
import pytest
from faults import always, failing, off_by, once, plant, where

from constructions.attention import Attention
from constructions.structures import bucket_table
from theory.structures import in_equal_buckets, one_bit
from verify.claim import Run
from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.structures import comparison_bound, extra_space, hashing, layouts, search, sketches
from verify.structures.accuracies import WIDEST, ahead, below, published

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
ONE_MORE = off_by(1)

CALLS = {
    "trees": lambda: islice(comparison_bound.comparison_bound.findings(Run(quick=True)), 2),
    "recursion": comparison_bound._recursion,
    "branches": comparison_bound._branches,
    "first": lambda: comparison_bound._first(16),
    "at once": lambda: comparison_bound._at_once(16),
    "tables": lambda: extra_space._as_layers(Run(), 5, 3),
    "moved": lambda: extra_space._moved(Run(), bucket_table(5, 3, largest=60)),
    "uniform tables": lambda: extra_space._uniform(Run(), 4000),
    "one large cell": lambda: extra_space._one_cell(Run()),
    "angles": hashing._angles,
    "laid out": lambda: layouts._laid_out(Run(), 2),
    "descent": lambda: layouts._descent(Run(), 2),
    "hard plane": lambda: layouts._hard(Run(), 5000),
    "frequencies": lambda: layouts._zipf(Run()),
    "sorted": lambda: search._sorted(Run(), 3),
    "searched": lambda: search._searched(Run(), search.both(Run(), 2, 7)[1], SETS),
    "one cell": lambda: search.one_cell(Run(), search.both(Run(), 2, 40)[1]),
    "sketches": lambda: sketches._as_layers(Run()),
    "cell of counts": lambda: sketches._one_cell(np.ones((2, sketches.V), dtype=int)),
}
SETS = search._sets(Run(), 3)


def turned(order):
    """The order with its last row reversed."""
    changed = order.copy()
    rows = changed.reshape(-1, changed.shape[-1])
    rows[-1] = rows[-1, ::-1]
    return changed


def nothing(cells):
    return 0 * cells


@pytest.fixture
def few_rankings(monkeypatch):
    monkeypatch.setattr(layouts, "RANKINGS", 20)
    monkeypatch.setattr(layouts, "FEW", 2)


@pytest.mark.parametrize(
    ("call", "target", "fault", "ids"),
    [
        (
            "trees",
            "comparison_bound.most_found",
            where(lambda *N_M: N_M == (5, 2), ONE_MORE),
            {"most"},
        ),
        (
            "trees",
            "comparison_bound.best_trees",
            where(lambda *N_M: N_M == (4, 2), ONE_MORE),
            {"optima"},
        ),
        ("recursion", "comparison_bound.most_by_roots", once(ONE_MORE, 9), {"recursion"}),
        ("recursion", "comparison_bound.perfect_trees", once(ONE_MORE, 9), {"recursion"}),
        ("branches", "comparison_bound.most_by_branches", once(ONE_MORE, 1), {"branches"}),
        ("first", "comparison_bound.first_interpolated", once(off_by(-0.003)), {"first"}),
        ("at once", "comparison_bound.best_fixed", once(off_by(-0.01)), {"at-once-16"}),
        ("tables", "extra_space.points_in", once(ONE_MORE), {"cells"}),
        ("tables", "extra_space.points_in", once(lambda points: points + 1, 1), {"rational"}),
        ("moved", "extra_space.table_lookup", always(nothing), {"one-cell"}),
        (
            "uniform tables",
            "extra_space.table_accuracy",
            once(off_by(0.1), 1),
            {"law-16", "figures-16"},
        ),
        (
            "uniform tables",
            "extra_space.table_accuracy",
            once(off_by(0.1), 6),
            {"law-50", "figures-50", "printed"},
        ),
        ("one large cell", "extra_space.nearest", once(ONE_MORE), {"all"}),
        ("one large cell", "extra_space.cell_bits", once(ONE_MORE), {"bits"}),
        ("angles", "hashing.one_bit", once(off_by(0.1)), {"angle"}),
        ("laid out", "layouts.kd_order", once(turned), {"orders"}),
        ("laid out", "layouts.kd_order", once(turned, 1), {"ties"}),
        ("laid out", "layouts.kd_order", once(turned, 2), {"space"}),
        ("laid out", "layouts.kd_order", once(turned, 5), {"rational"}),
        ("descent", "layouts.cells_before", once(ONE_MORE), {"cells"}),
        ("descent", "layouts.cells_before", once(ONE_MORE, 1), {"rational"}),
        ("descent", "layouts.lookups_of", once(nothing), {"one-cell"}),
        ("hard plane", "layouts.most_found", once(ONE_MORE, 3), {"hard/points"}),
        ("hard plane", "layouts.most_found", once(off_by(-15), 9), {"hard/beside"}),
        ("frequencies", "layouts.most_by_weight", once(off_by(-0.2), 1), {"best"}),
        ("frequencies", "layouts.treap_found", once(off_by(-0.9)), {"law", "treap"}),
        (
            "frequencies",
            "layouts.treap_found",
            once(lambda found: np.append(found[:-1], 1)),
            {"law", "last"},
        ),
        ("searched", "search.outputs", once(ONE_MORE), {"cells"}),
        ("searched", "search.outputs", once(ONE_MORE, 2), {"rational"}),
        ("one cell", "search.cells", once(lambda cells: cells + 9), {"one-cell"}),
        ("sketches", "sketches.count_min", once(ONE_MORE), {"d=1/streams"}),
        ("sketches", "sketches.count_min", once(turned, 1), {"d=2/streams"}),
        ("cell of counts", "sketches.unpacked", once(ONE_MORE, 1), {"counts"}),
        ("cell of counts", "sketches.cell_bits", once(ONE_MORE), {"bits"}),
    ],
)
@pytest.mark.usefixtures("few_rankings")
def test_a_wrong_value_fails(call, target, fault, ids, monkeypatch):
    plant(monkeypatch, f"verify.structures.{target}", fault)
    assert failing(CALLS[call]()) == ids


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.usefixtures("few_rankings")
def test_right_values_do_not_fail(call):
    assert failing(CALLS[call]()) == set()


@pytest.mark.parametrize(
    ("at", "verdict"),
    [([[2, 1, 2]], HOLDS), ([[2, 1, 2], [2, 2, 2]], FAILS), ([[1, 1, 2]], FAILS)],
)
def test_lookups_of_all_best_trees_are_compared(at, verdict):
    assert comparison_bound._every_lookup({(3, 2): np.array(at)}).verdict is verdict


@pytest.mark.parametrize(
    ("at", "verdict"),
    [([[2, 1, 2]], HOLDS), ([[1, 2, 2]], FAILS), ([[2, 1, 2], [2, 1, 2]], FAILS)],
)
def test_another_tree_than_binary_search_fails(at, verdict):
    assert comparison_bound._only_one({(3, 2): np.array(at)}).verdict is verdict


@pytest.mark.parametrize(
    ("method", "lookup", "by", "ids"),
    [
        ("orthogonal", 2, 0.0, set()),
        ("orthogonal", 2, 0.001, {"orthogonal/law"}),
        ("SimHash", 5, 0.2, {"orthogonal-ahead"}),
        ("SimHash", -1, 0.01, {"SimHash/bucket"}),
    ],
)
def test_accuracies_in_buckets_are_compared(method, lookup, by, ids):
    """SimHash is behind by 0.1 at all lookups, on four sets."""
    both = np.full((4, hashing.N), float(one_bit(np.arccos(hashing.RHO))) ** hashing.BITS)
    reached = in_equal_buckets(hashing.N, 2**hashing.BITS, hashing.M)
    found = {name: both.copy() for name in ("SimHash", "orthogonal")}
    for each in found.values():
        each[:, : hashing.M] *= reached
    found["SimHash"][:, : hashing.M] -= 0.1
    found[method][:, lookup] += by
    assert failing(hashing._probabilities(found)) == ids


@pytest.mark.parametrize(
    ("method", "by", "ids"),
    [
        ("kd-tree", 0, set()),
        ("kd-tree", 3, {"kd-32"}),
        ("bands", 3, {"bands-32"}),
        ("rows", -70, {"rows-32"}),
    ],
)
def test_accuracies_in_the_plane_are_compared(method, by, ids):
    figures = {"kd-tree": layouts.KD[32], "bands": layouts.BANDS[32], "rows": [80.0] * 5}
    figures[method] = off_by(by)(figures[method])
    found = {name: [Mean(each, 0.1) for each in row] for name, row in figures.items()}
    assert failing(layouts._plane(found, 32)) == ids


@pytest.mark.parametrize(
    ("method", "off", "ids"),
    [
        ("binary", [0, 0, 0, 0], set()),
        ("binary", [0, 3, 0, 0], {"binary-16"}),
        ("interpolation", [0, 3, 0, 0], {"interpolation-16"}),
        ("interpolation", [-30, 0, 0, 0], {"interpolation-16", "ahead-16"}),
        ("interpolation", [0, 0, -60, 0], {"interpolation-16", "ahead-16"}),
        ("greedy Bayes", [0, 3, 0, 0], {"greedy-16"}),
    ],
)
def test_accuracies_of_searches_are_compared(method, off, ids, monkeypatch):
    def drawn(run, name, N, M, samples, pace):
        found = np.array(published(name, N)) + np.multiply(off, name == method)
        return [Mean(float(each), 0.1) for each in found]

    monkeypatch.setattr(search, "drawn", drawn)
    assert failing(search._uniform(Run(quick=True), 1, {})) == ids


@pytest.mark.parametrize(
    ("at", "by", "ids"),
    [
        (0, [0, 0, 0], set()),
        (0, [0, 3, 0], {"binary-7"}),
        (1, [0, 3, 0], {"binary-15"}),
        (2, [0, 3, 0], {"interpolation-15"}),
        (2, [0, 0, 40], {"interpolation-15", "ahead"}),
    ],
)
def test_accuracies_on_the_hard_distribution_are_compared(at, by, ids, monkeypatch):
    figures = [("hard binary", 7), ("hard binary", 15), ("hard interpolation", 15)]
    rows = [np.array(published(*each)[:3]) for each in figures]
    rows[at] += by
    found = iter([[Mean(each, 0.1) for each in row] for row in rows])
    monkeypatch.setattr(search, "accuracies", lambda right: next(found))
    assert failing(search._hard(Run(), 10)) == ids


def test_a_model_that_does_not_sort_fails():
    def turned_around(model):
        model.unembed.W_U.neg_()
        return model

    found = search._sorted(Run(fault=turned_around), 3)
    assert {"orders", "rational"} <= failing(found)


@pytest.mark.parametrize("fault", ["", "another cell", "a token of the stream"])
def test_weights_of_lookups_in_sketches_are_compared(fault, monkeypatch):
    hashes = np.array([[0, 1, 2], [2, 0, 0]])
    model = sketches.built.count_min(hashes, 3, 2**10)
    right = Attention.pattern

    def pattern(self, *given):
        found = right(self, *given).clone()
        found[..., -1, 0] += fault == "a token of the stream"
        return found

    monkeypatch.setattr(Attention, "pattern", pattern)
    streams, queries = np.array([[0, 1, 2, 0]]), np.arange(3)[None]
    if fault == "another cell":
        hashes = np.array([[0, 1, 2], [2, 0, 1]])
    found = sketches._one_cell_each(model, streams, queries, hashes, 3)
    assert found.verdict is (FAILS if fault else HOLDS)


@pytest.mark.parametrize(
    ("off", "error", "verdict"),
    [(0.0, 0.01, HOLDS), (0.1, 0.01, FAILS), (-0.1, 0.01, FAILS), (0.0, 0.5, UNDECIDED)],
)
def test_errors_of_sketches_are_compared(off, error, verdict):
    """Where one of three errors is off, or has a standard error above a fifteenth of it."""
    found = [Mean(2.0, 0.01), Mean(3.0 + off, error), Mean(4.0, 0.01)]
    assert sketches._beside("", found, [2.0, 3.0, 4.0], 0.01, "").verdict is verdict


@pytest.mark.parametrize("balanced", [False, True])
def test_another_exact_error_of_one_row_than_stated_fails(balanced, monkeypatch):
    right, drawn = sketches.one_row_error, sketches.drawn

    def error(*given, **options):
        return right(*given, **options) * (1 + 1e-9 * (options["balanced"] == balanced))

    monkeypatch.setattr(sketches, "one_row_error", error)
    monkeypatch.setattr(sketches, "drawn", lambda run, sets: drawn(run, 20))
    wrong = failing(sketches.sketches.findings(Run(quick=True)))
    assert wrong == {f"error/law-of-{'balanced' if balanced else 'count-min'}"}


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, HOLDS), (1.5, FAILS)])
def test_the_mean_error_given_the_counts_is_compared(factor, verdict, monkeypatch):
    """With one of the depths off by a factor."""
    right, (_, depth, _) = sketches.count_min_error, sketches.DEPTHS

    def error(counts, p, d, w):
        return right(counts, p, d, w) * (factor if d == depth else 1)

    monkeypatch.setattr(sketches, "count_min_error", error)
    p, counts, estimates = sketches.drawn(Run(), 100)
    errors = {name: sketches.mean_errors(p, counts, each) for name, each in estimates.items()}
    assert sketches._given_counts(p, counts, errors).verdict is verdict


@pytest.mark.parametrize(("ahead", "verdict"), [(1, HOLDS), (0, UNDECIDED), (-1, FAILS)])
def test_the_lead_of_conservative_updates_is_decided_by_its_error(ahead, verdict):
    off = 0.1 * np.arange(-2, 3)
    errors = {"balanced, best answer 1": 1 + ahead + off, "conservative 2": np.ones(5)}
    assert sketches._lead(errors).verdict is verdict


@pytest.mark.parametrize(
    ("lead", "verdict"), [(1.0, HOLDS), (0.4, UNDECIDED), (-0.4, UNDECIDED), (-1.0, FAILS)]
)
def test_a_lead_of_less_than_a_point_is_a_lead(lead, verdict):
    """The errors of its difference are half a point."""
    found = ahead(
        "id", "name", [Mean(60 + lead, 0.1), Mean(62.0, 0.1)], [Mean(60.0, 0.0), Mean(50.0, 0.0)]
    )
    assert found.verdict is verdict


@pytest.mark.parametrize("at", [0, 1])
def test_one_wide_error_is_enough_to_decide_nothing(at):
    measured = [Mean(50.0, 0.1), Mean(50.0, 0.1)]
    assert below("id", "name", measured, [60.0, 60.0], "a source").verdict is HOLDS
    measured[at] = Mean(50.0, WIDEST)
    assert below("id", "name", measured, [60.0, 60.0], "a source").verdict is UNDECIDED
