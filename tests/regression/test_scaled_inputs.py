"""Models of examples at inputs that are very large or small: the exact answer, or an error."""

from itertools import product

import numpy as np
import pytest
import torch
from exact import read
from flint import fmpq
from refusals import rejects
from small_models import MODELS, PUBLIC

from constructions.examples import Examples
from verify.domains import Rational, outputs, written

BUILT = {name: PUBLIC[name](*given) for name, (given, _) in MODELS.items()}
OF_EXAMPLES = [name for name, model in BUILT.items() if isinstance(model.interface, Examples)]
POWERS = (-1000, -520, 0, 520, 1000)


def answers(name, *inputs):
    """The answers in float64, and those of the same weights and inputs over Q."""
    model, domain = BUILT[name], Rational()
    floats = np.ravel(model(*inputs).numpy())
    exact = outputs(model, written(model, domain, *(read(domain, each) for each in inputs)), domain)
    return floats, np.ravel(exact.tolist())[-floats.size :]


@pytest.mark.parametrize("name", OF_EXAMPLES)
def test_an_answer_at_scaled_inputs_is_right_if_it_is_given(name):
    rng, given = np.random.default_rng(0), 0
    inputs = [rng.standard_normal(np.shape(each)) for each in MODELS[name][1]]
    for powers in product(POWERS, repeat=3):
        scaled = [np.ldexp(each, power) for each, power in zip(inputs, powers, strict=True)]
        try:
            floats, exact = answers(name, *scaled)
        except ValueError:
            continue
        given += 1
        for found, wanted in zip(floats, exact, strict=True):
            # answers below the smallest float are rounded to it
            error = abs(fmpq(*found.item().as_integer_ratio()) - wanted)
            assert error <= abs(wanted) / 10**6 + fmpq(1, 2**1070), powers
    assert given > 1


@pytest.mark.parametrize("power", [-520, 520])
def test_a_square_or_product_out_of_range_is_rejected(power):
    x, y, query = ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])
    for model in map(BUILT.__getitem__, OF_EXAMPLES):
        with rejects("x", "float64"):
            model(np.ldexp(x, power), y, query)
        with rejects("x_query", "float64"):
            model(np.ldexp(x, power // 2), y, np.ldexp(query, np.sign(power) * 1000))


def test_a_sum_of_products_out_of_range_is_rejected():
    """The squares 2^1022 of the entries of x are float64 numbers, and their sum 2^1024 is not."""
    for model in map(BUILT.__getitem__, OF_EXAMPLES):
        with rejects("x", "float64"):
            model(np.full((2, 2), 2.0**511), np.ones(2), np.ones(2))


def test_one_tiny_example_is_rejected_where_each_square_is_a_divisor():
    x, y, query = [[1e-170, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0]
    with rejects("x"):
        BUILT["online_gradient_descent"](x, y, query)
    assert BUILT["gradient_descent"](x, y, query) == 1.0


def test_zeros_are_in_range_and_a_batch_is_as_its_prompts():
    model = BUILT["newton"]
    zeros = torch.zeros(3, 2, 2, dtype=torch.float64)
    assert (model(zeros, torch.ones(3, 2), torch.ones(3, 2)) == 0).all()
    zeros[1] = 1e-170
    with rejects("x"):
        model(zeros, torch.ones(3, 2), torch.ones(3, 2))
