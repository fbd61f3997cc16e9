"""Graph search by chain of thought, and edge lists."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from refusals import rejects

from constructions.graphs import search
from constructions.transformer import Transformer
from theory.graphs import (
    all_graphs,
    connected,
    directed_edges,
    from_edges,
    path,
    reachable,
    read_edges,
    search_steps,
)
from theory.graphs import search as by_edges
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs.graph_search import whole_component
from verify.graphs.options import chosen
from verify.ledger.claims import installed

FOUND = search(3).interface.found
EDGES = st.integers(1, 8).flatmap(
    lambda n: st.tuples(
        st.just(n),
        st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20),
        st.integers(0, n - 1),
    )
)


def decoded(model, edges, source):
    said = model.generate(model.interface.prompt(edges, source), model.interface.n_nodes)
    return [source, *model.interface.found(said)]


def test_every_graph_of_three_nodes_from_every_source():
    model = search(3)
    for A in all_graphs(3):
        for source in range(3):
            found = decoded(model, directed_edges(A), source)
            assert found == by_edges(directed_edges(A), 3, source)
            assert sorted(found) == np.flatnonzero(connected(A)[source]).tolist()


@settings(max_examples=25)
@given(EDGES)
def test_directed_graphs_with_loops_and_repeated_edges(drawn):
    n, pairs, source = drawn
    edges = np.array(pairs, dtype=int).reshape(-1, 2)
    found = decoded(search(n, 20), edges, source)
    assert found == by_edges(edges, n, source)
    assert set(found) == reachable(edges, n, source)
    assert len(found) == len(set(found))


def test_as_many_steps_as_there_are_nodes_then_bottom():
    model = search(6)
    prompt = model.interface.prompt(directed_edges(path(6)), 2)
    assert model.generate(prompt, 6).tolist() == [1, 0, 3, 4, 5, -1]
    assert model.generate(prompt, 3).tolist() == [1, 0, 3]
    assert (model.n_layers, model.n_heads, model.d_model) == (2, 1, 13)


def test_the_first_edge_of_the_prompt_is_followed():
    model = search(4, 3)
    for edges in ([[0, 1], [0, 2], [0, 3]], [[0, 3], [0, 1], [0, 2]]):
        assert decoded(model, edges, 0) == [0, *[v for _, v in edges]]


def test_several_sources_and_edges_that_come_late():
    """On any tokens in any order the prediction is the end of the first edge that leads on."""
    model, rows = search(5, 4), [[5 + 1, 0, 3, 5 + 5 * 3 + 4], [0, 1, 5 + 1, 5 + 5 + 2]]
    steps = search_steps(rows, 5)
    assert model(rows).tolist() == steps.answers.tolist() == [[-1, 1, 1, 1], [-1, -1, -1, 2]]
    assert steps.visited[0].sum(-1).tolist() == [0, 1, 2, 2]
    assert steps.followed[1, -1].tolist() == [0, 1, -2, 0, 0]


def test_visited_is_at_most_its_bound():
    """Node 0 counts twice: as visited, and as the start of the edge; its end counts −2."""
    model = search(3)
    *_, H = model.streams(model.interface.prompt([[0, 1]], 0))
    held = H[..., model.stream["visited"]]
    assert (held.max(), held.min()) == (2, -2)
    assert model.at_most == {"visited": 2.0}


def test_found_are_the_nodes_up_to_bottom():
    assert FOUND([1, -1, 2]) == [1]
    assert FOUND([]) == []


@pytest.mark.parametrize(
    ("tokens", "verdict"),
    [([2, -1], Verdict.HOLDS), ([1, -1], Verdict.FAILS), ([2, -1, 0], Verdict.FAILS)],
)
def test_wrong_nodes_and_a_missing_end_fail(tokens, verdict, monkeypatch):
    """The tokens decoded from node 0 and the edge to node 2."""
    monkeypatch.setattr(Transformer, "generate", lambda *_: np.array(tokens))
    graphs = [(np.array([[0, 2]]), 0)]
    assert whole_component(search(3), graphs).verdict is verdict


def test_the_sharpness_does_not_depend_on_sizes():
    assert search(12).least_sharpness() == search(3, 2).least_sharpness() < 4
    rng = np.random.default_rng(0)
    edges = rng.permutation(directed_edges(path(12)))
    assert decoded(search(12, 30, sharpness=4.0), edges, 5) == by_edges(edges, 12, 5)


def test_numbers_of_nodes_of_ones_own_graph(tmp_path):
    file = tmp_path / "edges.json"
    for nodes, taken in ((1, False), (2, True), (256, True), (257, False)):
        file.write_text(json.dumps({"edges": [], "nodes": nodes}))
        if taken:
            assert chosen(None, file, 8)[0] == nodes
        else:
            with rejects("nodes", f"{nodes}"):
                chosen(None, file, 8)


def test_edges_from_a_file(tmp_path):
    file = tmp_path / "mine.json"
    file.write_text("[[0, 1], [3, 1]]", encoding="utf-8-sig")
    name, nodes, edges = read_edges(file)
    assert (name, nodes, edges.tolist()) == ("mine", 4, [[0, 1], [3, 1]])
    file.write_text(json.dumps({"edges": [[1, 1]], "nodes": 6, "name": "loop"}))
    assert read_edges(file)[:2] == ("loop", 6)
    file.write_text("[]")
    assert read_edges(file).n_nodes == 1


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[[0, 1, 2]]", "edges"),
        ("[[0, 1], [2]]", "edges"),
        ("[0, 1]", "edges"),
        ("[[0, -1]]", "-1"),
        ("[[0, 1.5]]", "node"),
        ("[[0, true]]", "node"),
        ('[["a", "b"]]', "node"),
        ("7", "edges 7"),
        ('{"nodes": 3}', "edges"),
        ('{"edges": [[0, 5]], "nodes": 3}', "5"),
        ('{"edges": [], "nodes": 0}', "nodes"),
        ('{"edges": [], "nodes": true}', "nodes"),
        ('{"edges": [], "directed": true}', "directed"),
        ("[[0, 10000000000000]]", "10000000000001"),
        ("not json", "JSON"),
    ],
)
def test_files_without_edges(tmp_path, text, names):
    file = tmp_path / "edges.json"
    file.write_text(text)
    with rejects(*names.split()):
        read_edges(file)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: search(10**9, 3), "edges nodes"),
        (lambda: search_steps([12], 3), "tokens 12"),
        (lambda: search(3, sharpness=1.0), "sharpness"),
        (lambda: search(3).interface.prompt([[0, 3]], 0), "edges 3"),
        (lambda: search(3).interface.prompt([[0.5, 1]], 0), "edges"),
        (lambda: search(3).interface.prompt([[0, 1]], 3), "source 3"),
        (lambda: search(3, 1).interface.prompt([[0, 1], [1, 2]], 0), "2 edges"),
        (lambda: search(3).generate([4, 5], 2), "source"),
        (lambda: search(3).generate([], 2), "tokens"),
        (lambda: search(3, 1).generate([4, 0], 4), "2 4"),
        (lambda: search(3).generate(search(3).interface.prompt([[0, 1]], 0), 10**9), "3 steps"),
        (lambda: FOUND(None), "tokens"),
        (lambda: FOUND([[1, -1], [2, -1]]), "tokens"),
        (lambda: FOUND([1.5, -1]), "tokens"),
        (lambda: FOUND([77, -1]), "tokens"),
        (lambda: FOUND([0, -2]), "tokens"),
        (lambda: read_edges("nowhere.json"), "nowhere.json"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


def test_the_claim_on_a_given_graph(tmp_path):
    claim, file = installed()["graph-search"].load(), tmp_path / "mine.json"
    file.write_text(json.dumps(directed_edges(from_edges([[0, 1], [1, 2]], 4)).tolist()))
    options = {**claim.defaults, "samples": 2, "edges": file}
    found = list(claim.findings(Run(quick=True), **options))
    assert {finding.verdict for finding in found} == {Verdict.HOLDS}
    with rejects("n_nodes", "edges"):
        list(claim.findings(Run(quick=True), **{**options, "n_nodes": 4}))
