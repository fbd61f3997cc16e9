"""The claim `hallucination`: lower bounds on the hallucination rate of calibrated models."""

from __future__ import annotations

from collections.abc import Iterator
from math import log, sqrt
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
from verify.finding import Finding, as_stated, at_least, at_most, labelled
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
    facts: Annotated[int, option("number of facts in the world", min=2, max=10**7)] = 10**6,
    strings: Annotated[int, option("number of strings, with the facts", min=4, max=10**15)] = 10
    ** 11,
    documents: Annotated[int, option("documents drawn from the facts", min=1, max=10**7)] = 10**5,
    distribution: Annotated[
        Literal["zipf", "uniform"], option("distribution of the facts")
    ] = "zipf",
    samples: Annotated[
        int, option("strings sampled from each built model", min=100, max=10**6)
    ] = 2000,
) -> Iterator[Finding]:
    """If a model is not over-confident, its hallucination rate is at least about the fraction of
    documents whose fact occurs only once.

    Let p be the distribution of documents, g a model (a distribution on strings), F the set of
    facts, with p(F) = 1, and H the set of all other strings.  The hallucination rate is g(H).  Let
    U be any set of strings and τ ≥ 0, and let A be the set of strings y with g(y) > τ.  Let δ⁺ =
    (g(A) − p(A))⁺ be the over-confidence.  Then g(H) ≥ p(U) − δ⁺ − τ|F| + τ|A| − p(U∩A).

    For the second bound, F and p are random and n documents are drawn from p.  Let U be the set of
    strings that do not occur in the documents, and let τ = 1/|U|.  Suppose that facts are regular:
    given the documents, all unseen strings have the same expected probability under p.  Then E g(H)
    ≥ E MF − E δ⁺ − E(|F|/|U|) − 1/n, where MF is the fraction of the documents whose fact occurs
    only once.

    For the third bound, a document consists of a prompt c, of weight μ_c, and a response.  The
    right answer to a prompt is uniform among m answers.  The response is the right answer with
    probability α, where 1/m ≤ α ≤ 1 − 1/m, and "don't know" otherwise.  Let err be the probability
    that the model gives a wrong answer, let τ = 1/m, and let MM be the sum of μ_c α over the
    prompts that no document answers.  Given the documents, E err + E δ⁺ ≥ MM(1 − 1/m).
    """
    if strings < 2 * facts:
        raise InputError(
            f"the number of strings is {strings} and the number of facts is {facts}: give strings "
            "≥ 2·facts"
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
    """The findings on the hallucination rates of three models of a world, and of mixtures."""
    tau = 1 / drawn.unseen
    models: dict[str, Levels] = {name: drawn.model(name) for name in MODELS}
    yield surely(drawn, models, tau)
    yield traded(drawn, tau)
    yield from mostly(drawn, models["calibrated"])


def surely(drawn: World, models: dict[str, Levels], tau: float) -> Finding:
    """The deterministic bound on the hallucination rate of each model, at the threshold `tau`.

    The finding is undecided if the bound is vacuous for all models.
    """
    bounds = {name: float(of.deterministic_bound(tau)) for name, of in models.items()}
    slack = {name: float(of.hallucination) - bounds[name] for name, of in models.items()}
    shown_ones = ", ".join(
        f"{of.hallucination:.5f} and {shown(bounds[name], 5)} for {name}"
        for name, of in models.items()
    )
    finding = at_least(
        "sure",
        "hallucination rate, compared with the deterministic lower bound, for "
        f"{drawn.facts} facts, {drawn.others:.3g} other strings and {drawn.documents} documents",
        "float",
        min(slack.values()),
        -ROUNDING,
        words=f"rate and bound are {shown_ones}; {drawn.seen_once:.2%} of the documents state a "
        "fact that occurs once",
        wanted=f"a rate of at least the bound for each model; {in_a_sentence(drawn)}",
    )
    return unless_vacuous(finding, max(bounds.values()))


def in_a_sentence(drawn: World) -> str:
    """The bound on the mean hallucination rate of a calibrated model of a world, as text.

    The bound is computed from the mean fraction of documents whose fact occurs once.
    """
    once = drawn.mean_seen_once
    bound = float(expected_bound(once, 0, drawn.facts, drawn.others, drawn.documents))
    model = f"a calibrated model of {drawn.documents} documents on {drawn.facts} facts"
    if bound <= 0:
        return f"the bound on the mean rate is vacuous for {model}"
    return f"the mean rate is at least {bound:.1%} for {model}"


def traded(drawn: World, tau: float) -> Finding:
    """The trade-off between hallucination rate and over-confidence, for mixtures of two models.

    For mixtures of the calibrated model and the memoriser, the sum of the hallucination rate and
    the over-confidence δ⁺ is the unseen mass p(U), up to p(U)|F|/|U|, where |F| is the number of
    facts and |U| the number of unseen strings.  The equation holds if every mixture gives each seen
    fact a probability above 1/|U|, and the finding is undecided otherwise.
    """
    found = [drawn.mixture(weight) for weight in MIXED]
    apply = drawn.unseen_mass > 0 and all((of.g[~of.unseen] > tau).all() for of in found)
    sums = [float(of.hallucination + of.over_confidence(tau)) for of in found]
    apart = max(abs(each - drawn.unseen_mass) for each in sums)
    guessed = drawn.unseen_mass * drawn.facts / drawn.unseen
    first, last = (float(of.hallucination) for of in (found[0], found[-1]))
    return at_most(
        "trade",
        "largest |hallucination rate + over-confidence − unseen mass|, over mixtures of the "
        "calibrated model and the memoriser",
        "float",
        apart if apply else np.nan,
        guessed + ROUNDING,
        words=f"{apart:.1e}; the hallucination rate falls from {first:.4f} to {last:.4f} along "
        f"{len(MIXED)} mixtures",
        wanted=f"at most (unseen mass)·(facts)/(unseen strings) = {guessed:.1e}",
    )


def mostly(drawn: World, calibrated: Levels) -> Iterator[Finding]:
    """The findings on two bounds that hold with probability 99 %, for the calibrated model.

    The bounds are our bound given the corpus, and the bound of [KalaiVempala2024].
    """
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
    once, mis = drawn.seen_once, float(calibrated.miscalibration)
    guessed, n = drawn.facts / GAMMA, drawn.documents
    stated = {
        "corpus": drawn.unseen_mass - (over + guessed / drawn.unseen),
        "printed": once - (mis + 3 * guessed / drawn.others + sqrt(log((6 / GAMMA) ** 6) / n)),
    }
    names = {
        "corpus": "the lower bound given the corpus, for regular facts,",
        "printed": "the lower bound of [KalaiVempala2024],",
    }
    for id, bound in bounds.items():
        found = at_least(
            id,
            "hallucination rate of the calibrated model, compared with "
            f"{names[id]} which holds with probability {1 - GAMMA:g}",
            "float",
            rate + ROUNDING,
            bound,
            words=f"the rate is {rate:.4f}",
            wanted=f"a rate of at least {shown(bound)}",
        )
        yield unless_vacuous(as_stated(found, bound, stated[id], terms=1.0), bound)


def of_prompts(run: Run, name: str, prompts: int, documents: int) -> Finding:
    """The error of a calibrated model that may output "don't know", compared with bounds.

    The world has the given numbers of prompts and of documents.
    """
    drawn = prompted(prompts, ANSWERS, documents, ALPHA, run.rng)
    model = drawn.calibrated()
    over, err = float(model.over_confidence(1 / ANSWERS)), float(model.hallucination)
    bound = prompted_bound_given_data(drawn.missing, over, ANSWERS, GAMMA, drawn.squares)
    printed = printed_prompted_bound(drawn.once, over, ANSWERS - 1, documents)
    mean = float(expected_prompted_bound(drawn.mean_once, 0, ANSWERS, documents))
    found = at_least(
        f"prompts/{name}",
        f"error of the calibrated model on {prompts} prompts with {ANSWERS} possible answers, "
        f"after {documents} documents, each of which answers its prompt with probability {ALPHA}",
        "float",
        err + ROUNDING,
        bound,
        words=f"the error is {err:.4f}; the number of prompts that exactly one document answers, "
        f"divided by the number of documents, is {drawn.once:.4f}",
        wanted=f"an error of at least {bound:.4f}, a bound that holds with probability "
        f"{1 - GAMMA:g} given the data; the bound on the mean error is {shown(mean)}, and the "
        f"bound of [KNVZ2025, Theorem 2] is {shown(printed)}",
    )
    # The right answers are independent, so Hoeffding's inequality bounds the deviation.
    deviation = sqrt(-log(GAMMA) / 2) * sqrt(drawn.squares)
    N, stated = documents, drawn.missing - (over + 2 / ANSWERS + deviation)
    mean_stated = drawn.mean_once - (2 / ANSWERS + 1 / N)
    in_print = drawn.once - (over + 2 / (ANSWERS - 1) + (35 + 6 * log(N)) * N**-0.5)
    found = as_stated(found, [bound, mean, printed], [stated, mean_stated, in_print], terms=1.0)
    return unless_vacuous(found, bound)


def not_regular(run: Run) -> Finding:
    """The finding that the bound of [KalaiVempala2024] fails if facts are not regular.

    The model is given the set of facts.  The model is calibrated, and its hallucination rate is 0.
    """
    drawn = world(10**4, 10**9, 10**4, "uniform", run.rng)
    known = drawn.known()
    mis = float(known.miscalibration)
    bound = printed_bound(drawn.seen_once, mis, drawn.facts, drawn.others, 10**4, GAMMA)
    return at_least(
        "regular",
        "bound of [KalaiVempala2024], whose hypothesis of regular facts is violated, for a model "
        "that is given the set of facts",
        "float",
        bound,
        float(known.hallucination),
        words=f"the bound is {bound:.3f}, the miscalibration {mis:g} and the hallucination rate "
        f"{known.hallucination:g}",
        wanted="a bound above the hallucination rate: without its hypothesis, the bound fails",
    )
