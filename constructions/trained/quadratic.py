"""Networks of quadratic neurons for addition modulo p, with three trained tables:

    f(a, b)_c = Σ_i w_i(c) (u_i(a) + v_i(b))²,     u, v, w (neurons, p).

`as_transformer` writes them as the two layers of heads of
`constructions.arithmetic.modular_addition`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, pad

from constructions.arithmetic.modular_addition import of_neurons
from constructions.interface import Interface, Model, Prompt
from constructions.stream import Stream
from constructions.trained.form import SOURCE, Form
from constructions.transformer import Transformer
from theory.arithmetic.modular_margin import Neurons
from theory.kinds import Count, checked

SPREAD = 0.3  # standard deviation of the initial weights


@checked
@dataclass(frozen=True)
class QuadraticShape:
    """The shape of a network of `n_neurons` quadratic neurons for addition modulo a number."""

    n_neurons: Count

    kind: ClassVar[str] = "quadratic"
    words: ClassVar[str] = "a quadratic network"
    compiles: ClassVar[bool] = False  # a step takes a millisecond
    stacks: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False
    n_layers: ClassVar[int] = 1

    def build(self, form: Form, seed: int, task: str) -> QuadraticNetwork:
        """Returns the network with normal initial weights of standard deviation 0.3."""
        Stream(neurons=self.n_neurons, table=3 * form.d_out).fits(1)
        generator = torch.Generator().manual_seed(seed)
        size = 3, self.n_neurons, form.d_out
        drawn = SPREAD * torch.randn(size, generator=generator, dtype=torch.float64)
        return QuadraticNetwork(drawn, form, f"trained on {task}: {self.n_neurons} neurons")


class QuadraticNetwork(Model):
    """A network of quadratic neurons for adding two numbers a and b modulo p.

    Neuron i has tables u_i, v_i and w_i of p numbers each, and the logit of an answer c is
    Σ_i w_i(c) (u_i(a) + v_i(b))². The stream consists of logits (…, T, p). All are 0 before the
    layer; after the layer, the row at the token "=" contains the logits of the p answers.
    """

    def __init__(self, tables: Tensor, form: Form, name: str) -> None:
        super().__init__()
        self.u, self.v, self.w = (nn.Parameter(table.clone()) for table in tables)
        self.interface: Interface = form.interface
        self.name, self.source = name, SOURCE

    @property
    def n_layers(self) -> int:
        """The number of layers of neurons, which is 1."""
        return 1

    @property
    def neurons(self) -> Neurons:
        """The tables u_i, v_i and w_i of all neurons i, in float64."""
        tables = (each.detach().double().cpu().numpy() for each in (self.u, self.v, self.w))
        return Neurons(*map(np.asarray, tables))

    def as_transformer(self) -> Transformer:
        """Returns the same network as a transformer of two layers of linear heads, in float64."""
        made = of_neurons(self.neurons, margin=None, source=self.source)
        made.name = self.name
        return made

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        first, second, _ = prompt.tokens.unbind(-1)
        sums = embedding(first, self.u.mT) + embedding(second, self.v.mT)
        logits = (sums**2 @ self.w).unsqueeze(-2)
        yield torch.zeros_like(logits).expand(*logits.shape[:-2], 3, -1)
        yield pad(logits, (0, 0, 2, 0))

    @checked
    def seen(self, H: Tensor) -> Tensor:
        return H

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        return H
