"""Laws of points and queries, drawn in torch; those of numbers and vectors are those of
`theory/structures/points.py` and `clouds.py`.

    uniform    points and queries independent and uniform in (−1, 1)^d
    targets    points uniform in (−1, 1), and a query is one of them
    zipf       the same, and of the points in ascending order the j-th is queried with a fixed
               probability: by Zipf's law of exponent 1.2, in an order of frequency drawn once
    hard       every coordinate the balanced tree of N = 2^L − 1 nodes, a = 7, in an order of its
               own; a query is one of the points, and N(0, 1) in each coordinate
    sphere     directions; the inner product of a query with one of the points is 0.8
    images     numbers below 100, distinct in a set, each shown by two images of digits, tens and
               units, of 64 pixels; a query shows any number below 100, by images of its own

The nearest point is that at the least distance; of images, that of the nearest number, and of two
as near the smaller one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from math import log2
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.trained.tasks.digits import DIGITS, SIDE, split_digits
from theory.structures import zipf

A = 7.0  # of the hard distribution: its powers
RHO = 0.8  # of the sphere: the inner product of a query with a point
EXPONENT = 1.2  # of Zipf's law
PIXELS = 2 * SIDE * SIDE  # of two images


class Sets(NamedTuple):
    """Points (count, N, d), in no order, queries (count, m, d), and which point is nearest."""

    points: Tensor
    queries: Tensor
    nearest: Tensor


@dataclass(frozen=True)
class Drawn:
    """Sets of N points of d coordinates with m queries each; of images those that are held out, or
    those of training."""

    count: int
    N: int
    m: int
    d: int
    generator: Generator
    held_out: bool = False

    def uniform(self, *size: int) -> Tensor:
        """Numbers of (0, 1)."""
        return torch.rand(size, generator=self.generator, device=self.generator.device)

    def normal(self, *size: int) -> Tensor:
        """Numbers of N(0, 1)."""
        return torch.randn(size, generator=self.generator, device=self.generator.device)

    def one_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Which of the points is queried (count, m), and a copy of it (count, m, d)."""
        size, device = (self.count, self.m, 1), self.generator.device
        which = torch.randint(self.N, size, generator=self.generator, device=device)
        return which[..., 0], x.gather(-2, which.expand(*size[:2], x.shape[-1]))


def uniform(drawn: Drawn) -> Sets:
    x = 2 * drawn.uniform(drawn.count, drawn.N, drawn.d) - 1
    return by_distance(x, 2 * drawn.uniform(drawn.count, drawn.m, drawn.d) - 1)


def targets(drawn: Drawn) -> Sets:
    x = 2 * drawn.uniform(drawn.count, drawn.N, 1) - 1
    return by_distance(x, drawn.one_of(x)[1])


def zipf_targets(drawn: Drawn) -> Sets:
    x = 2 * drawn.uniform(drawn.count, drawn.N, 1) - 1
    chances = torch.tensor(frequencies(drawn.N), dtype=x.dtype, device=x.device)
    u = drawn.uniform(drawn.count, drawn.m, 1)
    rank = (chances.cumsum(0) < u).sum(-1).clamp(max=drawn.N - 1)
    return by_distance(x, x.sort(-2).values.gather(-2, rank[..., None]))


@cache
def frequencies(N: int) -> np.ndarray:
    """Of the point of each rank in ascending order, how often it is queried, (N,)."""
    chances = np.random.default_rng(0).permutation(zipf(N, EXPONENT))
    chances.flags.writeable = False
    return chances


def hard(drawn: Drawn) -> Sets:
    axes = [_tree(drawn) for _ in range(drawn.d)]
    if drawn.d > 1:
        mixed = [drawn.uniform(drawn.count, drawn.N).argsort(-1) for _ in axes]
        axes = [axis.gather(-1, order) for axis, order in zip(axes, mixed, strict=True)]
    x = torch.stack(axes, -1)
    q = drawn.one_of(x)[1]
    return by_distance(x, q + drawn.normal(*q.shape))


def _tree(drawn: Drawn) -> Tensor:
    L = round(log2(drawn.N + 1))
    depth = [A**L * drawn.uniform(drawn.count, 1)]
    for k in range(1, L):
        side = torch.tensor([-1.0, 1.0], device=depth[0].device).repeat(2 ** (k - 1))
        step = A ** (L - k) * drawn.uniform(drawn.count, 2**k)
        depth.append(depth[-1].repeat_interleave(2, dim=1) + step * side)
    return torch.cat(depth, dim=1)


def sphere(drawn: Drawn) -> Sets:
    x = _directions(drawn.normal(drawn.count, drawn.N, drawn.d))
    near = drawn.one_of(x)[1]
    away = drawn.normal(*near.shape)
    away = _directions(away - (away * near).sum(-1, keepdim=True) * near)
    return by_distance(x, RHO * near + (1 - RHO**2) ** 0.5 * away)


def _directions(z: Tensor) -> Tensor:
    return z / z.norm(dim=-1, keepdim=True)


def images(drawn: Drawn) -> Sets:
    """Raises ValueError where the images are not there, as `split_digits`."""
    numbers = drawn.uniform(drawn.count, DIGITS**2).argsort(-1)[:, : drawn.N]
    asked = (DIGITS**2 * drawn.uniform(drawn.count, drawn.m)).long().clamp(max=DIGITS**2 - 1)
    above = numbers[..., None, :] - asked[..., None]
    nearest = (2 * above.abs() + (above > 0)).argmin(-1)
    return Sets(shown(numbers, drawn), shown(asked, drawn), nearest)


def shown(numbers: Tensor, drawn: Drawn) -> Tensor:
    """Numbers (…,) by an image of each digit, drawn among those of that digit, (…, 128)."""
    pixels, begins, many = (part.to(numbers.device) for part in _by_digit(drawn.held_out))
    digits = torch.stack([numbers // DIGITS, numbers % DIGITS], -1)
    at = (drawn.uniform(*digits.shape) * many[digits]).long().minimum(many[digits] - 1)
    return pixels[begins[digits] + at].flatten(-2)


@cache
def _by_digit(held_out: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Images by their digit (…, 64), where those of each begin, and how many there are."""
    pictures, labels = split_digits()[held_out]
    many = labels.bincount(minlength=DIGITS)
    return pictures[labels.argsort(stable=True)].flatten(1), many.cumsum(0) - many, many


def nearest_point(points: Tensor, queries: Tensor) -> Tensor:
    """argmin_j ‖x_j − q‖ for points (…, N, d) and queries (…, m, d), (…, m): by definition."""
    return (points[..., None, :, :] - queries[..., :, None, :]).square().sum(-1).argmin(-1)


def by_distance(points: Tensor, queries: Tensor) -> Sets:
    """With the nearest point."""
    return Sets(points, queries, nearest_point(points, queries))


LAWS: dict[str, Callable[[Drawn], Sets]] = {
    "uniform": uniform,
    "targets": targets,
    "zipf": zipf_targets,
    "hard": hard,
    "sphere": sphere,
    "images": images,
}
