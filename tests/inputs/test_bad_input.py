"""What is no array of real numbers, given to every public function, is refused in one line."""

import inspect
from fractions import Fraction

import numpy as np
import pytest
import torch

import constructions
from theory import (
    arithmetic,
    computation,
    graphs,
    language,
    memory,
    regression,
    retrieval,
    sensitivity,
    structures,
)
from theory.checks import InputError

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
}
MODELS = {
    # builder: its arguments and good inputs
    "newton": ((2, 1, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "gradient_descent": ((2, 1, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "chebyshev": ((2, 1, 1.0, 2.0), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "hyperpower": ((2, 1, 3, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "newton_with_pauses": ((2, 1, 0.5), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "online_gradient_descent": ((2, 2), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "nearest_neighbour": ((2,), ([[1.0, 0.0], [0.0, 1.0]], [1.0, 2.0], [1.0, 1.0])),
    "induction_heads": ((3, 4), ([[0, 1], [1, 2]],)),
    "hop": ((1, 3, 4), ([[0, 1], [1, 2]],)),
    "previous_token": ((3, 4), ([[0, 1], [1, 2]],)),
    "broad_average": ((3, 4), ([[0, 1], [1, 2]],)),
    "in_context_ngram": ((3, 2, 4), ([[0, 1], [1, 2]],)),
    "composition": ((1,), ([[0, 0, 0], [0, 0, 0]],)),
    "fact_lookup": ((), ([[0, 1], [1, 2]],)),
    "gridworld_walk": ((2, 4), ([[0, 1], [1, 0]],)),
    "dyck": ((1, 4), ([[0, 1], [1, 0]],)),
    "from_counting": (("#a >= #b", 4), ([[0, 1], [1, 0]],)),
    "from_formula": (("once a", "ab", 4), ([[0, 1], [1, 0]],)),
    "circuit_evaluator": ((1, 1), ([[0, 2, 18, 18]],)),
    "turing_machine": ((computation.MACHINES["busy-beaver-2"], 4), ([[0, 1], [1, 0]],)),
    "scratchpad": ((computation.S3, 2), ([[0, 1], [1, 1]],)),
    "prefix_sums": ((4,), ([[0, 1], [1, 1]],)),
    "connected_components": ((2, 2), ([[1, 2], [2, 2]],)),
    "pram": ((computation.list_ranking(2),), ([1, 0],)),
    "parity": ((4,), ([[0, 1], [1, 0]],)),
    "parity_bounded": ((2,), ([[0, 1], [1, 0]],)),
    "first_letter": ((4,), ([[0, 1], [1, 0]],)),
    "first_letter_bounded": ((4,), ([[0, 1], [1, 0]],)),
    "majority": ((4,), ([[0, 1], [1, 0]],)),
    "semiautomaton": ((computation.S3, 4), ([[0, 1], [1, 0]],)),
    "shortcut": ((computation.S3, 4), ([[0, 1], [1, 0]],)),
    "squaring": ((2, 1), ([[1, 1], [1, 1]],)),
    "search": ((2,), ([[0, 1], [1, 2]],)),
    "tripling": ((2, 1), ([[1, 1], [1, 1]],)),
    "disentangled": ((2, 1), ([[1, 1], [1, 1]],)),
    "two_cycles": ((1,), (graphs.cycles(8),)),
    "adder": ((7, 5, 0.5), ([[0, 7], [3, 4]],)),
    "linear_adder": ((7,), ([[0, 7], [3, 4]],)),
    "modular_addition": ((5,), ([[0, 4], [3, 4]],)),
    "skip_gram": (([[0.0, 1.0], [1.0, 0.0]],), ([[0, 1], [1, 1]],)),
    "hopfield_update": (([[0.0, 1.0], [1.0, 0.0]],), ([[1, -1], [1, 1]],)),
    "hebbian_attention": (([[1, -1], [1, 1]],), ([[1, -1], [1, 1]],)),
    "modern_hopfield_update": (([[1.0, 2.0]], 1.0), ([[1.0, 0.0], [0.0, 1.0]],)),
    "hopfield_attention": (
        ([[1.0, 0.0], [0.0, 1.0]],) * 3,
        ([[1.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]),
    ),
    "parity_with_steps": ((2, 2), ([[0, 1], [1, 0]],)),
    "parity_by_linear_tokens": ((2, [0, 1]), ([[0, 1], [1, 0]],)),
    "subset_parity": ((2, [0]), ([[0, 1], [1, 0]],)),
    "conjunction": ((2, [0, 1]), ([[0, 1], [1, 0]],)),
    "junta": ((2, [1], [0, 1]), ([[0, 1], [1, 0]],)),
    "fact_model": (([[0, 0], [0, 1]], [0, 1], [0, 1], 2, "memoriser"), ([[2, 0], [2, 1]],)),
    "string_model": (([[0, 0], [0, 1]], [0, 1], 2), ([[2, 0], [2, 1]],)),
    "binary_search": ((1,), ([[1], [2]], [[0, 1], [3, 2]])),
    "interpolation_search": ((2, 2), ([[1, 2], [4, 3]], [[0, 1], [3, 2]])),
    "sort": ((2,), ([[0, 1], [1, 0]],)),
    "kd_layout": ((3, 2), ([[0, 1], [1, 0], [1, 1]],)),
    "kd_descent": ((1, 2), ([[1, 2]], [[0, 1], [3, 2]])),
    "bucket_table": ((2, 1), ([[1, 2], [3, 1]], [[0, 1], [3, 2]])),
    "count_min": (([[0, 1], [1, 0]], 2), ([[0, 1], [1, 0]], [[0, 1], [1, 0]])),
    "sphere_dynamics": ((2, 1.0, 0.5, 2), ([[1.0, 0.0], [0.0, 1.0]],)),
}
ARRAYS = {"ArrayLike", "Any", "Real", "ArrayLike | None"}


def refused(call, *given):
    with pytest.raises(InputError) as refusal:
        call(*given)
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


@pytest.fixture(params=MODELS)
def model(request):
    given, inputs = MODELS[request.param]
    return getattr(constructions, request.param)(*given), inputs


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.filterwarnings("error")
def test_models_refuse_it_in_every_place(kind, model, unchecked):
    built, inputs = model
    built(*inputs)
    for place in range(len(inputs)):
        refused(built, *inputs[:place], BAD[kind], *inputs[place + 1 :])


def test_models_take_inputs_with_gradients_and_fractions(model):
    built, inputs = model
    wanted = built(*inputs)
    if any(isinstance(entry, float) for entry in np.ravel(inputs[0]).tolist()):
        tracked = [torch.tensor(each, dtype=torch.float64, requires_grad=True) for each in inputs]
        assert torch.equal(built(*tracked).detach(), wanted)
        exact = [np.vectorize(Fraction, otypes=[object])(np.array(each)) for each in inputs]
        assert torch.equal(built(*exact), wanted)


@pytest.mark.parametrize("kind", BAD)
@pytest.mark.parametrize(
    "name", [n for n, (given, _) in MODELS.items() if given and isinstance(given[0], list)]
)
def test_builders_refuse_matrices_of_it(kind, name, unchecked):
    given, _ = MODELS[name]
    for place, value in enumerate(given):
        if isinstance(value, list):
            refused(getattr(constructions, name), *given[:place], BAD[kind], *given[place + 1 :])
    refused(constructions.retrieve, BAD[kind], [[1.0, 2.0]], 1.0)
    refused(constructions.retrieve, [[1.0, 2.0]], BAD[kind], 1.0)


TOPICS = (
    *(arithmetic, computation, graphs, language, memory, regression),
    *(retrieval, sensitivity, structures),
)


def in_first_place(module):
    """The module's functions whose first argument is an array."""
    for name in module.__all__:
        function = getattr(module, name)
        if not inspect.isfunction(function):
            continue
        first = next(iter(inspect.signature(function).parameters.values()), None)
        kind = getattr(first.annotation, "__name__", first.annotation) if first else ""
        if str(kind) in ARRAYS or "ArrayLike" in str(kind) or "_SupportsArray" in str(kind):
            yield pytest.param(function, id=name)


@pytest.mark.parametrize(
    "function",
    [each for module in TOPICS for each in in_first_place(module)],
)
def test_theory_refuses_it_in_the_first_place(function, unchecked):
    """Whatever the other arguments are: good ones for most, by their kind."""
    good = {"float": 0.5, "int": 2, "str": "gram", "bool": False}
    first, *others = inspect.signature(function).parameters.values()
    given = []
    for parameter in others:
        if parameter.default is not inspect.Parameter.empty or parameter.kind != first.kind:
            break
        name = getattr(parameter.annotation, "__name__", str(parameter.annotation))
        given.append(good.get(name, [[1.0, 0.0], [0.0, 1.0]]))
    for kind, bad in BAD.items():
        if kind == "ragged" and function.__name__ == "evaluate":
            continue
        with pytest.raises(ValueError) as refusal:  # noqa: PT011  one line, whatever it says
            function(bad, *given)
        assert isinstance(refusal.value, InputError), (kind, refusal.value)
        assert "\n" not in str(refusal.value), kind
