"""The claim `constant-depth-circuits`: threshold circuits for average-hard attention."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from constructions import induction_heads
from constructions.computation import majority, parity, shortcut
from constructions.computation.averaging_circuit import LEVELS, LEVELS_TO_ANSWER
from constructions.computation.circuit_examples import marked_majority
from theory.computation import cyclic
from theory.retrieval import induction
from verify.claim import Run, claim
from verify.computation.options import LongWords, ShortLength
from verify.computation.to_circuit import (
    QUICK,
    Circuits,
    Translated,
    depth,
    depths,
    largest_weight,
    on_all_words,
    on_long_words,
    parity_in_log_layers,
    shortest_words,
    size,
    translate,
)
from verify.finding import Finding, at_most, labelled

FURTHER = [16, 32]


@claim(
    picture="verify.computation.circuits_picture:draw",
    faults_seen=[{"max_length": 5, "samples": 8}],
)
def constant_depth_circuits(
    run: Run, *, max_length: ShortLength = 10, samples: LongWords = 200
) -> Iterator[Finding]:
    """At every length n, every transformer of L layers of average-hard attention over ℚ equals a
    circuit of threshold gates of depth at most 6L + 2.  For the hand-built transformer of two
    layers that computes parity of n ≥ 2 bits, the circuit has depth 2 and n + 1 gates with weights
    ±1.

    Every Boolean function has circuits of two levels, so depth is meaningful only together with the
    number of gates.  Gates are counted for five transformers, which compute parity, majority, a
    majority of marked bits, sums mod 3 and induction.  For other transformers this claim does not
    bound the number of gates.

    Checked: the tensors of the five transformers are translated to circuits, whose depth does not
    depend on the length.  The circuits agree with the transformers and with the definitions of the
    five functions on all words of at most 10 symbols and on samples of words of 32 symbols.

    Cited: languages of saturated transformers are in TC⁰ [MSS2022], also with exact rationals
    [Chiang2025].  The languages of softmax transformers of logarithmic precision are in TC⁰ as well
    [MS2023]; softmax is not translated by this claim.  It is not known whether TC⁰ ≠ NC¹.  If TC⁰ ≠
    NC¹, transformers whose languages are in TC⁰ do not solve problems complete for NC¹, such as the
    word problem of the alternating group A5.
    """
    drawn = {}
    max_length = run.limited(QUICK, max_length=max_length)
    for of, weights in models(run):
        found = [translate(of, shortest_words(of, max_length))]
        found += [translate(of, [12] if run.quick else FURTHER)]
        yield from labelled(of.label, on_all_words(found[:1]))
        yield from labelled(of.label, [on_long_words(run, found[1], samples)])
        yield from labelled(of.label, [depth(found), levels(found), size(found)])
        yield from labelled(of.label, [largest_weight(found, weights)] if weights else [])
        drawn[of.label] = found
    if run.plot:
        of = parity_in_log_layers(run)
        drawn["parity by AND, OR"] = [translate(of, [n]) for n in (4, 5, 8, 9, 16, 17)]
        run.draw("threshold circuits", drawn)


def models(run: Run) -> list[tuple[Translated, str]]:
    """The models to translate, each with the stated bound on the weights of its gates.

    The bound is "" if none is stated. Some models average, and others have unique-hard attention.
    Which tokens `marked-majority` averages depends on the word, so that the means over tokens of
    words of n symbols have all denominators up to n.
    """
    odd = Translated(
        "parity",
        2,
        lambda n: run.build(parity, n, causal=True),
        lambda words: words.sum(1) % 2,
        "threshold",
        "n + 1",
        "2",
    )
    more = Translated(
        "majority",
        2,
        lambda n: run.build(majority, n),
        lambda words: (2 * words.sum(1) > words.shape[1]).astype(int),
        "threshold",
        "1",
        "1",
    )
    marked = Translated(
        "marked-majority",
        2,
        lambda n: run.build(marked_majority, n),
        lambda words: (words[:, ::2].sum(1) > words[:, 1::2].sum(1)).astype(int),
        "threshold",
        "≤ 2*n**2",
        "4",
    )
    mod_3 = Translated(
        "mod-3",
        2,
        lambda n: run.build(shortcut, cyclic(3), n),
        lambda words: words.sum(1) % 3,
        "threshold",
        "n + 11",
        "4",
    )
    heads = Translated(
        "induction",
        2,
        lambda n: run.build(induction_heads, 2, n),
        lambda words: np.asarray(induction(words)[:, -1]),
        "threshold",
        "n*(n + 5)/2",
        "6",
    )
    return [(odd, "≤ 1"), (more, "≤ 1"), (marked, ""), (mod_3, ""), (heads, "≤ 2")]


def levels(found: list[Circuits]) -> Finding:
    """Checks that the depth of each circuit is at most 6L + 2 for a model of L layers."""
    layers = found[0].model.n_layers
    return at_most(
        "levels",
        f"largest depth of a circuit of the model of L = {layers} layers, compared with "
        f"{LEVELS}L + {LEVELS_TO_ANSWER}",
        "exact",
        max(depths(found).values()),
        LEVELS * layers + LEVELS_TO_ANSWER,
        wanted=f"≤ {LEVELS * layers + LEVELS_TO_ANSWER}",
    )
