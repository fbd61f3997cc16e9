"""Single heads: brackets, and scores that are all equal."""

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import broad_average, skip_gram


def test_brackets():
    """left, right and a filler: "right" attends to "left" at any distance."""
    left, right, filler = range(3)
    table = np.zeros((3, 3))
    table[right, left] = 1
    tokens = [left, *[filler] * 50, right]
    assert skip_gram(table, 52).logits(tokens)[-1].tolist() == [1.0, 0.0, 0.0]
    assert skip_gram(table, 52)(tokens)[-1] == left
    # Without one all scores are equal.
    assert skip_gram(table, 52).logits([filler, right])[-1].tolist() == [0.0, 0.5, 0.5]


def test_the_gap_is_the_smallest_of_every_row():
    table = np.eye(40)
    table[35, 0] = 1.001  # above the score 1 of the token itself
    (margin,) = skip_gram(table, 64).blocks[0].margins
    assert margin.gap == 1.001 - 1.0


@pytest.mark.parametrize("gap", [1e-12, 1e-7, 1e-3, 1.0, 1e6])
def test_the_least_sharpness_scales_as_the_inverse_of_the_gap(gap):
    """Up to the precision to which the least sharpness is computed."""
    least = skip_gram(np.eye(2), 9).least_sharpness()
    model = skip_gram(gap * np.eye(2), 9)
    assert model.least_sharpness() == pytest.approx(least / gap, rel=1e-3)
    with rejects("sharpness"):
        model.sharpened(least / gap / 2)


def test_at_every_sharpness_a_table_of_equal_scores_averages():
    model = skip_gram(np.ones((2, 2)), 8)
    assert model.blocks[0].margins[0].gap == np.inf
    tokens = [0, 1, 1, 0, 1]
    assert torch.equal(model.sharpened(0.01).logits(tokens), model.logits(tokens))
    assert model.least_sharpness() <= 0.01
    assert broad_average(3, 8).least_sharpness() <= 0.01
