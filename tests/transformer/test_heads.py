"""The heads that constructions over tokens share, by definition, on random registers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructions.assembly import block, rows
from constructions.stream import Stream
from constructions.tokens import average, counted, latest, placed, written

STREAM = Stream(
    flag=1, j=1, square=1, bos=1, share=1, inverse=1, at=1, at2=1, ask=1, ask2=1, value=1, out=1
)
READ = STREAM.read
LINE = READ("j"), READ("square")


def run(heads, mask, **registers):
    T = len(registers["j"])
    H = rows(STREAM, **{**registers, "square": registers["j"] ** 2, "bos": np.arange(T) == 0})
    out = block(STREAM, heads, normalise="hardmax", mask=mask)(H[None], 0)[0]
    return {name: out[:, STREAM[name]].numpy().ravel() for name in STREAM}


@given(
    st.lists(st.booleans(), min_size=1, max_size=30), st.sampled_from(["causal", "strictly causal"])
)
def test_shares_become_counts(flags, mask):
    marked = np.array([False, *flags])
    j, T = np.arange(len(marked)), len(flags)
    head = average((READ("flag"), READ("bos")), ("share", "inverse"))
    held = run([head], mask, j=j, flag=marked)
    seen = j + 1 if mask == "causal" else np.maximum(j, 1)
    count = np.cumsum(marked) if mask == "causal" else np.cumsum(marked) - marked
    assert np.allclose(held["share"], count / seen)
    assert np.allclose(held["inverse"], 1 / seen)
    found = run(
        [counted(READ("share"), READ("inverse"), LINE, READ("value"), "out", T)],
        "causal", j=j, share=held["share"], inverse=held["inverse"], value=10 * j,
    )  # fmt: skip
    assert found["out"].tolist() == (10 * count).tolist()


@given(st.lists(st.integers(-3, 12), min_size=1, max_size=12))
def test_a_place_is_found_and_a_negative_one_is_position_0(places):
    j = np.arange(len(places))
    a = np.minimum(places, j)
    found = run(
        [placed(READ("ask"), LINE, READ("value"), "out")], "causal", j=j, ask=a, value=j + 5
    )
    assert found["out"].tolist() == (np.maximum(a, 0) + 5).tolist()


@given(st.lists(st.booleans(), min_size=1, max_size=20))
def test_the_latest_flag(flags):
    marked = np.array([True, *flags])
    j, T = np.arange(len(marked)), len(flags)
    head = latest(READ("flag"), READ("j"), READ("value"), "out", T)
    found = run([head], "causal", j=j, flag=marked, value=j)
    assert found["out"].tolist() == np.maximum.accumulate(np.where(marked, j, 0)).tolist()


@pytest.mark.parametrize("rule", ["latest", "least"])
@given(st.lists(st.tuples(st.integers(1, 4), st.integers(1, 4), st.integers(0, 9)), min_size=1))
def test_writes_to_places(rule, wrote):
    at, ask, value = (np.array([0, *column]) for column in zip(*wrote, strict=True))
    j = np.arange(len(at))
    value[0] = 0  # of BOS, which wrote nothing
    order = READ("j") if rule == "latest" else -READ("value")
    head = written(
        (READ("ask"), READ("ask2")), (READ("at"), READ("at2")), order, READ("bos"),
        READ("value"), "out", max(len(wrote), 9), ties=rule == "least",
    )  # fmt: skip
    found = run([head], "causal", j=j, at=at, at2=at**2, ask=ask, ask2=ask**2, value=value)
    for i in range(1, len(at)):
        candidates = value[1 : i + 1][at[1 : i + 1] == ask[i]]
        wanted = (
            0
            if not len(candidates)
            else candidates[-1 if rule == "latest" else candidates.argmin()]
        )
        assert found["out"][i] == wanted


def test_what_they_say_of_their_gaps():
    heads = (
        average(READ("flag"), "share"),
        counted(READ("share"), READ("inverse"), LINE, READ("value"), "out", 9),
        latest(READ("flag"), READ("j"), READ("value"), "out", 9),
    )
    assert [head.margin.gap for head in heads] == [np.inf, 1.0, 1.0]
    assert heads[0].margin.ties
    assert heads[0].margin.leak(2.0, 0.0, 5) == 0
