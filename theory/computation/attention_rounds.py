"""An attention head in 3⌈log_f N⌉ rounds of massively parallel computation (MPC).

The head attends over N tokens.  There are N² machines (i, j), where i and j are tokens.  In a round
each machine sends at most f messages and receives at most f messages, where f ≥ 2 is the fan-in.
Machine (i, i) starts with the query q_i, key k_i and value v_i of token i.  With D = ⌈log_f N⌉, the
rounds are

    1 … D        (i, i) sends its query to all (i, j), by a tree of fan-out f
    D+1 … 2D     (j, j) sends its key and value to all (i, j)
    2D+1 … 3D    machine (i, j), which now has the score s_ij = ⟨q_i, k_j⟩ and the value v_j,
                 sends (m, Z, z) = (s_ij, 1, v_j) up a tree of fan-in f to (i, i); a node
                 of the tree combines the triples (m_k, Z_k, z_k) that it receives into
                     m = max m_k,   Z = Σ_k b^(m_k − m) Z_k,   z = Σ_k b^(m_k − m) z_k

The output of the head at token i is z/Z, for the triple that (i, i) has at the end.  The attention
is softmax to the base b, computed exactly for integer scores and an integer b.  For b = ∞ it is
average-hard attention.  If the mask hides token j from token i, machine (i, j) sends nothing in
rounds 2D+1 … 3D.  So a head takes 3D rounds for all scores.  A message consists of a query, or of a
key and a value, or of a triple.  Several heads take the same number of rounds, with longer
messages.  An MLP is local and takes no rounds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, TypeAlias

from theory.computation.kinds import FanIn
from theory.computation.prefix_sums import tree_depth
from theory.kinds import Count, CountFrom2, Exact, InputError, checked

Machine = tuple[int, int]
Rows: TypeAlias = Sequence[Sequence[Exact]]
MOST_MACHINES = 10**5


class PartialSum(NamedTuple):
    """The softmax sums over a set of tokens, relative to the largest score.

    For scores s_j and values v_j of the tokens j, and the base b of the softmax, `largest` is m =
    max_j s_j, `weight` is Z = Σ_j b^(s_j − m), and `values` is z = Σ_j b^(s_j − m) v_j.  All sums
    are over the tokens j of the set.
    """

    largest: Fraction | int
    weight: Fraction
    values: tuple[Fraction, ...]


@dataclass
class Cluster:
    """A cluster of machines that exchange messages in rounds, with bounded fan-in and fan-out.

    In a round each machine sends at most `fan_in` messages and receives at most `fan_in` messages.
    `rounds` is the number of rounds so far.  `busiest` is the largest number of messages that one
    machine has sent, or has received, in one round.
    """

    fan_in: int
    rounds: int = 0
    busiest: int = 0

    def exchange(
        self, messages: Iterable[tuple[Machine, Machine, Any]]
    ) -> dict[Machine, list[Any]]:
        """Runs one round of messages (from, to, content); returns the contents that arrive.

        Returns a dictionary from each machine that receives messages to the list of their contents.
        Raises `ValueError` if a machine sends more than `fan_in` messages or receives more than
        `fan_in`.
        """
        sent, received = Counter[Machine](), dict[Machine, list[Any]]()
        for source, target, content in messages:
            sent[source] += 1
            received.setdefault(target, []).append(content)
        self.rounds += 1
        self.busiest = max([self.busiest, *sent.values(), *map(len, received.values())])
        if self.busiest > self.fan_in:
            raise InputError(
                f"a machine sends or receives {self.busiest} messages in one round: send at most "
                f"{self.fan_in} messages from and to each machine"
            )
        return received

    def spread(self, rows: dict[int, Any], at: Callable[[int, int], Machine], N: int) -> list[Any]:
        """Sends the content at the first machine of each row of machines to the row, by a tree.

        The row with number `row` consists of the machines at(row, k), k = 0, …, N − 1, and `rows`
        maps its number to the content at the machine at(row, 0).  Returns a list for each row: the
        contents at the N machines.
        """
        memory = {at(row, 0): content for row, content in rows.items()}
        for level in range(tree_depth(N, self.fan_in)):
            # Place k < f^level sends the content to k + f^level, …, k + (f − 1)f^level.
            width = self.fan_in**level
            received = self.exchange(
                (at(row, k), at(row, child), memory[at(row, k)])
                for row in rows
                for k in range(min(width, N))
                for child in range(k + width, min(N, self.fan_in * width), width)
            )
            memory |= {machine: content for machine, (content,) in received.items()}
        return [[memory[at(row, place)] for place in range(N)] for row in rows]

    def gather(
        self, contents: dict[Machine, Any], at: Callable[[int, int], Machine], N: int, join: Any
    ) -> list[Any]:
        """Joins the contents of the machines of each row at the row's first machine, by a tree.

        There are N rows, and row i consists of the machines at(i, k), k = 0, …, N − 1.  `contents`
        maps machines to contents.  `join` maps a list of contents to one content, which must not
        depend on the order of the list.  Returns the joined contents, one for each row.
        """
        memory, depth = dict(contents), tree_depth(N, self.fan_in)
        for level in reversed(range(depth)):
            width = self.fan_in**level
            received = self.exchange(
                (at(row, child), at(row, k), memory[at(row, child)])
                for row in range(N)
                for k in range(min(width, N))
                for child in range(k + width, min(N, self.fan_in * width), width)
            )
            for machine, parts in received.items():
                memory[machine] = join([memory[machine], *parts])
        return [memory[at(row, 0)] for row in range(N)]


@checked
def attention_in_rounds(
    Q: Rows,
    K: Rows,
    V: Rows,
    seen: Sequence[Sequence[bool]],
    fan_in: FanIn,
    base: CountFrom2 | None = None,
) -> tuple[list[list[Fraction]], Cluster]:
    """The outputs of an attention head at N tokens, computed by machines that exchange messages.

    Returns the outputs, and the `Cluster` of machines, which contains the number of rounds. In a
    round, each machine sends at most `fan_in` messages and receives at most `fan_in` messages. The
    queries Q and keys K have shape (N, d), and the values V and the outputs have shape (N,
    d_value).

    Token i attends to the tokens j for which seen[i][j] is true. The score of token j for token i
    is s_ij = ⟨q_i, k_j⟩, where q_i is row i of Q and k_j is row j of K. The attention weights of
    token i are proportional to base^s_ij. If `base` is None, the weights are equal at the tokens
    with the largest score and 0 elsewhere (average-hard attention).

    Raises `ValueError` if (a) the shapes do not match, (b) a base is given and a score is not an
    integer, (c) a row of `seen` has no true entry, or (d) more than 10⁵ machines are needed. N
    tokens need N² machines.
    """
    N = len(Q)
    d, d_value = (len(next(iter(rows), ())) for rows in (Q, V))
    if N and not d:
        raise InputError(f"Q has shape ({N}, 0): give queries and keys of at least one entry")
    for name, rows, width in (("Q", Q, d), ("K", K, d), ("V", V, d_value), ("seen", seen, N)):
        if len(rows) != N or not N or any(len(row) != width for row in rows):
            raise InputError(
                f"{name} does not have shape ({N}, {width}): give one row of {width} entries for "
                "each token"
            )
    if N * N > MOST_MACHINES:
        raise InputError(
            f"{N} tokens take {N * N} machines, more than {MOST_MACHINES}: give fewer tokens"
        )
    if not all(any(row) for row in seen):
        raise InputError(
            "the mask `seen` has a row without True: give a row with at least one True for each "
            "token"
        )

    def along_row(i: int, place: int) -> Machine:
        return i, (i + place) % N

    def along_column(j: int, place: int) -> Machine:
        return (j + place) % N, j

    cluster = Cluster(fan_in)
    queries = cluster.spread(dict(enumerate(Q)), along_row, N)
    keys_and_values = cluster.spread(dict(enumerate(zip(K, V, strict=True))), along_column, N)
    parts = dict[Machine, PartialSum | None]()
    for i in range(N):
        for place in range(N):
            _, j = along_row(i, place)
            k, v = keys_and_values[j][(i - j) % N]
            score = sum(
                (a * b for a, b in zip(queries[i][place], k, strict=True)), start=Fraction(0)
            )
            if base is not None and score.denominator != 1:
                raise InputError(f"a score is {score}: give integer scores, or base=None")
            part = PartialSum(score, Fraction(1), tuple(map(Fraction, v)))
            parts[i, j] = part if seen[i][j] else None
    totals = cluster.gather(parts, along_row, N, lambda several: joined(several, base))
    return [[z / total.weight for z in total.values] for total in totals], cluster


def joined(parts: Sequence[PartialSum | None], base: int | None) -> PartialSum | None:
    """Combines several partial sums into one partial sum, or None if all of them are None.

    `base` is the base of the softmax; base=None is average-hard attention.  A part that is None
    stands for a pair of tokens that the mask hides.
    """
    shown = [part for part in parts if part is not None]
    if not shown:
        return None
    largest = max(part.largest for part in shown)
    scales = [_power(base, part.largest - largest) for part in shown]
    columns = zip(*(part.values for part in shown), strict=True)
    return PartialSum(
        largest,
        sum((a * p.weight for a, p in zip(scales, shown, strict=True)), start=Fraction(0)),
        tuple(sum((a * z for a, z in zip(scales, c, strict=True)), Fraction(0)) for c in columns),
    )


def attention_by_definition(
    Q: Rows, K: Rows, V: Rows, seen: Sequence[Sequence[bool]], base: int | None = None
) -> list[list[Fraction]]:
    """The outputs of an attention head, Σ_j w_ij v_j / Σ_j w_ij at token i, with exact arithmetic.

    The rows q_i, k_j and v_j of Q, K and V are the queries, keys and values.  The sums are over the
    tokens j for which seen[i][j] is true.  The scores are s_ij = ⟨q_i, k_j⟩ and the weights w_ij =
    base^s_ij.  For base=None (average-hard attention) the weights are 1 at the largest scores of
    token i and 0 elsewhere.  Q and K have shape (N, d), V and the outputs have shape (N, d_value).
    """
    found = []
    for q, row in zip(Q, seen, strict=True):
        visible_keys = [j for j, visible in enumerate(row) if visible]
        scores = [sum(Fraction(a) * b for a, b in zip(q, K[j], strict=True)) for j in visible_keys]
        weights = [_power(base, Fraction(score - max(scores))) for score in scores]
        total = sum(weights)
        columns = zip(*(V[j] for j in visible_keys), strict=True)
        found.append(
            [sum(w * v for w, v in zip(weights, column, strict=True)) / total for column in columns]
        )
    return found


def _power(base: int | None, exponent: Fraction | int) -> Fraction:
    """base^exponent for exponents ≤ 0; for base=None, the limit: 1 at 0 and 0 below."""
    return Fraction(exponent == 0) if base is None else Fraction(base) ** int(exponent)


@checked
def rounds_of_a_layer(n_tokens: Count, fan_in: FanIn) -> int:
    """The number 3⌈log_f N⌉ of rounds in which machines compute an attention head by messages.

    Here N = n_tokens is the number of tokens, and f = fan_in is the largest number of messages that
    a machine sends, or receives, in one round.
    """
    return 3 * tree_depth(n_tokens, fan_in)
