"""The processes among which torchrun divides a batch."""

from __future__ import annotations

import os
from dataclasses import dataclass

import torch
from torch import Tensor, distributed

from theory.checks import InputError


@dataclass(frozen=True)
class Process:
    """Which of how many processes this is, as torchrun says, and its device."""

    rank: int
    size: int
    device: torch.device

    @staticmethod
    def join(device: str) -> Process:
        """This process, joined with the others if torchrun started several."""
        size, local = int(os.environ.get("WORLD_SIZE", 1)), os.environ.get("LOCAL_RANK", "0")
        here = int(os.environ.get("LOCAL_WORLD_SIZE", 1))
        if device == "cuda" and here > torch.cuda.device_count():
            raise InputError(
                f"there are {here} processes here and {torch.cuda.device_count()} GPUs: "
                "start one process for each GPU"
            )
        chosen = torch.device(f"cuda:{local}" if device == "cuda" else device)
        if size > 1 and not distributed.is_initialized():
            distributed.init_process_group("nccl" if device == "cuda" else "gloo")
        return Process(int(os.environ.get("RANK", 0)), size, chosen)

    def mean(self, values: Tensor) -> Tensor:
        """The processes' mean of values, in their place."""
        if self.size > 1:
            distributed.all_reduce(values)
            values /= self.size
        return values
