"""How a model is called: its predictions, and its residual stream after each layer, as float64.

A model is one of three things:

    a model of this library   or another object with a method `representations`
    a `torch.nn.Module`       called with tensors x, y, x_query in the dtype and on the device of
                              its weights, in evaluation mode
    another function          called with arrays x, y, x_query; it has no layers

Shapes: x (m, n, d), y (m, n) and x_query (m, d) are n examples and a query of each of m prompts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from constructions.examples import Examples
from constructions.interface import Model
from constructions.prefixes import streams_after
from constructions.transformer import Transformer
from theory.kinds import InputError, checked, shown
from theory.kinds.errors import shown_all
from theory.regression import Prompts
from verify.interpret.algorithms import read_prompts

Sources = Sequence[str] | Callable[..., Any]
"""Names of modules, or a function of (model, x, y, x_query) that returns an array per layer."""

CHUNK = 200  # prompts per call of a model, so that its activations fit the cache
FEW = 4  # prompts on which a model is called twice, to find out whether it is deterministic
FAILURES = (
    RuntimeError,
    TypeError,
    ValueError,
    LookupError,
    AttributeError,
    ArithmeticError,
    AssertionError,
)
"""Errors of a module or function that gets prompts of a size or of a form that it does not take."""


@checked
def predictions_of(model: Callable[..., Any], prompts: Prompts) -> np.ndarray:
    """The predictions (m, n + 1) of a model on m prompts, at the n examples and at the query.

    The model is a trained model, a construction, another `torch.nn.Module` or another function of
    examples x (m, n, d), labels y (m, n) and queries x_query (m, d). If its outputs have the shape
    (m, n + 1), it is called once for each prompt. If its outputs have the shape (m,), with a
    prediction at the query only, it is called for each number of examples from 1, and its
    prediction without examples counts as 0.

    Raises `ValueError` for outputs of another shape and outputs that are not finite, for a module
    in training mode or on the device meta, for a model with two different outputs for the same
    prompts or whose predictions depend on the labels that they predict, and for prompts of a size
    that a module does not take.
    """
    p = read_prompts(prompts)
    check_model(lambda *few: [answers_of(model, *few)], p)
    predicted = answers_of(model, p.x, p.y, p.x_query)
    m, n = p.y.shape
    if predicted.shape == (m, n + 1):
        return predicted
    if predicted.shape != (m,):
        raise InputError(
            f"the outputs of the model have shape {predicted.shape} for {m} prompts of {n} "
            f"examples: give a model whose outputs have shape {(m, n + 1)} or {(m,)}"
        )
    earlier = [answers_of(model, p.x[:, :t], p.y[:, :t], p.x[:, t]) for t in range(1, n)]
    return np.stack([np.zeros(m), *earlier, predicted], axis=-1)


def predictions_after(
    model: Callable[..., Any], prompts: Prompts, queries: np.ndarray
) -> np.ndarray:
    """The predictions (S, m) at S queries (S, m, d), each of which follows the same n examples.

    A causal transformer computes the keys and values of the m prompts' examples once. The raised
    errors are those of `predictions_of`.
    """
    p = read_prompts(prompts)
    if not isinstance(model, Transformer) or not model.is_causal:
        each = [predictions_of(model, replace(p, x_query=query)) for query in queries]
        return np.stack([predicted[:, -1] for predicted in each])
    found = list[np.ndarray]()
    for i in chunks(len(p.x)):
        *_, H = _streams_after(model, p.x[i], p.y[i], queries[:, i])
        outputs = model.unembedding(model.seen(H))
        answers = model.interface.read(outputs, p.x[i], p.y[i], queries[0, i])
        found.append(as_array(answers, "outputs"))
    return np.concatenate(found).T


def _streams_after(
    model: Transformer, x: np.ndarray, y: np.ndarray, queries: np.ndarray
) -> Iterator[Tensor]:
    """The streams (m, S, D) of a causal model at queries (S, m, d), each after the n examples."""
    tokens = [model.prompt(x, y, query).tokens for query in queries]
    following = torch.stack([each[:, -1] for each in tokens], dim=1)
    return streams_after(model, tokens[0][:, :-1], following)


def answers_of(model: Any, x: np.ndarray, y: np.ndarray, x_query: np.ndarray) -> np.ndarray:
    """The outputs (m, …) of a model on m prompts, computed for some prompts at a time."""
    given = (inputs_for(model, x[i], y[i], x_query[i]) for i in chunks(len(x)))
    return np.concatenate([as_array(called(model, *some), "outputs", dims=1) for some in given])


def chunks(m: int) -> Iterator[slice]:
    """The prompts of each call of a model, as slices."""
    for start in range(0, m, CHUNK):
        yield slice(start, start + CHUNK)


@dataclass(frozen=True)
class Streams:
    """The residual streams of a model at the tokens of its predictions, layer by layer.

    `source` is None for a model with a method `representations`, whose first stream is that of the
    embedding; otherwise the names of modules, whose outputs are the streams, or a function of
    (model, x, y, x_query) that returns the streams. `tokens` selects the tokens of the predictions,
    for example `slice(None, None, 2)` if examples and labels alternate.
    """

    model: Any
    source: Sources | None = None
    tokens: slice | None = None

    def __post_init__(self) -> None:
        try:
            (self.tokens or slice(None)).indices(1)
        except (TypeError, ValueError):
            raise InputError(
                f"tokens is {self.tokens}: give a slice of integers whose step is not 0"
            ) from None

    def names(self, count: int) -> tuple[str, ...]:
        """The names of the `count` streams."""
        if self.source is None:
            return ("embedding", *(f"layer {i}" for i in range(1, count)))
        if callable(self.source):
            return tuple(f"stream {i}" for i in range(count))
        return tuple(self.source)

    def of(self, x: np.ndarray, y: np.ndarray, x_query: np.ndarray) -> Iterator[np.ndarray]:
        """Yields the stream (m, n + 1, D) of each layer, whose width D may depend on the layer."""
        wanted, i = (len(y), y.shape[1] + 1), -1
        for i, H in enumerate(self._all(*inputs_for(self.model, x, y, x_query))):
            names = self.source if isinstance(self.source, list | tuple) else None
            name = f"stream {i}" if names is None else f"the output of {names[i]}"
            stream = as_array(H, name)
            read = stream[:, self.tokens or slice(None)] if stream.ndim == 3 else stream
            if read.ndim != 3 or read.shape[:2] != wanted:
                if remedy := _causal(self.model):
                    raise InputError(
                        f"the model {self.model.name} predicts at the query only, not at the "
                        f"{wanted[1] - 1} examples of a prompt: {remedy}"
                    )
                selected = "" if self.tokens is None else f", {read.shape} at `tokens`,"
                raise InputError(
                    f"{name} has shape {stream.shape}{selected} for {wanted[0]} prompts of "
                    f"{wanted[1] - 1} examples: give streams of shape ({wanted[0]}, {wanted[1]}, "
                    "width), or select the tokens of the predictions by `tokens`"
                )
            yield read
        if i < 0:
            raise InputError("streams gives no layer: give the name of at least one module")

    def after(self, x: np.ndarray, y: np.ndarray, queries: np.ndarray) -> Iterator[np.ndarray]:
        """Yields the stream (m, T, D) of each layer at T queries (m, T, d) after the n examples.

        A causal transformer computes the keys and values of the examples once.
        """
        model, (m, T, d) = self.model, queries.shape
        if self.source is None and isinstance(model, Transformer) and model.is_causal:
            for H in _streams_after(model, x, y, queries.swapaxes(0, 1)):
                yield as_array(model.seen(H), "the stream")
            return
        x, y = (np.repeat(part, T, axis=0) for part in (x, y))
        for stream in self.of(x, y, queries.reshape(-1, d)):
            yield stream[:, -1].reshape(m, T, -1)

    def _all(self, *given: Any) -> Iterator[Any]:
        if self.source is None:
            if not hasattr(self.model, "representations"):
                raise InputError(
                    f"streams is None, and {shown(self.model)} is no model of this library: give "
                    "names of its modules, or a function that returns its streams"
                )
            return iter(self.model.representations(*given))
        if callable(self.source):
            found = called(self.source, self.model, *given, of=self.model, name="streams")
            if not isinstance(found, Iterable):
                raise InputError(
                    f"streams returns {shown(found)}: give a function that returns a list of arrays"
                )
            return iter(found)
        return iter(hooked(self.model, self.source, given))


def _causal(model: Any) -> str:
    """The remedy for a model of this library that predicts at queries only, or ""."""
    of = getattr(model, "interface", None)
    if not isinstance(model, Model) or not isinstance(of, Examples) or of.every_prefix:
        return ""
    call = getattr(model, "call", None)
    if call is not None and "causal" in inspect.signature(call.builder).parameters:
        return "build it with causal=True"
    return "compare its predictions, by outputs(model, prompts)"


def hooked(model: Any, names: Sequence[str], given: Sequence[Any]) -> list[Tensor]:
    """The outputs of submodules of a torch module in one call; of a tuple the first tensor."""
    if not isinstance(model, nn.Module):
        raise InputError(
            f"streams has names of modules, and the model is {shown(model)}: give a torch.nn.Module"
        )
    known, found = dict(model.named_modules()), {name: list[Any]() for name in names}
    if absent := [name for name in names if name not in known or not name]:
        raise InputError(
            f"streams has {absent[0]!r}, and the model has the modules "
            f"{shown_all(filter(None, known))}: give names of these"
        )
    hooks = [
        known[name].register_forward_hook(lambda _, __, out, name=name: found[name].append(out))
        for name in names
    ]
    try:
        called(model, *given)
    finally:
        for hook in hooks:
            hook.remove()
    if wrong := [name for name in names if len(found[name]) != 1]:
        raise InputError(
            f"module {wrong[0]!r} of streams runs {len(found[wrong[0]])} times in a call of the "
            "model: give modules that run once, or a function that returns the streams"
        )
    return [each[0] if isinstance(each, tuple) and each else each for (each,) in found.values()]


def inputs_for(model: Any, *arrays: np.ndarray) -> tuple[Any, ...]:
    """Copies of the arrays, as tensors in the dtype and on the device of a module from elsewhere.

    Integers, such as tokens, keep their dtype.
    Raises ValueError for a module with a tensor on the device meta, and for a module from elsewhere
    in training mode.
    """
    copies = tuple(each.copy() for each in arrays)  # for models that work in place
    if not isinstance(model, nn.Module):
        return copies
    tensors = (*model.named_parameters(), *model.named_buffers())
    if meta := [name for name, each in tensors if each.is_meta]:
        raise InputError(
            f"the model is on the device meta, without numbers ({meta[0]}): give it on the CPU"
        )
    if isinstance(model, Model):
        return copies
    if training := [name for name, each in model.named_modules() if each.training]:
        name = repr(training[0]) if training[0] else "the module"
        raise InputError(
            f"the model is in training mode ({name}): call model.eval(), so that it is a function"
        )
    numbers = (each for each in (*model.parameters(), *model.buffers()) if each.is_floating_point())
    like = next(numbers, torch.empty(0, dtype=torch.float64))
    given = map(torch.as_tensor, copies)
    numbers = (each.to(like.dtype) if each.is_floating_point() else each for each in given)
    return tuple(each.to(like.device) for each in numbers)


def require_several(name: str, found: Any) -> None:
    """Raises ValueError if the function `name` returned something else than several arrays."""
    if not isinstance(found, Iterable):
        raise InputError(f"{name} returns {shown(found)}: give a function that returns arrays")


def called(function: Any, *given: Any, of: Any = None, name: str = "") -> Any:
    """The result of a function or module; modules from elsewhere run without gradients.

    `of` is the model if the function is another one, and `name` is the name of the parameter by
    which a function was given. Errors become ValueError. A model of this library has no gradients,
    and raises ValueError itself.
    """
    model = function if of is None else of
    try:
        if isinstance(model, Model) or not isinstance(model, nn.Module):
            return function(*given)
        with torch.no_grad():
            return function(*given)
    except InputError:
        raise
    except FAILURES as error:
        if function is model and isinstance(model, Model):
            raise
        reason = " ".join(str(error).split())[:120]
        shapes = ", ".join(str(x.shape) for x in given if isinstance(x, np.ndarray))
        shapes += ", ".join(str(tuple(x.shape)) for x in given if isinstance(x, Tensor))
        what = f"{name}, {shown(function)}," if name else "the model"
        fitting = f"a function for {name}" if name else "a model of a form"
        raise InputError(
            f"{what} raises {type(error).__name__} ({reason}) for inputs of shape {shapes}: "
            f"give prompts of a size, and {fitting}, that fit"
        ) from error


def as_array(value: Any, name: str, dims: int = 0) -> np.ndarray:
    """A tensor of any dtype and device, or an array of at least `dims` axes, as finite float64."""
    if isinstance(value, Tensor):
        if value.is_meta:
            raise InputError(
                f"{name} is on the device meta, without numbers: give a tensor on the CPU"
            )
        value = value.detach().cpu()
        value = (value if value.is_complex() else value.to(torch.float64)).numpy()
    try:
        found = np.asarray(value)
        if found.dtype.kind == "c":
            raise TypeError("its imaginary part would be lost")
        found = found.astype(np.float64)
    except (TypeError, ValueError):
        raise InputError(
            f"{name} is {shown(value)}: give arrays or tensors of real numbers"
        ) from None
    if found.ndim < dims:
        raise InputError(
            f"{name} of the model is {shown(value)}: give a model with a number for each prompt"
        )
    if not np.isfinite(found).all():
        raise InputError(
            f"{name} of the model has entries that are not finite: give smaller inputs, or a model "
            "in a dtype of larger range"
        )
    return found


def check_model(run: Callable[..., Any], p: Prompts) -> None:
    """Raises ValueError for a model that is not deterministic, or whose tokens see their labels.

    `run` returns arrays of which axis 0 indexes prompts, and axis 1, if it has n + 1 entries, the
    predictions. On the same few prompts, two results may differ by at most √eps of float16, since
    parallel sums may differ in their last digits; dropout changes a fraction of the entries
    themselves. If the last label is far away, no prediction but that at the query may change.
    """
    few, n = (p.x[:FEW], p.y[:FEW], p.x_query[:FEW]), p.y.shape[1]
    far = few[1].copy()
    far[:, -1] += 10 * max(1.0, np.abs(far).max())
    results = zip(run(*few), run(*few), run(few[0], far, few[2]), strict=True)
    for first, second, other in results:
        if differ(first, second):
            raise InputError(
                "the model has two different outputs for the same prompts: give a deterministic "
                "model, in evaluation mode and with fixed seeds"
            )
        if first.shape[1:2] == (n + 1,) and differ(first[:, :n], other[:, :n]):
            raise InputError(
                f"the first {n} of {n + 1} tokens of the model depend on the label of the last "
                "example: give a causal model, and as `tokens` those that predict labels before "
                "they see them"
            )


def differ(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether two results of a model differ by more than parallel sums may, √eps of float16."""
    if first.shape != second.shape:
        return True
    allowed = np.sqrt(np.finfo(np.float16).eps) * np.abs(first).max(initial=0)
    return bool(np.abs(first - second).max(initial=0) > allowed)
