"""The claim `connectivity-trained`: what a layer learns from graphs within and beyond capacity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

from verify.claim import Run, claim, option
from verify.finding import Finding, Verdict, at_least, at_most, labelled
from verify.graphs.trained_models import (
    Seeds,
    Seen,
    Trial,
    before_training,
    knows_nothing,
    learns,
    looked_at,
    parts_of,
)

if TYPE_CHECKING:
    from constructions.transformer import Transformer

CHANNELS, FREE = "connectivity-channels-1-layer", "connectivity-dense-1-layer"

# Stated before any of these models was looked at, with what [Ye2026] reports known.
ALMOST = 0.99  # of graphs: right, for free weights
SMALL = 0.01  # of squared weights: in J where data are right; what depends on names of nodes
BY_NAME = 0.5  # of squared weights: what depends on names at least, without training


@claim(
    source="[Ye2026], second hand; the models: constructions/trained/disentangled.py", draws=True
)
def connectivity_trained(
    run: Run, *, samples: Annotated[int, option("fresh graphs", min=100)] = 2000
) -> Iterator[Finding]:
    """One layer learns who is connected from graphs within its capacity, and not from others.

    On graphs ER(8, 0.2), one disentangled layer, whose capacity is distance 3.  If all connected
    nodes of the training graphs are as near, two non-negative channels A ⊗ I + B ⊗ J come out with
    hardly any J and are right about fresh graphs of the kind, 2Chain and 2Clique.  If not, J is
    larger and 2Clique wrong.  Free weights find the two channels unaided, and fail on 2Clique, too,
    if trained on all graphs.

    A graph is right if all its pairs are.  2Chain and 2Clique come in all 5040 and 35 labellings.
    There are three seeds of everything and each is told; of how weights move in training, which
    [Ye2026] has theorems on, nothing is said.
    """
    trial = Trial.of(run, samples)
    channels = looked_at(CHANNELS, "disentangled", ("within", "all", "beyond"), trial)
    free = looked_at(FREE, "disentangled", ("within", "all"), trial)
    yield from two_channels_findings(channels)
    yield from free_findings(free)
    yield from controls(trial)
    if run.plot:
        from verify.graphs.trained_picture import draw

        draw(run.plot, channels, free)


def two_channels_findings(by: Seeds) -> Iterator[Finding]:
    """Right about everything with hardly any J; with other data J is larger and 2Clique wrong."""
    for each in by["within"]:
        yield from labelled(each.name, [learns(each, 1.0), *families(each, 1.0), little_j(each)])
    yield from other_data(by)


def free_findings(by: Seeds) -> Iterator[Finding]:
    """The two channels are found unaided, with hardly any J where data are right."""
    for each in by["within"]:
        right = [learns(each, ALMOST), *families(each, ALMOST)]
        yield from labelled(each.name, [*right, little_j(each)])
    yield from other_data(by)
    for each in (*by["within"], *by["all"]):
        yield from labelled(each.name, [unaided(each)])


def other_data(by: Seeds) -> Iterator[Finding]:
    """What all models that were trained on other graphs than those within capacity have in common,
    beside all that were."""
    least = min(each.right.own for each in by["within"])
    most = max(parts_of(each.model).j for each in by["within"])
    for each in (seed for kind in by if kind != "within" for seed in by[kind]):
        fewer = Finding(
            "graphs",
            "right about fewer graphs as in training than with right data",
            "trained",
            each.right.own,
            least,
            Verdict.of(each.right.own < least),
            words=str(each.right),
            wanted=f"below {least:.1%}",
        )
        wrong = at_most(
            "two-clique",
            "wrong about 2Clique",
            "trained",
            each.right.two_clique,
            0.0,
            words=f"{each.right.two_clique:.1%} of its labellings are right",
            wanted="none",
        )
        parts = parts_of(each.model)
        larger = Finding(
            "J",
            "a larger J than with right data",
            "trained",
            parts.j,
            most,
            Verdict.of(parts.j > most),
            words=f"{parts}" + (f"; {parts.j / most:.2g} times as much" if most else ""),
            wanted=f"J above {most:.2g}",
        )
        yield from labelled(each.name, [fewer, wrong, larger])


def families(each: Seen, least: float) -> Iterator[Finding]:
    """Right about 2Chain and about 2Clique."""
    for id, name, share in (
        ("two-chain", "2Chain", each.right.two_chain),
        ("two-clique", "2Clique", each.right.two_clique),
    ):
        yield at_least(
            id,
            f"right about {name}",
            "trained",
            share,
            least,
            words=f"{share:.1%} of its labellings",
            wanted=f"at least {least:.0%}",
        )


def little_j(each: Seen) -> Finding:
    """Hardly any of the squared weights is J's."""
    parts = parts_of(each.model)
    return at_most(
        "J",
        "hardly any J",
        "trained",
        parts.j,
        SMALL,
        words=str(parts),
        wanted=f"J at most {SMALL:g}",
    )


def unaided(each: Seen) -> Finding:
    """Hardly any of the squared weights depends on the names of nodes."""
    parts = parts_of(each.model)
    return at_most(
        "channels",
        "two channels, with nothing imposed",
        "trained",
        parts.rest,
        SMALL,
        words=str(parts),
        wanted=f"rest at most {SMALL:g}",
    )


def controls(trial: Trial) -> Iterator[Finding]:
    """Before training hardly a graph is right, and free weights are not in two channels."""
    channels, free = before_training(CHANNELS), before_training(FREE)
    yield from labelled("untrained channels", [knows_nothing(channels, trial)])
    yield from labelled("untrained free weights", [knows_nothing(free, trial), by_name(free)])


def by_name(model: Transformer) -> Finding:
    """Most of the squared weights depends on the names of nodes."""
    parts = parts_of(model)
    return at_least(
        "channels",
        "not in two channels",
        "trained",
        parts.rest,
        BY_NAME,
        words=str(parts),
        wanted=f"rest at least {BY_NAME:g}",
    )
