"""k-hop: one hop, very many, and what a certificate states."""

import itertools
from types import SimpleNamespace

import pytest
import torch
from refusals import rejects

from constructions import hop as hop_model
from constructions import induction_heads
from theory.retrieval import doubling_layers, hop, hop_layers, random_sequences
from verify.claim import Run
from verify.finding import Verdict
from verify.ledger.claims import installed
from verify.retrieval.hop import _layers, certified


def test_one_hop_is_the_induction_head_of_the_latest_match():
    tokens = random_sequences(30, 25, 4, seed=0)
    one_hop, induction = hop_model(1, 4, 30), induction_heads(4, 30)
    assert torch.equal(one_hop(tokens), induction(tokens))
    assert torch.equal(one_hop.logits(tokens), induction.logits(tokens))


def test_many_hops():
    """A token that repeats the one before it is its own match, however many hops are made."""
    tokens = [0, 0, 0, 1, 0, 1]
    found = hop_model(2**40, 2, 6)(tokens).tolist()
    assert found == hop(tokens, 2**40).tolist() == [-1, 0, 0, -1, -1, -1]


def test_a_certificate_is_about_words_in_which_many_hops_lead_somewhere():
    for k, share in ((3, 0.5), (16, 0.4)):
        said = certified(Run(), k)
        assert (said["hops"], said["letters"], said["length"]) == (k, 2, 9)
        words = list(itertools.product(range(2), repeat=9))
        answered = sum(ends_somewhere(word, i, k) for word in words for i in range(9))
        assert said["name"].endswith(f": {answered} of {9 * 2**9} answers are not ⊥")
        assert answered > share * 9 * 2**9


def ends_somewhere(word, i, hops):
    """Whether so many hops from i find a match, by the definition."""
    for _ in range(hops):
        matches = [j for j in range(1, i + 1) if word[j - 1] == word[i]]
        if not matches:
            return False
        i = matches[-1]
    return True


@pytest.mark.parametrize("added", [-1, 1])
def test_one_layer_more_or_fewer_for_one_number_of_hops_fails(added, monkeypatch):
    """Three hops need one layer fewer than with doubling, which is the point."""
    assert doubling_layers(3) == hop_layers(3) + 1

    def layers(k, *sizes):
        return SimpleNamespace(n_layers=hop_layers(k) + added * (k == 3))

    assert _layers(Run(quick=True), 4).verdict is Verdict.HOLDS
    monkeypatch.setattr("verify.retrieval.hop.construction", layers)
    assert _layers(Run(quick=True), 4).verdict is Verdict.FAILS


def test_more_hops_than_a_certificate_states_are_refused_before_any_finding():
    it = installed()["hop"].load()
    run = Run(quick=True, certificates=[])
    with rejects("k", "9999"):
        next(it.findings(run, **{**it.defaults, "k": 10**4}))
    next(it.findings(run, **{**it.defaults, "k": 9999, "max_length": 8}))
