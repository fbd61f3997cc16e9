"""The claim `parity`: parity in two layers, and the cost of softmax and bounded positions."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import accumulate
from typing import Any

from flint import arb

from constructions.computation import parity as construction
from constructions.computation import parity_bounded
from constructions.transformer import Transformer
from theory.balls import exactly
from theory.computation.ones import bits_lost, cross_entropy, extremes
from theory.computation.parity import (
    bounded_logit,
    least_signed_count,
    mean_logit,
    one_side,
    signed_counts,
)
from theory.computation.parity import parity as definition
from theory.sequences import all_sequences
from verify.claim import Run, claim
from verify.computation.ones import digits, least_sharpness, logits_by_ones, only_counts
from verify.computation.options import Length, Samples
from verify.domains import Ball
from verify.evidence.enclosure import below, interval
from verify.evidence.gaps import averaging, counting, gap_finding
from verify.evidence.sequences import answers_equal, computes
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, at_most, labelled

SHARPNESS = 2, 4, 8
LENGTHS = 10, 100, 1000
LONG = 40  # the largest length at which all states of a head are listed, or words are run in balls
SIDES = 200  # symbols on one side of position k, up to which the bound is checked
BITS = 192
ROUNDED = 2.0**-50  # see `closed_form`


@claim(
    picture="verify.computation.parity_picture:draw",
    faults_seen=[{"max_length": 6, "samples": 8}],
)
def parity(run: Run, *, max_length: Length = 40, samples: Samples = 50) -> Iterator[Finding]:
    """For all T, two layers of one head without an MLP compute the parity of all words of n ≤ T
    bits, with a margin that does not depend on n.

    In the first layer, the token CLS computes the fraction of ones. In the second layer, CLS
    retrieves the sign (−1)^k from position k, where k is the number of ones.  The width is 5, or 7
    for an output after each bit.  With softmax at inverse temperature β > ln 2, the signed logit
    (the logit with the sign of the right answer) is at least (1 − 2e^{−β})/(1 + 2e^{−β}), for all
    words of all lengths.  Position embeddings are as large as T², and scores are multiplied by T +
    1. The models of [ChiangCholak2022], with position embeddings in [−1, 1] and weights that do not
    depend on n, are also right on all words, with a mean cross-entropy of 1 − Θ(1/n²) bits.  With
    layer norms without ε, the cross-entropy is a constant, log₂(1 + e^−√10) = 0.0598 bits.
    """
    for causal in (False, True):
        statement = counts_ones(run, causal)
        yield from computes(run, statement, 2, max_length, samples, symbols=2, longest=10)
        model, label = statement.at(2, max_length).model, statement.label
        mlps = at_most("mlps", "number of layers with an MLP", "exact", layers_with_mlp(model), 0)
        yield from labelled(label, [mlps])
        short = statement.at(2, min(max_length, LONG)).model
        listed = f"{label}/T={short.interface.max_length}"
        yield gap_finding(listed, short, averaging(short, 1))
        yield gap_finding(listed, short, counting_states(short, causal))
    whole = counts_ones(run, causal=False)
    yield from labelled(
        whole.label,
        [_extremes(whole, max_length, run.quick), only_counts(whole.at(2, max_length).model)],
    )
    yield from labelled("softmax", softmax(run))
    for layer_norm in (False, True):
        label = "layer-norm" if layer_norm else "bounded"
        yield from labelled(label, bounded(run, layer_norm))
    yield from labelled("cross-entropy", cross_entropies(run))
    run.draw()


def counts_ones(run: Run, causal: bool) -> OverTokens:
    """The statement that the model `parity` equals the definition of parity.

    If `causal` is true, the outputs after each symbol are compared, and otherwise the output for
    the whole word.
    """
    return OverTokens(
        "causal" if causal else "whole",
        lambda V, n: run.build(construction, n, causal=causal),
        lambda words: definition(words)[..., slice(None) if causal else slice(-1, None)],
        symbols=2,
        theorem="parity-causal" if causal else "parity",
    )


def layers_with_mlp(model: Transformer) -> int:
    """The number of layers with an MLP."""
    return sum(block.mlp is not None for block in model.blocks)


def counting_states(model: Transformer, causal: bool) -> Any:
    """The possible queries and keys of the head of layer 2.

    At CLS, for k ones among N tokens, the register `one` is k/N and `inverse` is 1 + 1/N. In the
    causal form, `fraction` is k/N and `inverse` is 1/N.
    """
    fraction = "fraction" if causal else "one"
    states = counting(model, 2, {fraction: 1.0}, "inverse", ("j", "norm"))
    if causal:
        return states
    assert states.over is not None
    return replace(states, queries={**states.queries, "inverse": 1.0 + states.over})


def _extremes(statement: OverTokens, max_length: int, quick: bool) -> Finding:
    lengths = sorted({1, 2, 3, max_length - 1, max_length, *(() if quick else (2 * LONG - 1,))})
    return answers_equal(
        "extremes",
        f"words with 0, 1, n − 1 or n ones, n = {', '.join(map(str, lengths))}",
        statement,
        ((statement.at(2, n).model, extremes(n)) for n in lengths),
    )


def softmax(run: Run) -> Iterator[Finding]:
    """Evidence on a bound of softmax logits at all inverse temperatures, and on logits as balls."""
    yield bound_holds(SIDES)
    few = range(1, 5 if run.quick else 11)
    sizes = {n: list(range(n + 1)) for n in few}
    if not run.quick:
        sizes[LONG] = [0, 1, LONG // 2, LONG - 1, LONG]
    for beta in SHARPNESS:
        with Ball.precision(BITS):
            least, verdicts = arb("inf"), list[Verdict]()
            q = (-arb(beta)).exp()
            bound = least_signed_count(q)
            for n, ones in sizes.items():
                model = run.build(construction, n, sharpness=beta)
                wanted = signed_counts(n, q)
                for k, logit in zip(ones, logits_by_ones(model, n, ones), strict=True):
                    signed = logit if k % 2 else -logit
                    close = signed.overlaps(wanted[k]) and signed.rad() < 2.0**-100
                    tight = signed.overlaps(bound) if (n, k) == (2, 1) else signed > bound
                    verdicts += [Verdict.of(bool(close)), Verdict.of(bool(tight))]
                    least = least.min(signed)
            found, stated = interval(least), digits(bound, 5)
        yield Finding(
            f"β={beta}",
            f"smallest (right logit) − (wrong logit) with softmax at β = {beta}, on all words of "
            f"n ≤ {few[-1]} bits"
            + f" and some words of {LONG} bits" * (not run.quick)
            + ", for models of maximum length n",
            "enclosure",
            found,
            float(bound),
            Verdict.together(verdicts),
            f"{found[0]:.5g}; each difference equals its closed form",
            f"at least (1 − 2e^−β)/(1 + 2e^−β) = {stated}, attained at n = 2 with one 1",
        )
    yield least_sharpness(lambda beta: construction(2, sharpness=beta))


def bound_holds(most: int) -> Finding:
    """Checks the bound in the proof of `least_signed_count`: 2qE − O ≥ 0 for all q in [0, 1].

    Here q = e^{−β} for the inverse temperature β, and k is the position that CLS looks up. E and O
    are the sums of the attention weights at even and at odd distances from position k. The check is
    made for the positions on one side of k.  A polynomial Σ c_i q^i is nonnegative on [0, 1] if all
    partial sums of its coefficients are nonnegative, since it equals Σ_i (c_0 + … + c_i)(q^i −
    q^{i+1}) (Abel summation).  Words of at most `most` symbols have at most `most` positions on a
    side.
    """
    wrong = 0
    for r in range(most + 1):
        side = one_side(r)
        wrong += min(accumulate(side[power] for power in sorted(side))) < 0
    return Finding(
        "bound",
        "(right logit) − (wrong logit) is at least (1 − 2q)/(1 + 2q), q = e^−β, with softmax at "
        f"every β > 0, for all words of at most {most} bits",
        "proved",
        wrong,
        0,
        Verdict.of(wrong == 0),
        f"{wrong} of the {most + 1} polynomials in q in the proof have a negative partial sum of "
        "coefficients",
        "none, so that the polynomials are nonnegative on [0, 1]",
    )


def bounded(run: Run, layer_norm: bool) -> Iterator[Finding]:
    """Checks the models of [ChiangCholak2022] on all words of at most 10 symbols.

    The sizes of the models and the closed form of their logits are also checked.
    """

    def build(n: int) -> Transformer:
        return run.build(parity_bounded, n, layer_norm=layer_norm)

    statement = OverTokens("", lambda V, n: build(n), lambda words: definition(words)[..., -1:])
    lengths = range(1, 5 if run.quick else 11)
    yield size(build(4), "parity-layer-norm" if layer_norm else "parity-bounded")
    yield answers_equal(
        "all-words",
        f"all words of at most {lengths[-1]} symbols",
        statement,
        ((build(n), all_sequences(n, 2)) for n in lengths),
    )
    yield only_counts(build(4))
    yield closed_form(build, [*lengths, *(() if run.quick else (31,))], layer_norm)


def closed_form(build: Any, lengths: list[int], layer_norm: bool) -> Finding:
    """Checks that logits, as Arb balls, equal their closed forms up to the rounding of the weights.

    In the table of positions, the embedding j/N of position j = 0 … N − 1 is rounded by at most u =
    2^−53.  So a hat function has an error of at most 4u, and the difference of two averages of hat
    functions has an error of at most 8u = 2^−50.  With layer norms the error of √20/√2 is smaller.
    """
    verdicts, apart = list[Verdict](), 0.0
    with Ball.precision(BITS):
        e = exactly(build(1).blocks[1].attn.scale).exp()
        for n in lengths:
            for k, logit in enumerate(logits_by_ones(build(n), n)):
                signed = logit if k % 2 else -logit
                wanted = arb(10).sqrt() if layer_norm else bounded_logit(n, k, e)
                off = abs(signed - wanted)
                apart = max(apart, float(off.upper()))
                verdicts += [below(off, arb(ROUNDED)), below(arb(0), signed)]
    return Finding(
        "logits",
        "distance of (right logit) − (wrong logit) from its closed form"
        + " √10" * layer_norm
        + f", for all words of n = {', '.join(map(str, lengths))} bits",
        "enclosure",
        apart,
        ROUNDED,
        Verdict.together(verdicts),
        f"at most {apart:.1e}, and all differences are above 0",
        "at most 2^−50, from the rounding of the weights",
    )


def cross_entropies(run: Run) -> Iterator[Finding]:
    """Evidence on mean cross-entropies over all 2ⁿ words, from the closed forms of the logits."""
    lengths = LENGTHS[: 1 if run.quick else None]
    with Ball.precision(BITS):
        yield _of_bounded(lengths)
        yield _of_ours(lengths)
        lost = bits_lost(arb(10).sqrt())
        yield Finding(
            "layer-norm",
            "cross-entropy on every word, of the model with layer norms",
            "enclosure",
            interval(lost),
            (0.0598, 0.0599),
            Verdict.together([below(arb("0.0598"), lost), below(lost, arb("0.0599"))]),
            f"log₂(1 + e^−√10) = {digits(lost, 6)} bits",
            "between 0.0598 and 0.0599 bits",
        )


def _of_bounded(lengths: tuple[int, ...]) -> Finding:
    """Checks that the cross-entropy with bounded positions is 1 − Θ(1/n²).

    With s the signed logits, s/2 − s²/8 ≤ ln 2 − ln(1 + e^{−s}) ≤ s/2, and the mean of s is
    sinh 2c/(N² cosh² c − [n even] sinh² c), c = 1/√5.
    """
    verdicts, found, words = list[Verdict](), dict[str, Any](), list[str]()
    for n in lengths:
        lost = cross_entropy(n, partial(bounded_logit, n, e=score().exp()))
        rest = (1 - lost) * arb(2).log()
        mean = mean_logit(n, score().exp())
        verdicts += [below(rest, mean / 2), below(mean / 2 - mean * mean / 4, rest)]
        found[f"n = {n}"] = interval(lost)
        words.append(f"{digits(lost, 5 if n < 1000 else 8)} bits for n = {n}")
    return Finding(
        "bounded",
        "mean cross-entropy over all words of n bits, of the model with position embeddings in "
        "[−1, 1] and weights that do not depend on n",
        "enclosure",
        found,
        "1 − CE between m/2 − m²/4 and m/2, over ln 2",
        Verdict.together(verdicts),
        "; ".join(words),
        "1 − tanh(c)/(n² ln 2) + o(1/n²) bits, c = 1/√5",
    )


def score() -> arb:
    """The absolute value c = 1/√5 of the scores of the parity model of [ChiangCholak2022]."""
    return 1 / arb(5).sqrt()


def _of_ours(lengths: tuple[int, ...]) -> Finding:
    """Checks that the cross-entropy with positions j, j² is ≤ log₂(1 + e^{−(1−2q)/(1+2q)}) bits."""
    verdicts, found, words = list[Verdict](), dict[str, Any](), list[str]()
    for beta in SHARPNESS:
        q = (-arb(beta)).exp()
        most = bits_lost(least_signed_count(q))
        for n in lengths:
            signed = signed_counts(n, q)
            lost = cross_entropy(n, signed.__getitem__)
            found[f"β = {beta}, n = {n}"] = interval(lost)
            verdicts.append(below(lost, most))
        words.append(f"{digits(lost, 4)} bits at β = {beta}, where the bound is {digits(most, 4)}")
    return Finding(
        "ours",
        f"mean cross-entropy over all words of n = {', '.join(map(str, lengths))} bits, of the "
        "model with position embeddings j and j²",
        "enclosure",
        found,
        "log₂(1 + e^−ρ), ρ = (1 − 2e^−β)/(1 + 2e^−β)",
        Verdict.together(verdicts),
        f"for n = {lengths[-1]}: " + "; ".join(words),
        "at most log₂(1 + e^−ρ), with ρ = (1 − 2e^−β)/(1 + 2e^−β), at every length",
    )
