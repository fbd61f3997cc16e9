"""Learning a conjunction of k among T bits: learners whose sample complexity grows like ln T.

Words are T independent uniform bits.  The label is 1 if the bits at k positions are all 1, which
has probability 2^{−k}.  Each of four learners takes words (m, T) and labels (m,) of 0 and 1, and
returns a scoring function, whose score is positive if it predicts label 1.

    elimination   the AND of all bits that are 1 in every positive example.  A bit outside the
                  conjunction remains with probability (1 − 2^{−k−1})^m
    logistic      a linear form that minimises the class-balanced logistic loss, unpenalised
    l1_logistic   a linear form that minimises this loss plus the penalty λ Σ|w|
    attention     a·Σ_t softmax(s)_t x_t + b with a free attention score s_t for each position t

A linear form suffices, as a conjunction is a half-space.  But training that is invariant under
rotations of the words cannot exploit sparsity in the coordinates, whereas a penalty or softmax can.

For any learner, m labels contain at most m·h(2^{−k}) nats of information about the choice of one of
the C(T, k) conjunctions.  So a success probability p requires p ln C(T, k) ≤ m h(2^{−k}) + h(p)
(Fano; `least_samples`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Annotated, Any, NamedTuple, TypeAlias

import numpy as np
import scipy  # its submodules are loaded when they are used

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

MOST_CHOSEN = 10**4  # C(T, k) is computed exactly if k or T − k is at most this

STEPS, RATE, RATE_OUT = (
    700,
    0.05,
    0.2,
)  # Adam: steps, rate of s, rate of a and b
SCALE, BIAS = 20.0, -16.0  # initial a and b: 20·z − 16 > 0 for z > 0.8
BETAS, EPSILON = (0.9, 0.999), 1e-8


class Conjunction(NamedTuple):
    """A conjunction on words of T bits: the AND of the bits at the given positions."""

    T: int
    positions: tuple[int, ...]

    def labels(self, words: np.ndarray) -> np.ndarray:
        """The values (…,) of the conjunction on words (…, T) of T bits.

        The value is 1 if the bits at all positions of the conjunction are 1, and otherwise 0.
        Words may have fewer than T bits, if they include all positions of the conjunction.  Raises
        `ValueError` unless words consist of 0 and 1 and positions are at least 0.
        """
        array = read(Bits, "words", words)
        positions = read(tuple[Steps, ...], "positions", self.positions)
        if array.shape[-1] <= max(positions, default=-1):
            raise InputError(f"words have shape {array.shape}: give words of shape (…, {self.T})")
        return np.asarray(array[..., list(positions)].min(axis=-1, initial=1))


@checked
def random_conjunction(
    T: Annotated[Count, Within(most=10**8)], k: Chosen, seed: Seed
) -> Conjunction:
    """A random conjunction: the AND of k uniformly drawn bits of words of T bits."""
    rng = np.random.default_rng(seed)
    return Conjunction(T, tuple(sorted(rng.permutation(T)[:k].tolist())))


@checked
def balanced_accuracy(scores: Annotated[Any, Reals("n")], labels: BitLabels) -> float:
    """The mean of the accuracy on words of label 1 and the accuracy on words of label 0.

    A positive entry of `scores` (n,) predicts that the label is 1, and another entry predicts that
    it is 0.  `labels` (n,) has the true labels of the n words.  Raises `ValueError` unless both
    labels occur.
    """
    if labels.min() == labels.max():
        raise InputError(f"all labels are {labels.max()}: give words of both labels")
    right = (scores > 0) == (labels == 1)
    return float((right[labels == 1].mean() + right[labels == 0].mean()) / 2)


def _to_score(words: np.ndarray, T: int) -> np.ndarray:
    """Words (m, T) of 0 and 1; raises `ValueError` for others."""
    return Integers(f"m {T}", Within(least=0, most=1)).read("words", words)


@checked
def elimination(words: BitWords, labels: BitLabels) -> Scores:
    """The scoring function of a conjunction that is learned by elimination from examples.

    The conjunction is the AND of the bits that are 1 in all words with label 1, and of all bits if
    there are no such words.  The score of a word is ½ if the AND is 1, and −½ otherwise.  The n
    examples are `words` (n, d) of d bits, and `labels` (n,) of 0 and 1.
    """
    common = words[labels == 1].min(axis=0, initial=1) == 1
    return lambda words: _to_score(words, len(common))[:, common].min(axis=1, initial=1) - 0.5


@checked
def false_bits(T: Counted, k: Chosen, samples: Annotated[Steps, Within(most=10**15)]) -> float:
    """The mean number of wrong bits in the conjunction that elimination learns.

    A conjunction is the AND of k of T bits.  It is learned from m = `samples` random words.
    Elimination learns the AND of the bits that are 1 in all those words for which the conjunction
    is 1.  The wrong bits are the learned bits outside the k bits.  Their mean number is (T − k)(1 −
    2^{−k−1})^m.
    """
    return (T - k) * math.exp(samples * math.log1p(-(2.0 ** -(k + 1))))


@checked
def logistic(words: BitWords, labels: BitLabels) -> Scores:
    """The fitted scoring function of logistic regression without a penalty.

    The score of a word is ⟨w, x⟩ + b, where x (d,) has the bits of the word as −1 and 1.  The
    weights w and the constant b are fitted by L-BFGS from 0 to the n examples `words` (n, d) and
    `labels` (n,) of 0 and 1.  In the logistic loss, the two labels have equal total weight.
    """
    x = 2.0 * words - 1
    found = scipy.optimize.minimize(
        _loss, np.zeros(x.shape[1] + 1), (x, labels), "L-BFGS-B", jac=True
    ).x
    return _linear(found)


@checked
def l1_logistic(words: BitWords, labels: BitLabels, penalty: NonNegative) -> Scores:
    """The fitted scoring function of logistic regression with the penalty λ Σ|w|, λ = `penalty`.

    The score of a word is ⟨w, x⟩ + b, where x (d,) has the bits of the word as −1 and 1.  The
    weights w and the constant b are fitted to the n examples `words` (n, d) and `labels` (n,) of 0
    and 1.  In the logistic loss, the two labels have equal total weight.  The fit is by L-BFGS-B
    for w = w⁺ − w⁻ with w⁺, w⁻ ≥ 0.
    """
    x = 2.0 * words - 1
    T = x.shape[1]

    def loss(parts: np.ndarray) -> tuple[float, np.ndarray]:
        total, slope = _loss(_joined(parts, T), x, labels)
        both = np.concatenate([slope[:T] + penalty, -slope[:T] + penalty, slope[T:]])
        return total + penalty * parts[:-1].sum(), both

    bounds = [(0.0, None)] * (2 * T) + [(None, None)]
    found = scipy.optimize.minimize(
        loss, np.zeros(2 * T + 1), jac=True, method="L-BFGS-B", bounds=bounds
    ).x
    return _linear(_joined(found, T))


def _joined(parts: np.ndarray, T: int) -> np.ndarray:
    """The linear form (w⁺ − w⁻, b)."""
    return np.append(parts[:T] - parts[T:-1], parts[-1])


def _loss(form: np.ndarray, x: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The class-balanced logistic loss of (w, b) on x (m, T), and its gradient (T + 1,)."""
    sign, weight = 2.0 * labels - 1, _balanced(labels)
    z = sign * (x @ form[:-1] + form[-1])
    pull = -weight * sign * scipy.special.expit(-z)
    return float(-(weight * scipy.special.log_expit(z)).sum()), np.append(x.T @ pull, pull.sum())


def _linear(form: np.ndarray) -> Scores:
    """The scores ⟨w, x⟩ + b of words x as −1 and 1."""
    return lambda words: (2.0 * _to_score(words, len(form) - 1) - 1) @ form[:-1] + form[-1]


@checked
def attention(words: BitWords, labels: BitLabels) -> Scores:
    """The fitted scoring function a·Σ_t softmax(s)_t x_t + b of words x of d bits.

    The function is an attention head with a free attention score s_t for each position t.  The
    attention scores s (d,) and the numbers a and b are fitted by Adam to the logistic loss, in
    which the two labels have equal total weight.  The n examples are `words` (n, d) and `labels`
    (n,), of 0 and 1.
    """
    s, a, b = attention_parameters(words, labels)
    return lambda words: a * (_to_score(words, len(s)) @ scipy.special.softmax(s)) + b


@checked
def attention_parameters(words: BitWords, labels: BitLabels) -> tuple[np.ndarray, float, float]:
    """The parameters s (d,), a and b of the function a·Σ_t softmax(s)_t x_t + b of `attention`.

    The function maps a word x of d bits to a number, which is positive if label 1 is predicted.
    s_t is a free attention score for position t.  `attention` fits the parameters to the n examples
    `words` (n, d) and `labels` (n,), of 0 and 1.
    """
    x, y, weight = words.astype(np.float64), labels.astype(np.float64), _balanced(labels)
    T = x.shape[1]
    theta = np.concatenate([np.zeros(T), [SCALE, BIAS]])
    rates = np.concatenate([np.full(T, RATE), [RATE_OUT, RATE_OUT]])
    mean, square = np.zeros(T + 2), np.zeros(T + 2)
    for step in range(1, STEPS + 1):
        alpha = scipy.special.softmax(theta[:T])
        z = x @ alpha
        pull = weight * (scipy.special.expit(theta[T] * z + theta[T + 1]) - y)
        slope = theta[T] * alpha * ((pull @ x) - pull @ z)
        gradient = np.concatenate([slope, [pull @ z, pull.sum()]])
        mean = BETAS[0] * mean + (1 - BETAS[0]) * gradient
        square = BETAS[1] * square + (1 - BETAS[1]) * gradient**2
        scaled = np.sqrt(square / (1 - BETAS[1] ** step)) + EPSILON
        theta = theta - rates * mean / (1 - BETAS[0] ** step) / scaled
    return theta[:T], float(theta[T]), float(theta[T + 1])


def _balanced(labels: np.ndarray) -> np.ndarray:
    """Sample weights that give each class ½ of the loss; 1/m if there is one class."""
    ones = labels.sum()
    if not 0 < ones < len(labels):
        return np.full(len(labels), 1 / len(labels))
    return np.where(labels == 1, 0.5 / ones, 0.5 / (len(labels) - ones))


@checked
def binary_entropy(p: Probability) -> float:
    """The binary entropy −p ln p − (1 − p) ln(1 − p) in nats; 0 for p = 0 and p = 1."""
    if p in (0, 1):
        return 0.0
    return -p * math.log(p) - (1 - p) * math.log1p(-p)


@checked
def log_choices(T: Counted, k: Chosen) -> float:
    """The natural logarithm of the binomial coefficient C(T, k).

    Raises `ValueError` unless k or T − k is at most 10^4.
    """
    if min(k, T - k) > MOST_CHOSEN:
        raise InputError(f"k is {k} and T is {T}: give k ≤ {MOST_CHOSEN} or T − k ≤ {MOST_CHOSEN}")
    return math.log(math.comb(T, k))


@checked
def least_samples(
    T: Counted, k: Annotated[Count, Within(most=1000)], probability: Probability = 1.0
) -> int:
    """A lower bound, by Fano's inequality, on the number of samples for finding a conjunction.

    The conjunction is the AND of k of T bits, uniformly drawn, and a sample is a random word with
    its label.  From fewer samples, no learner finds the conjunction with probability p =
    `probability`.  The bound is the smallest m ≥ (p ln C(T, k) − h(p))/h(2^{−k}), where h is the
    binary entropy in nats and C(T, k) is a binomial coefficient; the quotient is computed in
    float64.  Raises `ValueError` for k > T.
    """
    p = probability
    information = p * log_choices(T, k) - binary_entropy(p)
    return max(0, math.ceil(information / binary_entropy(2.0**-k)))


@checked
def greatest_probability(
    T: Counted, k: Annotated[Count, Within(most=1000)], samples: Steps
) -> float:
    """An upper bound, by Fano's inequality, on the probability of finding a random conjunction.

    The conjunction is the AND of k of T bits, uniformly drawn.  A learner finds it from `samples`
    random words and their labels.  The result is the smallest multiple of 1/1000 that the
    inequality excludes, or 1 if it excludes none.  What it allows is an interval from 0.
    """
    grid = (np.arange(0, 1001) / 1000).tolist()
    return next((p for p in grid if least_samples(T, k, p) > samples), 1.0)
