"""A transformer beside its circuit: equal on all words, how deep it is, and how large."""

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

FROM = 4  # letters: in shorter words, formulas of sizes have exceptions
QUICK = 7  # letters up to which quick runs take all words
MOST_WORDS = 20_000  # of one length, if all are run


@dataclass(frozen=True)
class Translated:
    """A transformer over V letters whose last answer becomes a circuit.

    build     number of letters → the model
    answers   words (m, T) → answers (m,) at the last letter, by definition
    gates     AND, OR and NOT, or thresholds
    size      the number of gates as a formula in n ≥ FROM, exact or "≤ …"
    depth     the depth, likewise
    """

    label: str
    V: int
    build: Callable[[int], Transformer]
    answers: Callable[[np.ndarray], np.ndarray]
    gates: Gates
    size: str
    depth: str


def parity_in_log_layers(run: Run) -> Translated:
    """Maps composed in pairs: unique-hard, but the number of layers grows with the length."""
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
    """A model for at most so many letters, and the circuit of each length that was asked for."""

    of: Translated
    model: Transformer
    circuits: Mapping[int, ThresholdCircuit]

    def words(self, n: int) -> np.ndarray:
        """All words of n letters."""
        return all_sequences(n, self.of.V)

    def says(self, n: int, words: np.ndarray) -> np.ndarray:
        """What the circuit for n letters answers."""
        return self.circuits[n].answers(unary(words, self.of.V))


def translate(of: Translated, lengths: range | list[int]) -> Circuits:
    """One model, for the longest of these words, at each of these lengths."""
    model = of.build(max(lengths))
    return Circuits(of, model, {n: to_circuit(model, n, of.gates) for n in lengths})


def shortest_words(of: Translated, longest: int) -> range:
    """1 … longest, or as far as all words of a length can be run."""
    return range(1, max(n for n in range(1, longest + 1) if of.V**n <= MOST_WORDS) + 1)


def on_all_words(found: list[Circuits]) -> Iterator[Finding]:
    """The circuits say what the definition says, and what torch says, on all words."""
    lengths = [n for each in found for n in each.circuits]
    count = sum(found[0].of.V ** n for n in lengths)
    name, words = f"all words of {lengths[0]} to {lengths[-1]} letters", f"equal on {count} words"
    rows = [(each, [(n, each.words(n)) for n in each.circuits]) for each in found]
    wrong = chain.from_iterable(_differences(*each) for each in rows)
    yield no_counterexample("definition", f"{name}, by definition", wrong, words=words)
    wrong = chain.from_iterable(_differences(*each, each[0].model) for each in rows)
    evidence = exact_evidence(found[-1].model)
    name = f"{name}, the model's answers"
    yield no_counterexample("model", name, wrong, evidence=evidence, words=words)


def on_long_words(run: Run, found: Circuits, samples: int) -> Finding:
    """The same of words of random densities, and of the constant ones, at longer lengths."""
    rows = [(n, long_words(run, n, found.of.V, samples)) for n in found.circuits]
    sizes = " and ".join(map(str, found.circuits))
    return no_counterexample(
        "long",
        f"words of {sizes} letters, by definition and the model's answers",
        chain(_differences(found, rows), _differences(found, rows, found.model)),
        evidence=exact_evidence(found.model),
        words=f"equal on {sum(len(words) for _, words in rows)} words",
    )


def long_words(run: Run, n: int, V: int, samples: int) -> np.ndarray:
    """Random words, half of them with a letter that stands at most places; and constant words."""
    rows = random_sequences(samples, n, V, run.rng)
    often = run.rng.random((samples, 1)) * (np.arange(samples)[:, None] % 2)
    rows = np.where(
        run.rng.random(rows.shape) < often, run.rng.integers(V, size=(samples, 1)), rows
    )
    return np.vstack([rows, np.arange(V)[:, None] + np.zeros((1, n), dtype=np.int64)])


def _differences(
    found: Circuits, rows: list[tuple[int, np.ndarray]], model: Transformer | None = None
) -> Iterator[str]:
    """Words on which the circuit does not answer as the model or the definition does, the first of
    each length."""
    for n, words in rows:
        said = found.says(n, words)
        wanted = found.of.answers(words) if model is None else model(words)[..., -1].numpy()
        if (said != wanted).any():
            at = int((said != wanted).argmax())
            other = "by definition" if model is None else "the model"
            yield (
                f"{found.model.name} on {words[at].tolist()}: circuit {said[at]}, "
                f"{other} {wanted[at]}"
            )


def depth(found: list[Circuits]) -> Finding:
    """The depth at every length is as stated."""
    return _as_stated("depth", "depth", found, depths(found), Formula(found[0].of.depth))


def size(found: list[Circuits]) -> Finding:
    """The number of gates at every length is as stated."""
    return _as_stated("gates", "gates", found, sizes(found), Formula(found[0].of.size))


def depths(found: list[Circuits]) -> dict[int, int]:
    """The depth by length."""
    return {n: c.depth for each in found for n, c in each.circuits.items() if n >= FROM}


def sizes(found: list[Circuits]) -> dict[int, int]:
    """The number of gates by length."""
    return {n: c.size for each in found for n, c in each.circuits.items() if n >= FROM}


def _as_stated(
    id: str, what: str, found: list[Circuits], measured: dict[int, int], stated: Formula
) -> Finding:
    lengths = list(measured)
    shown = [n for n in lengths if n in (lengths[0], lengths[-1]) or n % 8 == 0]
    return Finding(
        id,
        f"{what} for {lengths[0]} to {lengths[-1]} letters",
        "exact",
        measured,
        {n: stated(n=n) for n in lengths},
        Verdict.of(all(stated.admits(value, n=n) for n, value in measured.items())),
        ", ".join(f"{measured[n]} at n = {n}" for n in shown),
        re.sub(r"-", "−", str(stated)),
    )


def largest_weight(found: list[Circuits], most: str) -> Finding:
    """Weights of gates are at most what is stated."""
    weights = [weight_of(circuit) for each in found for circuit in each.circuits.values()]
    stated = Formula(most)
    lengths = [n for each in found for n in each.circuits]
    holds = all(stated.admits(w, n=n) for n, w in zip(lengths, weights, strict=True))
    return Finding(
        "weights",
        "largest weight of a gate",
        "exact",
        max(weights),
        str(stated),
        Verdict.of(holds),
    )


def weight_of(circuit: ThresholdCircuit) -> int:
    """The largest weight of a gate."""
    return circuit.largest_weight


def only_and_or(found: list[Circuits]) -> Finding:
    """No gate is anything but an AND or an OR of wires and negated wires."""
    count = sum(thresholds(c) for each in found for c in each.circuits.values())
    return same("kinds", "gates other than AND and OR", count, 0)


def thresholds(circuit: ThresholdCircuit) -> int:
    """The number of gates that are neither AND nor OR."""
    return circuit.kinds["threshold"]


def free_letters(found: Circuits) -> dict[int, int]:
    """By length, the dimension of the largest subcube on which the answer is constant."""
    V = found.of.V
    return {
        n: largest_constant_subcube(found.says(n, found.words(n)), V).dimension
        for n in found.circuits
    }
