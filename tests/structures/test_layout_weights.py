"""kd-trees by weights, beside the theory's own."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions.structures import binary_search, kd_descent, kd_layout
from theory.structures import in_order, kd_order, kd_search

LAYOUTS = {d: kd_layout(7, d, largest=8) for d in (1, 2, 3)}
DESCENTS = {d: kd_descent(3, d, largest=8) for d in (1, 2)}


@given(d=st.sampled_from([1, 2, 3]), data=st.data())
@settings(max_examples=12)
def test_layouts_with_ties(d, data):
    coordinate = st.tuples(*[st.integers(-7, 7)] * d)
    points = np.array(data.draw(st.lists(coordinate, min_size=7, max_size=7)))
    assert LAYOUTS[d](points)[kd_order(points)].tolist() == list(range(7))


@pytest.mark.parametrize(("N", "d"), [(3, 1), (15, 2), (31, 3)])
def test_other_sizes(N, d):
    points = np.random.default_rng(N).integers(-4, 5, size=(40, N, d))
    said = kd_layout(N, d, largest=5)(points).numpy()
    assert (np.take_along_axis(said, kd_order(points), axis=-1) == np.arange(N)).all()


@given(d=st.sampled_from([1, 2]), seed=st.integers(0, 10**6))
@settings(max_examples=10)
def test_descents_with_ties(d, seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(1, 8, size=(7, d))
    points, queries = in_order(points, kd_order(points)), rng.integers(9, size=(5, d))
    model = DESCENTS[d]
    passed = list(model.streams(points, queries))
    held = [passed[stage.after][7:, model.stream["m"]] for stage in model.stages]
    wanted = kd_search(points, queries, 3)
    assert (torch.cat(held, dim=-1).numpy() == wanted).all()
    leaf, axis = wanted[:, -1], 2 % d
    assert (model(points, queries).numpy() == leaf + (points[leaf, axis] <= queries[:, axis])).all()


def test_in_one_dimension_it_is_binary_search():
    points, queries = np.array([1, 2, 4, 5, 6, 7, 3]), np.arange(9)
    ordered = np.sort(points)[:, None]
    said = DESCENTS[1](ordered, queries[:, None])
    assert (said == binary_search(3, largest=8)(points, queries)).all()
