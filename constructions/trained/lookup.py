"""Networks that arrange points in cells and look them up: a transformer, and an MLP per lookup.

    data network    the tokens are the points, without positions; the output is a score for each
                    point, and cell a contains the point with the a-th smallest score
    query networks    lookup i is an MLP; its input is the query and the cells and values of earlier
                      lookups, its output logits of the N cells; the lookup is at their argmax

`reads` is the encoding of a number:

    sinusoids    data: sin(w x + b) for 32 fixed random pairs (w, b)
    fourier      data: x and sin, cos of kπx/2, k = 1, …, 6, of every coordinate
    raw          data: x/scale and 1; queries: 10 x/scale
    images       a small MLP maps all coordinates to one number in (−1, 1), encoded as `fourier`

The input of query networks is the Fourier features above, or, with raw, 10 x/scale.  If the
interface `compares`, it is the sign of q − x for the point x of each earlier lookup.  The input of
the data network is always numbers.

T extra cells follow the cells of the points.  Each extra cell is a token of the data network with a
row in W_E, and its content is the tanh of the data network's output at this token.  A lookup at an
extra cell does not find the query, even if its content equals a point.
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
from theory.kinds import Choice, Count, InputError, checked, shown

WAVES, FASTEST = 6, 6.0  # number of Fourier frequencies; standard deviation of random ones
SINUSOIDS, FINE = 32, 64  # number of random sinusoids; multiples of 1/64 are exact in float16
FINER = 10  # factor of raw numbers for query networks
NEVER = -1e9  # the logit of an excluded cell; finite, so that p·log p is 0
READS = "sinusoids", "fourier", "raw", "images"
HIDDEN = 32  # hidden neurons of the MLP of images
Lookups = Generator[Tensor, Tensor, None]


class PointsAndQueries(Interface):
    """The interface of models that look up m queries among N points, given in any order.

    Points have shape (…, N) and queries (…, m); in d > 1 dimensions the shapes are (…, N, d) and
    (…, m, d). The outputs (…, m, M), int64, contain the result of each of M lookups: the index
    (from 0) of the point found, or N + t if the lookup reads the extra cell t, counted from 0.

    Raises ValueError for another number of points, another dimension, NaN or infinite entries,
    different leading dimensions, and equal points.
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
                f"points have shape {shapes[0]} and queries have shape {shapes[1]}: give "
                f"points (…, N{each}) and queries (…, m{each}) with the same leading "
                "dimensions"
            )
        if points.shape[-2] != self.n:
            raise InputError(
                f"there are {points.shape[-2]} points: give {self.n} points, the number "
                "for which the model was built"
            )
        first = points[..., 0].sort(-1).values
        some = points[(first[..., 1:] == first[..., :-1]).any(-1)]  # others are distinct
        same = (some[..., :, None, :] == some[..., None, :, :]).all(-1)
        if bool((same.sum((-1, -2)) > self.n).any()):
            raise InputError("two points are equal: give distinct points")
        return points, queries

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        return Prompt(xp.concat(list(inputs), -2), self.n, slice(self.n, None))

    def read(self, outputs: Tensor, *inputs: Any) -> Tensor:
        return outputs.argmax(-1)


@checked
@dataclass(frozen=True)
class LookupShape:
    """The shape of a model of a data network and query networks for lookups.

    The data network has `n_layers` pre-norm layers, and each query network has two ReLU layers.

    hidden      width of the query networks
    reads       encoding of numbers: "sinusoids", "fourier", "raw" or "images"
    sort        relaxation of sorting in training (`relaxed_sort`)
    query_norm  layer norms in the query networks
    straight    the values of lookups have the straight-through gradient of the sort
    frozen      the data network is not trained
    begins      the first lookup is at an extra cell
    """

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
    stacks: ClassVar[bool] = True
    nonnegative: ClassVar[bool] = False

    def build(self, form: Form, seed: int, task: str) -> LookupNetwork:
        """Returns the model with initial weights.

        The data network is initialised as in `TransformerShape`, the query networks as in torch.
        """
        interface: Any = form.interface
        T = interface.extra
        if self.begins and not T:
            raise InputError(
                "the parameter begins is True, but the task has no extra cells: omit "
                "`begins`, or give a task with extra cells"
            )
        first, more = self.rows(interface)
        M, each = interface.lookups, first + self.hidden + interface.n + T
        machine.fits_in_memory(
            f"{shown(M)} query networks of width {shown(self.hidden)}",
            4 * self.hidden * (M * each + more * M * (M - 1) // 2),
            "build a smaller model",
        )
        shape = TransformerShape(self.n_layers, self.n_heads, self.d_model, self.d_mlp)
        columns, d = self.columns(interface.d), self.n_numbers(interface.d)
        outputs = 1 + d * bool(T)  # a score, and the content of an extra cell
        into = Form(interface, columns + T, outputs, rows=columns, mask="full")
        data = shape.build(into, seed, task)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = LookupNetwork(data, self, interface)
        data.requires_grad_(not self.frozen)
        return model

    def columns(self, d: int) -> int:
        """The number of features of a point of d coordinates, as input of the data network."""
        waves = self.n_numbers(d) * (1 + 2 * WAVES)
        return {"sinusoids": SINUSOIDS, "raw": d + 1}.get(self.reads, waves)

    def rows(self, interface: PointsAndQueries) -> tuple[int, int]:
        """The input size of the first query network, and the increase for each later network.

        The input of the first network is a query. Each lookup adds a cell and its content to the
        input of the next network.
        """
        cells, d = interface.n + interface.extra, self.n_numbers(interface.d)
        number = d if self.reads == "raw" else d * (1 + 2 * WAVES)
        return (1, cells + 1) if interface.compares else (number, cells + number)

    def n_numbers(self, d: int) -> int:
        """How many numbers are encoded for a point of d coordinates: d, or 1 for images."""
        return 1 if self.reads == "images" else d


class LookupNetwork(Model):
    """A model that consists of a data network and one query network for each of M lookups.

    The data network arranges N points in cells, and its stream is the stream of the model. There
    are T extra cells. For m queries, the outputs are logits (…, m, M, N + T) of the cells that the
    M lookups read. Entry j < N of the last axis is the logit of the cell that contains the j-th
    given point, and the other entries are the logits of the extra cells.
    """

    waves: Tensor

    def __init__(self, data: Model, shape: LookupShape, interface: PointsAndQueries) -> None:
        super().__init__()
        self.data, self.shape, self.interface = data, shape, interface
        cells, d = interface.n + interface.extra, shape.n_numbers(interface.d)
        first, more = shape.rows(interface)
        each = [first + i * more for i in range(interface.lookups)]
        self.queries = nn.ModuleList(_mlp(rows, shape, cells) for rows in each)
        if shape.reads == "images":
            into = nn.Linear(interface.d, HIDDEN)
            self.reader = nn.Sequential(into, nn.ReLU(), nn.Linear(HIDDEN, 1), nn.Tanh())
        self.name = f"lookup network: {interface.n} points, {interface.lookups} lookups"
        self.source = SOURCE
        generator = torch.Generator().manual_seed(0)  # the same numbers for every seed
        drawn = FASTEST * torch.randn(2, d, SINUSOIDS, generator=generator)
        self.register_buffer("waves", (FINE * drawn).round() / FINE)

    @property
    def n_layers(self) -> int:
        """The number of layers of the data network."""
        return self.data.n_layers

    @checked
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        tokens = self.features(self.numbers(prompt.tokens[..., : self.interface.n, :]))
        return self.data.residual_stream(Prompt(tokens, self.interface.n))

    @checked
    def seen(self, H: Tensor) -> Tensor:
        return self.data.seen(H)

    @checked
    def unembedding(self, H: Tensor) -> Tensor:
        """Scores before standardisation and contents before tanh, (…, N + T, 1 + d).

        Each of N points has a score, and each of T extra cells has a content of d numbers.
        """
        return self.data.unembedding(H)

    def numbers(self, points: Tensor) -> Tensor:
        """Returns the points (…, d) unchanged; for images, the number (…, 1) of each image."""
        return self.reader(points) if self.shape.reads == "images" else points

    def features(self, points: Tensor) -> Tensor:
        """The tokens (…, N + T, features) of the data network: N points and T extra cells."""
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

    def layout(self, points: Tensor) -> tuple[Tensor, Tensor]:
        """The scores (…, N) of points (…, N, d), and the contents (…, T, d) of the extra cells.

        The scores of each set of points have mean 0 and variance 1; contents are in (−1, 1).
        """
        N, points = self.interface.n, self.numbers(points)
        out = self.data.run(Prompt(self.features(points), N))
        scores = out[..., :N, 0] - out[..., :N, 0].mean(-1, keepdim=True)
        scores = scores / (scores.square().mean(-1, keepdim=True) + 1e-8).sqrt()
        return scores, out[..., N:, 1:].tanh() if self.interface.extra else points[..., :0, :]

    def scores(self, points: Tensor) -> Tensor:
        """The scores (…, N) of points (…, N, d), with mean 0 and variance 1 in each set."""
        return self.layout(points)[0]

    def order(self, points: Tensor) -> Tensor:
        """The index of the point in each cell, (…, N), for points (…, N, d)."""
        return self.scores(points).argsort(-1)

    def lookups(self, queries: Tensor, cells: Tensor) -> Lookups:
        """The query networks as a generator of lookups, as in `theory/structures/lookup.py`.

        For each lookup, the generator yields logits (…, m, N + T) for queries (…, m, d), and
        receives the cells (…, m) that are looked up. `cells` (…, N + T, d) contains the contents of
        all cells.
        """
        read = fourier if self.shape.reads != "raw" else self._raw
        compares = self.interface.compares
        state = torch.ones_like(queries[..., :1]) if compares else read(queries)
        for i, network in enumerate(self.queries):
            logits = network(state)
            if self.shape.begins and i == 0:
                of_points = torch.arange(cells.shape[-2]) < self.interface.n
                logits = logits.masked_fill(of_points.to(logits.device), NEVER)
            at = yield logits
            rows = at[..., None].expand(*at.shape, cells.shape[-1])
            value = cells.gather(-2, rows)
            content = (queries - value).sign() if compares else read(value)
            place = one_hot(at, cells.shape[-2]).to(state)
            state = torch.cat([state, place, content], -1)

    def run(self, prompt: Prompt) -> Tensor:
        N = self.interface.n
        points, queries = prompt.tokens[..., :N, :], prompt.tokens[..., N:, :]
        scores, extra = self.layout(points)
        order, values = scores.argsort(-1), self.numbers(points)
        cells = values.gather(-2, order[..., None].expand(values.shape))
        search = self.lookups(self.numbers(queries), torch.cat([cells, extra], -2))
        outputs = [next(search)]
        for _ in self.queries[1:]:
            outputs.append(search.send(outputs[-1].argmax(-1)))
        logits = torch.stack(outputs, -2)
        place = order.argsort(-1)[..., None, None, :].expand(*logits.shape[:-1], N)
        return torch.cat([logits.gather(-1, place), logits[..., N:]], -1)

    def _raw(self, numbers: Tensor) -> Tensor:
        return FINER * numbers / self.interface.scale


def fourier(x: Tensor) -> Tensor:
    """Fourier features of numbers: x and the sine and cosine of kπx/2 for k = 1, …, 6.

    x has shape (…, d), and the result has shape (…, 13 d).
    """
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
