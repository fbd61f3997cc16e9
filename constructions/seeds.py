"""Seeds of torch's random numbers: an integer, or a Generator of torch or numpy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias

import numpy as np
from torch import Generator

from theory.kinds import Kind, is_integer, read

LARGEST = 2**32 - 1  # of larger integers, torch reads the last 32 bits


@dataclass(frozen=True)
class TorchRandom(Kind):
    """The kind of a seed or Generator; the function gets a torch.Generator.

    A seed becomes a torch.Generator on the CPU, and so does a Generator of numpy, which draws the
    seed. If the caller passes a torch.Generator, the function advances the state of this Generator.
    """

    what = "a seed, an integer from 0 to 2^32 − 1, or a Generator of torch or numpy"
    example = 0
    wrong = (None, object(), True, -1, 2**32, 1.5, "a", [], {}, np.random)

    def read(self, name: str, value: Any) -> Generator:
        if isinstance(value, Generator):
            return value
        if isinstance(value, np.random.Generator):
            value = value.integers(2**64, dtype=np.uint64) & np.uint64(LARGEST)
        if not (is_integer(value) and 0 <= value <= LARGEST):
            raise self.error(name, value)
        return Generator().manual_seed(int(value))


TorchSeed: TypeAlias = Annotated[Any, TorchRandom()]
"""A seed ≥ 0, or a Generator of torch or numpy; the function gets a torch.Generator."""


def torch_generator(seed: int | Generator | np.random.Generator) -> Generator:
    """Returns a torch.Generator on the CPU for a seed or a Generator of numpy.

    A torch.Generator is returned unchanged.
    """
    generator: Generator = read(TorchSeed, "seed", seed)
    return generator
