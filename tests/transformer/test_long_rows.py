"""Long causal hardmax attention, query by query, is attention by definition."""

from __future__ import annotations

import pytest
import torch
from attentions import averages_by_definition, drawn, heads_of

from constructions import hop, induction_heads, rows
from constructions.cached_keys import Hulls, Lookups, Plane, Table
from constructions.rows import MANY, averages
from theory.retrieval import hop as hops
from theory.retrieval import induction, random_sequences

T = 40


def integers(*shape, seed=0, low=-3, high=4):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(low, high, shape, generator=generator).double()


def heads_with(kind, seed):
    """Queries and keys (3, T, d), of three heads."""
    Q, K = integers(3, T, 3, seed=seed), integers(3, T, 3, seed=seed + 1)
    if kind == "constant":
        Q[:] = Q[:, :1]
    elif kind == "hull":
        Q[..., 1:] = Q[:, :1, 1:]
    elif kind == "hulls":
        Q[..., 2] = 2
    elif kind == "plane":
        Q[..., 2] = 0
        Q[..., 1] = Q[..., 1].where(Q[..., 1] != 0, 1)
    elif kind == "paraboloid":  # half of the queries are keys
        Q[..., 2], Q[..., :2] = 1, 6 * Q[..., :2]
        Q[:, ::2, :2] = 6 * K[:, ::2, :2]
        K[..., 2] = -3 * (K[..., :2] ** 2).sum(-1)
    return Q, K


KINDS = {
    "constant": Hulls,
    "hull": Hulls,
    "hulls": Hulls,
    "plane": Plane,
    "paraboloid": Table,
    "table": Table,
}


@pytest.fixture
def used(monkeypatch):
    """The caches that are made, here for fewer tokens."""
    made, init = [], Lookups.__init__
    monkeypatch.setattr(rows, "LONG", T)
    monkeypatch.setattr(
        Lookups,
        "__init__",
        lambda self, cache, *args: [made.append(cache), init(self, cache, *args)][0],
    )
    return made


@pytest.mark.parametrize("mask", ["causal", "strictly causal"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_the_best_keys_are_those_of_the_definition(kind, mask, whole, seed, used, monkeypatch):
    if kind == "table":
        monkeypatch.setattr("constructions.cached_keys.FEW", 2)
    Q, K = heads_with(kind, 2 * seed)
    V = drawn(whole, 3, T, 2, seed=seed)
    found = averages(heads_of(mask, "hardmax"), Q, K, V)
    assert used == [KINDS[kind]] * 3
    wanted = averages_by_definition(heads_of(mask, "hardmax"), Q, K, V, T)
    torch.testing.assert_close(found, wanted, rtol=1e-14, atol=1e-14)


def test_prompts_share_what_has_no_leading_dimensions(used):
    """Values of two prompts, for queries and keys that are equal in both."""
    Q, K = heads_with("hulls", 0)
    V = drawn(True, 2, 3, T, 2)
    found = averages(heads_of("causal", "hardmax"), Q, K, V)
    for prompt in range(2):
        wanted = averages_by_definition(heads_of("causal", "hardmax"), Q, K, V[prompt], T)
        torch.testing.assert_close(found[prompt], wanted, rtol=1e-14, atol=1e-14)
    assert len(used) == 6


def test_no_prompts_have_no_averages(used):
    Q, K, V = (torch.zeros(0, 3, T, width).double() for width in (2, 2, 4))
    assert averages(heads_of("causal", "hardmax"), Q, K, V).shape == (0, 3, T, 4)


def not_whole(Q, K):
    K[0, 3, 1] += 0.5


def not_a_whole_query(Q, K):
    Q[2, 7, 0] += 0.25


def beyond_float64(Q, K):
    Q[0, 0, 0], K[0, 5, 0] = 2.0**27, 2.0**26


def infinite(Q, K):
    K[1, 1, 1] = torch.inf


@pytest.mark.parametrize("changed", [not_whole, not_a_whole_query, beyond_float64, infinite])
def test_scores_that_may_be_rounded_are_all_computed(changed, used):
    Q, K = heads_with("hulls", 0)
    changed(Q, K)
    averages(heads_of("causal", "hardmax"), Q, K, integers(3, T, 2))
    assert len(used) < 3


def test_the_largest_scores_that_are_not_rounded_are_compared(used):
    Q, K = (torch.zeros(1, T, 1).double() for _ in range(2))
    Q[0, ::2], K[0, 5], K[0, 6] = 2.0**27 - 1, 2.0**26, 2.0**26 - 1
    V = torch.arange(T).double().view(1, T, 1)
    found = averages(heads_of("causal", "hardmax"), Q, K, V)
    assert used == [Hulls]
    assert (found[0, 6::2] == 5).all()


def test_planes_with_queries_of_v_0_and_tables_of_many_keys_compute_all_scores(used, monkeypatch):
    Q, K = heads_with("plane", 0)
    Q[:, 9, 1] = 0
    V = integers(3, T, 2)
    averages(heads_of("causal", "hardmax"), Q, K, V)
    assert not used
    monkeypatch.setattr("constructions.cached_keys.FEW", 2)
    Q, K = heads_with("table", 0)
    number = len(torch.unique(K[0], dim=0))
    for most, tables in ((number - 1, 0), (number, 1)):
        monkeypatch.setattr(rows, "MANY", most)
        averages(heads_of("causal", "hardmax"), Q[:1], K[:1], V[:1])
        assert len(used) == tables
    assert number < MANY


def test_tables_on_a_paraboloid_may_have_many_keys(used, monkeypatch):
    monkeypatch.setattr(rows, "MANY", 1)
    Q, K = heads_with("paraboloid", 0)
    averages(heads_of("causal", "hardmax"), Q, K, integers(3, T, 2))
    assert used == [Table] * 3


def test_no_scores_are_computed_if_the_best_keys_are_found(used, monkeypatch):
    monkeypatch.setattr(rows, "_average", None)
    Q, K = heads_with("hulls", 0)
    averages(heads_of("causal", "hardmax"), Q, K, integers(3, T, 2))
    assert used == [Hulls] * 3


def test_other_attention_computes_all_scores(used):
    """Under another mask, with softmax, for few tokens or with gradients of values."""
    Q, K = heads_with("hulls", 0)
    V = integers(3, T, 2)
    averages(heads_of("full", "hardmax"), Q, K, V)
    averages(heads_of("causal", "softmax"), Q, K, V)
    averages(heads_of("causal", "hardmax"), Q[:, 1:], K[:, 1:], V[:, 1:])
    averages(heads_of("causal", "hardmax"), Q[:, -4:], K, V)
    averages(heads_of("causal", "hardmax"), Q, K, V.clone().requires_grad_())
    assert not used
    averages(heads_of("causal", "hardmax"), Q, K, V)
    assert used


@pytest.mark.slow
def test_a_prompt_of_a_hundred_thousand_tokens():
    n = 10**5
    tokens = random_sequences(batch=1, length=n, vocabulary_size=8, seed=3)[0]
    assert (induction_heads(8, n)(tokens).numpy() == induction(tokens)).all()
    assert (hop(3, 8, n)(tokens).numpy() == hops(tokens, 3)).all()
