"""Random programs in RASP, over tokens that are integers."""

from __future__ import annotations

import operator
from fractions import Fraction

from hypothesis import strategies as st

from theory.programs import (
    Aggregate,
    Full,
    LinearSequenceMap,
    Map,
    Select,
    SelectorWidth,
    SequenceMap,
    indices,
    length,
    tokens,
)

NUMBERS = st.sampled_from([tokens, indices, length, tokens * 2 - 1, Full(2), indices % 3])
PREDICATES = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "true", "false"]) | st.just(
    lambda key, query: (key * query) % 3 == 1
)


@st.composite
def selectors(draw, sops, depth=2):
    kind = draw(st.sampled_from(["select"] * 2 + ["and", "or", "not"] * (depth > 0)))
    if kind == "select":
        return Select(draw(sops), draw(sops), draw(PREDICATES))
    one = draw(selectors(sops, depth - 1))
    if kind == "not":
        return ~one
    other = draw(selectors(sops, depth - 1))
    return one & other if kind == "and" else one | other


@st.composite
def programs(draw):
    """Programs with two levels of selectors, whose values are numbers or None."""
    first = draw(
        st.builds(SelectorWidth, selectors(NUMBERS))
        | st.builds(Aggregate, selectors(NUMBERS), NUMBERS, st.sampled_from([None, 0, 7]))
    )
    sops = st.sampled_from([tokens, indices, first])
    second = draw(
        st.builds(SelectorWidth, selectors(sops, 1))
        | st.builds(Aggregate, selectors(sops, 1), sops, st.sampled_from([None, -1]))
        | st.builds(SequenceMap, st.just(operator.mul), sops, sops)
        | st.builds(LinearSequenceMap, sops, sops, st.just(2), st.just(Fraction(-1, 2)))
        | st.builds(Map, st.just(lambda value: value > 1), sops)
    )
    return second
