"""The claim `connectivity-depth`: which graphs are right to train on depends on depth."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict, labelled
from verify.graphs.trained_models import (
    Trial,
    before_training,
    knows_nothing,
    learns,
    looked_at,
)

ONE, TWO = "connectivity-small-1-layer", "connectivity-small-2-layers"

# Stated before any of these models was looked at.
LEARNED = 0.5  # of graphs as in training: right


@claim(source="[Ye2026], second hand; the models: constructions/trained/models.py", draws=True)
def connectivity_depth(
    run: Run, *, samples: Annotated[int, option("fresh graphs", min=100)] = 2000
) -> Iterator[Finding]:
    """Of standard transformers one layer gains by leaving out graphs beyond distance 3, two lose.

    Rows of A are tokens, softmax, width 64, graphs ER(8, 0.2).  One layer trained on graphs whose
    connected nodes are all within distance 3 is right about more labellings of 2Chain than one
    trained on all graphs.  Two layers, to whose 3² all pairs of 8 nodes are near, are right about
    more graphs beyond distance 3 if trained on all.

    A graph is right if all its pairs are.  Of three seeds each what every one does is told; nothing
    is promised of 2Clique, nor of other sizes.
    """
    trial = Trial.of(run, samples)
    one, two = (looked_at(prefix, "softmax", ("within", "all"), trial) for prefix in (ONE, TWO))
    for by in (one, two):
        for each in (*by["within"], *by["all"]):
            yield from labelled(each.name, [learns(each, LEARNED)])
    yield more(
        "one-layer",
        "one layer is right about 2Chain more often if trained within distance 3",
        [each.right.two_chain for each in one["within"]],
        [each.right.two_chain for each in one["all"]],
    )
    yield more(
        "two-layers",
        "two layers are right about graphs beyond distance 3 more often if trained on all",
        [each.right.beyond for each in two["all"]],
        [each.right.beyond for each in two["within"]],
    )
    for label, prefix in (("untrained one layer", ONE), ("untrained two layers", TWO)):
        yield from labelled(label, [knows_nothing(before_training(prefix), trial)])
    if run.plot:
        from verify.graphs.trained_picture import draw_by_depth

        draw_by_depth(run.plot, one, two)


def more(id: str, name: str, better: list[float], worse: list[float]) -> Finding:
    """Every seed of the one is above every seed of the other."""
    return Finding(
        id,
        name,
        "trained",
        min(better),
        max(worse),
        Verdict.of(min(better) > max(worse)),
        words=f"{_shares(better)}, beside {_shares(worse)}",
        wanted="whichever seeds are compared",
    )


def _shares(values: list[float]) -> str:
    return ", ".join(f"{value:.1%}" for value in values)
