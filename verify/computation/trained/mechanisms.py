"""Flip-flops, counters and doubling windows, searched for in trained and in hand-built models.

Each mechanism is measured in the same way on trained and on hand-built models, and must be complete
in the hand-built model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from constructions import semiautomaton, shortcut
from constructions.transformer import Transformer
from theory.computation import Semiautomaton
from verify.computation.trained.attention import (
    Words,
    answers,
    latest,
    maps,
    set_before,
    some,
    streams_at,
    uniform,
    with_uniform,
)
from verify.evidence.statistics import BY, Mean, above, fraction_of
from verify.finding import Finding, Verdict
from verify.interpret.attention import attended, attention, patterns_of
from verify.interpret.interventions import redirected
from verify.interpret.linear_probes import discriminated, explained

ATTENDED = 0.8  # smallest fraction of attention at the place to which the built head attends
SAME = 0.9  # smallest fraction of expected outputs under an intervention
HELD = 0.9  # smallest accuracy or R² of a probe
BUILT = 1 - 1e-6  # smallest value for built models: 1 up to the rounding of least squares
FITTED, HALF = 2000, 1000  # numbers of words to which probes, and probes of counts, are fitted
CHOOSING = 200  # number of words on which a head is chosen, and of words for a built model
MEASURED = 300  # largest number of words of length 2T, and for flip-flops, counters and windows
FEW = 100  # number of words for additional measurements
LAST = 4  # last layer for which windows are measured

# The automata whose built models begin with a flip-flop or a counter, or double their window.
FLIP_FLOPS = ("flip-flop", "dyck-2", "gridworld-4")
COUNTERS = ("parity", "S3")
DOUBLING = ("S3", "A5")


@dataclass
class Subject:
    """A trained model, the same model before training (`null`), and the words for measurements.

    T is the trained length.  `within` are words of T symbols at random places of a row, `measured`
    are the first of these words, and `long` are words of 2T symbols that begin at place 0.  Probes
    are fitted to the words `fitted`, and heads are chosen on the words `choosing`.  A hand-built
    model has no token for the places before a word. So hand-built models are run on words of T
    symbols that begin at place 0: the words `start`, with `start_fitted` for probes.
    """

    model: Transformer
    null: Transformer
    task: Any
    rng: np.random.Generator
    count: int
    n_fitted: int = FITTED
    n_choosing: int = CHOOSING

    def __post_init__(self) -> None:
        self.machine: Semiautomaton = self.task.machine
        self.T, self.outside = self.task.length, self.machine.n_symbols
        self.generator = torch.Generator().manual_seed(int(self.rng.integers(2**31)))
        self.within = self.at_random(self.count)
        self.measured = self.within.first(MEASURED)
        self.long = self.from_start(len(self.measured.tokens))
        self.fitted, self.choosing = map(self.at_random, (self.n_fitted, self.n_choosing))
        self.start_fitted, self.start = (
            Words(*(each[:, : self.T] for each in self.from_start(self.n_choosing)))
            for _ in range(2)
        )

    @cached_property
    def outputs(self) -> np.ndarray:
        """The outputs of the model on the words `within`."""
        return answers(self.model, self.within.tokens)

    @cached_property
    def outputs_long(self) -> np.ndarray:
        """The outputs of the model on the words `long`."""
        return answers(self.model, self.long.tokens)

    @cached_property
    def head(self) -> tuple[int, int]:
        """The layer and head, numbered from 1, that attend most to the latest setting symbol.

        A setting symbol sets the first flip-flop of the automaton's cascade.
        """
        layer, head, _ = chosen_head(self.model, self.machine, self.choosing)
        return layer, head

    @property
    def by_symbol(self) -> np.ndarray:
        """The accuracy at each of the symbols 1 … 2T of the words `long`, (2T,)."""
        return np.asarray((self.outputs_long == self.long.states).mean(0))

    def at_random(self, count: int) -> Words:
        """Fresh words of T symbols at random places of a row; T is the trained length."""
        return Words(*(each.numpy() for each in self.task.sequences(count, self.generator)))

    def from_start(self, count: int) -> Words:
        """Fresh words of 2T symbols, twice the trained length, that begin at place 0."""
        return Words(*(each.numpy() for each in self.task.random_words(count, self.generator)))


def flip_flop(subject: Subject) -> Finding:
    """Measures whether a head attends to the latest symbol that sets the first flip-flop.

    The flip-flop is the first stage of the automaton's cascade.
    """
    machine, words, (layer, head) = subject.machine, subject.measured, subject.head
    places = latest(set_before(machine, words))
    shown = [*patterns_of(subject.model, words.tokens)][layer - 1]
    fraction = fraction_of(attended(shown, places)[:, head - 1], places >= 0)
    other = np.where(places >= 0, np.roll(places, 1, axis=0), -1)
    null = fraction_of(attended(shown, other)[:, head - 1], other >= 0)
    *_, built = chosen_head(shortcut(machine, subject.T), machine, subject.start)
    return beside_built(
        "flip-flop/attends",
        "attention weight of one head on the latest symbol that sets the first flip-flop of the "
        "automaton's cascade",
        fraction,
        ATTENDED,
        built,
        f"{fraction:.2%} in layer {layer}, head {head}; for comparison, {null.mean:.0%} on the "
        "place that this symbol has in another word",
        null=null.mean,
    )


def flip_flop_elsewhere(subject: Subject) -> Finding:
    """Measures the outputs if all heads of a layer attend to a symbol that sets another state.

    The layer contains the head that attends most to the latest symbol that sets the first flip-flop
    of the automaton's cascade.
    """
    machine = subject.machine

    def follows(model: Transformer, layer: int, words: Words) -> Mean:
        written = np.array([*(row[0] for row in machine.transitions), -1])[words.tokens]
        wrong = written[:, None] != words.states[..., None]
        places = some(set_before(machine, words) & wrong, subject.rng)
        there = np.take_along_axis(written, np.maximum(places, 0), axis=1)
        return fraction_of(
            redirected(model, layer, places)(words.tokens).numpy() == there, places >= 0
        )

    layer, _ = subject.head
    fraction = follows(subject.model, layer, subject.measured)
    built = follows(shortcut(machine, subject.T), 1, subject.start)
    few = subject.measured.first(FEW)
    others = [follows(subject.model, each + 1, few).mean for each in range(subject.model.n_layers)]
    return beside_built(
        "flip-flop/redirected",
        f"fraction of outputs that become the wrong state, if all heads of layer {layer} are made "
        "to attend to an earlier symbol that sets a wrong state",
        fraction,
        SAME,
        built.mean,
        f"{fraction:.2%}; fractions if instead the heads of layer 1, …, {len(others)} attend to it "
        f"{', '.join(f'{each:.0%}' for each in others)}",
    )


def chosen_head(model: Transformer, machine: Semiautomaton, words: Words) -> tuple[int, int, float]:
    """The layer and head that attend most to the latest setting symbol, and the mean attention.

    Layers and heads are numbered from 1.  A setting symbol sets the first flip-flop of the cascade.
    """
    places = latest(set_before(machine, words))
    stated = places[..., None] == np.arange(places.shape[1])
    found = attention(model, words.tokens, lambda _: stated)
    return *found.best, found.weights[found.best].mean


def counter(subject: Subject) -> Finding:
    """Measures the accuracy of the model if all heads of layer 1 attend uniformly."""
    outside, few = subject.outside, subject.measured.first(FEW)

    def flat(model: Transformer, words: Words, layer: int) -> Mean:
        outputs = with_uniform(model, layer, words, outside)(words.tokens).numpy()
        return fraction_of(outputs == words.states, words.inside)

    def overlap(model: Transformer) -> float:
        """1 − the mean total variation distance of attention in layer 1 to uniform attention."""
        first, flat = next(patterns_of(model, few.tokens)), uniform(model, 1, few, outside)
        common = np.minimum(first, flat[:, None, -first.shape[-1] :, -first.shape[-1] :]).sum(-1)
        return fraction_of(common.mean(1), few.inside).mean

    fraction, null = flat(subject.model, subject.measured, 1), flat(subject.null, few, 1)
    built, later = shortcut(subject.machine, subject.T), range(2, subject.model.n_layers + 1)
    others = ", ".join(f"{flat(subject.model, few, layer).mean:.0%}" for layer in later)
    return beside_built(
        "counter/even",
        "accuracy with uniform attention in all heads of layer 1",
        fraction,
        SAME,
        flat(built, subject.start, 1).mean,
        f"{fraction:.2%}; accuracies with uniform attention in layer 2, 3, … instead {others}; "
        f"accuracy of the model before training, with uniform attention in layer 1, "
        f"{null.mean:.0%}; overlap of the attention in layer 1 with uniform attention "
        f"{overlap(subject.model):.0%}, and {overlap(subject.null):.0%} before training",
        null=null.mean,
    )


def count(subject: Subject) -> Finding:
    """Measures a linear probe for the number of 1s in a word, before the last layer.

    The probe reads the stream at the last symbol of words of the trained length.
    """

    def held(model: Transformer, fit: Words, words: Words) -> Mean:
        before, X = (streams_at(model, each.tokens, each.last)[-2] for each in (fit, words))
        return explained(before, ones(fit), X, ones(words))

    def ones(words: Words) -> np.ndarray:
        return ((words.tokens == 1) & words.inside).sum(1).astype(np.float64)

    def stays(words: Words, outputs: np.ndarray) -> float:
        few = words.first(FEW)
        again = answers(subject.model, few.permuted(subject.rng)) == outputs[:FEW]
        return float(again[np.arange(len(again)), few.last].mean())

    fit, words = subject.fitted.first(HALF), subject.measured
    fraction = held(subject.model, fit, words)
    parity = explained(ones(fit)[:, None] % 2, ones(fit), ones(words)[:, None] % 2, ones(words))
    null = held(subject.null, fit, words)
    within, long = stays(words, subject.outputs), stays(subject.long, subject.outputs_long)
    return beside_built(
        "counter/count",
        "R² of a linear probe for the number of 1s, on the residual stream before the last layer "
        f"at symbol {subject.T}",
        fraction,
        HELD,
        held(shortcut(subject.machine, subject.T), subject.start_fitted, subject.start).mean,
        f"{fraction:.3f}; R² of a regression on the parity alone {parity.mean:.2f}, and of the "
        f"probe before training {null.mean:.3f}; a permutation of the symbols of a word leaves "
        f"{within:.0%} of the outputs unchanged, and {long:.0%} for words of {2 * subject.T} "
        "symbols",
        f"at least {HELD}",
        null=null.mean,
    )


def doubling(subject: Subject) -> Iterator[Finding]:
    """Measures linear probes after layer l = 1, 2, … for the map that the last 2^l symbols induce.

    The probes read the stream at the last symbol of words of the trained length.
    """
    machine, start = subject.machine, subject.machine.start

    def reader(
        model: Transformer, fit: Words, words: Words
    ) -> Callable[[int, int, list[int]], Mean]:
        before, X = (streams_at(model, each.tokens, each.last) for each in (fit, words))
        return lambda layer, symbols, states: discriminated(
            before[layer],
            maps(machine, fit, symbols)[:, states],
            X[layer],
            maps(machine, words, symbols)[:, states],
        )

    trained = reader(subject.model, subject.fitted, subject.measured)
    null = reader(subject.null, subject.fitted, subject.measured)
    built = reader(semiautomaton(machine, subject.T), subject.start_fitted, subject.start)
    every = [*range(machine.n_states)]
    for layer in range(1, min(LAST, subject.model.n_layers) + 1):
        symbols = 2**layer
        if symbols >= subject.T:
            return
        fraction = trained(layer, symbols, every)
        known = by_shorter(machine, subject.fitted, subject.measured, symbols)
        last = "the last symbol" if symbols == 2 else f"the last {symbols // 2} symbols"
        yield beside_built(
            f"doubling/layer-{layer}",
            f"accuracy of linear probes after layer {layer} for the map on the states that is "
            f"induced by the last {symbols} symbols",
            fraction,
            HELD,
            built(layer, symbols, every).mean,
            f"{fraction:.2%}, and {null(layer, symbols, every).mean:.0%} before training; accuracy "
            f"of a table of {last} for this map {known:.0%}, of linear probes for the image of the "
            f"start state under this map {trained(layer, symbols, [start]).mean:.0%}, and of "
            f"linear probes for the current state {trained(layer, subject.T, [start]).mean:.0%}",
            null=known,
        )


def by_shorter(machine: Semiautomaton, others: Words, words: Words, symbols: int) -> float:
    """The accuracy of a null model that predicts the map of the last `symbols` symbols.

    The null model is a table from the last `symbols`/2 symbols to the map, fitted to the words
    `others`.
    """
    half = symbols // 2

    def keys(of: Words) -> np.ndarray:
        at = of.last[:, None] + np.arange(1 - half, 1)
        read = np.take_along_axis(of.tokens, at, axis=1)
        return np.asarray(read @ (int(others.tokens.max()) + 1) ** np.arange(half))

    known, tested, wanted = keys(others), keys(words), maps(machine, words, symbols)
    found, seen = np.unique(maps(machine, others, symbols), axis=0, return_inverse=True)
    table = np.zeros((max(known.max(), tested.max()) + 1, len(found)), dtype=np.int64)
    np.add.at(table, (known, seen.reshape(-1)), 1)
    return float((found[table.argmax(1)[tested]] == wanted).all(1).mean())


def beside_built(
    id: str,
    name: str,
    found: Mean,
    bound: float,
    built: float,
    words: str,
    wanted: str = "",
    *,
    null: float = 0.0,
) -> Finding:
    """The finding that a mean exceeds a bound for a trained model, but not for the null model.

    The finding fails unless the value of the hand-built model is 1, up to rounding.
    """
    wanted = f"{wanted or f'at least {bound:.0%}'}, {BY}; for the hand-built model 100%"
    words += f"; the same measure for the hand-built model {built:.0%}"
    finding = above(id, name, found, bound, words=words, wanted=wanted)
    if finding.verdict is Verdict.HOLDS and not null < bound:
        finding.verdict = Verdict.UNDECIDED
    if not built >= BUILT:
        finding.verdict = Verdict.FAILS
    return finding
