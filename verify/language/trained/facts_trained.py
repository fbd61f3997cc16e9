"""The claim `facts-trained`: what a model that learns documents by heart hallucinates less, it is
over-confident by, at least."""

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
from verify.language.trained.figures import CHANCE, Figures, Kept, figures, law

NAME, QUICK = "facts-small-2-layers", "facts-tiny-2-layers"
KIND = "a softmax transformer trained on facts"
LEARNED = 0.95
FRESH = 1000  # documents for recalibration
ROUNDING = 1e-4  # of 64^4 chances by float32 logits
UNTRAINED = 10  # times 1/|F|: recall at most, and g(H) short of 1 at most


@claim(
    source="[KalaiVempala2024]; measured, bounds as in `hallucination`",
    picture="verify.language.trained.facts_trained_picture:draw",
)
def facts_trained(run: Run) -> Iterator[Finding]:
    """Observation: as a transformer memorises documents, falsehoods give way to over-confidence.

    4096 facts (a name of two digits to base 64 and its value) among 64^4 strings, 2048 documents,
    which a model goes through 96 times.  All strings are scored, so that every figure of a model is
    exact up to float32.  One run is kept at epochs 2, 8, 16, 32 and 96, two more at 2 and 96.
    Stated before any of these models was trained; a run of another program had been seen (recall
    .99, g(H) .14 and δ⁺ .60 at the end, p(U) .61), so the thresholds are halves and not fitted:

    sure          g(H) + δ⁺ is at least the sure bound and δ⁺, for every model: it must be
    printed       where the printed bound is above 0, it is at most g(H); with the miscalibration
                  in ten bins of equal g for Mis.  No theorem says so here: these facts are not
                  regular, as a name that was seen has no other value
    trade         along every run, from each model that is kept to the next, g(H) falls and δ⁺ rises
    learned       at the end recall is above .95, in every seed
    by-heart      at the end g(H) ≤ p(U)/2 and δ⁺ ≥ p(U)/2, in every seed: hallucination has become
                  over-confidence
    early         after 2 epochs δ⁺ ≤ p(U)/2 and g(H) ≥ p(U)/2
    recalibrated  mixed with the uniform law by one number that is fitted on fresh documents, the
                  last model of every seed has δ⁺ ≤ p(U)/2 and g(H) ≥ p(U)/2 again

    Null models: an untrained one (recall below 10/|F|, g(H) above 1 − 10/|F|), and planted ones,
    calibrated, Good–Turing and memoriser, on opposite sides of these thresholds.
    """
    found: dict[str, list[Kept]] = {}
    again: dict[str, Figures] = {}
    for name, models in runs_of(QUICK if run.quick else NAME, KIND).items():
        for each in run.progress(models, f"strings of {name}"):
            chances = string_probabilities(each.model, each.task.length).numpy()
            found.setdefault(name, []).append(Kept(each.steps, figures(each.task, chances)))
        again[name] = figures(each.task, recalibrated(each.task, chances, run.rng)[1])
    yield from findings(found, again, bounded=not run.quick)
    task, before = each.task, untrained(configuration_of(each.path))
    yield from control(task, string_probabilities(before, task.length).numpy())
    yield from planted(task)
    run.draw(found, again, task)


def recalibrated(
    task: Facts, chances: np.ndarray, rng: np.random.Generator
) -> tuple[float, np.ndarray]:
    """The share of the uniform law under which fresh documents are likeliest, and the mixture."""
    fresh = task.facts[rng.integers(len(task.facts), size=FRESH)]
    share = uniform_fraction(chances[numbers(fresh, task.base)], len(chances))
    return share, (1 - share) * chances + share / len(chances)


def findings(
    runs: dict[str, list[Kept]], again: dict[str, Figures], *, bounded: bool = True
) -> Iterator[Finding]:
    """Of models kept along each run, the last one last; and of the last ones recalibrated.

    `bounded` says whether the printed bound is asked about: of tiny worlds it says nothing.
    """
    for name, run in runs.items():
        yield from labelled(name, along(run, bounded))
    last = {name: run[-1].figures for name, run in runs.items()}
    yield at_least(
        "learned",
        "what was seen is known at the end",
        "trained",
        min(each.recall for each in last.values()),
        LEARNED,
        words=", ".join(f"{name} {each.recall:.1%}" for name, each in last.items()),
    )
    yield from halves("by-heart", "at the end", last, early=False)
    first = {name: run[0].figures for name, run in runs.items()}
    yield from halves("early", "at first", first, early=True)
    yield from halves("recalibrated", "recalibrated by one number", again, early=True)


def along(run: list[Kept], bounded: bool) -> Iterator[Finding]:
    """The findings on one run: bounds on each of its models, and what becomes of what."""
    each = [kept.figures for kept in run]
    yield at_least(
        "sure",
        f"g(H) of {len(run)} models, all strings scored, beside the sure bound",
        "float",
        min(of.said - of.sure for of in each) + ROUNDING,
        0,
        words="; ".join(f"step {kept.steps}: {kept.figures}" for kept in run),
        wanted="at least the sure bound",
    )
    if bounded:
        says = [of for of in each if of.printed > 0]
        found = at_least(
            "printed",
            f"g(H) beside MF − Mis − 3e^(−s)/γ − √(6 ln(6/γ)/n), γ = {CHANCE:g} (of regular facts)",
            "trained",
            min((of.said - of.printed for of in says), default=0.0),
            0,
            words=f"it says something of {len(says)} of {len(run)} models",
            wanted="at least the printed bound",
        )
        yield unless_vacuous(found, max(of.printed for of in each))
    rises = [after.said - before.said for before, after in pairwise(each)]
    falls = [before.over - after.over for before, after in pairwise(each)]
    yield Finding(
        "trade",
        "hallucination falls as over-confidence rises",
        "trained",
        {"g(H)": max(rises), "δ⁺": max(falls)},
        {"g(H)": 0, "δ⁺": 0},
        Verdict.of(max(*rises, *falls) < 0),
        words=f"g(H) {_course([of.said for of in each])}; δ⁺ {_course([of.over for of in each])}",
        wanted="the one down and the other up from each model to the next",
    )


def _course(values: list[float]) -> str:
    return " → ".join(f"{value:.3f}" for value in values)


def halves(id: str, when: str, of: dict[str, Figures], *, early: bool) -> Iterator[Finding]:
    """g(H) and δ⁺ on their sides of p(U)/2: the first above and the other below, or the reverse."""
    for what, above in (("said", early), ("over", not early)):
        sign = -1 if above else 1
        bounds = {name: f" ≥ {shown(each.sure, 3)}" * (what == "said") for name, each in of.items()}
        words = ", ".join(
            f"{name} {getattr(each, what):.3f}{bounds[name]}" for name, each in of.items()
        )
        yield each_at_most(
            f"{id}/{what}",
            f"{'g(H)' if what == 'said' else 'δ⁺'} {when}",
            "trained",
            {name: sign * getattr(each, what) for name, each in of.items()},
            {name: sign * each.unseen / 2 for name, each in of.items()},
            words=words,
            wanted=f"{'at least' if above else 'at most'} p(U)/2",
        )


def control(task: Facts, chances: np.ndarray) -> Iterator[Finding]:
    """Before training nothing is known, and nearly all is made up."""
    of, most = figures(task, chances), UNTRAINED / len(task.facts)
    yield at_most("untrained/recall", "what was seen", "trained", of.recall, most)
    yield at_least("untrained/said", "g(H)", "trained", of.said, 1 - most)


def planted(task: Facts) -> Iterator[Finding]:
    """Calibrated and Good–Turing are on the side of the first models, a memoriser of the last."""
    for name in MODELS:
        of: dict[str, Figures] = {name: figures(task, law(task, name))}
        yield from halves(f"planted/{name}", "as planted", of, early=name != "memoriser")
