"""The claims on trained networks: their measures, and networks that do otherwise."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from constructions.trained.tasks import digits, text
from theory.sensitivity import forced, noisy_patches, sensitivity
from verify.claim import Run
from verify.evidence.statistics import Mean
from verify.finding import Verdict
from verify.sensitivity.trained import digits_sensitivity as digits_trained
from verify.sensitivity.trained import sensitivity_regulariser as regulariser
from verify.sensitivity.trained import text_positions
from verify.sensitivity.trained.classifiers import Seen, changes
from verify.sensitivity.trained.digits_sensitivity import Curves, digits_sensitivity, order
from verify.sensitivity.trained.sensitivity_regulariser import Measured, sensitivity_regulariser
from verify.sensitivity.trained.text_positions import Profile, naive_bayes
from verify.sensitivity.trained.text_positions import text_positions as positions

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED


@pytest.mark.parametrize("claim", [digits_sensitivity, sensitivity_regulariser])
def test_without_the_package_it_is_undecided(claim, monkeypatch):
    monkeypatch.setattr(digits, "find_spec", lambda name: None)
    (finding,) = claim.findings(Run(), **claim.defaults)
    assert (finding.id, finding.verdict) == ("package", UNDECIDED)
    assert "[digits]" in finding.wanted


def test_with_other_texts_it_is_undecided(monkeypatch):
    monkeypatch.setattr(text, "SHA256", "0" * 64)
    (finding,) = positions.findings(Run(), **positions.defaults)
    assert (finding.id, finding.verdict) == ("package", UNDECIDED)


def two_patches(images):
    """Whether the first of 2 × 2 patches is lighter than the last."""
    return images[:, :2, :2].sum((1, 2)) > images[:, -2:, -2:].sum((1, 2))


def test_changes_are_those_whose_shares_are_sensitivities():
    """By image and place, of a reader of two places of four; the same noise for every σ."""
    images = np.random.default_rng(0).random((300, 4, 4))
    found = changes(two_patches, images, noisy_patches(2, 1.0), seed=0)
    assert found.shape == (300, 4)
    assert (found[:, [1, 2]] == 0).all()
    fractions = sensitivity(two_patches, images, noisy_patches(2, 1.0)).by_place
    assert found.mean(0) == pytest.approx(fractions, abs=0.12)
    assert (found == changes(two_patches, images, noisy_patches(2, 1.0), seed=0)).all()
    assert (found != changes(two_patches, images, noisy_patches(2, 1.0), seed=1)).any()
    little, much = (changes(two_patches, images, noisy_patches(2, s), 0) for s in (0.5, 5.0))
    assert (little <= much).mean() > 0.99


def test_changes_of_several_draws_are_their_mean():
    tokens = np.random.default_rng(0).integers(4, size=(50, 3))
    found = changes(lambda rows: rows[:, 1], tokens, forced(4), seed=0, times=5)
    assert (found == [0, 1, 0]).all()
    found = changes(lambda rows: rows[:, 1] // 2, tokens, forced(4), seed=0, times=5)
    assert set(np.unique(found[:, 1] * 5).round(9)) <= {0, 1, 2, 3, 4, 5}
    assert found[:, 1].mean() == pytest.approx(2 / 3, abs=0.1)


def test_the_order_is_that_of_the_seeds():
    """Of curves that cross: above at the least σ, below at the largest."""
    sigmas = np.array(digits_trained.SIGMAS)
    flat, steep = 0.1 + 0 * sigmas, 0.05 * sigmas
    both = dict.fromkeys(digits_trained.NAMES, steep) | {"transformer": flat}
    rows = {kind: np.tile(curve[:, None, None], (3, 1, 20, 16)) for kind, curve in both.items()}
    curves = Curves(rows, rows)
    assert {f.verdict for f in order(curves, 0.25)} == {FAILS}
    assert {f.verdict for f in order(curves, 4.0)} == {HOLDS}
    assert np.array(curves.at("MLP", 2.0)) == pytest.approx(np.full((3, 20), 0.1))


def profile_of(first, last, windows=400):
    """A profile whose first and last four words change so many answers."""
    rng = np.random.default_rng(0)
    fractions = np.concatenate([np.full(4, first), np.full(8, 0.2), np.full(4, last)])
    drawn = rng.random((2, windows, 16)) < fractions
    return Profile(*drawn.astype(float))


@pytest.mark.parametrize(
    ("first", "last", "even", "recent"),
    [(0.2, 0.2, HOLDS, UNDECIDED), (0.1, 0.3, FAILS, HOLDS), (0.3, 0.1, FAILS, FAILS)],
)
def test_profiles_are_even_or_recent(first, last, even, recent):
    own = profile_of(first, last)
    assert text_positions.uniform(own).verdict is even
    assert text_positions.recency(own).verdict is recent
    assert own.by_word[:4].mean() == pytest.approx(first, abs=0.03)


def test_a_position_of_much_influence_is_seen():
    even = profile_of(0.2, 0.2, windows=3000)
    assert text_positions.positions(even).verdict is HOLDS
    peaked = Profile(*(part.copy() for part in even))
    for part in peaked:
        part[:, 7] = 1.0
    assert text_positions.positions(peaked).verdict is FAILS


def test_a_profile_near_a_bound_is_undecided():
    assert text_positions.uniform(profile_of(0.2, 0.26)).verdict is UNDECIDED


def test_naive_bayes_is_its_definition():
    windows, topics = np.array([[0, 0, 1], [2, 2, 1]]), np.array([0, 1])
    counts = text_positions.word_counts(windows, topics, 3)
    assert counts.tolist() == [[3, 2, 1], [1, 2, 3]]
    assert naive_bayes(counts, np.ones(3))(
        np.array([[0, 1, 1], [1, 2, 0], [2, 2, 0]])
    ).tolist() == [0, 0, 1]
    assert naive_bayes(counts, np.array([1, 1, 3]))(np.array([[0, 0, 2]])).tolist() == [1]


def measured(sens=0.2, noisy=0.4, trace=100.0, flat=0.1, error=0.01):
    rng = np.random.default_rng(0)
    fractions = np.clip(sens + 0.05 * rng.standard_normal(300), 0, 1)
    right = np.clip(noisy + 0.1 * rng.standard_normal(500), 0, 1)
    means = Mean(flat, error * flat, 9), Mean(trace, error * trace, 15)
    return Measured(None, 0.09, 0.98, 0.9, fractions, right, 0.3, *means)


def test_halves_and_what_more_is_right():
    plain, good, bad = measured(), measured(0.05, 0.6), measured(0.18, 0.3)
    assert regulariser.half(plain, good, plain).verdict is HOLDS
    assert regulariser.half(plain, bad, good).verdict is FAILS
    found = {
        own: [f.verdict for f in regulariser.bears_noise([plain] * 3, of, [good] * 3)]
        for own, of in (("good", [good] * 3), ("bad", [bad] * 3), ("one", [good, good, bad]))
    }
    assert found == {
        "good": [HOLDS, UNDECIDED],
        "bad": [FAILS, FAILS],
        "one": [UNDECIDED, UNDECIDED],
    }
    assert regulariser.null([plain] * 3).verdict is HOLDS
    assert regulariser.null([plain, good, plain]).verdict is FAILS


def test_minima_are_flatter_where_all_seeds_are():
    plain, flat = [measured()] * 3, [measured(trace=50.0, flat=0.05)] * 3
    assert [f.verdict for f in regulariser.flatter(plain, flat, plain)] == [HOLDS, HOLDS]
    assert [f.verdict for f in regulariser.flatter(flat, plain, plain)] == [FAILS, FAILS]
    mixed = [*flat[:2], measured(trace=200.0, flat=0.2)]
    assert [f.verdict for f in regulariser.flatter(plain, mixed, plain)] == [UNDECIDED] * 2
    rough = [measured(trace=50.0, flat=0.05, error=0.3)] * 3
    assert [f.verdict for f in regulariser.flatter(plain, rough, plain)] == [UNDECIDED] * 2
    assert [f.verdict for f in regulariser.flatter(rough, plain, plain)] == [UNDECIDED] * 2


def test_noise_is_on_all_pixels_and_drawn_ten_times():
    images, labels, inputs = np.zeros((200, 8, 8)), np.arange(200) % 2, []

    def always_one(given):
        inputs.append(given)
        return np.ones(len(given))

    right = regulariser.under_noise(always_one, images, labels, np.random.default_rng(0))
    assert right.tolist() == labels.tolist()
    assert np.shape(inputs) == (10, 200, 8, 8)
    assert np.std(inputs) == pytest.approx(regulariser.NOISE, rel=0.01)
    assert abs(np.corrcoef(np.ravel(inputs[0]), np.ravel(inputs[1]))[0, 1]) < 0.05


class Brightness(torch.nn.Module):
    """Which half of an image is brighter."""

    def __init__(self):
        super().__init__()
        self.weights = torch.nn.Parameter(torch.tensor([[1.0, 0.0]] * 8 + [[0.0, 1.0]] * 8))

    def scores(self, images):
        return images.flatten(1) @ self.weights.to(images.dtype)

    def forward(self, images):
        return self.scores(torch.as_tensor(images)).argmax(-1).numpy()


def test_a_model_is_measured_in_every_way(monkeypatch):
    images, model = torch.rand(12, 4, 4, generator=torch.Generator().manual_seed(0)), Brightness()
    both = images, torch.as_tensor(model(images))
    monkeypatch.setattr(regulariser, "split_digits", lambda: (both, both))
    task = SimpleNamespace(measured=lambda _: (0.75, 0.25), scores=Brightness.scores)
    found = regulariser.measured(Run(), Seen("a model", model, task), 5)
    assert (found.loss, found.accuracy, found.held_out) == (0.25, 0.75, 1.0)
    assert len(found.changed) == 5
    assert (found.sharpness.freedom, found.trace.freedom) == (9, 15)
