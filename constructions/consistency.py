"""Checks of the parts of a transformer: finite weights, dtypes and shapes that fit together."""

from __future__ import annotations

from collections.abc import Iterator

import torch

from constructions.attention import Attention, Mask
from constructions.blocks import MLP, LayerNorm, Stack
from constructions.interface import Interface, Model
from theory.kinds import InputError, read

Shape = tuple[int, ...]


def check_loaded(model: Model) -> None:
    """Raises ValueError for weights that are NaN or infinite, and for parts that do not fit.

    Parts are checked for a `Stack`: all parts of the model must have weights of one dtype and read
    and write one stream of width D, and the heads of a layer must have one width.
    """
    if not isinstance(getattr(model, "interface", None), Interface):
        raise InputError("the model has no attribute `interface`: give a Model of this library")
    check_finite(model)
    if isinstance(model, Stack):
        check_dtypes(model)
        check_shapes(model)
        check_registers(model)


def check_finite(model: Model) -> None:
    """Raises ValueError for weights that are NaN or infinite, or on the device meta."""
    for name, weights in model.named_parameters():
        if weights.is_meta:
            raise InputError(
                f"{name} is on the device meta, without numbers: give a model on the CPU"
            )
        if not weights.is_floating_point() or not bool(torch.isfinite(weights).all()):
            raise InputError(
                f"{name} has entries that are not finite numbers: build, train or load the model "
                "again"
            )


def check_dtypes(model: Stack) -> None:
    """Raises ValueError for weights of different dtypes."""
    (first, wanted), *others = model.named_parameters()
    for name, weights in others:
        if weights.dtype != wanted.dtype:
            found, of_first = (str(each.dtype).removeprefix("torch.") for each in (weights, wanted))
            raise InputError(
                f"{name} has dtype {found} and {first} has {of_first}: give weights of one dtype"
            )


def check_shapes(model: Stack) -> None:
    """Raises ValueError for shapes of weights that do not fit together."""
    for name, found, wanted in _shapes(model):
        if found != wanted:
            raise InputError(
                f"{name} has shape {found} and the stream has width {model.d_model}: give weights "
                f"of shape {wanted}"
            )


def check_registers(model: Stack) -> None:
    """Raises ValueError for names that are not registers, and for invariants after no layer."""
    for name in (*model.at_most, *(stage.register for stage in model.stages)):
        model.stream[name]
    n_layers = len(model.blocks)
    if wrong := [stage for stage in model.stages if stage.after > n_layers]:
        raise InputError(f"stages has {wrong[0]}: give invariants after at most {n_layers} layers")


def _shapes(model: Stack) -> Iterator[tuple[str, Shape, Shape]]:
    """The weights of a transformer: names, shapes, and the shapes that fit the stream."""
    D = model.d_model
    yield "W_E", tuple(model.embed.W_E.shape), (len(model.embed.W_E), D)
    if model.pos_embed is not None:
        yield "W_pos", tuple(model.pos_embed.W_pos.shape), (len(model.pos_embed.W_pos), D)
    for number, block in enumerate(model.blocks):
        for part in (block.attn, block.mlp, block.ln1, block.ln2):
            for name, found, wanted in _shapes_of(part, D):
                yield f"blocks.{number}.{name}", found, wanted
    for name, found, wanted in _shapes_of(model.ln_final, D):
        yield f"ln_final.{name}", found, wanted
    W_U, b_U = model.unembed.W_U, model.unembed.b_U
    yield "W_U", tuple(W_U.shape), (D, W_U.shape[-1])
    if b_U is not None:
        yield "b_U", tuple(b_U.shape), (W_U.shape[-1],)


def _shapes_of(
    part: Attention | MLP | LayerNorm | None, D: int
) -> Iterator[tuple[str, Shape, Shape]]:
    if isinstance(part, Attention):
        read(tuple[Mask, ...], "masks", part.masks)
        heads, d_head, d_value = len(part.masks), part.W_Q.shape[-1], part.W_V.shape[-1]
        yield "W_Q", tuple(part.W_Q.shape), (heads, D, d_head)
        yield "W_K", tuple(part.W_K.shape), (heads, D, d_head)
        yield "W_V", tuple(part.W_V.shape), (heads, D, d_value)
        yield "W_O", tuple(part.W_O.shape), (heads, d_value, D)
        yield "b_Q", tuple(part.b_Q.shape), (heads, d_head)
        yield "b_K", tuple(part.b_K.shape), (heads, d_head)
    elif isinstance(part, MLP):
        M = part.W_in.shape[-1]
        yield "W_in", tuple(part.W_in.shape), (D, M)
        yield "b_in", tuple(part.b_in.shape), (M,)
        yield "W_out", tuple(part.W_out.shape), (M, D)
        yield "b_out", tuple(part.b_out.shape), (D,)
    elif part is not None:
        yield "w", tuple(part.w.shape), (D,)
        yield "b", tuple(part.b.shape), (D,)
