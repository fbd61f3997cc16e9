"""Circuits as graphs of networkx, and their pictures."""

import sys

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions import circuit, induction_heads, parity


def test_the_graph_of_networkx(monkeypatch):
    networkx = pytest.importorskip("networkx")
    found = circuit(induction_heads(3, 4))
    graph = found.to_networkx()
    assert [*graph] == [*map(str, found.nodes)]
    assert graph.nodes["L2.H0"] == {"kind": "head", "layer": 2, "index": 0}
    assert graph.number_of_edges() == len(found.edges)
    assert {"port": "K", "register": "previous"} in graph["L1.H0"]["L2.H0"].values()
    assert networkx.is_directed_acyclic_graph(graph)
    monkeypatch.setitem(sys.modules, "networkx", None)
    with rejects("networkx"):
        found.to_networkx()


@pytest.mark.parametrize(
    "name", ["induction_heads", "scratchpad", "dyck", "gridworld_walk", "compiled", "adder"]
)
def test_no_labels_overlap(name):
    figure = circuit(PUBLIC[name](*MODELS[name][0])).draw()
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    (axis,) = figure.axes
    labels = [*axis.get_xticklabels(), *axis.get_yticklabels(), *axis.texts]
    labels += [axis.title, axis.xaxis.label]
    boxes = [each.get_window_extent(canvas.get_renderer()) for each in labels]
    for i, box in enumerate(boxes):
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1, labels[i]
        assert not [labels[j] for j in range(i) if box.overlaps(boxes[j])], labels[i]


def test_the_picture_marks_what_matters(tmp_path):
    found = circuit(induction_heads(3, 4))
    figure = found.draw(tmp_path / "circuit.png", effects=found.edges_that_matter(4))
    assert (tmp_path / "circuit.png").stat().st_size > 1000
    (axis,) = figure.axes
    rows = [each.get_text() for each in axis.get_yticklabels()]
    assert {*rows} == {edge.register for edge in found.edges}
    grey = {
        rows[round(text.get_position()[1])] for text in axis.texts if text.get_color() == "0.75"
    }
    assert grey == {"norm"}
    assert len(axis.texts) == 9  # a letter for each port and register


@pytest.mark.parametrize("path", ["", "none", "circuit.txt", "absent/circuit.png", "folder.png", 3])
def test_a_path_that_takes_no_picture_is_rejected(path, tmp_path):
    (tmp_path / "folder.png").mkdir()
    before = {*tmp_path.iterdir()}
    with rejects("path" if "png" not in str(path) else "cannot write"):
        circuit(induction_heads(2, 3)).draw(tmp_path / path if path != 3 else path)
    assert {*tmp_path.iterdir()} == before


def test_effects_of_another_circuit_are_rejected():
    found = circuit(induction_heads(2, 3))
    others = circuit(parity(3)).edges_that_matter(2)
    for effects in (others, found.edges, 3):
        with rejects("effects"):
            found.draw(effects=effects)
