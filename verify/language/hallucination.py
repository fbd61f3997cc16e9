"""The claim `hallucination`: lower bounds on the hallucination rate of calibrated models."""

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
from verify.language.bounds import shown, unless_vacuous
from verify.language.built_models import built_models
from verify.language.tiny_worlds import tiny_worlds

GAMMA = 0.01  # the probability with which a bound given the corpus may fail
PROMPTED = ("many", 10**6, 10**6), ("few", 10**4, 2000)  # prompts and documents
ANSWERS, ALPHA = 365, 0.5
ROUNDING = 1e-9  # bound on the rounding of sums of 10^6 numbers
MIXED = np.linspace(0, 1, 11)


@claim(
    picture="verify.language.hallucination_picture:draw",
    faults_seen=[{"facts": 4000, "documents": 2000, "distribution": "uniform"}],
)
def hallucination(
    run: Run,
    *,
    facts: Annotated[int, option("facts of the world", min=2)] = 10**6,
    strings: Annotated[int, option("all strings, including the facts", min=4, max=2**53)] = 10**11,
    documents: Annotated[int, option("documents drawn from the facts", min=1)] = 10**5,
    distribution: Annotated[
        Literal["zipf", "uniform"], option("distribution of the facts")
    ] = "zipf",
    samples: Annotated[int, option("strings sampled from each built model", min=100)] = 2000,
) -> Iterator[Finding]:
    """A model that is not over-confident outputs falsehoods about as often as facts occur once.

    For all p, g, U and τ ≥ 0, g(H) ≥ p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A) with A = {g > τ}, H the
    strings that are not facts and δ⁺ = (g(A) − p(A))⁺.  If U are the unseen strings, τ = 1/|U| and
    facts are regular, then E g(H) ≥ E MF − E δ⁺ − E(|F|/|U|) − 1/n, MF the fraction of n documents
    whose fact occurs once.  With prompts of m answers E err + E δ⁺ ≥ MM(1 − 1/m) given the data.
    """
    if strings < 2 * facts:
        raise InputError(
            f"{facts} facts among {strings} strings: give at least twice as many strings"
        )
    drawn = world(facts, strings - facts, documents, distribution, run.rng)
    yield from labelled("built", built_models(run, samples))
    yield from labelled("tiny", tiny_worlds(run))
    yield from labelled("world", of_world(drawn))
    for name, prompts, count in PROMPTED:
        yield of_prompts(run, name, prompts, count)
    yield not_regular(run)
    run.draw(drawn)


def of_world(drawn: World) -> Iterator[Finding]:
    """Bounds on g(H) for the three models of a world and mixtures of two of them."""
    tau = 1 / drawn.unseen
    models: dict[str, Levels] = {name: drawn.model(name) for name in MODELS}
    yield surely(drawn, models, tau)
    yield traded(drawn, tau)
    yield from mostly(drawn, models["calibrated"])


def surely(drawn: World, models: dict[str, Levels], tau: float) -> Finding:
    """The deterministic bound at τ = 1/|U|; undecided if it is vacuous for all models."""
    bounds = {name: float(of.deterministic_bound(tau)) for name, of in models.items()}
    slack = {name: float(of.hallucination) - bounds[name] for name, of in models.items()}
    shown_ones = ", ".join(
        f"{name} {of.hallucination:.5f} ≥ {shown(bounds[name], 5)}" for name, of in models.items()
    )
    finding = at_least(
        "sure",
        f"g(H) minus the deterministic bound: {drawn.facts} facts, {drawn.others:.3g} other "
        f"strings, {drawn.documents} documents",
        "float",
        min(slack.values()),
        -ROUNDING,
        words=f"{shown_ones}; MF = {drawn.seen_once:.2%}",
        wanted=f"g(H) ≥ the bound; {in_a_sentence(drawn)}",
    )
    return unless_vacuous(finding, max(bounds.values()))


def in_a_sentence(drawn: World) -> str:
    """The bound on E g(H) of a calibrated model at these sizes, from E MF and |U| ≥ |H|."""
    once = drawn.mean_seen_once
    bound = float(expected_bound(once, 0, drawn.facts, drawn.others, drawn.documents))
    model = f"a calibrated model of {drawn.documents} documents on {drawn.facts} facts"
    if bound <= 0:
        return f"the bound on E g(H) is vacuous for {model}"
    return f"E g(H) ≥ {bound:.1%} for {model}"


def traded(drawn: World, tau: float) -> Finding:
    """For mixtures of calibrated model and memoriser, g(H) + δ⁺ is p(U) up to p(U)|F|/|U|.

    This holds if every mixture gives each seen fact a probability above 1/|U|, and is undecided
    otherwise.
    """
    found = [drawn.mixture(weight) for weight in MIXED]
    apply = drawn.unseen_mass > 0 and all((of.g[~of.unseen] > tau).all() for of in found)
    sums = [float(of.hallucination + of.over_confidence(tau)) for of in found]
    apart = max(abs(each - drawn.unseen_mass) for each in sums)
    guessed = drawn.unseen_mass * drawn.facts / drawn.unseen
    first, last = (float(of.hallucination) for of in (found[0], found[-1]))
    return at_most(
        "trade",
        "|g(H) + δ⁺ − p(U)| for mixtures of the calibrated model and the memoriser",
        "float",
        apart if apply else np.nan,
        guessed + ROUNDING,
        words=f"at most {apart:.1e}; g(H) falls from {first:.4f} to {last:.4f} along "
        f"{len(MIXED)} mixtures",
        wanted=f"at most p(U)|F|/|U| = {guessed:.1e}",
    )


def mostly(drawn: World, calibrated: Levels) -> Iterator[Finding]:
    """Bounds that hold with probability 99 %: our bound given the corpus, and the printed bound."""
    rate = float(calibrated.hallucination)
    over = float(calibrated.over_confidence(1 / (GAMMA * drawn.unseen)))
    bounds = {
        "corpus": bound_given_corpus(
            drawn.unseen_mass, over, drawn.facts, drawn.unseen, GAMMA
        ),
        "printed": printed_bound(
            drawn.seen_once, float(calibrated.miscalibration), drawn.facts, drawn.others,
            drawn.documents, GAMMA,
        ),
    }  # fmt: skip
    names = {
        "corpus": "p(U) − δ⁺ − |F|/(γ|U|)",
        "printed": "MF − Mis − 3e^(−s)/γ − √(6 ln(6/γ)/n), quoted from [KalaiVempala2024]",
    }
    for id, bound in bounds.items():
        found = at_least(
            id,
            f"g(H) of the calibrated model, compared with {names[id]}, γ = {GAMMA:g}",
            "float",
            rate + ROUNDING,
            bound,
            words=f"g(H) = {rate:.4f}",
            wanted=f"at least {shown(bound)}",
        )
        yield unless_vacuous(found, bound)


def of_prompts(run: Run, name: str, prompts: int, documents: int) -> Finding:
    """The error of a calibrated model that may output "don't know", and bounds on it."""
    drawn = prompted(prompts, ANSWERS, documents, ALPHA, run.rng)
    model = drawn.calibrated()
    over, err = float(model.over_confidence(1 / ANSWERS)), float(model.hallucination)
    bound = prompted_bound_given_data(drawn.missing, over, ANSWERS, GAMMA, drawn.squares)
    printed = printed_prompted_bound(drawn.once, over, ANSWERS - 1, documents)
    mean = float(expected_prompted_bound(drawn.mean_once, 0, ANSWERS, documents))
    found = at_least(
        f"prompts/{name}",
        f"error of the calibrated model: {prompts} prompts of {ANSWERS} answers, {documents} "
        f"documents, α = {ALPHA}",
        "float",
        err + ROUNDING,
        bound,
        words=f"err = {err:.4f}; sr = {drawn.once:.4f}",
        wanted=f"at least {bound:.4f} with probability {1 - GAMMA:g} given the data; "
        f"bound on E err {shown(mean)}; [KNVZ2025, Theorem 2] {shown(printed)}",
    )
    return unless_vacuous(found, bound)


def not_regular(run: Run) -> Finding:
    """Without regular facts the bound fails: g = p is calibrated, and its g(H) is 0."""
    drawn = world(10**4, 10**9, 10**4, "uniform", run.rng)
    known = drawn.known()
    mis = float(known.miscalibration)
    bound = printed_bound(drawn.seen_once, mis, drawn.facts, drawn.others, 10**4, GAMMA)
    return at_least(
        "regular",
        "facts that are not regular (g = p, uniform on F): the printed bound exceeds g(H)",
        "float",
        bound,
        float(known.hallucination),
        words=f"printed bound {bound:.3f} with Mis = {mis:g}; g(H) = {known.hallucination:g}",
        wanted="bound > g(H)",
    )
