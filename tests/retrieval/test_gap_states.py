"""Gaps are proved for the listed values of registers: stray registers and later changes fail."""

from dataclasses import replace

import pytest
import torch

from constructions import hop, induction_heads
from constructions.blocks import MLP, UnitNorm
from constructions.graphs import search
from theory.retrieval import all_sequences
from theory.retrieval import hop as hop_answers
from verify.evidence.gaps import gap_finding
from verify.finding import Verdict
from verify.graphs.graph_search import following
from verify.retrieval.hop import head_states as hop_states
from verify.retrieval.induction import head_states


def states(model, layer):
    return next(s for s in head_states(model, "latest") if s.layer == layer)


def test_a_register_that_tokens_and_positions_share_is_not_listed():
    model = induction_heads(3, 7)
    model.embed.W_E[1, model.stream["rank"]] = 1.0
    found = gap_finding("", model, states(model, 2))
    assert found.verdict is Verdict.FAILS
    assert "both tokens and positions write to register rank" in found.detail


def by_a_head(block, at):
    block.attn.W_O[0][:, at] += 5.0


def by_an_mlp(block, at):
    D = len(block.attn.W_Q[0])
    into, out, no_bias = (torch.zeros(size).double() for size in ((D, 1), (1, D), D))
    out[:, at] = 1.0
    block.mlp = MLP(into, torch.ones(1).double(), out, no_bias)


def by_a_bias(block, at):
    by_an_mlp(block, at)
    block.mlp.b_out[at] = block.mlp.W_out[0, at]
    block.mlp.W_out[:] = 0.0


def by_a_norm(block, at):
    block.norm = UnitNorm()


@pytest.mark.parametrize("written", [by_a_head, by_an_mlp, by_a_bias, by_a_norm])
def test_an_embedded_register_that_an_earlier_layer_changes_is_not_as_listed(written):
    """Keys of hops read `norm`, and queries of induction heads `code`."""
    hops, induction = hop(4, 3, 8), induction_heads(3, 7)
    second, matches = [*hop_states(hops)][1], states(induction, 2)
    for model, listed_, register in ((hops, second, "norm"), (induction, matches, "code")):
        assert gap_finding("", model, listed_).verdict is Verdict.HOLDS
        written(model.blocks[0], model.stream[register])
        found = gap_finding("", model, listed_)
        assert found.verdict is Verdict.FAILS
        name = "" if written is by_a_norm else register
        assert f"layer 1 writes to the embedded register {name}" in found.detail
    tokens = all_sequences(6, 3)
    assert written is not by_a_head or (hops(tokens).numpy() != hop_answers(tokens, 4)).any()


def test_an_embedded_register_may_change_where_the_list_has_what_it_then_holds():
    """A node's `visited` is embedded, and layer 1 adds the nodes before it."""
    model = search(3, 3)
    listed_ = following(model)
    assert gap_finding("", model, listed_).verdict is Verdict.HOLDS
    assert gap_finding("", model, replace(listed_, changed=())).verdict is Verdict.FAILS


def test_a_head_that_reads_more_than_was_listed_fails():
    model = induction_heads(3, 7)
    model.blocks[1].attn.W_K[0, model.stream["answer"], 0] = 1.0
    finding = gap_finding("", model, states(model, 2))
    assert finding.verdict is Verdict.FAILS
    assert "the key of layer 2 reads register answer" in finding.detail
