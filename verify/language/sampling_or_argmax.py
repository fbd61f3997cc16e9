"""The claim `sampling-or-argmax`: the errors of a model's samples and of its argmax."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from typing import Annotated

import numpy as np

from constructions import log_probabilities, string_model
from constructions.transformer import Transformer
from theory.language import (
    Source,
    at_most_rational,
    distance_of_greedy,
    distributions_on_grid,
    errors,
    excess_error,
    greedy_text,
    kl,
    log,
    most_probable_text,
    most_sampling_error,
    source,
)
from verify.claim import Run, claim, option
from verify.finding import Finding, at_most, no_counterexample, same
from verify.language.draws import random_distribution

PROMPTS, ANSWERS, KNOWN = 6, 5, 2  # sizes of the model with prompts; the first KNOWN are answered
ROUNDING = 1e-12  # rounding of sums of a few probabilities


@claim(
    faults_seen=[{"draws": 20}],
)
def sampling_or_argmax(
    run: Run,
    *,
    draws: Annotated[
        int, option("number of random pairs of distributions", min=2, max=10**4)
    ] = 200,
) -> Iterator[Finding]:
    """R* ≤ R_s ≤ 2R* − V/(V − 1)·R*² for the errors R* of the argmax and R_s of a sample.

    The distribution has V outcomes. The error R* is the probability of an outcome other than the
    most probable one, and R_s is the probability that an outcome differs from an independent
    sample. For a model q of a distribution p, the error of the argmax of q under p exceeds R* by at
    most √(2KL(p‖q)).  For a source of T independent symbols in which the most probable symbol has
    probability 3/5, the total variation distance between greedily decoded text and text of the
    source is 1 − (3/5)^T. In general, the text that greedy decoding outputs is not the most
    probable text.

    In a model of hallucination, each prompt has one right answer, which is uniform among m answers.
    A document gives the right answer to its prompt with probability α, and “don't know” otherwise.
    Let MM be α times the fraction of prompts that no document answers.  The calibrated model
    outputs “don't know”, which is not an error, with probability 1 − α. With probability α it
    outputs the answer of a document, or a uniform one of the m answers if no document answers the
    prompt. A sample of this model is wrong with probability MM(m − 1)/m. If 1 − α > α/m, the argmax
    of this model is never wrong.
    """
    for alpha in (Fraction(1, 2), Fraction(1)):
        yield two_uses(run, alpha)
    yield between(run.quick)
    yield excess(run, run.limited(20, draws=draws))
    yield greedy()
    yield likeliest()
    yield memoriser()


def between(quick: bool) -> Finding:
    """The inequalities between the errors of the argmax and of a sample, with cases of equality.

    The bounds are checked for all distributions on a grid.
    """
    found = [
        (p, least, sampled, most_sampling_error(least, V))
        for V in ((2, 3) if quick else (2, 3, 4))
        for p in distributions_on_grid(12, V)
        for least, sampled in [errors(p)]
    ]
    below, above = (sum(each[i] == each[i + 1] for each in found) for i in (1, 2))
    wrong = (
        f"p = {p}: {least}, {sampled}, {most}"
        for p, least, sampled, most in found
        if not least <= sampled <= most
    )
    return no_counterexample(
        "errors",
        "R* ≤ R_s ≤ 2R* − V/(V − 1)·R*² for the error R* of the argmax and the error R_s of a "
        "sample of a distribution on V outcomes",
        wrong if below and above else ["no equality"],
        words=f"true for {len(found)} distributions, with equality on the left for {below} and on "
        f"the right for {above}",
        wanted="no counterexample",
    )


def excess(run: Run, draws: int) -> Finding:
    """The excess error of the argmax of a model, compared with its bound by the divergence.

    For a model q of p, (p(argmax p) − p(argmax q))² is compared with 2KL(p‖q), by enclosing balls.
    """
    pairs = [
        (random_distribution(run.rng, 4), random_distribution(run.rng, 4)) for _ in range(draws)
    ]
    lost = [excess_error(p, q) for p, q in pairs]
    return no_counterexample(
        "excess",
        "excess error of the argmax of a model q of a distribution p is at most √(2KL(p‖q))",
        (
            f"p = {p}, q = {q}"
            for (p, q), each in zip(pairs, lost, strict=True)
            if not at_most_rational(-2 * kl(p, q), -(each**2))
        ),
        words=f"true for {draws} random pairs of p and q; the largest excess error is {max(lost)}",
        wanted="no counterexample",
    )


def words() -> Source:
    """A source of independent symbols 0 and 1, of probabilities ⅗ and ⅖."""
    return source([1], [[[Fraction(3, 5)]], [[Fraction(2, 5)]]])


def fork() -> Source:
    """A source whose greedy text is not its most probable text.

    The first symbol is 0 with probability 11/20 or 1 with probability 9/20.  After 0, five symbols
    are equally likely; after 1, the next symbol is always 1.
    """
    steps = np.full((5, 3, 3), Fraction(0), dtype=object)
    steps[0, 0, 1], steps[1, 0, 2] = Fraction(11, 20), Fraction(9, 20)
    steps[:, 1, 1], steps[1, 2, 2] = Fraction(1, 5), Fraction(1)
    return source([1, 0, 0], steps.tolist())


def greedy() -> Finding:
    """The total variation distance of greedy text from a source of independent words, by length."""
    lengths = (1, 5, 20)
    return same(
        "greedy",
        "total variation distance of greedy text of T words from a source of two independent words "
        f"of probabilities 3/5 and 2/5, for T = {', '.join(map(str, lengths))}",
        {f"T = {T}": str(distance_of_greedy(words(), T)) for T in lengths},
        {f"T = {T}": str(1 - Fraction(3, 5) ** T) for T in lengths},
        words=", ".join(f"{float(distance_of_greedy(words(), T)):.5f}" for T in lengths),
        wanted="1 − (3/5)^T, exactly",
    )


def likeliest() -> Finding:
    """The probabilities of two texts of a source whose greedy text is not the most probable."""
    of = fork()
    found = {
        "greedy": str(of.probability(greedy_text(of, 2))),
        "most probable": str(of.probability(most_probable_text(of, 2))),
    }
    return same(
        "likeliest",
        "probabilities of the greedy text and of the most probable text of a source",
        found,
        {"greedy": "11/100", "most probable": "9/20"},
        wanted="11/100 and 9/20, which shows that the greedy text is not the most probable text",
    )


def memoriser() -> Finding:
    """The divergence of a model that gives one of two equally likely facts the probability ε.

    The divergence is ½ ln 1/(4ε(1 − ε)).  The model outputs only facts, and the divergence is
    unbounded as ε → 0.
    """
    half, sizes = Fraction(1, 2), (4, 16, 30)

    def wrong() -> Iterator[str]:
        for k in sizes:
            rare = Fraction(1, 2**k)
            if kl((half, half), (1 - rare, rare)) != half * log(1 / (4 * rare * (1 - rare))):
                yield f"ε = 2^−{k}"

    distances = (float(half * log(Fraction(2 ** (2 * k - 2), 2**k - 1))) for k in sizes)
    shown = ", ".join(f"{each:.2f}" for each in distances)
    words = f"true for ε = 2^−4, 2^−16, 2^−30, where both are {shown} nats"
    name = (
        "the KL divergence of a model that outputs only facts and gives one of two equally likely "
        "facts the probability ε equals ½ ln 1/(4ε(1 − ε))"
    )
    return no_counterexample("memoriser", name, wrong(), words=words)


def two_uses(run: Run, alpha: Fraction) -> Finding:
    """The errors of the calibrated model with prompts, when sampled and by argmax.

    The model is hand-built, and `alpha` is the probability with which documents answer a prompt.
    If no document answers a prompt, the right answer is uniform among the m possible answers, so
    that each answer is wrong with probability (m − 1)/m.
    """
    m, silent = ANSWERS, ANSWERS  # the answers are 0 … m − 1
    strings, probabilities = [], []
    for prompt, answer in product(range(PROMPTS), range(m + 1)):
        known = Fraction(answer == 0) if prompt < KNOWN else Fraction(1, m)
        given = 1 - alpha if answer == silent else alpha * known
        strings.append([prompt, answer])
        probabilities.append(given / PROMPTS)
    model = run.build(string_model, PROMPTS, strings, probabilities)
    sampled, most = used(model)
    never = Fraction(PROMPTS - KNOWN, PROMPTS)
    missing = alpha * never * Fraction(m - 1, m)
    silent_wins = 1 - alpha > alpha / m
    wanted = missing, Fraction(0) if silent_wins else never * Fraction(m - 1, m)
    off = max(abs(sampled - float(wanted[0])), abs(most - float(wanted[1])))
    return at_most(
        f"two-uses/{'half' if alpha < 1 else 'one'}",
        "errors of the calibrated model, compared with their closed forms, for "
        f"{PROMPTS} prompts with {m} possible answers each, where {KNOWN} of the prompts are "
        f"answered in the documents, and documents answer with probability {alpha}",
        "float",
        off,
        ROUNDING,
        words=f"the error is {sampled:.4f} when sampled and {most:.4f} by argmax",
        wanted=f"{float(wanted[0]):.4f} when sampled and {float(wanted[1]):.4f} by argmax, up to "
        f"{ROUNDING:g}",
    )


def used(model: Transformer) -> tuple[float, float]:
    """The errors of the model when sampled and by argmax.

    Only prompts that no document answers contribute errors.
    """
    BOS, wrong = PROMPTS, (ANSWERS - 1) / ANSWERS
    queries = [
        [BOS, prompt, answer] for prompt in range(KNOWN, PROMPTS) for answer in range(ANSWERS)
    ]
    sampled = float(log_probabilities(model, queries)[:, 1].exp().sum()) / PROMPTS * wrong
    begun = [[BOS, prompt] for prompt in range(KNOWN, PROMPTS)]
    greedy = model.generate(begun, 1)[:, 0]
    return sampled, int((greedy < ANSWERS).sum()) / PROMPTS * wrong
