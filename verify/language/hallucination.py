"""The claim `hallucination`: a model that is calibrated says what is not so, and how often."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Literal

import numpy as np

from theory.kinds import InputError
from theory.language import (
    Levels,
    World,
    bound_given_corpus,
    expected_bound,
    expected_prompted_bound,
    printed_bound,
    printed_prompted_bound,
    prompted,
    prompted_bound_given_data,
    world,
)
from theory.language.worlds import MODELS
from verify.claim import Run, claim, option
from verify.finding import Finding, at_least, at_most, labelled
from verify.language.bounds import told, unless_vacuous
from verify.language.built_models import built_models
from verify.language.tiny_worlds import tiny_worlds

CHANCE = 0.01  # with which a bound on what was drawn may fail
PROMPTED = ("many", 10**6, 10**6), ("few", 10**4, 2000)  # prompts and documents
ANSWERS, ALPHA = 365, 0.5
ROUNDING = 1e-9  # of sums of so many numbers in float64
MIXED = np.linspace(0, 1, 11)


@claim(
    source="[KalaiVempala2024], [KNVZ2025]; proved in theory/language/hallucination.py",
    picture="verify.language.hallucination_picture:draw",
    faults_seen=[{"facts": 4000, "documents": 2000, "law": "uniform"}],
)
def hallucination(
    run: Run,
    *,
    facts: Annotated[int, option("facts of the world", min=2)] = 10**6,
    strings: Annotated[int, option("strings in all, facts among them", min=4, max=2**53)] = 10**11,
    documents: Annotated[int, option("documents that are drawn", min=1)] = 10**5,
    law: Annotated[Literal["zipf", "uniform"], option("how likely facts are")] = "zipf",
    samples: Annotated[int, option("strings sampled of each built model", min=100)] = 2000,
) -> Iterator[Finding]:
    """A model that is not over-confident outputs falsehoods about as often as facts occur once.

    For all p, g, U and τ ≥ 0, g(H) ≥ p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A) with A = {g > τ}, H the
    strings that are no facts and δ⁺ = (g(A) − p(A))⁺.  If U are the unseen strings, τ = 1/|U| and
    facts are regular, then E g(H) ≥ E MF − E δ⁺ − E(|F|/|U|) − 1/n, MF the fraction of n documents
    whose fact occurs once.  With prompts of m answers E err + E δ⁺ ≥ MM(1 − 1/m) given the data.
    """
    if strings < 2 * facts:
        raise InputError(f"{facts} facts among {strings} strings: give at least twice as many")
    drawn = world(facts, strings - facts, documents, law, run.rng)
    yield from labelled("built", built_models(run, samples))
    yield from labelled("tiny", tiny_worlds(run))
    yield from labelled("world", of_world(drawn))
    for name, prompts, count in PROMPTED:
        yield of_prompts(run, name, prompts, count)
    yield not_regular(run)
    run.draw(drawn)


def of_world(drawn: World) -> Iterator[Finding]:
    """Three models and all between: what they say that is not so, and every bound on it."""
    tau = 1 / drawn.unseen
    models: dict[str, Levels] = {name: drawn.model(name) for name in MODELS}
    yield surely(drawn, models, tau)
    yield traded(drawn, tau)
    yield from mostly(drawn, models["calibrated"])


def surely(drawn: World, models: dict[str, Levels], tau: float) -> Finding:
    """The sure bound at τ = 1/|U|; undecided if it says nothing of any of the models."""
    bounds = {name: float(of.deterministic_bound(tau)) for name, of in models.items()}
    slack = {name: float(of.hallucination) - bounds[name] for name, of in models.items()}
    said = ", ".join(
        f"{name} {of.hallucination:.5f} ≥ {told(bounds[name], 5)}" for name, of in models.items()
    )
    finding = at_least(
        "sure",
        f"what is said and no fact: {drawn.facts} facts, {drawn.others:.3g} others, "
        f"{drawn.documents} documents",
        "float",
        min(slack.values()),
        -ROUNDING,
        words=f"{drawn.seen_once:.2%} of the documents have a fact that came once; {said}",
        wanted=f"the sure bound; {in_a_sentence(drawn)}",
    )
    return unless_vacuous(finding, max(bounds.values()))


def in_a_sentence(drawn: World) -> str:
    """What the bound in expectation says of a calibrated model at these sizes: of E MF, whatever
    came once in the documents that were drawn, and |U| ≥ |H|."""
    once = drawn.mean_seen_once
    bound = float(expected_bound(once, 0, drawn.facts, drawn.others, drawn.documents))
    model = f"a calibrated model of {drawn.documents} documents on {drawn.facts} facts"
    if bound <= 0:
        return f"in the mean nothing follows of {model}: too few strings, or too few of them unseen"
    return f"in the mean at least {bound:.1%} of what {model} says is no fact"


def traded(drawn: World, tau: float) -> Finding:
    """From calibrated to memoriser, g(H) + δ⁺ stays p(U) but for what is guessed right.

    So it is where all that was seen is likelier than 1/|U| to each of them; undecided elsewhere.
    """
    found = [drawn.mixture(share) for share in MIXED]
    apply = drawn.unseen_mass > 0 and all((of.g[~of.unseen] > tau).all() for of in found)
    sums = [float(of.hallucination + of.over_confidence(tau)) for of in found]
    apart = max(abs(each - drawn.unseen_mass) for each in sums)
    guessed = drawn.unseen_mass * drawn.facts / drawn.unseen
    first, last = (float(of.hallucination) for of in (found[0], found[-1]))
    return at_most(
        "trade",
        "what a mixture with the memoriser hallucinates less than the calibrated model, it is "
        "over-confident by",
        "float",
        apart if apply else np.nan,
        guessed + ROUNDING,
        words=f"g(H) from {first:.4f} to {last:.4f}; g(H) + δ⁺ = p(U) to {apart:.1e}, "
        f"{len(MIXED)} mixtures",
        wanted="≤ p(U)|F|/|U|",
    )


def mostly(drawn: World, calibrated: Levels) -> Iterator[Finding]:
    """Bounds that fail with a chance of 1 %: given the corpus, and as it is printed."""
    said = float(calibrated.hallucination)
    over = float(calibrated.over_confidence(1 / (CHANCE * drawn.unseen)))
    bounds = {
        "corpus": bound_given_corpus(
            drawn.unseen_mass, over, drawn.facts, drawn.unseen, CHANCE
        ),
        "printed": printed_bound(
            drawn.seen_once, float(calibrated.miscalibration), drawn.facts, drawn.others,
            drawn.documents, CHANCE,
        ),
    }  # fmt: skip
    names = {
        "corpus": "p(U) − δ⁺ − |F|/(γ|U|)",
        "printed": "MF − Mis − 3e^(−s)/γ − √(6 ln(6/γ)/n), as [KalaiVempala2024] is quoted",
    }
    for id, bound in bounds.items():
        found = at_least(
            id,
            f"calibrated, with probability {1 - CHANCE:g}: {names[id]}",
            "float",
            said + ROUNDING,
            bound,
            words=f"g(H) = {said:.4f}",
            wanted=f"at least {told(bound)}",
        )
        yield unless_vacuous(found, bound)


def of_prompts(run: Run, name: str, prompts: int, documents: int) -> Finding:
    """A calibrated model that may say "don't know", and the bounds on how often it errs."""
    drawn = prompted(prompts, ANSWERS, documents, ALPHA, run.rng)
    model = drawn.calibrated()
    over, err = float(model.over_confidence(1 / ANSWERS)), float(model.hallucination)
    bound = prompted_bound_given_data(drawn.missing, over, ANSWERS, CHANCE, drawn.squares)
    printed = printed_prompted_bound(drawn.once, over, ANSWERS - 1, documents)
    mean = float(expected_prompted_bound(drawn.mean_once, 0, ANSWERS, documents))
    found = at_least(
        f"prompts/{name}",
        f"{prompts} prompts of {ANSWERS} answers, {documents} documents, α = {ALPHA}",
        "float",
        err + ROUNDING,
        bound,
        words=f"err {err:.4f}; answered once {drawn.once:.4f}",
        wanted=f"given the data, with probability {1 - CHANCE:g}, at least {bound:.4f}; in the "
        f"mean over worlds {told(mean)}; printed {told(printed)} [KNVZ2025, Theorem 2]",
    )
    return unless_vacuous(found, bound)


def not_regular(run: Run) -> Finding:
    """Facts that are known beforehand: g = p is calibrated, and never says what is not so."""
    drawn = world(10**4, 10**9, 10**4, "uniform", run.rng)
    known = drawn.known()
    mis = float(known.miscalibration)
    bound = printed_bound(drawn.seen_once, mis, drawn.facts, drawn.others, 10**4, CHANCE)
    return at_least(
        "regular",
        "without regular facts there is no such bound: F known, p uniform on it, g = p",
        "float",
        bound,
        float(known.hallucination),
        words=f"the printed form says {bound:.3f}, with Mis = {mis:g}, and g(H) = "
        f"{known.hallucination:g}",
        wanted="more than there is",
    )
