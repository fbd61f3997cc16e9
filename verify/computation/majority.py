"""The claim `majority`: majority by one head with uniform attention, with and without a gate."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from flint import arb

from constructions.computation import majority as construction
from constructions.transformer import Transformer
from theory.computation.majority import majority as definition
from theory.computation.majority import signed_mean
from theory.computation.ones import cross_entropy, extremes
from verify.claim import Run, claim
from verify.computation.ones import digits, logits_by_ones
from verify.computation.options import Length, Samples
from verify.domains import Ball
from verify.evidence.enclosure import below, interval
from verify.evidence.gaps import averaging, gap_finding
from verify.evidence.sequences import answers_equal, computes
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, at_most, labelled

LENGTHS = 10, 100, 1000
BITS = 192
ANY = 1e-3  # a sharpness at which different scores would give nearly equal weights


@claim(
    faults_seen=[{"max_length": 6, "samples": 8}],
)
def majority(run: Run, *, max_length: Length = 40, samples: Samples = 50) -> Iterator[Finding]:
    """One layer of one head and width 2 outputs, after each bit, whether most bits so far are 1.

    All scores are 0, so softmax at any inverse temperature is exact.  No weight depends on the
    length, and there are no position embeddings.  The signed logit (the logit with the sign of the
    right answer) after n bits is at least 1/(n + 1).  If two ReLUs are added, whose weights depend
    on the maximum length T, the signed logit is 1.
    """
    for gate in (False, True):
        statement = averages(run, gate)
        yield from computes(run, statement, 2, max_length, samples, symbols=2, longest=10)
        model, label = statement.at(2, max_length).model, statement.label
        yield gap_finding(label, model, averaging(model, 1))
        yield from labelled(label, [exact_softmax(model), _extremes(statement, max_length)])
    yield from labelled("mean", cross_entropies(run))


def averages(run: Run, gate: bool) -> OverTokens:
    """The statement that the model `majority` equals the definition of majority."""
    return OverTokens(
        "gate" if gate else "mean",
        lambda V, n: run.build(construction, n, gate=gate),
        definition,
        symbols=2,
        theorem="majority-gate" if gate else "majority",
    )


def exact_softmax(model: Transformer) -> Finding:
    """Checks that softmax and hardmax logits are equal at every sharpness, since scores are 0."""
    error = model.softmax_error(ANY).logits
    attn = model.blocks[0].attn
    assert attn is not None
    compared = any(bool(W.any()) for W in (attn.W_Q, attn.b_Q))
    return at_most(
        "softmax",
        "largest distance between softmax and hardmax logits, at any sharpness",
        "proved",
        float("nan") if compared else error,
        0.0,
    )


def _extremes(statement: OverTokens, max_length: int) -> Finding:
    return answers_equal(
        "extremes",
        f"words of n = {max_length} bits with 0, 1, n − 1 or n ones",
        statement,
        [(statement.at(2, max_length).model, extremes(max_length))],
    )


def cross_entropies(run: Run) -> Iterator[Finding]:
    """Evidence on the logits and the cross-entropy of the model of majority with gate=False.

    For n bits and N = n + 1 tokens, the signed logit (the logit with the sign of the right answer)
    is s = |2z − 1|/N, where z is the number of ones minus the number of zeros.  By ln 2 − ln(1 +
    e^{−s}) ≤ s/2, a bound on the mean of s suffices.  The mean over all words is at most (2√n +
    1)/N, since the mean of z² is n.
    """
    statement = averages(run, gate=False)
    with Ball.precision(BITS):
        right, count = 0, 0
        for n in range(1, 5 if run.quick else 11):
            for k, logit in enumerate(logits_by_ones(statement.at(2, n).model, n)):
                side = 1 if 2 * k > n else -1
                right += bool((side * logit).overlaps(_ball(n, k)) and logit.rad() < 2.0**-100)
                count += 1
        yield Finding(
            "logits",
            f"(right logit) − (wrong logit) equals its closed form, for all words of n ≤ {n} bits",
            "enclosure",
            right,
            count,
            Verdict.of(right == count),
            f"equal for {right} of the {count} pairs of a length n and a number of ones",
            "equal to |2z − 1|/(n + 1), where z = (number of ones) − (number of zeros)",
        )
        verdicts, found, words = list[Verdict](), dict[str, Any](), list[str]()
        for n in LENGTHS:
            lost = cross_entropy(n, partial(_ball, n))
            most = (2 * arb(n).sqrt() + 1) / (2 * (n + 1) * arb(2).log())
            verdicts.append(below(1 - lost, most))
            found[f"n = {n}"] = interval(lost)
            words.append(f"{digits(lost, 4)} bits for n = {n}")
        yield Finding(
            "cross-entropy",
            "mean cross-entropy of the model without ReLUs, over all words of n bits",
            "enclosure",
            found,
            "1 − CE ≤ (2√n + 1)/(2(n + 1) ln 2)",
            Verdict.together(verdicts),
            "; ".join(words),
            "at least 1 − (2√n + 1)/(2(n + 1) ln 2) = 1 − O(1/√n) bits",
        )


def _ball(n: int, k: int) -> arb:
    signed = signed_mean(n, k)
    return arb(signed.numerator) / signed.denominator
