"""Search of a graph by chain of thought: two layers, and a token for each node that is found.

BOS stands at position 0.  The prompt are edges u → v, a token each, then the source; what is
decoded are the other nodes that can be reached from it, one by one, and then ⊥.  The embedding of
an edge is e_u − 2e_v in `edge`, that of a node x is e_x in `visited`, and position j is j in `j`.

Layer 1.  One head averages `visited` over the N ≤ T + 1 tokens up to each one and adds
C = 2^⌈log₂(T + 1)⌉ times that: a node that is among them has z ≥ C/N ≥ 1, any other 0.  The MLP
makes z − relu(z − 1) = min(1, z) of it.  Nothing is compared, so softmax is exact here; averages
are rounded, and z − 1 and z − (z − 1) are not: `visited` is 0 or 1.

Layer 2.  One head attends to the edge to follow, with M = T + 1:

    score M·(visited_u − 2·visited_v) − j        M − j ≥ 1 where u is visited and v is not;
                                                 0 at BOS; at most −1 at other edges and at nodes

Scores are integers, so the gap is 1: the largest is that of the first edge of the prompt that leads
from a visited node to another, or of BOS if there is none.
All scores are different, as 0 ≤ j < M: they are graded.  The head adds e_u − 2e_v to
`visited`, in which u is 1 and v is 0.

The unembedding is −visited, and 1 for ⊥: 2 at v and at most 0 elsewhere, or at most 0 at all nodes.

So |component| tokens at depth 2 replace ⌈log₃D⌉ layers of `tripling` or ⌈log₂D⌉ of `squaring`
without a chain of thought.  No error is passed on, as a decoded token is exact: the inverse
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
from constructions.stream import Map, Stream, one
from constructions.tokens import Tokens, average, rows_fit
from constructions.transformer import Transformer
from constructions.words import Unit
from theory import machine
from theory.graphs.adjacency import Pairs
from theory.graphs.search import search_steps
from theory.kinds import Count, InputError, Positive, Steps, array_of, checked, read, shown


class Edges(Tokens):
    """Nodes are the tokens 0 … n − 1, and the edge u → v is n + u·n + v.

    Raises ValueError as `Tokens`, and `generate` for a prompt without a node to begin with.
    """

    def __init__(self, nodes: int, max_length: int) -> None:
        V = nodes * (nodes + 1)
        super().__init__(V, max_length, prefix=(V,), answers=nodes, margin=1.0, bottom=True)
        self.nodes = nodes

    @checked
    def prompt(self, edges: Annotated[Any, Pairs()], source: Steps) -> list[int]:
        """The tokens of edges (m, 2), in their order, and of the source.

        Raises ValueError for numbers that are no nodes, and for more edges than the model was built
        for.
        """
        n, most = self.nodes, self.max_length - self.nodes
        for name, node in (("edges", int(edges.max(initial=0))), ("source", source)):
            if node >= n:
                raise InputError(f"{name} has node {node}: give nodes from 0 to {n - 1}")
        if len(edges) > most:
            raise InputError(
                f"the graph has {len(edges)} edges and the model was built for at most {most}: "
                f"build it again with edges={len(edges)}"
            )
        return [*(n + edges @ [n, 1]).tolist(), source]

    def found(self, tokens: ArrayLike) -> list[int]:
        """The nodes that decoded tokens (T,) are, up to the first ⊥.

        Raises ValueError for what is no one sequence of nodes and ⊥ = −1.
        """
        given = array_of("tokens", tokens)
        given = given.astype(np.int64) if given.shape == (0,) else given
        if given.ndim != 1 or given.dtype.kind not in "iu":
            shown = f"shape {given.shape} and dtype {given.dtype}"
            raise InputError(f"tokens have {shown}: give one sequence (T,) of integers")
        if given.size and not -1 <= given.min() <= given.max() < self.nodes:
            raise InputError(f"tokens are not all from −1 to {self.nodes - 1}: give decoded ones")
        listed = given.tolist()
        return listed[: listed.index(-1)] if -1 in listed else listed

    def generate(self, model: Model, tokens: ArrayLike, steps: int) -> Tensor:
        """`model.generate(tokens, steps)`."""
        given = self._tokens(model.like, (tokens,))
        if not bool((given < self.nodes).any(-1).all()):
            raise InputError(
                "the prompt has edges and no source: put a node behind them, "
                f"from 0 to {self.nodes - 1}"
            )
        if given.shape[-1] + read(Steps, "steps", steps) - 1 > self.max_length:
            raise InputError(
                f"{given.shape[-1]} tokens and {steps} steps are more than {self.max_length}: "
                f"{self.nodes} steps decode all that can be reached; for a longer prompt build the "
                "model again with more edges"
            )
        return super().generate(model, given, steps)


@construction
def search(
    nodes: Count, edges: Steps | None = None, *, sharpness: Positive | None = None
) -> Transformer:
    """The nodes that can be reached from a source, decoded one by one, then ⊥:

        model.interface.found(model.generate(model.interface.prompt(edges, source), n))

    2 layers of 1 head, width 2n + 1, n hidden neurons in the first layer; n² + n tokens, and at
    most T = edges + n of them in a row.  By default edges = n(n − 1): all there are, without loops.
    At every token the prediction is the end of the first edge so far that leads from a node so far
    to another; edges are directed, so that those of an undirected graph are given both ways.

    Raises ValueError for a sharpness that is too small, and for more than there is memory.
    """
    n, m = nodes, nodes * (nodes - 1) if edges is None else edges
    T, width = m + n, 2 * n + 1
    machine.fits_in_memory(
        f"the weights of {shown(n)} nodes and {shown(m)} edges",
        48 * width * (n * n + T + 1),
        "take fewer",
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
                [Unit(visited - one, "visited", -1.0)],
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
        source="proved in constructions/graphs/search.py",
    ).sharpened(sharpness)


def _visited(n: int, tokens: np.ndarray) -> np.ndarray:
    """The nodes so far."""
    return search_steps(tokens, n).visited


def _followed(n: int, tokens: np.ndarray) -> np.ndarray:
    """The nodes so far, and e_u − 2e_v of the edge that leads on."""
    steps = search_steps(tokens, n)
    return steps.visited + steps.followed


def _embedding(n: int) -> dict[str, np.ndarray]:
    """Nodes, edges and BOS: e_x in `visited`, e_u − 2e_v in `edge`."""
    u, v = np.divmod(np.arange(n * n), n)
    eye = np.eye(n)
    edge = np.vstack([np.zeros((n, n)), eye[u] - 2 * eye[v], np.zeros((1, n))])
    return {"visited": np.eye(n * n + n + 1, n), "edge": edge}
