"""Edges that matter: the interventions, their witnesses, and what is rejected."""

from bisect import bisect_left

import numpy as np
import pytest
import torch
from by_formula import patched, written
from chained_heads import redundant
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions import (
    adder,
    broad_average,
    circuit,
    gradient_descent,
    induction_heads,
    previous_token,
)
from constructions.circuits import Edge, Node, effects
from constructions.tokens import Tokens
from theory import machine, waiting
from theory.kinds import InputError

EMBED, POS, UNEMBED = Node("embed"), Node("positions"), Node("unembed")


def test_a_redundant_edge_does_not_matter():
    found = circuit(redundant()).edges_that_matter(3)
    assert found.exhaustive
    assert found.mattering == (Edge(EMBED, UNEMBED, "logits", "a"),)
    assert {*found.others} == {
        Edge(EMBED, UNEMBED, "logits", "b"),
        Edge(EMBED, Node("head", 1, 0), "V", "a"),
    }


def test_a_model_in_bfloat16_has_the_same_effects():
    """Its tensors are read although numpy lacks their dtype."""
    short, long = induction_heads(2, 3).to(torch.bfloat16), induction_heads(2, 3)
    found, wanted = (circuit(each).edges_that_matter(3) for each in (short, long))
    assert (found.mattering, found.others) == (wanted.mattering, wanted.others)


def test_the_previous_token_by_hand():
    """The answer is the token that the head attends to, so queries, keys and values all matter."""
    found = circuit(previous_token(2, 4)).edges_that_matter(4)
    ports = {(edge.source.kind, edge.port) for edge in found.mattering}
    assert ports == {
        *(("positions", "Q"), ("positions", "K"), ("embed", "V"), ("head", "logits")),
    }


@pytest.mark.parametrize("name", ["induction_heads", "hop", "dyck", "scratchpad", "compiled"])
def test_witnesses_by_the_definition(name):
    """Each witness again, by a forward pass that is written out here."""
    model = PUBLIC[name](*MODELS[name][0])
    found = circuit(model).edges_that_matter(min(3, model.interface.max_length))
    assert found.mattering
    for edge in found.mattering:
        witness = found.witnesses[edge]
        x, other = (torch.tensor([each]) for each in (witness.tokens, witness.other))
        assert tuple(model(x)[0].tolist()) == witness.before
        span = model.stream[edge.register]
        here, there = (written(model, each, edge.source)[..., span] for each in (x, other))
        if witness.at is None:
            change = there - here
        else:
            change = torch.zeros_like(here)
            change[:, witness.at] = there[:, witness.other_at] - here[:, witness.at]
        after = patched(model, x, edge, change, span)
        assert tuple(after[0].tolist()) == witness.after != witness.before


def test_models_without_causal_masks_are_tried_at_every_length():
    found = circuit(PUBLIC["parity"](4)).edges_that_matter(3)
    assert found.sequences == 2 + 4 + 8
    assert circuit(broad_average(3, 4)).edges_that_matter(2).sequences == 9  # and their prefixes


def test_samples():
    c = circuit(induction_heads(8, 16))
    found = c.edges_that_matter(16, samples=20, seed=0)
    assert not found.exhaustive
    assert found.sequences <= 20
    assert found.mattering == c.edges_that_matter(16, samples=20, seed=0).mattering
    assert {*found.mattering} | {*found.others} == {*c.edges}
    small = circuit(induction_heads(3, 4))
    few = small.edges_that_matter(4, samples=5, seed=1)
    assert {*few.mattering} <= {*small.edges_that_matter(4).mattering}


def test_by_register():
    c = circuit(PUBLIC["scratchpad"](*MODELS["scratchpad"][0]), by_register=True)
    found = c.edges_that_matter(3)
    assert Edge(Node("mlp", 1, 0), UNEMBED, "logits", "state") in found.mattering


def test_the_text_lists_every_edge():
    found = circuit(redundant()).edges_that_matter(2)
    text = str(found).splitlines()
    assert len(text) == 1 + 3
    assert text[1].startswith("  embed → unembed [a]: [0, 0] ")
    assert sum(line.endswith("no effect") for line in text) == 2


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda c: c.edges_that_matter(5), "max_length 5 4"),
        (lambda c: c.edges_that_matter(0), "max_length 0"),
        (lambda c: c.edges_that_matter(4, most=80), "81"),
        (lambda c: c.edges_that_matter(4, most=100), "most 100"),
        (lambda c: c.edges_that_matter(4, samples=0), "samples 0"),
        (lambda c: c.edges_that_matter(4, seed="a"), "seed"),
    ],
)
def test_what_is_refused(call, named):
    with rejects(*named.split()):
        call(circuit(induction_heads(3, 4)))


def test_models_over_vectors_have_circuits_without_answers_to_patch():
    c = circuit(gradient_descent(2, 1, 0.5))
    assert c.edges
    assert not isinstance(c.model.interface, Tokens)
    with rejects("model"):
        c.edges_that_matter(2)


def test_edges_tried_briefly_at_first_are_the_same(monkeypatch):
    model = adder(4)
    found = circuit(model).edges_that_matter(2)
    monkeypatch.setattr(effects, "BRIEFLY", 1)
    again = circuit(model).edges_that_matter(2)
    assert again.mattering == found.mattering
    assert again.witnesses == found.witnesses
    assert found.others


def test_a_long_search_is_announced(monkeypatch, capsys):
    monkeypatch.setattr(effects, "BRIEFLY", 1)
    monkeypatch.setattr(waiting, "MEASURED", 0.0)
    circuit(adder(4)).edges_that_matter(2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(waiting, "LONG", 0.0)
    circuit(adder(4)).edges_that_matter(2)
    (line,) = capsys.readouterr().err.splitlines()
    assert "edges" in line
    assert "min" in line


def test_streams_that_exceed_the_memory_are_rejected(monkeypatch):
    monkeypatch.setattr(machine, "available_memory", lambda: 10**6)
    with rejects("max_length", "samples", "memory"):
        circuit(induction_heads(4, 6)).edges_that_matter(6)


def test_lengths_and_sequences_at_their_limits():
    """All 3^2 sequences of two tokens; the edges need more runs than there are sequences."""

    def accepts(most):
        try:
            return bool(c.edges_that_matter(2, most=most))
        except InputError:
            return False

    c = circuit(induction_heads(3, 4))
    for length in (0, 5):
        with rejects("max_length", str(length)):
            c.edges_that_matter(length)
    with rejects("9", "most"):
        c.edges_that_matter(2, most=8)
    with rejects("edge", "most"):
        c.edges_that_matter(2, most=9)
    needed = 1 + bisect_left(range(1, 1000), True, key=accepts)
    with rejects("edge", "most", str(needed)):
        c.edges_that_matter(2, most=needed - 1)


def test_an_edge_that_needs_too_many_patches_is_rejected_before_any(monkeypatch):
    def never(*_):
        raise AssertionError("an edge was patched")

    monkeypatch.setattr(effects, "_tries", never)
    with rejects("most", "100"):
        circuit(adder(4)).edges_that_matter(2, most=100)


def test_samples_have_all_lengths():
    """Without a causal mask, shorter sequences are other prompts."""
    model = broad_average(3, 4)
    model.blocks[0].attn.masks = ("full",) * model.n_heads
    batches = effects._inputs(model, 4, 40, np.random.default_rng(0), 2**18)
    assert [rows.shape[1] for rows in batches] == [1, 2, 3, 4]


def test_chunks_are_all_numbers():
    for count in (0, 1, 63, 64, 65, 1000, 20000):
        assert [int(i) for part in effects._chunks(count) for i in part] == [*range(count)]
