"""The claim `learned-search`: networks that sort and search, on uniform points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Annotated, Any

import numpy as np

from theory.structures import (
    best_fixed,
    binary_accuracy,
    interpolation_search,
    looked_at,
    nearest,
    uniform_points,
)
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import models_of
from verify.evidence.statistics import BY, above, below, estimated
from verify.finding import Finding, Verdict, at_most, labelled
from verify.structures.trained.lookups import (
    KIND,
    Measured,
    before,
    cells,
    in_per_cent,
    measure,
    over,
    under,
)

NEAR = 0.05  # largest distance from interpolation search, as a fraction of all queries
MOSTLY = 0.5  # fraction of lookups, before the query is found, at the cell of an algorithm
SORTED, UNSORTED = 0.9, 0.5  # fractions of cells: minimum after training, maximum before
N, M = 16, 4
ENDS = {"(0, 1)": (0.0, 1.0), "(−½, ½)": (-0.5, 0.5)}  # ranges outside the training distribution


@claim(
    picture="verify.structures.trained.learned_search_picture:draw",
)
def learned_search(
    run: Run,
    *,
    samples: Annotated[int, option("number of sets of points", min=100, max=10**6)] = 10_000,
) -> Iterator[Finding]:
    """Observation: networks trained to find the nearest of 16 uniform points in 4 lookups learn to
    sort and learn interpolation search. They find more nearest points than binary search after
    every lookup.

    A data network scores each point, and 16 cells contain the points in the order of the scores. At
    each lookup a separate query network chooses a cell, and the lookup reveals the point in this
    cell. Accuracy is the fraction of queries whose nearest point has been looked up.  The data
    network receives only 32 fixed random sinusoids of each point.  Three seeds are evaluated
    separately, and each set of points has one query.  All thresholds were fixed before any model
    was trained.  The results of other implementations and of one pilot run (seed 100) were known.
    After the thresholds were fixed, the model described here (`uniform-16`) was trained again in
    longer runs, of 3000 steps of 64 sets instead of 1200 steps of 32 sets, and no threshold was
    changed.

    near      after every lookup, the accuracy is within 5 percentage points of the accuracy of
              interpolation search on the same sets.
    first     the accuracy of the first lookup is not above the proved maximum for one lookup; a
              larger value would indicate an error of the evaluation.
    ahead     after every lookup, the accuracy is above the accuracy of binary search.
    cells     of the lookups before the nearest point is found, more than half are at the cell that
              interpolation search would choose after the same earlier lookups. The fraction at the
              cell that binary search would choose is reported.
    off       on points and queries from (0, 1), which are not the training distribution, the
              accuracy is below the accuracy of binary search. Interpolation search that assumes the
              range from −1 to 1 is also less accurate than binary search.  The finding is undecided
              if the finding `near` does not hold.
    sorted    in more than 90 % of cells, cell c contains the point of rank c.
    untrained for each seed before training, less than half of the cells c contain the point of rank
              c, and the nearest point is found for less than half of the queries.
    frozen    query networks trained equally long with an untrained data network are less accurate
              than binary search at the last lookup.
    """
    count = run.limited(2000, samples=samples)
    seen = {name: models_of(f"search-{name}", KIND) for name in ("uniform-16", "frozen-16")}
    plane = uniform_sets(run, count)
    uniform = {each.name: measure(each.model, *plane) for each in seen["uniform-16"]}
    for name, model, _ in seen["uniform-16"]:
        yield from labelled(name, of_uniform(run, model, uniform[name], *plane))
    for name, *_ in seen["uniform-16"]:
        yield from labelled(name.replace("search", "untrained"), control(before(name), *plane))
    for name, model, _ in seen["frozen-16"]:
        yield from labelled(name, frozen(measure(model, *plane)))
    run.draw(uniform, by_interpolation(*plane), *plane)


def uniform_sets(
    run: Run, count: int, low: float = -1.0, high: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Sets of ascending uniform points, (count, 16), and one query for each set, (count,)."""
    x, q = uniform_points(count, N, 1, run.rng, low, high)
    return x, q[:, 0]


def by_interpolation(points: np.ndarray, queries: np.ndarray) -> Measured:
    """The `Measured` lookups of interpolation search with the ends −1 and 1."""
    cells = looked_at(interpolation_search(-1, 1), points, queries[:, None], M)[:, 0]
    place = np.broadcast_to(np.arange(N), points.shape)
    return Measured(cells, nearest(points, queries[:, None])[:, 0], place)


def of_uniform(
    run: Run, model: Any, found: Measured, points: np.ndarray, queries: np.ndarray
) -> Iterator[Finding]:
    """The findings on one network, measured on ascending points (sets, 16) and queries (sets,)."""
    proportions, beside = found.by_lookup, by_interpolation(points, queries).by_lookup
    exact = [float(proportion) for proportion in binary_accuracy(N, M)]
    name = f"accuracy after each lookup, {N} uniform points, compared with interpolation search"
    bounds = [proportion.value - NEAR for proportion in beside]
    near = over(
        "near",
        name,
        proportions,
        bounds,
        wanted=f"interpolation search finds {in_per_cent(beside)} %; above these accuracies minus "
        f"{100 * NEAR:g} points,",
    )
    yield near
    best = float(best_fixed(N, 1)[0])
    yield at_most(
        "first",
        f"lower end of the confidence interval of the accuracy after the first lookup, {N} uniform "
        "points",
        "trained",
        proportions[0].interval[0],
        best,
        words=f"{100 * proportions[0].interval[0]:.1f} %",
        wanted=f"at most {100 * best:.1f} %, the maximum for one lookup",
    )
    name = f"accuracy after each lookup, {N} uniform points, compared with binary search"
    yield over("ahead", name, proportions, exact, wanted="above the accuracy of binary search,")
    yield cells("interpolation", MOSTLY, found, points, queries)
    yield decided_by(near, off(run, model, exact[-1]))
    yield in_order("sorted", found, SORTED)


def off(run: Run, model: Any, exact: float) -> Finding:
    """The finding that a network finds less than binary search on points and queries from (0, 1).

    `exact` is the accuracy of binary search at the last lookup.
    """
    words, proportions = [], []
    for name, ends in ENDS.items():
        sets = uniform_sets(run, 2000, *ends)
        found, fixed = measure(model, *sets).by_lookup, by_interpolation(*sets).by_lookup
        text = f"interpolation search with ends −1 and 1 finds {in_per_cent(fixed)} %"
        words.append(f"in {name} the network finds {in_per_cent(found)} % by lookup, and {text}")
        proportions.append(found[-1])
    finding = under(
        "off",
        f"accuracy after the last lookup, {N} points and queries from (0, 1)",
        proportions[:1],
        [exact],
        wanted="below the accuracy of binary search,",
    )
    finding.words += "; " + "; ".join(words)
    return finding


def decided_by(near: Finding, off: Finding) -> Finding:
    """The finding `off`, which becomes undecided unless `near` holds.

    The reason is that a weak network finds little on any distribution.
    """
    weak = near.verdict is not Verdict.HOLDS and off.verdict is Verdict.HOLDS
    return replace(off, verdict=Verdict.UNDECIDED) if weak else off


def in_order(id: str, found: Measured, least: float) -> Finding:
    proportion = estimated(found.in_order)
    return above(
        id,
        "fraction of cells c that contain the point of rank c",
        proportion,
        least,
        words=f"{proportion:.3f}{', in descending order' * found.descends}",
        wanted=f"above {least:g}, {BY}",
    )


def control(model: Any, points: np.ndarray, queries: np.ndarray) -> Iterator[Finding]:
    """The findings on a network before training."""
    found = measure(model, points, queries)
    proportion = estimated(found.in_order)
    yield below(
        "sorted",
        "fraction of cells c that contain the point of rank c before training",
        proportion,
        UNSORTED,
        words=f"{proportion:.3f}",
        wanted=f"below {UNSORTED:g}, {BY}",
    )
    name = f"accuracy after the last lookup before training, {N} uniform points"
    yield under("found", name, found.by_lookup[-1:], [MOSTLY], wanted="below")


def frozen(found: Measured) -> Iterator[Finding]:
    """The finding on query networks that were trained with an untrained data network."""
    finding = under(
        "found",
        "accuracy after the last lookup of query networks trained with an untrained data network",
        found.by_lookup[-1:],
        [float(binary_accuracy(N, M)[-1])],
        wanted="below the accuracy of binary search,",
    )
    finding.words += f"; after each lookup {in_per_cent(found.by_lookup)} %; "
    finding.words += f"{found.in_order.mean():.1%} of cells c contain the point of rank c"
    yield finding
