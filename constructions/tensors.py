"""From arrays to tensors, and to the weights of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn


def as_tensor(array: Any, like: Tensor | None = None) -> Tensor:
    """`torch.as_tensor`, in the format and on the device of `like`, of any numpy array too.

    torch itself takes none that is read-only or runs backwards.
    """
    if isinstance(array, np.ndarray):
        array = np.require(array, requirements=["C", "W"])
    if like is None:
        return torch.as_tensor(array)
    return torch.as_tensor(array, dtype=like.dtype, device=like.device)


def weight(values: Tensor) -> nn.Parameter:
    """A weight of a model: float64, and not trained unless that is asked for."""
    return nn.Parameter(torch.as_tensor(values, dtype=torch.float64), requires_grad=False)
