"""Inputs of the theory of arithmetic that are refused in one line."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest
from refusals import rejects

from theory.arithmetic import (
    Golden,
    adder_logits,
    bin_of,
    coarse,
    comb,
    cosine,
    few_frequencies_margin,
    least_gap,
    mean_over_cubes,
    network,
    normalised_margin,
    permutation_maxima,
    rounding_of_logits,
)

HUGE = np.full((1, 3), 1e200)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: cosine(2.5), "k"),
        (lambda: cosine(True), "k"),
        (lambda: comb([1], 0.5), "d"),
        (lambda: comb(5, 0), "comb"),
        (lambda: coarse(2**62, 5), "n step"),
        (lambda: coarse(10**19, 5), "n step"),
        (lambda: coarse(1, 2**62), "n step"),
        (lambda: few_frequencies_margin(7, [1, 1]), "frequencies"),
        (lambda: adder_logits(30, 1.0, 0, math.nan), "error"),
        (lambda: adder_logits(30, 1.0, 2.5, 0.0), "s"),
        (lambda: adder_logits(30, 1.0, 0, [1.0, 2.0]), "error"),
        (lambda: rounding_of_logits(-5, 14), "alpha"),
        (lambda: rounding_of_logits(64, -14), "bits"),
        (lambda: rounding_of_logits(math.nan, 14), "alpha"),
        (lambda: least_gap(30, 1.0, -1), "error"),
        (lambda: least_gap(30, 1.0, 2.5), "error"),
        (lambda: mean_over_cubes(*np.zeros((3, 1, 3))), "0"),
        (lambda: mean_over_cubes(*np.ones((3, 1, 4))), "p"),
        (lambda: mean_over_cubes(HUGE, HUGE, HUGE), "u v w"),
        (lambda: normalised_margin(HUGE, HUGE, HUGE), "u v w"),
        (lambda: network(*np.broadcast_to(1.0, (3, 2, 100_001))), "p"),
        (lambda: Golden(1, "a"), "b"),
        (lambda: Golden(0.5), "0.5"),
        (lambda: comb([np.array([1, 2])], 1), "comb frequency"),
        (lambda: few_frequencies_margin(7, 3), "frequencies"),
        (lambda: few_frequencies_margin(7, [1.5]), "frequencies"),
        (lambda: adder_logits(10**12, 1.0, 0, 0), "p"),
        (lambda: bin_of(math.nan, 530), "period"),
        (lambda: bin_of(math.inf, 530), "period"),
        (lambda: bin_of("5", 530), "period"),
        (lambda: bin_of(Fraction(5, 2), 531), "p period"),
        (lambda: permutation_maxima(3.0, 1, 1, np.random.default_rng(0)), ""),
        (lambda: permutation_maxima(np.eye(10), 1, 1, 0), "rng"),
    ],
)
def test_what_is_wrong_is_said(call, names):
    with rejects(*names.split()):
        call()


@pytest.mark.usefixtures("unchecked")
def test_numbers_with_a_root_are_not_mixed_with_others():
    one = Golden(Fraction(1))
    for mixed in (
        lambda: one + 1,
        lambda: one - 1,
        lambda: one * 1,
        lambda: 0.5 * one,
        lambda: one < 1,
    ):
        with pytest.raises(TypeError):
            mixed()
