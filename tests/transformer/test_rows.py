"""Attention in blocks of rows is attention by definition, also where float32 is used."""

from __future__ import annotations

import math

import pytest
import torch
from attentions import averages_by_definition, drawn, heads_of

from constructions import rows
from constructions.rows import EXACT, FEWEST, averages, exact_in_float32

MASKS = "full", "causal", "strictly causal", "context-only", "diagonal"


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("normalise", ["hardmax", "softmax", "relu"])
@pytest.mark.parametrize("T", [2 * FEWEST - 1, 2 * FEWEST, 3 * FEWEST + 5])
@pytest.mark.parametrize("whole", [True, False])
def test_blocks_are_the_definition(mask, normalise, T, whole):
    """With 16 prompts a block is the smallest, so that there are up to four of them."""
    n_examples = T // 2 if mask == "context-only" else T
    Q, K, V = (drawn(whole, 16, 1, T, width, seed=width) for width in (2, 2, 3))
    K, V = K[..., :n_examples, :], V[..., :n_examples, :]
    heads = heads_of(mask, normalise)
    wanted = averages_by_definition(heads, Q, K, V, n_examples)
    torch.testing.assert_close(averages(heads, Q, K, V), wanted, rtol=1e-12, atol=1e-13)


def test_a_block_has_rows_however_many_prompts_there_are(monkeypatch):
    """Also where a row of scores of all prompts is larger than a block."""
    T = 3 * FEWEST + 5
    Q, K, V = (drawn(True, 2, T, width, seed=width) for width in (2, 2, 3))
    heads = heads_of("causal", "hardmax")
    wanted = averages(heads, Q, K, V)
    monkeypatch.setattr(rows, "ENTRIES", 2 * T - 1)
    torch.testing.assert_close(averages(heads, Q, K, V), wanted, rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("mask", ["causal", "strictly causal"])
def test_queries_of_the_last_tokens_see_all_keys_before(mask):
    """As in decoding, where keys are cached."""
    Q, K, V = (drawn(True, 1, 400, width, seed=width) for width in (2, 2, 3))
    heads = heads_of(mask, "hardmax")
    whole = averages(heads, Q, K, V)
    for last in (1, 2, FEWEST, 2 * FEWEST, 300):
        assert torch.equal(averages(heads, Q[:, -last:], K, V), whole[:, -last:])


def test_scores_that_float32_would_round_are_compared_in_float64():
    """Scores N² and N² − 1: equal in float32 from N = 4097 on."""
    N = 5000.0
    K = torch.tensor([[N, 0.0], [N, -1.0]], dtype=torch.float64).repeat(FEWEST, 1)
    Q = torch.tensor([[N, 1.0]], dtype=torch.float64).expand(2 * FEWEST, 2)
    V = torch.arange(2 * FEWEST, dtype=torch.float64).remainder(2).unsqueeze(-1)
    assert (averages(heads_of("full", "hardmax"), Q[None], K[None], V[None]) == 0).all()
    assert torch.equal(
        K.float() @ Q.float().T, (N * N * torch.ones(2 * FEWEST, 2 * FEWEST)).float()
    )


def test_values_that_float32_would_round_are_averaged_in_float64():
    V = (2.0**30 + torch.arange(2.0 * FEWEST, dtype=torch.float64)).unsqueeze(-1)
    zeros = torch.zeros(1, 2 * FEWEST, 1, dtype=torch.float64)
    found = averages(heads_of("causal", "hardmax"), zeros, zeros, V[None])
    wanted = 2.0**30 + torch.arange(2.0 * FEWEST, dtype=torch.float64) / 2
    assert torch.equal(found[0, :, 0], wanted)


@pytest.mark.parametrize(
    ("q", "k", "terms", "exact"),
    [
        ([[4095.0, 0.0]], [[4096.0, 5.0]], 1, True),
        ([[4096.0, 0.0]], [[4096.0, 5.0]], 1, False),  # 2²⁴
        ([[4095.0, 1.0]], [[4096.0, 4096.0]], 1, False),
        ([[4095.0, 0.0], [0.0, 1.0]], [[4096.0, 4096.0]], 1, False),  # the largest sizes together
        ([[-4096.0]], [[4096.0]], 1, False),
        ([[1.0]], [[1.0]], EXACT - 1, True),
        ([[1.0]], [[1.0]], EXACT, False),
        ([[0.5]], [[1.0]], 1, False),
        ([[1.0]], [[0.5]], 1, False),
        ([[math.nan]], [[1.0]], 1, False),
        ([[math.inf]], [[1.0]], 1, False),
    ],
)
def test_what_float32_contains(q, k, terms, exact):
    Q, K = (torch.tensor(each, dtype=torch.float64) for each in (q, k))
    assert exact_in_float32(Q, K, terms) is exact


def test_values_have_their_gradient():
    Q, K = drawn(True, 1, 300, 2), drawn(True, 1, 300, 2, seed=1)
    V = drawn(True, 1, 300, 3, seed=2).requires_grad_()
    averages(heads_of("causal", "hardmax"), Q, K, V).sum().backward()
    weights, total = heads_of("causal", "hardmax").weights(Q, K)
    wanted = (weights / total).sum(-2).unsqueeze(-1).expand(1, 300, 3)
    torch.testing.assert_close(V.grad, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")  # of torch itself
@pytest.mark.parametrize("long", [300, 301])
def test_values_have_their_derivative_in_forward_mode(monkeypatch, long):
    """The averages are linear in the values, and a tangent is not rounded to float32."""
    monkeypatch.setattr(rows, "LONG", long)
    heads = heads_of("causal", "hardmax")
    Q, K, V = drawn(True, 1, 300, 2), drawn(True, 1, 300, 2, seed=1), drawn(True, 1, 300, 3, seed=2)
    tangent = drawn(False, 1, 300, 3, seed=3)
    weights, total = heads.weights(Q, K)
    found = torch.func.jvp(lambda V: averages(heads, Q, K, V), (V,), (tangent,))[1]
    torch.testing.assert_close(found, weights.double() @ tangent / total, rtol=1e-12, atol=1e-12)
