"""Learning a conjunction of k among T bits: learners whose sample complexity grows like ln T.

Words are T independent uniform bits; the label is 1 if the bits at k positions are all 1
(probability 2^{−k}).  Each of four learners takes words (m, T) and labels (m,) of 0 and 1, raises
`ValueError` for other numbers, and returns a scoring function, which is positive for label 1:

    elimination   the AND of all bits that are 1 in every positive example.  A false bit
                  remains with probability (1 − 2^{−k−1})^m, so (T − k)(1 − 2^{−k−1})^m on average
    logistic      a linear form that minimises the class-balanced logistic loss, unpenalised
    l1_logistic   the same with the penalty λ Σ|w|
    attention     a·Σ_t softmax(s)_t x_t + b with free scores s, one for each position

A linear form suffices, as a conjunction is a half-space; but training that is invariant under
rotations of the words cannot exploit sparsity in the coordinates, whereas a penalty or softmax can.

For any learner, m labels contain at most m·h(2^{−k}) nats of information about which of the C(T, k)
conjunctions generated them, so success probability p requires p ln C(T, k) ≤ m h(2^{−k}) + h(p)
(Fano; `least_samples`).
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

MOST_CHOSEN = 10**4  # C(T, k) is computed exactly if k or T − k is at most this

STEPS, RATE, RATE_OUT = (
    700,
    0.05,
    0.2,
)  # Adam: steps, rate of s, rate of a and b
SCALE, BIAS = 20.0, -16.0  # initial a and b: 20·z − 16 > 0 for z > 0.8
BETAS, EPSILON = (0.9, 0.999), 1e-8


class Conjunction(NamedTuple):
    """T bits, and the positions that must all be 1."""

    T: int
    positions: tuple[int, ...]

    def labels(self, words: np.ndarray) -> np.ndarray:
        """The labels (…,) of words (…, T) of 0 and 1; raises `ValueError` for others.

        Words may be shorter if they contain all positions.
        """
        array = read(Bits, "words", words)
        if array.shape[-1] <= max(self.positions):
            raise InputError(f"words have shape {array.shape}: give (…, {self.T})")
        return np.asarray(array[..., list(self.positions)].min(axis=-1))


@checked
def random_conjunction(
    T: Annotated[Count, Within(most=10**8)], k: Chosen, seed: Seed
) -> Conjunction:
    """A conjunction of k of T positions, drawn uniformly."""
    rng = np.random.default_rng(seed)
    return Conjunction(T, tuple(sorted(rng.permutation(T)[:k].tolist())))


@checked
def balanced_accuracy(scores: Annotated[Any, Reals("n")], labels: BitLabels) -> float:
    """The mean of the accuracies on labels 1 and labels 0; scores and labels have shape (n,).

    Raises `ValueError` unless both labels occur.
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
    """The AND of the bits that are 1 in all positive examples; without any, the AND of all bits."""
    common = words[labels == 1].min(axis=0, initial=1) == 1
    return lambda words: _to_score(words, len(common))[:, common].min(axis=1, initial=1) - 0.5


@checked
def false_bits(T: Counted, k: Chosen, samples: Annotated[Steps, Within(most=10**15)]) -> float:
    """The mean number (T − k)(1 − 2^{−k−1})^m of false bits that elimination leaves."""
    return (T - k) * (1 - 2.0 ** -(k + 1)) ** samples


@checked
def logistic(words: BitWords, labels: BitLabels) -> Scores:
    """Unpenalised class-balanced logistic regression, by L-BFGS from 0."""
    x = 2.0 * words - 1
    found = minimize(_loss, np.zeros(x.shape[1] + 1), (x, labels), "L-BFGS-B", jac=True).x
    return _linear(found)


@checked
def l1_logistic(words: BitWords, labels: BitLabels, penalty: NonNegative) -> Scores:
    """Class-balanced logistic regression with the penalty λ Σ|w|, w = w⁺ − w⁻ with w± ≥ 0."""
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
    """The linear form (w⁺ − w⁻, b)."""
    return np.append(parts[:T] - parts[T:-1], parts[-1])


def _loss(form: np.ndarray, x: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """The class-balanced logistic loss of (w, b) on x (m, T), and its gradient (T + 1,)."""
    sign, weight = 2.0 * labels - 1, _balanced(labels)
    z = sign * (x @ form[:-1] + form[-1])
    pull = -weight * sign * expit(-z)
    return float(-(weight * log_expit(z)).sum()), np.append(x.T @ pull, pull.sum())


def _linear(form: np.ndarray) -> Scores:
    """The scores ⟨w, x⟩ + b of words x as −1 and 1."""
    return lambda words: (2.0 * _to_score(words, len(form) - 1) - 1) @ form[:-1] + form[-1]


@checked
def attention(words: BitWords, labels: BitLabels) -> Scores:
    """A head with free scores of positions, fitted to the class-balanced loss by Adam."""
    s, a, b = attention_parameters(words, labels)
    return lambda words: a * (_to_score(words, len(s)) @ softmax(s)) + b


@checked
def attention_parameters(words: BitWords, labels: BitLabels) -> tuple[np.ndarray, float, float]:
    """The scores s (T,), a and b of `attention`."""
    x, y, weight = words.astype(np.float64), labels.astype(np.float64), _balanced(labels)
    T = x.shape[1]
    theta = np.concatenate([np.zeros(T), [SCALE, BIAS]])
    rates = np.concatenate([np.full(T, RATE), [RATE_OUT, RATE_OUT]])
    mean, square = np.zeros(T + 2), np.zeros(T + 2)
    for step in range(1, STEPS + 1):
        alpha = softmax(theta[:T])
        z = x @ alpha
        pull = weight * (expit(theta[T] * z + theta[T + 1]) - y)
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
    """The binary entropy h(p) = −p ln p − (1 − p) ln(1 − p) in nats, 0 at 0 and 1."""
    return -sum(x * math.log(x) for x in (p, 1 - p) if x)


@checked
def log_choices(T: Counted, k: Chosen) -> float:
    """The logarithm of C(T, k); raises `ValueError` unless k or T − k is at most 10^4."""
    if min(k, T - k) > MOST_CHOSEN:
        raise InputError(f"k is {k} and T is {T}: give k or T − k ≤ {MOST_CHOSEN}")
    return math.log(math.comb(T, k))


@checked
def least_samples(
    T: Counted, k: Annotated[Count, Within(most=1000)], probability: Probability = 1.0
) -> int:
    """The smallest m ≥ (p ln C(T, k) − h(p))/h(2^{−k}), Fano's bound on the samples of any learner.

    With fewer samples no learner finds a random conjunction with probability p.  Raises
    `ValueError` for k > T.
    """
    p = probability
    information = p * log_choices(T, k) - binary_entropy(p)
    return max(0, math.ceil(information / binary_entropy(2.0**-k)))


@checked
def greatest_probability(
    T: Counted, k: Annotated[Count, Within(most=1000)], samples: Steps
) -> float:
    """The largest success probability, to a thousandth, that Fano's bound allows from m samples."""
    grid = np.arange(0, 1001) / 1000
    return float(max(p for p in grid if least_samples(T, k, float(p)) <= samples))
