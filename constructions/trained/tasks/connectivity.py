"""The task connectivity: which pairs of nodes of a random graph are connected."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import torch
from torch import Generator, Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from constructions.graphs import random_graphs
from constructions.graphs.graph import Graph
from constructions.interface import Model
from constructions.seeds import TorchSeed, torch_generator
from constructions.trained.configuration import presets
from constructions.trained.disentangled import DisentangledShape
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, Task, Training
from constructions.trained.transformers import TransformerShape
from theory import machine
from theory.graphs import two_chain, two_clique
from theory.kinds import Choice, Count, CountFrom2, InputError, OpenUnit, Steps, checked

REACH = 3  # the distance up to which one layer decides connectivity
GRAPHS = "all", "within", "beyond"
ATTEMPTS = 1000  # rounds of rejection sampling before ValueError


@checked
@dataclass(frozen=True)
class Connectivity(Task, kind="connectivity"):
    """The task of finding the connected pairs of nodes of a random graph [Ye2026].

    Graphs are Erdős–Rényi graphs ER(n, p) with loops at all nodes. `graphs` is "all" for all such
    graphs, "within" for graphs in which every connected pair is within distance 3, and "beyond" for
    graphs with a connected pair beyond distance 3. The distribution is invariant under relabelling
    of the nodes, so the numbers of the nodes are random in every graph.
    """

    n: CountFrom2
    p: OpenUnit
    graphs: Annotated[str, Choice(GRAPHS)] = "all"

    models = "transformer", "disentangled"

    def __post_init__(self) -> None:
        if self.graphs == "beyond" and self.n < REACH + 2:
            raise InputError(
                f"n is {self.n}, but two nodes at a distance above {REACH} exist only in "
                f"graphs of at least {REACH + 2} nodes: give n ≥ {REACH + 2}"
            )

    def form(self, shape: Shape) -> Form:
        return Form(Graph(self.n), self.n, self.n, mask="full")

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers, self.graphs]

    @checked
    def random_graphs(self, count: Count, seed: TorchSeed) -> Tensor:
        """Returns `count` graphs of the task as adjacency matrices (count, n, n), float32.

        They are on the device of `seed`, and drawn by rejection sampling, `count` graphs in each
        round.

        Raises ValueError if 1000 rounds do not suffice or the graphs do not fit into memory.
        """
        machine.fits_in_memory(
            f"{count} graphs of {self.n} nodes", 16 * count * self.n**2, "give fewer graphs"
        )
        found, missing = list[Tensor](), count
        for _ in range(ATTEMPTS):
            A = self._random(count, seed)
            if self.graphs != "all":
                A = A[within_reach(A) == (self.graphs == "within")]
            found.append(A)
            missing -= len(A)
            if missing <= 0:
                return torch.cat(found)[:count]
        only = (
            "all connected pairs within" if self.graphs == "within" else "a connected pair beyond"
        )
        raise InputError(
            f"p is {self.p:g}, but almost no graph of {self.n} nodes with this edge "
            f"probability has {only} distance {REACH}: give another p"
        )

    def _random(self, count: int, generator: Generator) -> Tensor:
        """Erdős–Rényi graphs ER(n, p), as adjacency matrices with loops (count, n, n)."""
        size, device = (count, self.n, self.n), generator.device
        upper = (torch.rand(size, generator=generator, device=device) < self.p).triu(1)
        return (upper | upper.mT | torch.eye(self.n, dtype=torch.bool, device=device)).float()

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns adjacency matrices A and connected pairs R, both (count, n, n) of 0 and 1.

        Graphs have n nodes, and R[g, i, j] is 1 if graph g has a path from node i to node j.
        """
        A = self.random_graphs(count, seed)
        return A, connected(A)

    def loss(self, model: Model, *batch: Tensor) -> Tensor:
        """The binary cross-entropy over all pairs of nodes, with the model's outputs as logits."""
        A, R = batch
        return binary_cross_entropy_with_logits(model.run(model.interface.write(torch, A)), R)

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields the fraction of graphs for which all pairs are right.

        The graphs are those of the task and two fixed families, 2Chain and 2Clique, with randomly
        permuted nodes.
        """
        A = self.random_graphs(prompts, seed)
        inside, right = within_reach(A), all_right(model, A)
        yield f"{prompts} graphs: all pairs are right in {percent(right)}"
        for which, where in ((inside, "within"), (~inside, "with a pair beyond")):
            if bool(which.any()):
                yield f"graphs {where} distance {REACH}: {percent(right[which])}"
        orders = torch.rand((prompts, self.n), generator=torch_generator(seed)).argsort(-1)
        for name, family in (("2Chain", two_chain), ("2Clique", two_clique)):
            graph = torch.as_tensor(family(self.n))
            relabelled = graph[orders[:, :, None], orders[:, None, :]]
            yield f"{name}, relabelled: {percent(all_right(model, relabelled))}"
        yield "best possible: 100.00%"


def connected(A: Tensor) -> Tensor:
    """The matrix (…, n, n) whose entry (i, j) is 1 if there is a path from node i to node j, or 0.

    A (…, n, n) is the adjacency matrix of a graph of n nodes, and the result has the dtype of A.
    """
    return random_graphs.connected(A).to(A)


def within_reach(A: Tensor) -> Tensor:
    """Whether all connected pairs of nodes are within distance 3, (…,), for graphs A (…, n, n)."""
    return ((A @ A @ A > 0).to(A) == connected(A)).all(-1).all(-1)


def all_right(model: Model, A: Tensor) -> Tensor:
    """Whether the model is right for all pairs of nodes of each of m graphs, (m,).

    A (m, n, n) contains the adjacency matrices of the graphs, which have n nodes.
    """
    parts = [(model(part) == connected(part)).all(-1).all(-1) for part in A.split(CHUNK)]
    return torch.cat(parts)


def percent(right: Tensor) -> str:
    """The percentage of entries that are True, as text."""
    return f"{float(right.double().mean()):.2%}"


LEARNED = {"steps": 2000, "learning_rate": 1e-3, "batch_size": 256, "weight_decay": 0.01}
PROJECTED = {"steps": 2500, "learning_rate": 1e-2, "batch_size": 512, "final_rate": 0.01}
FREE = {"steps": 6000, "learning_rate": 2e-2, "batch_size": 256, "final_rate": 0.0}
ER8 = Connectivity(8, 0.2)
PRESETS = presets(
    small=(ER8, LEARNED, TransformerShape(1, 1, 64, 128)),
    channels=(ER8, PROJECTED, DisentangledShape(1, two_channel=True)),
    dense=(ER8, FREE | {"weight_decay": 1e-4}, DisentangledShape(1, two_channel=False)),
)
