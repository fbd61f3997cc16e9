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
    evaluated,
    learns,
    parts_of,
    untrained_accuracy,
)

Compare = Callable[..., Finding]

CHANNELS, FREE = "connectivity-channels-1-layer", "connectivity-dense-1-layer"

# The thresholds were stated before any of these models was evaluated; the results of [Ye2026]
# were known.
ALMOST = 0.99  # smallest accuracy with free weights
SMALL = 0.01  # largest fraction of squared weights in J (trained within 3), and not invariant
BY_NAME = 0.5  # smallest fraction of squared weights that is not invariant, before training


@claim(
    picture="verify.graphs.trained.pictures:draw",
)
def connectivity_trained(
    run: Run,
    *,
    samples: Annotated[int, option("number of fresh graphs", min=100, max=10**5)] = 2000,
) -> Iterator[Finding]:
    """One layer learns connectivity from graphs with distances ≤ 3, but not from all graphs.

    A disentangled layer appends its output to the stream instead of adding it.  One such layer can
    connect nodes up to distance 3.  It is trained on random graphs ER(8, 0.2): 8 nodes, and each
    edge with probability 0.2.  Its weight matrices are constrained to the form A ⊗ I + B ⊗ J with
    entries ≥ 0, where I is the identity and J the all-ones matrix on the nodes.  If all connected
    nodes of the training graphs are within distance 3, the part B ⊗ J has at most 1 % of the
    squared norm of the weights.  The model is then right on fresh graphs with this property, on
    2Chain (two disjoint paths) and on 2Clique (two disjoint cliques).  If the model is trained on
    all graphs, the part B ⊗ J is larger and the model is wrong on 2Clique.  Free weights, which are
    not constrained, are of the form A ⊗ I + B ⊗ J up to 1 % of their squared norm.  The model with
    free weights is also wrong on 2Clique if it is trained on all graphs.

    A model is right on a graph if its predictions for all pairs of nodes are right.  All 5040
    labellings of 2Chain and all 35 labellings of 2Clique are tested.  Each setting has three seeds,
    and each seed is reported.  Training dynamics, on which [Ye2026] has theorems, are not studied.
    """
    trial = Trial.of(run, samples)
    channels = evaluated(CHANNELS, "disentangled", ("within", "all", "beyond"), trial)
    free = evaluated(FREE, "disentangled", ("within", "all"), trial)
    yield from two_channels_findings(channels)
    yield from free_findings(free)
    yield from controls(trial)
    run.draw(channels, free)


def two_channels_findings(by: Seeds) -> Iterator[Finding]:
    """Checks trained weights A ⊗ I + B ⊗ J, where J is the all-ones matrix.

    After training on graphs within distance 3, the fraction of the squared norm in B ⊗ J must be
    small, and the model must be right on all graphs. After training on other graphs, this fraction
    must be larger, and the model must be wrong on 2Clique.
    """
    for each in by["within"]:
        yield from labelled(
            each.name, [learns(each, 1.0), *families(each, 1.0), little_j(parts_of(each.model))]
        )
    yield from other_data(by)


def free_findings(by: Seeds) -> Iterator[Finding]:
    """Checks that free weights are nearly of the form A ⊗ I + B ⊗ J, J the all-ones matrix.

    After training on graphs within distance 3, the fraction of the squared norm in J must be small.
    """
    for each in by["within"]:
        right = [learns(each, ALMOST), *families(each, ALMOST)]
        yield from labelled(each.name, [*right, little_j(parts_of(each.model))])
    yield from other_data(by)
    for each in (*by["within"], *by["all"]):
        yield from labelled(each.name, [unaided(parts_of(each.model))])


def other_data(by: Seeds) -> Iterator[Finding]:
    """Compares models trained with and without graphs of diameter above 3.

    A graph is "within distance 3" if all of its connected nodes are at distance at most 3. Each
    model that was trained on other graphs is compared with all models that were trained on graphs
    within distance 3.
    """
    least = min((each.right.of("within") for each in by["within"]), key=lambda found: found.mean)
    most = max(parts_of(each.model).j for each in by["within"])
    for each in (seed for kind in by if kind != "within" for seed in by[kind]):
        accuracy = each.right.of("within")
        fewer = Finding(
            "graphs",
            "accuracy on fresh graphs of diameter at most 3, compared with the models trained on "
            "such graphs",
            "trained",
            accuracy.value,
            least.value,
            sign_of(*apart(accuracy, least)),
            words=f"{each.right.within:.1%}; on graphs as in training {each.right}",
            wanted=f"below {least:.1%}, the smallest accuracy of those models, {BY}",
        )
        wrong = at_most(
            "two-clique",
            "accuracy on 2Clique, two disjoint cliques",
            "trained",
            each.right.two_clique,
            0.0,
            words=f"right on {each.right.two_clique:.1%} of the labellings",
            wanted="right on none",
        )
        parts = parts_of(each.model)
        larger = Finding(
            "J",
            "fraction of the squared norm of the weights in the channel J, the all-ones matrix, "
            "compared with the models trained on graphs of diameter at most 3",
            "trained",
            parts.j,
            most,
            Verdict.of(parts.j > most),
            words=f"{parts}"
            + (f"; {parts.j / most:.3g} times the largest in J of those models" if most else ""),
            wanted=f"above {most:.2g} in J",
        )
        yield from labelled(each.name, [fewer, wrong, larger])


def families(each: Seen, least: float) -> Iterator[Finding]:
    """Checks that the accuracies on 2Chain and on 2Clique are at least `least`."""
    for id, name, accuracy in (
        ("two-chain", "2Chain, two disjoint paths", each.right.two_chain),
        ("two-clique", "2Clique, two disjoint cliques", each.right.two_clique),
    ):
        yield at_least(
            id,
            f"accuracy on {name}",
            "trained",
            accuracy,
            least,
            words=f"right on {accuracy:.1%} of the labellings",
            wanted=f"right on at least {least:.0%}",
        )


def little_j(parts: Parts) -> Finding:
    """Checks that the fraction of the squared norm of the weights in the channel J is small."""
    return of_parts(
        "J",
        "fraction of the squared norm of the weights in the channel J, the all-ones matrix",
        at_most,
        parts,
        "j",
        SMALL,
    )


def unaided(parts: Parts) -> Finding:
    """Checks that the fraction of the squared norm outside the channels I and J is small."""
    name = "fraction of the squared norm of the weights that is not invariant under relabelling"
    return of_parts("channels", name, at_most, parts, "rest", SMALL)


def controls(trial: Trial) -> Iterator[Finding]:
    """Checks that models before training are not right, and have weights in the channel J.

    J is the all-ones matrix. Free weights must not be near the form A ⊗ I + B ⊗ J, where I is the
    identity.
    """
    channels, free = before_training(CHANNELS), before_training(FREE)
    for label, model in (("untrained channels", channels), ("untrained free weights", free)):
        yield from labelled(label, [untrained_accuracy(model, trial), much_j(parts_of(model))])
    yield from labelled("untrained free weights", [by_name(parts_of(free))])


def much_j(parts: Parts) -> Finding:
    """Checks that before training the fraction of the squared norm in the channel J is not small.

    For weights A ⊗ I + B ⊗ J on n nodes, where J is the all-ones matrix, the fraction is near 1/(n
    + 1).
    """
    return of_parts(
        "J",
        "fraction of the squared norm of the weights in the channel J, the all-ones matrix, "
        "before training",
        at_least,
        parts,
        "j",
        SMALL,
    )


def by_name(parts: Parts) -> Finding:
    """Checks that before training most of the squared norm is outside the channels I and J."""
    name = (
        "fraction of the squared norm of the weights that is not invariant under relabelling, "
        "before training"
    )
    return of_parts("channels", name, at_least, parts, "rest", BY_NAME)


def of_parts(
    id: str, name: str, compare: Compare, parts: Parts, which: str, bound: float
) -> Finding:
    """Compares a fraction of the squared norm of the weights with its bound."""
    part = {"j": "in J", "rest": "not invariant"}[which]
    wanted = f"{'at most' if compare is at_most else 'at least'} {bound:g} {part}"
    value, words = getattr(parts, which), str(parts)
    if which == "rest":  # the compared part first
        words = "; ".join([*words.split("; ")[-1:], *words.split("; ")[:-1]])
    return compare(id, name, "trained", value, bound, words=words, wanted=wanted)
