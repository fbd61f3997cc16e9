"""Evidence that circuits equal the transformers from which they are made, and on their sizes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain

import numpy as np

from constructions.computation import semiautomaton
from constructions.computation.to_circuit import Gates, to_circuit
from constructions.transformer import Transformer
from theory.computation import ThresholdCircuit, cyclic, largest_constant_subcube, unary
from theory.sequences import all_sequences, random_sequences
from verify.claim import Run
from verify.evidence.sequences import exact_evidence
from verify.finding import Finding, Verdict, no_counterexample, same
from verify.ledger.theorems import Formula

FROM = 4  # the smallest length; the formulas for sizes have exceptions for shorter words
QUICK = 7  # symbols; quick runs take all words up to this length
MOST_WORDS = 20_000  # the largest number of words of one length of which all are run


@dataclass(frozen=True)
class Translated:
    """A transformer over V symbols whose last answer is translated into a circuit.

    build     the function from the number of symbols to the model
    answers   the function from m words (m, T) to the answers (m,) at the last symbol, by definition
    gates     the kind of gates: AND, OR and NOT gates, or threshold gates
    size      the number of gates as a formula in the length n ≥ FROM, exact or "≤ …"
    depth     the depth as a formula in the length n ≥ FROM, exact or "≤ …"
    """

    label: str
    V: int
    build: Callable[[int], Transformer]
    answers: Callable[[np.ndarray], np.ndarray]
    gates: Gates
    size: str
    depth: str


def parity_in_log_layers(run: Run) -> Translated:
    """The model of the parity of n bits by ⌈log₂n⌉ layers of unique-hard attention.

    The size and the depth of its circuits are included.
    """
    return Translated(
        "parity-in-log-layers",
        2,
        lambda n: run.build(semiautomaton, cyclic(2), n),
        lambda words: words.sum(1) % 2,
        "and-or",
        "6*n - 6",
        "2*ceil_log(2, n)",
    )


@dataclass(frozen=True)
class Circuits:
    """A model and its circuits, one circuit for each length of words."""

    of: Translated
    model: Transformer
    circuits: Mapping[int, ThresholdCircuit]

    def words(self, n: int) -> np.ndarray:
        """All words of n symbols."""
        return all_sequences(n, self.of.V)

    def answers(self, n: int, words: np.ndarray) -> np.ndarray:
        """The answers (m,) of the circuit for n symbols on m words (m, n)."""
        return self.circuits[n].answers(unary(words, self.of.V))


def translate(of: Translated, lengths: range | list[int]) -> Circuits:
    """The circuits of one model for words of the given lengths.

    The model is built for the largest of the given lengths.
    """
    model = of.build(max(lengths))
    return Circuits(of, model, {n: to_circuit(model, n, of.gates) for n in lengths})


def shortest_words(of: Translated, max_length: int) -> range:
    """The lengths, from 1 to at most `max_length`, that have few enough words to run all."""
    return range(1, max(n for n in range(1, max_length + 1) if of.V**n <= MOST_WORDS) + 1)


def on_all_words(found: list[Circuits]) -> Iterator[Finding]:
    """Compares the circuits with the definition, and with the model in torch, on all words."""
    lengths = [n for each in found for n in each.circuits]
    count = sum(found[0].of.V ** n for n in lengths)
    name, words = f"all words of {lengths[0]} to {lengths[-1]} symbols", f"equal on {count} words"
    rows = [(each, [(n, each.words(n)) for n in each.circuits]) for each in found]
    wrong = chain.from_iterable(_differences(*each) for each in rows)
    yield no_counterexample(
        "definition",
        "outputs of the circuit, compared with the formula or function that it computes, "
        f"on {name}",
        wrong,
        words=words,
    )
    wrong = chain.from_iterable(_differences(*each, each[0].model) for each in rows)
    evidence = exact_evidence(found[-1].model)
    name = f"outputs of the circuit and of the model, on {name}"
    yield no_counterexample("model", name, wrong, evidence=evidence, words=words)


def on_long_words(run: Run, found: Circuits, samples: int) -> Finding:
    """Compares the circuits with the definition and with the model on random longer words."""
    rows = [(n, long_words(run, n, found.of.V, samples)) for n in found.circuits]
    sizes = " and ".join(map(str, found.circuits))
    return no_counterexample(
        "long",
        "outputs of the circuit, the definition and the model, on random and constant words of "
        f"{sizes} symbols",
        chain(_differences(found, rows), _differences(found, rows, found.model)),
        evidence=exact_evidence(found.model),
        words=f"equal on {sum(len(words) for _, words in rows)} words",
    )


def long_words(run: Run, n: int, V: int, samples: int) -> np.ndarray:
    """Random words of n symbols, half of them with a frequent symbol, and all constant words."""
    rows = random_sequences(samples, n, V, run.rng)
    often = run.rng.random((samples, 1)) * (np.arange(samples)[:, None] % 2)
    rows = np.where(
        run.rng.random(rows.shape) < often, run.rng.integers(V, size=(samples, 1)), rows
    )
    return np.vstack([rows, np.arange(V)[:, None] + np.zeros((1, n), dtype=np.int64)])


def _differences(
    found: Circuits, rows: list[tuple[int, np.ndarray]], model: Transformer | None = None
) -> Iterator[str]:
    """Yields for each length the first word on which the circuit differs from the other side."""
    for n, words in rows:
        answers = found.answers(n, words)
        wanted = found.of.answers(words) if model is None else model(words)[..., -1].numpy()
        if (answers != wanted).any():
            at = int((answers != wanted).argmax())
            other = "by definition" if model is None else "the model"
            yield (
                f"{found.model.name} on {words[at].tolist()}: circuit {answers[at]}, "
                f"{other} {wanted[at]}"
            )


def depth(found: list[Circuits]) -> Finding:
    """Checks that the depth of the circuit for each length agrees with the stated formula."""
    return _as_stated("depth", "depth", found, depths(found), Formula(found[0].of.depth))


def size(found: list[Circuits]) -> Finding:
    """Checks that the number of gates for each length agrees with the stated formula.

    The formula is an exact number or an upper bound.
    """
    return _as_stated("gates", "number of gates", found, sizes(found), Formula(found[0].of.size))


def depths(found: list[Circuits]) -> dict[int, int]:
    """The depth of the circuit for each length."""
    return {n: c.depth for each in found for n, c in each.circuits.items() if n >= FROM}


def sizes(found: list[Circuits]) -> dict[int, int]:
    """The number of gates of the circuit for each length."""
    return {n: c.size for each in found for n, c in each.circuits.items() if n >= FROM}


def _as_stated(
    id: str, what: str, found: list[Circuits], measured: dict[int, int], stated: Formula
) -> Finding:
    lengths = list(measured)
    shown = [n for n in lengths if n in (lengths[0], lengths[-1]) or n % 8 == 0]
    return Finding(
        id,
        f"{what} of the circuits for n = {lengths[0]} to {lengths[-1]} symbols",
        "exact",
        measured,
        {n: stated(n=n) for n in lengths},
        Verdict.of(all(stated.admits(value, n=n) for n, value in measured.items())),
        ", ".join(f"{measured[n]} at n = {n}" for n in shown),
        re.sub(r"-", "−", str(stated)),
    )


def largest_weight(found: list[Circuits], most: str) -> Finding:
    """Checks that the absolute values of the weights of all gates are at most the stated bound."""
    weights = [weight_of(circuit) for each in found for circuit in each.circuits.values()]
    stated = Formula(most)
    lengths = [n for each in found for n in each.circuits]
    holds = all(stated.admits(w, n=n) for n, w in zip(lengths, weights, strict=True))
    return Finding(
        "weights",
        "largest weight of a gate in the circuits",
        "exact",
        max(weights),
        str(stated),
        Verdict.of(holds),
    )


def weight_of(circuit: ThresholdCircuit) -> int:
    """The largest absolute value of a weight of the circuit's gates."""
    return circuit.largest_weight


def only_and_or(found: list[Circuits]) -> Finding:
    """Checks that every gate is an AND or an OR of wires and negated wires."""
    count = sum(thresholds(c) for each in found for c in each.circuits.values())
    return same("kinds", "number of gates other than AND and OR, in all circuits", count, 0)


def thresholds(circuit: ThresholdCircuit) -> int:
    """The number of gates of a circuit that are neither AND gates nor OR gates."""
    return circuit.kinds["threshold"]


def free_symbols(found: Circuits) -> dict[int, int]:
    """The dimension of the largest subcube on which the circuit is constant, by length of words."""
    V = found.of.V
    return {
        n: largest_constant_subcube(found.answers(n, found.words(n)), V).dimension
        for n in found.circuits
    }
