"""The predictions of any torch classifier on arrays, as `theory.sensitivity` requires them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import numpy as np
import torch
from torch import Tensor, nn

from theory.kinds import Count, Finite, InputError, Instance, array_of, checked


@checked
def predictions(
    module: Annotated[nn.Module, Instance(nn.Module, "a torch module")],
    batch: Count = 1024,
    *,
    threshold: Finite | None = None,
    dtype: Annotated[torch.dtype, Instance(torch.dtype, "one of torch's, as torch.float32")]
    | None = None,
) -> Callable[[np.ndarray], np.ndarray]:
    """A function from inputs (N, …) to the labels that a torch module predicts for the N inputs.

    If the outputs of the module are integers, they are the labels. If the last dimension of the
    outputs has a size above 1, the labels are the argmax over this dimension. If it has size 1, or
    the outputs have shape (N,), the label of an output is 1 if the output is above `threshold`, and
    0 if it is not. The default threshold is 0, for logits; give 0.5 for probabilities.

    The module runs in evaluation mode without gradients, `batch` inputs at a time; then the mode of
    the module is restored. Inputs are moved to the device of the module's parameters and converted
    to `dtype`. By default, integers are converted to int64, as for tokens, and other numbers to the
    dtype of the parameters. If there are no parameters, the device is the CPU and the dtype
    float32. For example, give dtype=torch.float32 for pixels that are integers from 0 to 255.

    The function raises ValueError for inputs that are empty, not numbers or not accepted by the
    module. It raises ValueError for outputs that are not a tensor with one row per input, are
    complex or contain NaN. If a threshold is given, it raises ValueError for outputs that are
    integers or have a last dimension of size above 1. If no threshold is given, it raises
    ValueError for single outputs that all lie in [0, 1], as probabilities do.
    """

    @torch.no_grad()
    def labels(inputs: np.ndarray) -> np.ndarray:
        rows = array_of("inputs", inputs)
        if rows.dtype.kind not in "biuf" or rows.ndim < 1 or not rows.size:
            raise InputError(
                f"inputs have dtype {rows.dtype} and shape {rows.shape}: "
                "give an array (N, …) of numbers with N ≥ 1"
            )
        like = next(module.parameters(), torch.zeros(()))
        modes = [(part, part.training) for part in module.modules()]
        module.eval()
        try:
            given = [_as(like, rows[i : i + batch], dtype) for i in range(0, len(rows), batch)]
            outputs = torch.cat([_outputs(module, part, dtype) for part in given])
        finally:
            for part, training in modes:
                part.training = training
        return _labels(outputs, threshold)

    return labels


def _as(like: Tensor, inputs: np.ndarray, dtype: torch.dtype | None) -> Tensor:
    whole, real = inputs.dtype.kind in "iu", inputs.dtype.kind == "f"
    # A copy: torch lacks some byte orders and sizes of numbers, and warns of read-only arrays.
    wide = np.array(inputs, np.int64 if whole else np.float64 if real else None, order="C")
    usual = torch.int64 if whole else like.dtype
    return torch.as_tensor(wide, device=like.device).to(dtype or usual)


def _outputs(module: nn.Module, inputs: Tensor, dtype: torch.dtype | None) -> Tensor:
    try:
        outputs = module(inputs)
    except (RuntimeError, IndexError) as error:
        reason = " ".join(str(error).split())
        numbers = str(inputs.dtype).removeprefix("torch.")
        values = inputs.real.double()  # torch has no minimum of complex numbers
        ends = f"{values.amin().item():g} to {values.amax().item():g}"
        pixels = "" if inputs.is_floating_point() else "; for pixels give dtype=torch.float32"
        raise InputError(
            f"the model rejects inputs of shape {tuple(inputs.shape)} and dtype {numbers}, with "
            f"values from {ends} ({reason}): "
            f"give inputs that the model accepts, and a change that yields such inputs{pixels}"
        ) from error
    if not isinstance(outputs, Tensor) or outputs.ndim < 1 or len(outputs) != len(inputs):
        is_tensor = isinstance(outputs, Tensor)
        kind = f"shape {list(outputs.shape)}" if is_tensor else f"type {type(outputs).__name__}"
        raise InputError(
            f"the model's outputs have {kind}: "
            f"give a model that returns a tensor of shape ({len(inputs)}, …)"
        )
    if outputs.is_complex():
        raise InputError("the model's outputs are complex: give a model that returns real logits")
    if outputs.isnan().any():
        raise InputError("the model's outputs contain NaN: give a model with finite outputs")
    return outputs.cpu()


def _labels(outputs: Tensor, threshold: float | None) -> np.ndarray:
    several = outputs.ndim > 1 and outputs.shape[-1] > 1
    if threshold is not None and (several or not outputs.is_floating_point()):
        raise InputError(
            f"threshold is {threshold:g}, but the model's outputs have shape "
            f"{tuple(outputs.shape)} and dtype {outputs.dtype}: omit `threshold`, which is for one "
            "number for each input"
        )
    if not outputs.is_floating_point():
        return outputs.numpy()
    if several:
        return outputs.argmax(-1).numpy()
    if threshold is None and bool(((outputs >= 0) & (outputs <= 1)).all()):
        raise InputError(
            "the model's outputs all lie in [0, 1]: give threshold=0.5 if they are probabilities, "
            "and threshold=0 if they are logits"
        )
    return (outputs > (threshold or 0.0)).numpy()
