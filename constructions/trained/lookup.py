"""Networks that lay points out in cells and look them up: a transformer, and an MLP a lookup.

    data network      tokens are the points, without positions → a score each; cell a holds the
                      point with the a-th smallest score
    query networks    lookup i is an MLP of its own, from the query and the cells and values that
                      earlier lookups read → logits of the N cells; it reads the cell of the largest

Numbers are read in one of four ways:

    sinusoids    data: sin(w x + b) for 32 fixed random pairs, and nothing else
    fourier      data: x and sin, cos of kπx/2, k = 1, …, 6, of every coordinate
    raw          data: x/scale and 1; queries: 10 x/scale
    images       a small MLP maps all coordinates to one number in (−1, 1), read as `fourier`

Query networks read a number as its Fourier features above, or, if it is raw, as 10 x/scale.  If
the interface `compares`, query networks read no numbers: their input is the sign of q − x for each
point x that an earlier lookup has read.  The data network reads the numbers in any case.

T extra cells follow those of the points.  Each is a token of the data network, with a row of its
own in W_E, and holds the tanh of what the data network outputs there.  A lookup at an extra cell
never counts as found, even if it holds the same number as a point.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import torch
from torch import Tensor, nn
from torch.nn.functional import one_hot, pad

from constructions.interface import Interface, Model, Prompt, finite_tensors
from constructions.trained.form import SOURCE, Form
from constructions.trained.relaxed_sort import RELAXED
from constructions.trained.transformers import TransformerShape
from theory import machine
from theory.kinds import Choice, Count, InputError, checked

WAVES, FASTEST = 6, 6.0  # of Fourier features; the spread of frequencies of random sinusoids
SINUSOIDS, FINE = 32, 64  # how many; multiples of 1/64, which float16 holds
FINER = 10  # times, that raw numbers are larger for queries
NEVER = -1e9  # the logit of a cell that is not to be chosen; finite, so that p·log p is 0
READS = "sinusoids", "fourier", "raw", "images"
SEEN = 32  # units between an image and its number
Lookups = Generator[Tensor, Tensor, None]


class PointsAndQueries(Interface):
    """Points (…, N), in any order, and queries (…, m) → points (…, m, M), as int64: which of the
    points, from 0, each of M lookups shows, N + t the extra cell t.  In d > 1 dimensions (…, N, d)
    and (…, m, d).

    Raises ValueError for another number of points, another dimension, NaN or infinite entries,
    other leading dimensions, and a point twice.
    """

    def __init__(
        self, n: int, d: int, lookups: int, compares: bool, scale: float, extra: int = 0
    ) -> None:
        super().__init__()
        self.n, self.d, self.lookups = n, d, lookups
        self.compares, self.scale, self.extra = compares, scale, extra

    def check(self, like: Tensor, *inputs: Any) -> tuple[Tensor, ...]:
        points, queries = finite_tensors(like, inputs, "points", "queries")
        shapes = tuple(points.shape), tuple(queries.shape)
        if self.d == 1:
            points, queries = points[..., None], queries[..., None]
        alike = points.ndim > 1 and queries.shape[:-2] == points.shape[:-2]
        if not alike or {points.shape[-1], queries.shape[-1]} != {self.d}:
            each = f", {self.d}" * (self.d > 1)
            raise InputError(
                f"points have shape {shapes[0]} and queries {shapes[1]}: give (…, N{each}) and "
                f"(…, m{each}), with the same leading dimensions"
            )
        if points.shape[-2] != self.n:
            raise InputError(
                f"there are {points.shape[-2]} points: give {self.n}, for which the model has cells"
            )
        same = (points[..., :, None, :] == points[..., None, :, :]).all(-1)
        if bool((same.sum((-1, -2)) > self.n).any()):
            raise InputError("points contain one twice: give distinct points, as each has a cell")
        return points, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        return Prompt(xp.concat(list(inputs), -2), self.n, slice(self.n, None))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs.argmax(-1)


@checked
@dataclass(frozen=True)
class LookupShape:
    """A data network of `n_layers` pre-norm layers, and query networks of two layers of `hidden`
    ReLUs, seen through layer norms or not; `sort` is how training sorts (`relaxed_sort`), and
    `straight` whether values that are seen carry its gradient.  If `frozen`, the data network is
    not trained; if it `begins` so, the first lookup is at one of the extra cells."""

    n_layers: Count
    n_heads: Count
    d_model: Count
    d_mlp: Count
    hidden: Count
    reads: Annotated[str, Choice(READS)] = "sinusoids"
    sort: Annotated[str, Choice(tuple(RELAXED))] = "neural"
    query_norm: bool = True
    straight: bool = True
    frozen: bool = False
    begins: bool = False

    kind: ClassVar[str] = "lookup"
    words: ClassVar[str] = "a lookup network"
    compiles: ClassVar[bool] = False  # its matrices are small
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> LookupNetwork:
        """The data network as `TransformerShape` draws it, query networks as torch draws them."""
        interface: Any = form.interface
        T = interface.extra
        if self.begins and not T:
            raise InputError("there are no extra cells for the first lookup: leave `begins` out")
        asked, more = self.rows(interface)
        M, each = interface.lookups, asked + self.hidden + interface.n + T
        machine.fits_in_memory(
            f"{M:.4g} query networks of width {self.hidden:.4g}",
            4 * self.hidden * (M * each + more * M * (M - 1) // 2),
            "build a smaller model",
        )
        shape = TransformerShape(self.n_layers, self.n_heads, self.d_model, self.d_mlp)
        columns, d = self.columns(interface.d), self.told(interface.d)
        outputs = 1 + d * bool(T)  # a score, and what an extra cell holds
        into = Form(interface, columns + T, outputs, rows=columns, mask="full")
        data = shape.build(into, seed, task)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = LookupNetwork(data, self, interface)
        data.requires_grad_(not self.frozen)
        return model

    def columns(self, d: int) -> int:
        """Of a point of d coordinates, as the data network reads it."""
        waves = self.told(d) * (1 + 2 * WAVES)
        return {"sinusoids": SINUSOIDS, "raw": d + 1}.get(self.reads, waves)

    def rows(self, interface: PointsAndQueries) -> tuple[int, int]:
        """Columns that the first query network reads, and how many more each later one does: the
        query; a cell, and what it shows."""
        cells, d = interface.n + interface.extra, self.told(interface.d)
        number = d if self.reads == "raw" else d * (1 + 2 * WAVES)
        return (1, cells + 1) if interface.compares else (number, cells + number)

    def told(self, d: int) -> int:
        """Numbers that stand for a point of d coordinates."""
        return 1 if self.reads == "images" else d


class LookupNetwork(Model):
    """A data network and M query networks; the stream is the data network's, of the points.

    Outputs are logits (…, m, M, N + T) on the network's own path: those of the cell that holds the
    j-th of the points as they were given, and of the extra cells.
    """

    waves: Tensor

    def __init__(self, data: Model, shape: LookupShape, interface: PointsAndQueries) -> None:
        super().__init__()
        self.data, self.shape, self.interface = data, shape, interface
        cells, d = interface.n + interface.extra, shape.told(interface.d)
        asked, more = shape.rows(interface)
        each = [asked + i * more for i in range(interface.lookups)]
        self.queries = nn.ModuleList(_mlp(rows, shape, cells) for rows in each)
        if shape.reads == "images":
            into = nn.Linear(interface.d, SEEN)
            self.reader = nn.Sequential(into, nn.ReLU(), nn.Linear(SEEN, 1), nn.Tanh())
        self.name = f"lookup network: {interface.n} points, {interface.lookups} lookups"
        self.source = SOURCE
        generator = torch.Generator().manual_seed(0)  # the same ones for every seed
        drawn = FASTEST * torch.randn(2, d, SINUSOIDS, generator=generator)
        self.register_buffer("waves", (FINE * drawn).round() / FINE)

    @property
    def n_layers(self) -> int:
        """The layers of the data network."""
        return self.data.n_layers

    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        tokens = self.written(self.numbers(prompt.tokens[..., : self.interface.n, :]))
        return self.data.residual_stream(Prompt(tokens, self.interface.n))

    def seen(self, H: Tensor) -> Tensor:
        return self.data.seen(H)

    def unembedding(self, H: Tensor) -> Tensor:
        """Scores (…, N + T, 1 + d) before they are standardised, and contents before tanh."""
        return self.data.unembedding(H)

    def numbers(self, points: Tensor) -> Tensor:
        """Points (…, d) as they are, but images by what is made of them, (…, 1)."""
        return self.reader(points) if self.shape.reads == "images" else points

    def written(self, points: Tensor) -> Tensor:
        """Numbers (…, N, d) as the data network reads them, and the extra cells, (…, N + T, …)."""
        if self.shape.reads == "sinusoids":
            rows = (points @ self.waves[0] + self.waves[1].sum(0)).sin()
        elif self.shape.reads == "raw":
            scaled = points / self.interface.scale
            rows = torch.cat([scaled, torch.ones_like(points[..., :1])], -1)
        else:
            rows = fourier(points)
        if not (T := self.interface.extra):
            return rows
        each = torch.eye(T).to(rows).expand(*rows.shape[:-2], T, T)
        return torch.cat([pad(rows, (0, T)), pad(each, (rows.shape[-1], 0))], -2)

    def laid(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """Scores (…, N) of points (…, N, d), with mean 0 and variance 1 in each set, and what the
        extra cells hold, (…, T, d), in (−1, 1)."""
        N, points = self.interface.n, self.numbers(points)
        said = self.data.run(Prompt(self.written(points), N))
        scores = said[..., :N, 0] - said[..., :N, 0].mean(-1, keepdim=True)
        scores = scores / (scores.square().mean(-1, keepdim=True) + 1e-8).sqrt()
        return scores, said[..., N:, 1:].tanh() if self.interface.extra else points[..., :0, :]

    def scores(self, points: Tensor) -> Tensor:
        """The scores of `laid`."""
        return self.laid(points)[0]

    def order(self, points: Tensor) -> Tensor:
        """Which of the points (…, N, d) each cell holds, (…, N)."""
        return self.scores(points).argsort(-1)

    def lookups(self, queries: Tensor, cells: Tensor) -> Lookups:
        """The query networks, as strategies are in `theory/structures/lookup.py`: yields the logits
        (…, m, N) of a lookup for queries (…, m, d), and is sent the cells (…, m) that are looked
        at, whose contents are `cells` (…, N + T, d)."""
        read = fourier if self.shape.reads != "raw" else self._raw
        compares = self.interface.compares
        known = torch.ones_like(queries[..., :1]) if compares else read(queries)
        for i, network in enumerate(self.queries):
            logits = network(known)
            if self.shape.begins and i == 0:
                of_points = torch.arange(cells.shape[-2]) < self.interface.n
                logits = logits.masked_fill(of_points.to(logits.device), NEVER)
            at = yield logits
            rows = at[..., None].expand(*at.shape, cells.shape[-1])
            value = cells.gather(-2, rows)
            shown = (queries - value).sign() if compares else read(value)
            place = one_hot(at, cells.shape[-2]).to(known)
            known = torch.cat([known, place, shown], -1)

    def run(self, prompt: Prompt) -> Tensor:
        N = self.interface.n
        points, queries = prompt.tokens[..., :N, :], prompt.tokens[..., N:, :]
        scores, extra = self.laid(points)
        order, values = scores.argsort(-1), self.numbers(points)
        cells = values.gather(-2, order[..., None].expand(values.shape))
        search = self.lookups(self.numbers(queries), torch.cat([cells, extra], -2))
        said = [next(search)]
        for _ in self.queries[1:]:
            said.append(search.send(said[-1].argmax(-1)))
        logits = torch.stack(said, -2)
        place = order.argsort(-1)[..., None, None, :].expand(*logits.shape[:-1], N)
        return torch.cat([logits.gather(-1, place), logits[..., N:]], -1)

    def _raw(self, numbers: Tensor) -> Tensor:
        return FINER * numbers / self.interface.scale


def fourier(x: Tensor) -> Tensor:
    """x and sin, cos of kπx/2, k = 1, …, 6: (…, d) → (…, 13 d)."""
    k = torch.arange(1, WAVES + 1, device=x.device, dtype=x.dtype)
    angles = (x[..., None] * (k * torch.pi / 2)).flatten(-2)
    return torch.cat([x, angles.sin(), angles.cos()], -1)


def _mlp(rows: int, shape: LookupShape, cells: int) -> nn.Sequential:
    layers: list[nn.Module] = []
    for columns in (rows, shape.hidden):
        layers.append(nn.Linear(columns, shape.hidden))
        if shape.query_norm:
            layers.append(nn.LayerNorm(shape.hidden))
        layers.append(nn.ReLU())
    return nn.Sequential(*layers, nn.Linear(shape.hidden, cells))
