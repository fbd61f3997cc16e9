"""In-context bigrams: sequences of Markov chains, each of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.trained.configuration import LEARNING, presets
from constructions.trained.tasks.hop import COPYING
from constructions.trained.tasks.task import Batch, TokenTask
from theory.kinds import checked
from theory.retrieval import ngram


@checked
@dataclass(frozen=True)
class Bigrams(TokenTask, kind="bigrams"):
    """Sequences of a Markov chain of their own, with uniform (Dirichlet(1)) rows and start; wanted
    at each position is the next token [Edelman2024]."""

    def sequences(self, count: int, generator: Generator) -> Batch:
        V, T, device = self.vocabulary_size, self.length, generator.device

        def rows(*size: int) -> Tensor:
            """Dirichlet(1): exponential variables over their sum; running sums of it."""
            drawn = torch.empty((*size, V), device=device).exponential_(generator=generator)
            return (drawn / drawn.sum(-1, keepdim=True)).cumsum(-1)

        chain = rows(count, V)
        uniform = torch.rand((count, T + 1), generator=generator, device=device)
        now = (rows(count) < uniform[:, :1]).sum(-1).clamp(max=V - 1)
        said, every = [now], torch.arange(count, device=device)
        for t in range(1, T + 1):
            now = (chain[every, now] < uniform[:, t, None]).sum(-1).clamp(max=V - 1)
            said.append(now)
        joint = torch.stack(said, dim=-1)
        return joint[:, :-1].contiguous(), joint[:, 1:].contiguous()

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        """The entropy of the Bayes predictor: one more of each bigram than were seen."""
        chances = ngram(tokens.numpy(), self.vocabulary_size, 2, 1.0)
        given = np.take_along_axis(chances, wanted.numpy()[..., None], axis=-1)
        return f"best possible (Bayes): {-np.log(given).mean():.4f} nats a token"


PRESETS = presets(small=(Bigrams(8, 64), LEARNING, COPYING))
