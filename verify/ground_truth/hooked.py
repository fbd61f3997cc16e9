"""A translated model in TransformerLens, and runs in which single edges are changed.

The stream at a node's input is the sum of the outputs of all earlier nodes.  An edge is a source, a
target and a port of the target: the input of its queries, keys or values, of an MLP, or of the
unembedding.  Without layer norms each of these reads the stream linearly, so that a change of the
stream that one port alone sees is a change of what TransformerLens' hook at this port transmits.

Shapes: m prompts, T tokens (with those in front of a prompt), D = d_model of the bridge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import torch
from torch import Tensor

from constructions.circuits import Node
from constructions.circuits.edges import Port

ROWS = 2**11  # prompts in one forward pass of `metrics`
HEAD: tuple[Port, ...] = ("Q", "K", "V")
Hook = tuple[str, Callable[[Tensor, Any], Tensor | None]]


class Link(NamedTuple):
    """A source, a target and a port of the target: an edge through whichever registers."""

    source: Node
    target: Node
    port: Port


class Hooked:
    """A bridge of TransformerLens, m pairs of prompts, and runs with changes of single edges.

    `bridge` is the result of `to_lens`, and `clean` and `corrupted` (m, T) are the tokens of the
    pairs; `answered` are the tokens whose logits are answers. `weights` (m, T, outputs) defines the
    metric (m,), the sum of the logits with these weights: the logit of the clean answer less that
    of the corrupted answer, at the tokens at which these answers differ. `nodes` are the nodes of
    the model, `sources` all of these but the unembedding, `targets` all pairs of a node and one of
    its ports, and `links` all pairs of a source and a target after it. Which of them matter is what
    a method is to find.
    """

    def __init__(
        self,
        bridge: Any,
        nodes: tuple[Node, ...],
        clean: Tensor,
        corrupted: Tensor,
        weights: Tensor,
        answered: slice,
    ) -> None:
        self.bridge, self.nodes, self.answered = bridge, nodes, answered
        self.clean, self.corrupted, self.weights = clean, corrupted, weights
        self.links = tuple(_links(nodes))
        self.sources = tuple(node for node in nodes if node.kind != "unembed")
        self.targets = tuple(dict.fromkeys((link.target, link.port) for link in self.links))

    def metric(self, tokens: Tensor, *hooks: Hook) -> Tensor:
        """The metric (m,) at tokens (m, T), with hooks of TransformerLens."""
        return (self._logits(tokens, *hooks) * self.weights).sum((1, 2))

    def metrics(self, tokens: Tensor, hooks: Sequence[Hook]) -> Tensor:
        """The metrics (hooks, m) at tokens (m, T), with one of the hooks each; in large batches."""
        m, size, found = len(tokens), max(1, ROWS // len(tokens)), []
        for start in range(0, len(hooks), size):
            chunk = hooks[start : start + size]
            logits = self._logits(tokens.repeat(len(chunk), 1), *_one_each(chunk, m))
            found.append((logits.unflatten(0, (len(chunk), m)) * self.weights).sum((2, 3)))
        return torch.cat(found)

    def answers(self, tokens: Tensor, *hooks: Hook) -> Tensor:
        """The answers (k, answers) at tokens (k, T), with hooks of TransformerLens."""
        return self._logits(tokens, *hooks)[:, self.answered].argmax(-1)

    def _logits(self, tokens: Tensor, *hooks: Hook) -> Tensor:
        logits: Tensor = self.bridge.run_with_hooks(tokens, fwd_hooks=[*hooks])
        return logits

    def outputs(self, tokens: Tensor) -> dict[Node, Tensor]:
        """What each source adds to the stream at tokens (m, T): arrays (m, T, D)."""
        with torch.no_grad():
            _, cache = self.bridge.run_with_cache(tokens)
        found = {}
        for node in self.sources:
            if node.kind == "head":
                z = cache[f"{_block(node)}.attn.hook_z"][:, :, node.index]
                found[node] = z @ self._columns(node, "o").T
            else:
                found[node] = cache[_output(node)].expand(len(tokens), -1, -1)
        return found

    def changed_output(self, node: Node, change: Tensor) -> Hook:
        """The hook that adds `change` (m, T, D) to the output of a node."""
        return _output(node), lambda value, hook: value + change

    def changed_input(self, target: Node, port: Port, change: Tensor) -> Hook:
        """The hook that adds `change` (m, T, D) to the stream that one port sees."""
        if port not in HEAD:
            return _input(target, port), lambda value, hook: value + change

        def at_head(value: Tensor, hook: Any) -> Tensor:
            value = value.clone()
            value[:, :, target.index] += change @ self._columns(target, port.lower()).T
            return value

        return _input(target, port), at_head

    def gradients(self, tokens: Tensor, *hooks: Hook) -> dict[tuple[Node, Port], Tensor]:
        """The gradient (m, T, D) of the metric by the stream that each port sees."""
        names = dict.fromkeys(_input(*each) for each in self.targets)
        kept: dict[str, Tensor] = {}

        def keep(name: str) -> Hook:
            # The bridge hands a reshaped copy to its hooks: only what a hook returns is read on.
            def seen(value: Tensor, hook: Any) -> Tensor:
                kept[name] = value.clone()
                return kept[name]

            return name, seen

        total = self.metric(tokens, *hooks, *map(keep, names)).sum()
        slopes = torch.autograd.grad(total, [kept[name] for name in names], allow_unused=True)
        slope = {
            name: torch.zeros_like(kept[name]) if each is None else each.detach()
            for name, each in zip(names, slopes, strict=True)
        }
        return {
            (target, port): slope[_input(target, port)][:, :, target.index]
            @ self._columns(target, port.lower())
            if port in HEAD
            else slope[_input(target, port)]
            for target, port in self.targets
        }

    def _columns(self, node: Node, part: str) -> Tensor:
        """The weights of one head: (d_head, D) of q, k and v, and (D, d_head) of o."""
        weight = getattr(self.bridge.blocks[(node.layer or 1) - 1].attn, part).weight.detach()
        size, index = self.bridge.cfg.d_head, node.index or 0
        of_head = slice(index * size, (index + 1) * size)
        return weight[:, of_head] if part == "o" else weight[of_head]


def _one_each(hooks: Sequence[Hook], m: int) -> Iterator[Hook]:
    """Hooks of a batch of len(hooks)·m prompts, whose i-th m prompts the i-th hook changes."""
    places: dict[str, list[int]] = {}
    for i, (name, _) in enumerate(hooks):
        places.setdefault(name, []).append(i)

    def changed(name: str) -> Hook:
        def seen(value: Tensor, hook: Any) -> Tensor:
            value = value.expand(len(hooks) * m, *value.shape[1:]).clone()
            for i in places[name]:
                rows = slice(i * m, (i + 1) * m)
                new = hooks[i][1](value[rows], hook)
                value[rows] = value[rows] if new is None else new
            return value

        return name, seen

    return map(changed, places)


def _links(nodes: tuple[Node, ...]) -> Iterator[Link]:
    ports: Mapping[str, tuple[Port, ...]] = {"head": HEAD, "mlp": ("MLP",), "unembed": ("logits",)}
    for target in nodes:
        for port in ports.get(target.kind, ()):
            yield from (Link(each, target, port) for each in nodes if each.depth < target.depth)


def _block(node: Node) -> str:
    return f"blocks.{(node.layer or 1) - 1}"


def _output(node: Node) -> str:
    """The hook with what a node adds to the stream; for a head, with all heads of its layer."""
    names = {"embed": "hook_embed", "positions": "hook_pos_embed"}
    parts = {"head": "hook_attn_out", "mlp": "hook_mlp_out"}
    return names.get(node.kind) or f"{_block(node)}.{parts[node.kind]}"


def _input(node: Node, port: Port) -> str:
    """The hook with what a port reads; for a head, that of all heads of its layer."""
    if port in HEAD:
        return f"{_block(node)}.attn.hook_{port.lower()}"
    return "unembed.hook_in" if port == "logits" else f"{_block(node)}.mlp.hook_in"
