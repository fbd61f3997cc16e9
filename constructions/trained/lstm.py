"""LSTMs, for comparison with transformers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import torch
from torch import Tensor, nn

from constructions.blocks import plural
from constructions.interface import Interface, Model, Prompt
from constructions.stream import Stream
from constructions.trained.form import SOURCE, Form
from theory.kinds import Count, checked


@checked
@dataclass(frozen=True)
class LSTMShape:
    """The shape of a model of `n_layers` stacked LSTMs with `width` hidden units each."""

    n_layers: Count
    width: Count

    kind: ClassVar[str] = "lstm"
    words: ClassVar[str] = "an LSTM"
    compiles: ClassVar[bool] = False  # torch has a fused recurrence
    stacks: ClassVar[bool] = False  # torch has no batching rule for it
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> LSTM:
        """Returns a model of this shape with torch's default initialisation from the seed."""
        Stream(stream=self.width).fits(self.n_layers, heads=2)  # four gates of two matrices
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            return LSTM(self, form)


class LSTM(Model):
    """A model of stacked LSTMs; its stream is the output (…, T, width) of each LSTM."""

    def __init__(self, shape: LSTMShape, form: Form) -> None:
        super().__init__()
        embedding = nn.Embedding if form.rows == 1 else nn.Linear
        self.embed = embedding(form.d_in, shape.width)
        self.layers = nn.ModuleList(
            nn.LSTM(shape.width, shape.width, batch_first=True) for _ in range(shape.n_layers)
        )
        self.unembed = nn.Linear(shape.width, form.d_out)
        self.interface: Interface = form.interface
        self.name = f"LSTM of {plural(shape.n_layers, 'layer')} and width {shape.width}"
        self.source = SOURCE

    @property
    def n_layers(self) -> int:
        """The number of stacked LSTMs."""
        return len(self.layers)

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        H = self.embed(prompt.tokens)
        yield H
        for layer in self.layers:
            H = layer(H.reshape(-1, *H.shape[-2:]))[0].view(H.shape)
            yield H

    @checked
    def seen(self, H: Tensor) -> Tensor:
        return H

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        return self.unembed(H)
