"""The claim `retrieval-profiles`: the exact influence of each token on retrieval models.

The fractions are counts over all V^n sequences.  For V = 2 the induction head has influence 1 at
the last position but one.  Let a be the last token and b the other symbol.  If the token before the
last is a, the latest match is the last token, and the prediction is a.  If the token before the
last is b, let p be the latest earlier position of a, so that all tokens from p + 1 to n − 1 are b;
the prediction is the token after p, which is b, or ⊥ if there is no such p.  So the prediction is a
iff the token before the last is a, and a flip of it always changes the prediction.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache, partial
from itertools import pairwise
from typing import Any

import numpy as np

import constructions
from theory.retrieval import (
    hop,
    hop_by_definition,
    previous_token,
    previous_token_by_definition,
    token_frequencies,
    token_frequencies_by_definition,
)
from theory.sensitivity import (
    change_when_redrawn,
    change_when_redrawn_by_definition,
    efron_stein_weights,
    forced_profile,
    forced_profile_by_definition,
    hybrid_bound,
    redrawn_profile,
)
from theory.sequences import all_sequences
from verify.claim import Run, claim
from verify.evidence.sequences import answers_equal
from verify.evidence.statement import OverTokens
from verify.finding import Finding, as_stated, labelled, same

SIZES = (2, 8), (3, 7), (4, 6)
STATED = {
    "hop 1": "71/512 185/567 211/512",
    "hop 2": "101/512 100/243 1127/3072",
    "hop 3": "73/256 578/1701 341/1536",
    "previous token": "1/8 1/7 1/6",
    "most frequent": "35/128 250/729 195/512",
}
DELTAS = Fraction(1, 20), Fraction(1, 4), Fraction(1, 2), Fraction(1)
PAIRS = 3, 4  # V and n for which all pairs of sequences are enumerated
LONGEST = 10  # largest length of sequences of two symbols


@claim(
    picture="verify.sensitivity.retrieval_profiles_picture:draw",
    faults_seen=[{}],
)
def retrieval_profiles(run: Run) -> Iterator[Finding]:
    """The sensitivity of retrieval models to each input token, on all V^n sequences.

    The sequences have n tokens over V symbols. At the last token, one model predicts the previous
    token, and another model predicts the most frequent token. Three models predict the symbol after
    1, 2 or 3 hops, or ⊥ (no answer) if a hop finds no match. A hop goes from a token to the token
    after its latest earlier occurrence. The influence of a position is the probability that the
    prediction changes when the token at this position is replaced by a uniform symbol that differs
    from the token. Sens is the mean influence over positions. For example, Sens of the induction
    head (1 hop) is 71/512, 185/567 and 211/512 at (V, n) = (2, 8), (3, 7) and (4, 6).

    Now let a token be redrawn, that is, replaced by a uniform symbol, which may equal the token.
    The mean influence of redrawn tokens, computed by definition, equals the mean computed by the
    Efron–Stein decomposition. If each token is independently redrawn with probability δ, the
    prediction changes with probability at most δ·n times this mean. At V = 4 and n = 6, the
    influence on the induction head rises from position to position, although no weight was learned.
    For V = 2, the influence of the last position but one on the induction head is 1.
    """
    drawn = dict[tuple[int, int], dict[str, list[Fraction]]]()
    for place, (V, n) in enumerate(SIZES[:1] if run.quick else SIZES):
        rows = all_sequences(n, V)
        for name, statement in models(run).items():
            model = statement.at(V, n).model
            values = last_values(statement, V, n)
            found = [
                answers_equal(
                    "answers",
                    f"predictions, compared with the definition of the task, all {V}^{n} sequences",
                    statement,
                    [(model, rows)],
                ),
                _profile(values, V, n, name),
                _stated(values, V, STATED[name].split()[place]),
                *_decomposed(values, V),
            ]
            yield from labelled(f"V={V} n={n}/{name}", found)
            drawn.setdefault((V, n), {})[name] = forced_profile(values, V)
    yield _chance(run)
    yield _last_but_one(run)
    yield _recency(run)
    run.draw(drawn)


def models(run: Run) -> dict[str, OverTokens]:
    """The statements about the models, by name: a model for each size, and its specification."""

    def made(name: str, build: Any, values: Any) -> OverTokens:
        return OverTokens(name, partial(run.build, build), values)

    hops = {
        f"hop {k}": made(f"hop {k}", partial(constructions.hop, k), partial(hop, k=k))
        for k in (1, 2, 3)
    }
    return hops | {
        "previous token": made("previous token", constructions.previous_token, previous_token),
        "most frequent": made("most frequent", constructions.broad_average, most_frequent),
    }


def most_frequent(tokens: np.ndarray) -> np.ndarray:
    """The most frequent token so far, at each position; in a tie, the smallest such token."""
    return token_frequencies(tokens, int(tokens.max()) + 1).argmax(-1)


def _most(row: tuple[int, ...]) -> int:
    """The most frequent token of a sequence, by definition."""
    frequencies = token_frequencies_by_definition(row, max(row) + 1)[-1]
    return frequencies.index(max(frequencies))


DEFINITIONS: dict[str, Callable[[tuple[int, ...]], int]] = {
    "hop 1": lambda row: hop_by_definition(row, 1)[-1],
    "hop 2": lambda row: hop_by_definition(row, 2)[-1],
    "hop 3": lambda row: hop_by_definition(row, 3)[-1],
    "previous token": lambda row: previous_token_by_definition(row)[-1],
    "most frequent": _most,
}


def last_values(statement: OverTokens, V: int, n: int) -> np.ndarray:
    """The model's predictions at the last token of all sequences, (V^n,)."""
    return statement.at(V, n).model(all_sequences(n, V))[..., -1].numpy()


def _profile(values: np.ndarray, V: int, n: int, name: str) -> Finding:
    found, wanted = forced_profile(values, V), brute_force(V, n, name)
    return same(
        "profile",
        "influence of each position on the model's prediction, compared with the influence by the "
        "definition of the task",
        [str(each) for each in found],
        [str(each) for each in wanted],
        words="equal; from the first position to the last, the influence is "
        + ", ".join(f"{float(each):.3f}" for each in found),
        wanted="equal",
    )


@cache
def brute_force(V: int, n: int, name: str) -> tuple[Fraction, ...]:
    """The influence of each position by the definition of the task `name`.

    The influences are counted over all sequences of n tokens over V symbols. They are cached,
    because they do not depend on the model.
    """
    return (*forced_profile_by_definition(DEFINITIONS[name], V, n),)


def _stated(values: np.ndarray, V: int, wanted: str) -> Finding:
    profile = forced_profile(values, V)
    mean = sum(profile, start=Fraction(0)) / len(profile)
    name = (
        "Sens, the mean over positions of the probability that the prediction changes if the token "
        "at the position is replaced by a different token"
    )
    return same("sens", name, str(mean), wanted, words=str(mean), wanted=wanted)


def _decomposed(values: np.ndarray, V: int) -> Iterator[Finding]:
    weights, profile = efron_stein_weights(values, V), redrawn_profile(values, V)
    total = sum(profile, start=Fraction(0))
    yield same(
        "efron-stein",
        "sums Σ |S|·‖e^S‖² and Σ ‖e^S‖² of the Efron–Stein weights over all sets S of positions",
        [str(sum(k * weight for k, weight in enumerate(weights))), str(sum(weights))],
        [str(total), "1"],
        words=f"{total} and 1",
        wanted=f"n·Sens = {total}, where Sens is counted for tokens replaced by a uniform symbol, "
        "and 1",
    )
    probabilities = [change_when_redrawn(values, V, delta) for delta in DELTAS]
    bounds = [hybrid_bound(values, V, delta) for delta in DELTAS]
    holds = sum(
        bool(probability <= bound) for probability, bound in zip(probabilities, bounds, strict=True)
    )
    found = same(
        "hybrid",
        "probability that the prediction changes if each token is replaced by a uniform symbol "
        f"with probability δ, for δ = {', '.join(map(str, DELTAS))}",
        holds,
        len(DELTAS),
        evidence="exact",
        words=f"{', '.join(f'{float(each):.3f}' for each in probabilities)}",
        wanted=f"at most δ·n·Sens = {', '.join(map(_bound, bounds))}, where Sens is for one token "
        "replaced by a uniform symbol",
    )
    changes = sum(k * weight for k, weight in enumerate(weights))
    yield as_stated(found, bounds, [delta * changes for delta in DELTAS])


def _bound(bound: Fraction) -> str:
    return f"{float(bound):.3f}" + " (vacuous)" * (bound >= 1)


def _chance(run: Run) -> Finding:
    """The probability of a change by the Efron–Stein parts compared with all pairs of sequences."""
    V, n = PAIRS
    values = last_values(models(run)["hop 1"], V, n)
    found = [change_when_redrawn(values, V, delta) for delta in DELTAS]
    wanted = [change_when_redrawn_by_definition(values, V, delta) for delta in DELTAS]
    return same(
        "probability",
        "probability that the prediction of the induction head changes if each token is replaced "
        "by a uniform symbol with probability δ, by the Efron–Stein weights, compared with a sum "
        f"over all pairs of sequences of {n} tokens over {V} symbols",
        [str(each) for each in found],
        [str(each) for each in wanted],
        words="equal for each δ; the probability is "
        + ", ".join(f"{float(each):.3f} at δ = {x}" for each, x in zip(found, DELTAS, strict=True)),
        wanted="equal",
    )


def _last_but_one(run: Run) -> Finding:
    """For V = 2 the prediction is the last symbol iff the token before it is the same."""
    statement = models(run)["hop 1"]
    lengths = range(2, (6 if run.quick else LONGEST) + 1)
    found = {n: last_but_one(last_values(statement, 2, n)) for n in lengths}
    return same(
        "two-symbols",
        "influence of the token before the last on the prediction of the induction head, for n = "
        f"{lengths[0]}, …, {lengths[-1]} tokens over 2 symbols",
        {f"n={n}": str(each) for n, each in found.items()},
        {f"n={n}": "1" for n in found},
        words=", ".join(map(str, found.values())),
        wanted="1 for every n",
    )


def last_but_one(values: np.ndarray) -> Fraction:
    """The influence of the token before the last on a function of n tokens over two symbols.

    `values` (2^n,) is the table of the function.
    """
    return forced_profile(values, 2)[-2]


def _recency(run: Run) -> Finding:
    """The influence on the induction head increases from position to position."""
    profile = forced_profile(last_values(models(run)["hop 1"], 4, 6), 4)
    return same(
        "recency",
        "influence of each position on the prediction of the induction head, from the first to the "
        "last of 6 tokens over 4 symbols",
        rises(profile),
        len(profile) - 1,
        evidence="exact",
        words=" < ".join(f"{float(each):.3f}" for each in profile),
        wanted="increasing",
    )


def rises(profile: list[Fraction]) -> int:
    """The number of positions with less influence than the next position."""
    return sum(bool(a < b) for a, b in pairwise(profile))
