"""The sensitivity of any model, and of any torch module; and what is refused."""

from math import log, sqrt

import numpy as np
import pytest
import torch
from torch import nn

from constructions.sensitivity import predictions
from theory import sensitivity as s
from theory.checks import InputError
from theory.sequences import all_sequences, random_sequences

WORDS = all_sequences(5, 2)


def majority(words):
    return words.sum(1) > 2


def test_on_all_words_flips_are_counted_exactly():
    found = s.sensitivity(majority, WORDS, s.forced(2))
    exact = s.influences(s.tabulated(majority, 5))
    assert found.by_place.tolist() == [float(each) for each in exact]
    assert found.radius == sqrt(log(2 / 0.05) / (2 * 32))
    low, high = found.interval
    assert 0 <= low <= found.value <= high <= 1
    assert str(found) == f"{found.value:.3f} ± {found.radius:.3f}"


def test_the_interval_holds_the_truth_as_often_as_it_says():
    exact, misses = float(s.mean_influence(s.tabulated(majority, 5))), 0
    for seed in range(100):
        words = random_sequences(50, 5, 2, seed)
        low, high = s.sensitivity(majority, words, s.redrawn(2), eta=0.2, seed=seed).interval
        misses += not low <= exact / 2 <= high
    assert misses <= 20


def test_a_seed_makes_the_same_changes_for_all_models():
    images = np.random.default_rng(0).normal(size=(40, 1, 4, 6))
    change, seen = s.noisy_patches(2, 0.5), []
    for _ in range(2):
        met = []
        s.sensitivity(lambda x, met=met: met.append(x) or np.zeros(40, int), images, change, seed=3)
        seen.append(np.array(met))
    assert (seen[0] == seen[1]).all()
    moved = seen[0][1:] != images
    assert moved.sum() == images.size  # every pixel once
    assert moved[1].any(axis=(0, 1)).sum() == 4


def test_forced_changes_always_change_and_redrawn_ones_sometimes_do():
    tokens = random_sequences(200, 3, 4, 0)
    whole = s.sensitivity(lambda x: x, tokens, s.forced(4))
    assert whole.by_place.tolist() == [1.0, 1.0, 1.0]
    assert 0.6 < s.sensitivity(lambda x: x, tokens, s.redrawn(4)).value < 0.9


@pytest.mark.parametrize("outputs", [1, 2])
def test_any_torch_module_is_a_model(outputs):
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.embed = nn.Embedding(2, 1)
            self.embed.weight.data[:] = torch.tensor([[-1.0], [1.0]])
            self.dropout = nn.Dropout(0.9)

        def forward(self, words):
            total = self.dropout(self.embed(words)[..., 0].sum(-1, keepdim=True))
            return total if outputs == 1 else torch.cat([-total, total], dim=-1)

    module = Counts()
    found = s.sensitivity(predictions(module, batch=7), WORDS, s.forced(2))
    assert found.by_place.tolist() == [3 / 8] * 5
    assert module.training, "left as it was"


def test_a_module_over_images_in_its_own_format():
    module = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).double()
    images = np.random.default_rng(0).normal(size=(30, 4, 4)).astype(np.float32)
    found = s.sensitivity(predictions(module), images, s.noisy_patches(2, 2.0))
    assert found.by_place.shape == (4,)


@pytest.mark.parametrize("eta", [0.0, 1.0, -1.0, 2.0, float("nan"), True])
def test_eta_is_between_0_and_1(eta):
    with pytest.raises(InputError, match="eta"):
        s.sensitivity(majority, WORDS, s.forced(2), eta=eta)


@pytest.mark.parametrize("sigma", [0.0, -1.0, float("inf"), float("nan"), True])
def test_sigma_is_above_0(sigma):
    with pytest.raises(InputError, match="sigma"):
        s.noisy_patches(2, sigma)


@pytest.mark.parametrize("V", [1, 0, -2, True])
def test_a_token_needs_another_symbol(V):
    for change in (s.forced, s.redrawn):
        with pytest.raises(InputError, match="vocabulary_size"):
            change(V)


def test_other_inputs_are_refused():
    for inputs, message in (([], "shape"), ([1, 2], "shape"), ([[0, 2]], "vocabulary has 2")):
        with pytest.raises(InputError, match=message):
            s.sensitivity(lambda x: np.zeros(len(x), int), np.array(inputs), s.forced(2))
    with pytest.raises(InputError, match=r"sequences of tokens"):
        s.sensitivity(lambda x: np.zeros(1, int), np.zeros((1, 2, 2), int), s.forced(2))
    for shape in ((3, 4), (3, 5, 4), (3, 4, 5)):
        with pytest.raises(InputError, match="multiples of 2"):
            s.sensitivity(lambda x: np.zeros(3, int), np.zeros(shape), s.noisy_patches(2, 1.0))
    with pytest.raises(InputError, match="size is 0"):
        s.noisy_patches(0, 1.0)


def test_other_predictions_are_refused():
    for said, message in (
        (lambda x: x.mean(1), "give labels"),
        (lambda x: np.zeros(3, int), "one for each"),
        (lambda x: 1, "one for each"),
        (lambda x: None, "predictions"),
    ):
        with pytest.raises(InputError, match=message):
            s.sensitivity(said, WORDS, s.forced(2))
    with pytest.raises(InputError, match="no places"):
        s.sensitivity(majority, WORDS, lambda inputs, rng: iter(()))


def test_other_modules_are_refused(unchecked):
    with pytest.raises(InputError, match="torch module"):
        predictions(majority)
    with pytest.raises(InputError, match="batch is 0"):
        predictions(nn.Identity(), 0)
    inputs = np.zeros((2, 3))
    for said, message in (
        (lambda x: x * np.nan, "NaN"),
        (lambda x: x.sum(), r"outputs are \[\]"),
        (lambda x: [1, 2], "list"),
    ):
        module = nn.Identity()
        module.forward = said
        with pytest.raises(InputError, match=message):
            predictions(module)(inputs)
