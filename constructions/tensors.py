"""Conversion of arrays to tensors and to the weights of a model."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd import forward_ad

from theory.kinds import InputError, array_of, real
from theory.kinds.arrays import contain, has


def as_tensor(
    array: Any, like: Tensor | None = None, name: str = "the input", *, booleans: bool = False
) -> Tensor:
    """Returns `array` as a tensor of the dtype and on the device of `like`.

    Any numpy array is allowed, also read-only arrays, arrays with negative strides and arrays in
    another byte order. Raises ValueError for complex numbers, for sparse, meta, quantized or nested
    tensors, for objects that are not arrays of numbers, and for booleans unless `booleans` is true.
    """
    if not isinstance(array, Tensor):
        given = array_of(name, array)
        if given.dtype.kind == "O":  # fractions, or other objects
            given = real(name, given)
        try:
            backwards = any(stride < 0 for stride in given.strides)
            native = given.astype(given.dtype.newbyteorder("="), copy=backwards)
            array = torch.as_tensor(np.require(native, requirements=["C", "W"]))
        except TypeError:
            raise InputError(
                f"{name} has dtype {given.dtype}: give an array of real numbers"
            ) from None
    kinds = {"meta": array.is_meta, "quantized": array.is_quantized, "nested": array.is_nested}
    usual = str(array.layout).removeprefix("torch.")
    kind = next((each for each, given in kinds.items() if given), usual)
    if array.is_complex() or kind != "strided":
        kind = "complex" if array.is_complex() else kind
        raise InputError(f"{name} is a {kind} tensor: give a dense tensor of real numbers")
    if array.dtype == torch.bool and not booleans:
        raise InputError(f"{name} {has(name)} dtype bool: give an array of real numbers")
    return array if like is None else array.to(device=like.device, dtype=like.dtype)


def require_finite(name: str, *tensors: Tensor) -> None:
    """Raises ValueError if a tensor has NaN or infinite entries."""
    if not all(bool(each.isfinite().all()) for each in tensors):
        raise InputError(
            f"{name} {contain(name)} NaN or infinite entries: remove or replace these entries first"
        )


def has_tangent(tensor: Tensor) -> bool:
    """Whether a tensor has a tangent, so that derivatives are computed in forward mode."""
    return forward_ad.unpack_dual(tensor).tangent is not None


def weight(values: Tensor) -> nn.Parameter:
    """Returns the values as a float64 weight of a model, without gradient.

    The weight can be trained after `requires_grad` is set.
    """
    return nn.Parameter(torch.as_tensor(values, dtype=torch.float64), requires_grad=False)
