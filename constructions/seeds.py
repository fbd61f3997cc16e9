"""Seeds of torch's random numbers: an integer, or a `torch.Generator`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from torch import Generator

from theory.kinds import Kind, read


@dataclass(frozen=True)
class TorchRandom(Kind):
    """The kind of a seed or torch.Generator; a seed becomes a torch.Generator on the CPU."""

    what = "a seed, an integer at least 0, or a torch.Generator"
    example = 0
    wrong = (None, object(), True, -1, 1.5, "a", [], {}, np.random.default_rng(0))

    def read(self, name: str, value: Any) -> Generator:
        if isinstance(value, Generator):
            return value
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 0:
            raise self.error(name, value)
        return Generator().manual_seed(int(value))


TorchSeed: TypeAlias = Annotated[Any, TorchRandom()]
"""A seed ≥ 0, or a torch.Generator; the function gets a torch.Generator."""


def torch_generator(seed: int | Generator) -> Generator:
    """Returns a torch.Generator on the CPU for a seed; a generator is returned unchanged."""
    generator: Generator = read(TorchSeed, "seed", seed)
    return generator
