"""Bucket tables and count-min by weights, beside the theory's own."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.structures import bucket_table, count_min
from theory import structures
from theory.structures import counts_of, table_lookup

HASHES = [[0, 2, 1, 0, 2, 2], [1, 1, 0, 2, 0, 1]]
SKETCH = count_min(HASHES, 3, max_length=50)


@pytest.mark.parametrize(("N", "T", "largest"), [(1, 1, 2), (2, 9, 5), (12, 3, 40), (3, 200, 7)])
def test_other_sizes(N, T, largest):
    rng = np.random.default_rng(N)
    points = np.stack([rng.choice(largest - 1, N, replace=False) + 1 for _ in range(30)])
    queries = np.tile(np.arange(largest + 1), (30, 1))
    cells = table_lookup(np.sort(points), queries, T, 0, largest)
    said = bucket_table(N, T, largest=largest)(points, queries).numpy()
    assert (said == np.take_along_axis(np.sort(points), cells, axis=-1)).all()


@given(stream=st.lists(st.integers(0, 5), min_size=1, max_size=50))
@settings(max_examples=25)
def test_sketches(stream):
    wanted = structures.count_min(counts_of(stream, 6), HASHES, 3)
    assert SKETCH(stream, range(6)).tolist() == wanted.tolist()


def test_batches_of_streams():
    stream = np.random.default_rng(0).integers(6, size=(2, 3, 10))
    asked = np.tile(np.arange(6), (2, 3, 1))
    wanted = structures.count_min(counts_of(stream, 6), np.tile(HASHES, (2, 3, 1, 1)), 3)
    assert (SKETCH(stream, asked).numpy() == wanted).all()
