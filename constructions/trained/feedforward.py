"""Networks without attention or recurrence, for comparison with transformers: MLPs and CNNs.

A prompt is one token, all pixels of an image; the stream after each layer is one token as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isqrt
from typing import ClassVar

import torch
from torch import Tensor, nn

from constructions.blocks import plural
from constructions.interface import Interface, Model, Prompt
from constructions.stream import Stream
from constructions.trained.form import SOURCE, Form
from theory.kinds import Count, InputError, checked

KERNEL, POOL = 3, 2


class FeedForward(Model):
    """A network of layers in sequence and a linear output layer, with torch's initialisation."""

    def __init__(
        self, layers: Sequence[nn.Module], width: int, d_out: int, interface: Interface, name: str
    ) -> None:
        super().__init__()
        self.layers = nn.ModuleList(layers)
        self.unembed = nn.Linear(width, d_out)
        self.interface, self.name = interface, name
        self.source = SOURCE

    @property
    def n_layers(self) -> int:
        """The number of layers before the output layer."""
        return len(self.layers)

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        H = prompt.tokens
        yield H
        for layer in self.layers:
            H = layer(H)
            yield H

    @checked
    def seen(self, H: Tensor) -> Tensor:
        return H

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        return self.unembed(H)


@checked
@dataclass(frozen=True)
class MLPShape:
    """The shape of an MLP with `n_layers` hidden layers of `width` ReLUs."""

    n_layers: Count
    width: Count

    kind: ClassVar[str] = "mlp"
    words: ClassVar[str] = "an MLP"
    compiles: ClassVar[bool] = False  # a few matrix products
    stacks: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> FeedForward:
        """The model with torch's default initialisation for this seed."""
        Stream(stream=self.width).fits(self.n_layers)

        def made() -> FeedForward:
            rows = [form.d_in, *[self.width] * (self.n_layers - 1)]
            layers = [nn.Sequential(nn.Linear(each, self.width), nn.ReLU()) for each in rows]
            name = f"MLP of {plural(self.n_layers, 'layer')} and width {self.width}"
            return FeedForward(layers, self.width, form.d_out, form.interface, name)

        return _drawn(made, seed)


@checked
@dataclass(frozen=True)
class CNNShape:
    """The shape of a CNN: `n_layers` convolutions of 3 × 3, each with ReLU and 2 × 2 max pooling.

    The first convolution has `width` channels, and each later convolution has twice as many
    channels as the convolution before.
    """

    n_layers: Count
    width: Count

    kind: ClassVar[str] = "cnn"
    words: ClassVar[str] = "a CNN"
    compiles: ClassVar[bool] = False
    stacks: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> FeedForward:
        """The model with torch's default initialisation for this seed.

        Raises ValueError for images that are not square, or whose number of rows is not a multiple
        of 2^n_layers.
        """
        side = isqrt(form.d_in)
        if side * side != form.d_in or self.n_layers > 30 or side % POOL**self.n_layers:
            raise InputError(
                f"n_layers is {self.n_layers}, but images of {form.d_in} pixels cannot be halved "
                "once for each layer: give fewer layers"
            )
        Stream(stream=self.width << (self.n_layers - 1)).fits(self.n_layers)

        def made() -> FeedForward:
            layers, channels = [], 1
            for layer in range(self.n_layers):
                out = self.width << layer
                layers.append(Convolution(channels, out, side >> layer))
                channels = out
            width = channels * (side >> self.n_layers) ** 2
            name = f"CNN of {plural(self.n_layers, 'layer')} and {self.width} channels"
            return FeedForward(layers, width, form.d_out, form.interface, name)

        return _drawn(made, seed)


class Convolution(nn.Module):
    """A convolution of 3 × 3, ReLU and max pooling over 2 × 2, for flattened images (…, pixels)."""

    def __init__(self, channels: int, out: int, side: int) -> None:
        super().__init__()
        self.of = channels, side, side
        self.convolution = nn.Conv2d(channels, out, KERNEL, padding="same")

    def forward(self, H: Tensor) -> Tensor:
        images = self.convolution(H.reshape(-1, *self.of)).relu()
        return nn.functional.max_pool2d(images, POOL).reshape(*H.shape[:-1], -1)


def _drawn(made: Callable[[], FeedForward], seed: int) -> FeedForward:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return made()
