"""What the programs of the library compute, in plain Python: a list of values for a sequence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

from theory.programs.language import SOp
from theory.programs.library import brackets, counts, order, patterns, positions

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


LETTERS, DIGITS, BRACKETS, TWO = "abc", (0, 1, 2), "(.)", "([)]"

PROGRAMS: dict[str, tuple[SOp, Sequence[Any], Definition]] = {
    # name: program, vocabulary, definition
    "reverse": (positions.reverse(), LETTERS, lambda x: list(x[::-1])),
    "shift_by(1)": (positions.shift_by(1), LETTERS, local(lambda x, i: earlier(x, i, 1))),
    "shift_by(3)": (positions.shift_by(3), LETTERS, local(lambda x, i: earlier(x, i, 3))),
    "shift_by(-2)": (positions.shift_by(-2), LETTERS, local(lambda x, i: earlier(x, i, -2))),
    "rotate(2)": (positions.rotate(2), LETTERS, local(lambda x, i: x[(i - 2) % len(x)])),
    "first_token": (positions.first_token(), LETTERS, everywhere(lambda x: x[0])),
    "last_token": (positions.last_token(), LETTERS, everywhere(lambda x: x[-1])),
    "swap_pairs": (positions.swap_pairs(), LETTERS, local(partner)),
    "equal_to_first": (positions.equal_to_first(), LETTERS, local(lambda x, i: x[i] == x[0])),
    "palindrome": (positions.palindrome(), LETTERS, everywhere(lambda x: int(x == x[::-1]))),
    "is_doubled": (
        positions.is_doubled(),
        LETTERS,
        everywhere(lambda x: int(2 * x[: len(x) // 2] == x)),
    ),
    "count_of": (counts.count_of("b"), LETTERS, everywhere(lambda x: x.count("b"))),
    "histogram": (counts.histogram(), LETTERS, local(lambda x, i: x.count(x[i]))),
    "prefix_count": (counts.prefix_count("a"), LETTERS, prefixes(lambda x: x.count("a"))),
    "fraction_of_previous": (
        counts.fraction_of_previous("a"),
        LETTERS,
        prefixes(lambda x: Fraction(x.count("a"), len(x))),
    ),
    "majority": (
        counts.majority("a"),
        LETTERS,
        everywhere(lambda x: int(2 * x.count("a") > len(x))),
    ),
    "parity": (counts.parity(1), DIGITS, everywhere(lambda x: x.count(1) % 2)),
    "prefix_parity": (counts.prefix_parity(1), DIGITS, prefixes(lambda x: x.count(1) % 2)),
    "running_sum": (counts.running_sum(3), DIGITS, prefixes(lambda x: sum(x) % 3)),
    "first_occurrence": (
        counts.first_occurrence(),
        LETTERS,
        local(lambda x, i: int(x[i] not in x[:i])),
    ),
    "distinct": (counts.distinct(), LETTERS, everywhere(lambda x: len(set(x)))),
    "has_repeats": (
        counts.has_repeats(),
        LETTERS,
        everywhere(lambda x: int(len(set(x)) < len(x))),
    ),
    "count_less_frequent": (
        counts.count_less_frequent(2),
        LETTERS,
        everywhere(lambda x: sum(x.count(token) < 2 for token in x)),
    ),
    "most_frequent": (counts.most_frequent(), LETTERS, everywhere(most_frequent)),
    "mean_of_tokens": (
        counts.mean_of_tokens(),
        DIGITS,
        everywhere(lambda x: Fraction(sum(x), len(x))),
    ),
    "maximum": (counts.maximum(), DIGITS, everywhere(max)),
    "minimum": (counts.minimum(), DIGITS, everywhere(min)),
    "count_at_least": (
        counts.count_at_least("a", 2),
        LETTERS,
        everywhere(lambda x: int(x.count("a") >= 2)),
    ),
    "rank": (
        order.rank(),
        DIGITS,
        local(lambda x, i: sum(t < x[i] for t in x) + x[:i].count(x[i])),
    ),
    "sort": (order.sort(), DIGITS, sorted),
    "sort_descending": (order.sort_descending(), DIGITS, lambda x: sorted(x, reverse=True)),
    "sort_by_frequency": (order.sort_by_frequency(), LETTERS, by_frequency),
    "is_sorted": (order.is_sorted(), DIGITS, everywhere(lambda x: int(list(x) == sorted(x)))),
    "falls": (order.falls(), DIGITS, local(lambda x, i: int(i > 0 and x[i] < x[i - 1]))),
    "argmax": (order.argmax(), DIGITS, everywhere(lambda x: x.index(max(x)))),
    "inversions": (
        order.inversions(),
        DIGITS,
        local(lambda x, i: sum(token > x[i] for token in x[:i])),
    ),
    "second_largest": (order.second_largest(), DIGITS, everywhere(second_largest)),
    "detect_pattern": (patterns.detect_pattern(["a", "b", "a"]), "ab", prefixes(ends_with("aba"))),
    "count_pattern": (
        patterns.count_pattern(["a", "a"]),
        "ab",
        everywhere(lambda x: sum(x[i : i + 2] == ["a", "a"] for i in range(len(x)))),
    ),
    "induction": (patterns.induction(), LETTERS, follows(2)),
    "induction(3)": (patterns.induction(3), "ab", follows(3)),
    "induction(4)": (patterns.induction(4), "ab", follows(4)),
    "distance_to_previous": (patterns.distance_to_previous(), LETTERS, local(last_before)),
    "run_starts": (
        patterns.run_starts(),
        LETTERS,
        local(lambda x, i: int(i == 0 or x[i] != x[i - 1])),
    ),
    "runs": (patterns.runs(), LETTERS, everywhere(lambda x: len(runs_of(x)))),
    "place_in_run": (patterns.place_in_run(), LETTERS, prefixes(place_in_run)),
    "alternates": (
        patterns.alternates(),
        LETTERS,
        everywhere(lambda x: int(max(runs_of(x)) == 1)),
    ),
    "pair_balance": (
        brackets.pair_balance(),
        BRACKETS,
        prefixes(lambda x: Fraction(balance(x), len(x))),
    ),
    "depth": (brackets.depth(), BRACKETS, prefixes(balance)),
    "balanced": (brackets.balanced(), BRACKETS, everywhere(matches([("(", ")")]))),
    "shuffle_dyck": (
        brackets.shuffle_dyck([("(", ")"), ("[", "]")]),
        TWO,
        everywhere(matches([("(", ")"), ("[", "]")])),
    ),
}
