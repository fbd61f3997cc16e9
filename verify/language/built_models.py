"""Findings on models of a small world as weights of the transformer: scored, sampled, bounded."""

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
from verify.finding import Finding, at_least, at_most, labelled
from verify.language.bounds import told

BASE, DIGITS = 4, 2  # 16 names of one value each: 16 facts among 256 strings
DOCUMENTS = 16
FALSE_ALARM = 1e-7  # the chance that samples are so far off


def built_models(run: Run, samples: int) -> Iterator[Finding]:
    """The three models of one small world."""
    facts = fact_strings(BASE, DIGITS, run.rng)
    counts = np.bincount(run.rng.integers(len(facts), size=DOCUMENTS), minlength=len(facts))
    for name in MODELS:
        yield from labelled(name, _model(run, facts, counts, name, samples))


def given(strings: np.ndarray, chances: list[Fraction]) -> list[Fraction]:
    """g of all strings in order, by its definition."""
    V, L = BASE, strings.shape[1]
    places = numbers(strings, V).tolist()
    rest = (1 - sum(chances)) / (V**L - len(chances))
    g = [rest] * V**L
    for place, chance in zip(places, chances, strict=True):
        g[place] = chance
    return g


def _model(
    run: Run, facts: np.ndarray, counts: np.ndarray, name: ModelName, samples: int
) -> Iterator[Finding]:
    p = [Fraction(1, len(facts))] * len(facts)
    seen, chances = facts[counts > 0], probabilities_of_seen(p, counts.tolist(), name)
    model = run.build(fact_model, BASE, facts, p, counts, name)
    g, strings = given(seen, chances), all_sequences(2 * DIGITS, BASE)
    yield size(model, "fact-model", L=2 * DIGITS, V=BASE)
    yield from labelled("string-model", [size(model, "string-model", L=2 * DIGITS, V=BASE)])
    begun = np.hstack([np.full((len(strings), 1), BASE), strings[:, :-1]])
    statement = OverTokens(name, lambda V, n: model, lambda rows: rows)
    yield registers_hold(statement, model, begun[::4], "(all prefixes)")
    found = string_probabilities(model, 2 * DIGITS).numpy()
    yield agrees(found, g)
    true = numbers(facts, BASE).tolist()
    exact = 1 - sum(g[each] for each in true)
    yield drawn(run, model, true, float(exact), 200 if run.quick else samples)
    yield bounded(found, counts, true)


def agrees(found: np.ndarray, g: list[Fraction]) -> Finding:
    """Every string's probability; a logit −64 stands for 0, and a logarithm is rounded once.

    ln of a share above 2^−53 is off by at most 37·2^−53, and softmax of V logits by V + 3
    roundings; L factors.
    """
    L, V = 2 * DIGITS, BASE
    wanted = np.array([float(each) for each in g])
    bound = wanted * L * (V + 40) * 2.0**-52 + L * V * np.exp(-64.0)
    worst = float((abs(found - wanted) / bound).max())
    return at_most(
        "strings",
        f"the logits give all {V}^{L} strings their probabilities",
        "float",
        worst,
        1.0,
        words=f"off by at most {abs(found - wanted).max():.1e}, {worst:.2g} of what rounding may",
    )


def drawn(run: Run, model: Transformer, true: list[int], exact: float, samples: int) -> Finding:
    """The share of sampled strings that are no facts, beside g(H); Hoeffding's inequality."""
    start = np.full((samples, 1), BASE)
    letters = sample(model, start, 2 * DIGITS, run.rng).numpy()
    share = float((~np.isin(numbers(letters, BASE), true)).mean())
    radius = sqrt(log(2 / FALSE_ALARM) / (2 * samples))
    return at_most(
        "samples",
        "strings that are sampled and no facts",
        "statistical",
        abs(share - exact),
        radius,
        words=f"{share:.1%} of {samples}; g(H) = {exact:.1%}",
        wanted=f"within √(ln(2/η)/2N), η = {FALSE_ALARM:g}",
    )


def bounded(found: np.ndarray, counts: np.ndarray, true: list[int]) -> Finding:
    """The sure inequality, of the probabilities that the tensors give."""
    N, ones = len(found), np.ones(len(found))
    fact, new = np.isin(np.arange(N), true), ones > 0
    new[np.array(true)[counts > 0]] = False
    of = Levels(ones, fact * 1.0, fact / len(true), found, new, ones)
    tau = 1 / new.sum()
    bound, over = of.deterministic_bound(tau), of.over_confidence(tau)
    least = bound + over
    return at_least(
        "sure",
        "g(H) + δ⁺ of the tensors beside the sure bound",
        "float",
        of.hallucination + over + N * 2.0**-50,
        least,
        words=f"g(H) {of.hallucination:.4f} and δ⁺ {over:.4f}",
        wanted=f"together at least {told(least)}",
    )
