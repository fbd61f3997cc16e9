"""What models are trained on, against the definitions and the theory's own samplers."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from constructions.trained import objective, preset, regression
from constructions.trained.configuration import Bigrams, Hop, Regression
from constructions.trained.models import untrained
from constructions.trained.sequences import draw_bigrams, draw_hops
from theory.regression import gaussian_prompts, ill_conditioned_prompts
from theory.retrieval import hop


def generator(seed=0):
    return torch.Generator().manual_seed(seed)


@pytest.mark.parametrize("covariance", ["isotropic", "ill-conditioned"])
def test_inputs_and_labels_are_in_units_of_the_scale(covariance):
    """What a model is trained on is what its `forward` makes of the same prompts."""
    made = preset("regression", covariance=covariance)
    x, y = objective.draw(made, 50, generator(), step=0)
    raw_x, raw_y = regression.draw(made.task, 50, generator(), d=5, points=11)
    scale = regression.scale(made.task)
    torch.testing.assert_close(x * scale, raw_x)
    torch.testing.assert_close(y * scale, raw_y)
    model = untrained(made).requires_grad_(False)
    said = model(raw_x[:, :-1], raw_y[:, :-1], raw_x[:, -1])
    torch.testing.assert_close(said, scale * model.predict(x, y[:, :-1]), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_hops_are_those_of_the_theory(k):
    tokens, wanted = draw_hops(Hop(4, 20, k), 50, generator(k))
    assert (wanted.numpy() == hop(tokens.numpy(), k)).all()
    assert tokens.unique().tolist() == [0, 1, 2, 3]


def test_bigrams_follow_their_chain():
    """Of two symbols: what follows each, within one sequence, is one law; over many, uniform."""
    tokens, following = draw_bigrams(Bigrams(2, 2000), 200, generator())
    assert (tokens[:, 1:] == following[:, :-1]).all()
    after = [
        [following[i][tokens[i] == v].double().mean().item() for v in (0, 1)]
        for i in range(200)
        if tokens[i].unique().numel() == 2
    ]
    halves = [
        [
            following[i, part][tokens[i, part] == 0].double().mean().item()
            for part in (slice(0, 1000), slice(1000, 2000))
        ]
        for i in range(50)
    ]
    halves = np.array([pair for pair in halves if not np.isnan(pair).any()])
    assert np.abs(halves[:, 0] - halves[:, 1]).mean() < 0.05
    shares = np.array(after)
    # Uniform on (0, 1): mean 1/2 and variance 1/12, here of about 200 chains.
    assert np.abs(shares.mean(0) - 0.5).max() < 4 * np.sqrt(1 / 12 / 190)
    assert np.abs(shares.var(0) - 1 / 12).max() < 0.03


@pytest.mark.parametrize("covariance", ["isotropic", "ill-conditioned"])
def test_moments_are_those_of_the_theory(covariance):
    """E xxᵀ, E y² and E(y|x)² by both samplers, within five standard errors."""
    task = Regression(4, 3, covariance, noise=0.5)
    x, y = regression.draw(task, 20_000, generator(1), d=4, points=3)
    theirs = gaussian_prompts if covariance == "isotropic" else ill_conditioned_prompts
    p = theirs(20_000, 2, 4, noise=0.5, seed=2)
    for ours, other in (
        (x[:, 0, :, None] * x[:, 0, None, :], p.x[:, 0, :, None] * p.x[:, 0, None, :]),
        (y[:, 0] ** 2, p.y[:, 0] ** 2),
        (y[:, 0] * y[:, 1], p.y[:, 0] * p.y[:, 1]),
        ((x[:, 0] * x[:, 1]).sum(-1) ** 2, (p.x[:, 0] * p.x[:, 1]).sum(-1) ** 2),
    ):
        a, b = ours.double().numpy(), other
        spread = np.sqrt((a.var(0) + b.var(0)) / len(a))
        assert (np.abs(a.mean(0) - b.mean(0)) <= 5 * spread).all()


def test_labels_are_linear_and_late_coordinates_zero():
    x, y = regression.draw(Regression(5, 9), 10, generator(3), d=3, points=9)
    assert (x[..., 3:] == 0).all()
    w = np.linalg.lstsq(x[0, :, :3].double().numpy(), y[0].double().numpy(), rcond=None)[0]
    np.testing.assert_allclose(x[0, :, :3].double().numpy() @ w, y[0], atol=1e-5)


def test_scale_is_the_root_of_the_mean_eigenvalue():
    assert regression.scale(Regression(5, 9)) == 1
    assert regression.scale(Regression(4, 9, "ill-conditioned")) ** 2 == pytest.approx(50.5)
    assert regression.scale(Regression(5, 9, "ill-conditioned")) ** 2 == pytest.approx(203 / 5)


def test_tokens_are_the_interleaved_prompt():
    x = torch.tensor([[1.0, 2], [3, 4], [5, 6]])
    written = regression.tokens(x, torch.tensor([7.0, 8]))
    assert written.tolist() == [[1, 2], [7, 0], [3, 4], [8, 0], [5, 6]]


def test_the_curriculum():
    paper = preset("regression", "paper")
    for step, d, points in (
        (0, 5, 11),
        (1999, 5, 11),
        (2000, 6, 13),
        (30_000, 20, 41),
        (10**5, 20, 41),
    ):
        x, _ = objective.draw(paper, 2, generator(), step=step)
        assert x.shape == (2, 41, 20)
        assert ((x != 0).any(0).any(0).sum(), objective.counted(paper, step).sum()) == (d, points)
    small = preset("regression")
    assert objective.counted(small, 0).tolist() == [1] * 11
    assert objective.counted(preset("hop"), 0).tolist() == [1] * 64
    with pytest.raises(ValueError, match=r"^a curriculum is for regression"):
        replace(preset("hop"), curriculum=paper.curriculum)
