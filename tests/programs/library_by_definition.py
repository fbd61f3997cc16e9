"""What the programs of the library compute, in plain Python: a list of values for a sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from theory.programs.library.examples import PROGRAMS as EXAMPLES

Definition = Callable[[Sequence[Any]], list[Any]]


def everywhere(f: Callable[[Sequence[Any]], Any]) -> Definition:
    return lambda x: [f(x)] * len(x)


def prefixes(f: Callable[[Sequence[Any]], Any]) -> Definition:
    """The value at i is f(x_0, …, x_i)."""
    return lambda x: [f(x[: i + 1]) for i in range(len(x))]


def local(f: Callable[[Sequence[Any], int], Any]) -> Definition:
    return lambda x: [f(x, i) for i in range(len(x))]


def follows(n: int) -> Definition:
    def token(x: Sequence[Any], i: int) -> Any:
        if i < n - 2:
            return None
        last = list(x[i - n + 2 : i + 1])
        for j in range(i - 1, n - 3, -1):
            if list(x[j - n + 2 : j + 1]) == last:
                return x[j + 1]
        return None

    return local(token)


def matches(pairs: list[tuple[str, str]]) -> Callable[[Sequence[Any]], int]:
    def all_match(x: Sequence[Any]) -> int:
        for opening, closing in pairs:
            height = 0
            for token in x:
                height += (token == opening) - (token == closing)
                if height < 0:
                    return 0
            if height:
                return 0
        return 1

    return all_match


def runs_of(x: Sequence[Any]) -> list[int]:
    """The lengths of the maximal runs."""
    lengths: list[int] = []
    for i, token in enumerate(x):
        if i and token == x[i - 1]:
            lengths[-1] += 1
        else:
            lengths.append(1)
    return lengths


def balance(x: Sequence[Any]) -> int:
    return x.count("(") - x.count(")")


def second_largest(x: Sequence[Any]) -> Any:
    return max((token for token in x if token < max(x)), default=None)


def most_frequent(x: Sequence[Any]) -> Any:
    return Counter(x).most_common(1)[0][0]  # the first of equal counts


def earlier(x: Sequence[Any], i: int, k: int) -> Any:
    return x[i - k] if 0 <= i - k < len(x) else None


def last_before(x: Sequence[Any], i: int) -> Any:
    return next((i - j for j in range(i - 1, -1, -1) if x[j] == x[i]), None)


def place_in_run(x: Sequence[Any]) -> int:
    return runs_of(x)[-1] - 1


def by_frequency(x: Sequence[Any]) -> list[Any]:
    return sorted(x, key=lambda token: -x.count(token))


def partner(x: Sequence[Any], i: int) -> Any:
    return x[i ^ 1] if i ^ 1 < len(x) else x[i]


def ends_with(pattern: str) -> Callable[[Sequence[Any]], int]:
    return lambda x: int(list(x[-len(pattern) :]) == list(pattern))


DEFINITIONS: dict[str, Definition] = {
    "reverse": lambda x: list(x[::-1]),
    "shift_by(1)": local(lambda x, i: earlier(x, i, 1)),
    "shift_by(3)": local(lambda x, i: earlier(x, i, 3)),
    "shift_by(-2)": local(lambda x, i: earlier(x, i, -2)),
    "rotate(2)": local(lambda x, i: x[(i - 2) % len(x)]),
    "first_token": everywhere(lambda x: x[0]),
    "last_token": everywhere(lambda x: x[-1]),
    "swap_pairs": local(partner),
    "equal_to_first": local(lambda x, i: x[i] == x[0]),
    "palindrome": everywhere(lambda x: int(x == x[::-1])),
    "is_doubled": everywhere(lambda x: int(2 * x[: len(x) // 2] == x)),
    "count_of": everywhere(lambda x: x.count("b")),
    "histogram": local(lambda x, i: x.count(x[i])),
    "prefix_count": prefixes(lambda x: x.count("a")),
    "fraction_of_previous": prefixes(lambda x: Fraction(x.count("a"), len(x))),
    "majority": everywhere(lambda x: int(2 * x.count("a") > len(x))),
    "parity": everywhere(lambda x: x.count(1) % 2),
    "prefix_parity": prefixes(lambda x: x.count(1) % 2),
    "running_sum": prefixes(lambda x: sum(x) % 3),
    "first_occurrence": local(lambda x, i: int(x[i] not in x[:i])),
    "distinct": everywhere(lambda x: len(set(x))),
    "has_repeats": everywhere(lambda x: int(len(set(x)) < len(x))),
    "count_less_frequent": everywhere(lambda x: sum(x.count(token) < 2 for token in x)),
    "most_frequent": everywhere(most_frequent),
    "mean_of_tokens": everywhere(lambda x: Fraction(sum(x), len(x))),
    "maximum": everywhere(max),
    "minimum": everywhere(min),
    "count_at_least": everywhere(lambda x: int(x.count("a") >= 2)),
    "rank": local(lambda x, i: sum(t < x[i] for t in x) + x[:i].count(x[i])),
    "sort": sorted,
    "sort_descending": lambda x: sorted(x, reverse=True),
    "sort_by_frequency": by_frequency,
    "is_sorted": everywhere(lambda x: int(list(x) == sorted(x))),
    "falls": local(lambda x, i: int(i > 0 and x[i] < x[i - 1])),
    "argmax": everywhere(lambda x: x.index(max(x))),
    "inversions": local(lambda x, i: sum(token > x[i] for token in x[:i])),
    "second_largest": everywhere(second_largest),
    "detect_pattern": prefixes(ends_with("aba")),
    "count_pattern": everywhere(lambda x: sum(x[i : i + 2] == ["a", "a"] for i in range(len(x)))),
    "induction": follows(2),
    "induction(3)": follows(3),
    "induction(4)": follows(4),
    "distance_to_previous": local(last_before),
    "run_starts": local(lambda x, i: int(i == 0 or x[i] != x[i - 1])),
    "runs": everywhere(lambda x: len(runs_of(x))),
    "place_in_run": prefixes(place_in_run),
    "alternates": everywhere(lambda x: int(max(runs_of(x)) == 1)),
    "pair_balance": prefixes(lambda x: Fraction(balance(x), len(x))),
    "depth": prefixes(balance),
    "balanced": everywhere(matches([("(", ")")])),
    "shuffle_dyck": everywhere(matches([("(", ")"), ("[", "]")])),
}

PROGRAMS = {name: (*EXAMPLES[name], definition) for name, definition in DEFINITIONS.items()}
"""Program, vocabulary and definition, by name."""
