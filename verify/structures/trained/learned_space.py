"""The claim `learned-space`: how networks use extra cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from typing import Annotated, Any

import numpy as np
import torch

from theory.structures import (
    interpolation_search,
    looked_at,
    nearest,
    table_accuracy,
    uniform_points,
)
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, above, estimated
from verify.finding import Finding, labelled
from verify.structures.trained.lookups import (
    CHUNK,
    KIND,
    Measured,
    Proportion,
    before,
    in_per_cent,
    measure,
    over,
    shown,
    under,
)

N, M, T = 16, 2, 32
NEAR = 0.05  # largest distance from a bucket table, as a fraction of all queries
NAMED = 0.5  # fraction of first lookups whose content is nearest to the right point
STEPS = 128  # steps per unit of rounded contents: 8 bits for (−1, 1)


@claim(
    picture="verify.structures.trained.learned_space_picture:draw",
)
def learned_space(
    run: Run,
    *,
    samples: Annotated[int, option("number of sets of points", min=1000, max=10**5)] = 2500,
) -> Iterator[Finding]:
    """Published observation: extra cells improve the accuracy of two lookups. Here networks with 32
    extra cells search for the nearest of 16 uniform points.  Networks that may use the extra cells
    are compared with interpolation search, and networks whose first lookup must be at an extra cell
    are compared with a bucket table.

    An extra cell contains one number in (−1, 1).  A data network computes these numbers from the
    set of points, and places the points in 16 further cells in the order of learned scores. A query
    network chooses the cell of each lookup. For the second lookup, it receives the content of the
    cell that was looked up first.  The networks are trained only on the accuracy after the last
    lookup. Accuracy is the fraction of queries whose nearest point has been looked up (is found).
    Each model was trained with three seeds.  The seeds are evaluated separately, and each set of
    points has one query.  All thresholds were fixed before any model was trained.  The results of
    two other implementations were known: an accuracy of 74.0 % with 18 % of first lookups at extra
    cells, and an accuracy of 86.5 % if all first lookups must be at extra cells.

    extra-16 (the first lookup is at any cell):
      beyond  the accuracy is above the accuracy of two lookups of interpolation search, on the same
              sets.
      used    the accuracy is lower if each set of points receives the extra cells of another set.
              The fraction of first lookups at extra cells is reported.
    hints-16 (the first lookup is at an extra cell):
      near    the accuracy after the last lookup is within 5 percentage points of the exact accuracy
              of a bucket table.  This table divides the range into 32 buckets, and each extra cell
              contains the index of the point nearest to the middle of one bucket.
      bits    the finding `near` also holds for contents rounded to 8 bits (a cell of full precision
              could contain all points).
      names   for more than half of first lookups, the point nearest to the content of the extra
              cell is the nearest neighbour of the query.
      used    the finding `used` of extra-16, for hints-16.
    untrained: before training, the fraction of `names` is below one half, and the accuracy is below
      the accuracy of interpolation search.
    """
    count = run.limited(1000, samples=samples)
    points, queries = uniform_sets(run, count)
    beside = by_interpolation(points, queries)
    free, hints = (models_of(f"search-{name}", KIND) for name in ("extra-16", "hints-16"))
    found = {each.name: measure(each.model, points, queries) for each in (*free, *hints)}
    for name, model, _ in free:
        proportions = found[name].by_lookup
        wanted = "above the accuracy of two lookups of interpolation search,"
        beyond = over("beyond", FOUND, proportions[-1:], [beside.value], wanted=wanted)
        beyond.words += f"; after each lookup {in_per_cent(proportions)} %"
        yield from labelled(name, [beyond, used(model, found[name], points, queries)])
    for name, model, _ in hints:
        yield from labelled(name, of_hints(model, found[name], points, queries))
    first = before(hints[0].name)
    yield from labelled("untrained-hints-16", control(first, beside, points, queries))
    stored = {each.name: contents(each.model, points) for each in (*free, *hints)}
    run.draw(found, stored, points, queries)


FOUND = f"accuracy after the last lookup, {N} uniform points, {T} extra cells"


def uniform_sets(run: Run, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Sets of ascending uniform points, (count, 16), and one query for each set, (count,)."""
    x, q = uniform_points(count, N, 1, run.rng)
    return x, q[:, 0]


def by_interpolation(points: np.ndarray, queries: np.ndarray) -> Proportion:
    """The accuracy of two lookups of interpolation search, on given points and queries."""
    q = queries[:, None]
    cells = looked_at(interpolation_search(-1, 1), points, q, M)[:, 0]
    return Proportion(int((cells == nearest(points, q)).any(1).sum()), len(points))


def of_hints(
    model: Any, found: Measured, points: np.ndarray, queries: np.ndarray
) -> Iterator[Finding]:
    """The findings on a network whose first lookup is at an extra cell."""
    table = table_accuracy(N, T)
    wanted = (
        f"a bucket table finds {100 * table:.1f} %; above this accuracy minus {100 * NEAR:g} "
        "points,"
    )
    yield over("near", FOUND, found.by_lookup[-1:], [table - NEAR], wanted=wanted)
    coarse = Proportion(
        int(at_last(changed(model, rounded), found, points, queries).sum()), len(points)
    )
    yield over("bits", f"{FOUND} of 8 bits each", [coarse], [table - NEAR], wanted=wanted)
    proportion = named(found, contents(model, points), points)
    yield over("names", HINTS, [proportion], [NAMED], wanted="above")
    yield used(model, found, points, queries)


HINTS = (
    "fraction of queries for which the content of the extra cell looked up first is nearest to the "
    "query's nearest neighbour among the points"
)


def used(model: Any, found: Measured, points: np.ndarray, queries: np.ndarray) -> Finding:
    """The finding that fewer queries succeed if extra cells have the contents for another set."""
    others = at_last(changed(model, of_another), found, points, queries)
    lost = estimated(found.found[:, -1].astype(float) - others)
    extra = Proportion(int((found.shown[:, 0] >= N).sum()), len(points))
    return above(
        "used",
        "(accuracy) − (accuracy if each set of points receives the extra cells of another set), in "
        "percentage points",
        lost,
        words=f"{100 * lost.mean:.1f} ± {100 * lost.error:.1f}; "
        f"{extra} % of first lookups are at extra cells",
        wanted=f"above 0, {BY}",
    )


def at_last(model: Any, found: Measured, points: np.ndarray, queries: np.ndarray) -> np.ndarray:
    """Whether a network finds the nearest neighbours in `found`, (sets,)."""
    return np.asarray((shown(model, points, queries) == found.nearest[:, None]).any(1))


def control(
    model: Any, beside: Proportion, points: np.ndarray, queries: np.ndarray
) -> Iterator[Finding]:
    """The findings on a network before training, compared with interpolation search.

    `beside` is the accuracy of two lookups of interpolation search.
    """
    first = measure(model, points, queries)
    wanted = "below the accuracy of two lookups of interpolation search,"
    yield under("found", FOUND, first.by_lookup[-1:], [beside.value], wanted=wanted)
    proportion = named(first, contents(model, points), points)
    yield under("names", HINTS, [proportion], [NAMED], wanted="below")


def contents(model: Any, points: np.ndarray) -> np.ndarray:
    """The contents of the T extra cells of a network, (sets, T) for points (sets, N)."""
    parts = torch.as_tensor(points, dtype=model.like.dtype)[..., None].split(CHUNK)
    with torch.no_grad():
        return torch.cat([model.layout(part)[1][..., 0] for part in parts]).numpy()


def named(found: Measured, stored: np.ndarray, points: np.ndarray) -> Proportion:
    """The fraction of hints that name the nearest neighbour, among first lookups at extra cells.

    The hint of an extra cell is the point nearest to its content.  `stored` (sets, T) are the
    contents of the T extra cells for points (sets, N).
    """
    there = found.shown[:, 0] >= N
    hint = np.take_along_axis(stored[there], found.shown[there, :1] - N, axis=1)
    close = abs(points[there] - hint).argmin(1) == found.nearest[there]
    return Proportion(int(close.sum()), int(there.sum()))


def changed(model: Any, change: Callable[[Any], Any]) -> Any:
    """The given network, but with `change` applied to the contents of the extra cells."""
    other = copy(model)

    def layout(points: Any) -> tuple[Any, Any]:
        scores, stored = model.layout(points)
        return scores, change(stored)

    other.layout = layout
    return other


def rounded(stored: Any) -> Any:
    """The contents of extra cells, rounded to multiples of 1/128."""
    return (stored * STEPS).round() / STEPS


def of_another(stored: Any) -> Any:
    """The contents of extra cells, where each set has the contents of the previous set."""
    return stored.roll(1, 0)
