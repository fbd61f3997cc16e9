"""Sources whose next symbol is predicted exactly: hidden Markov sources over the rationals.

    CE_t = H(X_t|X_<t) + KL_t          the loss of any predictor at t; the first part is the source
    a window of N loses H(X_t|last N) − H(X_t|all) = h_{N+1} − h_t      of a stationary source

with h_t = H(X_t|X_<t), which decreases to the entropy rate if the source is stationary, as
H(X_t|X_<t) ≤ H(X_t|X_2 … X_{t−1}) = h_{t−1}.  X_t depends on the past only through the belief, the
distribution of the state given the past: h_t is the mean of the entropy of the next symbol over
beliefs, and words that lead to the same belief are taken together.  The even process has the rate
⅔ ln 2: state A, of probability ⅔, emits one of two symbols with ½ each, and state B a certain one
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

MOST = 10**5  # words that all are enumerated
BELIEFS = 10**4  # laws of the state that words lead to
Time: TypeAlias = Annotated[Count, Within(most=200)]
"""An integer from 1 to 200: the place of a symbol."""
Window: TypeAlias = Annotated[Steps, Within(below="t")]
"""An integer from 0, below t."""


@dataclass(frozen=True)
class Source:
    """From state i, the symbol v and the next state j have the probability steps[v][i][j];
    `start` is the distribution of the first state."""

    start: tuple[Fraction, ...]
    steps: tuple[tuple[tuple[Fraction, ...], ...], ...]

    def moved(self, law: Sequence[Fraction], symbol: int) -> tuple[Fraction, ...]:
        """law · T_v: the probability of the symbol, with each state after it."""
        T, states = self.steps[symbol], range(len(law))
        return tuple(sum((law[i] * T[i][j] for i in states), start=Fraction(0)) for j in states)

    @property
    def is_stationary(self) -> bool:
        """Whether the distribution of the state stays that of the first one."""
        after = [self.moved(self.start, v) for v in range(len(self.steps))]
        return tuple(map(sum, zip(*after, strict=True))) == self.start

    @checked
    def chance(self, word: Iterable[Steps]) -> Fraction:
        """P(X_1 … X_t = word); `ValueError` for what are no symbols of the source."""
        law, known = self.start, len(self.steps)
        for symbol in word:
            if symbol >= known:
                raise InputError(f"word contains {symbol}: give symbols from 0 to {known - 1}")
            law = self.moved(law, symbol)
        return sum(law, start=Fraction(0))


@checked
def source(start: Distribution, steps: Sequence[Sequence[Sequence[Exact]]]) -> Source:
    """A source from the distribution of its first state (S,) and probabilities (symbols, S, S).

    Raises `ValueError` unless what follows each state is a distribution.
    """
    S = len(start)
    if not steps or any(len(T) != S or any(len(row) != S for row in T) for T in steps):
        raise InputError(f"steps need a {S} by {S} table of chances for each symbol")
    for state in range(S):
        distribution(f"what follows state {state}", [c for T in steps for c in T[state]])
    return Source(start, tuple(tuple(tuple(map(Fraction, row)) for row in T) for T in steps))


@checked
def even_process() -> Source:
    """From A: 0 and stay, or 1 and go to B, ½ each; from B: 1, and back to A.  Runs of 1s between
    0s have even length: no finite window determines the state.  Stationary: ⅔ and ⅓."""
    half = Fraction(1, 2)
    zero, one = ((half, 0), (0, 0)), ((0, half), (1, 0))
    return source((Fraction(2, 3), Fraction(1, 3)), (zero, one))


@checked
def conditional_entropy(of: Source, t: Time) -> Log:
    """h_t = H(X_t|X_1 … X_{t−1}), t ≥ 1, by the beliefs that words of t − 1 symbols lead to.

    Raises `ValueError` for more than 10^4 beliefs.
    """
    laws = {of.start: Fraction(1)}  # belief → how likely
    for _ in range(t - 1):
        after = defaultdict[tuple[Fraction, ...], Fraction](Fraction)
        for law, weight in laws.items():
            for symbol in range(len(of.steps)):
                moved = of.moved(law, symbol)
                if chance := sum(moved):
                    after[tuple(each / chance for each in moved)] += weight * chance
        laws = after
        if len(laws) > BELIEFS:
            raise InputError(
                f"words of {t - 1} symbols lead to more than {BELIEFS} beliefs: give a smaller t"
            )
    symbols = range(len(of.steps))
    said = ([sum(of.moved(law, v)) for v in symbols] for law in laws)
    return sum(
        (weight * entropy(next_) for weight, next_ in zip(laws.values(), said, strict=True)),
        start=Log(),
    )


@checked
def window_cost(of: Source, t: Time, window: Window) -> Log:
    """H(X_t|last `window`) − H(X_t|all t − 1 before): what forgetting the rest costs at t.

    Raises `ValueError` for a source that is not stationary.
    """
    if not of.is_stationary:
        raise InputError("the source is not stationary: begin in its stationary law")
    return conditional_entropy(of, window + 1) - conditional_entropy(of, t)


@checked
def window_entropy_by_definition(of: Source, t: Count, window: Window) -> Log:
    """H(X_t|X_{t−window} … X_{t−1}), from the probabilities of all words of t symbols.

    Raises `ValueError` for more than 10^5 words.
    """
    from itertools import product

    V = len(of.steps)
    if t > 20 or V**t > MOST:
        raise InputError(f"t is {t}, of {V}^{t} words, all gone through: give at most {MOST}")
    seen = defaultdict[tuple[int, ...], Fraction](Fraction)
    for word in product(range(V), repeat=t):
        seen[word[t - 1 - window :]] += of.chance(word)
    contexts = defaultdict[tuple[int, ...], Fraction](Fraction)
    for word, chance in seen.items():
        contexts[word[:-1]] += chance
    return entropy(seen.values()) - entropy(contexts.values())


@checked
def entropy_rate(of: Source) -> Log:
    """lim h_t of a stationary source whose symbols tell the next state: Σ_i π_i H(symbol|state i).

    With the first state, the past tells the present one; and that state is worth at most ln S nats
    in all.  Raises `ValueError` for a source in which a state and a symbol leave the next state
    open, and for one that is not stationary.
    """
    if any(sum(map(bool, row)) > 1 for T in of.steps for row in T):
        raise InputError("a state and a symbol leave the next state open: there is no such formula")
    if not of.is_stationary:
        raise InputError("the source is not stationary: begin in its stationary law")
    each = ([sum(T[i]) for T in of.steps] for i in range(len(of.start)))
    return sum((pi * entropy(p) for pi, p in zip(of.start, each, strict=True)), start=Log())
