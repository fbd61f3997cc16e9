"""kd-trees by weights, beside the theory's own."""

import numpy as np
import pytest

from constructions.structures import binary_search, kd_descent, kd_layout
from theory.structures import kd_order


@pytest.mark.parametrize(("N", "d"), [(3, 1), (15, 2), (31, 3)])
def test_other_sizes(N, d):
    points = np.random.default_rng(N).integers(-4, 5, size=(40, N, d))
    said = kd_layout(N, d, largest=5)(points).numpy()
    assert (np.take_along_axis(said, kd_order(points), axis=-1) == np.arange(N)).all()


def test_in_one_dimension_it_is_binary_search():
    points, queries = np.array([1, 2, 4, 5, 6, 7, 3]), np.arange(9)
    ordered = np.sort(points)[:, None]
    said = kd_descent(3, 1, largest=8)(ordered, queries[:, None])
    assert (said == binary_search(3, largest=8)(points, queries)).all()
