"""The processes of torchrun, which share a batch."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
from torch import Tensor, distributed

from theory.kinds import InputError


@dataclass(frozen=True)
class Process:
    """The rank of this process, the number of processes, and its device, from torchrun."""

    rank: int
    size: int
    device: torch.device

    @staticmethod
    def join(device: str) -> Process:
        """Returns this process, and initialises the process group if torchrun started several
        processes.

        Raises ValueError for invalid environment variables and for more processes than GPUs.
        """
        size, here = _number("WORLD_SIZE", 1, least=1), _number("LOCAL_WORLD_SIZE", 1, least=1)
        rank, local = _number("RANK", 0), _number("LOCAL_RANK", 0)
        if rank >= size:
            raise InputError(f"RANK is {rank} and WORLD_SIZE {size}: start the command by torchrun")
        if device == "cuda" and here > torch.cuda.device_count():
            raise InputError(
                f"there are {here} processes here and {torch.cuda.device_count()} GPUs: "
                "start one process for each GPU"
            )
        if size > 1 and not distributed.is_initialized():
            try:
                distributed.init_process_group("nccl" if device == "cuda" else "gloo")
            except ValueError as error:
                raise InputError(f"{error}: start the command by torchrun") from None
        return Process(rank, size, torch.device(f"cuda:{local}" if device == "cuda" else device))

    def mean(self, values: Tensor) -> Tensor:
        """The mean of the values over the processes, in place."""
        if self.size > 1:
            distributed.all_reduce(values)
            values /= self.size
        return values


def is_first() -> bool:
    """Whether this is the process that prints and writes files."""
    return os.environ.get("WORLD_SIZE", "1") == "1" or os.environ.get("RANK", "0") == "0"


def _number(name: str, default: int, least: int = 0) -> int:
    """An environment variable that is an integer of at least `least`."""
    word = os.environ.get(name, str(default))
    if not word.isdecimal() or int(word) < least:
        raise InputError(
            f"{name} is {word!r} in the environment: start the command by torchrun, or unset it"
        )
    return int(word)
