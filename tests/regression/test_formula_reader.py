"""What the reader of formulas takes from the tensors: scales, biases, norms and sums of heads."""

from __future__ import annotations

import pytest
import torch
from refusals import rejects

from constructions import gradient_descent, newton
from constructions.attention import Attention
from constructions.blocks import MLP, UnitNorm
from constructions.formulas import register_program
from constructions.stream import Stream
from theory.regression import NoFormula


def write(stream: Stream, register: str) -> torch.Tensor:
    """The matrix (width, D) that writes to a register; its transpose reads the register."""
    return torch.eye(sum(stream.widths.values())).double()[stream[register]]


def test_the_scale_of_the_scores_is_a_factor_of_the_formula():
    model = gradient_descent(3, 1, 0.25)
    model.blocks[0].attn.scale = 2.0
    assert model.formula() == gradient_descent(3, 1, 0.5).formula()


def test_maps_of_several_heads_with_the_diagonal_mask_are_added():
    """Two heads with the score 1 add x to u each."""
    model = newton(3, 2, 0.25)
    zeros, one = torch.zeros(2, model.d_model, 1).double(), torch.ones(2, 1).double()
    W_V = write(model.stream, "x").T.expand(2, -1, 3)
    W_O = write(model.stream, "u").expand(2, 3, -1)
    model.blocks[0].attn = Attention(
        zeros, zeros, W_V, W_O, one, one, normalise="linear", mask="diagonal"
    )
    assert register_program(model).layers[0].own == {("x", "u"): 2}


def test_a_derivation_repeats_no_register_that_a_layer_leaves_alone():
    assert newton(3, 2, 0.25).derivation().count("y = y") == 1


def test_a_normalisation_of_the_whole_block_is_outside_the_theorem():
    model = newton(3, 2, 0.25)
    model.blocks[1].norm = UnitNorm()
    with rejects("layer 2", error=NoFormula):
        model.formula()


@pytest.mark.parametrize("other", [-1.0, 1.0])
def test_neurons_are_opposite_only_if_their_biases_are(other):
    """relu(y + 1) − relu(−y − 1) = y + 1, but relu(y + 1) − relu(−y + 1) is not linear in y."""
    model = newton(3, 2, 0.25)
    y, estimate = (write(model.stream, register) for register in ("y", "estimate"))
    signs, zeros = torch.tensor([[1.0], [-1.0]]).double(), torch.zeros(model.d_model).double()
    biases = torch.tensor([1.0, other]).double()
    model.blocks[0].mlp = MLP((signs * y).T, biases, signs * estimate, zeros)
    if other < 0:
        added = {("y", "estimate"): 1, ("1", "estimate"): 1}
        assert register_program(model).layers[0].mlp == added
    else:
        with rejects("layer 1", "neuron 1", error=NoFormula):
            register_program(model)


def test_equal_layers_have_weights_of_their_own():
    """Most layers of a long ladder are equal: a fault in one of them is in no other."""
    model, before = (newton(2, 40, 0.25, "ladder") for _ in range(2))
    faulty = model.blocks[12].attn
    assert any(torch.equal(faulty.W_V, other.attn.W_V) for other in model.blocks[13:-1])
    with torch.no_grad():
        faulty.W_V.flatten()[int(faulty.W_V.flatten().nonzero()[0])] *= 2
    for number, (ours, other) in enumerate(zip(model.blocks, before.blocks, strict=True)):
        assert torch.equal(ours.attn.W_V, other.attn.W_V) == (number != 12)
    with rejects("layer 13", error=NoFormula):
        model.formula()


def test_heads_of_relu_are_opposite_only_if_their_keys_are_equal():
    """Also the biases of their keys."""
    model = newton(3, 2, 0.25, "paper", n=4)
    with torch.no_grad():
        model.blocks[1].attn.b_K[0] += 1
    with rejects("layer 2", "head 1", error=NoFormula):
        model.formula()


def merged(model):
    """The same stream, in which two registers of width 3 are one."""
    first, second = list(model.stream.widths.items())[:2]
    rest = dict(list(model.stream.widths.items())[2:])
    model.stream = Stream(**{first[0]: first[1] + second[1]}, **rest)


def two_outputs(model):
    model.unembed.W_U = torch.nn.Parameter(model.unembed.W_U.repeat(1, 2))


def any_number_of_examples(model):
    model.interface.n = None


@pytest.mark.parametrize(
    ("change", "names"),
    [(merged, "widths"), (two_outputs, "2"), (any_number_of_examples, "examples layer")],
)
def test_what_is_outside_the_theorem_is_named(change, names):
    model = newton(3, 2, 0.25, "paper", n=4)
    register_program(model)
    change(model)
    with rejects(*names.split(), error=NoFormula):
        register_program(model)


def test_kinds_are_those_of_the_registers():
    model = newton(1, 1, 0.25)
    kinds = dict.fromkeys(model.stream.widths, "scalar")
    for wrong in ({}, {"z": "scalar"}, kinds | {"z": "scalar"}):
        with rejects("names", error=NoFormula):
            register_program(model, wrong)
