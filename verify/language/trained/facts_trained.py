"""The claim `facts-trained`: memorising documents trades hallucination for over-confidence."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from constructions import string_probabilities
from constructions.trained import configuration_of, untrained
from constructions.trained.tasks.facts import Facts
from theory.language.documents import numbers
from theory.language.rescaling import uniform_fraction
from theory.language.worlds import MODELS
from verify.claim import Run, claim
from verify.evidence.checkpoints import runs_of
from verify.finding import Finding, Verdict, at_least, at_most, each_at_most, labelled
from verify.language.bounds import shown, unless_vacuous
from verify.language.trained.figures import (
    GAMMA,
    Figures,
    Snapshot,
    figures,
    string_distribution,
)

NAME, QUICK = "facts-small-2-layers", "facts-tiny-2-layers"
KIND = "a softmax transformer trained on facts"
LEARNED = 0.95
FRESH = 1000  # documents for recalibration
ROUNDING = 1e-4  # rounding of sums of 64^4 probabilities from float32 logits
UNTRAINED = 10  # recall and 1 − g(H) of an untrained model are at most UNTRAINED/|F|


@claim(
    picture="verify.language.trained.facts_trained_picture:draw",
)
def facts_trained(run: Run) -> Iterator[Finding]:
    """Observation: as a transformer memorises documents, falsehoods give way to over-confidence.

    There are 4096 facts among 64^4 strings.  A fact is a name of two digits in base 64, followed by
    a value of two digits.  A document is one fact, and training is on 2048 random documents for 96
    epochs.  The model's probabilities of all strings are computed, so that every measure is exact
    up to float32.  One training run has snapshots (stored models) at epochs 2, 8, 16, 32 and 96,
    and two more training runs have snapshots at epochs 2 and 96.

    Let p be the distribution of documents, g a model, and g(H) its hallucination rate (the
    probability of strings that are not facts).  The over-confidence is δ⁺ = (g(A) − p(A))⁺, where A
    is the set of strings to which g gives a probability above 1/(number of unseen strings).  Let
    p(U) be the probability of unseen facts and |F| the number of facts.  Recall is the mean, over
    the seen facts, of the model's probability of the right value given the name.  Thresholds were
    stated before any of these models was trained.  At that time, the result of one run of another
    training program was known: recall .99, g(H) = .14 and δ⁺ = .60 at the end, for p(U) = .61.  To
    avoid thresholds that are fitted to this result, p(U)/2 was chosen.

    sure          For every model, g(H) is at least the deterministic lower bound, which is proved
                  (claim `hallucination`).
    printed       g(H) is at least the lower bound of [KalaiVempala2024] if this bound is positive.
                  This bound contains the miscalibration, which is measured in ten bins of equal
                  probability under the model.  The theorem of [KalaiVempala2024] requires that
                  unseen strings are equally likely to be facts, and does not apply here: a seen
                  name has no other value.
    trade         In every run, g(H) falls and δ⁺ rises from each snapshot to the next.
    learned       At the end, recall is above .95 in every run.
    memorised     At the end, g(H) ≤ p(U)/2 and δ⁺ ≥ p(U)/2 in every run.
    early         After 2 epochs, δ⁺ ≤ p(U)/2 and g(H) ≥ p(U)/2.
    recalibrated  The last model of every run is mixed with the uniform distribution of all
                  strings.  The weight of this distribution is fitted to fresh documents.  The
                  mixture has δ⁺ ≤ p(U)/2 and g(H) ≥ p(U)/2 again.

    The null models are an untrained model, with recall below 10/|F| and g(H) above 1 − 10/|F|, and
    three hand-built models.  The calibrated model gives seen facts their true probabilities, the
    Good–Turing model gives them frequencies reduced by the Good–Turing estimate of the unseen mass,
    and both distribute the rest uniformly over the unseen strings.  The memoriser gives seen facts
    their frequencies in the documents.  The calibrated and Good–Turing models have δ⁺ ≤ p(U)/2 and
    g(H) ≥ p(U)/2; the memoriser has g(H) ≤ p(U)/2 and δ⁺ ≥ p(U)/2.
    """
    found: dict[str, list[Snapshot]] = {}
    again: dict[str, Figures] = {}
    for name, models in runs_of(QUICK if run.quick else NAME, KIND).items():
        for each in run.progress(models, f"strings of {name}"):
            probabilities = string_probabilities(each.model, each.task.length).numpy()
            found.setdefault(name, []).append(
                Snapshot(each.steps, figures(each.task, probabilities))
            )
        again[name] = figures(each.task, recalibrated(each.task, probabilities, run.rng)[1])
    yield from findings(found, again, bounded=not run.quick)
    task, before = each.task, untrained(configuration_of(each.path))
    yield from control(task, string_probabilities(before, task.length).numpy())
    yield from planted(task)
    run.draw(found, again, task)


def recalibrated(
    task: Facts, probabilities: np.ndarray, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """The model mixed with a uniform component: the weight of this component, and the mixture.

    The weight maximises the likelihood of fresh documents.  `probabilities` are the model's
    probabilities of all strings.
    """
    fresh = task.facts[rng.integers(len(task.facts), size=FRESH)]
    weight = uniform_fraction(probabilities[numbers(fresh, task.base)], len(probabilities))
    return weight, (1 - weight) * probabilities + weight / len(probabilities)


def findings(
    runs: dict[str, list[Snapshot]], again: dict[str, Figures], *, bounded: bool = True
) -> Iterator[Finding]:
    """The findings on the snapshots of each run, in order, and on the recalibrated last snapshots.

    Unless `bounded`, the bound of [KalaiVempala2024] is omitted, as it is vacuous for tiny worlds.
    """
    for name, run in runs.items():
        yield from labelled(name, along(run, bounded))
    last = {name: run[-1].figures for name, run in runs.items()}
    yield at_least(
        "learned",
        "recall of the seen facts at the end of training, by run",
        "trained",
        min(each.recall for each in last.values()),
        LEARNED,
        wanted=f"a recall of at least {LEARNED:.0%} in every run",
        words=", ".join(f"{each.recall:.1%} for {name}" for name, each in last.items()),
    )
    yield from halves("memorised", "at the end of training", last, early=False)
    first = {name: run[0].figures for name, run in runs.items()}
    yield from halves("early", "after 2 epochs", first, early=True)
    yield from halves(
        "recalibrated", "after mixing with the uniform distribution", again, early=True
    )


def along(run: list[Snapshot], bounded: bool) -> Iterator[Finding]:
    """The findings on one run: the bounds for each snapshot, and the trade-off along the run.

    Unless `bounded`, the bound of [KalaiVempala2024] is omitted.
    """
    each = [snapshot.figures for snapshot in run]
    yield at_least(
        "sure",
        f"hallucination rate g(H), compared with the deterministic bound, at {len(run)} snapshots",
        "float",
        min(of.hallucination - of.deterministic for of in each) + ROUNDING,
        0,
        words="; ".join(f"at step {one.steps}, {one.figures}" for one in run),
        wanted="g(H) at least the deterministic bound at every snapshot",
    )
    if bounded:
        bounded_ones = [of for of in each if of.printed > 0]
        found = at_least(
            "printed",
            "hallucination rate g(H), compared with the lower bound of [KalaiVempala2024] that "
            f"holds with probability {1 - GAMMA:g}, at the snapshots with a positive bound",
            "trained",
            min((of.hallucination - of.printed for of in bounded_ones), default=0.0),
            0,
            words=f"the bound is positive for {len(bounded_ones)} of {len(run)} snapshots",
            wanted="g(H) at least the bound at these snapshots",
        )
        yield unless_vacuous(found, max(of.printed for of in each))
    rises = [after.hallucination - before.hallucination for before, after in pairwise(each)]
    falls = [before.over_confidence - after.over_confidence for before, after in pairwise(each)]
    yield Finding(
        "trade",
        "hallucination rate g(H) and over-confidence δ⁺ at the snapshots of the run, in order",
        "trained",
        {"g(H)": max(rises), "δ⁺": max(falls)},
        {"g(H)": 0, "δ⁺": 0},
        Verdict.of(max(*rises, *falls) < 0),
        words=f"g(H) {_course([of.hallucination for of in each])}; "
        f"δ⁺ {_course([of.over_confidence for of in each])}",
        wanted="g(H) decreases and δ⁺ increases from each snapshot to the next",
    )


def _course(values: list[float]) -> str:
    return " → ".join(f"{value:.3f}" for value in values)


def halves(id: str, when: str, of: dict[str, Figures], *, early: bool) -> Iterator[Finding]:
    """The findings that compare hallucination and over-confidence with half of the unseen mass.

    With `early`, the hallucination rate must be at least this half and the over-confidence at most
    this half; otherwise the reverse.  `when` is the time of the models, as text.
    """
    for part, what, above in (
        ("falsehoods", "hallucination", early),
        ("over", "over_confidence", not early),
    ):
        sign = -1 if above else 1
        bounds = {
            name: f", where the deterministic bound is {shown(each.deterministic, 3)}"
            * (part == "falsehoods")
            for name, each in of.items()
        }
        words = "; ".join(
            f"{getattr(each, what):.3f} for {called(name)}{bounds[name]}"
            for name, each in of.items()
        )
        yield each_at_most(
            f"{id}/{part}",
            f"{'hallucination rate' if part == 'falsehoods' else 'over-confidence'} {when}",
            "trained",
            {name: sign * getattr(each, what) for name, each in of.items()},
            {name: sign * each.unseen / 2 for name, each in of.items()},
            words=words,
            wanted=f"{'at least' if above else 'at most'} half of the probability of unseen facts, "
            "that is, " + ", ".join(sorted({f"{each.unseen / 2:.3f}" for each in of.values()})),
        )


def called(name: str) -> str:
    """The name of a run or of a hand-built model in a sentence."""
    return f"the {name} model" if name in MODELS else name


def control(task: Facts, probabilities: np.ndarray) -> Iterator[Finding]:
    """The findings on the null model: recall is near 0 and hallucination near 1 before training."""
    of, most = figures(task, probabilities), UNTRAINED / len(task.facts)
    yield at_most(
        "untrained/recall",
        "recall of the seen facts before training",
        "trained",
        of.recall,
        most,
        words=f"{of.recall:.5f}",
        wanted=f"at most {UNTRAINED}/(number of facts) = {most:.5f}",
    )
    yield at_least(
        "untrained/falsehoods",
        "hallucination rate before training",
        "trained",
        of.hallucination,
        1 - most,
        words=f"{of.hallucination:.5f}",
        wanted=f"at least 1 − {UNTRAINED}/(number of facts) = {1 - most:.5f}",
    )


def planted(task: Facts) -> Iterator[Finding]:
    """The findings on hand-built models, on the two sides of the thresholds.

    The calibrated and Good–Turing models must be on the same side as the first snapshot, and the
    memoriser on the same side as the last snapshot.
    """
    for name in MODELS:
        of: dict[str, Figures] = {name: figures(task, string_distribution(task, name))}
        yield from halves(f"planted/{name}", "of a hand-built model", of, early=name != "memoriser")
