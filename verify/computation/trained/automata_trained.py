"""The claim `automata-trained`: whether training finds the hand-built shortcuts."""

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
    FLIP_FLOPS,
    Subject,
    count,
    counter,
    doubling,
    flip_flop,
    flip_flop_elsewhere,
)
from verify.evidence.checkpoints import models_of, seeds_of
from verify.evidence.statistics import BY, above, fraction_of, ratio
from verify.finding import Finding, Verdict, labelled

KIND, PREFIX = "a softmax transformer trained on automata", "automata-"
RIGHT = 0.99  # the smallest accuracy that counts as right
TABLE = 5000  # the number of other words to which the table of last symbols is fitted
QUICK = 40, 150, 40  # words of a quick run: to measure, to fit probes, to choose heads


@claim(
    picture="verify.computation.trained.automata_trained_picture:draw",
)
def automata_trained(
    run: Run,
    *,
    checkpoint: Annotated[
        str | None,
        option(
            "a model trained on automata: a shipped name or a file; by default all shipped models"
        ),
    ] = None,
    words: Annotated[int, option("number of fresh words", min=20, max=10_000)] = 2000,
) -> Iterator[Finding]:
    """Published observation [Liu2023]: trained transformers of few layers simulate semiautomata on
    words of the trained length.  Two questions are measured here.  Do trained transformers also
    simulate semiautomata on words twice as long?  Do they use the mechanisms of the hand-built
    models: flip-flops, counters, and blocks of symbols whose length doubles in each layer?

    A semiautomaton is a finite automaton without accepting states, and the model outputs its state
    after each symbol.  The models have four layers of four heads.  They are trained on words of T =
    20 symbols.  Each word is placed at T successive positions among 2T positions; the first of
    these T positions is random.  Every seed has separate findings.  The hand-built model with a
    mechanism is measured in the same way and must reach the value 1; otherwise the finding on this
    mechanism fails.  Thresholds, null models and limits are in docs/training-notes.md.

    right     the accuracy on words of T symbols from a random position (`within`) is at least 99 %.
              The accuracy at symbols T + 1, …, 2T of words of 2T symbols from position 0 (`beyond`)
              is also at least 99 %.
    learnt    the accuracy exceeds the accuracies of two null models: a table that predicts the
              state from the last 8 symbols, and a constant state.
    flip-flop a flip-flop is a memory cell that some symbols set to a value and the other symbols
              leave unchanged.  One head attends to the latest symbol that sets the flip-flop in the
              first stage of the hand-built model (`attends`).  This head is chosen on other words.
              In an intervention (`redirected`), all heads in the layer of this head are made to
              attend to a random earlier symbol that sets a state other than the right one.  The
              output must become the state that this symbol sets.
    counter   if the attention of all heads of layer 1 is made uniform, as in the hand-built
              counter, the outputs stay right (`even`).  For parity, a linear probe before the last
              layer predicts the number of 1s (`count`).
    doubling  after each layer l = 1, …, 4, linear probes at symbol T predict the map of the states
              to themselves that the last 2^l symbols induce.
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
            # A generator for each model, so that its words do not depend on the other models.
            rng = np.random.default_rng((run.seed, made.seed))
            subjects[label] = subject = Subject(model, null, task, rng, *size)
            yield from labelled(label, findings_of(subject))
    run.draw(subjects)


def findings_of(subject: Subject) -> Iterator[Finding]:
    """Yields all findings of the claim on one trained model."""
    T, long, automaton = subject.T, subject.long, subject.task.automaton
    others = subject.from_start(TABLE).after(T)
    yield from right(subject, "within", subject.within, subject.at_random(TABLE))
    yield from right(subject, "beyond", long.after(T), others)
    if automaton in FLIP_FLOPS:
        yield flip_flop(subject)
    if automaton == "flip-flop":
        yield flip_flop_elsewhere(subject)
    if automaton in COUNTERS:
        yield counter(subject)
    if automaton == "parity":
        yield count(subject)
    if automaton in DOUBLING:
        yield from doubling(subject)


def right(subject: Subject, where: str, words: Words, others: Words) -> Iterator[Finding]:
    """Checks that the accuracy is at least 99 %, and exceeds the accuracy of two null models.

    The null models are a table of the last 8 symbols, fitted to the words `others`, and a constant
    state. `where` is "within" or "beyond", the name of the words.
    """
    inside, T = words.inside, subject.T
    correct = (subject.outputs if where == "within" else subject.outputs_long) == words.states
    table = by_last_symbols(others, words, subject.outside) == words.states
    fraction, known = fraction_of(correct, inside), fraction_of(table, inside).mean
    few = words.first(FEW)
    before = fraction_of(answers(subject.null, few.tokens) == few.states, few.inside).mean
    always = np.bincount(words.states[inside]).max() / inside.sum()
    at_last = correct[np.arange(len(correct)), words.last].mean()
    whole = (correct | ~inside).all(1).mean()
    symbols = f"symbols 1 to {T}" if where == "within" else f"symbols {T + 1} to {2 * T}"
    numbers = (
        f"{fraction:.2%}; accuracy at the last symbol {at_last:.1%}; fraction of words without an "
        f"error {whole:.1%}"
    )
    if where == "beyond" and (subject.by_symbol < RIGHT).any():
        first = int((subject.by_symbol < RIGHT).argmax()) + 1
        numbers += f"; the first symbol at which the accuracy is below {RIGHT:.0%} is {first}"
    numbers += (
        f"; for comparison, accuracy of a table of the last {SYMBOLS} symbols {known:.1%}, of a "
        f"constant state {always:.1%}, of the model before training {before:.1%}"
    )
    finding = above(
        f"right/{where}",
        f"accuracy at {symbols}, on {len(correct)} fresh words",
        fraction,
        RIGHT,
        words=numbers,
        wanted=f"at least {RIGHT:.0%}, {BY}",
    )
    if known >= RIGHT:
        finding.verdict = Verdict.UNDECIDED
    yield finding
    constant = words.states == np.bincount(words.states[inside]).argmax()
    simple = table if known >= always else constant
    more = ratio((correct & inside).sum(1) - (simple & inside).sum(1).astype(float), inside.sum(1))
    yield above(
        f"learnt/{where}",
        f"(accuracy of the model at {symbols}) − (accuracy of a table of the last {SYMBOLS} "
        "symbols or of a constant state, whichever is larger)",
        more,
        words=f"{more:.2%}",
        wanted=f"above 0, {BY}",
    )
