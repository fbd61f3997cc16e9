"""The parity by chain of thought and by linear tokens: weights compared with definitions."""

import math

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import parity_by_linear_tokens, parity_with_steps
from constructions.language.parity_with_steps import attended, sharpness_for_steps
from theory.language import linear_tokens, parity_tree, with_steps
from theory.sequences import all_sequences


def nodes(d, positions, words):
    return (1 - with_steps(parity_tree(d, positions), 1 - 2 * words)[:, d:]) // 2


@pytest.mark.parametrize(("d", "positions"), [(2, [1, 0]), (5, [4, 0, 2, 1]), (8, list(range(8)))])
@pytest.mark.parametrize("soft", [False, True])
def test_every_step_of_every_word(d, positions, soft):
    k, words = len(positions), all_sequences(d, 2)
    sharpness = sharpness_for_steps(d, k) * (1 + 1e-12) if soft else None
    model = parity_with_steps(d, k, positions, sharpness=sharpness)
    found = model.generate(words, k - 1).numpy()
    assert (found == nodes(d, positions, words)).all()
    assert (found[:, -1] == words[:, positions].sum(axis=1) % 2).all()
    assert (model(words)[:, :-1] == -1).all()


def test_the_scores_are_the_tree():
    positions = [3, 1, 0, 5]
    model, tree = parity_with_steps(6, 4, positions), parity_tree(6, positions)
    attn, W_pos = model.blocks[0].attn, model.pos_embed.W_pos
    scores = (W_pos @ attn.W_Q[0] @ attn.W_K[0].T @ W_pos.T).numpy()
    assert (scores == attended(tree)).all()
    assert (scores[5:] == tree.scores).all()


def test_the_mlp_is_the_function_that_is_stated():
    model = parity_with_steps(4, 2)
    z = torch.linspace(-1, 1, 33, dtype=torch.float64)
    at, out = (model.stream[name].start for name in ("pair", "out"))
    stream = torch.zeros(33, model.d_model, dtype=torch.float64)
    stream[:, at] = z
    parts = [torch.relu(sign * z - 0.25) - torch.relu(sign * z - 0.75) for sign in (1, -1)]
    added = model.blocks[0].mlp(stream)[:, out]
    assert torch.equal(added, 4 * (parts[0] + parts[1]) - 1)


@pytest.mark.parametrize("positions", [[0], [2, 1], [0, 3, 5], [6, 5, 4, 3, 2, 1, 0]])
def test_linear_tokens_of_every_word(positions):
    model, words = parity_by_linear_tokens(7, positions), all_sequences(7, 2)
    tokens = linear_tokens(words, positions)
    assert (model.generate(words, tokens.shape[1]).numpy() == tokens).all()


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: parity_with_steps(4, 3), "k"),
        (lambda: parity_with_steps(4, 2, [0, 0]), "positions"),
        (lambda: parity_with_steps(4, 2, sharpness=1.0), "sharpness"),
        (lambda: parity_with_steps(10**8, 2), "d"),
        (lambda: parity_by_linear_tokens(10**12, [0]), "weights"),
        (lambda: parity_with_steps(4, 4)(np.zeros((1, 7), dtype=int)), "sequence"),
    ],
)
def test_bad_input_is_rejected_in_one_line(call, parameter):
    with rejects(*parameter.split()):
        call()


def test_the_sharpness_is_that_of_the_proof():
    A = 2 / 7
    assert math.isclose(math.exp(-sharpness_for_steps(20, 8)) * 28, A)
    assert math.isclose(A / (2 + A), 1 / 8)


def test_the_largest_number_of_positions(monkeypatch):
    counted = "constructions.language.linear_tokens.count_of"
    monkeypatch.setattr(counted, lambda d, positions: np.array([2.0**40]))
    assert parity_by_linear_tokens(1, [0]).n_layers == 1
    monkeypatch.setattr(counted, lambda d, positions: np.array([2.0**40 + 1]))
    with rejects("positions"):
        parity_by_linear_tokens(1, [0])
