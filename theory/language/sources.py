"""Sources whose next symbol is predicted exactly: hidden Markov sources with rational chances.

    CE_t = H(X_t|X_<t) + KL_t          the loss of any predictor at t; the first part is the source
    a window of N loses H(X_t|last N) − H(X_t|all) = h_{N+1} − h_t      of a stationary source

with h_t = H(X_t|X_<t).  The past counts only through the belief, the law of the state: words that
lead to one belief are gone through once.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from theory import checks
from theory.checks import InputError
from theory.language.distributions import Exact, distribution
from theory.language.logs import Log, entropy

MOST = 10**5  # words that all are enumerated
LONGEST, BELIEFS = 200, 10**4  # symbols, and laws of the state that they lead to


@dataclass(frozen=True)
class Source:
    """From state i, the symbol v and the next state j have the chance steps[v][i][j]; `start` is
    the law of the first state."""

    start: tuple[Fraction, ...]
    steps: tuple[tuple[tuple[Fraction, ...], ...], ...]

    def moved(self, law: Sequence[Fraction], symbol: int) -> tuple[Fraction, ...]:
        """law · T_v: the chance of the symbol, with each state after it."""
        T, states = self.steps[symbol], range(len(law))
        return tuple(sum((law[i] * T[i][j] for i in states), start=Fraction(0)) for j in states)

    @property
    def is_stationary(self) -> bool:
        """Whether the law of the state stays that of the first one."""
        after = [self.moved(self.start, v) for v in range(len(self.steps))]
        return tuple(map(sum, zip(*after, strict=True))) == self.start

    def chance(self, word: Iterable[int]) -> Fraction:
        """P(X_1 … X_t = word); `ValueError` for what are no symbols 0, 1, …"""
        law, known = self.start, len(self.steps)
        for symbol in checks.listed("word", word):
            if checks.step_count("a symbol", symbol) >= known:
                raise InputError(f"a symbol is {symbol}: give numbers from 0 to {known - 1}")
            law = self.moved(law, symbol)
        return sum(law, start=Fraction(0))


def source(start: Iterable[Exact], steps: Sequence[Sequence[Sequence[Exact]]]) -> Source:
    """A source from the law of its first state (S,) and chances (symbols, S, S).

    Raises `ValueError` unless start is a distribution and so is, from each state, what follows.
    """
    first = distribution("start", start)
    S, tables = len(first), checks.listed("steps", steps)
    rows = [checks.listed("steps", T) for T in tables]
    if not rows or any(len(T) != S or any(np.shape(row) != (S,) for row in T) for T in rows):
        raise InputError(f"steps need a {S} by {S} table of chances for each symbol")
    for state in range(S):
        distribution(f"what follows state {state}", [c for T in steps for c in T[state]])
    return Source(first, tuple(tuple(tuple(map(Fraction, row)) for row in T) for T in steps))


def as_source(of: Source) -> Source:
    """What was given; `ValueError` for what is no source."""
    return checks.instance("of", of, Source, "a source, such as even_process()")


def even_process() -> Source:
    """From A: 0 and stay, or 1 and go to B, ½ each; from B: 1, and back to A.  Runs of 1s between
    0s have even length: infinitely many pasts have to be told apart.  Stationary: ⅔ and ⅓."""
    half = Fraction(1, 2)
    zero, one = ((half, 0), (0, 0)), ((0, half), (1, 0))
    return source((Fraction(2, 3), Fraction(1, 3)), (zero, one))


def conditional_entropy(of: Source, t: int) -> Log:
    """h_t = H(X_t|X_1 … X_{t−1}), t ≥ 1, by the beliefs that words of t − 1 symbols lead to.

    Raises `ValueError` for what is no source, t above 200, and more than 10^4 beliefs.
    """
    t = checks.dimension("t", t, LONGEST)
    laws = {as_source(of).start: Fraction(1)}  # belief → how likely
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


def window_cost(of: Source, t: int, window: int) -> Log:
    """H(X_t|last `window`) − H(X_t|all t − 1 before): what forgetting the rest costs at t.

    Raises `ValueError` for a source that is not stationary, and for a window of t or more.
    """
    t, window = checks.dimension("t", t), checks.step_count("window", window)
    if not as_source(of).is_stationary:
        raise InputError("the source is not stationary: begin in its stationary law")
    if window >= t:
        raise InputError(f"the window is {window} and t is {t}: give one below t")
    return conditional_entropy(of, window + 1) - conditional_entropy(of, t)


def window_entropy_by_definition(of: Source, t: int, window: int) -> Log:
    """H(X_t|X_{t−window} … X_{t−1}), from the chances of all words of t symbols.

    Raises `ValueError` for a window of t or more, and for more than 10^5 words.
    """
    from itertools import product

    V, t = len(as_source(of).steps), checks.dimension("t", t)
    if t > 20 or V**t > MOST:
        raise InputError(f"there are {V}^{t} words, all gone through: give at most {MOST}")
    if checks.step_count("window", window) >= t:
        raise InputError(f"the window is {window} and t is {t}: give one below t")
    seen = defaultdict[tuple[int, ...], Fraction](Fraction)
    for word in product(range(V), repeat=t):
        seen[word[t - 1 - window :]] += of.chance(word)
    contexts = defaultdict[tuple[int, ...], Fraction](Fraction)
    for word, chance in seen.items():
        contexts[word[:-1]] += chance
    return entropy(seen.values()) - entropy(contexts.values())


def entropy_rate(of: Source) -> Log:
    """lim h_t of a stationary source whose symbols tell the next state: Σ_i π_i H(symbol|state i).

    With the first state, the past tells the present one; and that state is worth at most ln S nats
    in all.  Raises `ValueError` for a source in which a state and a symbol leave the next state
    open, and for one that is not stationary.
    """
    if any(sum(map(bool, row)) > 1 for T in as_source(of).steps for row in T):
        raise InputError("a state and a symbol leave the next state open: there is no such formula")
    if not of.is_stationary:
        raise InputError("the source is not stationary: begin in its stationary law")
    each = ([sum(T[i]) for T in of.steps] for i in range(len(of.start)))
    return sum((pi * entropy(p) for pi, p in zip(of.start, each, strict=True)), start=Log())
