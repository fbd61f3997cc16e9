"""Mutants of tensors: of heads, MLPs, embeddings, position tables, unembeddings and entries.

A place is "layer 2, head 1", "layer 3, MLP", "embedding", "positions" or "unembedding".  A mutation
is a place and a kind of mistake; it maps a model that has the place to a copy with the mistake.
Layers that share their weights are one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from torch import Tensor

from constructions.transformer import Transformer


def _times(factor: float, *names: str) -> Callable[[dict[str, Tensor]], None]:
    def change(weights: dict[str, Tensor]) -> None:
        for name in names:
            weights[name] *= factor

    return change


def _rolled(name: str, axis: int) -> Callable[[dict[str, Tensor]], None]:
    def change(weights: dict[str, Tensor]) -> None:
        weights[name].copy_(weights[name].roll(1, dims=axis))

    return change


def _of_first_coordinate(weights: dict[str, Tensor]) -> None:
    for name in ("W_Q", "W_K"):
        weights[name][0] += 1


Change = Callable[[dict[str, Tensor]], None]
KINDS: dict[str, dict[str, Change]] = {
    "head": {
        "wrong sign": _times(-1, "W_O"),
        "wrong power of two": _times(2, "W_O"),
        "swapped register": _rolled("W_V", 0),
        "another query": _rolled("W_Q", 0),
        "stray score": _of_first_coordinate,
        "half the scores": _times(0.5, "W_Q", "b_Q"),
    },
    "MLP": {
        "wrong sign": _times(-1, "W_out", "b_out"),
        "wrong power of two": _times(2, "W_out"),
        "swapped register": _rolled("W_in", 0),
        "wrong place": _rolled("W_out", 1),
    },
    "embedding": {
        "wrong sign": _times(-1, "W_E"),
        "wrong power of two": _times(2, "W_E"),
        "swapped register": _rolled("W_E", 1),
        "swapped rows": _rolled("W_E", 0),
    },
    "positions": {
        "wrong sign": _times(-1, "W_pos"),
        "wrong power of two": _times(2, "W_pos"),
        "swapped register": _rolled("W_pos", 1),
        "off by one": _rolled("W_pos", 0),
    },
    "unembedding": {
        "wrong sign": _times(-1, "W_U"),
        "wrong power of two": _times(2, "W_U"),
        "swapped register": _rolled("W_U", 0),
        "swapped answers": _rolled("W_U", 1),
    },
}


@dataclass(frozen=True)
class TensorFault:
    """A mutation of a model: a kind of mistake at a place, such as "layer 2, head 1"."""

    place: str
    kind: str

    def __call__(self, model: Transformer) -> Transformer:
        """A copy of the model with the mistake; the model itself if it has no such place."""
        if self.place not in dict(_places(model)):
            return model
        faulty = deepcopy(model)
        KINDS[_sort(self.place)][self.kind](dict(_places(faulty))[self.place])
        return faulty

    def __str__(self) -> str:
        return f"{self.kind} in {self.place}"


@dataclass(frozen=True)
class EntryFault:
    """A mutation of one entry of one tensor, in all models of a construction with this entry."""

    construction: str
    tensor: str
    index: tuple[int, ...]
    kind: str

    def __call__(self, model: Transformer) -> Transformer:
        """A copy with the changed entry, or the model itself if it does not have the entry."""
        weights = dict(model.named_parameters()).get(self.tensor)
        if model.construction != self.construction or weights is None:
            return model
        sizes = zip(self.index, weights.shape, strict=True)
        if not all(place < size for place, size in sizes):
            return model
        faulty = deepcopy(model)
        weights = dict(faulty.named_parameters())[self.tensor]
        weights[self.index] = ENTRY_CHANGES[self.kind](weights[self.index])
        return faulty

    def __str__(self) -> str:
        return f"{self.kind} in {self.tensor}[{', '.join(map(str, self.index))}]"


ENTRY_CHANGES: dict[str, Callable[[Tensor], Tensor]] = {
    "the other sign": lambda value: -value,
    "a factor of 2": lambda value: 2 * value,
    "1 more": lambda value: value + 1,
}


def faults_in(models: list[Transformer]) -> list[TensorFault]:
    """All mutations of these models, at all places."""
    places = dict.fromkeys(place for model in models for place, _ in _places(model))
    return [TensorFault(place, kind) for place in places for kind in KINDS[_sort(place)]]


def random_entry(rng: np.random.Generator, models: list[Transformer]) -> tuple[str, EntryFault]:
    """A random change of one entry of a random tensor of one of these models, and its name.

    Changes of sign and by a factor apply only to entries that are not 0.
    """
    model = models[rng.integers(len(models))]
    tensors = {
        name: weights.numpy()
        for name, weights in model.named_parameters()
        if not name.startswith("interface.") and weights.numel()
    }
    name = list(tensors)[rng.integers(len(tensors))]
    kind = list(ENTRY_CHANGES)[rng.integers(len(ENTRY_CHANGES))]
    filled = np.argwhere(tensors[name])
    if kind == "1 more" or not len(filled):
        kind, filled = "1 more", np.argwhere(np.ones_like(tensors[name]))
    index = tuple(map(int, filled[rng.integers(len(filled))]))
    return model.name, EntryFault(model.construction, name, index, kind)


def fingerprint(model: Transformer) -> bytes:
    """A hash of a model's name and weights."""
    digest = sha256(model.name.encode())
    for weights in model.parameters():
        digest.update(weights.detach().numpy().tobytes())
    return digest.digest()


def _sort(place: str) -> str:
    return "head" if ", head " in place else place.rsplit(", ", 1)[-1]


def _places(model: Transformer) -> Iterator[tuple[str, dict[str, Tensor]]]:
    """The places of a model and their tensors; the first of layers that share weights."""
    yield "embedding", {"W_E": model.embed.W_E}
    if model.pos_embed is not None:
        yield "positions", {"W_pos": model.pos_embed.W_pos}
    met = set[int]()
    for number, block in enumerate(model.blocks, start=1):
        if block.attn is not None and id(block.attn) not in met:
            met.add(id(block.attn))
            names = ("W_Q", "W_K", "W_V", "W_O", "b_Q", "b_K")
            for h in range(block.attn.n_heads):
                yield f"layer {number}, head {h + 1}", {n: getattr(block.attn, n)[h] for n in names}
        if block.mlp is not None and id(block.mlp) not in met and len(block.mlp.b_in):
            met.add(id(block.mlp))
            yield f"layer {number}, MLP", dict(block.mlp.named_parameters())
    yield "unembedding", {"W_U": model.unembed.W_U}
