"""The sensitivity of any model and any torch module; bad input."""

from math import log, sqrt

import numpy as np
import pytest
import torch
from refusals import rejects
from torch import nn

from constructions.sensitivity import predictions
from theory import sensitivity as s
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


@pytest.mark.parametrize("seed", [0, 7])
def test_changes_are_independent_of_inputs_drawn_with_the_same_seed(seed):
    places = random_sequences(5000, 1, 4, seed=seed)
    images = np.random.default_rng(seed).normal(size=(5000, 4, 4))
    for model, inputs, change, truth in (
        (lambda x: x, places, s.redrawn(4), 3 / 4),
        (lambda x: x < 2, places, s.forced(4), 2 / 3),
        (lambda x: x.sum((1, 2)) > 0, images, s.noisy_patches(4, 1.0), 1 / 4),
    ):
        low, high = s.sensitivity(model, inputs, change, eta=1e-6, seed=seed).interval
        assert low <= truth <= high
        assert high - low < 0.08


@pytest.mark.parametrize(("change", "least"), [(s.redrawn(4), 0), (s.forced(4), 1)])
def test_a_new_token_is_any_of_those_allowed_as_often(change, least):
    tokens, met = random_sequences(6000, 2, 4, seed=5), []
    s.sensitivity(lambda x: met.append(x) or np.zeros(len(x), int), tokens, change)
    for place, changed in enumerate(met[1:]):
        assert (changed[:, 1 - place] == tokens[:, 1 - place]).all()
        steps = np.bincount((changed[:, place] - tokens[:, place]) % 4, minlength=4)
        assert (steps[:least] == 0).all()
        expected = 6000 / (4 - least)
        assert (abs(steps[least:] - expected) < 6 * sqrt(expected)).all()


def test_noise_is_of_its_size_and_another_one_for_each_image_and_patch():
    images, met = np.zeros((500, 4, 4)), []
    change = s.noisy_patches(2, 3.0)
    s.sensitivity(lambda x: met.append(x) or np.zeros(len(x), int), images, change)
    noise = np.sum(met[1:], axis=0)
    assert abs(noise.std() - 3) < 6 * 3 / sqrt(2 * noise.size)
    assert len(np.unique(noise)) == noise.size


def test_two_seeds_make_two_changes_and_a_generator_goes_on():
    tokens = random_sequences(500, 1, 4, seed=1)
    first, again, other, going = (
        s.sensitivity(lambda x: x, tokens, s.redrawn(4), seed=seed).value
        for seed in (0, 0, 1, np.random.default_rng(5))
    )
    assert first == again != other
    assert going != first


def test_a_place_is_the_one_that_is_read():
    found = s.sensitivity(lambda x: x[:, 3], WORDS, s.forced(2))
    assert found.by_place.tolist() == [0, 0, 0, 1, 0]


def test_the_interval_is_the_value_and_its_radius():
    found = s.sensitivity(majority, random_sequences(4000, 5, 2, 0), s.forced(2))
    assert found.interval == (found.value - found.radius, found.value + found.radius)
    assert s.Estimate(np.array([0.01, 0.03]), 50, 0.05).interval[0] == 0


@pytest.mark.parametrize("outputs", [1, 2])
def test_any_torch_module_is_a_model(outputs):
    class Counts(nn.Module):
        def __init__(self):
            super().__init__()
            self.seen = set()
            self.embed = nn.Embedding(2, 1)
            self.embed.weight.data[:] = torch.tensor([[-1.0], [1.0]])
            self.dropout = nn.Dropout(0.9)

        def forward(self, words):
            self.seen.add(torch.is_grad_enabled())
            total = self.dropout(self.embed(words)[..., 0].sum(-1, keepdim=True))
            return total if outputs == 1 else torch.cat([-total, total], dim=-1)

    module = Counts()
    found = s.sensitivity(predictions(module, batch=7), WORDS, s.forced(2))
    assert found.by_place.tolist() == [3 / 8] * 5
    assert module.training, "left as it was"
    assert module.seen == {False}
    module.train().dropout.eval()
    predictions(module)(WORDS)
    assert [part.training for part in module.modules()] == [True, True, False]
    module.eval()
    predictions(module)(WORDS)
    assert not any(part.training for part in module.modules())


@pytest.mark.parametrize("batch", [1, 33, 64, 200, 1000])
def test_batches_of_any_size(batch):
    """The module is applied to each input once, to at most `batch` inputs at a time."""
    seen = []
    module = nn.Linear(3, 4).double()
    module.register_forward_hook(lambda module, given, result: seen.append(len(given[0])))
    inputs = np.random.default_rng(0).normal(size=(200, 3))
    found = predictions(module, batch=batch)(inputs)
    assert seen == [batch] * (200 // batch) + [200 % batch] * (200 % batch > 0)
    logits = inputs @ module.weight.detach().numpy().T + module.bias.detach().numpy()
    assert (np.squeeze(found) == logits.argmax(-1)).all()


def test_outputs_are_labels_by_their_last_dimension_and_a_threshold():
    same = nn.Identity()
    logits = np.array([[-1.0], [0.0], [2.0]])
    assert predictions(same)(logits).tolist() == [[False], [False], [True]]
    assert predictions(same)(logits[:, 0]).tolist() == [False, False, True]
    assert predictions(same, threshold=1)(logits).tolist() == [[False], [False], [True]]
    assert predictions(same, threshold=-0.5)(logits).tolist() == [[False], [True], [True]]
    places = np.array([[[0.0, 1.0], [3.0, 2.0], [0.0, 4.0]]])
    assert predictions(same)(places).tolist() == [[1, 0, 1]]
    assert predictions(same)(np.array([[3, 5]])).tolist() == [[3, 5]]


@pytest.mark.parametrize("shape", [(), (3,), (0, 3), (3, 0)])
def test_inputs_need_rows_and_places(shape):
    with rejects("inputs"):
        s.sensitivity(lambda x: x, np.zeros(shape, int), lambda x, rng: [1 - x])
    assert s.sensitivity(lambda x: x[:, 0], np.zeros((1, 1), int), s.forced(2)).value == 1


def test_probabilities_are_told_from_logits():
    module = nn.Sequential(nn.Linear(3, 1), nn.Sigmoid()).double()
    inputs = np.random.default_rng(1).normal(size=(400, 3)) * 4
    with rejects("threshold"):
        predictions(module)(inputs)
    wanted = predictions(module[0])(inputs)
    assert (predictions(module, threshold=0.5)(inputs) == wanted).all()
    assert 0 < wanted.mean() < 1
    assert predictions(module, threshold=0)(inputs).all()


def test_pixels_need_one_format_for_all():
    pixels = np.random.default_rng(1).integers(0, 256, (20, 4, 4), dtype=np.uint8)
    module, change = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)), s.noisy_patches(2, 80.0)
    with rejects("dtype"):
        s.sensitivity(predictions(module), pixels, change)
    found = s.sensitivity(predictions(module, dtype=torch.float32), pixels, change)
    assert found.by_place.tolist() == (
        s.sensitivity(predictions(module), pixels.astype(float), change).by_place.tolist()
    )


def test_a_module_over_images_in_its_own_format():
    module = nn.Sequential(nn.Flatten(), nn.Linear(16, 3)).double()
    images = np.random.default_rng(0).normal(size=(30, 4, 4)).astype(np.float32)
    found = s.sensitivity(predictions(module), images, s.noisy_patches(2, 2.0))
    assert found.by_place.shape == (4,)


FLIPPED = s.forced(2)
IMAGES = np.zeros((2, 4, 4))
EMBEDS = predictions(nn.Sequential(nn.Embedding(2, 4), nn.Flatten(), nn.Linear(20, 2)))


def measured(model=majority, inputs=WORDS, change=FLIPPED, **options):
    return s.sensitivity(model, inputs, change, **options)


@pytest.mark.parametrize(
    ("inputs", "change"),
    [
        ([], FLIPPED),
        ([1, 2], FLIPPED),
        ([[0, 2]], FLIPPED),
        ([["a"]], FLIPPED),
        (np.zeros((1, 2, 2), int), FLIPPED),
        *((np.zeros(shape), s.noisy_patches(2, 1.0)) for shape in ((4, 4), (3, 5, 4), (3, 4, 5))),
        (IMAGES * np.nan, s.noisy_patches(2, 1.0)),
    ],
)
def test_other_inputs_are_rejected(inputs, change):
    with rejects("inputs"):
        measured(lambda x: np.zeros(len(x), int), np.array(inputs), change)


@pytest.mark.parametrize(
    ("model", "names"),
    [
        (nn.Linear(5, 2), "model predictions"),
        (lambda x: x.mean(1), "predictions float64"),
        (lambda x: np.zeros(3, int), "predictions 32"),
        (lambda x: 1, "predictions"),
        (lambda x: None, "predictions"),
        (lambda x: np.zeros((len(x), 1 + x[0, 0]), int), "labels 1 2"),
    ],
)
def test_other_predictions_are_rejected(model, names, unchecked):
    with rejects(*names.split()):
        measured(model)


@pytest.mark.parametrize("error", [TypeError, AttributeError])
def test_errors_of_a_model_are_not_changed(error):
    def model(inputs):
        raise error("a fault of the model")

    with pytest.raises(error, match="a fault of the model"):
        measured(model)


@pytest.mark.parametrize(
    "change",
    [
        s.forced,
        type,
        lambda inputs: inputs,
        lambda inputs, rng: iter(()),
        lambda inputs, rng: 3,
        lambda inputs, rng: iter([WORDS[:1]]),
        lambda inputs, rng: iter([WORDS[:3]]),
        lambda inputs, rng: iter([WORDS[:, :4]]),
    ],
)
def test_what_is_no_change_is_rejected(change, unchecked):
    with rejects("change"):
        measured(lambda x: x[:, 0], change=change)


@pytest.mark.parametrize("change", [s.forced(3), s.redrawn(3), s.noisy_patches(1, 1.0)])
@pytest.mark.parametrize("rng", [None, "a", -1, 1.5])
def test_changes_read_their_generator(change, rng):
    with rejects("rng"):
        next(change(np.zeros((2, 2, 2)), rng))


def test_lists_and_tensors_are_inputs_too():
    logits = [[-1.0, 2.0], [3.0, 0.0]]
    for inputs in (logits, torch.tensor(logits)):
        assert predictions(nn.Identity())(inputs).tolist() == [1, 0]


def with_outputs(outputs):
    """A module with these outputs, of its inputs."""
    module = nn.Identity()
    module.forward = outputs
    return predictions(module)(np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: predictions(nn.Identity())(["a"]), "inputs"),
        (lambda: predictions(nn.Identity())([]), "inputs"),
        (lambda: predictions(nn.Identity())(3.0), "inputs"),
        (lambda: predictions(nn.Identity())(np.zeros((0, 3))), "inputs"),
        (lambda: measured(EMBEDS, change=s.forced(5)), "inputs change"),
        (lambda: measured(EMBEDS, 1.0 * WORDS), "inputs float32"),
        (lambda: predictions(nn.Linear(4, 1), dtype=torch.complex64)(np.ones((2, 4))), "inputs"),
        (lambda: predictions(nn.Linear(4, 2), threshold=0.5)(np.ones((2, 4))), "threshold"),
        (lambda: predictions(nn.Identity(), threshold=0.5)([1, 2]), "threshold"),
        (lambda: with_outputs(lambda x: x * np.nan), "NaN"),
        (lambda: with_outputs(lambda x: x.sum()), "outputs"),
        (lambda: with_outputs(lambda x: x[:1]), "outputs"),
        (lambda: with_outputs(lambda x: [1, 2]), "outputs list"),
        (lambda: with_outputs(lambda x: x * 1j), "outputs complex"),
    ],
)
def test_other_modules_are_rejected(call, names, unchecked):
    with rejects(*names.split()):
        call()


@pytest.mark.parametrize("eta", [1e-300, 1e-6, 0.001, 0.3, 0.999])
def test_the_radius_is_that_of_the_error_probability_given(eta):
    found = s.sensitivity(majority, WORDS, s.forced(2), eta=eta)
    assert found.eta == eta
    assert found.radius == pytest.approx(sqrt((log(2) - log(eta)) / 64), rel=1e-12)
