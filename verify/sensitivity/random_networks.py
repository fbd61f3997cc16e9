"""Transformers, LSTMs and MLPs with random weights, on all words of d bits.

    transformer L   L layers of one head and an MLP of 256, width 64, pre-norm with gains 1; full
                    attention; the output is that of a CLS token in the last position
    LSTM L          L layers of width 64 over the bits; the output is linear in the last state
    MLP L           L hidden layers of 64 ReLUs on bits −1 and +1

and three distributions of their weights:

    uniform   all weights and biases uniform between −10 and 10, as in [Bhattamishra2023]
              (according to other papers that quote it)
    Xavier    matrices uniform within √(6/(rows + columns)), biases 0
    normal    matrices normal with standard deviation 0.02, biases 0
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import torch
from torch import Generator, Tensor, nn

from constructions.tokens import Tokens
from constructions.trained.form import Form
from constructions.trained.transformers import TransformerShape
from theory.sequences import all_sequences

WIDTH, CLS = 64, 2
DISTRIBUTIONS = ("uniform", "Xavier", "normal")
ARCHITECTURES = (
    ("transformer", 2),
    ("transformer", 6),
    ("LSTM", 1),
    ("LSTM", 4),
    ("MLP", 2),
    ("MLP", 6),
)


@torch.no_grad()
def outputs(architecture: str, n_layers: int, distribution: str, d: int, seed: int) -> np.ndarray:
    """The outputs (2^d,) of a random network on all words of d bits, float32.

    The draws for different distributions or architectures are independent, even for equal seeds.
    """
    words = torch.from_numpy(all_sequences(d, 2))
    module, forward = NETWORKS[architecture](n_layers, d)
    which = [seed, DISTRIBUTIONS.index(distribution), ARCHITECTURES.index((architecture, n_layers))]
    (own,) = np.random.SeedSequence(which).generate_state(1)
    draw(module, distribution, Generator().manual_seed(int(own)))
    return forward(words).numpy()


def draw(module: nn.Module, distribution: str, generator: Generator) -> None:
    """Draws all weights of a module, except the gains and shifts of layer norms."""
    for name, weights in module.named_parameters():
        if ".ln" in name or name.startswith("ln_"):
            continue
        weights.requires_grad_(False)
        bias = name.rsplit(".", 1)[-1].startswith("b")
        if distribution == "uniform":
            weights.uniform_(-10, 10, generator=generator)
        elif bias:
            weights.zero_()
        elif distribution == "Xavier":
            limit = sqrt(6 / sum(weights.shape[-2:]))
            weights.uniform_(-limit, limit, generator=generator)
        else:
            weights.normal_(0, 0.02, generator=generator)


Forward = Callable[[Tensor], Tensor]


def _transformer(n_layers: int, d: int) -> tuple[nn.Module, Forward]:
    form = Form(Tokens(3, d + 1), d_in=3, d_out=1, positions=d + 1, mask="full")
    model: Any = TransformerShape(n_layers, 1, WIDTH, 4 * WIDTH).build(form, 0, "nothing").float()

    def forward(words: Tensor) -> Tensor:
        last = torch.full((len(words), 1), CLS)
        found: Tensor = model.logits(torch.cat([words, last], dim=1))
        return found[:, -1, 0]

    return model, forward


def _lstm(n_layers: int, d: int) -> tuple[nn.Module, Forward]:
    embed, lstm = nn.Embedding(2, WIDTH), nn.LSTM(WIDTH, WIDTH, n_layers, batch_first=True)
    read = nn.Linear(WIDTH, 1)
    return nn.ModuleList([embed, lstm, read]), lambda x: read(lstm(embed(x))[0][:, -1])[:, 0]


def _mlp(n_layers: int, d: int) -> tuple[nn.Module, Forward]:
    sizes = [d, *[WIDTH] * n_layers]
    hidden = [
        part for rows, columns in pairwise(sizes) for part in (nn.Linear(rows, columns), nn.ReLU())
    ]
    net = nn.Sequential(*hidden, nn.Linear(WIDTH, 1))
    return net, lambda x: net(2.0 * x - 1)[:, 0]


NETWORKS: dict[str, Callable[[int, int], tuple[nn.Module, Forward]]] = {
    "transformer": _transformer,
    "LSTM": _lstm,
    "MLP": _mlp,
}
