"""Points to lay out and to look up: a data network and query networks, trained together.

Laws of points and queries are those of `laws.py`.  Training follows the networks' own path, and
what is lowered is one of

    each     at every lookup −log π_i(nearest), of queries that have not been found; a lookup goes
             to the argmax, and in a share that falls from .2 to 0 to a sample of π_i
    final    at the last lookup −log π_M(nearest), of those not found; earlier lookups are sampled
             on several paths for a query, and follow the score function of the reward π_M(nearest),
             or 1 if it was found, against the mean of the other paths; an entropy bonus falls to 0
             at .6 of the steps

and with each −log π_i(nearest) goes −log Σ_a π_i(a) P[a, nearest], π detached, whose gradient is
the data network's, P the relaxed sort (`relaxed_sort.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from math import log2
from typing import Annotated, Any

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.interface import Model
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.lookup import LookupShape, PointsAndQueries
from constructions.trained.models import Shape
from constructions.trained.relaxed_sort import RELAXED
from constructions.trained.tasks.digits import DIGITS
from constructions.trained.tasks.laws import LAWS, PIXELS, Drawn, Sets, frequencies
from constructions.trained.tasks.task import CHUNK, Batch, Task, Training
from theory.kinds import Choice, Count, InputError, NonNegative, Steps, checked
from theory.structures import (
    accuracy_by_lookup,
    binary_accuracy,
    in_order,
    interpolation_search,
    kd_order,
    kd_search,
    looked_at,
    most_by_weight,
    most_found,
    nearest,
    nearest_in_cloud,
)

OBJECTIVES = "each", "final"
LINES = "targets", "zipf"  # laws of one coordinate
SCALE = 1000.0  # a unit for numbers of the hard distribution
SAMPLED, UNTIL = 0.2, 0.6


@checked
@dataclass(frozen=True)
class Search(Task, kind="search"):
    """N `points` of d coordinates in cells, M `lookups`; a step's batch are sets of points, with so
    many `queries` each, and with `final` so many `paths` for each query, and `bonus` times the
    entropy at first.  If it `compares`, the query networks see signs of q − x and no numbers.
    There may be so many `extra` cells."""

    points: Count
    lookups: Count
    law: Annotated[str, Choice(tuple(LAWS))] = "uniform"
    objective: Annotated[str, Choice(OBJECTIVES)] = "each"
    queries: Count = 16
    paths: Count = 1
    d: Count = 1
    compares: bool = False
    extra: Steps = 0
    bonus: NonNegative = 0.02

    models = ("lookup",)

    def __post_init__(self) -> None:
        if (self.objective == "final") != (self.paths > 1):
            raise InputError(
                f"paths is {self.paths}: give 1 for the objective each, and at least 2 for final, "
                "whose paths are compared"
            )
        if self.d > 1 and (self.law in LINES or self.compares):
            raise InputError(f"d is {self.d}: points of {self.law}, and those compared, have 1")
        if self.law == "sphere" and self.d < 2:
            raise InputError("d is 1: points of sphere have 2 coordinates at least")
        if self.law == "images" and self.d != PIXELS:
            raise InputError(f"d is {self.d}: points of images have {PIXELS} coordinates")
        if self.law == "images" and self.points > DIGITS**2:
            raise InputError(f"points is {self.points}: give at most 100, as there are numbers")
        if self.law == "hard" and not log2(self.points + 1).is_integer():
            raise InputError(f"points is {self.points}: give 2^L − 1, which a balanced tree has")

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return []

    def form(self, shape: Shape) -> Form:
        scale = SCALE if self.law == "hard" else 1.0
        interface = PointsAndQueries(
            self.points, self.d, self.lookups, self.compares, scale, self.extra
        )
        return Form(interface, 1, 1, mask="full")

    def sets(self, count: int, m: int, generator: Generator, *, held_out: bool = False) -> Sets:
        """Sets of points (count, N, d), in no order, queries (count, m, d), and which point is the
        nearest (count, m)."""
        return LAWS[self.law](Drawn(count, self.points, m, self.d, generator, held_out))

    def draw(self, made: Training, count: int, generator: Generator, *, step: int) -> Batch:
        """What `sets` draws, a uniform number for each lookup of a path (count, K·m, M), and which
        part of all steps is done (count,)."""
        drawn = self.sets(count, self.queries, generator)
        size = count, self.paths * self.queries, self.lookups
        chance = torch.rand(size, generator=generator, device=generator.device)
        steps = step + torch.arange(count, device=generator.device) // made.batch_size
        return *drawn, chance, steps / made.steps

    def loss(self, model: Any, *batch: Tensor) -> Tensor:
        """The mean over queries, and paths, of what the objective says."""
        points, queries, near, chance, done = batch
        near, queries = near.repeat(1, self.paths), queries.repeat(1, self.paths, 1)
        scores, extra = model.laid(points)
        relax, tau = RELAXED[model.shape.sort]
        P, order = relax(scores, tau), scores.argsort(-1)
        values = model.numbers(points)
        cells = values.gather(-2, order[..., None].expand(values.shape))
        if model.shape.straight:
            soft = P @ values
            cells = cells + soft - soft.detach()
        target = order.argsort(-1).gather(-1, near)
        chances = P.gather(-1, near[:, None, :].expand(-1, self.points, -1)).mT  # (…, m, cells)

        def right(logits: Tensor) -> Tensor:
            """−log π(nearest) − log Σ_a π(a) P[a, nearest], a no extra cell, (…, m)."""
            said = logits.log_softmax(-1)
            laid = (said.detach().exp()[..., : self.points] * chances).sum(-1)
            return -said.gather(-1, target[..., None])[..., 0] - (laid + 1e-9).log()

        search = model.lookups(model.numbers(queries), torch.cat([cells, extra], -2))
        if self.objective == "each":
            return self._each(search, right, target, chance, done)
        return self._final(search, right, target, chance, done)

    def _each(
        self, search: Any, right: Any, target: Tensor, chance: Tensor, done: Tensor
    ) -> Tensor:
        share = SAMPLED * (1 - done)[:, None]
        total, found = torch.zeros_like(chance[..., 0]), torch.zeros_like(target).bool()
        logits = next(search)
        for i, u in enumerate(chance.unbind(-1)):
            total = total + torch.where(found, 0.0, right(logits))
            drawn = sample(logits.detach().softmax(-1), (u / share).clamp(max=1))
            at = torch.where(u < share, drawn, logits.argmax(-1))
            found = found | (at == target)
            if i + 1 < self.lookups:
                logits = search.send(at)
        return total.mean()

    def _final(
        self, search: Any, right: Any, target: Tensor, chance: Tensor, done: Tensor
    ) -> Tensor:
        bonus = self.bonus * (1 - done / UNTIL).clamp(min=0)[:, None]
        found, logits = torch.zeros_like(target).bool(), next(search)
        path, entropy = torch.zeros_like(chance[..., 0]), torch.zeros_like(chance[..., 0])
        for i in range(self.lookups - 1):
            said = logits.log_softmax(-1)
            at = sample(said.detach().exp(), chance[..., i])
            path = path + said.gather(-1, at[..., None])[..., 0]
            entropy = entropy - (said.exp() * said).sum(-1)
            found = found | (at == target)
            logits = search.send(at)
        last = logits.detach().softmax(-1).gather(-1, target[..., None])[..., 0]
        reward = torch.where(found, 1.0, last).unflatten(-1, (self.paths, -1))
        others = (reward.sum(-2, keepdim=True) - reward) / (self.paths - 1)
        ahead = (reward - others).flatten(-2)
        return (torch.where(found, 0.0, right(logits)) - ahead * path - bonus * entropy).mean()

    def evaluate(self, model: Model, prompts: int, seed: int) -> Iterator[str]:
        """Accuracy by lookup, a query to each set of points, and how they are laid out."""
        drawn = self.sets(prompts, 1, Generator().manual_seed(seed), held_out=True)
        right, sorted_share = measured(model, *drawn)
        yield f"{prompts} sets of points: found after each lookup {_told(right.mean(0))} %"
        if self.d == 1:
            yield f"{sorted_share:.1%} of the cells hold the point of their rank"
        yield self._beside(drawn)

    def _beside(self, drawn: Sets) -> str:
        """References, those that search on the same sets."""
        N, M = self.points, self.lookups
        if self.compares:
            zipf = self.law == "zipf"
            most = most_by_weight(frequencies(N), M)[-1] if zipf else most_found(N, M) / N
            return f"by comparisons at most {most:.1%}"
        x, q = (part.double().numpy() for part in drawn[:2])
        if self.law == "uniform" and self.d == 1 and not self.extra:
            x, q = np.sort(x[..., 0], axis=1), q[..., 0]
            cells = looked_at(interpolation_search(-1, 1), x, q, M)
            others = _told(accuracy_by_lookup(cells, nearest(x, q)))
            exact = _told(binary_accuracy(N, M))
            return f"binary search: {exact} %, interpolation search: {others} %"
        if self.d == 2:
            x = in_order(x, kd_order(x))
            tree = accuracy_by_lookup(kd_search(x, q, M), nearest_in_cloud(x, q))
            return f"kd-tree: {_told(tree)} %"
        return "what is best possible is not known"


def _told(shares: Iterable[Any]) -> str:
    return " ".join(f"{100 * float(share):.1f}" for share in shares)


def sample(chances: Tensor, u: Tensor) -> Tensor:
    """The cell at which the sum of chances (…, N) passes u (…,)."""
    return (chances.cumsum(-1) < u[..., None]).sum(-1).clamp(max=chances.shape[-1] - 1)


def measured(model: Any, points: Tensor, queries: Tensor, nearest: Tensor) -> tuple[Tensor, float]:
    """Whether the nearest point (sets, m) is among the first i that are looked at, (sets, m, M) as
    numbers; and the share of cells that hold the point of their rank, ascending or
    descending, whichever is more."""
    right, up, down = [], 0.0, 0.0
    each = (part.split(CHUNK) for part in (points, queries, nearest))
    for x, q, near in zip(*each, strict=True):
        given = (x[..., 0], q[..., 0]) if model.interface.d == 1 else (x, q)
        shown = model(*given)
        right.append((shown == near[..., None]).cummax(-1).values.float())
        rank, cell = x[..., 0].argsort(-1).argsort(-1), model.order(x).argsort(-1)
        up += float((rank == cell).sum())
        down += float((rank == x.shape[-2] - 1 - cell).sum())
    return torch.cat(right)[:, 0], max(up, down) / points[..., 0].numel()


LEARNED = {
    "learning_rate": 3e-3,
    "warmup": 200,
    "final_rate": 0.0,
    "weight_decay": 1e-3,
}


def _shape(hidden: int = 128, **more: Any) -> LookupShape:
    return LookupShape(2, 4, 32, 128, hidden, **more)


def _small(hidden: int, **more: Any) -> LookupShape:
    return LookupShape(1, 4, 32, 64, hidden, **more)


def _large(**more: Any) -> LookupShape:
    return LookupShape(8, 8, 64, 256, 1024, **more)


PUBLISHED = {"steps": 100_000, **LEARNED}  # at the sizes of [Salemohamed2025]
EXTRA = Search(16, 2, objective="final", paths=4, extra=32, bonus=0.15)
HINTS: dict[str, Any] = {"reads": "fourier", "sort": "soft"}
PRESETS = presets(
    **{
        "uniform-16": (Search(16, 4), {"steps": 3000, **LEARNED}, _shape()),
        "frozen-16": (
            Search(16, 4),
            {"steps": 3000, **LEARNED},
            _shape(frozen=True),
        ),
        "compare-7": (
            Search(7, 3, "targets", "final", queries=8, paths=8, compares=True),
            {"steps": 1000, "batch_size": 16, **LEARNED},
            _shape(64, reads="raw"),
        ),
        "hard-15": (
            Search(15, 3, "hard", "final", queries=8, paths=8),
            {"steps": 1400, "batch_size": 32, **LEARNED},
            _shape(64, reads="raw", query_norm=False, straight=False),
        ),
        "extra-16": (EXTRA, {"steps": 2200, "batch_size": 32, **LEARNED}, _shape(**HINTS)),
        "hints-16": (
            EXTRA,
            {"steps": 2600, "batch_size": 32, **LEARNED},
            _shape(**HINTS, begins=True),
        ),
        "digits-16": (
            Search(16, 4, "images", d=PIXELS),
            {"steps": 4000, **LEARNED},
            _small(48, reads="images"),
        ),
        "sphere-30": (
            Search(32, 4, "sphere", d=30),
            {"steps": 4000, **LEARNED},
            _small(48, reads="raw"),
        ),
        "zipf-15": (
            Search(15, 3, "zipf", "final", 8, 8, compares=True, bonus=0.15),
            {"steps": 2500, "batch_size": 16, **LEARNED},
            _small(48, reads="raw"),
        ),
        "plane-15": (
            Search(15, 3, "hard", "final", queries=8, paths=8, d=2),
            {"steps": 2500, "batch_size": 32, **LEARNED},
            _small(48, reads="raw", query_norm=False, straight=False),
        ),
        "uniform-32": (Search(32, 5), {"steps": 2000, **LEARNED}, _shape()),
        "plane-32": (Search(32, 5, d=2), {"steps": 2500, **LEARNED}, _shape(reads="fourier")),
        "paper": (Search(100, 7), PUBLISHED, _large()),
        "paper-plane": (Search(100, 6, d=2), PUBLISHED, _large(reads="fourier")),
        "paper-sphere": (Search(100, 6, "sphere", d=30), PUBLISHED, _large(reads="raw")),
    }
)
