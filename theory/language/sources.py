"""Hidden Markov sources over the rationals, with exact conditional entropies.

A source emits symbols X_1, X_2, …, and h_t = H(X_t|X_<t) is the entropy of X_t given the past.

    CE_t = h_t + KL_t                      the loss of a predictor at t: entropy plus divergence
    H(X_t|last N symbols) − h_t = h_{N+1} − h_t    the cost of a window of N, if stationary

If the source is stationary, h_t decreases to the entropy rate, since
H(X_t|X_<t) ≤ H(X_t|X_2 … X_{t−1}) = h_{t−1}.

X_t depends on the past only through the belief, which is the distribution of the state given the
past.  So h_t is the mean, over beliefs, of the entropy of the next symbol, and words that lead to
the same belief are merged.  The even process has the entropy rate ⅔ ln 2: state A, of probability
⅔, emits one of two symbols with probability ½ each, and state B emits one symbol with certainty
(`entropy_rate`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated, TypeAlias

from theory.kinds import Count, Exact, InputError, Steps, Within, checked
from theory.language.distributions import Distribution, distribution
from theory.language.logs import Log, entropy

MOST = 10**5  # largest number of words enumerated
BELIEFS = 10**4  # largest number of different beliefs
Time: TypeAlias = Annotated[Count, Within(most=200)]
"""An integer from 1 to 200: the time of a symbol."""
Window: TypeAlias = Annotated[Steps, Within(below="t")]
"""An integer from 0 to t − 1."""


@dataclass(frozen=True)
class Source:
    """A hidden Markov source: steps[v][i][j] = P(symbol v, next state j | state i).

    P is the joint probability of the symbol that is emitted and of the next state.  `start` is the
    distribution of the first state.  The fields are not checked: `source` checks them.
    """

    start: tuple[Fraction, ...]
    steps: tuple[tuple[tuple[Fraction, ...], ...], ...]

    @checked
    def moved(self, state: Sequence[Exact], symbol: Steps) -> tuple[Fraction, ...]:
        """The joint probabilities of the given symbol and each next state, under a belief.

        `state` is the belief: the distribution of the present state.  Raises `ValueError` for a
        belief over another number of states, and for a symbol that the source does not know.
        """
        if len(state) != len(self.start):
            raise InputError(
                f"state has {len(state)} entries: give a probability for each of the "
                f"{len(self.start)} states"
            )
        if symbol >= len(self.steps):
            raise InputError(f"symbol is {symbol}: give a symbol from 0 to {len(self.steps) - 1}")
        T, states = self.steps[symbol], range(len(state))
        return tuple(sum((state[i] * T[i][j] for i in states), start=Fraction(0)) for j in states)

    @property
    def is_stationary(self) -> bool:
        """Whether the distribution of the first state is stationary."""
        after = [self.moved(self.start, v) for v in range(len(self.steps))]
        return tuple(map(sum, zip(*after, strict=True))) == self.start

    @checked
    def probability(self, word: Iterable[Steps]) -> Fraction:
        """The probability that the first symbols that the source emits are `word`.

        Raises `ValueError` for symbols that the source does not know.
        """
        state, known = self.start, len(self.steps)
        for symbol in word:
            if symbol >= known:
                raise InputError(f"word contains {symbol}: give symbols from 0 to {known - 1}")
            state = self.moved(state, symbol)
        return sum(state, start=Fraction(0))


@checked
def source(start: Distribution, steps: Sequence[Sequence[Sequence[Exact]]]) -> Source:
    """The hidden Markov source with the given transitions and distribution of the first state.

    The source has S hidden states, and `start` (S,) is the distribution of the first state.
    steps[v][i][j] is the joint probability of the symbol v and the next state j from the state i.
    Raises `ValueError` unless the probabilities from each state sum to 1.
    """
    S = len(start)
    if not steps or any(len(T) != S or any(len(row) != S for row in T) for T in steps):
        raise InputError(
            f"`steps` does not fit the {S} states of `start`: give `steps` with a {S} by {S} table "
            "for each symbol"
        )
    for state in range(S):
        distribution(f"the distribution out of state {state}", [c for T in steps for c in T[state]])
    return Source(start, tuple(tuple(tuple(map(Fraction, row)) for row in T) for T in steps))


@checked
def even_process() -> Source:
    """The even process: a stationary source in which each run of 1s between two 0s has even length.

    State A emits 0 and stays, or emits 1 and moves to B, with probability ½ each.  State B emits 1
    and moves to A.  The stationary probabilities of A and B are ⅔ and ⅓.  For every w, the last w
    symbols do not always determine the state.
    """
    half = Fraction(1, 2)
    zero, one = ((half, 0), (0, 0)), ((0, half), (1, 0))
    return source((Fraction(2, 3), Fraction(1, 3)), (zero, one))


@checked
def conditional_entropy(source: Source, t: Time) -> Log:
    """The entropy H(X_t|X_1 … X_{t−1}) of symbol X_t given the earlier symbols, exactly.

    The symbols X_1, X_2, … are those of the source.  A word of t − 1 symbols determines a belief,
    the distribution of the hidden state given the word.  The result is the mean, over the random
    beliefs, of the entropy of the next symbol under the belief.  Raises `ValueError` for more than
    10^4 beliefs.
    """
    beliefs = {source.start: Fraction(1)}  # belief → probability
    for _ in range(t - 1):
        after = defaultdict[tuple[Fraction, ...], Fraction](Fraction)
        for belief, weight in beliefs.items():
            for symbol in range(len(source.steps)):
                moved = source.moved(belief, symbol)
                if total := sum(moved):
                    after[tuple(each / total for each in moved)] += weight * total
        beliefs = after
        if len(beliefs) > BELIEFS:
            raise InputError(
                f"t is {t}, which leads to over {BELIEFS} beliefs (distributions on states): give "
                "a smaller t"
            )
    symbols = range(len(source.steps))
    following = ([sum(source.moved(belief, v)) for v in symbols] for belief in beliefs)
    return sum(
        (weight * entropy(p) for weight, p in zip(beliefs.values(), following, strict=True)),
        start=Log(),
    )


@checked
def window_cost(source: Source, t: Time, window: Window) -> Log:
    """The increase of the loss if symbol t is predicted from only the last `window` symbols.

    The loss is the entropy of symbol X_t of the source given the symbols that the predictor reads.
    The increase is H(X_t|X_{t−window} … X_{t−1}) − H(X_t|X_1 … X_{t−1}), exactly.  Raises
    `ValueError` for a source that is not stationary.
    """
    _check_stationary(source)
    return conditional_entropy(source, window + 1) - conditional_entropy(source, t)


@checked
def window_entropy_by_definition(source: Source, t: Count, window: Window) -> Log:
    """The entropy H(X_t|X_{t−window} … X_{t−1}) of symbol X_t given the last `window` symbols.

    X_1, X_2, … are the symbols of the source.  The entropy is computed by definition, as a sum over
    all words of t symbols.  Raises `ValueError` for more than 10^5 words.
    """
    from itertools import product

    V = len(source.steps)
    if t > 20 or V**t > MOST:
        raise InputError(
            f"t is {t}, and there are {V}^{t} words: give a smaller t, for at most {MOST} words"
        )
    seen = defaultdict[tuple[int, ...], Fraction](Fraction)
    for word in product(range(V), repeat=t):
        seen[word[t - 1 - window :]] += source.probability(word)
    contexts = defaultdict[tuple[int, ...], Fraction](Fraction)
    for word, weight in seen.items():
        contexts[word[:-1]] += weight
    return entropy(seen.values()) - entropy(contexts.values())


@checked
def entropy_rate(source: Source) -> Log:
    """The entropy rate of a stationary source in which state and symbol determine the next state.

    The rate is Σ_i π_i H(next symbol|state i), exactly, where π is the stationary distribution of
    the hidden states and H is the entropy.  Proof: The first state and the past symbols determine
    the present state.  The first state has an entropy of at most the logarithm of the number of
    states, so it does not change the rate.  Raises `ValueError` if the source is not stationary, or
    if the state and the symbol do not determine the next state.
    """
    if any(sum(map(bool, row)) > 1 for T in source.steps for row in T):
        raise InputError(
            "source is not unifilar: give a source whose state and symbol determine the next state"
        )
    _check_stationary(source)
    each = ([sum(T[i]) for T in source.steps] for i in range(len(source.start)))
    return sum((pi * entropy(p) for pi, p in zip(source.start, each, strict=True)), start=Log())


def _check_stationary(source: Source) -> None:
    if not source.is_stationary:
        raise InputError(
            "source is not stationary: give a source whose `start` is its stationary distribution"
        )
