"""The circuit of a model, derived from its tensors."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from constructions.blocks import check_own_heads
from constructions.circuits.edges import Edge, Node
from constructions.circuits.effects import Effects, effects
from constructions.circuits.weights import Product, Reader, Writer, parts, vanishes
from constructions.consistency import check_finite
from constructions.transformer import Transformer
from theory.kinds import Count, FilePath, InputError, Seed, checked, read, shown

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from networkx import MultiDiGraph


@dataclass(frozen=True)
class Circuit:
    """The circuit of a model: its nodes, and its edges writer → register → port of a reader.

    `nodes` and `edges` are sorted in the order of computation; `neurons` contains, for each node
    that is an MLP or a part of one, the numbers of its hidden neurons. `circuit` makes circuits and
    documents when there is an edge.
    """

    model: Transformer = field(repr=False)
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    neurons: Mapping[Node, np.ndarray] = field(repr=False, compare=False)

    @property
    def live_edges(self) -> tuple[Edge, ...]:
        """The edges on a path to the unembedding; no other edge has an effect on any output.

        This holds for all inputs, as the edges are the only direct connections.
        """
        alive, kept = {Node("unembed")}, list[Edge]()
        for edge in reversed(self.edges):  # the readers of a node come after the node
            if edge.target in alive:
                alive.add(edge.source)
                kept.append(edge)
        return tuple(reversed(kept))

    def edges_that_matter(
        self,
        max_length: int,
        *,
        samples: int | None = None,
        seed: Any = 0,
        most: int = 2**18,
    ) -> Effects:
        """Finds, by patching, the edges that change an answer and those that never do.

        An edge is patched by a change of the target's input at this port: the contribution that the
        source writes to the register is replaced by another. All other inputs of the target, and
        all other readers of the source, keep the original contribution; everything after the target
        is computed from the target's new output. The edge *matters* if an answer (the decoded
        output, −1 for ⊥) at any position changes in one of these interventions on a sequence x of
        at most `max_length` tokens:

            all tokens   the contributions at all tokens become those on another sequence x' of
                         the same length
            one token    the contribution at one token t becomes that at any token t' of any
                         sequence x'

        The second one is needed for contributions that depend only on positions, which are equal on
        all sequences of one length. The edges of `live_edges` are tried for all x, x', t and t';
        equal contributions are tried once. The result is exact for these interventions ("for all
        sequences of at most `max_length` tokens"), up to rounding of averages. With `samples`, x
        and x' are among this number of random sequences, drawn with `seed`: then an edge that never
        changed an answer is only observed not to. One line on standard error announces a search of
        more than a minute.

        Raises ValueError for a model that is not over tokens, for a `max_length` above that of the
        model, if an edge needs more than `most` patched sequences, whose number the message gives,
        and if the streams of all sequences need more than the available memory.
        """
        length = read(Count, "max_length", max_length)
        drawn = read(Count | None, "samples", samples)
        return effects(
            self.model,
            self.neurons,
            self.edges,
            self.live_edges,
            length,
            drawn,
            read(Seed, "seed", seed),
            read(Count, "most", most),
        )

    def to_networkx(self) -> MultiDiGraph:
        """The circuit as a `networkx.MultiDiGraph`; its nodes are the names of the nodes.

        Nodes have the attributes `kind`, `layer` and `index`; edges have `port` and `register`.
        Raises ValueError if networkx is not installed.
        """
        try:
            from networkx import MultiDiGraph
        except ImportError as error:
            raise InputError(
                f"networkx cannot be imported ({error}): run pip install networkx"
            ) from None
        graph = MultiDiGraph(name=self.model.name)
        for node in self.nodes:
            graph.add_node(str(node), kind=node.kind, layer=node.layer, index=node.index)
        for edge in self.edges:
            names = str(edge.source), str(edge.target)
            graph.add_edge(*names, port=edge.port, register=edge.register)
        return graph

    def draw(self, path: Any = None, *, effects: Any = None) -> Figure:
        """Returns a picture of the circuit, which is saved to `path` if it is given.

        Columns are nodes in the order of computation, and rows are registers. A triangle is a node
        that writes the register; Q, K, V, in and out are ports that read it, and a line connects a
        writer with its readers. With `effects`, the result of `edges_that_matter`, edges that
        change no answer are grey.

        Raises ValueError for effects of another circuit, for a path that ends in no format of
        pictures, and if the file cannot be written.
        """
        from constructions.circuits.picture import picture, save

        if effects is not None and not isinstance(effects, Effects):
            raise InputError(
                f"effects is {shown(effects)}: give the result of edges_that_matter, or None"
            )
        if effects is not None and {*effects.mattering, *effects.others} != {*self.edges}:
            raise InputError(
                f"effects is about other edges than those of {self.model.name}: give the result "
                "of edges_that_matter of this circuit"
            )
        figure = picture(self.model.name, self.nodes, self.edges, effects)
        if path is not None:
            save(figure, Path(read(FilePath, "path", path)))
        return figure

    def __str__(self) -> str:
        counts = f"{len(self.nodes)} nodes, {len(self.edges)} edges"
        return "\n".join([f"circuit of {self.model.name}: {counts}", *_listed(self.edges)])


def _listed(edges: tuple[Edge, ...]) -> Iterator[str]:
    """The edges as text, in one line for each port."""
    ports: dict[tuple[Node, str], list[Edge]] = {}
    for edge in edges:
        ports.setdefault((edge.target, edge.port), []).append(edge)
    for (target, port), into in ports.items():
        sources: dict[str, list[str]] = {}
        for edge in into:
            sources.setdefault(edge.register, []).append(str(edge.source))
        words = (f"{register} ({', '.join(names)})" for register, names in sources.items())
        where = f"{target}.{port}" if target.kind == "head" else str(target)
        yield f"  {where} ← {', '.join(words)}"


@checked
def circuit(model: Transformer, *, by_register: bool = False) -> Circuit:
    """The circuit of a model: which component reads what of which other.

    The nodes are the embedding, the positions, every head, every MLP, and the unembedding. With
    `by_register`, the hidden neurons of an MLP are grouped by the set of registers that they write,
    and each group is a node.

    Let w be a writer with output matrix O (W_E, W_pos, W_V W_O or W_out), and let A be the input
    matrix of a later port p (for Q: W_Q W_Kᵀ; see `constructions.circuits.weights`). There is an
    edge from w to p through the register r if and only if the product

        O[:, r] · A[r, :]

    is not 0. Every entry of the tensors is read as a rational number, so this decision is exact.

    *Theorem.* If there is no such edge, w has no direct effect on p through r: adding to the input
    of p, at every token, any vector of the row space of O, restricted to r, does not change the
    output of the reader, for any prompt of any length. *Proof.* Such a vector is u O[:, r], and it
    changes the scores, the values, the inputs of the hidden neurons with an effect, or the logits
    by u O[:, r] A[r, :] = 0 (times a factor), except that a query of a softmax or hardmax head may
    change all scores of a row by one number, which the normalisation ignores. ∎

    A reader behind a layer norm has an edge from every register that the writer can change, since
    the norm reads all coordinates; the theorem holds, but the condition is only sufficient for "no
    effect". The constants of biases belong to no node.

    Raises ValueError for weights that are not finite or on the device meta, and for a model that
    normalises its stream to unit norm, since a contribution is then rescaled by all others.
    """
    if any(block.norm is not None for block in model.blocks):
        raise InputError(
            f"model {model.name} normalises its stream, which is then no sum of contributions: "
            "give a model without unit norm"
        )
    check_own_heads(model)
    check_finite(model)
    writers, readers, neurons = parts(model, by_register)
    nodes = {each.node for each in writers} | {each.node for each in readers}
    edges = sorted(_edges(model, writers, readers))
    return Circuit(model, tuple(sorted(nodes)), tuple(edges), neurons)


def _edges(model: Transformer, writers: list[Writer], readers: list[Reader]) -> Iterator[Edge]:
    spans = {name: model.stream[name] for name in model.stream}
    writes = {
        (writer.node, name): (*writer.output[:-1], writer.output[-1][:, span])
        for writer in writers
        for name, span in spans.items()
    }
    writes = {key: output for key, output in writes.items() if not vanishes(output)}
    for reader in readers:
        if vanishes(reader.input):
            continue
        for (node, name), output in writes.items():
            if node.depth < reader.node.depth and _reads(reader, spans[name], output):
                yield Edge(node, reader.node, reader.port, name)


def _reads(reader: Reader, span: slice, output: Product) -> bool:
    first, *others = reader.input
    return reader.normed or (
        bool(first[span].any()) and not vanishes((*output, first[span], *others))
    )
