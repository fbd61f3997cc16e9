"""The claim `sparse-and`: a conjunction of three of T bits is learned from O(ln T) samples."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import log2
from typing import Annotated

import numpy as np

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
from verify.finding import Finding, as_stated, at_least, at_most, labelled, within
from verify.language.sparse_certificates import certificates, certified

K, SMALL, MOST = 3, 50, 1000
TIMES = 5  # the number of samples is TIMES times Fano's bound
SEEDS, ENOUGH, FEW = (
    10,
    9,
    1,
)  # fewest seeds that succeed; most seeds of a learner that should fail
QUERIES, RIGHT = 3000, 0.995  # test words, and the balanced accuracy of a success
PENALTIES = 0.003, 0.01, 0.03
DRAWS = 400  # draws of elimination

Learner = Callable[[np.ndarray, np.ndarray], Callable[[np.ndarray], np.ndarray]]


@claim(
    picture="verify.language.sparse_and_picture:draw",
    faults_seen=[{"bits": 50}],
)
def sparse_and(
    run: Run,
    *,
    bits: Annotated[int, option("number of bits T, tested after 50", min=SMALL, max=MOST)] = 200,
) -> Iterator[Finding]:
    """Observation: attention learns a conjunction of 3 of T bits from 5⌈ln C(T, 3)/h(1/8)⌉ samples.

    Here h is the binary entropy in nats, C(T, 3) is a binomial coefficient, and the number of
    samples is five times a lower bound for every learner. From this number of samples, elimination
    (of the bits that are 0 in some positive sample) and L1-penalised logistic regression learn the
    conjunction as well. Logistic regression without a penalty does not learn it. Its training is
    invariant under rotations of the words.

    Consider the AND of the three bits to which the head attends with the largest scores. If this
    AND is right on all m samples, the error of this AND is at most (ln C(T, 3) + ln 20)/m with
    probability ≥ .95.  Two bounds on the error of the head itself are vacuous at these sizes: the
    margin bound for weighted votes [Schapire1998], and a bound in terms of the norms of the weights
    of the head. For a bound of .1 on the error, the margin bound requires at least 100 times as
    many samples, and the bound by norms at least 100 000 times as many.
    """
    for T in dict.fromkeys((SMALL, bits)) if not run.quick else (SMALL,):
        yield from labelled(f"{T} bits", _learned(run, T))
    run.draw(run.seed)


def _learned(run: Run, T: int) -> Iterator[Finding]:
    """The findings at one T: each learner, certificates, and elimination."""
    m = TIMES * least_samples(T, K)
    for name, learner in LEARNERS.items():
        found = [success(run, T, m, learner) for _ in range(SEEDS)]
        words = f"{sum(found)} of {SEEDS} seeds"
        what = (
            f"seeds for which {NAMED[name]} has a balanced accuracy above {RIGHT:g} after {m} "
            "samples"
        )
        if name in FAILING:
            yield at_most(
                name, what, "trained", sum(found), FEW, words=words, wanted=f"at most {FEW} seed"
            )
        else:
            yield at_least(
                name,
                what,
                "trained",
                sum(found),
                ENOUGH,
                words=words,
                wanted=f"at least {ENOUGH} seeds",
            )
    runs = [certified(*drawn(run, T, m)) for _ in range(SEEDS)]
    yield from certificates(runs, T, K, m, ENOUGH)
    yield _false_bits(run, T)
    yield _fano(run, T)


def success(run: Run, T: int, m: int, learner: Learner) -> bool:
    """Whether a learner finds a random conjunction of three of T bits from m random words."""
    rule, words, labels = drawn(run, T, m)
    queries = run.rng.integers(2, size=(QUERIES, T))
    scores = learner(words, labels)(queries)
    return balanced_accuracy(scores, rule.labels(queries)) > RIGHT


def drawn(run: Run, T: int, m: int) -> tuple[Conjunction, np.ndarray, np.ndarray]:
    """A random conjunction of three of T bits, m random words, and the labels of the words."""
    rule = random_conjunction(T, K, run.rng)
    words = run.rng.integers(2, size=(m, T))
    return rule, words, rule.labels(words)


def sparse(words: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """A scoring function by L1-penalised logistic regression.

    The penalty is chosen on a third of the words.
    """
    third = len(words) // 3
    validation, training = slice(third), slice(third, None)

    def accuracy(penalty: float) -> float:
        scores = l1_logistic(words[training], labels[training], penalty)(words[validation])
        wanted = labels[validation]
        right = (scores > 0) == (wanted == 1)
        return float(np.mean([right[wanted == y].mean() for y in np.unique(wanted)]))

    return l1_logistic(words, labels, max(PENALTIES, key=accuracy))


def permuted(words: np.ndarray, labels: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """The scoring function of the null model, a head trained on the labels of other words."""
    return attention(words, np.roll(labels, 1))


LEARNERS: dict[str, Learner] = {
    "attention": attention,
    "elimination": elimination,
    "l1-logistic": sparse,
    "logistic": logistic,
    "permuted": permuted,
}
NAMED = {
    "attention": "an attention head",
    "elimination": "elimination",
    "l1-logistic": "L1-penalised logistic regression",
    "logistic": "logistic regression without a penalty",
    "permuted": "an attention head trained on permuted labels",
}
FAILING = "logistic", "permuted"


def remaining_bits(rule: Conjunction, words: np.ndarray, labels: np.ndarray) -> int:
    """The number of bits outside a conjunction that elimination does not eliminate.

    `labels` are the labels of the words under the conjunction `rule`.
    """
    eye = 1 - np.eye(rule.T, dtype=np.int64)
    lost = elimination(words, labels)(eye) < 0
    return int(lost.sum()) - len(rule.positions)


def _false_bits(run: Run, T: int) -> Finding:
    """The mean number of false bits of elimination compared with its closed form."""
    m = 2 * least_samples(T, K)
    found = estimated(
        np.array([remaining_bits(*drawn(run, T, m)) for _ in range(DRAWS)], dtype=float)
    )
    wanted, reach = false_bits(T, K, m), errors_for(found.freedom) * found.error
    return within(
        "false-bits",
        "mean number of bits outside the conjunction that elimination leaves after m = "
        f"{m} samples, over {DRAWS} draws",
        "statistical",
        found.mean,
        (wanted - reach, wanted + reach),
        words=f"{found:.3f}",
        wanted=f"({T} − 3)(15/16)^m = {wanted:.3f} within {reach:.3f}",
    )


def _fano(run: Run, T: int) -> Finding:
    """The success rate of elimination from half of Fano's bound, compared with its maximum."""
    m = least_samples(T, K) // 2
    found = np.mean([remaining_bits(*drawn(run, T, m)) == 0 for _ in range(DRAWS)])
    most = greatest_probability(T, K, m)
    finding = at_most(
        "too-few",
        f"fraction of {DRAWS} random conjunctions that elimination finds from {m} samples",
        "statistical",
        float(found),
        most,
        words=f"{found:.3f}",
        wanted=f"at most {most:.3f}, by Fano's bound for every learner",
    )
    bits = {p: -p / 1000 * log2(p / 1000) for p in range(1, 1000)}
    known = m * (log2(8) / 8 - 7 / 8 * log2(7 / 8))  # the entropy of m labels, in bits
    chosen = log2(T * (T - 1) * (T - 2) / 6)
    found_ones = (p for p in bits if p / 1000 * chosen - bits[p] - bits[1000 - p] <= known)
    return as_stated(finding, most, (max(found_ones) + 1) / 1000)
