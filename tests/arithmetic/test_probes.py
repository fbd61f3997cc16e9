"""Linear probes of residues: leave-one-out by one regression, against one for each row."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from theory.arithmetic.probes import probe_accuracies


@given(st.integers(0, 2**32 - 1), st.integers(2, 4), st.floats(0.01, 10))
def test_rows_left_out_one_by_one(seed, m, ridge):
    """By the normal equations on all rows but one, with a ridge on the constant, too."""
    rng = np.random.default_rng(seed)
    E, classes = rng.normal(size=(12, 5)), rng.integers(m, size=12)
    X = np.column_stack([E - E.mean(0), np.ones(12)])
    Y = np.eye(m)[classes]
    right = []
    for i in range(12):
        kept = np.arange(12) != i
        gram = X[kept].T @ X[kept] + ridge * np.eye(6)
        said = X[i] @ np.linalg.solve(gram, X[kept].T @ Y[kept])
        right.append(said.argmax() == classes[i])
    assert probe_accuracies(E, classes, ridge) == pytest.approx(np.mean(right))


def test_encoded_residues_are_predicted_and_others_are_not():
    rng, numbers = np.random.default_rng(0), np.arange(90)
    E = np.eye(3)[numbers % 3] + 0.1 * rng.normal(size=(90, 3))
    assert probe_accuracies(E, numbers % 3) == 1
    assert probe_accuracies(E, numbers % 5) < 0.4
    both = probe_accuracies(E, np.stack([numbers % 3, numbers % 5]))
    assert both.tolist() == [probe_accuracies(E, numbers % 3), probe_accuracies(E, numbers % 5)]


def test_one_row_has_no_others():
    with rejects("E"):
        probe_accuracies(np.ones((1, 2)), [0])
