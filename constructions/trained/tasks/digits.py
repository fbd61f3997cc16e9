"""The task digits: classification of handwritten digits of 8 × 8 pixels.

The images are a file of scikit-learn, an optional package, of which nothing else is used.
"""

from __future__ import annotations

import gzip
import hashlib
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy, mse_loss

from constructions.interface import Model
from constructions.seeds import torch_generator
from constructions.trained.configuration import presets
from constructions.trained.feedforward import CNNShape, MLPShape
from constructions.trained.form import Form
from constructions.trained.labels import ALL, LAST, Patches
from constructions.trained.lstm import LSTMShape
from constructions.trained.models import Shape
from constructions.trained.tasks.classification import Classification
from constructions.trained.tasks.task import Batch, Training
from constructions.trained.transformers import TransformerShape
from theory.kinds import Choice, InputError, checked

NAME = "scikit-learn"
SHA256 = "09f66e6debdee2cd2b5ae59e0d6abbb73fc2b0e0185d2e1957e9ebb51e23aa22"
SIDE, PATCH, GREY, DIGITS = 8, 2, 16, 10
TRAINED = 1297  # images; the other 500 are held out
TRAININGS = "plain", "regularised", "augmented"
SIGMA, WEIGHT = 1.0, 0.5  # standard deviation of the noise, and weight of the regulariser


@checked
@dataclass(frozen=True)
class Digits(Classification, kind="digits"):
    """The task of classifying handwritten digits: images of 8 × 8 pixels between 0 and 1.

    There are 1 297 training images and 500 held-out images. The input of transformers and LSTMs is
    16 patches of 2 × 2 pixels; the output of these models is the mean output over all patches, or
    the output at the last patch. The input of MLPs and CNNs is all pixels. `training` is one of

        "plain"        the loss is the cross-entropy on images x
        "augmented"    the loss is the cross-entropy on images x + noise, with N(0, 1) noise on the
                       pixels of one random patch
        "regularised"  for a model f, the loss is ½ cross-entropy(f(x)) + ½ mean (f(x + noise) −
                       f(x))² [Vasudeva2024], cited second hand
    """

    training: Annotated[str, Choice(TRAININGS)] = "plain"

    models = "transformer", "mlp", "cnn", "lstm"

    @property
    def examples(self) -> tuple[Batch, Batch]:
        return split_digits()

    def form(self, shape: Shape) -> Form:
        size = PATCH if shape.kind in ("transformer", "lstm") else SIDE
        interface = Patches(SIDE, size, LAST if shape.kind == "lstm" else ALL)
        positions = interface.context if shape.kind == "transformer" else 0
        return Form(interface, size * size, DIGITS, positions=positions, mask="full")

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers, self.training]

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns images and labels, and the images with noise if the training uses noise."""
        generator = torch_generator(seed)
        images, labels = super().draw(made, count, generator, step=step)
        if self.training == "plain":
            return images, labels
        return images, labels, one_noisy_patch(images, generator)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        images, labels, *noisy = batch
        if not noisy:
            return super().loss(model, images, labels)
        perturbed = self.scores(model, noisy[0])
        if self.training == "augmented":
            return cross_entropy(perturbed, labels)
        scores = self.scores(model, images)
        return (1 - WEIGHT) * cross_entropy(scores, labels) + WEIGHT * mse_loss(perturbed, scores)


def one_noisy_patch(images: Tensor, seed: int | Generator) -> Tensor:
    """Returns images (count, 8, 8) with Gaussian noise on one random patch of each."""
    generator = torch_generator(seed)
    count, device, along = len(images), generator.device, SIDE // PATCH
    patch = torch.randint(along * along, (count, 1, 1), generator=generator, device=device)
    place = torch.arange(SIDE, device=device) // PATCH
    inside = place[:, None] * along + place == patch
    noise = torch.randn(images.shape, generator=generator, device=device)
    return images + SIGMA * noise * inside


@cache
def split_digits() -> tuple[Batch, Batch]:
    """Returns the images (…, 8, 8) and labels (…,) for training, and those held out.

    The images are float32, in a random order. Raises ValueError if scikit-learn is not installed or
    its file of images has another hash.
    """
    table = np.loadtxt(gzip.decompress(_file()).decode().splitlines(), delimiter=",")
    order = np.random.default_rng(0).permutation(len(table))
    images = torch.tensor(table[order, :-1] / GREY, dtype=torch.float32).view(-1, SIDE, SIDE)
    labels = torch.tensor(table[order, -1], dtype=torch.int64)
    return (images[:TRAINED], labels[:TRAINED]), (images[TRAINED:], labels[TRAINED:])


def installed() -> bool:
    """Whether scikit-learn, the package with the images, is installed."""
    return find_spec("sklearn") is not None


def _file() -> bytes:
    spec = find_spec("sklearn")
    if spec is None or not spec.submodule_search_locations:
        raise InputError(f'{NAME} is not installed: run pip install "weightwright[digits]"')
    path = Path(spec.submodule_search_locations[0]) / "datasets" / "data" / "digits.csv.gz"
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path} ({error.strerror}): reinstall {NAME}") from None
    found = hashlib.sha256(content).hexdigest()
    if found != SHA256:
        raise InputError(f"{path} has sha256 {found[:12]}…, not {SHA256[:12]}…: reinstall {NAME}")
    return content


LEARNED = {"steps": 2000, "learning_rate": 1e-3, "batch_size": 64}
TRANSFORMER = TransformerShape(2, 4, 24, 64)
PRESETS = presets(
    small=(Digits(), LEARNED, TRANSFORMER, MLPShape(2, 64), CNNShape(2, 16)),
    level=(Digits("loss", 0.1), LEARNED, TRANSFORMER),
) | presets(small=(Digits(), LEARNED | {"steps": 4000}, LSTMShape(2, 24)))
