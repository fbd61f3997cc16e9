"""Networks with random weights on all words of d bits: transformers, LSTMs and MLPs.

    transformer L   L layers of one head and an MLP of 256, width 64, pre-norm with gains 1; a token
                    to read out from stands last, and every token sees all
    LSTM L          L layers of width 64 over the bits; the last state is read
    MLP L           L hidden layers of 64 ReLUs on bits −1 and +1

and three distributions of their weights:

    uniform   all weights and biases uniform between −10 and 10, as in [Bhattamishra2023]
              (second hand)
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

WIDTH, READ_OUT = 64, 2
LAWS = ("uniform", "Xavier", "normal")
ARCHITECTURES = (
    ("transformer", 2),
    ("transformer", 6),
    ("LSTM", 1),
    ("LSTM", 4),
    ("MLP", 2),
    ("MLP", 6),
)


@torch.no_grad()
def outputs(kind: str, layers: int, law: str, d: int, seed: int) -> np.ndarray:
    """The outputs of one such network on all words of d bits, (2^d,), float32.

    Networks of two distributions or architectures are independent draws, also for the same seed.
    """
    words = torch.from_numpy(all_sequences(d, 2))
    module, said = NETWORKS[kind](layers, d)
    which = [seed, LAWS.index(law), ARCHITECTURES.index((kind, layers))]
    (own,) = np.random.SeedSequence(which).generate_state(1)
    draw(module, law, Generator().manual_seed(int(own)))
    return said(words).numpy()


def draw(module: nn.Module, law: str, generator: Generator) -> None:
    """Fill all weights but the gains and shifts of layer norms."""
    for name, weights in module.named_parameters():
        if ".ln" in name or name.startswith("ln_"):
            continue
        weights.requires_grad_(False)
        bias = name.rsplit(".", 1)[-1].startswith("b")
        if law == "uniform":
            weights.uniform_(-10, 10, generator=generator)
        elif bias:
            weights.zero_()
        elif law == "Xavier":
            limit = sqrt(6 / sum(weights.shape[-2:]))
            weights.uniform_(-limit, limit, generator=generator)
        else:
            weights.normal_(0, 0.02, generator=generator)


Said = Callable[[Tensor], Tensor]


def _transformer(layers: int, d: int) -> tuple[nn.Module, Said]:
    form = Form(Tokens(3, d + 1), d_in=3, d_out=1, positions=d + 1, mask="full")
    model: Any = TransformerShape(layers, 1, WIDTH, 4 * WIDTH).build(form, 0, "nothing").float()

    def said(words: Tensor) -> Tensor:
        last = torch.full((len(words), 1), READ_OUT)
        found: Tensor = model.logits(torch.cat([words, last], dim=1))
        return found[:, -1, 0]

    return model, said


def _lstm(layers: int, d: int) -> tuple[nn.Module, Said]:
    embed, lstm = nn.Embedding(2, WIDTH), nn.LSTM(WIDTH, WIDTH, layers, batch_first=True)
    read = nn.Linear(WIDTH, 1)
    return nn.ModuleList([embed, lstm, read]), lambda x: read(lstm(embed(x))[0][:, -1])[:, 0]


def _mlp(layers: int, d: int) -> tuple[nn.Module, Said]:
    sizes = [d, *[WIDTH] * layers]
    hidden = [
        part for rows, columns in pairwise(sizes) for part in (nn.Linear(rows, columns), nn.ReLU())
    ]
    net = nn.Sequential(*hidden, nn.Linear(WIDTH, 1))
    return net, lambda x: net(2.0 * x - 1)[:, 0]


NETWORKS: dict[str, Callable[[int, int], tuple[nn.Module, Said]]] = {
    "transformer": _transformer,
    "LSTM": _lstm,
    "MLP": _mlp,
}
