"""The claim `connectivity-trained`: one layer trained on graphs within and beyond capacity."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

from verify.claim import Run, claim, option
from verify.evidence.groups import apart
from verify.evidence.statistics import BY, sign_of
from verify.finding import Finding, Verdict, at_least, at_most, labelled
from verify.graphs.trained.trial import (
    Parts,
    Seeds,
    Seen,
    Trial,
    before_training,
    knows_nothing,
    learns,
    looked_at,
    parts_of,
)

Compare = Callable[..., Finding]

CHANNELS, FREE = "connectivity-channels-1-layer", "connectivity-dense-1-layer"

# Stated before any of these models was looked at, with what [Ye2026] reports known.
ALMOST = 0.99  # of graphs: right, for free weights
SMALL = 0.01  # of squared weights: in J where data are right; what depends on names of nodes
BY_NAME = 0.5  # of squared weights: what depends on names at least, without training


@claim(
    source="[Ye2026], second hand; the models: constructions/trained/disentangled.py",
    picture="verify.graphs.trained.pictures:draw",
)
def connectivity_trained(
    run: Run, *, samples: Annotated[int, option("fresh graphs", min=100)] = 2000
) -> Iterator[Finding]:
    """One layer learns connectivity from graphs within its capacity, and not from others.

    One disentangled layer, whose capacity is distance 3, trained on graphs ER(8, 0.2).  If all
    connected nodes of the training graphs are within distance 3, weights A ⊗ I + B ⊗ J ≥ 0 have at
    most 1 % of their squared norm in J and are right on fresh graphs of that kind, 2Chain and
    2Clique.  If not, J is larger and 2Clique wrong.  Free weights become A ⊗ I + B ⊗ J with nothing
    imposed, and also fail on 2Clique if trained on all graphs.

    A graph is right if all its pairs are.  2Chain and 2Clique come in all 5040 and 35 labellings.
    There are three seeds of everything and each is reported.  The course of training, on which
    [Ye2026] has theorems, is not studied.
    """
    trial = Trial.of(run, samples)
    channels = looked_at(CHANNELS, "disentangled", ("within", "all", "beyond"), trial)
    free = looked_at(FREE, "disentangled", ("within", "all"), trial)
    yield from two_channels_findings(channels)
    yield from free_findings(free)
    yield from controls(trial)
    run.draw(channels, free)


def two_channels_findings(by: Seeds) -> Iterator[Finding]:
    """Right about everything with hardly any J; with other data J is larger and 2Clique wrong."""
    for each in by["within"]:
        yield from labelled(
            each.name, [learns(each, 1.0), *families(each, 1.0), little_j(parts_of(each.model))]
        )
    yield from other_data(by)


def free_findings(by: Seeds) -> Iterator[Finding]:
    """The two channels are found unaided, with hardly any J where data are right."""
    for each in by["within"]:
        right = [learns(each, ALMOST), *families(each, ALMOST)]
        yield from labelled(each.name, [*right, little_j(parts_of(each.model))])
    yield from other_data(by)
    for each in (*by["within"], *by["all"]):
        yield from labelled(each.name, [unaided(parts_of(each.model))])


def other_data(by: Seeds) -> Iterator[Finding]:
    """What all models that were trained on other graphs than those within capacity have in common,
    beside all that were."""
    least = min((each.right.of("within") for each in by["within"]), key=lambda share: share.mean)
    most = max(parts_of(each.model).j for each in by["within"])
    for each in (seed for kind in by if kind != "within" for seed in by[kind]):
        share = each.right.of("within")
        fewer = Finding(
            "graphs",
            "right about fewer graphs within capacity than with right data",
            "trained",
            share.value,
            least.value,
            sign_of(*apart(share, least)),
            words=str(each.right),
            wanted=f"below {least:.1%}, {BY}",
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


def little_j(parts: Parts) -> Finding:
    """Hardly any of the squared weights is J's."""
    return of_parts("J", "hardly any J", at_most, parts, "j", SMALL)


def unaided(parts: Parts) -> Finding:
    """Hardly any of the squared weights depends on the names of nodes."""
    return of_parts("channels", "two channels, with nothing imposed", at_most, parts, "rest", SMALL)


def controls(trial: Trial) -> Iterator[Finding]:
    """Before training hardly a graph is right, J is not small, and free weights are not in two
    channels."""
    channels, free = before_training(CHANNELS), before_training(FREE)
    for label, model in (("untrained channels", channels), ("untrained free weights", free)):
        yield from labelled(label, [knows_nothing(model, trial), much_j(parts_of(model))])
    yield from labelled("untrained free weights", [by_name(parts_of(free))])


def much_j(parts: Parts) -> Finding:
    """What `little_j` does not find small: in two channels J starts as about 1/(n + 1)."""
    return of_parts("J", "more than hardly any J", at_least, parts, "j", SMALL)


def by_name(parts: Parts) -> Finding:
    """Most of the squared weights depends on the names of nodes."""
    return of_parts("channels", "not in two channels", at_least, parts, "rest", BY_NAME)


def of_parts(
    id: str, name: str, compare: Compare, parts: Parts, which: str, bound: float
) -> Finding:
    """A part of the squared weights beside its bound."""
    wanted = f"{which} {'at most' if compare is at_most else 'at least'} {bound:g}"
    value = getattr(parts, which)
    return compare(id, name, "trained", value, bound, words=str(parts), wanted=wanted)
