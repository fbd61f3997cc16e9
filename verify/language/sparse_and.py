"""The claim `sparse-and`: a conjunction of three among T bits from O(ln T) samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Annotated

import numpy as np

from theory.kinds import InputError
from theory.language import (
    Conjunction,
    attention,
    balanced_accuracy,
    elimination,
    false_bits,
    greatest_probability,
    l1_logistic,
    least_samples,
    logistic,
    random_conjunction,
)
from verify.claim import Run, claim, option
from verify.evidence.statistics import errors_for, estimated
from verify.finding import Finding, at_least, at_most, labelled, within
from verify.language.sparse_certificates import certificates, certified

K, SMALL, MOST = 3, 50, 1000
TIMES = 5  # as many samples as any learner needs, are given to those that should succeed
SEEDS, ENOUGH, FEW = 10, 9, 1  # so many seeds succeed at least, and at most of those that fail
ASKED, RIGHT = 3000, 0.995  # words that are asked, and the balanced accuracy of a success
PENALTIES = 0.003, 0.01, 0.03
DRAWS = 400  # of elimination alone

Learner = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


@claim(
    source="measured; bounds proved in theory/language/sparse_and.py; after [Edelman2022]",
    picture="verify.language.sparse_and_picture:draw",
    faults_seen=[{"bits": 50}],
)
def sparse_and(
    run: Run, *, bits: Annotated[int, option("bits T, beside 50", min=10)] = 200
) -> Iterator[Finding]:
    """Observation: attention learns a conjunction of 3 of T bits from 5⌈ln C(T, 3)/h(1/8)⌉ samples.

    That is five times what any learner needs; elimination and L1-penalised logistic regression
    succeed as well, and logistic regression without a penalty, whose training is invariant under
    rotations of the words, does not.  The samples prove that the head's three largest scores, as a
    conjunction, have an error of at most (ln C(T, 3) + ln 20)/m; bounds by votes [Schapire1998] and
    by norms are vacuous at these sizes: for an error of a tenth they require more than 100 and
    100 000 times as many.
    """
    if bits > MOST:
        raise InputError(f"bits is {bits}: give at most {MOST}")
    for T in dict.fromkeys((SMALL, bits)) if not run.quick else (SMALL,):
        yield from labelled(f"{T} bits", _learned(run, T))
    run.draw(run.seed)


def _learned(run: Run, T: int) -> Iterator[Finding]:
    m = TIMES * least_samples(T, K)
    for name, learner in LEARNERS.items():
        found = [success(run, T, m, learner) for _ in range(SEEDS)]
        said = f"{sum(found)} of {SEEDS} seeds, balanced accuracy above {RIGHT:g}"
        what = f"{name} from {m} samples"
        if name in FAILING:
            yield at_most(name, what, "trained", sum(found), FEW, words=said)
        else:
            yield at_least(name, what, "trained", sum(found), ENOUGH, words=said)
    runs = [certified(*drawn(run, T, m)) for _ in range(SEEDS)]
    yield from certificates(runs, T, K, m, ENOUGH)
    yield _false_bits(run, T)
    yield _fano(run, T)


def success(run: Run, T: int, m: int, learner: Learner) -> bool:
    """Whether a learner finds a random conjunction from m samples."""
    rule, words, labels = drawn(run, T, m)
    asked = run.rng.integers(2, size=(ASKED, T))
    scores = learner(words, labels)(asked)
    return balanced_accuracy(scores, rule.labels(asked)) > RIGHT


def drawn(run: Run, T: int, m: int) -> tuple[Conjunction, np.ndarray, np.ndarray]:
    """A random conjunction, m words, and their labels."""
    rule = random_conjunction(T, K, run.rng)
    words = run.rng.integers(2, size=(m, T))
    return rule, words, rule.labels(words)


def sparse(words: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The penalised logistic regression of three penalties that is best on a third of the words."""
    third = len(words) // 3
    held, kept = slice(third), slice(third, None)

    def accuracy(penalty: float) -> float:
        scores = l1_logistic(words[kept], labels[kept], penalty)(words[held])
        right = (scores > 0) == (labels[held] == 1)
        return float(np.mean([right[labels[held] == y].mean() for y in np.unique(labels[held])]))

    return l1_logistic(words, labels, max(PENALTIES, key=accuracy))


def permuted(words: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The head, told the labels of other words: there is nothing to find."""
    return attention(words, np.roll(labels, 1))


LEARNERS: dict[str, Learner] = {
    "attention": attention,
    "elimination": elimination,
    "l1-logistic": sparse,
    "logistic": logistic,
    "permuted": permuted,
}
FAILING = "logistic", "permuted"


def kept_bits(rule: Conjunction, words: np.ndarray, labels: np.ndarray) -> int:
    """How many bits that are not of the rule elimination keeps."""
    eye = 1 - np.eye(rule.T, dtype=np.int64)
    lost = elimination(words, labels)(eye) < 0
    return int(lost.sum()) - len(rule.positions)


def _false_bits(run: Run, T: int) -> Finding:
    """The mean number of false bits beside its closed form, by standard errors."""
    m = 2 * least_samples(T, K)
    found = estimated(np.array([kept_bits(*drawn(run, T, m)) for _ in range(DRAWS)], dtype=float))
    wanted, reach = false_bits(T, K, m), errors_for(found.freedom) * found.error
    return within(
        "false-bits",
        f"false bits that elimination keeps after {m} samples, {DRAWS} draws",
        "statistical",
        found.mean,
        (wanted - reach, wanted + reach),
        words=f"{found:.3f}",
        wanted=f"(T − 3)(15/16)^m = {wanted:.3f}",
    )


def _fano(run: Run, T: int) -> Finding:
    """Half of the samples that any learner needs: who finds it, with which probability at most."""
    m = least_samples(T, K) // 2
    found = np.mean([kept_bits(*drawn(run, T, m)) == 0 for _ in range(DRAWS)])
    most = greatest_probability(T, K, m)
    return at_most(
        "too-few",
        f"conjunctions that elimination finds from {m} samples, {DRAWS} draws",
        "statistical",
        float(found),
        most,
        words=f"a share of {found:.3f}",
        wanted=f"{most:.3f}: Fano, whatever the learner",
    )
