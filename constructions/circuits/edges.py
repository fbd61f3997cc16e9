"""The nodes and edges of a circuit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import total_ordering
from typing import Literal

Part = Literal["embed", "positions", "head", "mlp", "unembed"]
Port = Literal["Q", "K", "V", "MLP", "logits"]

PARTS: tuple[Part, ...] = ("embed", "positions", "head", "mlp", "unembed")
PORTS: tuple[Port, ...] = ("Q", "K", "V", "MLP", "logits")
LAST = 2**62  # a layer behind all layers


@total_ordering
@dataclass(frozen=True)
class Node:
    """A component of a model that writes to or reads from the residual stream.

    `kind` is "embed" (the embedding of tokens), "positions" (that of positions), "head", "mlp" or
    "unembed". Layers are numbered from 1, as in a printed model, and heads from 0. The `index` of
    an MLP is None, or the number of a group of its hidden neurons. As text, nodes are "embed",
    "pos", "L2.H0", "L3.MLP", "L3.MLP1" and "unembed". The order is that of computation.
    """

    kind: Part
    layer: int | None = None
    index: int | None = None

    @property
    def depth(self) -> tuple[int, int]:
        """The place in the order of computation; nodes of equal depth do not read each other."""
        if self.layer is None:
            return (LAST, 0) if self.kind == "unembed" else (0, 0)
        return self.layer, int(self.kind == "mlp")

    @property
    def _key(self) -> tuple[int, int, int, int]:
        return (*self.depth, PARTS.index(self.kind), -1 if self.index is None else self.index)

    def __lt__(self, other: Node) -> bool:
        return self._key < other._key if isinstance(other, Node) else NotImplemented

    def __str__(self) -> str:
        if self.layer is None:
            return "pos" if self.kind == "positions" else self.kind
        name = {"head": "H", "mlp": "MLP"}[self.kind]
        return f"L{self.layer}.{name}{'' if self.index is None else self.index}"


@total_ordering
@dataclass(frozen=True)
class Edge:
    """A direct connection: the source writes to a register, which the target reads at a port.

    Ports are "Q", "K" and "V" (the query, key and value of a head), "MLP" (the input of an MLP) and
    "logits" (the input of the unembedding). As text: "L1.H0 → L2.H0.K [previous]".
    """

    source: Node
    target: Node
    port: Port
    register: str

    @property
    def _key(self) -> tuple[Node, int, Node, str]:
        return self.target, PORTS.index(self.port), self.source, self.register

    def __lt__(self, other: Edge) -> bool:
        return self._key < other._key if isinstance(other, Edge) else NotImplemented

    def __str__(self) -> str:
        port = f".{self.port}" if self.target.kind == "head" else ""
        return f"{self.source} → {self.target}{port} [{self.register}]"


def wires(nodes: Sequence[Node], edges: Sequence[Edge]) -> dict[str, tuple[int, int]]:
    """The first writer and the last reader of each register, as numbers of nodes.

    Registers are in the order in which a picture shows them: by first writer, then by last reader.
    """
    number = {node: i for i, node in enumerate(nodes)}
    ends: dict[str, list[int]] = {}
    for edge in edges:
        ends.setdefault(edge.register, []).extend([number[edge.source], number[edge.target]])
    spans = {register: (min(own), max(own)) for register, own in ends.items()}
    return dict(sorted(spans.items(), key=lambda each: each[1]))
