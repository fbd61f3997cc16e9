"""The claim `first`: one head finds the first letter, and bounded positions lose it by and by."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
from flint import arb

from constructions.computation import first_symbol, first_symbol_bounded
from constructions.computation import first_symbol as construction
from constructions.transformer import Transformer
from theory.balls import exactly
from theory.computation.first import bounded_first_logit, least_signed_first
from theory.computation.first import first_symbol as definition
from theory.computation.ones import bits_lost
from theory.sequences import all_sequences
from verify.claim import Run, claim
from verify.computation.ones import digits
from verify.computation.options import Length, Samples
from verify.domains import Ball, outputs
from verify.evidence.enclosure import below, interval
from verify.evidence.gaps import States, at_positions, gap_finding
from verify.evidence.sequences import answers_equal, computes
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, labelled

SHARPNESS = 2, 4, 8
LENGTHS = 10, 100, 1000
LONGEST = 16  # of the worst words, which come within e^{−βn} of the bound
BITS = 512  # tell that apart at all β here


@claim(
    source="[ChiangCholak2022], [Hahn2020]; proved in constructions/computation/first.py",
    faults_seen=[{"length": 6, "samples": 4}],
)
def first(run: Run, *, length: Length = 40, samples: Samples = 50) -> Iterator[Finding]:
    """For all T, one layer of one head and width 2 outputs the first of n ≤ T bits, with a margin
    that does not depend on n.

    CLS attends to the least of the numbers j.  With softmax at inverse temperature β > ln 2 the
    signed logit is at least 1 − 2e^{−β}, for all words of all lengths.  With positions in [0, 1]
    and weights free of n [ChiangCholak2022] are right too, with a cross-entropy of 1 − Θ(1/n) bits;
    layer norms without an ε make that a constant, log₂(1 + e^−√6) = 0.1195 bits.
    """
    statement = OverTokens(
        "letter",
        lambda V, n: run.build(construction, n),
        definition,
        symbols=2,
        theorem="first",
    )
    yield from computes(run, statement, 2, length, samples, exhaustive=(2, 10))
    model = statement.at(2, length).model
    yield gap_finding(statement.label, model, looking_first(model))
    sharp = partial(run.build, first_symbol)
    for beta in SHARPNESS:
        found = least_logit(partial(sharp, sharpness=beta), beta, 5 if run.quick else LONGEST)
        yield from labelled("softmax", [found])
    with Ball.precision(BITS):
        for layer_norm in (False, True):
            label = "layer-norm" if layer_norm else "bounded"
            yield from labelled(label, bounded(run, layer_norm))
        yield from labelled("cross-entropy", cross_entropies())


def bounded(run: Run, layer_norm: bool) -> Iterator[Finding]:
    """[ChiangCholak2022]'s weights: right on all words of n ≤ 10, of the size stated, and what
    their logits are."""
    paper = OverTokens(
        "",
        lambda V, n: run.build(first_symbol_bounded, n, layer_norm=layer_norm),
        definition,
        symbols=2,
    )
    lengths = range(1, 5 if run.quick else 11)
    yield size(paper.at(2, 4).model, "first-layer-norm" if layer_norm else "first-bounded")
    yield answers_equal(
        "all-words",
        f"all words of at most {lengths[-1]} letters",
        paper,
        ((paper.at(2, n).model, all_sequences(n, 2)) for n in lengths),
    )
    yield closed_form(paper, 3 if run.quick else 6, layer_norm)


def looking_first(model: Transformer) -> States:
    """CLS asks for position 1, whatever it holds."""
    places = at_positions(model, "late")
    here = np.arange(len(places["late"]))
    preference = np.where(here == 1, 0.0, -np.inf)[None]
    return States(1, {}, places, preference, here)


def least_logit(build: Callable[[int], Transformer], beta: int, longest: int) -> Finding:
    """Attention reads no letters, so the worst words are those whose others are all opposite: the
    logit is linear in the letters, with weights above 0."""
    verdicts, blind = list[Verdict](), True
    with Ball.precision(BITS):
        bound, least = least_signed_first((-arb(beta)).exp()), arb("inf")
        for n in range(1, longest + 1):
            model = build(n)
            attn, symbol = model.blocks[0].attn, model.stream["symbol"]
            assert attn is not None
            blind = blind and not any(bool(W[:, symbol].any()) for W in (attn.W_Q, attn.W_K))
            for x in (0, 1):
                word = np.full(n, 1 - x)
                word[0] = x
                signed = (2 * x - 1) * logit(model, word)
                verdicts.append(below(bound, signed))
                least = least.min(signed)
        found, said = interval(least), digits(bound, 5)
    return Finding(
        f"β={beta}",
        f"softmax at β = {beta}: least logit on its side, all words of n ≤ {longest}",
        "enclosure",
        found,
        float(bound),
        Verdict.together([*verdicts, Verdict.of(blind)]),
        f"{found[0]:.5g}, where all letters but the first are opposite",
        f"1 − 2e^−β = {said}",
    )


def logit(model: Transformer, word: np.ndarray) -> arb:
    """The difference of the two logits, as a ball."""
    low, high = outputs(model, model.prompt(word), Ball()).tolist()[-1]
    difference: arb = high - low
    return difference


def closed_form(paper: OverTokens, longest: int, layer_norm: bool = False) -> Finding:
    """±½ e/(e + n) on all words, whose scores are multiples of a float64 that is read exactly; or
    ±√6 with layer norms, √12/√2 with √12 rounded."""
    form, rounded = ("√6", 2.0**-50) if layer_norm else ("½ e/(e + n), e = e^(10/√6)", 2.0**-100)
    verdicts, count, words = list[Verdict](), 0, ""
    for n in range(1, longest + 1):
        model = paper.at(2, n).model
        wanted = arb(6).sqrt() if layer_norm else bounded_first_logit(n, odds(model))
        for word in all_sequences(n, 2):
            signed = (2 * int(word[0]) - 1) * logit(model, word)
            verdicts.append(below(abs(signed - wanted), arb(rounded)))
        count, words = count + 2**n, f"{digits(wanted, 4)} at n = {n}"
    return Finding(
        "logits",
        f"logits of all words of n ≤ {longest}",
        "enclosure",
        sum(verdict is Verdict.HOLDS for verdict in verdicts),
        count,
        Verdict.together(verdicts),
        words,
        f"{form}, on the right side",
    )


def odds(model: Transformer) -> arb:
    """e^c for the score c of CLS at position 1, 10 times the scale."""
    attn = model.blocks[1].attn
    assert attn is not None
    return (10 * exactly(attn.scale)).exp()


def cross_entropies() -> Iterator[Finding]:
    """In bits a word; s/2 − s²/8 ≤ ln 2 − ln(1 + e^{−s}) ≤ s/2 at their signed logit s."""
    e = (10 / arb(6).sqrt()).exp()
    verdicts, found, words = list[Verdict](), dict[str, Any](), list[str]()
    for n in LENGTHS:
        signed = bounded_first_logit(n, e)
        lost = bits_lost(signed)
        rest = (1 - lost) * arb(2).log()
        half = e / (4 * (e + n))
        verdicts += [below(rest, half), below(half - half * half / 2, rest)]
        found[f"n = {n}"] = interval(lost)
        words.append(f"n = {n}: {digits(lost, 4)}")
    yield Finding(
        "bounded",
        "with bounded positions and weights free of n, for every word",
        "enclosure",
        found,
        "1 − CE between s/2 − s²/8 and s/2, over ln 2",
        Verdict.together(verdicts),
        "; ".join(words) + " bits",
        "s = ½ e/(e + n): 1 − Θ(1/n)",
    )
    lost = bits_lost(arb(6).sqrt())
    yield Finding(
        "layer-norm",
        "with layer norms, at every length",
        "enclosure",
        interval(lost),
        (0.1194, 0.1195),
        Verdict.together([below(arb("0.1194"), lost), below(lost, arb("0.1195"))]),
        f"log₂(1 + e^−√6) = {digits(lost, 6)} bits",
        "0.1195",
    )
