"""Inputs and sizes that models of structures reject beyond what kinds can express."""

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.structures import (
    binary_search,
    bucket_table,
    count_min,
    kd_descent,
    kd_layout,
    sort,
)
from constructions.structures.cells import check_dtype

LINE, PLANE, DESCENT = kd_layout(7, 1, largest=8), kd_layout(7, 2), kd_descent(3, 2, largest=8)
BINARY, SKETCH = binary_search(2), count_min([[0, 2, 1], [1, 1, 0]], 3, max_length=50)


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        # sizes
        (lambda: kd_layout(6, 2), "n_points"),
        (lambda: kd_layout(1, 2), "n_points"),
        (lambda: kd_layout(2**30 - 1, 2), "n_points"),
        (lambda: kd_layout(3, 2, largest=2**60), "largest"),
        (lambda: binary_search(3, largest=2**60), "largest"),
        (lambda: bucket_table(3, 1, largest=2**20), "largest"),
        (lambda: bucket_table(10**6, 1), "n_points"),
        (lambda: sort(2**25, largest=2), "cells"),
        (lambda: sort(4, largest=2), "largest"),
        (lambda: binary_search(11), "largest"),
        (lambda: bucket_table(8, 1, largest=8), "largest"),
        # clouds
        (lambda: PLANE(np.ones((6, 2))), "points"),
        (lambda: PLANE(np.ones((7, 3))), "points"),
        (lambda: LINE(np.full((7, 1), 0.5)), "points"),
        (lambda: LINE(np.full((7, 1), np.nan)), "points"),
        (lambda: LINE(np.full((7, 1), 8)), "points"),
        (lambda: kd_layout(7, 2).half()(np.ones((7, 2))), "largest"),
        (lambda: DESCENT(np.ones((7, 2)), np.ones((1, 3))), "queries"),
        (lambda: DESCENT(np.ones((6, 2)), np.ones((1, 2))), "points"),
        (lambda: DESCENT(np.ones((7, 3)), np.ones((1, 3))), "points"),
        (lambda: DESCENT(np.ones((7, 2)), [[9, 1]]), "queries"),
        (lambda: DESCENT(np.zeros((7, 2)), [[1, 1]]), "points"),
        # cells
        (lambda: BINARY([1, 2], [1]), "points"),
        (lambda: BINARY([1, 2, 2], [1]), "points"),
        (lambda: BINARY([1, 2, 2.5], [1]), "points"),
        (lambda: BINARY([0, 2, 3], [1]), "points"),
        (lambda: BINARY([1, 2, 3], [1025]), "queries"),
        (lambda: BINARY([1, 2, 3], [[1]]), "queries"),
        (lambda: BINARY([1, 2, np.nan], [1]), "points"),
        (lambda: BINARY([1, 2, 3]), "points queries"),
        (lambda: binary_search(3).half()(range(1, 8), [1]), "largest"),
        (lambda: sort(2)([1, 1]), "points"),
        (lambda: sort(2)([1, 2**20]), "points"),
        # streams
        (lambda: SKETCH([0.5], [1]), "stream"),
        (lambda: SKETCH([3], [1]), "stream"),
        (lambda: SKETCH([0] * 51, [1]), "stream"),
        (lambda: SKETCH([[0]], [1]), "queries"),
        (lambda: SKETCH([0]), "stream queries"),
    ],
)
def test_what_is_rejected(call, parameter):
    with rejects(*parameter.split()):
        call()


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64], ids=str)
def test_half_integers_of_a_dtype(dtype):
    """Half-integers up to the largest number are exact, and one above is rounded."""
    most = int(1 / torch.finfo(dtype).eps)
    like = torch.zeros(1, dtype=dtype)
    check_dtype(like, most)
    assert (like + most - 1) + 0.5 == (like + most) - 0.5 < most
    assert (like + most) + 0.5 == most
    with rejects("half-integers"):
        check_dtype(like, most + 1)


def test_a_sketch_in_float16_counts_at_most_512_items():
    hashes = [[0, 1], [1, 0]]
    assert count_min(hashes, 2, max_length=512).half()([0] * 512, [0, 1]).tolist() == [512, 0]
    with rejects("float16"):
        count_min(hashes, 2, max_length=513).half()([0], [0])
