"""The task bigrams: sequences of random Markov chains, a new chain for each sequence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from constructions.seeds import TorchSeed
from constructions.trained.configuration import LEARNING, presets
from constructions.trained.tasks.hop import COPYING
from constructions.trained.tasks.task import Batch, PromptCount, TokenTask
from theory.kinds import checked
from theory.retrieval import ngram


@checked
@dataclass(frozen=True)
class Bigrams(TokenTask, kind="bigrams"):
    """The task of predicting the next token in sequences of random Markov chains.

    Each sequence has a new chain, whose transition rows and initial distribution are drawn from
    Dirichlet(1, …, 1) [Edelman2024].
    """

    @checked
    def sequences(self, count: PromptCount, seed: TorchSeed) -> Batch:
        V, T, device = self.vocabulary_size, self.length, seed.device
        self.fits(count, 36 * T + 12 * V * (V + 2))

        def rows(*size: int) -> Tensor:
            """Cumulative sums of a Dirichlet(1) vector: exponential variables over their sum."""
            drawn = torch.empty((*size, V), device=device).exponential_(generator=seed)
            return (drawn / drawn.sum(-1, keepdim=True)).cumsum(-1)

        chain = rows(count, V)
        uniform = torch.rand((count, T + 1), generator=seed, device=device)
        now = (rows(count) < uniform[:, :1]).sum(-1).clamp(max=V - 1)
        states, every = [now], torch.arange(count, device=device)
        for t in range(1, T + 1):
            now = (chain[every, now] < uniform[:, t, None]).sum(-1).clamp(max=V - 1)
            states.append(now)
        joint = torch.stack(states, dim=-1)
        return joint[:, :-1].contiguous(), joint[:, 1:].contiguous()

    def best(self, tokens: Tensor, wanted: Tensor) -> str:
        """The cross-entropy of the Bayes predictor (bigrams with add-one smoothing), as text."""
        probabilities = ngram(tokens.numpy(), self.vocabulary_size, 2, 1.0)
        given = np.take_along_axis(probabilities, wanted.numpy()[..., None], axis=-1)
        return f"best possible (Bayes): {-np.log(given).mean():.4f} nats a token"


PRESETS = presets(small=(Bigrams(8, 64), LEARNING, COPYING))
