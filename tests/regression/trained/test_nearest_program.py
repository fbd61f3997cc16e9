"""The register program that is nearest to a transformer whose stream has no registers."""

import numpy as np
import pytest
import torch

from constructions import gradient_descent, newton
from constructions.trained import load
from constructions.trained.nearest_program import NearestProgram
from theory.regression import gaussian_prompts, gradient_descent_iterates


def rotated(model, rng):
    """The model in another basis of its stream: no coordinate belongs to one register.

    Queries are halved and scores doubled, which changes no score.
    """
    R = torch.from_numpy(rng.standard_normal((model.d_model, model.d_model)))
    with torch.no_grad():
        model.embed.W_E.copy_(model.embed.W_E @ R)
        model.unembed.W_U.copy_(torch.linalg.solve(R, model.unembed.W_U))
        for attn in model.attentions:
            for name in ("W_Q", "W_K", "W_V"):
                weights = getattr(attn, name)
                weights.copy_(torch.linalg.solve(R, weights))
            attn.W_O.copy_(attn.W_O @ R)
            attn.W_Q /= 2
            attn.scale *= 2
    return model


MODELS = {
    "descent": lambda: gradient_descent(3, 3, 0.25),
    "newton": lambda: newton(3, 2, 0.25, start="identity"),
    "newton from S": lambda: newton(4, 2, 0.25),
}


@pytest.mark.parametrize("name", MODELS)
def test_the_program_of_a_hand_built_model_is_its_own_in_every_basis(name):
    model = MODELS[name]()
    g = model.formula().parts["x b"]
    found = NearestProgram.of(rotated(MODELS[name](), np.random.default_rng(0)))
    assert max(found.distance) < 1e-9
    t = np.linspace(0, 2, 7)
    wanted = [sum(float(c.p) / float(c.q) * z**i for i, c in enumerate(g.coeffs())) for z in t]
    assert np.allclose(found.polynomial(2.0)(t), wanted, rtol=1e-8, atol=1e-8)


def test_predictions_are_those_of_the_algorithm():
    p = gaussian_prompts(n_prompts=5, n=8, d=3, seed=0)
    x = p.x / 4
    model = rotated(gradient_descent(3, 3, 0.25), np.random.default_rng(1))
    iterates = gradient_descent_iterates(x, p.y, 0.25)
    *_, w = (next(iterates) for _ in range(4))
    found = NearestProgram.of(model).predictions(x, p.y, p.x_query)
    assert np.allclose(found, (w * p.x_query).sum(-1), rtol=1e-8)


def test_the_distance_is_that_of_the_blocks():
    """One layer whose only block is diag(1, 1, 4): the nearest multiple of I is 2 I."""
    model = gradient_descent(3, 1, 0.25)
    with torch.no_grad():
        model.blocks[0].attn.W_Q[0, 2] *= 4
    found = NearestProgram.of(model)
    assert found.distance[0] == pytest.approx((6 / 18) ** 0.5)
    assert np.allclose(found.polynomial(1.0)(np.array([0.5])), 0.25 * 2)


def test_permuted_numbers_are_the_same_numbers():
    program = NearestProgram.of(load("regression-linear-2-layers-seed0"))
    other = program.shuffled(np.random.default_rng(0))
    assert [each.shape for each in other.scores] == [(4, 1, 1), (4, 5, 5)]
    for before, after in zip(program.scores, other.scores, strict=True):
        assert np.array_equal(np.sort(before.ravel()), np.sort(after.ravel()))
    assert not np.array_equal(program.scores[1], other.scores[1])
