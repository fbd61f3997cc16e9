"""The claim `hard-attention-cannot`: unique-hard attention is AND, OR and NOT in constant depth."""

from __future__ import annotations

import re
from collections.abc import Iterator

import numpy as np

from constructions import induction_heads
from constructions import previous_token as looks_back
from constructions.computation import from_formula, parity, to_circuit
from constructions.computation.circuit_examples import contains_aa
from theory.kinds import InputError
from theory.retrieval import induction, previous_token
from verify.claim import Run, claim
from verify.computation.options import Letters, LongWords
from verify.computation.to_circuit import (
    QUICK,
    Circuits,
    Translated,
    depth,
    free_letters,
    on_all_words,
    on_long_words,
    only_and_or,
    parity_in_log_layers,
    shortest_words,
    size,
    translate,
)
from verify.finding import Finding, Verdict, labelled, same

FURTHER = [16, 24]
PARITY_ALONE = 9  # letters up to which parity is looked at, on all subcubes


@claim(
    source="[Hahn2020], [Hao2022]; proved in constructions/computation/hard_attention_circuit.py",
    picture="verify.computation.circuits_picture:draw",
    faults_seen=[{"length": 5, "samples": 8}],
)
def hard_attention_cannot(
    run: Run, *, length: Letters = 10, samples: LongWords = 200
) -> Iterator[Finding]:
    """Unique-hard attention is a circuit of AND, OR and NOT, two levels a layer of one head, at
    every length (and at most two before, for more than two letters), if tokens that share the best
    score carry one value; with polynomially many gates for a fixed number of layers.

    So a fixed number of layers does not compute parity, where contents are polynomially many.  What
    is shown: the tensors of four models become such circuits, which answer all words of at most 10
    letters (9, of three letters) as the models and the definitions do, and each of which is
    constant on a subcube, so that it is not parity.  What is cited: circuits of AND and OR of
    constant depth and polynomial size do not compute parity [FSS1984], hence no such transformer
    does [Hahn2020, Hao2022].  Parity itself is constant on no subcube; heads that average compute
    it and have no such circuit, and unique-hard attention takes ⌈log₂n⌉ layers for it, with
    circuits that grow as deep.
    """
    drawn = {}
    length = min(length, QUICK) if run.quick else length
    for of in models(run):
        found = [translate(of, shortest_words(of, length))]
        found += [translate(of, [12] if run.quick else FURTHER)]
        yield from labelled(of.label, _circuit(run, found, samples))
        yield from labelled(of.label, [_not_parity(found[0])])
        drawn[of.label] = found
    of = parity_in_log_layers(run)
    found = [translate(of, [n]) for n in range(2, min(length, PARITY_ALONE) + 1)]
    yield from labelled(of.label, _log_layers(found))
    yield from labelled("parity", [_averages(run, min(length, PARITY_ALONE))])
    if run.plot:
        drawn["parity in ⌈log₂n⌉ layers"] = [*found, translate(of, [16]), translate(of, [17])]
        del drawn["previous-token"]  # its answer is a letter: no gates
        run.draw("AND, OR, NOT", drawn)


def models(run: Run) -> list[Translated]:
    """Unique-hard models: of the library, and one written for this."""
    return [
        Translated(
            "contains-aa",
            2,
            lambda n: run.build(contains_aa, n),
            lambda words: _matches("11", words),
            "and-or",
            "2*n + 3",
            "3",
        ),
        Translated(
            "since",
            3,
            lambda n: run.build(from_formula, "a since b", "abc", n),
            lambda words: _matches("10*.$", words),
            "and-or",
            "3*n - 2",
            "3",
        ),
        Translated(
            "previous-token",
            2,
            lambda n: run.build(looks_back, 2, n),
            lambda words: previous_token(words)[:, -1],
            "and-or",
            "0",
            "0",
        ),
        Translated(
            "induction",
            2,
            lambda n: run.build(induction_heads, 2, n),
            lambda words: induction(words)[:, -1],
            "and-or",
            "8*n - 7",
            "3",
        ),
    ]


def _matches(pattern: str, words: np.ndarray) -> np.ndarray:
    """Whether a regular expression is found in each word, (m,)."""
    found = (re.search(pattern, "".join(map(str, word))) for word in words.tolist())
    return np.array([match is not None for match in found], dtype=np.int64)


def _circuit(run: Run, found: list[Circuits], samples: int) -> Iterator[Finding]:
    yield from on_all_words(found[:1])
    yield on_long_words(run, found[1], samples)
    yield only_and_or(found)
    yield depth(found)
    yield size(found)


def _not_parity(found: Circuits) -> Finding:
    """Constant on a subcube of dimension 1 or more, at every length from 3 on."""
    free = {n: d for n, d in free_letters(found).items() if n > 2}
    return Finding(
        "subcube",
        "largest subcube on which the answer is constant: free letters by length",
        "exact",
        free,
        1,
        Verdict.of(all(d >= 1 for d in free.values())) if free else Verdict.UNDECIDED,
        wanted="at least 1: not parity",
    )


def _log_layers(found: list[Circuits]) -> Iterator[Finding]:
    """Parity by AND, OR and NOT, as deep as the model; constant on no subcube."""
    yield from on_all_words(found)
    yield only_and_or(found)
    yield depth(found)
    yield size(found)
    free = {n: d for each in found for n, d in free_letters(each).items()}
    yield same(
        "subcube", "free letters of the largest constant subcube", free, dict.fromkeys(free, 0)
    )


def _averages(run: Run, longest: int) -> Finding:
    """A head that averages different values has no circuit of AND and OR here."""
    lengths = range(2, longest + 1)
    name = f"averaging heads are refused, 2 to {longest} letters"
    return same("averaging", name, sum(refused(run, n) for n in lengths), len(lengths))


def refused(run: Run, n: int) -> int:
    """1 if parity by an average of n letters is refused, for averaging, else 0."""
    try:
        to_circuit(run.build(parity, n, causal=True), n, "and-or")
    except InputError as error:
        return int("averages" in str(error))
    return 0
