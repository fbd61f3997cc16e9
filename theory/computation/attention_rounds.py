"""An attention head in rounds of massively parallel computation (MPC), and how many they are.

N² machines (i, j); in a round each sends at most f messages and receives at most f. Token i is at
home at machine (i, i). With D = ⌈log_f N⌉,

    1 … D        (i, i) spreads its query to all (i, j), by a tree of fan-out f
    D+1 … 2D     (j, j) spreads its key and value to all (i, j)
    2D+1 … 3D    machine (i, j), which has the score s_ij and the value v_j, sends
                 (m, Z, z) = (s_ij, 1, v_j) up a tree of fan-in f to (i, i), where
                     m = max m_k,   Z = Σ_k b^(m_k − m) Z_k,   z = Σ_k b^(m_k − m) z_k

and z/Z is what the head brings to token i: softmax to the base b, which is exact for whole scores
and a whole b, or hardmax, b = ∞. What a mask hides is left out of the last part. So a head takes 3D
rounds, whatever its scores are; a message is a query, a key and a value, or a value and two
numbers. Heads may share rounds in longer messages, and an MLP takes none: it is local.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from theory.computation.kinds import Fan
from theory.computation.prefix_sums import tree_depth
from theory.kinds import Count, CountFrom2, Exact, InputError, checked

Machine = tuple[int, int]
Rows: TypeAlias = Sequence[Sequence[Exact]]
MOST_MACHINES = 10**5


class Share(NamedTuple):
    """(m, Z, z): the largest score, and the sums of weights and of weighted values beside it."""

    largest: Fraction | int
    weight: Fraction
    values: tuple[Fraction, ...]


@dataclass
class Cluster:
    """Machines that exchange messages in rounds, at most `fan` from each and to each.

    It counts the rounds, and the most messages that one machine has had in one.
    """

    fan: int
    rounds: int = 0
    busiest: int = 0

    def exchange(
        self, messages: Iterable[tuple[Machine, Machine, Any]]
    ) -> dict[Machine, list[Any]]:
        """One round of (from, to, what): what has come to each machine.

        Raises `ValueError` if a machine sends or receives more than `fan`.
        """
        sent, come = Counter[Machine](), dict[Machine, list[Any]]()
        for source, target, what in messages:
            sent[source] += 1
            come.setdefault(target, []).append(what)
        self.rounds += 1
        self.busiest = max([self.busiest, *sent.values(), *map(len, come.values())])
        if self.busiest > self.fan:
            raise InputError(f"a machine has {self.busiest} messages in a round: fan-in {self.fan}")
        return come

    def spread(self, held: dict[int, Any], at: Callable[[int, int], Machine], N: int) -> list[Any]:
        """What each row has goes from its place 0 to all its N places; rows[row][place]."""
        memory = {at(row, 0): what for row, what in held.items()}
        for level in range(tree_depth(N, self.fan)):
            # Place k < f^level has it, and sends it to k + f^level, …, k + (f − 1)f^level.
            width = self.fan**level
            come = self.exchange(
                (at(row, k), at(row, child), memory[at(row, k)])
                for row in held
                for k in range(min(width, N))
                for child in range(k + width, min(N, self.fan * width), width)
            )
            memory |= {machine: what for machine, (what,) in come.items()}
        return [[memory[at(row, place)] for place in range(N)] for row in held]

    def gather(
        self, held: dict[Machine, Any], at: Callable[[int, int], Machine], N: int, join: Any
    ) -> list[Any]:
        """What each row's N places have comes together at its place 0, joined in any order."""
        memory, depth = dict(held), tree_depth(N, self.fan)
        for level in reversed(range(depth)):
            width = self.fan**level
            come = self.exchange(
                (at(row, child), at(row, k), memory[at(row, child)])
                for row in range(N)
                for k in range(min(width, N))
                for child in range(k + width, min(N, self.fan * width), width)
            )
            for machine, parts in come.items():
                memory[machine] = join([memory[machine], *parts])
        return [memory[at(row, 0)] for row in range(N)]


@checked
def attention_in_rounds(
    Q: Rows,
    K: Rows,
    V: Rows,
    seen: Sequence[Sequence[bool]],
    fan: Fan,
    base: CountFrom2 | None = None,
) -> tuple[list[list[Fraction]], Cluster]:
    """The outputs (N, d_value) of a head at its N tokens, and the cluster that has computed them.

    Queries and keys (N, d), values (N, d_value); token i sees token j where seen[i][j]. Scores are
    ⟨q_i, k_j⟩, and weights base^score, or hardmax for no base. Raises `ValueError` for shapes that
    do not fit, scores that are not integers beside a base, a token that sees none, and for
    more than 10⁵ machines.
    """
    N = len(Q)
    d, d_value = (len(next(iter(rows), ())) for rows in (Q, V))
    for name, rows, width in (("Q", Q, d), ("K", K, d), ("V", V, d_value), ("seen", seen, N)):
        if len(rows) != N or not N or any(len(row) != width for row in rows):
            raise InputError(f"{name} is not of shape ({N}, {width}): give a row for each token")
    if N * N > MOST_MACHINES:
        raise InputError(f"{N} tokens take {N * N} machines: give at most {MOST_MACHINES} of them")
    if not all(any(row) for row in seen):
        raise InputError("seen has a token that sees none: it has nothing to average")

    def along_row(i: int, place: int) -> Machine:
        return i, (i + place) % N

    def along_column(j: int, place: int) -> Machine:
        return (j + place) % N, j

    cluster = Cluster(fan)
    asks = cluster.spread(dict(enumerate(Q)), along_row, N)
    offers = cluster.spread(dict(enumerate(zip(K, V, strict=True))), along_column, N)
    shares = dict[Machine, Share | None]()
    for i in range(N):
        for place in range(N):
            _, j = along_row(i, place)
            k, v = offers[j][(i - j) % N]
            score = sum((a * b for a, b in zip(asks[i][place], k, strict=True)), start=Fraction(0))
            if base is not None and score.denominator != 1:
                raise InputError(f"a score is {score}: give whole ones, or no base")
            share = Share(score, Fraction(1), tuple(map(Fraction, v)))
            shares[i, j] = share if seen[i][j] else None
    whole = cluster.gather(shares, along_row, N, lambda parts: joined(parts, base))
    return [[z / share.weight for z in share.values] for share in whole], cluster


def joined(parts: Sequence[Share | None], base: int | None) -> Share | None:
    """(m, Z, z) of several, those that are hidden left out."""
    shown = [part for part in parts if part is not None]
    if not shown:
        return None
    largest = max(part.largest for part in shown)
    scales = [_power(base, part.largest - largest) for part in shown]
    columns = zip(*(part.values for part in shown), strict=True)
    return Share(
        largest,
        sum((a * p.weight for a, p in zip(scales, shown, strict=True)), start=Fraction(0)),
        tuple(sum((a * z for a, z in zip(scales, c, strict=True)), Fraction(0)) for c in columns),
    )


def attention_by_definition(
    Q: Rows, K: Rows, V: Rows, seen: Sequence[Sequence[bool]], base: int | None = None
) -> list[list[Fraction]]:
    """Σ_j w_ij v_j/Σ_j w_ij with w_ij = base^s_ij, or 1 at the largest scores and 0 elsewhere."""
    found = []
    for q, row in zip(Q, seen, strict=True):
        kept = [j for j, visible in enumerate(row) if visible]
        scores = [sum(Fraction(a) * b for a, b in zip(q, K[j], strict=True)) for j in kept]
        weights = [_power(base, Fraction(score - max(scores))) for score in scores]
        total = sum(weights)
        columns = zip(*(V[j] for j in kept), strict=True)
        found.append(
            [sum(w * v for w, v in zip(weights, column, strict=True)) / total for column in columns]
        )
    return found


def _power(base: int | None, exponent: Fraction | int) -> Fraction:
    """base^exponent for exponents that are at most 0; for base = ∞, 1 at 0 and 0 below."""
    return Fraction(exponent == 0) if base is None else Fraction(base) ** int(exponent)


@checked
def rounds_of_a_layer(tokens: Count, fan: Fan) -> int:
    """3⌈log_f N⌉."""
    return 3 * tree_depth(tokens, fan)
