"""What the evidence "formula" compares: tensors at several d, pairs of ReLUs, and the algorithm."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from refusals import rejects

from constructions import newton
from constructions.blocks import MLP
from constructions.transformer import Transformer
from theory.regression import NoFormula
from verify.claim import Run
from verify.domains.base import NotPolynomial
from verify.domains.modular import Modular, random_prime
from verify.evidence.formula import derivation, formula
from verify.evidence.statement import Case
from verify.finding import Verdict
from verify.regression.statements import descent_statement, newton_statement


def small(fault: Callable[[Transformer], Transformer]) -> tuple[Run, Case]:
    run = Run(fault=fault)
    return run, newton_statement(run, "direct", "gram", 0.25).at(3, 4, 2)


def test_a_derivation_is_read_from_the_tensors():
    """Also its heads: a changed weight changes the line of its head."""
    model = newton(2, 2, 0.25)
    assert "head 1: score ⟨u, x⟩, value −½u → u" in model.derivation()
    with torch.no_grad():
        model.blocks[1].attn.W_V *= -3
    assert "head 1: score ⟨u, x⟩, value 3/2 u → u" in model.derivation()
    assert "n = 3 examples" in newton(2, 1, 0.25, "paper", n=3).derivation()


def test_a_derivation_shows_constants_that_are_added():
    model = newton(2, 1, 0.25)
    bias = torch.zeros(model.d_model)
    bias[model.stream["y"]] = 0.5
    to_none = torch.zeros(1, model.d_model)
    model.blocks[-1].mlp = MLP(to_none.T, torch.zeros(1), to_none, bias)
    assert model.derivation().count("mlp: ½ → y\n") == 1


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda model: model.to("meta"), ("embed.W_E",)),
        (lambda model: model.to(torch.float16), ("blocks.18.attn.W_V", "infinite")),
        (lambda model: model.blocks[2].attn.W_K.fill_(torch.nan), ("blocks.2.attn.W_K", "NaN")),
    ],
)
def test_weights_that_are_no_numbers_are_named(change, words):
    model = newton(2, 20, 0.25)
    with torch.no_grad():
        change(model)
    with rejects(*words, error=NoFormula):
        model.formula()


def with_masks(*masks: str) -> Callable[[Transformer], Transformer]:
    def fault(model: Transformer) -> Transformer:
        block = next(block for block in model.blocks if block.attn is not None)
        block.attn.masks = masks
        return model

    return fault


@pytest.mark.parametrize("masks", [("causal", "context-only"), ("context-only", "full")])
def test_relu_heads_with_different_masks_are_no_pair(masks):
    run = Run(fault=with_masks(*masks))
    paper = newton_statement(run, "paper", "gram", 1 / 32).at(3, 4, 2)
    assert formula(run, paper).verdict is Verdict.UNDECIDED
    domain = Modular(random_prime(run.rng))
    with pytest.raises(NotPolynomial):
        paper.agrees(paper.random(domain, run.rng))


def test_a_model_that_divides_by_n_and_takes_fewer_examples_is_outside():
    model = newton(2, 1, 0.25, "paper", n=5)
    model.interface.at_most = True
    with rejects("fewer examples", error=NoFormula):
        model.formula()


def first_row(of, matrix):
    return of.matrix([matrix.tolist()[0]])


@pytest.mark.parametrize(
    "algorithm",
    [
        lambda of, X, y, q, k: of.number(1, X.nrows()) * (q * X.transpose() * y),
        lambda of, X, y, q, k: (
            q * of.matrix([X.tolist()[0]]).transpose() * of.matrix([y.tolist()[0]])
        ),
    ],
    ids=["divided by n", "the first example"],
)
def test_algorithms_of_another_form_are_noticed(algorithm):
    """For d = n = 1 they predict x_qᵀ Xᵀ y."""
    run = Run()
    right = descent_statement(run, "direct", 1.0)
    found = formula(run, replace(right, algorithm=algorithm).at(5, 10, 1))
    assert found.verdict is Verdict.FAILS
    assert "d = 2" in found.detail
    assert formula(run, right.at(5, 10, 1)).verdict is Verdict.HOLDS


@pytest.mark.parametrize("at", [1, 2, 8])
def test_a_fault_at_one_dimension_alone_is_noticed(at):
    def fault(model: Transformer) -> Transformer:
        if model.interface.d == at:
            with torch.no_grad():
                model.unembed.W_U *= 2
        return model

    found = formula(*small(fault))
    assert found.verdict is Verdict.FAILS
    assert f"d = {at}" in found.detail


def test_programs_with_other_numbers_and_the_same_formula_are_equal():
    """Labels are scaled by a number that depends on d, and predictions by its inverse."""

    def fault(model: Transformer) -> Transformer:
        with torch.no_grad():
            model.embed.W_E[-1] *= 2.0**-model.interface.d
            model.unembed.W_U *= 2.0**model.interface.d
        return model

    assert formula(*small(fault)).verdict is Verdict.HOLDS


def test_a_derivation_shows_registers_that_change_by_little():
    model = newton(3, 2, 0.1)
    before = model.derivation().count("u = ")
    with torch.no_grad():
        for name in ("W_Q", "W_K", "W_O"):
            getattr(model.blocks[1].attn, name).copy_(getattr(model.blocks[0].attn, name))
        model.blocks[1].attn.W_V.copy_(model.blocks[0].attn.W_V * 2.0**-40)
    assert model.derivation().count("u = ") == before


@pytest.mark.parametrize(("layout", "number"), [("direct", False), ("paper", True)])
def test_the_number_of_examples_is_part_of_the_statement_of_models_that_contain_it(layout, number):
    run = Run()
    found = formula(run, newton_statement(run, layout, "gram", 0.25).at(3, 4, 2))
    assert ("n = 4" in found.name) == number


def test_the_prime_is_longer_than_the_logarithm_of_the_bits_of_the_coefficients():
    """g has the coefficient α^(2^k), whose denominator has more bits than g has terms."""
    run, k, bits = Run(), 13, 60
    found = formula(run, newton_statement(run, "direct", "gram", 2.0**-bits).at(2, 3, k))
    assert found.verdict is Verdict.HOLDS
    assert int(re.search(r"(\d+) bits", found.words)[1]) >= 70 + (bits * 2**k).bit_length()
    assert float(re.search(r"probability ≤ ([^;, ]+)", found.words)[1]) < 2.0**-60


def test_a_derivation_without_invariants_is_undecided():
    run = Run()
    case = newton_statement(run, "direct", "gram", 0.25).at(3, 4, 2)
    case.model.stages = ()
    assert derivation(case).verdict is Verdict.UNDECIDED
