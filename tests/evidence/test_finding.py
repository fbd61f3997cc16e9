import json
import math
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from verify.finding import (
    Finding,
    Verdict,
    as_stated,
    at_least,
    at_most,
    each_at_most,
    equal,
    labelled,
    no_counterexample,
    plain,
    rounded_up,
    same,
    shown,
    within,
    within_bounds,
)

H, F, U = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
INF, NAN = math.inf, math.nan


@pytest.mark.parametrize(
    ("verdicts", "together"),
    [
        ([], U),
        ([H], H),
        ([H, H], H),
        ([H, U], U),
        ([U, F, H], F),
        ([F, U], F),
        ([F], F),
    ],
    ids=str,
)
def test_a_claim_holds_when_all_of_its_findings_do(verdicts, together):
    assert Verdict.together(verdicts) is together
    assert Verdict.together(iter(verdicts)) is together


def test_a_condition_is_a_verdict():
    assert (Verdict.of(True), Verdict.of(False)) == (H, F)


def test_unknown_evidence_and_verdicts_are_refused_when_a_finding_is_made():
    with rejects("evidence", "guess", "exact"):
        Finding("it", "size", "guess", 3, 4, H)
    with rejects("verdict", "holds"):
        Finding("it", "size", "exact", 3, 4, "holds")


def test_a_finding_as_json_has_the_keys_of_the_schema():
    finding = Finding("it", "size", "exact", 3, 4, H, "three", "k", "no more", seconds=0.12345678)
    assert finding.as_json() == {
        "id": "it",
        "name": "size",
        "evidence": "exact",
        "measured": 3,
        "bound": 4,
        "verdict": "holds",
        "words": "three",
        "wanted": "k",
        "detail": "no more",
        "seconds": 0.123457,
    }


@pytest.mark.parametrize("value", [INF, -INF, NAN])
def test_infinite_and_nan_values_are_valid_json(value):
    finding = Finding("x", "x", "float", value, {"n = 1": value}, U)
    written = json.loads(json.dumps(finding.as_json(), allow_nan=False))
    assert written["measured"] == str(value)
    assert written["bound"] == {"n = 1": str(value)}


@pytest.mark.parametrize(
    ("value", "as_json", "as_text"),
    [
        (0.5, 0.5, "0.5"),
        (2, 2, "2"),
        (np.float64(0.25), 0.25, "0.25"),
        (np.int64(3), 3, "3"),
        ((1.0, 2.0), [1.0, 2.0], "[1, 2]"),
        ([1, 2], [1, 2], "1, 2"),
        (np.array([1, 2]), [1, 2], "1, 2"),
        ({"layers": 3}, {"layers": 3}, "layers 3"),
        ("equal", "equal", "equal"),
    ],
    ids=str,
)
def test_values_as_json_and_as_text(value, as_json, as_text):
    assert json.loads(json.dumps(plain(value))) == as_json
    assert shown(value) == as_text


@pytest.mark.parametrize(
    ("measured", "bound", "below", "above"),
    [
        (1.0, 2.0, H, F),
        (2.0, 2.0, H, H),
        (3.0, 2.0, F, H),
        ((0.0, 1.0), 2.0, H, F),
        ((1.0, 3.0), 2.0, U, U),
        ((2.5, 3.0), 2.0, F, H),
        (1.0, (0.5, 2.0), U, U),
        (NAN, 2.0, U, U),
        (1.0, NAN, U, U),
        (INF, 2.0, U, U),
        (1.0, INF, U, U),
    ],
    ids=str,
)
def test_comparisons_decide_only_what_is_decided(measured, bound, below, above):
    assert at_most("x", "x", "float", measured, bound).verdict is below
    assert at_least("x", "x", "float", measured, bound).verdict is above


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [
        (1.0, Verdict.HOLDS),
        (2.0, Verdict.HOLDS),
        ((1.0, 1.5), Verdict.HOLDS),
        ((0.5, 1.5), Verdict.UNDECIDED),
        (2.5, Verdict.FAILS),
        (0.5, Verdict.FAILS),
        (NAN, Verdict.UNDECIDED),
        (INF, Verdict.UNDECIDED),
        ([1.0, 2.0], Verdict.HOLDS),
        ([1.0, 3.0], Verdict.FAILS),
        ([1.0, NAN], Verdict.UNDECIDED),
        ([], Verdict.UNDECIDED),
    ],
)
def test_what_lies_within_two_ends(measured, verdict):
    found = within("a", "b", "exact", measured, (1.0, 2.0))
    assert (found.measured, found.bound, found.verdict) == (measured, (1.0, 2.0), verdict)


@pytest.mark.parametrize("bound", [3, "xy", [1, 2], (1, 2, 3), (0, "x"), None])
def test_two_ends_are_a_pair_of_numbers(bound, unchecked):
    with rejects("bound"):
        within("a", "b", "exact", 1, bound)


@pytest.mark.parametrize(
    ("ratio", "verdict"),
    [(0.0, H), (1.0, H), (math.nextafter(1, 2), F), ((0.5, 1.5), U), (NAN, U), (INF, U)],
    ids=str,
)
def test_a_number_may_equal_its_bound_and_not_exceed_it(ratio, verdict):
    found = within_bounds("x", "x", "float", ratio)
    assert (found.bound, found.verdict) == (1.0, verdict)


def test_equality_names_the_first_difference():
    right, wrong = equal("x", "x", None, words="on 3"), equal("x", "x", "at 2", words="on 3")
    assert (right.verdict, right.measured, right.words, right.detail) == (H, "equal", "on 3", "")
    assert (wrong.verdict, wrong.measured, wrong.detail) == (F, "different", "at 2")
    assert wrong.words != "on 3"


def test_numbers_that_must_be_these_numbers():
    assert same("x", "x", [1, 2], (1, 2)).verdict is H
    assert same("x", "x", {"layers": 3}, {"layers": 4}).verdict is F
    for nothing in (NAN, [1.0, NAN], {"layers": NAN}):
        assert same("x", "x", nothing, nothing).verdict is U
        assert same("x", "x", nothing, [1.0, 2.0]).verdict is U


def test_of_no_numbers_nothing_is_decided_and_words_of_success_are_not_shown_of_failures():
    assert same("x", "x", [], []).verdict is same("x", "x", {}, {}).verdict is U
    said = [same("x", "x", found, 0, words="none of 600").words for found in (0, 5, NAN)]
    assert said == ["none of 600", "", ""]


@pytest.mark.parametrize(
    ("measured", "verdict"),
    [((1, 3), H), ((1, 5), F), ((3, 1), F), ((1, NAN), U), ((3, NAN), F)],
    ids=str,
)
def test_each_number_has_a_bound_of_its_own(measured, verdict):
    found = each_at_most(
        "x", "x", "float", dict(zip("ab", measured, strict=True)), {"a": 2, "b": 4}
    )
    assert found.verdict is verdict


def test_numbers_and_bounds_have_the_same_names():
    for measured in ({"a": 1}, {"a": 1, "c": 1}, {}):
        with pytest.raises(ValueError, match="b"):
            each_at_most("x", "x", "float", measured, {"a": 2, "b": 4})


@pytest.mark.parametrize(
    "value", [None, "x", [1], 10**400, (1, 2, 3), ("x", 1)], ids=lambda value: f"{value!r:.9}"
)
@pytest.mark.usefixtures("unchecked")
def test_measured_values_and_bounds_are_numbers_or_pairs(value):
    for compared in (at_most, at_least):
        with rejects():
            compared("it", "size", "float", value, 2)
        with rejects():
            compared("it", "size", "float", 2, value)
    for measured in ([value], value if value != [1] else None):
        with rejects():
            within("it", "size", "float", measured, (1, 2))
    with rejects():
        within_bounds("it", "size", "float", value)
    with rejects():
        each_at_most("it", "size", "float", {"a": value}, {"a": 2})


def test_the_parts_of_a_finding_are_checked():
    found = at_most("it", "size", "float", 1, 2)
    with rejects("wrong"):
        equal("it", "size", 3)
    with rejects("measured"):
        each_at_most("it", "size", "float", [1], {"a": 2})
    with rejects("finding"):
        as_stated(None, 1, 1)
    with rejects("terms"):
        as_stated(found, 1, 1, terms=-1.0)


def test_labels_stand_before_names_and_ids():
    (finding,) = labelled("k = 2", [equal("size", "its size", None)])
    assert (finding.id, finding.name) == ("k-=-2/size", "k = 2: its size")


def test_a_search_for_counterexamples_ends_at_the_first():
    def search():
        yield "the first"
        raise AssertionError("it was found")

    found = no_counterexample("id", "name", search(), words="of nine cases", wanted="none")
    assert (found.verdict, found.detail, found.measured) == (F, "the first", "different")
    none = no_counterexample("id", "name", iter(()), evidence="identity", words="of nine cases")
    assert (none.verdict, none.words, none.detail) == (H, "of nine cases", "")
    assert (none.evidence, none.measured, none.bound) == ("identity", "equal", "equal")


@pytest.mark.parametrize(
    ("computed", "stated", "verdict"),
    [
        (2, 2.0, H),
        (1e-9, 1e-9 * (1 + 2.0**-45), H),
        (1e-9, 1.000001e-9, F),
        ([1, (2, 3)], [1, (2, 3)], H),
        ([1, 2], [1, 3], F),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}, H),
        ({"a": 1, "b": 2}, {"a": 2, "b": 1}, F),
        (0, 1e-300, F),
        (NAN, NAN, F),
        ([], [], F),
    ],
    ids=str,
)
def test_a_bound_has_to_be_the_one_that_is_stated(computed, stated, verdict):
    found = as_stated(at_most("it", "size", "float", 1, 2), computed, stated)
    assert found.verdict is verdict


def test_a_finding_that_fails_stays_so_with_the_stated_bound():
    assert as_stated(at_most("it", "size", "float", 3, 2), 2, 2).verdict is F
    assert as_stated(at_most("it", "size", "float", NAN, 2), 2, 2).verdict is U


@pytest.mark.parametrize("stated", [{"a": 1}, {"a": 1, "c": 2}], ids=str)
def test_bounds_and_formulas_have_the_same_names(stated):
    with pytest.raises(ValueError, match="b"):
        as_stated(at_most("it", "size", "float", 1, 2), {"a": 1, "b": 2}, stated)


@given(st.floats(1e-300, 1e300), st.integers(1, 9))
def test_a_bound_is_rounded_up_to_the_next_number_of_so_many_digits(value, digits):
    printed = Decimal(f"{rounded_up(value, digits):.{digits - 1}e}")
    assert Decimal(value) <= printed < Decimal(value) * (1 + 10 * Decimal(10) ** -digits)


def test_special_bounds_are_themselves():
    assert [rounded_up(0.0), rounded_up(float("inf"))] == [0.0, float("inf")]
    assert math.isnan(rounded_up(float("nan")))
