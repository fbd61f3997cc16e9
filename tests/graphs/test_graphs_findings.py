"""Each finding about graphs fails for wrong data, such as one wrong value of many."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch
from faults import always, failing, off_by, once, plant, where

from constructions.graphs import search, squaring, tripling
from theory.graphs import connected, directed_edges, path, pointers, within
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs import connectivity, connectivity_layers, graph_search, two_channels
from verify.graphs import connectivity_wall as wall
from verify.graphs import squaring as squares

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
QUICK, ONE_MORE = Run(quick=True), off_by(1)
TRIPLED, CLIPPED, DISENTANGLED = connectivity.statements_of(Run())
GRAPHS = np.stack([path(5), np.eye(5, dtype=int)])
MODEL = squaring(3, 1, form="robust")
SEARCH = search(3)
STARTED = [(directed_edges(path(3)), 0), (directed_edges(path(2)), 1)]
BLOCKS = {grid: two_channels.random_weights(Run(), 3, *grid) for grid in ((1, 2), (2, 2), (2, 1))}


def with_outputs(n, L):
    """The statement on tripling, with one wrong output on graphs of n nodes and L layers."""

    def outputs(A, layers):
        right = TRIPLED.outputs(A, layers)
        return ONE_MORE(right) if (A.shape[-1], layers) == (n, L) else right

    return replace(TRIPLED, outputs=outputs)


def more_at_a_far_pair(walks):
    """More walks between nodes 0 and 1 of the first graph, which has no edges."""
    changed = walks.copy()
    changed[0, 0, 1] += 10**6
    return changed


def far_pairs(model, A):
    """Outputs that are positive exactly at connected pairs beyond distance 3."""
    return (connected(A) == 1) & ~within(A, 3)


@pytest.mark.parametrize(("quick", "samples", "second"), [(True, 20, 1), (False, 20, 11)])
def test_cycles_of_both_sizes_are_compared(quick, samples, second, monkeypatch):
    """m = 5 and 6 for one layer, m = 13 and 14 for two, and m = 4 for the controls."""
    drawn = []
    monkeypatch.setattr(wall, "cutting", lambda run, m, layers: drawn.append((m, layers)))
    monkeypatch.setattr(wall, "apart", lambda run, m, layers, weights: iter(["other"] * (m == 4)))
    assert wall.closed_bands(Run(quick=quick), samples).verdict is HOLDS
    one, two = ([m for m, layers in drawn if layers == L and m > 4] for L in (1, 2))
    assert (set(one), len(one), len(two)) == ({5, 6}, 4 * samples, second)
    assert set(two) <= {13, 14}
    assert drawn.count((4, 1)) == wall.CONTROLS
    if second > 10:
        assert set(two) == {13, 14}


CALLS = {
    "small": lambda: connectivity.small(QUICK, TRIPLED),
    "compared": lambda: connectivity.compared("large", "", TRIPLED.at(5, 1), GRAPHS),
    "identity": lambda: connectivity.identity(Run(), TRIPLED.at(4, 1)),
    "powers": connectivity.powers,
    "products": lambda: connectivity.products(TRIPLED, 1, GRAPHS),
    "least": lambda: connectivity.least(QUICK, CLIPPED),
    "formats": lambda: connectivity.short_formats(TRIPLED),
    "wall": lambda: wall.by_definition(Run(), 5),
    "subgraphs": lambda: wall.subgraphs(Run(), 1),
    "sound": lambda: wall.sound(Run(), 1),
    "terms": lambda: wall.terms(QUICK, 12),
    "regular": lambda: wall.regular(Run(), 1),
    "distinguished": lambda: wall.distinguished(Run()),
    "row sums": lambda: wall.row_sums(Run()),
    "bands": lambda: wall.closed_bands(QUICK, 1),
    "small searches": lambda: graph_search.small_graphs(QUICK),
    "within": lambda: squares.within_reach("large", "", [(MODEL, GRAPHS[:, :3, :3])] * 2),
    "over q": lambda: squares.over_q(MODEL, GRAPHS[:, :3, :3]),
    "softmax": lambda: squares._softmax(Run(), 3, 1, {"path": path(3)[None]}),
    "projection": lambda: two_channels.projection(BLOCKS, 3),
    "shares": lambda: two_channels.shares(BLOCKS, 3),
    "names": lambda: two_channels.names(Run(), 3),
    "counting": lambda: two_channels.counting(QUICK),
}


@pytest.mark.parametrize(
    ("call", "target", "fault", "ids"),
    [
        ("small", "connectivity.within", once(np.logical_not, 3), {"small"}),
        ("compared", "connectivity.within", once(np.logical_not), {"large"}),
        ("identity", "connectivity.tripling_polynomial", once(ONE_MORE), {"tripling/identity"}),
        ("powers", "connectivity.tripling_polynomial", once(off_by(-9), 1), {"powers"}),
        ("powers", "connectivity.disentangled_polynomial", once(off_by(-(10**99)), 4), {"powers"}),
        ("powers", "connectivity.gram_polynomial", once(off_by(-9), 1), {"powers"}),
        ("products", "connectivity.within", once(np.logical_not, 2), {"products"}),
        ("least", "connectivity.least_layers", once(ONE_MORE, 4), {"least"}),
        ("formats", "connectivity.connected", once(ONE_MORE), {"short-formats"}),
        ("formats", "connectivity.connected", once(ONE_MORE, 1), {"short-formats"}),
        ("wall", "connectivity_wall.disentangled_outputs", once(ONE_MORE, 3), {"definition"}),
        (
            "subgraphs",
            "connectivity_wall.minimal_subgraph",
            once(lambda least: path(6)),
            {"subgraphs"},
        ),
        ("sound", "connectivity_wall.unsound", always(lambda wrong: False), {"sound"}),
        ("sound", "connectivity_wall.exactly", lambda right: far_pairs, {"sound"}),
        ("terms", "connectivity_wall.walks_with_jumps", once(more_at_a_far_pair), {"terms"}),
        ("terms", "connectivity_wall.jumps", once(ONE_MORE, 5), {"terms"}),
        ("regular", "connectivity_wall.of_far_pairs", once(lambda found: {1, 2}, 1), {"regular"}),
        (
            "distinguished",
            "connectivity_wall.connected",
            once(ONE_MORE, 1),
            {"two-cycles/1"},
        ),
        ("distinguished", "connectivity_wall.connected", once(ONE_MORE, 2), {"two-cycles/2"}),
        ("distinguished", "connectivity_wall.over_q", once(ONE_MORE, 1), {"two-cycles/1"}),
        ("row sums", "connectivity_wall.kronecker", once(lambda W: 2 * W, 1), {"row-sums"}),
        (
            "bands",
            "connectivity_wall.apart",
            where(lambda run, m, *_: m > 10, lambda found: ["differ"]),
            {"signed-cycles"},
        ),
        ("small searches", "graph_search.by_edges", once(lambda nodes: [0, 1], 9), {"all-small"}),
        ("within", "squaring.squares_to", once(np.logical_not, 1), {"large"}),
        ("over q", "squaring.streams", once(lambda passed: [2 * [*passed][-1]], 1), {"rational"}),
        ("softmax", "squaring.sufficient", once(off_by(9)), {"sharpness"}),
        (
            "projection",
            "two_channels.two_channels_by_definition",
            once(ONE_MORE, 1),
            {"projection"},
        ),
        ("shares", "two_channels.squared", once(ONE_MORE, 4), {"shares"}),
        ("names", "two_channels.over_q", once(ONE_MORE, 8), {"names"}),
        ("names", "two_channels.disentangled_outputs", once(ONE_MORE, 2), {"names/other"}),
        ("counting", "two_channels.kronecker", once(ONE_MORE, 1), {"counting"}),
    ],
)
def test_a_wrong_value_fails(call, target, fault, ids, monkeypatch):
    plant(monkeypatch, f"verify.graphs.{target}", fault)
    assert failing(CALLS[call]()) == ids


@pytest.mark.parametrize("call", CALLS)
def test_right_values_do_not_fail(call):
    assert failing(CALLS[call]()) == set()


def test_several_wrong_values_of_softmax_fail(monkeypatch):
    for name, change in (
        ("squaring_sharpness", lambda bound: bound * (1 + 1e-9)),
        ("squares_to", np.logical_not),
        ("enclosed_error", lambda error: (0.1, 0.2)),
        ("lean_squaring_sharpness", off_by(2)),
    ):
        plant(monkeypatch, f"verify.graphs.squaring.{name}", once(change))
    assert failing(CALLS["softmax"]()) == {"sharpness", "answers", "restored", "needed"}


@pytest.mark.parametrize(("n", "L", "wrong"), [(5, 2, "over-q"), (3, 2, "small"), (5, 1, "large")])
def test_one_wrong_output_fails(n, L, wrong):
    found = failing(connectivity.about(QUICK, with_outputs(n, L), GRAPHS, 1))
    assert wrong in found


@pytest.mark.parametrize("L", [0, 1, 2, 3])
def test_paths_of_one_depth_with_a_layer_less_fail(L):
    def build(n, layers):
        return tripling(n, layers - (layers == L))

    found = connectivity.paths(replace(TRIPLED, build=build))
    assert found.verdict is (FAILS if L else HOLDS)


@pytest.mark.parametrize("layer", [1, 2])
def test_one_layer_that_adds_another_product_fails(layer):
    case = replace(CLIPPED).at(5, 2)
    assert connectivity.sums(case, GRAPHS).verdict is HOLDS
    with torch.no_grad():
        case.model.blocks[layer - 1].attn.W_V.mul_(2)
    assert connectivity.sums(case, GRAPHS).verdict is FAILS


def test_other_products_than_of_tripling_fail():
    tripled, disentangling = TRIPLED.at(5, 2), DISENTANGLED.at(5, 2)
    assert connectivity.beside(tripled, disentangling, GRAPHS).verdict is HOLDS
    with torch.no_grad():
        disentangling.model.blocks[1].attn.W_V.mul_(2)
    assert connectivity.beside(tripled, disentangling, GRAPHS).verdict is FAILS


@pytest.mark.parametrize(
    ("construction", "by", "ids"),
    [
        ("tripling", 0, set()),
        *((each, by, {each}) for each in ("tripling", "squaring", "search") for by in (-1, 1)),
        *(("pointers", by, {"pointers"}) for by in (-1, 1)),
        ("machine", 1, {"machine"}),
        ("machine", -1, set()),
    ],
)
def test_another_number_of_layers_on_one_graph_fails(construction, by, ids):
    graphs = {f"{D}": pointers(np.arange(D) % 2) for D in (2, 3, 4)}
    takes = {
        "tripling": connectivity_layers.tripling_takes,
        "squaring": connectivity_layers.squaring_takes,
        "machine": connectivity_layers.machine_takes,
        "pointers": connectivity_layers.pointers_take,
        "search": connectivity_layers.search_takes,
    }
    found = {
        key: {name: take(graph) for name, take in takes.items()} for key, graph in graphs.items()
    }
    found["3"][construction] += by
    assert failing(connectivity_layers._findings(graphs, found)) == ids


@pytest.mark.parametrize("weight", ["W_Q", "W_K", "W_V", "W_in"])
@pytest.mark.parametrize("layer", [1, 2])
def test_other_weights_of_the_search_fail(layer, weight):
    model = search(3)
    block = model.blocks[layer - 1]
    part = block.mlp if weight == "W_in" else block.attn
    if part is None or not getattr(part, weight).any():
        return
    assert not failing(graph_search._weights(model))
    with torch.no_grad():
        getattr(part, weight).mul_(1.5)
    (wrong,) = failing(graph_search._weights(model))
    assert wrong == ("search/mlp" if weight == "W_in" else f"search/head/{layer}")


def test_a_matrix_whose_channels_are_orthogonal_fails():
    """For I and J of different blocks, 2n⟨A, B⟩ is 0."""
    zero = {(1, 1): np.zeros((3, 3), dtype=object)}
    assert two_channels.shares(BLOCKS, 3).verdict is HOLDS
    assert two_channels.shares(BLOCKS | zero, 3).verdict is FAILS


def test_models_that_reach_no_far_pair_are_undecided(monkeypatch):
    monkeypatch.setattr(wall, "of_far_pairs", lambda *_: {0})
    assert wall.regular(Run(), 1).verdict is UNDECIDED
    monkeypatch.setattr(wall, "apart", lambda *_: iter(()))
    assert wall.closed_bands(QUICK, 1).verdict is UNDECIDED


def test_equivariant_models_in_place_of_others_fail(monkeypatch):
    for name in ("over_q", "disentangled_outputs"):
        plant(monkeypatch, f"verify.graphs.two_channels.{name}", always(lambda found: 0 * found))
    assert failing(two_channels.names(Run(), 3)) == {"names/other"}


def test_a_graph_on_which_no_number_of_steps_suffices_is_undecided():
    graphs = {"2": pointers(np.arange(2) % 2)}
    found = {"2": dict.fromkeys(("tripling", "squaring", "pointers", "search", "machine"), -1)}
    assert [*connectivity_layers._findings(graphs, found)][-1].verdict is UNDECIDED


@pytest.mark.parametrize("evidence", ["exact", "float"])
def test_paths_on_which_float64_rounds_are_no_exact_evidence(evidence, monkeypatch):
    monkeypatch.setattr(connectivity, "evidence_of", lambda *_: evidence)
    monkeypatch.setattr(connectivity, "DEPTHS", (1, 2))
    found = connectivity.paths(TRIPLED)
    assert (found.verdict, found.evidence) == (HOLDS, evidence)
