"""The processes of torchrun, which share a batch."""

from __future__ import annotations

import atexit
import os
from dataclasses import dataclass
from importlib import import_module

import torch
from torch import Tensor, distributed

from theory.kinds import InputError


@dataclass(frozen=True)
class Process:
    """A process of torchrun: its rank, the number of all processes, and its device."""

    rank: int
    size: int
    device: torch.device

    @staticmethod
    def join(device: str) -> Process:
        """Returns this process, and initialises the process group if there are several processes.

        The process group is destroyed when the program ends.

        Raises ValueError for invalid environment variables and for more processes than GPUs.
        """
        size, here = _number("WORLD_SIZE", 1, least=1), _number("LOCAL_WORLD_SIZE", 1, least=1)
        rank, local = _number("RANK", 0), _number("LOCAL_RANK", 0)
        if rank >= size:
            raise InputError(
                f"the environment variables RANK = {rank} and WORLD_SIZE = {size} do not fit "
                "together: start the command with torchrun"
            )
        if device == "cuda" and here > torch.cuda.device_count():
            raise InputError(
                f"this machine has {here} processes but {torch.cuda.device_count()} GPUs: "
                "start one process for each GPU"
            )
        if size > 1 and not distributed.is_initialized():
            import_module("torch._dynamo")  # if imported after the group is made, it keeps it
            try:
                distributed.init_process_group("nccl" if device == "cuda" else "gloo")
            except ValueError as error:
                raise InputError(f"{error}: start the command with torchrun") from None
            atexit.register(_leave)
        return Process(rank, size, torch.device(f"cuda:{local}" if device == "cuda" else device))

    def mean(self, values: Tensor) -> Tensor:
        """Replaces the values by their mean over the processes, and returns them."""
        if self.size > 1:
            distributed.all_reduce(values)
            values /= self.size
        return values


def _leave() -> None:
    """Destroys the process group and its threads, which sometimes abort a program that ends."""
    if distributed.is_initialized():
        distributed.destroy_process_group()


def is_first() -> bool:
    """Whether this process is the first, the one that prints and writes files.

    Every process without a valid rank counts as the first, and prints an error.
    """
    rank, size = os.environ.get("RANK", "0"), os.environ.get("WORLD_SIZE", "1")
    return not (rank.isdecimal() and size.isdecimal() and 0 < int(rank) < int(size))


def _number(name: str, default: int, least: int = 0) -> int:
    """An environment variable that is an integer of at least `least`."""
    word = os.environ.get(name, str(default))
    if not word.isdecimal() or int(word) < least:
        raise InputError(
            f"the environment variable {name} is {word!r}: start the command with "
            f"torchrun, or unset {name}"
        )
    return int(word)
