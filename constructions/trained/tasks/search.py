"""The task search: a data network arranges points in cells, and query networks look them up.

Both are trained together, on points and queries with a distribution of `distributions.py`.
Training follows the networks' own path of lookups, with one of two objectives:

    each     the sum over lookups of −log π_i(nearest), for queries not found before; a lookup is
             the argmax or, with a probability that decreases from 0.2 to 0, a sample of π_i
    final    −log π_M(nearest) at the last lookup, for queries not found before; earlier lookups
             are sampled on several paths per query and trained by the score-function gradient of
             the reward π_M(nearest), or 1 if found, with the mean of the other paths as baseline;
             an entropy bonus decreases to 0 at 0.6 of the steps

To each −log π_i(nearest) the term −log Σ_a π_i(a) P[a, nearest] is added, with π detached and P the
relaxed sort (`relaxed_sort.py`), whose gradient trains the data network.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.interface import Model
from constructions.seeds import torch_generator
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.lookup import LookupShape, PointsAndQueries
from constructions.trained.models import Shape
from constructions.trained.relaxed_sort import RELAXED
from constructions.trained.tasks.digits import DIGITS
from constructions.trained.tasks.distributions import (
    DISTRIBUTIONS,
    PIXELS,
    Sampler,
    Sets,
    frequencies,
)
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, Task, Training
from theory import machine
from theory.kinds import Choice, Count, InputError, NonNegative, Steps, checked, shown
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
LINES = "targets", "zipf"  # distributions of one coordinate
SCALE = 1000.0  # unit of numbers of the hard distribution
SAMPLED, UNTIL = 0.2, 0.6  # initial probability of a sampled lookup; end of the entropy bonus


@checked
@dataclass(frozen=True)
class Search(Task, kind="search"):
    """The task of finding the point nearest to a query, in few lookups of cells.

    A data network arranges N = `points` points of d coordinates in cells, and query networks make
    M = `lookups` lookups for each query.

    d          dimension of points and queries
    law        name of the distribution of points and queries (`distributions.py`)
    objective  "each": the loss is over all lookups; "final": the loss is over the last lookup
    queries    number of queries for each set of points; a batch consists of sets
    paths      number of sampled paths for each query with the objective "final"
    compares   query networks get, in place of a query q and points x, the signs of q − x
    extra      number of extra cells
    bonus      initial coefficient of the entropy bonus
    """

    points: Count
    lookups: Count
    law: Annotated[str, Choice(tuple(DISTRIBUTIONS))] = "uniform"
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
                f"paths is {self.paths}: give 1 path for the objective 'each', or at least 2 paths "
                "for the objective 'final'"
            )
        if self.d > 1 and (self.law in LINES or self.compares):
            raise InputError(
                f"d is {self.d}, law is {self.law!r} and compares is {self.compares}: give d = 1, "
                "or give another law and compares = False"
            )
        if self.law == "sphere" and self.d < 2:
            raise InputError("d is 1: give a dimension d of at least 2 for law = 'sphere'")
        if self.law == "images" and self.d != PIXELS:
            raise InputError(f"d is {self.d}: give d = {PIXELS} for law = 'images'")
        if self.law == "images" and self.points > DIGITS**2:
            raise InputError(f"points is {self.points}: give at most 100 points for law = 'images'")
        if self.law == "hard" and self.points & (self.points + 1):
            raise InputError(
                f"points is {self.points}: for the law 'hard', give 2^L − 1 points with an integer "
                "L"
            )

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return []

    def form(self, shape: Shape) -> Form:
        scale = SCALE if self.law == "hard" else 1.0
        interface = PointsAndQueries(
            self.points, self.d, self.lookups, self.compares, scale, self.extra
        )
        return Form(interface, 1, 1, mask="full")

    def sets(self, count: int, m: int, seed: int | Generator, *, held_out: bool = False) -> Sets:
        """Returns `count` sets of N points in random order, m queries for each, and nearest points.

        For points of d coordinates, the shapes are (count, N, d), (count, m, d) and (count, m). The
        nearest points are given by their indices.
        """
        machine.fits_in_memory(
            f"sets of points = {shown(self.points)} with {shown(m)} queries in d = "
            f"{shown(self.d)} dimensions",
            8 * count * self.points * m * (1 if self.law == "images" else self.d),
            "give smaller numbers",
        )
        sampler = Sampler(count, self.points, m, self.d, seed, held_out)
        return DISTRIBUTIONS[self.law](sampler)

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns sets of points with queries, and random numbers for sampling lookups.

        The first results are those of `sets`. Then follow a uniform number for each lookup of each
        path, (count, K·m, M), and the fraction of training steps done, (count,). Here m is the
        number of queries, K the number of paths for each query, and M the number of lookups.
        """
        generator = torch_generator(seed)
        drawn = self.sets(count, self.queries, generator)
        size = count, self.paths * self.queries, self.lookups
        uniform = torch.rand(size, generator=generator, device=generator.device)
        steps = step + torch.arange(count, device=generator.device) // made.batch_size
        return *drawn, uniform, steps / made.steps

    def loss(self, model: Any, *batch: Tensor) -> Tensor:
        """The mean of the training objective over queries and paths."""
        points, queries, near, uniform, done = batch
        near, queries = near.repeat(1, self.paths), queries.repeat(1, self.paths, 1)
        scores, extra = model.layout(points)
        relax, tau = RELAXED[model.shape.sort]
        P, order = relax(scores, tau), scores.argsort(-1)
        values = model.numbers(points)
        cells = values.gather(-2, order[..., None].expand(values.shape))
        if model.shape.straight:
            soft = P @ values
            cells = cells + soft - soft.detach()
        target = order.argsort(-1).gather(-1, near)
        relaxed = P.gather(-1, near[:, None, :].expand(-1, self.points, -1)).mT  # (…, m, cells)

        def miss(logits: Tensor) -> Tensor:
            """−log π(nearest) − log Σ_a π(a) P[a, nearest], a over cells of points, (…, m)."""
            log_pi = logits.log_softmax(-1)
            mixed = (log_pi.detach().exp()[..., : self.points] * relaxed).sum(-1)
            return -log_pi.gather(-1, target[..., None])[..., 0] - (mixed + 1e-9).log()

        search = model.lookups(model.numbers(queries), torch.cat([cells, extra], -2))
        if self.objective == "each":
            return self._each(search, miss, target, uniform, done)
        return self._final(search, miss, target, uniform, done)

    def _each(
        self, search: Any, miss: Any, target: Tensor, uniform: Tensor, done: Tensor
    ) -> Tensor:
        sampled = SAMPLED * (1 - done)[:, None]
        total, found = torch.zeros_like(uniform[..., 0]), torch.zeros_like(target).bool()
        logits = next(search)
        for i, u in enumerate(uniform.unbind(-1)):
            total = total + torch.where(found, 0.0, miss(logits))
            drawn = sample(logits.detach().softmax(-1), (u / sampled).clamp(max=1))
            at = torch.where(u < sampled, drawn, logits.argmax(-1))
            found = found | (at == target)
            if i + 1 < self.lookups:
                logits = search.send(at)
        return total.mean()

    def _final(
        self, search: Any, miss: Any, target: Tensor, uniform: Tensor, done: Tensor
    ) -> Tensor:
        bonus = self.bonus * (1 - done / UNTIL).clamp(min=0)[:, None]
        found, logits = torch.zeros_like(target).bool(), next(search)
        path, entropy = torch.zeros_like(uniform[..., 0]), torch.zeros_like(uniform[..., 0])
        for i in range(self.lookups - 1):
            log_pi = logits.log_softmax(-1)
            at = sample(log_pi.detach().exp(), uniform[..., i])
            path = path + log_pi.gather(-1, at[..., None])[..., 0]
            entropy = entropy - (log_pi.exp() * log_pi).sum(-1)
            found = found | (at == target)
            logits = search.send(at)
        last = logits.detach().softmax(-1).gather(-1, target[..., None])[..., 0]
        reward = torch.where(found, 1.0, last).unflatten(-1, (self.paths, -1))
        others = (reward.sum(-2, keepdim=True) - reward) / (self.paths - 1)
        advantage = (reward - others).flatten(-2)
        return (torch.where(found, 0.0, miss(logits)) - advantage * path - bonus * entropy).mean()

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields the accuracy after each lookup, and the fraction of cells that are sorted.

        The accuracy is over one query of each set.
        """
        drawn = self.sets(prompts, 1, seed, held_out=True)
        right, in_order = measured(model, *drawn)
        yield f"{prompts} sets of points: found after each lookup {_percent(right.mean(0))} %"
        if self.d == 1:
            yield f"{in_order:.1%} of the cells contain the point of their rank"
        yield self._references(drawn)

    def _references(self, drawn: Sets) -> str:
        """The accuracy of reference algorithms; search algorithms are run on the same sets."""
        N, M = self.points, self.lookups
        if self.compares:
            zipf = self.law == "zipf"
            most = most_by_weight(frequencies(N), M)[-1] if zipf else most_found(N, M) / N
            return f"best possible by comparisons: {most:.1%}"
        x, q = (part.double().numpy() for part in drawn[:2])
        if self.law == "uniform" and self.d == 1 and not self.extra:
            x, q = np.sort(x[..., 0], axis=1), q[..., 0]
            cells = looked_at(interpolation_search(-1, 1), x, q, M)
            others = _percent(accuracy_by_lookup(cells, nearest(x, q)))
            exact = _percent(binary_accuracy(N, M))
            return f"binary search: {exact} %, interpolation search: {others} %"
        if self.d == 2:
            x = in_order(x, kd_order(x))
            tree = accuracy_by_lookup(kd_search(x, q, M), nearest_in_cloud(x, q))
            return f"kd-tree: {_percent(tree)} %"
        return "the best possible accuracy is not known"


def _percent(fractions: Iterable[Any]) -> str:
    return " ".join(f"{100 * float(fraction):.1f}" for fraction in fractions)


def sample(probabilities: Tensor, u: Tensor) -> Tensor:
    """Cells (…,) drawn from distributions over N cells by uniform numbers `u` (…,).

    The result is the first cell at which the cumulative sum of `probabilities` (…, N) is at least
    the uniform number.
    """
    cells = (probabilities.cumsum(-1) < u[..., None]).sum(-1)
    return cells.clamp(max=probabilities.shape[-1] - 1)


def measured(model: Any, points: Tensor, queries: Tensor, nearest: Tensor) -> tuple[Tensor, float]:
    """Whether lookups find the nearest point, and the fraction of points in cells of their rank.

    The first result (sets, M) is for the first query of each set: 1 if the nearest point is found
    within the first 1, …, M lookups, and otherwise 0. The second result is the fraction of cells j
    that contain the j-th point in ascending order, or the fraction of cells j that contain the j-th
    point in descending order if this fraction is larger.
    """
    right, up, down = [], 0.0, 0.0
    each = (part.split(CHUNK) for part in (points, queries, nearest))
    for x, q, near in zip(*each, strict=True):
        given = (x[..., 0], q[..., 0]) if model.interface.d == 1 else (x, q)
        points_found = model(*given)
        right.append((points_found == near[..., None]).cummax(-1).values.float())
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


PUBLISHED = {"steps": 100_000, **LEARNED}  # for the sizes of [Salemohamed2025]
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
