"""The claim `learned-search`: what is found by networks that learn to lay out and to look up."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from theory.structures import (
    best_fixed,
    binary_accuracy,
    depths,
    hard_points,
    interpolation_search,
    looked_at,
    most_found,
    nearest,
    uniform_points,
)
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import Trained, models_of
from verify.evidence.statistics import BY, above, below, estimated
from verify.finding import Finding, at_most, each_at_most, labelled, same
from verify.structures.learned import (
    Measured,
    Share,
    finds,
    measure,
    next_cells,
    over,
    told,
    tree_of,
    under,
)

KIND = "a lookup network trained on search"
NEAR = 0.05  # of all queries: as near to interpolation search
MOSTLY = 0.5  # of the lookups while nothing is found: at the cell of an algorithm
CLOSE = 0.9  # of them: what is called the algorithm itself
SORTED, UNSORTED = 0.9, 0.5  # of the cells: after training at least, before at most
LEARNED = 0.95  # of the targets, by comparisons in N = 2^M − 1 cells
N, M = 16, 4  # uniform
ENDS = {"(0, 1)": (0.0, 1.0), "(−½, ½)": (-0.5, 0.5)}  # off the distribution


@claim(
    source="[Salemohamed2025]; the models: constructions/trained/lookup.py, tasks/search.py",
)
def learned_search(
    run: Run, *, samples: Annotated[int, option("sets of points", min=100, max=10**6)] = 10_000
) -> Iterator[Finding]:
    """Trained to find the nearest of 16 uniform points, networks learn interpolation search; with
    comparisons alone binary search; on the hard distribution neither.

    A data network gives each point a score, cells hold the points in the order of scores, and a
    query network for each lookup says at which cell to look.  Three seeds each, each judged by
    itself, a query to each set of points.  All thresholds were written down before these models
    were trained, with figures of other programs' runs known, and of one pilot of each, seed 100.

    uniform-16 (16 points, 4 lookups, 32 fixed random sinusoids of a point are all that the data
    network reads of it):
      near      found after each lookup: within 5 points of interpolation search on the same sets.
      first     the first lookup is not above the best possible: an excess would be a mistake.
      ahead     above binary search at every lookup.
      cells     while not found, more than half of the lookups are at interpolation's next cell,
                given what was seen.  Binary search's next cell is told beside it.
      off       points and queries from (0, 1), never seen so: below binary search, which does not
                mind.  Interpolation with the fixed ends −1 and 1 is below it there, too.
      sorted    nine cells in ten hold the point of their rank; before training less than half do.
    frozen-16 (the same, with the data network left as it was at first): below binary search.
    compare-7 (7 points, 3 lookups that say <, = or >, a query is one of the points):
      tree      the decision tree of the query networks, read off exactly, is binary search.
      bound     of the 7 targets of any set, at most 1, 3 and 7 are found.
      found     19 in 20 targets.
    hard-15 (15 points, 3 lookups, values are seen):
      beyond    more are found than by any comparisons.
      binary    nine lookups in ten are at binary search's next cell, as [Salemohamed2025] has it.
    untrained   finds less than half, less than 7 targets, and no more than comparisons.
    """
    count = 2000 if run.quick else samples
    seen = {name: models_of(f"search-{name}", KIND) for name in ("uniform-16", "frozen-16")}
    plane = uniform_sets(run, count)
    uniform = {each.name: measure(each.model, *plane) for each in seen["uniform-16"]}
    for name, model, _ in seen["uniform-16"]:
        yield from labelled(name, of_uniform(run, model, uniform[name], *plane))
    yield from labelled("untrained-uniform-16", control(before(seen["uniform-16"][0]), *plane))
    for name, model, _ in seen["frozen-16"]:
        yield from labelled(name, frozen(measure(model, *plane)))
    yield from of_compare(run, count)
    yield from of_hard(run, count)
    if run.plot:
        from verify.structures.learned_picture import draw

        draw(run.plot, uniform, by_interpolation(*plane), *plane)


def uniform_sets(
    run: Run, count: int, low: float = -1.0, high: float = 1.0
) -> tuple[np.ndarray, np.ndarray]:
    """Points (count, 16), ascending, and a query to each, (count,)."""
    x, q = uniform_points(count, N, 1, run.rng, low, high)
    return x, q[:, 0]


def by_interpolation(points: np.ndarray, queries: np.ndarray) -> Measured:
    """Interpolation search from −1 and 1 on the same sets."""
    cells = looked_at(interpolation_search(-1, 1), points, queries[:, None], M)[:, 0]
    place = np.broadcast_to(np.arange(N), points.shape)
    return Measured(cells, nearest(points, queries[:, None])[:, 0], place)


def of_uniform(
    run: Run, model: Any, found: Measured, points: np.ndarray, queries: np.ndarray
) -> Iterator[Finding]:
    """What is said of one model, measured on these sets."""
    shares, beside = found.by_lookup, by_interpolation(points, queries).by_lookup
    exact = [float(share) for share in binary_accuracy(N, M)]
    name = f"found after each lookup, {N} uniform points"
    bounds = [share.value - NEAR for share in beside]
    yield over("near", name, shares, bounds, wanted=f"interpolation's {told(beside)}: above")
    best = float(best_fixed(N, 1)[0])
    yield at_most(
        "first",
        "the first lookup, lower end of the interval",
        "trained",
        shares[0].interval[0],
        best,
        words=f"{100 * shares[0].interval[0]:.1f} %",
        wanted=f"at most {100 * best:.1f} %, the best possible",
    )
    yield over("ahead", name, shares, exact, wanted="above binary search's")
    yield cells("interpolation", MOSTLY, found, points, queries)
    yield off(run, model, exact[-1])
    yield in_order("sorted", found, SORTED)


def cells(
    name: str, least: float, found: Measured, points: np.ndarray, queries: np.ndarray
) -> Finding:
    """That lookups, while nothing is found, are at an algorithm's next cell."""
    ends = (-1.0, 1.0) if abs(points).max() <= 1 else (points.min() - 1, points.max() + 1)
    at = next_cells(found.shown, points, queries, *ends)
    shares = found.at(at[name])
    finding = over(
        "cells" if name == "interpolation" else name,
        f"lookups at {name} search's next cell, while not found",
        shares,
        [least] * len(shares),
        wanted="above",
    )
    if name == "interpolation":
        finding.words += f"; at binary search's {told(found.at(at['binary']))} %"
    return finding


def off(run: Run, model: Any, exact: float) -> Finding:
    """Where points and queries are from another interval: below binary search in (0, 1)."""
    words, shares = [], []
    for name, ends in ENDS.items():
        sets = uniform_sets(run, 2000, *ends)
        own, fixed = measure(model, *sets).by_lookup, by_interpolation(*sets).by_lookup
        words.append(f"in {name} {told(own)} %, interpolation from fixed ends {told(fixed)} %")
        shares.append(own[-1])
    finding = under(
        "off",
        "found at last, points and queries from (0, 1)",
        shares[:1],
        [exact],
        wanted="below binary search's",
    )
    finding.words += "; " + "; ".join(words)
    return finding


def in_order(id: str, found: Measured, least: float) -> Finding:
    share = estimated(found.in_order)
    return above(
        id,
        "cells that hold the point of their rank",
        share,
        least,
        words=f"{share:.3f}{', descending' * found.descends}",
        wanted=f"above {least:g}, {BY}",
    )


def before(trained: Trained) -> Any:
    """The model of a checkpoint with the weights that training began with."""
    from constructions.trained import configuration_of, untrained

    return untrained(configuration_of(trained.name)).requires_grad_(False)


def control(model: Any, points: np.ndarray, queries: np.ndarray) -> Iterator[Finding]:
    """Before training."""
    found = measure(model, points, queries)
    share = estimated(found.in_order)
    yield below(
        "sorted",
        "cells that hold the point of their rank",
        share,
        UNSORTED,
        words=f"{share:.3f}",
        wanted=f"below {UNSORTED:g}, {BY}",
    )
    yield under("found", "found at last", found.by_lookup[-1:], [MOSTLY], wanted="below")


def frozen(found: Measured) -> Iterator[Finding]:
    """Cells in the order of random scores, and query networks that are trained for them."""
    finding = under(
        "found",
        "found at last",
        found.by_lookup[-1:],
        [float(binary_accuracy(N, M)[-1])],
        wanted="below binary search's",
    )
    finding.words += f"; {told(found.by_lookup)}; {found.in_order.mean():.1%} in order"
    yield finding


def of_compare(run: Run, count: int) -> Iterator[Finding]:
    """Comparisons in 7 cells: the tree, and the targets of each set."""
    seen = models_of("search-compare-7", KIND)
    points, _ = uniform_points(count, 7, 1, run.rng)
    which = run.rng.integers(7, size=count)
    queries = points[np.arange(count), which]
    for name, model, _ in seen:
        found = measure(model, points, queries)
        first = measure(before(Trained(name, model, None)), points, queries)
        yield from labelled(name, compared(model, found, points[:200], first.in_order.mean()))
    model = before(seen[0])
    tree = finds(tree_of(model, descends=False), 7)
    yield at_most(
        "untrained-compare-7/tree",
        "targets that its tree finds",
        "trained",
        sum(at > 0 for at in tree),
        6,
        words=f"{sum(at > 0 for at in tree)} of 7",
        wanted="at most 6",
    )


def compared(model: Any, found: Measured, few: np.ndarray, first: float) -> Iterator[Finding]:
    """What is said of one model; `few` sets (k, 7) are asked for all of their points."""
    yield same(
        "tree",
        "lookup at which the tree of the query networks finds each of 7 cells",
        finds(tree_of(model, found.descends), 7),
        depths(7).tolist(),
        evidence="trained",
        wanted="binary search",
    )
    each = [measure(model, few, few[:, j]).found for j in range(7)]
    most = np.stack(each).sum(0).max(0)
    yield each_at_most(
        "bound",
        f"targets found in any of {len(few)} sets, by lookup",
        "trained",
        {f"lookup {i + 1}": float(count) for i, count in enumerate(most)},
        {f"lookup {i + 1}": float(most_found(7, i + 1)) for i in range(len(most))},
        words=" ".join(f"{count}" for count in most),
        wanted="at most 1 3 7, as no comparisons find more",
    )
    shares = found.by_lookup
    finding = over("found", "targets found at last", shares[-1:], [LEARNED], wanted="above")
    finding.words += f"; {told(shares)}; {found.in_order.mean():.1%} in order, at first {first:.1%}"
    yield finding


def of_hard(run: Run, count: int) -> Iterator[Finding]:
    """Values that are seen on the hard distribution."""
    seen = models_of("search-hard-15", KIND)
    points, queries = hard_points(count, 4, 1, run.rng)
    bound = most_found(15, 3) / 15
    for name, model, _ in seen:
        found = measure(model, points, queries[:, 0])
        shares, order = found.by_lookup, found.in_order.mean()
        beyond = over(
            "beyond",
            "found at last, 15 points",
            shares[-1:],
            [bound],
            wanted="above any comparisons",
        )
        beyond.words += f"; {told(shares)}; {order:.1%} in order"
        yield from labelled(name, [beyond, cells("binary", CLOSE, found, points, queries[:, 0])])
    first = measure(before(seen[0]), points, queries[:, 0])
    last: list[Share] = first.by_lookup[-1:]
    finding = under("found", "found at last", last, [bound], wanted="below what comparisons can")
    finding.words += f"; {first.in_order.mean():.1%} in order"
    yield from labelled("untrained-hard-15", [finding])
