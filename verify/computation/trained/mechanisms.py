"""Latches, counters and doubling windows, looked for in trained models and in the built ones.

Each is measured on both in the same way, and the built model has to have all of it.
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
    attended,
    even,
    gave_before,
    latest,
    looking_at,
    made_even,
    maps,
    patterns,
    some,
    streams_at,
)
from verify.computation.trained.probes import explained, told_apart
from verify.evidence.statistics import BY, Mean, above, fraction_of
from verify.finding import Finding, Verdict

ATTENDED = 0.8  # of a head's attention where the built head has all of it
SAME = 0.9  # of the answers under an intervention
HELD = 0.9  # of what a layer of the built model holds
BUILT = 1 - 1e-6  # of the built model, where all is 1 but for the rounding of least squares
FITTED, HALF = 2000, 1000  # words to which read-outs are fitted; of counts
CHOOSING = 200  # words on which a head is chosen, and words for a built model
MEASURED = 300  # words at most of twice the length, and for latches, counters and windows
FEW = 100  # words for what is told besides
LAST = 4  # layer up to which windows double

# The automata whose built models begin with a latch or a counter, or double their window.
LATCHES = ("flip-flop", "dyck-2", "gridworld-4")
COUNTERS = ("parity", "S3")
DOUBLING = ("S3", "A5")


@dataclass
class Subject:
    """A trained model, the same before training (`null`), and words for them and for built ones.

    `within` are words of T symbols at random places, `measured` the first of them, `long` words of
    2T symbols from place 0; read-outs are fitted on `fitted`, heads chosen on `choosing`.  A built
    model knows no token before a word: words for it are of T symbols, from place 0.
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
    def said(self) -> np.ndarray:
        """The answers on `within`."""
        return answers(self.model, self.within.tokens)

    @cached_property
    def said_long(self) -> np.ndarray:
        """The answers on `long`."""
        return answers(self.model, self.long.tokens)

    @cached_property
    def head(self) -> tuple[int, int]:
        """Layer and head that look most at the latest symbol that gives something."""
        layer, head, _ = chosen_head(self.model, self.machine, self.choosing)
        return layer, head

    @property
    def by_symbol(self) -> np.ndarray:
        """The shares of right answers at symbols 1 … 2T of words from place 0, (2T,)."""
        return np.asarray((self.said_long == self.long.states).mean(0))

    def at_random(self, count: int) -> Words:
        """Fresh words of T symbols."""
        return Words(*(each.numpy() for each in self.task.sequences(count, self.generator)))

    def from_start(self, count: int) -> Words:
        """Fresh words of 2T symbols."""
        return Words(*(each.numpy() for each in self.task.random_words(count, self.generator)))


def latch(subject: Subject) -> Finding:
    """A head looks at the latest symbol that gives something to the first latch."""
    machine, words, (layer, head) = subject.machine, subject.measured, subject.head
    places = latest(gave_before(machine, words))
    shown = [*patterns(subject.model, words.tokens)][layer - 1]
    share = fraction_of(attended(shown, places)[:, head - 1], places >= 0)
    other = np.where(places >= 0, np.roll(places, 1, axis=0), -1)
    null = fraction_of(attended(shown, other)[:, head - 1], other >= 0)
    *_, built = chosen_head(shortcut(machine, subject.T), machine, subject.start)
    return beside_built(
        "latch/looks",
        "a head looks at the latest symbol that gives something",
        share,
        ATTENDED,
        built,
        f"layer {layer}, head {head}: {share:.2%}; at the place in another word {null.mean:.0%}",
        null=null.mean,
    )


def latch_elsewhere(subject: Subject) -> Finding:
    """All heads of its layer look at a random earlier write of another state than the right one:
    the answer is that write's, where that of the model by itself is seldom."""
    machine = subject.machine

    def follows(model: Transformer, layer: int, words: Words) -> Mean:
        written = np.array([*(row[0] for row in machine.transitions), -1])[words.tokens]
        wrong = written[:, None] != words.states[..., None]
        places = some(gave_before(machine, words) & wrong, subject.rng)
        there = np.take_along_axis(written, np.maximum(places, 0), axis=1)
        return fraction_of(
            looking_at(model, layer, places)(words.tokens).numpy() == there, places >= 0
        )

    layer, _ = subject.head
    share = follows(subject.model, layer, subject.measured)
    built = follows(shortcut(machine, subject.T), 1, subject.start)
    few = subject.measured.first(FEW)
    others = [follows(subject.model, each + 1, few).mean for each in range(subject.model.n_layers)]
    return beside_built(
        "latch/elsewhere",
        f"looking at a write of another state in layer {layer}, it answers with that one",
        share,
        SAME,
        built.mean,
        f"{share:.2%}; of layers 1 to {len(others)} each "
        f"{', '.join(f'{each:.0%}' for each in others)}",
    )


def chosen_head(model: Transformer, machine: Semiautomaton, words: Words) -> tuple[int, int, float]:
    """Layer and head, both from 1, with most attention on the latest symbol that gave something,
    and how much."""
    places = latest(gave_before(machine, words))
    shares = {
        (layer, head): fraction_of(shown[:, head - 1], places >= 0).mean
        for layer, pattern in enumerate(patterns(model, words.tokens), start=1)
        for shown in (attended(pattern, places),)
        for head in range(1, shown.shape[1] + 1)
    }
    best = max(shares, key=shares.__getitem__)
    return *best, shares[best]


def counter(subject: Subject) -> Finding:
    """With even attention in all heads of layer 1 the answers are right."""
    outside, few = subject.outside, subject.measured.first(FEW)

    def flat(model: Transformer, words: Words, layer: int) -> Mean:
        said = made_even(model, layer, words, outside)(words.tokens).numpy()
        return fraction_of(said == words.states, words.inside)

    def evenness(model: Transformer) -> float:
        """1 − the total variation between attention in layer 1 and even attention, on average."""
        first, flat = next(patterns(model, few.tokens)), even(model, 1, few, outside)
        common = np.minimum(first, flat[:, None, -first.shape[-1] :, -first.shape[-1] :]).sum(-1)
        return fraction_of(common.mean(1), few.inside).mean

    share, null = flat(subject.model, subject.measured, 1), flat(subject.null, few, 1)
    built, later = shortcut(subject.machine, subject.T), range(2, subject.model.n_layers + 1)
    others = ", ".join(f"{flat(subject.model, few, layer).mean:.0%}" for layer in later)
    return beside_built(
        "counter/even",
        "with even attention in all heads of layer 1 the answers are right",
        share,
        SAME,
        flat(built, subject.start, 1).mean,
        f"{share:.2%}; in each layer after it {others}; before training {null.mean:.0%}; its "
        f"attention is {evenness(subject.model):.0%} even, before training "
        f"{evenness(subject.null):.0%}",
        null=null.mean,
    )


def count(subject: Subject) -> Finding:
    """The number of 1s is read off the stream before the last layer, at symbol T."""

    def held(model: Transformer, fit: Words, words: Words) -> Mean:
        before, X = (streams_at(model, each.tokens, each.last)[-2] for each in (fit, words))
        return explained(before, ones(fit), X, ones(words))

    def ones(words: Words) -> np.ndarray:
        return ((words.tokens == 1) & words.inside).sum(1).astype(np.float64)

    def stays(words: Words, said: np.ndarray) -> float:
        few = words.first(FEW)
        again = answers(subject.model, few.permuted(subject.rng)) == said[:FEW]
        return float(again[np.arange(len(again)), few.last].mean())

    fit, words = subject.fitted.first(HALF), subject.measured
    share = held(subject.model, fit, words)
    parity = explained(ones(fit)[:, None] % 2, ones(fit), ones(words)[:, None] % 2, ones(words))
    null = held(subject.null, fit, words)
    within, long = stays(words, subject.said), stays(subject.long, subject.said_long)
    return beside_built(
        "counter/count",
        f"the stream before the last layer holds the number of 1s, at symbol {subject.T}",
        share,
        HELD,
        held(shortcut(subject.machine, subject.T), subject.start_fitted, subject.start).mean,
        f"R² {share:.3f}; of parity alone {parity.mean:.2f}, before training {null.mean:.3f}; with "
        f"the symbols permuted stay {within:.0%} of the answers, of words of {2 * subject.T} "
        f"symbols {long:.0%}",
        f"R² at least {HELD}",
        null=null.mean,
    )


def doubling(subject: Subject) -> Iterator[Finding]:
    """Where the last 2^l symbols send every state is read off layer l, at symbol T."""
    machine, start = subject.machine, subject.machine.start

    def reader(
        model: Transformer, fit: Words, words: Words
    ) -> Callable[[int, int, list[int]], Mean]:
        before, X = (streams_at(model, each.tokens, each.last) for each in (fit, words))
        return lambda layer, symbols, states: told_apart(
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
        share = trained(layer, symbols, every)
        known = by_shorter(machine, subject.fitted, subject.measured, symbols)
        yield beside_built(
            f"doubling/layer-{layer}",
            f"layer {layer} holds where the last {symbols} symbols send every state",
            share,
            HELD,
            built(layer, symbols, every).mean,
            f"{share:.2%}; before training {null(layer, symbols, every).mean:.0%}, by a table of "
            f"the last {symbols // 2} symbols {known:.0%}; where they send the start "
            f"{trained(layer, symbols, [start]).mean:.0%}, where all symbols send it, the answer, "
            f"{trained(layer, subject.T, [start]).mean:.0%}",
            null=known,
        )


def by_shorter(machine: Semiautomaton, others: Words, words: Words, symbols: int) -> float:
    """In how many words a table of the last symbols/2 symbols, learned from other words, says where
    the last `symbols` send every state."""
    half = symbols // 2

    def keys(of: Words) -> np.ndarray:
        at = of.last[:, None] + np.arange(1 - half, 1)
        read = np.take_along_axis(of.tokens, at, axis=1)
        return np.asarray(read @ (int(others.tokens.max()) + 1) ** np.arange(half))

    known, asked, wanted = keys(others), keys(words), maps(machine, words, symbols)
    found, seen = np.unique(maps(machine, others, symbols), axis=0, return_inverse=True)
    table = np.zeros((max(known.max(), asked.max()) + 1, len(found)), dtype=np.int64)
    np.add.at(table, (known, seen.reshape(-1)), 1)
    return float((found[table.argmax(1)[asked]] == wanted).all(1).mean())


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
    """That a mean is above a bound, of a trained model, where `null` is not; and that the built one
    has all of it."""
    wanted = f"{wanted or f'at least {bound:.0%}'}, {BY}; built: {built:.0%}"
    finding = above(id, name, found, bound, words=words, wanted=wanted)
    if finding.verdict is Verdict.HOLDS and not null < bound:
        finding.verdict = Verdict.UNDECIDED
    if not built >= BUILT:
        finding.verdict = Verdict.FAILS
    return finding
