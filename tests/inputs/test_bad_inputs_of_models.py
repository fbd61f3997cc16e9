"""Every model raises an error of one line for inputs that are not arrays of real numbers."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from refusals import rejects
from small_models import MODELS, PUBLIC

import constructions

BAD = {
    "complex numpy": np.array([[1 + 1j, 2.0], [3.0, 4.0]]),
    "complex torch": torch.ones(2, 2, dtype=torch.complex64),
    "complex numbers": [[1j, 2.0], [3.0, 4.0]],
    "none": None,
    "nones": [[None, 1.0], [2.0, 3.0]],
    "words": [["a", "b"], ["c", "d"]],
    "ragged": [[1.0, 2.0], [3.0]],
    "sparse": torch.eye(2).to_sparse(),
    "meta": torch.ones(2, 2, device="meta"),
    "too large an integer": [[10**400, 1], [1, 1]],
    "NaN": [[np.nan, 1.0], [1.0, 1.0]],
    "booleans": np.array([[True, False], [True, True]]),
    "masked": np.ma.masked_array([[1, 0], [0, 1]], [[False, True], [False, False]]),
}
NO_BUILDERS = {"Inverse", "Prediction", "log_probabilities", "predictions", "retrieve", "sample"}
NO_BUILDERS |= {"decoded_answers", "string_probabilities", "to_circuit"}


def test_every_builder_is_here():
    assert set(MODELS) == set(PUBLIC) - NO_BUILDERS


@pytest.fixture(params=MODELS, scope="module")
def model(request):
    given, inputs = MODELS[request.param]
    return PUBLIC[request.param](*given), inputs


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.filterwarnings("error")
def test_models_refuse_it_in_every_place(kind, model, unchecked):
    built, inputs = model
    built(*inputs)
    for place in range(len(inputs)):
        with rejects():
            built(*inputs[:place], BAD[kind], *inputs[place + 1 :])


def test_models_take_inputs_with_gradients_and_fractions(model):
    built, inputs = model
    wanted = built(*inputs)
    if any(isinstance(entry, float) for entry in np.ravel(inputs[0]).tolist()):
        tracked = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in inputs]
        assert torch.equal(built(*tracked).detach(), wanted)
        exact = [np.vectorize(Fraction, otypes=[object])(np.array(each)) for each in inputs]
        assert torch.equal(built(*exact), wanted)


def test_models_take_another_byte_order_and_no_prompts(model):
    built, inputs = model
    arrays = [np.array(each) for each in inputs]
    swapped = [each.astype(each.dtype.newbyteorder()) for each in arrays]
    backwards = [each[..., ::-1].copy()[..., ::-1] for each in arrays]
    assert torch.equal(built(*swapped), built(*inputs))
    assert torch.equal(built(*backwards), built(*inputs))
    answers = built(*(np.zeros((0, *each.shape), dtype=each.dtype) for each in arrays))
    assert answers.shape[0] == 0


@pytest.mark.parametrize(
    "where",
    [
        *("nosuch", 99, 3.5, 10**30, torch.int32, torch.float8_e4m3fn, np.float32, "cuda:99"),
        *(torch.complex64, complex, 1j, torch.ones(1, dtype=torch.complex64)),
    ],
    ids=str,
)
def test_conversions_that_torch_lacks_are_refused(where):
    built = constructions.newton(2, 1, 0.5)
    with rejects():
        built.to(where)
    assert built.to(torch.float32).like.dtype == torch.float32


def test_a_model_without_numbers_is_refused():
    with rejects("meta"):
        constructions.induction_heads(3, 4).to("meta")([[0, 1]])


def test_queries_of_points_are_an_array_of_vectors():
    with rejects("queries"):
        constructions.kd_descent(1, 2)([[1, 2]], [0, 1])


@pytest.mark.parametrize("kind", BAD)
def test_retrieve_refuses_it(kind, unchecked):
    with rejects("patterns"):
        constructions.retrieve(BAD[kind], [[1.0, 2.0]], 1.0)
    with rejects("queries"):
        constructions.retrieve([[1.0, 2.0]], BAD[kind], 1.0)
