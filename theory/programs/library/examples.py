"""The programs of the library by name, each with a vocabulary of examples."""

from __future__ import annotations

from collections.abc import Sequence

from theory.programs.language import SOp
from theory.programs.library import brackets, counts, order, patterns, positions
from theory.programs.values import Value

LETTERS, DIGITS, BRACKETS, TWO = "abc", (0, 1, 2), "(.)", "([)]"

PROGRAMS: dict[str, tuple[SOp, Sequence[Value]]] = {
    "reverse": (positions.reverse(), LETTERS),
    "shift_by(1)": (positions.shift_by(1), LETTERS),
    "shift_by(3)": (positions.shift_by(3), LETTERS),
    "shift_by(-2)": (positions.shift_by(-2), LETTERS),
    "rotate(2)": (positions.rotate(2), LETTERS),
    "first_token": (positions.first_token(), LETTERS),
    "last_token": (positions.last_token(), LETTERS),
    "swap_pairs": (positions.swap_pairs(), LETTERS),
    "equal_to_first": (positions.equal_to_first(), LETTERS),
    "palindrome": (positions.palindrome(), LETTERS),
    "is_doubled": (positions.is_doubled(), LETTERS),
    "count_of": (counts.count_of("b"), LETTERS),
    "histogram": (counts.histogram(), LETTERS),
    "prefix_count": (counts.prefix_count("a"), LETTERS),
    "fraction_of_previous": (counts.fraction_of_previous("a"), LETTERS),
    "majority": (counts.majority("a"), LETTERS),
    "parity": (counts.parity(1), DIGITS),
    "prefix_parity": (counts.prefix_parity(1), DIGITS),
    "running_sum": (counts.running_sum(3), DIGITS),
    "first_occurrence": (counts.first_occurrence(), LETTERS),
    "distinct": (counts.distinct(), LETTERS),
    "has_repeats": (counts.has_repeats(), LETTERS),
    "count_less_frequent": (counts.count_less_frequent(2), LETTERS),
    "most_frequent": (counts.most_frequent(), LETTERS),
    "mean_of_tokens": (counts.mean_of_tokens(), DIGITS),
    "maximum": (counts.maximum(), DIGITS),
    "minimum": (counts.minimum(), DIGITS),
    "count_at_least": (counts.count_at_least("a", 2), LETTERS),
    "rank": (order.rank(), DIGITS),
    "sort": (order.sort(), DIGITS),
    "sort_descending": (order.sort_descending(), DIGITS),
    "sort_by_frequency": (order.sort_by_frequency(), LETTERS),
    "is_sorted": (order.is_sorted(), DIGITS),
    "falls": (order.falls(), DIGITS),
    "argmax": (order.argmax(), DIGITS),
    "inversions": (order.inversions(), DIGITS),
    "second_largest": (order.second_largest(), DIGITS),
    "detect_pattern": (patterns.detect_pattern(["a", "b", "a"]), "ab"),
    "count_pattern": (patterns.count_pattern(["a", "a"]), "ab"),
    "induction": (patterns.induction(), LETTERS),
    "induction(3)": (patterns.induction(3), "ab"),
    "induction(4)": (patterns.induction(4), "ab"),
    "distance_to_previous": (patterns.distance_to_previous(), LETTERS),
    "run_starts": (patterns.run_starts(), LETTERS),
    "runs": (patterns.runs(), LETTERS),
    "place_in_run": (patterns.place_in_run(), LETTERS),
    "alternates": (patterns.alternates(), LETTERS),
    "pair_balance": (brackets.pair_balance(), BRACKETS),
    "depth": (brackets.depth(), BRACKETS),
    "balanced": (brackets.balanced(), BRACKETS),
    "shuffle_dyck": (brackets.shuffle_dyck([("(", ")"), ("[", "]")]), TWO),
}
