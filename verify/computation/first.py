"""The claim `first`: the first symbol of a word by one head, and the cost of bounded positions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from math import exp
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
from verify.computation.ones import digits, least_sharpness
from verify.computation.options import Length, Samples
from verify.domains import Ball, outputs
from verify.evidence.enclosure import below, interval
from verify.evidence.gaps import States, at_positions, gap_finding
from verify.evidence.sequences import answers_equal, computes
from verify.evidence.size import size
from verify.evidence.statement import OverTokens
from verify.finding import Finding, Verdict, as_stated, labelled

SHARPNESS = 2, 4, 8
LENGTHS = 10, 100, 1000
LONGEST = 16  # symbols of the worst words, which come within e^{−βn} of the bound
BITS = 512  # enough precision to separate the logit from its bound at all β here


@claim(
    faults_seen=[{"max_length": 6, "samples": 8}],
)
def first(run: Run, *, max_length: Length = 40, samples: Samples = 50) -> Iterator[Finding]:
    """For all T, one layer of one head and width 2 outputs the first of n ≤ T bits, with a margin
    that does not depend on n.

    The word is preceded by the token CLS, at which the model outputs the first bit.  CLS attends to
    position 1, since position j ≥ 1 has the score −j, and CLS has a lower score than all of these
    positions.  With softmax at inverse temperature β > ln 2 the signed logit (the logit with the
    sign of the right answer) is at least 1 − 2e^{−β}, for all words of all lengths.  The models of
    [ChiangCholak2022] have positional encodings in [0, 1] and weights that do not depend on n.
    They are also right on all words, but their cross-entropy is 1 − Θ(1/n) bits.  If layer norms
    without ε are added to these models, the cross-entropy is a constant, log₂(1 + e^−√6) = 0.1195
    bits.
    """
    statement = OverTokens(
        "symbol",
        lambda V, n: run.build(construction, n),
        definition,
        symbols=2,
        theorem="first",
    )
    yield from computes(run, statement, 2, max_length, samples, symbols=2, longest=10)
    model = statement.at(2, max_length).model
    yield gap_finding(statement.label, model, looking_first(model))
    sharp = partial(run.build, first_symbol)
    for beta in SHARPNESS:
        found = least_logit(partial(sharp, sharpness=beta), beta, 5 if run.quick else LONGEST)
        yield from labelled("softmax", [found])
    yield from labelled("softmax", [least_sharpness(lambda beta: first_symbol(2, sharpness=beta))])
    with Ball.precision(BITS):
        for layer_norm in (False, True):
            label = "layer-norm" if layer_norm else "bounded"
            yield from labelled(label, bounded(run, layer_norm))
        yield from labelled("cross-entropy", cross_entropies())


def bounded(run: Run, layer_norm: bool) -> Iterator[Finding]:
    """Checks the models of [ChiangCholak2022] on all words of at most 10 symbols.

    The sizes of the models and the closed form of their logits are also checked.
    """
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
        f"all words of at most {lengths[-1]} symbols",
        paper,
        ((paper.at(2, n).model, all_sequences(n, 2)) for n in lengths),
    )
    yield closed_form(paper, 3 if run.quick else 6, layer_norm)


def looking_first(model: Transformer) -> States:
    """The query at CLS and the possible keys of the head by which CLS attends to position 1.

    The keys depend only on the position, so they cover both symbols at position 1.
    """
    places = at_positions(model, "late")
    here = np.arange(len(places["late"]))
    preference = np.where(here == 1, 0.0, -np.inf)[None]
    return States(1, {}, places, preference, here)


def least_logit(build: Callable[[int], Transformer], beta: int, max_length: int) -> Finding:
    """Compares the smallest signed logit over all words with its bound 1 − 2e^{−β}, β = `beta`.

    β is the inverse temperature of softmax. A signed logit is the logit with the sign of the right
    answer.  Attention does not read symbols, so the logit is linear in the symbols, with positive
    weights.  So the smallest signed logit occurs at words in which all symbols after the first
    differ from the first symbol.
    """
    verdicts, blind = list[Verdict](), True
    with Ball.precision(BITS):
        bound, least = least_signed_first((-arb(beta)).exp()), arb("inf")
        for n in range(1, max_length + 1):
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
        found, stated = interval(least), digits(bound, 5)
    finding = Finding(
        f"β={beta}",
        f"smallest (right logit) − (wrong logit) with softmax at β = {beta}, on all words of at "
        f"most {max_length} bits",
        "enclosure",
        found,
        float(bound),
        Verdict.together([*verdicts, Verdict.of(blind)]),
        f"{found[0]:.5g}, at a word whose later bits all differ from the first bit",
        f"above 1 − 2e^−β = {stated}",
    )
    return as_stated(finding, float(bound), 1 - 2 * exp(-beta))


def logit(model: Transformer, word: np.ndarray) -> arb:
    """The difference of the model's two logits on a word, as an Arb ball."""
    low, high = outputs(model, model.prompt(word), Ball()).tolist()[-1]
    difference: arb = high - low
    return difference


def closed_form(paper: OverTokens, max_length: int, layer_norm: bool = False) -> Finding:
    """Checks on all words that logits equal ±½ r/(r + n) with r = e^c, or ±√6 with layer norms.

    Here c is the score that CLS gives to position 1, and n is the length of the word.  Without
    layer norms, scores are multiples of a float64 that is read exactly.  With layer norms the logit
    is √12/√2, where √12 is rounded.
    """
    form, rounded = (
        ("√6", 2.0**-50) if layer_norm else ("½ a/(a + n) with a = e^(10/√6)", 2.0**-100)
    )
    verdicts, count, words = list[Verdict](), 0, ""
    for n in range(1, max_length + 1):
        model = paper.at(2, n).model
        wanted = arb(6).sqrt() if layer_norm else bounded_first_logit(n, odds(model))
        for word in all_sequences(n, 2):
            signed = (2 * int(word[0]) - 1) * logit(model, word)
            verdicts.append(below(abs(signed - wanted), arb(rounded)))
        count, words = count + 2**n, f"the closed form is {digits(wanted, 4)} at n = {n}"
    right = sum(verdict is Verdict.HOLDS for verdict in verdicts)
    return Finding(
        "logits",
        "(right logit) − (wrong logit), compared with its closed form, on all words of "
        f"n ≤ {max_length} bits",
        "enclosure",
        right,
        count,
        Verdict.together(verdicts),
        f"equal on {right} of {count} words; {words}",
        f"equal to {form}",
    )


def odds(model: Transformer) -> arb:
    """The ratio e^c of the attention weights of CLS on position 1 and on any other position.

    The score c of position 1 is 10 times the scale of the scores; other scores are 0.
    """
    attn = model.blocks[1].attn
    assert attn is not None
    return (10 * exactly(attn.scale)).exp()


def cross_entropies() -> Iterator[Finding]:
    """Evidence on the cross-entropies of the models, in bits per word.

    The bounds use s/2 − s²/8 ≤ ln 2 − ln(1 + e^{−s}) ≤ s/2, where s is the signed logit (the logit
    with the sign of the right answer).
    """
    e = (10 / arb(6).sqrt()).exp()
    verdicts, found, words = list[Verdict](), dict[str, Any](), list[str]()
    for n in LENGTHS:
        signed = bounded_first_logit(n, e)
        lost = bits_lost(signed)
        rest = (1 - lost) * arb(2).log()
        half = e / (4 * (e + n))
        verdicts += [below(rest, half), below(half - half * half / 2, rest)]
        found[f"n = {n}"] = interval(lost)
        words.append(f"{digits(lost, 4)} bits at n = {n}")
    yield Finding(
        "bounded",
        "cross-entropy on every word of n bits, with bounded positions and weights that do not "
        "depend on n",
        "enclosure",
        found,
        "1 − CE between s/2 − s²/8 and s/2, over ln 2",
        Verdict.together(verdicts),
        ", ".join(words),
        "1 − r/ln 2 = 1 − Θ(1/n) bits with s/2 − s²/8 ≤ r ≤ s/2, where s = ½ a/(a + n) is the "
        "difference of the logits, and a = e^(10/√6)",
    )
    lost = bits_lost(arb(6).sqrt())
    yield Finding(
        "layer-norm",
        "cross-entropy on every word, with layer norms",
        "enclosure",
        interval(lost),
        (0.1194, 0.1195),
        Verdict.together([below(arb("0.1194"), lost), below(lost, arb("0.1195"))]),
        f"log₂(1 + e^−√6) = {digits(lost, 6)} bits",
        "between 0.1194 and 0.1195 bits",
    )
