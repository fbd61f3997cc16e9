"""Distributions of points and queries as torch samplers; see `theory/structures/points.py` and
`clouds.py` for those of numbers and vectors.

    uniform    points and queries are independent and uniform in (−1, 1)^d
    targets    points are uniform in (−1, 1), and a query is one of them
    zipf       the same, and the j-th smallest point is queried with a fixed probability: Zipf
               frequencies of exponent 1.2, in an order that is drawn once
    hard       every coordinate is the balanced tree of N = 2^L − 1 nodes with a = 7, in its own
               random order; a query is one of the points plus N(0, 1) in each coordinate
    sphere     points are uniform on the sphere; the inner product of a query with a point is 0.8
    images     distinct numbers below 100, each as two images of digits, tens and units, of 64
               pixels; a query is a number below 100, as other images

The nearest point is the point of smallest distance.  For images it is the nearest number; if two
numbers are equally near, it is the smaller number.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from math import log2
from typing import NamedTuple

import numpy as np
import torch
from torch import Generator, Tensor

from constructions.seeds import torch_generator
from constructions.trained.tasks.digits import DIGITS, SIDE, split_digits
from theory.structures import zipf

A = 7.0  # base of the powers in the hard distribution
RHO = 0.8  # inner product of a query with a point on the sphere
EXPONENT = 1.2  # exponent of the Zipf frequencies
PIXELS = 2 * SIDE * SIDE  # pixels of two images


class Sets(NamedTuple):
    """Sets of N points in d dimensions in random order, with m queries for each set.

    `points` has shape (count, N, d) and `queries` (count, m, d). `nearest` (count, m) contains the
    index of the point nearest to each query.
    """

    points: Tensor
    queries: Tensor
    nearest: Tensor


@dataclass(frozen=True)
class Sampler:
    """A sampler of `count` sets of N points in d dimensions, with m queries for each set.

    If points are images, they are held-out images or training images, as `held_out` states.
    """

    count: int
    N: int
    m: int
    d: int
    seed: int | Generator
    held_out: bool = False

    @cached_property
    def generator(self) -> Generator:
        """The random generator of the sampler."""
        return torch_generator(self.seed)

    def uniform(self, *size: int) -> Tensor:
        """Returns uniform random numbers in (0, 1), an array of this size."""
        return torch.rand(size, generator=self.generator, device=self.generator.device)

    def normal(self, *size: int) -> Tensor:
        """Returns standard normal random numbers, an array of this size."""
        return torch.randn(size, generator=self.generator, device=self.generator.device)

    def one_of(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """Returns the indices of m random points of each set, and these points.

        `x` (count, N, d) contains the sets. The results have shapes (count, m) and (count, m, d).
        """
        size, device = (self.count, self.m, 1), self.generator.device
        which = torch.randint(self.N, size, generator=self.generator, device=device)
        return which[..., 0], x.gather(-2, which.expand(*size[:2], x.shape[-1]))


def uniform(sampler: Sampler) -> Sets:
    x = 2 * sampler.uniform(sampler.count, sampler.N, sampler.d) - 1
    return with_nearest(x, 2 * sampler.uniform(sampler.count, sampler.m, sampler.d) - 1)


def targets(sampler: Sampler) -> Sets:
    x = 2 * sampler.uniform(sampler.count, sampler.N, 1) - 1
    return with_nearest(x, sampler.one_of(x)[1])


def zipf_targets(sampler: Sampler) -> Sets:
    x = 2 * sampler.uniform(sampler.count, sampler.N, 1) - 1
    probabilities = torch.tensor(frequencies(sampler.N), dtype=x.dtype, device=x.device)
    u = sampler.uniform(sampler.count, sampler.m, 1)
    rank = (probabilities.cumsum(0) < u).sum(-1).clamp(max=sampler.N - 1)
    return with_nearest(x, x.sort(-2).values.gather(-2, rank[..., None]))


@cache
def frequencies(N: int) -> np.ndarray:
    """The probability with which a query is the j-th smallest of N points, for each j, (N,)."""
    probabilities = np.random.default_rng(0).permutation(zipf(N, EXPONENT))
    probabilities.flags.writeable = False
    return probabilities


def hard(sampler: Sampler) -> Sets:
    axes = [_tree(sampler) for _ in range(sampler.d)]
    if sampler.d > 1:
        mixed = [sampler.uniform(sampler.count, sampler.N).argsort(-1) for _ in axes]
        axes = [axis.gather(-1, order) for axis, order in zip(axes, mixed, strict=True)]
    x = torch.stack(axes, -1)
    q = sampler.one_of(x)[1]
    return with_nearest(x, q + sampler.normal(*q.shape))


def _tree(sampler: Sampler) -> Tensor:
    L = round(log2(sampler.N + 1))
    depth = [A**L * sampler.uniform(sampler.count, 1)]
    for k in range(1, L):
        side = torch.tensor([-1.0, 1.0], device=depth[0].device).repeat(2 ** (k - 1))
        step = A ** (L - k) * sampler.uniform(sampler.count, 2**k)
        depth.append(depth[-1].repeat_interleave(2, dim=1) + step * side)
    return torch.cat(depth, dim=1)


def sphere(sampler: Sampler) -> Sets:
    x = _directions(sampler.normal(sampler.count, sampler.N, sampler.d))
    near = sampler.one_of(x)[1]
    away = sampler.normal(*near.shape)
    away = _directions(away - (away * near).sum(-1, keepdim=True) * near)
    return with_nearest(x, RHO * near + (1 - RHO**2) ** 0.5 * away)


def _directions(z: Tensor) -> Tensor:
    return z / z.norm(dim=-1, keepdim=True)


def images(sampler: Sampler) -> Sets:
    """Returns sets of numbers as images; raises ValueError if `split_digits` does."""
    numbers = sampler.uniform(sampler.count, DIGITS**2).argsort(-1)[:, : sampler.N]
    queried = DIGITS**2 * sampler.uniform(sampler.count, sampler.m)
    queried = queried.long().clamp(max=DIGITS**2 - 1)
    above = numbers[..., None, :] - queried[..., None]
    nearest = (2 * above.abs() + (above > 0)).argmin(-1)
    return Sets(number_images(numbers, sampler), number_images(queried, sampler), nearest)


def number_images(numbers: Tensor, sampler: Sampler) -> Tensor:
    """Returns numbers (…,) below 100 as pixels (…, 128): random images of both digits."""
    pixels, begins, many = (part.to(numbers.device) for part in _by_digit(sampler.held_out))
    digits = torch.stack([numbers // DIGITS, numbers % DIGITS], -1)
    at = (sampler.uniform(*digits.shape) * many[digits]).long().minimum(many[digits] - 1)
    return pixels[begins[digits] + at].flatten(-2)


@cache
def _by_digit(held_out: bool) -> tuple[Tensor, Tensor, Tensor]:
    """Images sorted by digit (…, 64), the index of the first of each digit, and their counts."""
    pictures, labels = split_digits()[held_out]
    many = labels.bincount(minlength=DIGITS)
    return pictures[labels.argsort(stable=True)].flatten(1), many.cumsum(0) - many, many


def nearest_point(points: Tensor, queries: Tensor) -> Tensor:
    """The indices (…, m) of the points (…, N, d) that are nearest to the queries (…, m, d)."""
    return (points[..., None, :, :] - queries[..., :, None, :]).square().sum(-1).argmin(-1)


def with_nearest(points: Tensor, queries: Tensor) -> Sets:
    """Returns points, queries, and the indices of the points nearest to the queries."""
    return Sets(points, queries, nearest_point(points, queries))


DISTRIBUTIONS: dict[str, Callable[[Sampler], Sets]] = {
    "uniform": uniform,
    "targets": targets,
    "zipf": zipf_targets,
    "hard": hard,
    "sphere": sphere,
    "images": images,
}
