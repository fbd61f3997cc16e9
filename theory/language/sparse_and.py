"""Learning a conjunction of k among T bits: whose samples grow like ln T.

Words are T independent uniform bits; the label is 1 if the bits at k positions are all 1 (a
fraction 2^{−k}).  Four learners, of words (m, T) and labels (m,) of 0 and 1 (`ValueError` for
others), each of which returns scores of words, positive for label 1:

    elimination   the AND of all bits that are 1 in every positive example.  A false one is left
                  with probability (1 − 2^{−k−1})^m: (T − k)(1 − 2^{−k−1})^m of them in the mean
    logistic      a linear form, the class-balanced logistic loss, no penalty
    l1_logistic   with a penalty λ Σ|w|
    attention     a·Σ_t softmax(s)_t x_t + b with free scores s, one for each position

A linear form is enough, as a conjunction is a half-space; but training that does not change when
words are rotated cannot know that the axes matter, and a penalty or softmax does.

Any learner: m labels have at most m·h(2^{−k}) nats of information on which of the C(T, k)
conjunctions it is, so a learner that finds it with probability p has p ln C(T, k) ≤ m h(2^{−k}) +
h(p) (Fano; `least_samples`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit, log_expit, softmax

from theory.kinds import (
    Bits,
    Count,
    InputError,
    Integers,
    NonNegative,
    Probability,
    Reals,
    Seed,
    Steps,
    Within,
    checked,
    read,
)
from theory.language.distributions import Counted

Scores = Callable[[np.ndarray], np.ndarray]
BitWords: TypeAlias = Annotated[Any, Integers("n d", Within(least=0, most=1))]
"""0 and 1, shape (n, d)."""
BitLabels: TypeAlias = Annotated[Any, Integers("n", Within(least=0, most=1))]
"""0 and 1, shape (n,)."""
Chosen: TypeAlias = Annotated[Count, Within(most="T")]
"""An integer from 1 to T."""

MOST_CHOSEN = 10**4  # of a set that is counted exactly

STEPS, RATE, RATE_OUT = 700, 0.05, 0.2  # of Adam, for scores and for a and b
SCALE, BIAS = 20.0, -16.0  # a and b to begin with: 20·z − 16 > 0 from z = 0.8 on
BETAS, EPSILON = (0.9, 0.999), 1e-8


class Conjunction(NamedTuple):
    """T bits, and the positions that must all be 1."""

    T: int
    positions: tuple[int, ...]

    def labels(self, words: np.ndarray) -> np.ndarray:
        """(…,) of words (…, T) of 0 and 1, or of their first bits if the positions are among them;
        `ValueError` for others."""
        array = read(Bits, "words", words)
        if array.shape[-1] <= max(self.positions):
            raise InputError(f"words have shape {array.shape}: give (…, {self.T})")
        return np.asarray(array[..., list(self.positions)].min(axis=-1))


@checked
def random_conjunction(
    T: Annotated[Count, Within(most=10**8)], k: Chosen, rng: Seed
) -> Conjunction:
    """k of T positions."""
    return Conjunction(T, tuple(sorted(rng.permutation(T)[:k].tolist())))


@checked
def balanced_accuracy(scores: Annotated[Any, Reals("n")], labels: BitLabels) -> float:
    """The mean of the fractions of labels 1 and 0 that have scores on their side, each (n,).

    Raises `ValueError` where one of the labels does not occur.
    """
    if labels.min() == labels.max():
        raise InputError(f"all labels are {labels.max()}: give words of both kinds")
    right = (scores > 0) == (labels == 1)
    return float((right[labels == 1].mean() + right[labels == 0].mean()) / 2)


def _asked(words: np.ndarray, T: int) -> np.ndarray:
    """Words (m, T) of 0 and 1 that are to be scored."""
    return Integers(f"m {T}", Within(least=0, most=1)).read("words", words)


@checked
def elimination(words: BitWords, labels: BitLabels) -> Scores:
    """The AND of the bits that are 1 in all positive examples; of none, all words are positive."""
    kept = words[labels == 1].min(axis=0, initial=1) == 1
    return lambda asked: _asked(asked, len(kept))[:, kept].min(axis=1, initial=1) - 0.5


@checked
def false_bits(T: Counted, k: Chosen, samples: Annotated[Steps, Within(most=10**15)]) -> float:
    """(T − k)(1 − 2^{−k−1})^m, the mean number that elimination leaves."""
    return (T - k) * (1 - 2.0 ** -(k + 1)) ** samples


@checked
def logistic(words: BitWords, labels: BitLabels) -> Scores:
    """The class-balanced logistic loss without a penalty, by L-BFGS from 0."""
    x = 2.0 * words - 1
    found = minimize(_loss, np.zeros(x.shape[1] + 1), (x, labels), "L-BFGS-B", jac=True).x
    return _linear(found)


@checked
def l1_logistic(words: BitWords, labels: BitLabels, penalty: NonNegative) -> Scores:
    """The same with λ Σ|w|, w = w⁺ − w⁻ in two parts that are ≥ 0."""
    x = 2.0 * words - 1
    T = x.shape[1]

    def loss(parts: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = _loss(_joined(parts, T), x, labels)
        both = np.concatenate([slope[:T] + penalty, -slope[:T] + penalty, slope[T:]])
        return total + penalty * parts[:-1].sum(), both

    bounds = [(0.0, None)] * (2 * T) + [(None, None)]
    found = minimize(loss, np.zeros(2 * T + 1), jac=True, method="L-BFGS-B", bounds=bounds).x
    return _linear(_joined(found, T))


def _joined(parts: np.ndarray, T: int) -> np.ndarray:
    """w⁺ − w⁻ and b."""
    return np.append(parts[:T] - parts[T:-1], parts[-1])


def _loss(form: np.ndarray, x: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The class-balanced logistic loss of w and b on x (m, T), and its gradient (T + 1,)."""
    sign, share = 2.0 * labels - 1, _balanced(labels)
    z = sign * (x @ form[:-1] + form[-1])
    pull = -share * sign * expit(-z)
    return float(-(share * log_expit(z)).sum()), np.append(x.T @ pull, pull.sum())


def _linear(form: np.ndarray) -> Scores:
    """Scores by w and b, of words of −1 and 1."""
    return lambda asked: (2.0 * _asked(asked, len(form) - 1) - 1) @ form[:-1] + form[-1]


@checked
def attention(words: BitWords, labels: BitLabels) -> Scores:
    """One head with free scores of positions, by Adam on the class-balanced logistic loss."""
    s, a, b = attention_parameters(words, labels)
    return lambda asked: a * (_asked(asked, len(s)) @ softmax(s)) + b


@checked
def attention_parameters(words: BitWords, labels: BitLabels) -> tuple[np.ndarray, float, float]:
    """The scores s (T,), a and b of `attention`."""
    x, y, share = words.astype(np.float64), labels.astype(np.float64), _balanced(labels)
    T = x.shape[1]
    theta = np.concatenate([np.zeros(T), [SCALE, BIAS]])
    rates = np.concatenate([np.full(T, RATE), [RATE_OUT, RATE_OUT]])
    mean, square = np.zeros(T + 2), np.zeros(T + 2)
    for step in range(1, STEPS + 1):
        alpha = softmax(theta[:T])
        z = x @ alpha
        pull = share * (expit(theta[T] * z + theta[T + 1]) - y)
        slope = theta[T] * alpha * ((pull @ x) - pull @ z)
        gradient = np.concatenate([slope, [pull @ z, pull.sum()]])
        mean = BETAS[0] * mean + (1 - BETAS[0]) * gradient
        square = BETAS[1] * square + (1 - BETAS[1]) * gradient**2
        scaled = np.sqrt(square / (1 - BETAS[1] ** step)) + EPSILON
        theta = theta - rates * mean / (1 - BETAS[0] ** step) / scaled
    return theta[:T], float(theta[T]), float(theta[T + 1])


def _balanced(labels: np.ndarray) -> np.ndarray:
    """Weights with which both classes have ½ of the loss; 1/m where there is one class."""
    ones = labels.sum()
    if not 0 < ones < len(labels):
        return np.full(len(labels), 1 / len(labels))
    return np.where(labels == 1, 0.5 / ones, 0.5 / (len(labels) - ones))


@checked
def binary_entropy(p: Probability) -> float:
    """h(p) = −p ln p − (1 − p) ln(1 − p), 0 at 0 and 1."""
    return -sum(x * math.log(x) for x in (p, 1 - p) if x)


@checked
def log_choices(T: Counted, k: Chosen) -> float:
    """ln C(T, k).  Raises `ValueError` unless k or T − k is at most 10^4."""
    if min(k, T - k) > MOST_CHOSEN:
        raise InputError(f"k is {k} and T is {T}: give k or T − k of at most {MOST_CHOSEN}")
    return math.log(math.comb(T, k))


@checked
def least_samples(
    T: Counted, k: Annotated[Count, Within(most=1000)], probability: Probability = 1.0
) -> int:
    """m ≥ (p ln C(T, k) − h(p))/h(2^{−k}), below which no learner finds a random conjunction with
    probability p.  Raises `ValueError` for k above T."""
    p = probability
    shared = p * log_choices(T, k) - binary_entropy(p)
    return max(0, math.ceil(shared / binary_entropy(2.0**-k)))


@checked
def greatest_probability(
    T: Counted, k: Annotated[Count, Within(most=1000)], samples: Steps
) -> float:
    """The largest p, to a thousandth, for which `least_samples` does not exceed this."""
    grid = np.arange(0, 1001) / 1000
    return float(max(p for p in grid if least_samples(T, k, float(p)) <= samples))
