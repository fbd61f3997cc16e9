"""The claim `sensitivity`: closed forms for Boolean functions, and models that compute them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from math import exp
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import torch
from torch import nn

from constructions.sensitivity import predictions
from constructions.transformer import Transformer
from theory.json_table import json_table
from theory.sensitivity import (
    Estimate,
    all_figures,
    forced,
    influences,
    influences_by_spectrum,
    noise_sensitivity,
    noise_sensitivity_by_definition,
    redrawn,
    redrawn_profile,
    total_influence,
    truth_table,
    walsh_hadamard,
    walsh_hadamard_by_definition,
)
from theory.sensitivity import sensitivity as estimate
from theory.sequences import all_sequences, random_sequences
from verify.claim import Run, claim, option
from verify.evidence.gaps import gap_finding
from verify.evidence.sequences import (
    answers_equal,
    equal_over_q,
    exact_evidence,
    margin_kept,
    registers_hold,
)
from verify.evidence.size import size, units
from verify.finding import Evidence, Finding, Verdict, as_stated, at_most, labelled, same
from verify.sensitivity.standard_functions import (
    NOISE,
    Standard,
    figures_of,
    own_function,
    selected_by,
    standard_functions,
)

DELTAS = Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(9, 10)
ETA = 1e-6  # so small that an interval without the true value is significant
UNITS: dict[str, tuple[str, Callable[[int], int]]] = {
    "subset-parity": ("k − 1", lambda k: k - 1),
    "conjunction": ("1", lambda k: 1),
    "junta": ("2^k", lambda k: 2**k),
}
TOKENS = 4, 3  # symbols and tokens of a function over tokens
SEEDS, FEW, OFTEN = 100, 200, 0.2  # seeds, sequences per seed, and probability of error
QUICK_SEEDS = 25
MOST_BITS = 14  # largest d, as models are run on all 2^d words
MEASURES = {
    "Sens": "mean influence Sens",
    "I": "total influence I",
    "Var": "variance",
    "degree": "degree",
    "s": "maximum sensitivity s",
    "s²": "s², the square of the maximum sensitivity",
}
STANDARD = {"table": (None,)}  # options for the standard functions only
MOST_BUILT = 10  # largest d of a user's table that is built, with 2^d hidden neurons


@claim(
    picture="verify.sensitivity.sensitivity_picture:draw",
    faults_seen=[{"d": 5, "samples": 2000}],
)
def sensitivity(
    run: Run,
    *,
    d: Annotated[
        int, option("bits of the standard functions", min=5, max=MOST_BITS, only=STANDARD)
    ] = 9,
    samples: Annotated[
        int, option("random words for each estimate", min=100, max=10**6, only=STANDARD)
    ] = 5000,
    table: Annotated[
        Path | None,
        option("instead, a function of your own as a JSON list of its 2^d values"),
    ] = None,
) -> Iterator[Finding]:
    """Sensitivities of parities, conjunctions, majority and multiplexers equal closed forms.

    For a Boolean function f of d bits, Sens(f) is the probability that the flip of a uniform bit of
    a uniform word x ∈ {0, 1}^d changes f(x). Sens is k/d for a parity of k bits, 1/d for a
    dictator, (k/d)2^{1−k} for a conjunction of k bits, binom(d − 1, (d − 1)/2)/2^{d−1} for the
    majority of d bits (d odd), and (a/2 + 1)/(a + 2^a) for a multiplexer with a address bits and
    2^a data bits.

    A transformer of one layer with k heads computes a parity of k bits with k − 1 hidden ReLU
    neurons, a conjunction of k bits with one hidden neuron, and any function of k bits with 2^k
    hidden neurons.

    Let I(f) = d·Sens(f) be the total influence, deg f the Fourier degree, and s(f) the maximum
    sensitivity, that is, the largest number of bits of one word whose flips change f. Then Var f ≤
    I(f) ≤ deg f ≤ s(f)². Here Var f is the variance of f with values ±1. The last inequality is due
    to [Huang2019]. All three inequalities are checked on every function of four bits. If every bit
    is flipped independently with probability δ, the value of f changes with probability (1 −
    Stab_{1−2δ}(f))/2, which is at most δ·I(f). Here Stab_ρ(f) is the noise stability at the
    correlation ρ.
    """
    if table is not None:
        yield from _own(run, table)
        return
    values = {}
    for each in standard_functions(run, d):
        model = each.statement.at(2, each.d).model
        yield from labelled(each.label, _computed(each, model, run.quick))
        values[each.label] = answered(model, each.d)
    yield from labelled("estimate", _estimated(run, d, samples))
    yield from labelled("all", _chain(3 if run.quick else 4))
    yield from labelled("random", _random(run))
    run.draw(values)


def _own(run: Run, path: Path) -> Iterator[Finding]:
    """Findings on a function given as a table."""
    fields = json_table(path, ("table", "name"))
    values, name = truth_table(fields["table"]), fields.get("name") or path.stem
    own = own_function(run, values, name)
    figures = figures_of(values)
    yield _two_ways(values)
    yield from _ordered({key: np.array([value]) for key, value in figures.items()}, shown(figures))
    noise = ", ".join(f"{float(noise_sensitivity(values, x)):.4g} at δ = {x}" for x in DELTAS)
    yield _noise_bound([values], noise)
    if own.d <= MOST_BUILT:
        yield from labelled("model", _computed(own, own.statement.at(2, own.d).model, run.quick))
    run.draw({name: values})


def _computed(each: Standard, model: Transformer, quick: bool) -> Iterator[Finding]:
    """The model computes the function on all words, and its figures equal the closed forms."""
    words, statement = all_sequences(each.d, 2), each.statement
    name = f"outputs of the model, compared with the function on all 2^{each.d} words"
    yield answers_equal("words", name, statement, [(model, words)])
    values = answered(model, each.d)
    found = figures_of(values)
    yield same(
        "figures",
        f"measures of the function of {each.d} bits that the model computes, compared with closed "
        "forms",
        {key: str(value) for key, value in found.items()},
        {key: str(value) for key, value in each.figures.items()},
        evidence=exact_evidence(model),
        words=f"equal; {shown(found)}",
        wanted=f"equal; {shown(each.figures)}",
    )
    yield _two_ways(values)
    if each.noise is not None:
        yield _noise(values, each.noise, exact_evidence(model))
    if not statement.theorem:
        return
    yield size(model, statement.theorem, k=len(each.positions))
    yield _units(each, model)
    some = words[:: max(1, len(words) // (4 if quick else 16))]
    yield margin_kept(statement, [(model, words)])
    yield equal_over_q(statement, model, some, f"({each.d} bits)")
    yield registers_hold(statement, model, words, f"(all 2^{each.d} words)")
    yield _gaps(each, model)


def _units(each: Standard, model: Transformer) -> Finding:
    """The number of hidden ReLU neurons compared with the number in the statement."""
    k = len(each.positions)
    formula, wanted = UNITS[each.statement.theorem]
    found = units(model)
    words = f"{sum(found)}"
    name = "number of hidden ReLU neurons"
    stated = f"{formula} for k = {k}" if "k" in formula else formula
    return same("units", name, found, [wanted(k)], words=words, wanted=stated)


def _gaps(each: Standard, model: Transformer) -> Finding:
    """The smallest score gap of the heads, whose attention does not depend on the bits."""
    found = [gap_finding("", model, states) for states in selected_by(model, each.positions)]
    wrong = [finding for finding in found if finding.verdict is not Verdict.HOLDS]
    least = wrong[0] if wrong else min(found, key=lambda finding: finding.measured)
    return replace(
        least,
        id="gap",
        name=f"smallest difference between the scores of a right key and a wrong key, over all "
        f"heads ({len(found)})",
        verdict=Verdict.together(finding.verdict for finding in found),
    )


def answered(model: Transformer, d: int) -> np.ndarray:
    """The predictions of a model on all words of d bits, as values −1 and +1, (2^d,)."""
    return 1 - 2 * model(all_sequences(d, 2))[..., -1].numpy()


def shown(figures: Mapping[str, Any]) -> str:
    """The given measures of a function with their names, on one line."""
    return ", ".join(f"{MEASURES[name]} = {value}" for name, value in figures.items())


def _two_ways(values: np.ndarray) -> Finding:
    """Influences by counting flips compared with those by the spectrum."""
    counted, summed = influences(values), influences_by_spectrum(values)
    return same(
        "influences",
        "influence of each bit by counting flips, compared with the sum of f̂(S)² over the sets S "
        "that contain the bit",
        [str(each) for each in counted],
        [str(each) for each in summed],
        words=f"equal for {len(counted)} bits; the smallest influence is {min(counted)} and the "
        f"largest {max(counted)}",
        wanted="equal",
    )


def _noise(values: np.ndarray, stated: Fraction, evidence: Evidence) -> Finding:
    """NS_δ of a standard function by the spectrum compared with its closed form."""
    found = noise_sensitivity(values, NOISE)
    return same(
        "noise",
        "probability that the value of the function changes if every bit is flipped independently "
        f"with probability {NOISE}",
        str(found),
        str(stated),
        evidence=evidence,
        words=f"{float(found):.4f}",
        wanted=f"{float(stated):.4f}, by the closed form",
    )


def _ordered(figures: Mapping[str, np.ndarray], words: str) -> Iterator[Finding]:
    """Var ≤ I ≤ degree ≤ s² for all of these functions."""
    squares = {"s²": figures["s"] ** 2}
    chain = [("Var", figures["Var"]), ("I", figures["I"]), ("degree", figures["degree"])]
    chain += list(squares.items())
    for (small, low), (large, high) in pairwise(chain):
        holds = int(np.sum(low <= high))
        yield same(
            f"{small}-{large}".replace("²", "2"),
            f"inequality ({MEASURES[small]}) ≤ ({MEASURES[large]}) of a Boolean function",
            holds,
            len(low),
            evidence="exact",
            words=words
            or f"holds for {holds} functions, with equality for {int(np.sum(low == high))}",
            wanted=f"holds for all {len(low)} functions" + " [Huang2019]" * (small == "degree"),
        )


def _chain(d: int) -> Iterator[Finding]:
    """The inequalities for every function of d bits."""
    yield from _ordered(all_figures(d), "")


def _random(run: Run) -> Iterator[Finding]:
    """The transform and the noise sensitivity compared with their definitions."""
    longest = 5 if run.quick else 8
    drawn = [run.rng.choice([-1, 1], 2**d) for d in range(1, longest + 1)]
    agree = sum(bool((walsh_hadamard(f) == walsh_hadamard_by_definition(f)).all()) for f in drawn)
    yield same(
        "transform",
        f"Walsh–Hadamard transform of functions of 1 to {longest} bits, compared with the sums of "
        "the definition",
        agree,
        len(drawn),
        words=f"equal for {agree} random functions",
        wanted=f"equal for all {len(drawn)} functions",
    )
    pairs = [(f, delta) for f in drawn[:6] for delta in DELTAS]
    agree = sum(noise_sensitivity(f, x) == noise_sensitivity_by_definition(f, x) for f, x in pairs)
    yield same(
        "noise",
        "noise sensitivity by Fourier coefficients, compared with a sum over all pairs of words",
        agree,
        len(pairs),
        words=f"equal for {agree} pairs of a random function and a flip probability",
        wanted=f"equal for all {len(pairs)} pairs",
    )
    yield _noise_bound(drawn)


def _noise_bound(tables: list[np.ndarray], words: str = "") -> Finding:
    """NS_δ ≤ δ·I(f), over the rationals."""
    pairs = [(f, delta) for f in tables for delta in DELTAS]
    holds = sum(bool(noise_sensitivity(f, x) <= x * total_influence(f)) for f, x in pairs)
    return same(
        "noise-bound",
        "inequality (probability that the value changes if each bit is flipped with probability δ) "
        "≤ δ·(total influence)",
        holds,
        len(pairs),
        words=words or f"holds for {holds} pairs of a random function and δ",
        wanted=f"holds for all {len(pairs)} pairs",
    )


def _estimated(run: Run, d: int, samples: int) -> Iterator[Finding]:
    """Estimates of the sensitivity compared with known values.

    The models are models of the library, and a torch module that computes the majority as a linear
    threshold.
    """
    known = {each.label: each for each in standard_functions(run, d)}
    words = random_sequences(samples, d, 2, run.rng)
    for label in ("3-parity", "dictator", "and-3"):
        each = known[label]
        found = estimate(each.statement.at(2, d).model, words, forced(2), eta=ETA, seed=run.seed)
        yield _covers(label, found, each.figures["Sens"])
    majority = next(each for label, each in known.items() if label.startswith("majority"))
    embedding, linear = nn.Embedding(2, 1), nn.Linear(majority.d, 1)
    embedding.weight.data[:] = torch.tensor([[-1.0], [1.0]])
    linear.weight.data.fill_(1.0)
    linear.bias.data.zero_()
    module = nn.Sequential(embedding, nn.Flatten(), linear)
    short = words[:, : majority.d]
    found = estimate(predictions(module), short, forced(2), eta=ETA, seed=run.seed)
    yield _covers("torch-module", found, majority.figures["Sens"])
    yield from _of_tokens(run, samples)


def _of_tokens(run: Run, samples: int) -> Iterator[Finding]:
    """Estimates for the maximum of some tokens with one redrawn: for one seed, and for many."""
    V, T = TOKENS
    profile = redrawn_profile(largest(all_sequences(T, V)), V)
    exact = sum(profile, start=Fraction(0)) / T
    tokens = random_sequences(samples, T, V, run.rng)
    yield _covers("redrawn", estimate(largest, tokens, redrawn(V), eta=ETA, seed=run.seed), exact)
    seeds = QUICK_SEEDS if run.quick else SEEDS
    each = [
        estimate(largest, random_sequences(FEW, T, V, seed), redrawn(V), eta=OFTEN, seed=seed)
        for seed in range(seeds * run.seed, seeds * (run.seed + 1))
    ]
    places = np.mean([one.by_place for one in each], axis=0)
    yield _covers("seeds", Estimate(places, FEW * seeds, ETA), exact)
    missed = sum(not one.interval[0] <= exact <= one.interval[1] for one in each)
    yield at_most(
        "coverage",
        f"number of seeds whose confidence interval for Sens does not contain Sens = {exact}, with "
        f"{FEW} sequences for each seed and confidence 1 − η, η = {OFTEN:g}",
        "statistical",
        missed,
        OFTEN * seeds,
        words=f"{missed} of {seeds}",
        wanted=f"at most η·{seeds} = {OFTEN * seeds:g}",
    )


def largest(tokens: np.ndarray) -> np.ndarray:
    """The largest token of each of N sequences of T tokens (N, T), as an array (N,)."""
    return np.asarray(tokens.max(axis=1))


TITLES = {
    "3-parity": "the parity of 3 bits",
    "dictator": "the value of one bit",
    "and-3": "the conjunction of 3 bits",
    "torch-module": "the majority as a torch module",
    "redrawn": "the largest token, if one token is replaced by a uniform symbol",
    "seeds": "the largest token, if one token is replaced by a uniform symbol, with all seeds",
}


def _covers(label: str, found: Estimate, sens: Fraction) -> Finding:
    """The error of an estimate compared with its radius.

    Undecided if the radius is half of the sensitivity or more.
    """
    exact = float(sens)
    finding = at_most(
        label,
        f"|estimate − exact value| of the mean influence Sens of {TITLES[label]}, with "
        f"N = {found.count} random inputs and confidence 1 − η, η = {found.eta:g}",
        "statistical",
        abs(found.value - exact),
        found.radius,
        words=f"{abs(found.value - exact):.4f}; the estimate is {found}, and the exact value is "
        f"{sens} = {exact:.4f}",
        wanted=f"at most √(ln(2/η)/(2N)) = {found.radius:.4f}, the radius of the confidence "
        "interval",
    )
    # Hoeffding: 2e^{−2Nr²} = η for the radius r.
    as_stated(finding, 2 * exp(-2 * found.count * found.radius**2), found.eta)
    if finding.verdict is Verdict.HOLDS and 2 * found.radius >= exact:
        few = f"{finding.words}; give more samples, so that the radius is below Sens/2"
        return replace(finding, verdict=Verdict.UNDECIDED, words=few)
    return finding
