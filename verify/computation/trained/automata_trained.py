"""The claim `automata-trained`: how far training finds the shortcuts that were built."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np

from constructions.trained import configuration_of, shipped, untrained
from verify.claim import Run, claim, option
from verify.computation.trained.attention import Words, answers
from verify.computation.trained.last_symbols import SYMBOLS, by_last_symbols
from verify.computation.trained.mechanisms import (
    COUNTERS,
    DOUBLING,
    FEW,
    LATCHES,
    Subject,
    count,
    counter,
    doubling,
    latch,
    latch_elsewhere,
)
from verify.evidence.checkpoints import models_of, seeds_of
from verify.evidence.statistics import BY, above, fraction_of, ratio
from verify.finding import Finding, Verdict, labelled

KIND, PREFIX = "a softmax transformer trained on automata", "automata-"
RIGHT = 0.99  # of the answers
TABLE = 5000  # other words, from which the table of last symbols is learned
QUICK = 40, 150, 40  # words of a quick run, those to fit and those to choose on


@claim(
    source="[Liu2023]; the built models: constructions/computation/shortcut.py",
    picture="verify.computation.trained.automata_trained_picture:draw",
)
def automata_trained(
    run: Run,
    *,
    checkpoint: Annotated[
        str | None, option("trained on automata: a shipped name, or a file; all, if none")
    ] = None,
    words: Annotated[int, option("fresh words", min=20, max=10_000)] = 2000,
) -> Iterator[Finding]:
    """Published observation [Liu2023]: trained transformers of few layers simulate semiautomata on
    words of the trained length.  Asked besides: also on twice that length, and by the latches,
    counters and windows that double of the models built here?

    Four layers of four heads, trained on words of T = 20 symbols at random places among 2T; every
    seed is judged by itself, and the built models are measured in the same way, and have to have
    all of it.  The thresholds, the null models and what each finding cannot tell: docs/trained.md.

    right     the symbols of words of T symbols at random places (`within`), and symbols T + 1 … 2T
              of words from place 0 (`beyond`), are answered right.
    learnt    more of them than by a table of the last 8 symbols, or by one state throughout.
    latch     a head, chosen on other words, looks at the latest symbol that gives something to the
              first latch of the built model (`looks`); if all heads of its layer look at a random
              earlier write of another state, the answer is that one's (`elsewhere`).
    counter   if all heads of layer 1 attend evenly to the symbols up to here, as the built counter,
              the answers are right (`even`); in parity the number of 1s is read off the stream
              before the last layer (`count`).
    doubling  after layer l = 1 … 4 it is read off the stream, at symbol T, where the last 2^l
              symbols send every state.
    """
    names = [name for name in shipped() if name.startswith(PREFIX)]
    names, subjects = names if checkpoint is None else seeds_of(checkpoint), dict[str, Subject]()
    size = (min(words, QUICK[0]), *QUICK[1:]) if run.quick else (words,)
    for name in names:
        made = configuration_of(name)
        if run.quick and checkpoint is None and made.seed:
            continue
        for label, model, task in models_of(name, KIND):
            null: Any = untrained(made).requires_grad_(False)
            # Of its own: what is drawn for a model does not depend on which others there are.
            rng = np.random.default_rng((run.seed, made.seed))
            subjects[label] = subject = Subject(model, null, task, rng, *size)
            yield from labelled(label, findings_of(subject))
    run.draw(subjects)


def findings_of(subject: Subject) -> Iterator[Finding]:
    """All that is said of one model."""
    T, long, automaton = subject.T, subject.long, subject.task.automaton
    others = subject.from_start(TABLE).after(T)
    yield from right(subject, "within", subject.within, subject.at_random(TABLE))
    yield from right(subject, "beyond", long.after(T), others)
    if automaton in LATCHES:
        yield latch(subject)
    if automaton == "flip-flop":
        yield latch_elsewhere(subject)
    if automaton in COUNTERS:
        yield counter(subject)
    if automaton == "parity":
        yield count(subject)
    if automaton in DOUBLING:
        yield from doubling(subject)


def right(subject: Subject, where: str, words: Words, others: Words) -> Iterator[Finding]:
    """The share of right answers, and by how much it is above that of the table."""
    inside, T = words.inside, subject.T
    correct = (subject.said if where == "within" else subject.said_long) == words.states
    table = by_last_symbols(others, words, subject.outside) == words.states
    share, known = fraction_of(correct, inside), fraction_of(table, inside).mean
    few = words.first(FEW)
    before = fraction_of(answers(subject.null, few.tokens) == few.states, few.inside).mean
    always = np.bincount(words.states[inside]).max() / inside.sum()
    at_last = correct[np.arange(len(correct)), words.last].mean()
    whole = (correct | ~inside).all(1).mean()
    symbols = f"symbols 1 to {T}" if where == "within" else f"symbols {T + 1} to {2 * T}"
    told = f"{share:.2%}; at the last symbol {at_last:.1%}, at all of them {whole:.1%}"
    if where == "beyond" and (subject.by_symbol < RIGHT).any():
        first = int((subject.by_symbol < RIGHT).argmax()) + 1
        told += f"; from place 0 below {RIGHT:.0%} first at symbol {first}"
    finding = above(
        f"right/{where}",
        f"right at {symbols} of {len(correct)} fresh words",
        share,
        RIGHT,
        words=told,
        wanted=f"at least {RIGHT:.0%}, {BY}; a table of {SYMBOLS} symbols {known:.1%}, always the "
        f"same state {always:.1%}, before training {before:.1%}",
    )
    if known >= RIGHT:
        finding.verdict = Verdict.UNDECIDED
    yield finding
    constant = words.states == np.bincount(words.states[inside]).argmax()
    simple = table if known >= always else constant
    more = ratio((correct & inside).sum(1) - (simple & inside).sum(1).astype(float), inside.sum(1))
    yield above(
        f"learnt/{where}",
        f"more right at {symbols} than a table of the last {SYMBOLS}, or always one state",
        more,
        words=f"{more:.2%} more",
        wanted=f"above 0, {BY}",
    )
