"""Models from vectors to vectors: associative memories, and particles that attend to each other."""

from __future__ import annotations

from typing import Any

import numpy as np
from torch import Tensor, nn

from constructions.interface import ROWS, Draw, Interface, Prompt, finite_tensors
from theory.kinds import Reals


class Memory(Interface):
    """The interface of models that map states (…, d) to states (…, d), given patterns (P, d).

    The patterns are the context of every prompt. Tokens are (ξ, 0) for each pattern ξ and (0, s)
    for each state s, or only the states if there are no patterns.
    `written(model, domain, states, patterns)` writes exact numbers. Raises ValueError for states of
    another dimension than d, and for NaN or infinite entries.
    """

    name = "states"
    patterns: nn.Parameter | None

    def __init__(self, d: int, patterns: Tensor | None = None) -> None:
        super().__init__()
        self.d = d
        self.patterns = None if patterns is None else nn.Parameter(patterns, requires_grad=False)

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        (states,) = finite_tensors(like, inputs, self.name)
        Reals(f"... {self.d}").fit(self.name, states.shape)
        return (states,) if self.patterns is None else (states, self.patterns)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        states, *stored = inputs
        s = states.reshape(-1, self.d)
        if not stored:
            return Prompt(s, 0)
        (xi,) = stored
        rows = [xp.concat([xi, xi * 0], axis=-1), xp.concat([s * 0, s], axis=-1)]
        return Prompt(xp.concat(rows, axis=0), len(xi), slice(len(xi), None))

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, ...]:
        states = draw(ROWS, self.d)
        return (states,) if self.patterns is None else (states, self.patterns)

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs.reshape(inputs[0].shape)
