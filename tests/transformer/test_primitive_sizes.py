"""What MLP primitives and maps reject: keys, margins and sizes that do not fit."""

import numpy as np
import pytest
from refusals import rejects

from constructions.assembly import mlp, unembed
from constructions.primitives import Clip, Interpolation, Move, Staircase, Step, Table
from constructions.stream import Map, Stream, one

STREAM = Stream(x=2, u=2, y=1, s=1)
X, Y = STREAM.read("x"), STREAM.read("y")


@pytest.mark.parametrize(
    "keys",
    [
        [[1, 0], [1, 0]],
        [[1, 0], [2, 0]],
        [[0.5, 0], [0, 1]],
        [[0.5, 0], [0, 0.5]],
        [[0, 0], [0, 1]],
        np.zeros((2, 2)),
        np.eye(3),
    ],
)
def test_keys_that_are_not_told_apart_are_refused(keys):
    with rejects("keys"):
        Table(X, np.array(keys, dtype=float), np.ones((2, 1)), "s")


@pytest.mark.parametrize("margin", [0.0, -1.0, 0.3, 3.0])
def test_margins_that_are_no_powers_of_two_are_refused(margin):
    with rejects("margin"):
        Step(Y, 1.0, "s", margin)


def test_an_empty_clip_is_refused():
    with rejects("low", "high"):
        Clip(Y, 1.0, 1.0, "s")


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (lambda: Table(Y, np.eye(2), np.ones((2, 1)), "s"), "keys 2 1"),
        (lambda: Table(X, np.eye(2), np.ones((3, 1)), "s"), "keys 2 entries 3"),
        (lambda: Table(X, np.zeros((1, 2)), np.ones((1, 1)), "s"), "keys"),
        (lambda: staircase(at=[1.0, 2.0], margins=[0.5]), "2 margins 1"),
        (lambda: staircase(at=[1.0], margins=[0.5], entries=np.ones((2, 1))), "entries 2"),
        (lambda: staircase(at=[], margins=[], entries=np.ones((0, 1))), "0"),
        (lambda: staircase(at=[1.0], margins=[0.3]), "margin"),
        (lambda: staircase(at=[1.0], margins=[-0.5]), "margin"),
        (lambda: Interpolation(Y, np.array([0, 0]), np.array([[0.0], [1.0]]), "s"), "knots"),
        (lambda: Interpolation(Y, np.array([0, 1]), np.array([[0.0]]), "s"), "knots"),
        (lambda: Interpolation(Y, np.array([0, 1]), np.array([[1.0], [0.0]]), "s"), "entry"),
        (lambda: unembed(STREAM, X, Y + one), "constant"),
        (lambda: mlp(STREAM, [Move(one @ Map(np.ones((1, 3)), "v"), "x")]), "3 2"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(make, names):
    with rejects(*names.split()):
        make()


def staircase(at, margins, entries=None):
    entries = np.ones((len(at), 1)) if entries is None else entries
    return Staircase(Y, np.array(at), np.array(margins), entries, "s")


def test_keys_of_different_norms_are_told_apart_up_to_the_limit():
    """Products of different integer keys are at most ‖key‖² − 1."""
    Table(X, np.array([[1.0, 0.0], [0.0, 2.0]]), np.ones((2, 1)), "s")
    Table(X, np.array([[2.0, 1.0], [1.0, 2.0]]), np.ones((2, 1)), "s")
    Table(X, np.array([[2.0, -1.0], [1.0, 2.0]]), np.ones((2, 1)), "s")
    Table(X, np.array([[2.0, 0.0], [1.0, 3.0]]), np.ones((2, 1)), "s")
    with rejects("keys"):
        Table(X, np.array([[2.0, 0.0], [2.0, 1.0]]), np.ones((2, 1)), "s")
