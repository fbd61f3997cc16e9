"""The edges of a circuit are the direct connections of the tensors, and no others."""

import numpy as np
import pytest
import torch
from chained_heads import redundant, two_layers
from random_models import random_model
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions import circuit, induction_heads, sphere_dynamics
from constructions.blocks import LayerNorm
from constructions.circuits import Edge, Node
from constructions.circuits.running import Ports
from constructions.circuits.weights import parts

NORMED = {"sphere_dynamics"}
EMBED, POS, UNEMBED = Node("embed"), Node("positions"), Node("unembed")


def built(name):
    model = PUBLIC[name](*MODELS[name][0])
    return circuit(model), model.prompt(*MODELS[name][1])


def test_induction_by_hand():
    first, second = Node("head", 1, 0), Node("head", 2, 0)
    assert circuit(induction_heads(3, 4)).edges == (
        Edge(POS, first, "Q", "before"),
        Edge(POS, first, "K", "norm"),
        Edge(POS, first, "K", "place"),
        Edge(EMBED, first, "V", "code"),
        Edge(EMBED, second, "Q", "code"),
        Edge(POS, second, "K", "rank"),
        Edge(first, second, "K", "previous"),
        Edge(EMBED, second, "V", "code"),
        Edge(second, UNEMBED, "logits", "answer"),
    )


def test_names():
    edge = Edge(Node("head", 1, 0), Node("head", 2, 3), "K", "previous")
    assert str(edge) == "L1.H0 → L2.H3.K [previous]"
    assert str(Edge(POS, Node("mlp", 2), "MLP", "x")) == "pos → L2.MLP [x]"
    assert str(Edge(Node("mlp", 2, 1), UNEMBED, "logits", "x")) == "L2.MLP1 → unembed [x]"
    assert sorted([UNEMBED, Node("mlp", 1), Node("head", 1, 2), POS, EMBED]) == [
        *(EMBED, POS, Node("head", 1, 2), Node("mlp", 1), UNEMBED)
    ]
    assert not edge < edge


@pytest.mark.parametrize("name", sorted({*MODELS} - NORMED))
@pytest.mark.parametrize("by_register", [False, True])
def test_the_parts_together_are_the_model(name, by_register):
    model = PUBLIC[name](*MODELS[name][0])
    prompt = model.prompt(*MODELS[name][1])
    ports = Ports(model, circuit(model, by_register=by_register).neurons)
    H = next(model.residual_stream(prompt))
    found, wanted = ports.logits(H, prompt, {}), model.run(prompt)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=1e-9)


def changes(found, prompt, connected):
    """Random content at all ports from all writers and registers with, or without, an edge."""
    model, rng = found.model, np.random.default_rng(0)
    writers, readers, _ = parts(model, False)
    edges, made = {*found.edges}, {}
    shape = next(model.residual_stream(prompt)).shape
    for reader in readers:
        total = np.zeros(shape)
        for writer in writers:
            for register in model.stream:
                edge = Edge(writer.node, reader.node, reader.port, register)
                before = writer.node.depth < reader.node.depth
                if before and (edge in edges) == connected:
                    span, drawn = model.stream[register], writer.output
                    rows = rng.integers(-3, 4, (*shape[:-1], len(drawn[0]))).astype(float)
                    for M in drawn:
                        rows = rows @ M
                    total[..., span] += rows[..., span]
        made[reader.node, reader.port] = torch.from_numpy(total)
    return made


@pytest.mark.parametrize("name", sorted({*MODELS} - NORMED))
def test_what_is_no_edge_has_no_effect(name):
    """Bit by bit: what is added lies in coordinates of weight 0."""
    found, prompt = built(name)
    ports = Ports(found.model, found.neurons)
    H = next(found.model.residual_stream(prompt))
    clean = ports.logits(H, prompt, {})
    assert torch.equal(ports.logits(H, prompt, changes(found, prompt, False)), clean)
    alive = {edge.target for edge in found.live_edges}
    moved = ports.logits(H, prompt, changes(found, prompt, True))
    assert torch.equal(moved, clean) == (not alive)


def test_planted_weights_are_the_edges_that_come():
    model = induction_heads(3, 4)
    before = {*circuit(model).edges}
    model.blocks[1].attn.W_Q.data[0, model.stream["norm"]] = 0.5
    planted = Edge(POS, Node("head", 2, 0), "Q", "norm")
    assert {*circuit(model).edges} - before == {planted}
    model.blocks[0].attn.W_O.data[0, :, model.stream["rank"]] = 1.0
    planted_too = Edge(Node("head", 1, 0), Node("head", 2, 0), "K", "rank")
    assert {*circuit(model).edges} - before == {planted, planted_too}


@pytest.mark.parametrize(
    ("W_O", "W_Q", "connected"),
    [
        ([[1.0, 1.0]], [[1.0], [-1.0]], False),  # both touch r, and the product is 0
        ([[1.0, 1.0]], [[1.0], [-1.0 + 2.0**-53]], True),
        ([[0.1, 0.3]], [[0.3], [-0.1]], False),
        ([[0.1, 1.0]], [[0.3], [-0.1 * 0.3]], True),  # 0 in float64, and not as rationals
        ([[1e-200, 0.0]], [[1e-200], [1.0]], True),  # which underflows
        ([[1e200, 1e200]], [[1e200], [-1e200]], False),  # which overflows
    ],
)
def test_products_are_exact(W_O, W_Q, connected):
    edges = circuit(two_layers(np.array(W_O), np.array(W_Q))).edges
    edge = Edge(Node("head", 1, 0), Node("head", 2, 0), "Q", "r")
    assert (edge in edges) == connected


def test_softmax_ignores_what_all_keys_have_in_common():
    """The second head of this model has a key that is only a bias: its scores are all equal."""
    model = two_layers(np.ones((1, 2)), np.ones((2, 1)))
    attn = model.blocks[1].attn
    attn.W_K.data.zero_()
    attn.b_K.data.fill_(1.0)
    edge = Edge(Node("head", 1, 0), Node("head", 2, 0), "Q", "r")
    assert edge not in circuit(model).edges
    attn.normalise = "linear"
    assert edge in circuit(model).edges


def test_groups_of_neurons():
    model = PUBLIC["turing_machine"](*MODELS["turing_machine"][0])
    whole, grouped = circuit(model), circuit(model, by_register=True)
    mlps = [node for node in grouped.nodes if node.kind == "mlp"]
    assert len(mlps) > sum(node.kind == "mlp" for node in whole.nodes)
    for layer, block in enumerate(model.blocks, 1):
        if block.mlp is not None:
            own = [grouped.neurons[node] for node in mlps if node.layer == layer]
            writing = block.mlp.W_out.any(1).nonzero().ravel().tolist()
            assert sorted(np.concatenate(own).tolist()) == writing
    merged = {
        Edge(*(Node(n.kind, n.layer, None if n.kind == "mlp" else n.index) for n in ends), p, r)
        for edge in grouped.edges
        for ends, p, r in [((edge.source, edge.target), edge.port, edge.register)]
    }
    assert merged == {*whole.edges}


def test_edges_that_lead_nowhere():
    found = circuit(redundant())
    assert Edge(EMBED, Node("head", 1, 0), "V", "a") in {*found.edges} - {*found.live_edges}
    assert {edge.target for edge in found.live_edges} == {UNEMBED}


def test_layer_norms_read_everything():
    """Of the toy's registers, c is read by nothing but the norm."""
    model = redundant()
    to_c = Edge(Node("head", 1, 0), UNEMBED, "logits", "c")
    assert to_c not in circuit(model).edges
    model.ln_final = LayerNorm(3).double()
    assert to_c in circuit(model).edges
    model.unembed.W_U.data.zero_()
    assert not [edge for edge in circuit(model).edges if edge.target == UNEMBED]


def test_a_normalised_stream_is_refused():
    with rejects("model"):
        circuit(sphere_dynamics(2, 1.0, 0.5, 2))


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_rejected(value):
    model = induction_heads(2, 3)
    with torch.no_grad():
        model.blocks[1].attn.W_V[0, 0, 0] = value
    with rejects("finite"):
        circuit(model)


@pytest.mark.parametrize("mask", ["causal", "diagonal", "full"])
@pytest.mark.parametrize("normalise", ["linear", "relu", "softmax", "hardmax"])
def test_what_is_no_edge_has_no_effect_in_random_models(normalise, mask):
    """A softmax or hardmax head with the mask "diagonal" has no query or key that has an effect."""
    model = random_model(1, normalise, (mask, "causal"))
    found, prompt = circuit(model), model.prompt([[0, 1], [2, 0]])
    ports = Ports(model, found.neurons)
    H = next(model.residual_stream(prompt))
    clean = ports.logits(H, prompt, {})
    moved = ports.logits(H, prompt, changes(found, prompt, False))
    torch.testing.assert_close(moved, clean, rtol=0, atol=1e-9 * float(clean.abs().max()))
    assert not torch.equal(ports.logits(H, prompt, changes(found, prompt, True)), clean)


def test_a_linear_head_on_its_own_token_has_a_query():
    model = two_layers(np.ones((1, 2)), np.ones((2, 1)))
    edge = Edge(Node("head", 1, 0), Node("head", 2, 0), "Q", "r")
    attn = model.blocks[1].attn
    attn.masks = ("diagonal",)
    assert edge not in circuit(model).edges
    attn.normalise = "linear"
    assert edge in circuit(model).edges


@pytest.mark.parametrize("norm", ["ln1", "ln2", "ln_final"])
def test_changes_are_read_before_the_layer_norm(norm):
    """A change of a port by a multiple of the constant stream is removed by the norm."""
    model = random_model(2, "softmax")
    of = model if norm == "ln_final" else model.blocks[0]
    setattr(of, norm, LayerNorm(model.d_model).double())
    found, prompt = circuit(model), model.prompt([[0, 1], [2, 0]])
    ports = Ports(model, found.neurons)
    H = next(model.residual_stream(prompt))
    nodes = {
        "ln1": [(Node("head", 1, h), port) for h in range(2) for port in ("Q", "K", "V")],
        "ln2": [(Node("mlp", 1), "MLP")],
        "ln_final": [(UNEMBED, "logits")],
    }[norm]
    clean = ports.logits(H, prompt, {})
    for each in nodes:
        moved = ports.logits(H, prompt, {each: torch.full_like(H, 3.0)})
        torch.testing.assert_close(moved, clean, rtol=1e-9, atol=1e-9)
    apart = torch.arange(model.d_model, dtype=H.dtype).expand_as(H)
    assert not torch.allclose(ports.logits(H, prompt, {nodes[-1]: apart}), clean)
