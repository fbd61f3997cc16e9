"""Approximate inverses G_p with S·G_p = I − (I − S M₀)^p, whatever was computed before."""

import numpy as np
import pytest
from flint import fmpq_mat

from constructions import gradient_descent, newton
from constructions.regression.stages import Powers, Prediction
from theory.regression.matrices import InversesOfPowers, identity, matrix_power, start_matrix
from verify.domains import Rational
from verify.domains.sizes import LARGEST, ZERO, TropicalMatrix
from verify.evidence.registers import sides
from verify.evidence.statement import OverExamples, rational_instance

Q = Rational()
X = Q.matrix(rational_instance(np.random.default_rng(0), 2, 3).X)
S = X.transpose() * X


@pytest.mark.parametrize("start", ["gram", "identity"])
@pytest.mark.parametrize(
    "powers", [range(9), (5, 5, 6, 13, 12, 3, 0, 1), (1, 2, 4, 8, 16), (27, 54, 55)]
)
def test_inverses_in_any_order(start, powers):
    of = InversesOfPowers(Q, S, 0.25, start)
    unit = identity(Q, 2)
    E = unit - S * start_matrix(Q, S, 0.25, start)
    for p in powers:
        assert S * of[p] == unit - matrix_power(Q, E, p)


class Counting:
    """A matrix that counts the products of which it is the first factor."""

    def __init__(self, matrix):
        self.matrix, self.products = matrix, 0

    def __mul__(self, other):
        self.products += 1
        return self.matrix * other


def test_powers_in_turn_take_two_products_each():
    of = InversesOfPowers(Q, S, 0.25, "gram")
    of.E = Counting(of.E)
    for p in range(1, 40):
        of[p]
        assert of.E.products == 2 * p


def test_invariants_of_other_labels_of_the_same_inputs():
    prediction = Prediction(2, Powers(0.25, "gram"))
    query, labels = fmpq_mat(1, 2, [1, -2]), [fmpq_mat(3, 1, y) for y in ([1, 2, -3], [0, 1, 5])]
    both = labels[0] + labels[1]
    found = [prediction(Q, X, y, query) for y in (*labels, both)]
    assert found[0] + found[1] == found[2] != found[0]


def test_invariants_of_several_examples_in_turn():
    """The moments of the latest examples are shared by the invariants, and by no others."""
    rng = np.random.default_rng(1)
    for model in (gradient_descent(2, 3, 0.125, causal=True), newton(2, 2, 0.25)):
        case = OverExamples(lambda d, n, k, model=model: model, lambda *_: None).at(2, 3, 0)
        for given in [rational_instance(rng, 2, 3) for _ in range(2)] * 2:
            found = sides(case, given)
            assert found
            assert all(side.held == side.wanted for side in found)


def test_products_of_upper_bounds_by_definition():
    """(A B)_ij = max_k (A_ik + B_kj), with many equal rows and with none."""
    rng = np.random.default_rng(0)
    for rows, high in ((60, 2), (60, 1000), (400, 1)):
        A, B = (rng.integers(0, high, (rows, 40)), rng.integers(0, high, (40, rows)))
        A[rng.random(A.shape) < 0.3] = ZERO
        found = (TropicalMatrix(A) * TropicalMatrix(B)).array
        i = rng.integers(0, rows, (50, 2))
        for a, b in i.tolist():
            wanted = max(max(int(x + y) for x, y in zip(A[a], B[:, b], strict=True)), ZERO)
            assert found[a, b] == wanted


@pytest.mark.parametrize("n", [2, 40, 400])  # products of few rows, and of more
def test_products_of_upper_bounds_end_at_the_largest(n):
    A = TropicalMatrix(np.full((n, n), LARGEST - 1))
    for _ in range(4):
        A = A * A
        assert (A.array == LARGEST).all()
