"""The claim `connectivity-depth`: which graphs are right to train on depends on depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from verify.claim import Run, claim, option
from verify.evidence.statistics import BY, Mean, sign_of
from verify.finding import Finding, labelled
from verify.graphs.trained_models import (
    Seeds,
    Trial,
    before_training,
    knows_nothing,
    learns,
    looked_at,
)

ONE, TWO = "connectivity-small-1-layer", "connectivity-small-2-layers"

# Stated before any of these models was trained, with shares that two seeds of each had elsewhere
# known, and of 2Clique those of three seeds of one layer.
LEARNED = 0.5  # of graphs as in training: right; 59 % of all are within distance 3


@claim(source="[Ye2026], second hand; the models: constructions/trained/models.py", draws=True)
def connectivity_depth(
    run: Run, *, samples: Annotated[int, option("fresh graphs", min=100)] = 2000
) -> Iterator[Finding]:
    """Standard transformers of one layer gain by leaving out graphs beyond distance 3, of two lose.

    Rows of A are tokens without positions, softmax, width 64, graphs ER(8, 0.2).  One layer trained
    on graphs whose connected nodes are all within distance 3 is right about more labellings of
    2Chain, and about more fresh graphs of that kind, than one trained on all graphs.  Two layers,
    to whose 3² all pairs of 8 nodes are near, are right about more graphs beyond distance 3 if
    trained on all; and so trained they are right about more of them than one layer.

    A graph is right if all its pairs are.  Of three seeds of each, every one is above every one of
    the others; if there were no difference, that would come about in one of 20 cases.  Nothing is
    promised of 2Clique, nor of other sizes.
    """
    trial = Trial.of(run, samples)
    one, two = (looked_at(prefix, "softmax", ("within", "all"), trial) for prefix in (ONE, TWO))
    for by in (one, two):
        for each in (*by["within"], *by["all"]):
            yield from labelled(each.name, [learns(each, LEARNED)])
    yield from by_depth(one, two)
    for label, prefix in (("untrained one layer", ONE), ("untrained two layers", TWO)):
        yield from labelled(label, [knows_nothing(before_training(prefix), trial)])
    if run.plot:
        from verify.graphs.trained_picture import draw_by_depth

        draw_by_depth(run.plot, one, two)


def by_depth(one: Seeds, two: Seeds) -> Iterator[Finding]:
    """What graphs of training and depth change."""
    yield more(
        "one-layer/two-chain",
        "one layer is right about 2Chain more often if trained within distance 3",
        [each.right.of("two_chain") for each in one["within"]],
        [each.right.of("two_chain") for each in one["all"]],
    )
    yield more(
        "one-layer/within",
        "one layer is right about graphs within distance 3 more often if trained on these alone",
        [each.right.of("within") for each in one["within"]],
        [each.right.of("within") for each in one["all"]],
    )
    yield more(
        "two-layers/beyond",
        "two layers are right about graphs beyond distance 3 more often if trained on all",
        [each.right.of("beyond") for each in two["all"]],
        [each.right.of("beyond") for each in two["within"]],
    )
    yield more(
        "depth/beyond",
        "trained on all, two layers are right about graphs beyond distance 3 more often than one",
        [each.right.of("beyond") for each in two["all"]],
        [each.right.of("beyond") for each in one["all"]],
    )


def more(id: str, name: str, better: list[Mean], worse: list[Mean]) -> Finding:
    """Every seed of the one is above every seed of the other, by standard errors of both."""
    least, most = min(better), max(worse)
    error = max((a.error**2 + b.error**2) ** 0.5 for a in better for b in worse)
    return Finding(
        id,
        name,
        "trained",
        least.mean,
        most.mean,
        sign_of(least.mean - most.mean, error),
        words=f"{_shares(better)}, beside {_shares(worse)}",
        wanted=f"every seed of the one above every seed of the other, {BY}",
    )


def _shares(values: list[Mean]) -> str:
    return ", ".join(f"{each.mean:.1%}" for each in values)
