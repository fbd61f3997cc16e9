"""Findings on hand-built models of a small world: string probabilities, samples and bounds."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import log, sqrt

import numpy as np

from constructions.language import fact_model, sample, string_probabilities
from constructions.transformer import Transformer
from theory.language import Levels, fact_strings
from theory.language.documents import numbers, probabilities_of_seen
from theory.language.worlds import MODELS, ModelName
from theory.sequences import all_sequences
from verify.claim import Run
from verify.evidence.sequences import registers_hold
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, at_least, at_most, labelled, within_bounds
from verify.language.bounds import shown

BASE, DIGITS = 4, 2  # 16 names with one value each: 16 facts among 256 strings
DOCUMENTS = 16
FALSE_ALARM = 1e-7  # the probability that samples of a correct model exceed the bound


def built_models(run: Run, samples: int) -> Iterator[Finding]:
    """The findings on hand-built transformers for the three models of one small world of facts."""
    facts = fact_strings(BASE, DIGITS, run.rng)
    counts = np.bincount(run.rng.integers(len(facts), size=DOCUMENTS), minlength=len(facts))
    for name in MODELS:
        yield from labelled(name, _model(run, facts, counts, name, samples))


def given(strings: np.ndarray, probabilities: list[Fraction]) -> list[Fraction]:
    """The probabilities of all strings in lexicographic order, by definition.

    The `strings` have the given `probabilities`, and the remaining mass is uniform on all other
    strings.
    """
    V, L = BASE, strings.shape[1]
    places = numbers(strings, V).tolist()
    rest = (1 - sum(probabilities)) / (V**L - len(probabilities))
    g = [rest] * V**L
    for place, probability in zip(places, probabilities, strict=True):
        g[place] = probability
    return g


def _model(
    run: Run, facts: np.ndarray, counts: np.ndarray, name: ModelName, samples: int
) -> Iterator[Finding]:
    p = [Fraction(1, len(facts))] * len(facts)
    seen, probabilities = facts[counts > 0], probabilities_of_seen(p, counts.tolist(), name)
    model = run.build(fact_model, BASE, facts, p, counts, name)
    g, strings = given(seen, probabilities), all_sequences(2 * DIGITS, BASE)
    yield size(model, "fact-model", L=2 * DIGITS, V=BASE)
    yield from labelled("string-model", [size(model, "string-model", L=2 * DIGITS, V=BASE)])
    begun = np.hstack([np.full((len(strings), 1), BASE), strings[:, :-1]])
    statement = OverTokens(name, lambda V, n: model, lambda rows: rows)
    yield registers_hold(statement, model, begun[::4], "(all prefixes)")
    found = string_probabilities(model, 2 * DIGITS).numpy()
    yield agrees(found, g)
    true = numbers(facts, BASE).tolist()
    exact = 1 - sum(g[each] for each in true)
    yield drawn(run, model, true, float(exact), run.limited(200, samples=samples))
    yield bounded(found, counts, true)


def agrees(found: np.ndarray, g: list[Fraction]) -> Finding:
    """The largest ratio of the error of a string's probability to its rounding bound.

    `found` are the probabilities computed by the model, and `g` are the exact probabilities.  A
    logit of −64 stands for probability 0.  The logarithm of a conditional probability above 2^−53
    has an error of at most 37·2^−53, softmax of the logits of V symbols has V + 3 roundings, and
    the probability of a string of L symbols has L factors.
    """
    L, V = 2 * DIGITS, BASE
    wanted = np.array([float(each) for each in g])
    bound = wanted * L * (V + 40) * 2.0**-52 + L * V * np.exp(-64.0)
    worst = float((abs(found - wanted) / bound).max())
    return within_bounds(
        "strings",
        f"largest ratio of the error of a string's probability to its rounding bound, over all "
        f"{V}^{L} strings",
        "float",
        worst,
        words=f"{worst:.2g}; the largest error is {abs(found - wanted).max():.1e}",
        wanted="a ratio of at most 1",
    )


def drawn(run: Run, model: Transformer, true: list[int], exact: float, samples: int) -> Finding:
    """The fraction of samples that are not facts, compared with the model's hallucination rate.

    `true` are the numbers of the facts, and `exact` is the model's probability of strings that
    are not facts.  The tolerance is Hoeffding's bound.
    """
    start = np.full((samples, 1), BASE)
    drawn = sample(model, start, 2 * DIGITS, run.rng).numpy()
    fraction = float((~np.isin(numbers(drawn, BASE), true)).mean())
    radius = sqrt(log(2 / FALSE_ALARM) / (2 * samples))
    return at_most(
        "samples",
        "fraction of the model's samples that are not facts, compared with the model's probability "
        "of strings that are not facts",
        "statistical",
        abs(fraction - exact),
        radius,
        words=f"{fraction:.1%} of {samples} samples are not facts, and the probability is "
        f"{exact:.1%}",
        wanted=f"a difference of at most {radius:.3f}, by Hoeffding's inequality with error "
        f"probability {FALSE_ALARM:g}",
    )


def bounded(found: np.ndarray, counts: np.ndarray, true: list[int]) -> Finding:
    """The deterministic bound on the hallucination rate, for probabilities from the tensors.

    `found` are the model's probabilities of all strings, `counts` the numbers of documents with
    each fact, and `true` the numbers of the facts.
    """
    N, ones = len(found), np.ones(len(found))
    fact, new = np.isin(np.arange(N), true), ones > 0
    new[np.array(true)[counts > 0]] = False
    of = Levels(ones, fact * 1.0, fact / len(true), found, new, ones)
    tau = 1 / new.sum()
    bound, over = of.deterministic_bound(tau), of.over_confidence(tau)
    least = bound + over
    return at_least(
        "sure",
        "sum of the model's hallucination rate g(H) and over-confidence δ⁺ at the threshold 1/|U|, "
        "where U is the set of unseen strings",
        "float",
        of.hallucination + over + N * 2.0**-50,
        least,
        words=f"g(H) = {of.hallucination:.4f} and δ⁺ = {over:.4f}",
        wanted=f"a sum of at least {shown(least)}, by the deterministic bound",
    )
