import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions.stream import CONSTANT, LinearRead, Map, Stream, Term, number, one

STREAM = Stream(x=3, u=3, y=1)


def test_registers_lie_side_by_side_in_order():
    assert STREAM.d_model == 7
    assert [STREAM[name] for name in STREAM] == [slice(0, 3), slice(3, 6), slice(6, 7)]
    assert str(STREAM) == "x(3) u(3) y(1)"


@given(st.dictionaries(st.sampled_from("abcdefg"), st.integers(1, 5), min_size=1))
def test_registers_divide_every_stream(widths):
    stream = Stream(**widths)
    held = [index for name in stream for index in range(stream.d_model)[stream[name]]]
    assert held == list(range(stream.d_model)) == list(range(sum(widths.values())))


factors = st.integers(-8, 8).map(float)


@given(factors, factors, factors)
def test_readings_form_a_vector_space_and_matrix_is_linear(a, b, c):
    x, u = STREAM.read("x"), STREAM.read("u")
    combination = a * x + b * u - c * x
    H = np.random.default_rng(0).integers(-9, 9, (4, 7)).astype(float)
    weights, bias = STREAM.matrix(combination)
    assert not bias.any()
    assert np.array_equal(H @ weights, (a - c) * H[:, :3] + b * H[:, 3:6])
    assert all(term.factor != 0 for term in combination.terms)
    assert -1 * -combination == combination


@given(factors, factors)
def test_a_constant_is_added_to_every_coordinate(a, b):
    for reading in (a * STREAM.read("x") + b * one, b * one + a * STREAM.read("x")):
        weights, bias = STREAM.matrix(reading)
        assert reading.width == 3
        assert reading.constant.tolist() == [b] * 3
        assert np.array_equal(bias, [b] * 3)
        assert np.array_equal(weights[:3], a * np.eye(3))


@given(factors, factors, st.integers(1, 4), st.integers(0, 9))
def test_maps_are_matrices_on_the_way_out_of_a_register(a, b, width, seed):
    rng = np.random.default_rng(seed)
    W, v = rng.integers(-9, 9, (3, width)) * 1.0, rng.integers(-9, 9, (1, width)) * 1.0
    mapped = a * STREAM.read("u") @ Map(W, "W")
    H = rng.integers(-9, 9, (4, 7)).astype(float)
    weights, bias = STREAM.matrix(mapped + b * one @ Map(v, "v"))
    assert np.array_equal(H @ weights + bias, a * H[:, 3:6] @ W + b * v)


def test_the_same_map_twice_adds_up_and_another_does_not():
    W, other = Map(np.eye(3), "W"), Map(np.eye(3), "W")
    u = STREAM.read("u")
    assert str(u @ W + u @ W) == "2·u·W"
    assert len((u @ W + u @ other).terms) == 2
    assert str(u @ W - u @ W) == "0"


def test_placement_writes_its_register_and_no_other():
    assert np.array_equal(np.ones((1, 3)) @ STREAM.placement("u"), [[0, 0, 0, 1, 1, 1, 0]])


@pytest.mark.parametrize(
    ("reading", "text"),
    [
        (2 * STREAM.read("u") - STREAM.read("x"), "2·u − x"),
        (-STREAM.read("x"), "−x"),
        (STREAM.read("y") - one, "y − 1"),
        (-0.5 * STREAM.read("y") + 3 * one, "−2^−1·y + 3"),
        (STREAM.read("x") - STREAM.read("x"), "0"),
        (2 * STREAM.read("u") @ Map(np.eye(3), "W") - STREAM.read("x"), "2·u·W − x"),
        (STREAM.read("x") + one @ Map(np.ones((1, 3)), "b"), "x + b"),
    ],
)
def test_readings_print_as_formulas(reading, text):
    assert str(reading) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (1.0, "1"),
        (2.0, "2"),
        (8.0, "8"),
        (16.0, "2^4"),
        (0.5, "2^−1"),
        (-(2.0**-12), "−2^−12"),
        (2.0**1000, "2^1000"),
        (3.0, "3"),
        (-6.0, "−6"),
        (1000001.0, "1000001"),
        (0.1, "0.1"),
        (-1.25, "−1.25"),
        (3e-7, "3e−07"),
        (1e15 - 1, "9" * 15),
        (1e15, "1e+15"),
        (3 * 2.0**500, f"{3 * 2.0**500:g}"),
    ],
)
def test_numbers_print_as_a_theorem_would(value, text):
    assert number(value) == text


def test_widths_that_do_not_fit_are_refused():
    with rejects("x", "3", "y", "1"):
        STREAM.read("x") + STREAM.read("y")
    with rejects("x", "1", "3"):
        STREAM.matrix(Stream(x=1).read("x"))
    two = Stream(x=3, a=2).read("a")
    assert (two - two + one).width == 2  # a constant, of which each coordinate has its own
    with rejects("x", "3", "2"):
        STREAM.read("x") + (two - two + one)


def test_maps_that_do_not_fit_are_refused():
    with rejects("x", "3", "W", "(2, 2)"):
        STREAM.read("x") @ Map(np.eye(2), "W")
    with rejects():
        STREAM.read("x") @ Map(np.eye(3), "W") @ Map(np.eye(3), "V")
    for shape in ((3,), (0, 2), (2, 0), (2, 2, 1)):
        with rejects("b", str(shape)):
            Map(np.ones(shape), "b")


def test_unknown_registers_are_refused():
    for call in (STREAM.read, STREAM.__getitem__, STREAM.placement):
        with rejects("v", "x, u, y"):
            call("v")
    with rejects("v"):
        STREAM.matrix(LinearRead((Term("v", 1.0),), 1))


def test_streams_without_room_are_refused():
    with rejects("registers"):
        Stream()
    with rejects("y"):
        Stream(x=2, y=0)
    with rejects(CONSTANT):
        Stream(**{CONSTANT: 1})


@pytest.mark.parametrize("wrong", [None, [], "x", 1])
def test_only_registers_are_read(wrong, unchecked):
    with rejects("reading"):
        STREAM.matrix(wrong)
    if wrong != "x":
        with rejects("name"):
            STREAM.read(wrong)
    weights, bias = np.zeros((STREAM.d_model, 1)), np.zeros(1)
    with rejects("reading"):
        STREAM.write(wrong, weights, bias)
