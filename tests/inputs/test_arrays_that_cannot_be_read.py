"""Arrays that are too large or of too many dimensions, and tensors that have no numbers."""

import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from refusals import rejects

import constructions
from constructions import first_symbol, induction_heads, newton, tripling
from constructions.tokens import binary_codes
from theory import arithmetic, computation, graphs, memory, regression
from theory.programs import expressions
from theory.programs.library import shuffle_dyck


def test_arrays_beyond_the_memory():
    with rejects("components", "memory"):
        graphs.components(np.broadcast_to(np.array(1), (10**7, 10**7)))
    with rejects("values", "memory"):
        arithmetic.bin_sizes(range(10**13))
    model = induction_heads(2, 4)
    for called in (model, model.logits, lambda tokens: model.generate(tokens, 2)):
        with rejects("tokens", "memory"):
            called(range(10**13))
    for count in (2**63, 10**400):
        with rejects("codes", "memory"):
            binary_codes(count)


def test_many_dimensions():
    with rejects("values", "dimensions"):
        arithmetic.bin_sizes(np.ones((1,) * 33))
    with rejects("values", "shape"):
        arithmetic.bin_sizes(np.ones((1,) * 32))


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_tensors_without_numbers():
    model = tripling(3, 1)
    quantized = torch.quantize_per_tensor(torch.ones(2, 2), 0.1, 0, torch.quint8)
    nested = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
    for each, word in ((quantized, "quantized"), (nested, "nested")):
        with rejects(word):
            model(each)


def test_residual_streams():
    model = induction_heads(2, 4)
    for wrong in ([0, 1], None, torch.ones(2)):
        with rejects("prompt"):
            model.residual_stream(wrong)
    for method in (model.seen, model.unembedding):
        others = [torch.ones(2, model.d_model, dtype=each) for each in (torch.int64, torch.float32)]
        for wrong in (2, [1.0], torch.ones(2, model.d_model + 1), torch.ones(()), *others):
            with rejects("H"):
                method(wrong)
    prompt = model.prompt([0, 1])
    (*_, last) = model.residual_stream(prompt)
    logits = model.unembedding(model.seen(last[..., prompt.answers, :]))
    assert torch.equal(logits, model.logits([0, 1]))


@pytest.mark.parametrize(
    ("model", "name"), [(induction_heads(2, 4), "W_E"), (first_symbol(4), "W_U")]
)
def test_weights_without_numbers(model, name):
    """Of NaN logits the first would be the answer."""
    weights = next(W for each, W in model.named_parameters() if each.endswith(name))
    weights.data.fill_(math.nan)
    for call in (model, lambda tokens: model.generate(tokens, 1)):
        with rejects("weight", name):
            call([0, 1])


def test_numbers_beyond_float64_are_refused_without_a_warning():
    """Where a long double is longer; and entries whose squares overflow."""
    if np.finfo(np.longdouble).max > np.finfo(float).max:
        with rejects("epsilon"):
            regression.hyperpower_steps(4.0, np.longdouble("1e4000"), 3)
    with rejects("X", "length"):
        memory.n_clusters([[1e308, 1e308], [1.0, 0.0]])


def test_negative_strides_of_examples():
    x = np.array([[0.5, 1.0, 0.25, 0.125]] * 3)
    model = newton(2, 1, 2.0**-6)
    assert model.converges(x[:, ::-2]) == model.converges(x[:, ::-2].copy())


def test_programs_of_other_types(unchecked):
    for wrong in ("x", None, 1):
        with rejects("program"):
            expressions(wrong)
    for wrong in (np.array(2), torch.tensor(2)):
        with rejects("pairs"):
            shuffle_dyck(wrong)


def test_parts_of_other_types(unchecked):
    program = computation.tree_sum(4, 2)
    for name in ("initial", "kinds"):
        for wrong in ({0: (1,)}, {"a": 1}, {"a": ("b",)}):
            with rejects(name if name == "kinds" else "initial"):
                replace(program, **{name: wrong})
    machine = computation.MACHINES["busy-beaver-2"]
    for wrong in (torch.ones(2, 2), np.zeros((0, 2), dtype=int), 1):
        with rejects("word"):
            machine.writing(wrong)
    for wrong in ([1], None, "no"):
        with rejects("register"):
            induction_heads(2, 4).stream.placement(wrong)
    circuit = induction_heads(2, 4)
    with rejects("samples"):
        constructions.circuit(circuit).edges_that_matter(max_length=4, samples=2**53 + 1)
    with rejects("path"):
        constructions.circuit(circuit).draw("a\nb")
    spectrum = regression.PrefixSpectrum(np.ones((4, 2)), np.ones(4), np.ones(2))
    with rejects("penalties"):
        spectrum.ridge(np.ones((2, 2)))
