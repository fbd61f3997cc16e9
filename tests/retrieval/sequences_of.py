"""Tokens with zero to two batch dimensions, and definitions of one sequence applied to all rows."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst


@st.composite
def problems(draw, length=12, size=7):
    """Tokens (…, T), and the size V of their vocabulary."""
    V = draw(st.integers(1, size))
    shape = (*draw(st.lists(st.integers(1, 3), max_size=2)), draw(st.integers(1, length)))
    return draw(npst.arrays(np.int64, shape, elements=st.integers(0, V - 1))), V


def batches(**sizes):
    """The tokens alone."""
    return problems(**sizes).map(lambda problem: problem[0])


def by_rows(definition, tokens, *arguments):
    rows = tokens.reshape(-1, tokens.shape[-1])
    result = np.array([definition(row, *arguments) for row in rows])
    return result.reshape(*tokens.shape, *result.shape[2:])
