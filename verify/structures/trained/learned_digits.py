"""The claim `learned-digits`: networks that learn the order of numbers from images."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, NamedTuple

import numpy as np
import torch
from scipy.stats import rankdata

from constructions.trained.tasks import digits
from constructions.trained.tasks.distributions import Sampler, number_images
from theory.structures import Strategy, binary_search, interpolation_search, looked_at, nearest
from verify.claim import Run, claim, option
from verify.evidence.checkpoints import absent, models_of
from verify.evidence.statistics import BY, Mean, above, below, estimated
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
    under,
)

N, M, NUMBERS = 16, 4, 100
SORTED, UNSORTED = 0.8, 0.5  # fractions of cells: minimum after training, maximum before
NEXTS = 0.5  # fraction of numbers: minimum after training, maximum before
FOUND, UNFOUND = (
    0.75,
    0.5,
)  # fractions of queries found at the last lookup: minimum after training, maximum before
READ, UNREAD = 0.9, 0.7  # correlations: minimum after training, maximum before
PERMUTED, TURNED = 0.2, 0.5  # maximum correlations with permuted labels, and with their rotations
DRAWS = 20  # number of draws of images for all numbers; each gives one correlation
LABELS = np.tile(np.arange(NUMBERS), (DRAWS, 1))


class Pictures(NamedTuple):
    """Sets of 16 numbers that are shown by images, and one query for each set.

    The fields are the numbers in ascending order, (sets, 16), the images of the numbers,
    (sets, 16, d), the queried numbers, (sets,), and the images of the queried numbers, (sets, d).
    An image is a vector of d pixels.
    """

    numbers: np.ndarray
    points: np.ndarray
    queried: np.ndarray
    queries: np.ndarray

    @property
    def nearest(self) -> np.ndarray:
        """The index of the number nearest to the query, (sets,).

        Of two equally near numbers, the smaller is the nearest.
        """
        return nearest(self.numbers, self.queried[:, None])[:, 0]


@claim(
    picture="verify.structures.trained.learned_digits_picture:draw",
)
def learned_digits(
    run: Run,
    *,
    samples: Annotated[int, option("number of sets of points", min=500, max=10**5)] = 4000,
) -> Iterator[Finding]:
    """Published observation: networks are trained to find, among 16 numbers shown by images of
    digits, the number nearest to a query.  The networks do not receive the numbers as labels, and
    yet they order held-out images by the numbers shown.  Here the networks order the images by a
    rotation k, …, 99, 0, …, k − 1 of the numbers.

    A number below 100 is shown by an image of the tens digit and an image of the units digit.  The
    training signal is the index of the number nearest to the query.  A small network maps each pair
    of images to one feature (a number).  The data network receives the features and arranges the 16
    numbers in cells.  The query networks receive the feature of the query and choose the cells that
    are looked up.  Three seeds are evaluated separately, on held-out images.

    All thresholds were fixed before these models were trained.  At that time, the results on
    another task were known, in which the number of the query is always one of the 16 numbers.  Such
    a task does not determine an order.  No order was learned, although 87 to 89 % of the queries
    were found.

    number    the rank correlation between the features of images and the numbers that the images
              show is above .9 in absolute value.
    sorted    in more than 80 % of cells, cell c contains the number of rank c among the 16 numbers.
    rotated   for one of the 100 rotations k, …, 99, 0, …, k − 1 of the numbers, the rank
              correlation between the features and the positions of the numbers in this rotation is
              above .9 in absolute value.
    next      for more than half of the numbers, the next cell contains the next larger number of
              the set.  Here the first cell counts as the cell after the last cell.  Likewise the
              smallest number counts as the next larger number of the largest.  The checks `rotated`
              and `next` were added after seed 0 was evaluated, and before the other seeds were
              evaluated.
    ahead     after lookups 1, 2 and 3 the accuracy (the fraction of queries whose nearest number
              has been looked up) is above the accuracy of a binary search of the numbers.
    found     more than 75 % of queries are found after the last lookup.  The accuracy of
              interpolation search of the numbers is reported, too.
    untrained for each seed before training, the values of `sorted`, `next` and `found` are below
              one half, and the rank correlations are below .7.
    permuted  a control: if permuted numbers replace the right numbers, the rank correlation is
              below .2, and below .5 for the best rotation. If each set receives the query of
              another set, less than half of the queries are found.
    """
    if not digits.installed():
        yield absent("digits", f"{digits.NAME} is not installed", 'install "weightwright[digits]"')
        return
    drawn, seen = (
        pictures(run, run.limited(1000, samples=samples)),
        models_of("search-digits-16", KIND),
    )
    shown, measured, numbers = images(run, LABELS), {}, {}
    for name, model, _ in seen:
        found, numbers[name] = found_by(model, drawn), made(model, shown)
        measured[name] = found.by_lookup
        yield from labelled(name, of_digits(run, model, found, drawn, shown))
    for name, *_ in seen:
        first = before(name)
        yield from labelled(name.replace("search", "untrained"), control(first, drawn, shown))
    measured["interpolation, by the numbers"] = by_numbers(interpolation_search(-1, NUMBERS), drawn)
    measured["binary search, by the numbers"] = by_numbers(binary_search, drawn)
    run.draw(measured, numbers, LABELS)


def images(run: Run, numbers: np.ndarray) -> np.ndarray:
    """Held-out images of numbers, (…, d) for numbers (…,)."""
    generator = torch.Generator().manual_seed(int(run.rng.integers(2**31)))
    sampler = Sampler(1, 1, 1, 1, generator, held_out=True)
    return np.asarray(number_images(torch.from_numpy(numbers), sampler).numpy())


def pictures(run: Run, count: int) -> Pictures:
    """Random sets of 16 numbers, and one query for each set."""
    every = np.tile(np.arange(NUMBERS), (count, 1))
    numbers = np.sort(run.rng.permuted(every, axis=1)[:, :N], axis=1)
    queried = run.rng.integers(NUMBERS, size=count)
    return Pictures(numbers, images(run, numbers), queried, images(run, queried))


def found_by(model: Any, drawn: Pictures) -> Measured:
    """The `Measured` lookups of a network on sets of images."""
    return measure(model, drawn.points, drawn.queries, drawn.nearest)


def by_numbers(strategy: Strategy, drawn: Pictures) -> list[Proportion]:
    """The accuracy after each lookup of a strategy that receives the numbers themselves."""
    cells = looked_at(strategy, drawn.numbers, drawn.queried[:, None], M)[:, 0]
    place = np.broadcast_to(np.arange(N), drawn.numbers.shape)
    return Measured(cells, drawn.nearest, place).by_lookup


def made(model: Any, shown: np.ndarray) -> np.ndarray:
    """The feature by which a network orders images, (draws, numbers).

    `shown` contains images, vectors of d pixels, in an array (draws, numbers, d).
    """
    with torch.no_grad():
        parts = [model.numbers(part)[..., 0] for part in torch.from_numpy(shown).split(CHUNK)]
    return np.asarray(torch.cat(parts).numpy())


def correlations(model: Any, shown: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """The rank correlations of the features of images with rotated labels, (rotations, draws).

    The labels are the numbers below 100, and all 100 rotations are used.  `shown` contains images,
    vectors of d pixels, in an array (draws, numbers, d).  `labels` has shape (draws, numbers).
    """
    ranks = rankdata(made(model, shown), axis=1)
    ranks = (ranks - ranks.mean(1, keepdims=True)) / (ranks.std(1, keepdims=True) + 1e-12)
    rotated = (labels - np.arange(NUMBERS)[:, None, None]) % NUMBERS
    return np.asarray((ranks * (rotated - rotated.mean()) / rotated[0, 0].std()).mean(-1))


def nexts(found: Measured) -> np.ndarray:
    """The fraction of numbers that are followed by the next number in the ring of cells, (sets,).

    Cells can be in ascending or descending order; the order with the larger mean is used.
    """
    step = (np.roll(found.place, -1, axis=1) - found.place) % N
    up, down = ((step == way).mean(1) for way in (1, N - 1))
    return np.asarray(max(up, down, key=np.mean))


def of_digits(
    run: Run, model: Any, found: Measured, drawn: Pictures, shown: np.ndarray
) -> Iterator[Finding]:
    """The findings on one network: its order of images, and its accuracies."""
    ranks = correlations(model, shown, LABELS)
    yield _more("number", RANKS, _size(ranks[0]), READ)
    yield _more("rotated", ROTATED, _largest(ranks), READ)
    yield _more("sorted", CELLS, estimated(found.in_order), SORTED)
    yield _more("next", NEXT, estimated(nexts(found)), NEXTS)
    proportions = found.by_lookup
    name = "accuracy after lookups 1 to 3, 16 numbers shown by images"
    halves = by_numbers(binary_search, drawn)
    bounds = [proportion.value for proportion in halves[:-1]]
    wanted = "above the accuracy of binary search of the numbers,"
    yield over("ahead", name, proportions[:-1], bounds, wanted=wanted)
    name = "accuracy after the last lookup, 16 numbers shown by images"
    last = over("found", name, proportions[-1:], [FOUND], wanted="above")
    fixed = by_numbers(interpolation_search(-1, NUMBERS), drawn)
    last.words += f"; after each lookup the network finds {in_per_cent(proportions)} %, "
    last.words += f"interpolation search of the numbers finds {in_per_cent(fixed)} %, "
    last.words += f"and binary search of the numbers finds {in_per_cent(halves)} %"
    yield last
    ranks = correlations(model, shown, run.rng.permuted(LABELS, axis=1))
    yield _less("permuted/number", RANKS, _size(ranks[0]), PERMUTED)
    yield _less("permuted/rotated", ROTATED, _largest(ranks), TURNED)
    rolled = drawn._replace(queries=np.roll(drawn.queries, 1, axis=0))
    found = found_by(model, rolled)
    yield under(
        "permuted/found",
        "accuracy after the last lookup, if each set of numbers receives the query of another set",
        found.by_lookup[-1:],
        [UNFOUND],
        wanted="below",
    )


RANKS = "absolute rank correlation between the features of images and the numbers shown"
ROTATED = f"{RANKS}, in the best rotation of the numbers"
CELLS = "fraction of cells c that contain the number of rank c"
NEXT = "fraction of numbers whose next cell, in the ring of cells, contains the next larger number"


def control(model: Any, drawn: Pictures, shown: np.ndarray) -> Iterator[Finding]:
    """The findings on a network before training."""
    ranks, found = correlations(model, shown, LABELS), found_by(model, drawn)
    yield _less("number", RANKS, _size(ranks[0]), UNREAD)
    yield _less("rotated", ROTATED, _largest(ranks), UNREAD)
    yield _less("next", NEXT, estimated(nexts(found)), NEXTS)
    yield _less("sorted", CELLS, estimated(found.in_order), UNSORTED)
    yield under(
        "found",
        "accuracy after the last lookup before training, 16 numbers shown by images",
        found.by_lookup[-1:],
        [UNFOUND],
        wanted="below",
    )


def _size(signed: np.ndarray) -> Mean:
    """The absolute value of the mean correlation."""
    mean = estimated(signed)
    return mean._replace(mean=abs(mean.mean))


def _largest(signed: np.ndarray) -> Mean:
    """The largest absolute mean of correlations (rotations, draws), over rotations."""
    return _size(signed[abs(signed.mean(1)).argmax()])


def _more(id: str, name: str, found: Mean, least: float) -> Finding:
    wanted = f"above {least:g}, {BY}"
    return above(id, name, found, least, words=f"{found:.3f}", wanted=wanted)


def _less(id: str, name: str, found: Mean, most: float) -> Finding:
    wanted = f"below {most:g}, {BY}"
    return below(id, name, found, most, words=f"{found:.3f}", wanted=wanted)
