"""The claim `hard-attention-cannot`: constant-depth circuits for unique-hard attention."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import log

import numpy as np

from constructions import induction_heads
from constructions import previous_token as looks_back
from constructions.assembly import block, rows, unembed
from constructions.blocks import Embed
from constructions.computation import from_formula, parity, semiautomaton, to_circuit
from constructions.computation.circuit_examples import contains_aa
from constructions.computation.hard_attention_circuit import most_gates
from constructions.stream import Map, Stream
from constructions.tokens import Tokens, average
from constructions.transformer import Transformer
from theory.computation import cyclic
from theory.kinds import InputError
from theory.retrieval import induction, previous_token
from verify.claim import Run, claim
from verify.computation.one_layer import free_bits
from verify.computation.options import LongWords, ShortLength
from verify.computation.to_circuit import (
    QUICK,
    Circuits,
    Translated,
    depth,
    free_symbols,
    on_all_words,
    on_long_words,
    only_and_or,
    parity_in_log_layers,
    shortest_words,
    size,
    translate,
)
from verify.finding import Finding, Verdict, as_stated, labelled, same

FURTHER = [16, 24]
PARITY_ALONE = 9  # the largest number of bits for which all subcubes of parity are compared
ONE_LAYER = 7  # bits of parity in one layer: its circuit has 2^n + 2 gates
DRAWN = 6  # models of one layer for each number of heads
SUBCUBE = (
    "number of free symbols of the largest subcube of words of n symbols on which the circuit is "
    "constant"
)


@claim(
    picture="verify.computation.circuits_picture:draw",
    faults_seen=[{"max_length": 5, "samples": 8}],
)
def hard_attention_cannot(
    run: Run, *, max_length: ShortLength = 10, samples: LongWords = 200
) -> Iterator[Finding]:
    """For all fixed numbers L of layers and H of heads per layer, no family of transformers with
    unique-hard attention, one for each n, computes parity of n bits for all n.

    For every n, a transformer with unique-hard attention on words of n symbols over an alphabet of
    V symbols equals a circuit of AND, OR and NOT gates.  The depth of the circuit is at most 2L if
    H = 1 and at most 4L otherwise, and it is 2 larger if V > 2.  The number of gates is O(n^((H +
    1)^L)).  Circuits of constant depth and polynomial size do not compute parity.  This is cited
    from [FSS1984].  For one layer the impossibility is proved here: some bits can be fixed such
    that the output does not depend on the other bits, of which there are at least n − 1 − H.  So
    parity requires H ≥ n − 1 heads.  This bound is attained: one layer of n − 1 heads computes
    parity, and its circuit has 2^n + 2 gates.  Parity is also computed by ⌈log₂n⌉ layers of one
    head, and the depth of the circuits of these layers grows with log n.

    The tensors of six models are translated to circuits.  The circuits agree with the models, and
    with the definitions of the functions that the models compute, on all words of at most 10
    symbols (at most 9 for alphabets of three symbols).  A subcube is a set of words in which some
    symbols are fixed and the others are free.  The circuits for fixed L and H are constant on a
    subcube with a free symbol, whereas circuits of parity are constant on no such subcube.  Heads
    that average different values are not translated to such circuits.
    """
    drawn = {}
    max_length = run.limited(QUICK, max_length=max_length)
    for of in models(run):
        found = [translate(of, shortest_words(of, max_length))]
        found += [translate(of, [12] if run.quick else FURTHER)]
        yield from labelled(of.label, _circuit(run, found, samples))
        yield from labelled(of.label, [_not_parity(found[0])])
        drawn[of.label] = found
    of = parity_in_log_layers(run)
    found = [translate(of, [n]) for n in range(2, min(max_length, PARITY_ALONE) + 1)]
    yield from labelled(of.label, _parities(found))
    at_once = parity_in_one_layer(run)
    short = range(2, min(max_length, 6 if run.quick else ONE_LAYER) + 1)
    in_one = [translate(at_once, [n]) for n in short]
    yield from labelled(at_once.label, _parities(in_one))
    yield from labelled("one-layer", _one_layer(run, short[-1]))
    yield from labelled("parity", [_averages(run, min(max_length, PARITY_ALONE))])
    if run.plot:
        drawn["parity in one layer of n − 1 heads"] = in_one
        drawn["parity in ⌈log₂n⌉ layers"] = [*found, translate(of, [16]), translate(of, [17])]
        del drawn["previous-token"]  # its circuit has no gates
        run.draw("circuits of AND, OR, NOT", drawn)


def models(run: Run) -> list[Translated]:
    """Four models of unique-hard attention, with the stated sizes and depths of their circuits."""
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
    yield _most_gates(found)


def _not_parity(found: Circuits) -> Finding:
    """Checks that the answer is constant on a subcube of dimension ≥ 1, at all lengths ≥ 3."""
    free = {n: d for n, d in free_symbols(found).items() if n > 2}
    return Finding(
        "subcube",
        SUBCUBE,
        "exact",
        free,
        1,
        Verdict.of(all(d >= 1 for d in free.values())) if free else Verdict.UNDECIDED,
        words=_by_length(free),
        wanted="at least 1, so that the circuit does not compute parity",
    )


def _parities(found: list[Circuits]) -> Iterator[Finding]:
    """Checks that circuits of parity, whose layers or heads grow with n, have no such subcube."""
    yield from on_all_words(found)
    yield only_and_or(found)
    yield depth(found)
    yield size(found)
    yield _most_gates(found)
    free = {n: d for each in found for n, d in free_symbols(each).items()}
    yield same(
        "subcube",
        SUBCUBE,
        free,
        dict.fromkeys(free, 0),
        words=_by_length(free),
        wanted="0, since parity changes with every symbol",
    )


def _by_length(free: dict[int, int]) -> str:
    """The numbers of free symbols in words: "2 at n = 3, 3 at n = 4"."""
    return ", ".join(f"{count} at n = {n}" for n, count in free.items())


def parity_in_one_layer(run: Run) -> Translated:
    """The model of the parity of n bits in one layer of n − 1 heads, to translate to circuits.

    Each head attends to one of the other bits.
    """
    return Translated(
        "parity-in-one-layer",
        2,
        lambda n: run.build(semiautomaton, cyclic(2), n, radix=n),
        lambda words: words.sum(1) % 2,
        "and-or",
        "2**n + 2",
        "2",
    )


def _one_layer(run: Run, n: int) -> Iterator[Finding]:
    """Compares with n − 1 − H the free bits of models that output parity of H retrieved bits."""
    free = {H: free_bits(H, n, DRAWN, run.rng) for H in range(1, n)}
    stated = {H: n - 1 - H for H in free}
    yield same(
        "subcube",
        "number of free bits of the largest subcube on which a model of H heads on words of "
        f"n = {n} bits is constant, the smallest number over {DRAWN} models",
        {H: min(each) for H, each in free.items()},
        stated,
        words=", ".join(f"{min(each)} for H = {H}" for H, each in free.items()),
        wanted="n − 1 − H",
    )


def _most_gates(found: list[Circuits]) -> Finding:
    """Checks that the gates at each length are at most the bound from the number of contents."""
    bound = {
        n: most_gates(found[0].of.V, n + 1, [len(a.masks) for a in each.model.attentions])
        for each in found
        for n in each.circuits
    }
    gates = {n: circuit.size for each in found for n, circuit in each.circuits.items()}
    within = sum(gates[n] <= bound[n] for n in gates)
    finding = Finding(
        "most-gates",
        "number of gates, compared at each length n with a bound from the number of possible "
        "contents of a token",
        "exact",
        gates,
        bound,
        Verdict.of(within == len(gates)),
        f"at most the bound at {within} of {len(gates)} lengths; the largest number of gates is "
        f"{max(gates.values())}",
        "at most the bound, which is O(n^((H + 1)^L)) for L layers of H heads, at every length",
    )
    # Without logarithms the numbers overflow.
    stated = {
        n: log(gates_of_contents(found[0].of.V * (n + 1), [len(a.masks) for a in attentions]))
        for each in found
        for n in each.circuits
        for attentions in [each.model.attentions]
    }
    return as_stated(finding, {n: log(most) for n, most in bound.items()}, stated)


def gates_of_contents(K: int, n_heads: list[int]) -> int:
    """A bound on the gates of a circuit, by the number K of contents of all tokens before layer 1.

    A layer of H heads has at most K(4HK + 4K^H) gates, and K^(H + 1) contents after it.
    """
    gates = 4 * K
    for H in n_heads:
        gates += 4 * (H * K**2 + K ** (H + 1))
        K = K ** (H + 1)
    return gates


def _averages(run: Run, max_length: int) -> Finding:
    """Checks that heads that average different values are not translated into AND and OR gates.

    The heads are those of `parity`, and one that averages the values of two tokens, which are equal
    for one of two symbols.
    """
    lengths = range(2, max_length + 1)
    name = (
        f"number of lengths n = 2 … {max_length} at which translating a model with averaging heads "
        "to AND and OR gates raises ValueError, and 1 more for a model of words of one bit"
    )
    found = sum(rejected(run.build(parity, n, causal=True), n) for n in lengths)
    found += rejected(run.build(bos_and_bit), 1)
    wanted = len(lengths) + 1
    return same("averaging", name, found, wanted, wanted=f"all {wanted}")


def bos_and_bit() -> Transformer:
    """A model that averages the values of BOS and of one bit: 0 of BOS, and 0 or 1 of the bit."""
    stream = Stream(value=1, mean=1)
    value, mean = map(stream.read, stream)
    return Transformer(
        Embed(rows(stream, value=np.array([0.0, 1.0, 0.0]))),
        [block(stream, [average(value, "mean")], normalise="hardmax", mask="causal")],
        unembed(stream, mean @ Map(np.array([[0.0, 4.0]]), "(0, 4)"), bias=np.array([1.0, 0.0])),
        interface=Tokens(2, 1, prefix=(2,), labels=2, margin=1.0),
        stream=stream,
        name="mean of BOS and a bit",
        source="",
    )


def rejected(model: Transformer, n: int) -> int:
    """1 if translating a model whose heads average raises ValueError for this reason; else 0."""
    try:
        to_circuit(model, n, "and-or")
    except InputError as error:
        return int("averages" in str(error))
    return 0
