"""What any torch classifier predicts for arrays, so that `theory.sensitivity` can measure it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn

from theory import checks
from theory.checks import InputError


def predictions(module: nn.Module, batch: int = 1024) -> Callable[[np.ndarray], np.ndarray]:
    """A function from arrays (N, …) to labels (N, …): the argmax of the module's last dimension,
    or [output > 0] where that is of size 1, or the module's own labels if they are whole numbers.

    The module is any of torch.  It is run in evaluation mode, without gradients, `batch` inputs at
    a time, in the format and on the device of its parameters (float32 on the CPU if it has none),
    and is left in the mode in which it was.  Whole numbers stay int64.

    Raises ValueError for what is no module, a batch below 1, and (when called) for outputs that are
    no tensor of one row or more for each input, or contain NaN.
    """
    if not isinstance(module, nn.Module):
        raise InputError(f"the model is a {type(module).__name__}: give a torch module")
    batch = checks.dimension("batch", batch)

    @torch.no_grad()
    def labels(inputs: np.ndarray) -> np.ndarray:
        like = next(module.parameters(), torch.zeros(()))
        training = module.training
        module.eval()
        try:
            parts = [_as(like, inputs[i : i + batch]) for i in range(0, len(inputs), batch)]
            return np.concatenate([_labels(module(part), len(part)) for part in parts])
        finally:
            module.train(training)

    return labels


def _as(like: Tensor, inputs: np.ndarray) -> Tensor:
    tensor = torch.as_tensor(np.ascontiguousarray(inputs), device=like.device)
    return tensor.long() if inputs.dtype.kind in "iu" else tensor.to(like.dtype)


def _labels(outputs: object, count: int) -> np.ndarray:
    if not isinstance(outputs, Tensor) or outputs.ndim < 1 or len(outputs) != count:
        kind = list(outputs.shape) if isinstance(outputs, Tensor) else type(outputs).__name__
        raise InputError(f"the model's outputs are {kind}: give one that returns ({count}, …)")
    if not outputs.is_floating_point():
        return outputs.cpu().numpy()
    if outputs.isnan().any():
        raise InputError("the model's outputs contain NaN: it predicts nothing there")
    if outputs.ndim == 1 or outputs.shape[-1] == 1:
        return (outputs > 0).cpu().numpy()
    return outputs.argmax(-1).cpu().numpy()
