"""Inputs with labels: what models read, networks beside transformers, where training ends, and how
flat a loss is."""

import gzip
from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.trained import Configuration, load, preset, sidecar, train, untrained
from constructions.trained.feedforward import CNNShape, MLPShape
from constructions.trained.flatness import hessian_trace, sharpness
from constructions.trained.form import Form
from constructions.trained.labels import ALL, FIRST, LAST, Patches, Words
from constructions.trained.lstm import LSTMShape
from constructions.trained.tasks import digits, text
from constructions.trained.tasks.classification import Classification
from constructions.trained.tasks.digits import Digits, one_noisy_patch
from constructions.trained.tasks.text import Text
from constructions.trained.transformers import TransformerShape
from theory.kinds import checked

with_digits = pytest.mark.skipif(not digits.installed(), reason="scikit-learn is not installed")
with_text = pytest.mark.skipif(not text.available(), reason="another Python, with other topics")


@checked
@dataclass(frozen=True)
class Halves(Classification, kind="halves"):
    """Whether the left or the right half of a 4 × 4 image is lit."""

    models = "transformer", "mlp", "cnn", "lstm"

    @property
    def examples(self):
        generator = torch.Generator().manual_seed(0)
        images = torch.rand(40, 4, 4, generator=generator)
        labels = torch.randint(2, (40,), generator=generator)
        images[labels == 0, :, :2] += 1
        images[labels == 1, :, 2:] += 1
        return (images[:32], labels[:32]), (images[32:], labels[32:])

    def form(self, shape):
        size = 2 if shape.kind in ("transformer", "lstm") else 4
        interface = Patches(4, size, LAST if shape.kind == "lstm" else ALL)
        positions = interface.context if shape.kind == "transformer" else 0
        return Form(interface, size * size, 2, positions=positions, mask="full")

    def words(self, name, size, layers):
        return []


SHAPES = [TransformerShape(1, 2, 8, 8), MLPShape(2, 8), CNNShape(2, 4), LSTMShape(1, 8)]
MADE = Configuration(Halves(until=1.0), SHAPES[1], 400, 1e-2, batch_size=16)


@pytest.mark.parametrize("shape", SHAPES, ids=lambda shape: shape.kind)
def test_training_ends_where_it_is_learnt(shape, tmp_path):
    """With every kind of network; given again, the run is left as it is."""
    made = replace(MADE, shape=shape)
    path = train(made, tmp_path)
    steps, content = sidecar(path)["steps"], path.read_bytes()
    assert 20 <= steps < 400
    assert steps % 20 == 0
    model = load(path)
    assert made.task.measured(model)[0] == 1
    images, labels = made.task.examples[1]
    assert (model(images) == labels).double().mean() > 0.7
    assert made.task.measured(untrained(made))[0] < 1
    assert train(made, tmp_path) == path
    assert path.read_bytes() == content
    assert sidecar(path)["steps"] == steps


def test_a_run_that_is_learnt_can_be_gone_on_with(tmp_path):
    wanted = train(MADE, tmp_path / "whole")

    class Stop(Exception):
        pass

    def stop(step, _):
        raise Stop

    with pytest.raises(Stop):
        train(MADE, tmp_path / "parts", progress=stop, save_every=0)
    assert train(MADE, tmp_path / "parts").read_bytes() == wanted.read_bytes()


def test_training_ends_at_a_loss_or_with_its_last_step(tmp_path):
    made = replace(MADE, task=Halves("loss", 0.3))
    path = train(made, tmp_path / "loss")
    accuracy, entropy = made.task.measured(load(path))
    assert entropy <= 0.3
    assert sidecar(path)["steps"] < 400
    lines = list(made.task.evaluate(load(path), 2, 0))
    assert f"{accuracy:.2%}" in lines[0]
    assert f"{entropy:.4f}" in lines[0]
    path = train(replace(made, task=Halves("loss", 1e-9), steps=20), tmp_path / "last")
    assert sidecar(path)["steps"] == 20


def test_patches_are_read_row_by_row():
    images = np.arange(16.0).reshape(1, 4, 4)
    for xp, given in ((np, images), (torch, torch.tensor(images))):
        prompt = Patches(4, 2, LAST).write(xp, given)
        assert prompt.tokens.tolist() == [
            [[0, 1, 4, 5], [2, 3, 6, 7], [8, 9, 12, 13], [10, 11, 14, 15]]
        ]
        assert prompt.answers == LAST
    whole = Patches(4, 4).write(np, images)
    assert whole.tokens.tolist() == [[[*range(16)]]]


def test_a_label_is_the_largest_of_mean_logits():
    outputs = torch.tensor([[[3.0, 0.0], [0.0, 2.0]], [[3.0, 0.0], [0.0, 4.0]]])
    assert Patches(4, 2).read(outputs).tolist() == [0, 1]
    assert Words(5, 2, 2, ALL).read(outputs).tolist() == [0, 1]


def test_where_words_are_read():
    tokens = torch.tensor([[1, 2, 0]])
    prompt = Words(5, 3, 2, FIRST).write(torch, tokens)
    assert (prompt.tokens.tolist(), prompt.answers) == ([[5, 1, 2, 0]], FIRST)
    prompt = Words(5, 3, 2, LAST).write(torch, tokens)
    assert (prompt.tokens.tolist(), prompt.answers) == ([[1, 2, 0]], LAST)


def test_a_convolution_is_that_of_torch():
    """The stream of a CNN, channels laid flat, beside the same weights on images."""
    model = untrained(replace(MADE, shape=CNNShape(2, 3))).requires_grad_(False)
    images = torch.rand(5, 4, 4)
    H = images[:, None]
    for layer in model.layers:
        H = torch.nn.functional.max_pool2d(layer.convolution(H).relu(), 2)
    assert H.shape == (5, 6, 1, 1)
    torch.testing.assert_close(model.logits(images)[:, 0], model.unembed(H.flatten(1)))


def test_an_mlp_is_its_formula():
    model = untrained(MADE).requires_grad_(False)
    images = torch.rand(5, 4, 4)
    H = images.flatten(1)
    for layer in model.layers:
        H = (H @ layer[0].weight.T + layer[0].bias).relu()
    torch.testing.assert_close(model.logits(images)[:, 0], model.unembed(H))
    assert torch.equal(model(images), model.unembed(H).argmax(-1))


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (lambda: Patches(8, 3), "images"),
        (lambda: untrained(MADE)(np.zeros((2, 4, 5))), "images"),
        (lambda: untrained(MADE)(np.full((4, 4), np.nan)), "images"),
        (lambda: untrained(replace(MADE, shape=CNNShape(3, 4))), "layers"),
        (lambda: untrained(replace(MADE, shape=CNNShape(10**9, 4))), "layers"),
        (lambda: untrained(replace(MADE, shape=MLPShape(10**9, 64))), "layers"),
        (lambda: Halves(until=1.5), "until"),
        (lambda: preset("text", model="lstm", read="token"), "LSTM"),
        (lambda: preset("digits", read="last"), "read"),
        (lambda: preset("digits", model="disentangled"), "model"),
    ],
)
def test_bad_input_of_networks_is_rejected(call, parameter):
    with rejects(parameter):
        untrained(call())


def test_noise_is_on_one_patch_of_each_image():
    images = torch.rand(400, 8, 8)
    noisy = one_noisy_patch(images, 0)
    noise = (noisy - images).view(400, 4, 2, 4, 2).movedim(3, 2).reshape(400, 16, 4)
    hit = noise.abs().sum(-1) > 0
    assert (hit.sum(-1) == 1).all()
    assert hit.any(0).all()
    assert abs(float(noise[hit].std()) - 1) < 0.1


def test_what_is_trained_on_noisy_images():
    """The losses by their formulas, of a model that is linear in the pixels."""
    generator = torch.Generator().manual_seed(0)
    images, labels = torch.rand(6, 8, 8), torch.arange(6)
    noisy = one_noisy_patch(images, generator)
    model = untrained(preset("digits", model="mlp")).requires_grad_(False)

    def nats(x):
        return torch.nn.functional.cross_entropy(model.logits(x)[:, 0], labels)

    apart = ((model.logits(noisy) - model.logits(images)) ** 2).mean()
    for training, batch, wanted in (
        ("plain", (images, labels), nats(images)),
        ("augmented", (images, labels, noisy), nats(noisy)),
        ("regularised", (images, labels, noisy), nats(images) / 2 + apart / 2),
    ):
        torch.testing.assert_close(Digits(training=training).loss(model, *batch), wanted)


def test_only_trainings_with_noise_draw_noisy_images(monkeypatch):
    known = torch.rand(9, 8, 8, generator=torch.Generator().manual_seed(0)), torch.arange(9)
    monkeypatch.setattr(digits, "split_digits", lambda: (known, known))
    for training in ("plain", "augmented", "regularised"):
        made = preset("digits", model="mlp")
        images, labels, *noisy = Digits(training=training).draw(made, 4, 0, step=0)
        assert torch.equal(images, known[0][labels])
        assert len(noisy) == (training != "plain")
        for changed in noisy:
            assert ((changed != images).sum((1, 2)) == 4).all()


@pytest.mark.parametrize("spec", [None, SimpleNamespace(submodule_search_locations=None)])
def test_a_missing_package_is_named(spec, monkeypatch):
    digits.split_digits.cache_clear()
    monkeypatch.setattr(digits, "find_spec", lambda name: spec)
    with rejects("scikit-learn", "weightwright[digits]"):
        _ = Digits().corpus


@with_digits
def test_the_digits(monkeypatch):
    (images, labels), (others, wanted) = digits.split_digits()
    assert (images.shape, others.shape) == ((1297, 8, 8), (500, 8, 8))
    assert (float(images.min()), float(images.max())) == (0, 1)
    assert (labels.bincount() + wanted.bincount()).tolist() == [
        178, 182, 177, 183, 181, 182, 181, 179, 174, 180,
    ]  # fmt: skip
    digits.split_digits.cache_clear()
    monkeypatch.setattr(digits, "SHA256", "0" * 64)
    with rejects("09f66e6debde"):
        _ = Digits().corpus


def test_images_are_all_but_the_last_number_of_a_line(monkeypatch):
    table = np.column_stack([np.arange(5 * 64).reshape(5, 64) % 17, np.arange(5)])
    lines = "\n".join(",".join(map(str, row)) for row in table.tolist())
    monkeypatch.setattr(digits, "_file", lambda: gzip.compress(lines.encode()))
    digits.split_digits.cache_clear()
    try:
        (images, labels), _ = digits.split_digits()
    finally:
        digits.split_digits.cache_clear()
    assert (images[labels.argsort()] * 16).flatten(1).tolist() == table[:, :64].tolist()


@with_text
def test_the_windows():
    (words, topics), (others, wanted) = text.split_windows()
    assert (words.shape, others.shape) == ((1513, 16), (379, 16))
    assert (topics.bincount() + wanted.bincount()).tolist() == [560, 441, 341, 172, 207, 171]
    assert words.max() == text.KNOWN
    counts = words.flatten().bincount()
    assert counts[:10].min() > counts[100:110].max()


def test_other_texts_are_rejected(monkeypatch):
    text.split_windows.cache_clear()
    monkeypatch.setattr(text, "SHA256", "0" * 64)
    with rejects("000000000000", "3.11.7"):
        _ = Text().corpus


class Bowl(torch.nn.Module):
    """½ wᵀ A w + b of two tensors."""

    def __init__(self):
        super().__init__()
        generator = torch.Generator().manual_seed(0)
        root = torch.randn(7, 7, generator=generator, dtype=torch.float64)
        self.A = root @ root.T
        self.first = torch.nn.Parameter(torch.ones(3, dtype=torch.float64), requires_grad=False)
        self.second = torch.nn.Parameter(torch.ones(4, dtype=torch.float64), requires_grad=False)

    def forward(self):
        w = torch.cat([self.first, self.second])
        return 0.5 * w @ self.A @ w


def test_the_trace_of_a_quadratic_and_of_a_network():
    bowl, generator = Bowl(), torch.Generator().manual_seed(0)
    found = hessian_trace(bowl, lambda m: m(), probes=400, seed=generator)
    # z z' A - tr A has the variance 2 (sum of squares off the diagonal).
    spread = float((2 * (bowl.A.square().sum() - bowl.A.diagonal().square().sum())).sqrt())
    assert float(found.mean()) == pytest.approx(float(bowl.A.trace()), abs=4 * spread / 20)
    assert float(found.std()) == pytest.approx(spread, rel=0.2)
    assert not bowl.first.requires_grad
    model = untrained(replace(MADE, shape=TransformerShape(1, 1, 2, 2))).double()
    images, labels = (part[:4] for part in Halves().corpus)
    names = [name for name, _ in model.named_parameters()]

    def nats(*weights):
        given = dict(zip(names, weights, strict=True))
        prompt = (model.interface.write(torch, images.double()),)
        call = torch.func.functional_call(
            Runs(model), {f"model.{n}": W for n, W in given.items()}, prompt
        )
        return torch.nn.functional.cross_entropy(call.mean(-2), labels)

    weights = tuple(W.detach() for W in model.parameters())
    blocks = torch.autograd.functional.hessian(nats, weights)
    trace = sum(
        float(block[i].reshape(W.numel(), W.numel()).trace())
        for i, (block, W) in enumerate(zip(blocks, weights, strict=True))
    )
    task = Halves()
    found = hessian_trace(
        model,
        lambda m: task.loss(m, images.double(), labels),
        probes=300,
        seed=0,
    )
    error = float(found.std()) / 300**0.5
    assert abs(float(found.mean()) - trace) < 4 * error < abs(trace)


class Runs(torch.nn.Module):
    """A model called with prompts."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, prompt):
        return self.model.run(prompt)


def test_the_growth_of_a_quadratic():
    """½ δᵀAδ + δᵀAw, of δ as long as a tenth of each tensor; of A = I it is known."""
    bowl, generator = Bowl(), torch.Generator().manual_seed(0)
    bowl.A = torch.eye(7, dtype=torch.float64)
    found = sharpness(bowl, lambda m: m(), radius=0.1, directions=500, seed=generator)
    assert found.shape == (500,)
    assert float(found.mean()) == pytest.approx(0.5 * 0.01 * 7, abs=0.03)
    assert float(found.max()) <= 0.5 * 0.01 * 7 + 0.1 * 7 + 1e-9
    assert torch.equal(bowl.first, torch.ones(3, dtype=torch.float64))
    for change in ({"radius": 0.0}, {"directions": 0}):
        options = {"radius": 0.1, "directions": 1, "generator": generator} | change
        with rejects(*change):
            sharpness(bowl, lambda m: m(), **options)
    with rejects("weights"):
        hessian_trace(bowl, lambda m: torch.tensor(1.0), probes=1, seed=generator)


@pytest.mark.parametrize("there", [True, False])
def test_another_file_of_the_package_is_named(there, tmp_path, monkeypatch):
    (tmp_path / "datasets" / "data").mkdir(parents=True)
    if there:
        (tmp_path / "datasets" / "data" / "digits.csv.gz").write_bytes(b"other")
    spec = SimpleNamespace(submodule_search_locations=[str(tmp_path)])
    monkeypatch.setattr(digits, "find_spec", lambda name: spec)
    digits.split_digits.cache_clear()
    with rejects("digits.csv.gz", "scikit-learn"):
        _ = Digits().corpus


@pytest.mark.parametrize(
    ("stop", "until", "beyond"), [("accuracy", 0.75, 0.76), ("loss", 0.5, 0.49)]
)
def test_training_ends_at_the_given_value_itself(stop, until, beyond, monkeypatch):
    monkeypatch.setattr(Text, "measured", lambda task, model: (0.75, 0.5))
    model = load("text-small-lstm-2-layers-mean-seed0")
    assert Text(stop, until, "mean").learnt(model)
    assert not Text(stop, beyond, "mean").learnt(model)
