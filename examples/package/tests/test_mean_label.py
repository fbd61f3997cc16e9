"""The model is held to the theory's function."""

import numpy as np
from mean_label import mean_of, mean_of_labels


def test_the_mean_is_that_of_the_theory():
    x, y = np.ones((4, 7, 3)), np.random.default_rng(0).normal(size=(4, 7))
    assert np.allclose(mean_of_labels(3)(x, y, x[:, 0]), mean_of(y), rtol=1e-15)
