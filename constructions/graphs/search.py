"""Graph search by chain of thought: two layers, one CoT token for each node that is reached.

BOS is at position 0.  The prompt is a list of edges u → v, one token each, then the source.  The
model decodes the other nodes reachable from the source, one by one, and then ⊥.  The embedding of
an edge is e_u − 2e_v in `edge`, that of a node x is e_x in `visited`, and the embedding of position
j is j in `j`.

Layer 1.  One head averages `visited` over the N ≤ T + 1 tokens up to each position and adds C times
the average, C = 2^⌈log₂(T + 1)⌉: a node among these tokens has z ≥ C/N ≥ 1, any other node 0.  The
MLP computes z − relu(z − 1) = min(1, z).  Scores are constant, so softmax is exact here.  In
floating point averages are rounded, but z − 1 and z − (z − 1) are exact: `visited` is 0 or 1.

Layer 2.  One head attends to the edge to follow, with M = T + 1:

    score M·(visited_u − 2·visited_v) − j        M − j ≥ 1 where u is visited and v is not;
                                                 0 at BOS; at most −1 at other edges and at nodes

Scores are integers, so the gap is 1.  The largest score belongs to the first edge of the prompt
from a visited to an unvisited node, or to BOS if there is none.  All scores are different, as
0 ≤ j < M.  The head adds e_u − 2e_v to `visited`, in which u is 1 and v is 0.

Unembedding.  The logit of a node is −visited, that of ⊥ is 1.  If an edge u → v is followed, the
logit of v is 2 and those of other nodes are at most 0; else the logits of all nodes are at most 0.

So |component| tokens at depth 2 replace ⌈log₃D⌉ layers of `tripling` or ⌈log₂D⌉ of `squaring`
without a chain of thought.  Decoded tokens are exact, so errors do not accumulate: the inverse
temperature that softmax needs depends on neither n nor T.
"""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from torch import Tensor

from constructions.assembly import Head, block, rows, unembed
from constructions.blocks import Embed, PosEmbed, Stage
from constructions.call import construction
from constructions.interface import Model
from constructions.margins import Margin
from constructions.primitives import ReLU
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, average, rows_fit
from constructions.transformer import Transformer
from theory import machine
from theory.graphs.adjacency import Pairs
from theory.graphs.search import search_steps
from theory.kinds import Count, InputError, Positive, Steps, array_of, checked, read, shown


class Edges(Tokens):
    """The interface of graph search on n nodes: the prompt is a list of edges and a source.

    Tokens 0 … n − 1 are nodes, and token n + u·n + v is the edge from node u to node v. Raises
    ValueError as `Tokens` does; `generate` also raises ValueError for a prompt without a source.
    """

    def __init__(self, n_nodes: int, max_length: int) -> None:
        V = n_nodes * (n_nodes + 1)
        super().__init__(V, max_length, prefix=(V,), answers=n_nodes, margin=1.0, bottom=True)
        self.n_nodes = n_nodes

    @checked
    def prompt(self, edges: Annotated[Any, Pairs()], source: Steps) -> list[int]:
        """The prompt: the tokens of the m edges (m, 2), in the given order, then the source.

        Raises ValueError for a node outside the graph, and for more edges than the model was built
        for.
        """
        n, most = self.n_nodes, self.max_length - self.n_nodes
        for name, node in (("edges", int(edges.max(initial=0))), ("source", source)):
            if node >= n:
                raise InputError(f"{name} has node {node}: give nodes from 0 to {n - 1}")
        if len(edges) > most:
            raise InputError(
                f"the graph has {len(edges)} edges and the model was built for at most {most}: "
                f"build the model with n_edges={len(edges)}"
            )
        return [*(n + edges @ [n, 1]).tolist(), source]

    def found(self, tokens: ArrayLike) -> list[int]:
        """The nodes that were decoded: the tokens before the first ⊥ in a sequence (T,).

        Raises ValueError for tokens that are not one sequence of nodes and of ⊥, which is −1.
        """
        given = array_of("tokens", tokens)
        given = given.astype(np.int64) if given.shape == (0,) else given
        if given.ndim != 1 or given.dtype.kind not in "iu":
            shown = f"shape {given.shape} and dtype {given.dtype}"
            raise InputError(f"tokens have {shown}: give one sequence (T,) of integers")
        if given.size and not -1 <= given.min() <= given.max() < self.n_nodes:
            raise InputError(
                f"tokens contain numbers outside −1 … {self.n_nodes - 1}: give tokens that "
                "the model decoded"
            )
        listed = given.tolist()
        return listed[: listed.index(-1)] if -1 in listed else listed

    def generate(self, model: Model, tokens: ArrayLike, steps: int) -> Tensor:
        """The next `steps` tokens after the prompt `tokens`, decoded greedily; see
        `model.generate`.
        """
        (given,) = self.check(read(Model, "model", model).like, tokens)
        if not bool((given < self.n_nodes).any(-1).all()):
            raise InputError(
                f"the prompt has no source: append a node from 0 to {self.n_nodes - 1}"
            )
        if given.shape[-1] + read(Steps, "steps", steps) - 1 > self.max_length:
            raise InputError(
                f"{given.shape[-1]} tokens and {steps} steps exceed the maximum length "
                f"{self.max_length}: give at most {self.n_nodes} steps, or build the model with a "
                "larger n_edges"
            )
        return super().generate(model, given, steps)


@construction
def search(
    n_nodes: Count, n_edges: Steps | None = None, *, sharpness: Positive | None = None
) -> Transformer:
    """A transformer that decodes the nodes reachable from a source, one by one, and then ⊥.

    The symbol ⊥ means that no node is left. The reachable nodes are given by

        model.interface.found(model.generate(model.interface.prompt(edges, source), n))

    where `edges` is a list of pairs (u, v) of nodes. After every token the model predicts a node v.
    It is the end of the first edge u → v in the sequence so far such that u is among the nodes so
    far and v is not. If there is no such edge, the model predicts ⊥. Edges are directed: give each
    edge of an undirected graph in both directions.

    The model has 2 layers of 1 head, width 2n + 1 for n = `n_nodes`, n hidden neurons in the first
    layer, and a vocabulary of n² + n tokens. Sequences have at most `n_edges` + n tokens. By
    default `n_edges` is n(n − 1), the number of directed edges without loops.

    Raises ValueError if (a) the sharpness (the inverse temperature of softmax) is too small, or (b)
    the weights do not fit in memory.
    """
    n, m = n_nodes, n_nodes * (n_nodes - 1) if n_edges is None else n_edges
    T, width = m + n, 2 * n + 1
    machine.fits_in_memory(
        f"the weights of {shown(n)} nodes and {shown(m)} edges",
        48 * width * (n * n + T + 1),
        "give fewer nodes or edges",
    )
    rows_fit(T + n * n)
    stream = Stream(visited=n, edge=n, j=1)
    stream.fits(2)
    visited, edge, j = map(stream.read, stream)
    C, M = 2.0 ** T.bit_length(), T + 1.0
    follow = Head((M * visited, -one), (edge, j), edge, "visited", margin=Margin(1.0))
    interface = Edges(n, T)
    return Transformer(
        Embed(rows(stream, **_embedding(n))),
        [
            block(
                stream,
                [average(C * visited, "visited")],
                [ReLU(visited - one, "visited", -1.0)],
                normalise="hardmax",
                mask="causal",
            ),
            block(stream, [follow], normalise="hardmax", mask="causal"),
        ],
        unembed(stream, visited @ Map(-np.eye(n, n + 1), "−nodes"), bias=np.eye(n + 1)[n]),
        pos_embed=PosEmbed(rows(stream, j=np.arange(T + 1))),
        interface=interface,
        stream=stream,
        stages=(
            Stage(1, "visited", partial(_visited, n)),
            Stage(2, "visited", partial(_followed, n)),
        ),
        at_most={"visited": 2.0},
        source="[MS2024] for chains of thought of linear length",
    ).sharpened(sharpness)


def _visited(n: int, tokens: np.ndarray) -> np.ndarray:
    """The layer invariant of `visited` after layer 1: the nodes so far."""
    return search_steps(tokens, n).visited


def _followed(n: int, tokens: np.ndarray) -> np.ndarray:
    """The layer invariant of `visited` after layer 2: the nodes so far, plus e_u − 2e_v of the edge
    that is followed."""
    steps = search_steps(tokens, n)
    return steps.visited + steps.followed


def _embedding(n: int) -> dict[str, np.ndarray]:
    """The embeddings of nodes, e_x in `visited`, of edges, e_u − 2e_v in `edge`, and of BOS, 0."""
    u, v = np.divmod(np.arange(n * n), n)
    eye = np.eye(n)
    edge = np.vstack([np.zeros((n, n)), eye[u] - 2 * eye[v], np.zeros((1, n))])
    return {"visited": np.eye(n * n + n + 1, n), "edge": edge}
