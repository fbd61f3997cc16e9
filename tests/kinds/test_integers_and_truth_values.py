"""Integers at the end of int64, and truth values, which are no numbers."""

from typing import Annotated, Any

import numpy as np
import pytest
import torch
from refusals import rejects

from theory.kinds import (
    Choice,
    Count,
    Exact,
    Integers,
    Numbers,
    PerPrompt,
    Positive,
    Reals,
    Seed,
    Signs,
    kind_of,
    read,
)


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1])
def test_integers_around_the_end_of_int64_keep_their_value(number):
    """Read as int64 where they fit it, else as float64: 2⁶³ is not −2⁶³."""
    read = kind_of(Annotated[Any, Numbers("n")]).read("it", np.array([0, number], dtype=np.uint64))
    assert read.dtype == (np.int64 if number < 2**63 else np.float64)
    assert read[1] == (number if number < 2**63 else float(number))


def test_unsigned_integers_are_read_if_they_fit_int64():
    for dtype in (np.uint8, np.uint64):
        assert Integers("n").read("n", np.array([0, 7], dtype=dtype)).tolist() == [0, 7]
    last = np.array([2**63 - 1], dtype=np.uint64)
    assert Integers("n").read("n", last).tolist() == [2**63 - 1]
    with rejects("n", str(2**63)):
        Integers("n").read("n", last + np.uint64(1))
    for long in (2**64, -(2**70)):
        with rejects("n", str(abs(long))):
            Integers("n").read("n", [0, long])


def test_a_truth_value_is_no_number():
    for value in (True, np.bool_(False), np.array(True), torch.tensor(True)):
        with rejects("alpha", str(bool(value))):
            read(PerPrompt, "alpha", value)
        for kind in (Positive, Count, Exact, Seed):
            with rejects("alpha"):
                read(kind, "alpha", value)
    for options in ((0, 1), ("a", 1)):
        assert Choice(options).read("it", 1) == 1
        with rejects("it", "True"):
            Choice(options).read("it", True)
    for values in ([True, False], torch.tensor([True, False]), np.array([True, 1], dtype=object)):
        for kind in (Reals("n"), Numbers("n"), Integers("n"), Signs("n")):
            with rejects("x"):
                kind.read("x", values)
