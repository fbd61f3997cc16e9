"""Linear probes for stated contents in the residual stream of a model over tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from constructions.tokens import in_front
from constructions.transformer import Transformer
from theory.kinds import InputError, checked, shown
from verify.evidence.statistics import Mean
from verify.interpret.attention import Sequences
from verify.interpret.linear_probes import explained
from verify.interpret.models import Sources, as_array, called, hooked, inputs_for, require_several


@checked
def registers(
    model: Any, tokens: Sequences, contents: Mapping[str, Any], streams: Sources | None = None
) -> RegisterProbes:
    """How well stated contents can be read linearly from each layer of a model over tokens.

    `contents` maps names to arrays (m, T) or (m, T, w), the contents that are looked for at each of
    the T tokens of m sequences, for example a register of a hand-built model (`contents_of`). A
    probe is an affine map from the residual stream of a token to a content, the same at all
    positions, fitted by least squares to the first half of the sequences. Its R² is measured on the
    other half: 1 − (sum of squared errors)/(sum of squared deviations from the mean), with a
    standard error over sequences.

    The control task is the same probe for the contents of another sequence, the one before. It has
    the same positions, dimensions and distribution, but no relation to the tokens: what can be read
    of it depends on positions alone.

    The model is a transformer of this library; the first layer is the embedding. For any other
    `torch.nn.Module`, called with integers (m, T), `streams` gives the names of modules, or a
    function of (model, tokens) that returns the streams (m, T, D) of the layers.

    Raises `ValueError` for fewer than 4 sequences, for contents and streams of other shapes, and in
    the cases in which `probe` does.
    """
    m, T = tokens.shape
    if m < 4:
        raise InputError(f"tokens has {m} sequences: give at least 4, or 100")
    wanted = {name: _content(name, each, (m, T)) for name, each in contents.items()}
    if not wanted:
        raise InputError("contents is empty: give at least one content by its name")
    rows, half = list[dict[str, tuple[Mean, Mean]]](), m // 2
    for X in _streams(model, tokens, streams):
        rows.append(
            {
                name: (_r2(X, values, half), _r2(X, of_others(values, half), half))
                for name, values in wanted.items()
            }
        )
    if not rows:
        raise InputError("streams gives no layer: give the name of at least one module")
    found, control = (
        {name: tuple(row[name][k] for row in rows) for name in wanted} for k in range(2)
    )
    names = _names(model, streams) or tuple(f"stream {i}" for i in range(len(rows)))
    return RegisterProbes(names, found, control)


@dataclass(frozen=True)
class RegisterProbes:
    """The R² of linear probes for contents, and for the contents of another sequence.

    `layers` are the names of the layers. `found` and `control` map the name of each content to its
    R² after each layer; a content that is constant has the R² NaN.
    """

    layers: tuple[str, ...]
    found: dict[str, tuple[Mean, ...]]
    control: dict[str, tuple[Mean, ...]]

    def to_json(self) -> list[dict[str, Any]]:
        """The printed table as JSON values."""
        return [
            {"content": name, "layer": layer, **r2.value, "control": control.mean}
            for name, row in self.found.items()
            for layer, r2, control in zip(self.layers, row, self.control[name], strict=True)
        ]

    def __str__(self) -> str:
        lines = ["R² of linear probes (control: contents of another sequence)"]
        for row in self.to_json():
            r2 = f"{row['mean']:7.3f} ± {row['standard error']:.3f}"
            lines.append(f"  {row['content']:14} {row['layer']:12} {r2}  ({row['control']:.3f})")
        return "\n".join(lines)


@checked
def contents_of(model: Transformer, tokens: Sequences) -> dict[str, np.ndarray]:
    """The last contents (m, T, w) of each register of a hand-built model, on m sequences.

    Tokens that the model puts in front of a sequence, such as BOS, are left out.

    Raises `ValueError` for a model that is not over tokens.
    """
    front = in_front(model)
    *_, final = model.streams(*inputs_for(model, tokens))
    stream = final[:, front:].cpu().double().numpy()
    return {name: stream[..., model.stream[name]] for name in model.stream}


def _content(name: str, values: Any, shape: tuple[int, int]) -> np.ndarray:
    found = as_array(values, f"contents[{name!r}]")
    if found.shape[:2] != shape or found.ndim not in (2, 3) or not found.size:
        raise InputError(
            f"contents[{name!r}] has shape {found.shape} for {shape[0]} sequences of {shape[1]} "
            f"tokens: give an array of shape {shape} or ({shape[0]}, {shape[1]}, width)"
        )
    return found.reshape(*shape, -1)


def _streams(model: Any, tokens: np.ndarray, streams: Sources | None) -> Iterator[np.ndarray]:
    """The stream (m, T, D) after each layer."""
    given, front = inputs_for(model, tokens), 0
    found: Iterable[Any]
    if streams is None:
        if not isinstance(model, Transformer):
            raise InputError(
                f"streams is None, and {shown(model)} is no transformer of this library: give "
                "names of its modules, or a function that returns its streams"
            )
        front, found = in_front(model), model.streams(tokens)
    elif callable(streams):
        found = called(streams, model, *given, of=model, name="streams")
        require_several("streams", found)
    else:
        found = hooked(model, streams, given)
    for i, each in enumerate(found):
        stream = as_array(each, f"stream {i}")
        stream = stream[:, front:] if stream.ndim == 3 else stream
        if stream.ndim != 3 or stream.shape[:2] != tokens.shape:
            raise InputError(
                f"stream {i} of `streams` has shape {stream.shape}: give streams of shape "
                f"({tokens.shape[0]}, {tokens.shape[1]}, width)"
            )
        yield stream


def _names(model: Any, streams: Sources | None) -> tuple[str, ...]:
    if streams is None and isinstance(model, Transformer):
        return ("embedding", *(f"layer {i + 1}" for i in range(model.n_layers)))
    return () if streams is None or callable(streams) else tuple(streams)


def of_others(values: np.ndarray, half: int) -> np.ndarray:
    """The values of the sequence before, within each half: none is both fitted and measured."""
    return np.concatenate([np.roll(part, 1, axis=0) for part in (values[:half], values[half:])])


def _r2(X: np.ndarray, values: np.ndarray, half: int) -> Mean:
    return explained(X[:half], values[:half], X[half:], values[half:])
