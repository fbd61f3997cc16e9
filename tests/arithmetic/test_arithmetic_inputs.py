"""Inputs of the theory of arithmetic that are refused in one line."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
import pytest

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
from theory.checks import InputError

HUGE = np.full((1, 3), 1e200)


@pytest.mark.usefixtures("unchecked")
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cosine(2.5), "k is 2.5: give an integer"),
        (lambda: cosine(True), "k is True"),
        (lambda: comb([1], 0.5), "d is 0.5: give an integer"),
        (lambda: comb(5, 0), "the comb is 5: give a list"),
        (lambda: coarse(2**62, 5), r"beyond 2\^53"),
        (lambda: coarse(10**19, 5), r"beyond 2\^53"),
        (lambda: coarse(1, 2**62), r"beyond 2\^53"),
        (lambda: few_frequencies_margin(7, [1, 1]), "give each once"),
        (lambda: adder_logits(30, 1.0, 0, math.nan), "error contains NaN"),
        (lambda: adder_logits(30, 1.0, 2.5, 0.0), "s is 2.5: give an integer"),
        (lambda: adder_logits(30, 1.0, 0, [1.0, 2.0]), "error is .*: give one number"),
        (lambda: rounding_of_logits(-5, 14), "alpha contains -5"),
        (lambda: rounding_of_logits(64, -14), "bits is -14"),
        (lambda: rounding_of_logits(math.nan, 14), "alpha contains nan"),
        (lambda: least_gap(30, 1.0, -1), "error is -1"),
        (lambda: least_gap(30, 1.0, 2.5), "error is 2.5"),
        (lambda: mean_over_cubes(*np.zeros((3, 1, 3))), "neuron 0 is 0"),
        (lambda: mean_over_cubes(*np.ones((3, 1, 4))), "p is 4: give an odd number"),
        (lambda: mean_over_cubes(HUGE, HUGE, HUGE), "beyond float64"),
        (lambda: normalised_margin(HUGE, HUGE, HUGE), "beyond float64"),
        (lambda: network(*np.broadcast_to(1.0, (3, 2, 100_001))), "GiB"),
        (lambda: Golden(1, "a"), "b is 'a': give a fraction or a whole number"),
        (lambda: Golden(0.5), "a is 0.5: give a fraction or a whole number"),
        (lambda: comb([np.array([1, 2])], 1), "the comb has frequency"),
        (lambda: few_frequencies_margin(7, 3), "the frequencies are 3: give a list of some of"),
        (lambda: few_frequencies_margin(7, [1.5]), r"frequencies \[1.5\]: give some of 1, …, 6"),
        (lambda: adder_logits(10**12, 1.0, 0, 0), "the logits of 1e.12 candidates need .* GiB"),
        (lambda: bin_of(math.nan, 530), "the period is nan"),
        (lambda: bin_of(math.inf, 530), "the period is inf"),
        (lambda: bin_of("5", 530), "the period is '5'"),
        (lambda: bin_of(Fraction(5, 2), 531), "period 5/2 is no bin of 531 points: take a p of"),
        (lambda: permutation_maxima(3.0, 1, 1, np.random.default_rng(0)), "shape"),
        (lambda: permutation_maxima(np.eye(10), 1, 1, 0), "rng is 0: give a generator"),
    ],
)
def test_what_is_wrong_is_said(call, message):
    with pytest.raises(InputError, match=message) as refusal:
        call()
    assert "\n" not in str(refusal.value)


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
        with pytest.raises(TypeError, match=r"supported"):
            mixed()
