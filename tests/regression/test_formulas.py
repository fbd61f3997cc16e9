"""Formulas read from the tensors of constructions, and the finding that compares them."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_poly
from formula_by_definition import S

from constructions import chebyshev, formulas, gradient_descent, hyperpower, induction_heads, newton
from constructions.blocks import MLP, LayerNorm, PosEmbed
from constructions.formulas import register_program
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression import NoFormula
from theory.regression.polynomial_sizes import Sizes
from theory.regression.register_programs import (
    Polynomials,
)
from verify.claim import Run
from verify.evidence.formula import derivation, formula
from verify.evidence.statement import Case
from verify.finding import Verdict
from verify.regression.statements import chebyshev_statement, descent_statement, newton_statement

ALPHA, ETA = fmpq(1, 32), fmpq(1, 4)


def newton_polynomial(k: int, start: fmpq_poly) -> fmpq_poly:
    M = start
    for _ in range(k):
        M = 2 * M - M * M * S
    return M


def sum_of_powers(start: fmpq_poly, N: int) -> fmpq_poly:
    """Σ_{i<N} (1 − S·start)^i start."""
    return sum(((1 - S * start) ** i for i in range(N)), start=0 * S) * start


def chebyshev_polynomial(k: int, low: Fraction, high: Fraction) -> list[Fraction]:
    """The coefficients of (1 − T_k(σ − 2λ/(b − a))/T_k(σ))/λ, by the three-term recurrence."""
    sigma, slope = (high + low) / (high - low), Fraction(-2) / (high - low)
    before, now = np.array([Fraction(1)]), np.array([sigma, slope])
    for _ in range(k - 1):
        longer = 2 * np.convolve(now, np.array([sigma, slope]))
        longer[: len(before)] -= before
        before, now = now, longer
    return [-c / now[0] for c in now[1:]]


ROWS: dict[str, tuple[Callable[[int, int], Transformer], Callable[[int], fmpq_poly]]] = {
    "direct": (lambda d, k: newton(d, k, 1 / 32), lambda k: newton_polynomial(k, ALPHA * S)),
    "direct from I": (
        lambda d, k: newton(d, k, 1 / 4, start="identity"),
        lambda k: newton_polynomial(k, ETA + 0 * S),
    ),
    "ladder": (
        lambda d, k: newton(d, k, 1 / 32, "ladder"),
        lambda k: newton_polynomial(k, ALPHA * S),
    ),
    "ladder from I": (
        lambda d, k: newton(d, k, 1 / 4, "ladder", start="identity"),
        lambda k: newton_polynomial(k, ETA + 0 * S),
    ),
    "paper": (
        lambda d, k: newton(d, k, 1 / 32, "paper", n=k + 3),
        lambda k: newton_polynomial(k, ALPHA * S),
    ),
    "gradient descent": (
        lambda d, k: gradient_descent(d, k, 1 / 4),
        lambda k: sum_of_powers(ETA + 0 * S, k),
    ),
    "gradient descent, ladder": (
        lambda d, k: gradient_descent(d, k + 1, 1 / 4, "ladder"),
        lambda k: sum_of_powers(ETA + 0 * S, k + 1),
    ),
    "hyperpower of order 3": (
        lambda d, k: hyperpower(d, min(k, 6), 3, 1 / 32),
        lambda k: sum_of_powers(ALPHA * S, 3 ** min(k, 6)),
    ),
    "hyperpower of order 5 from I": (
        lambda d, k: hyperpower(d, min(k, 4), 5, 1 / 4, start="identity"),
        lambda k: sum_of_powers(ETA + 0 * S, 5 ** min(k, 4)),
    ),
}


@pytest.mark.parametrize("k", [0, 1, 2, 5, pytest.param(12, marks=pytest.mark.slow)])
@pytest.mark.parametrize("row", ROWS)
def test_formulas_are_those_of_the_algorithms(row, k):
    build, wanted = ROWS[row]
    programs = [register_program(build(d, k)) for d in (range(2, 9) if k in (2, 12) else (2, 5))]
    assert all(program == programs[0] for program in programs)
    assert programs[0].prediction(Polynomials()) == wanted(k)


@pytest.mark.parametrize("k", [1, 2, 4, 7, 12])
def test_the_formula_of_chebyshev_is_that_of_the_recurrence_up_to_rounding(k):
    for d in (2, 3, 8):
        g = chebyshev(d, k, 1.0, 32.0).formula().parts["x b"]
        wanted = chebyshev_polynomial(k, Fraction(1), Fraction(32))
        size = sum(abs(c) * 32**i for i, c in enumerate(wanted))
        errors = [abs(Fraction(int(g[i].p), int(g[i].q)) - c) * 32**i for i, c in enumerate(wanted)]
        assert g.degree() == k - 1
        assert sum(errors) < 15 ** math.ceil(math.log(2 * k + 1, 3)) * 2.0**-44 * (1 + size)


def case(build: Callable[[Run], Case], fault: Callable[[Transformer], Transformer] | None = None):
    run = Run(fault=fault)
    return run, build(run)


CASES: dict[str, Callable[[Run], Case]] = {
    "direct": lambda run: newton_statement(run, "direct", "gram", 1 / 32).at(3, 4, 2),
    "ladder": lambda run: newton_statement(run, "ladder", "gram", 1 / 32).at(3, 4, 2),
    "paper": lambda run: newton_statement(run, "paper", "gram", 1 / 32).at(3, 4, 2),
    "descent": lambda run: descent_statement(run, "direct", 1 / 4).at(3, 4, 3),
    "chebyshev": lambda run: chebyshev_statement(run, 1.0, 32.0).at(3, 4, 4),
}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name != "descent")) for name in CASES]
)
def test_twenty_changed_numbers_of_blocks_are_noticed_in_each_construction(name):
    """A number c of a block c·I is changed at every d: the formula differs, or has another form.

    Faults after which every answer is the same are told apart by random inputs.
    """
    rng, noticed = np.random.default_rng(7), 0
    _, right = case(CASES[name])
    inputs = right.rational(np.random.default_rng(0))
    wanted = right.by_definition(inputs)
    layers = [i for i, block in enumerate(right.model.blocks) if block.attn is not None]
    while noticed < 20:
        layer, which, register = rng.choice(layers), *rng.integers(0, 100, 2)
        times = rng.choice([-1.0, 3.0])

        def change(model: Transformer, layer=layer, which=which, register=register, times=times):
            attn = model.blocks[layer].attn
            weights = getattr(attn, ("W_Q", "W_K", "W_V", "W_O")[which % 4])
            rows = model.stream[list(model.stream)[register % len(model.stream.widths)]]
            with torch.no_grad():
                part = weights[..., rows] if which % 4 == 3 else weights[:, rows]
                part *= times
            return model

        run, changed = case(CASES[name], change)
        same = changed.predictions(inputs) == wanted
        if not same or rng.random() < 0.1:
            assert (formula(run, changed).verdict is Verdict.HOLDS) == same
        noticed += not same


def one_entry(model: Transformer) -> None:
    model.blocks[1].attn.W_V[0, model.stream["u"].start, 0] *= 2


def swapped_entry(model: Transformer) -> None:
    model.blocks[1].attn.W_Q[0, model.stream["u"].start, 1] = 1.0


def biased(model: Transformer) -> None:
    model.blocks[1].attn.b_Q[0] = 1.0


def masked(model: Transformer) -> None:
    model.blocks[1].attn.masks = ("causal",)


def of_softmax(model: Transformer) -> None:
    model.blocks[1].attn.normalise = "softmax"


def with_mlp(model: Transformer) -> None:
    D = model.d_model
    model.blocks[1].mlp = MLP(
        torch.eye(D)[:, :1].double(),
        torch.zeros(1).double(),
        torch.eye(D)[:1].double(),
        torch.zeros(D).double(),
    )


def with_norm(model: Transformer) -> None:
    model.blocks[1].ln1 = LayerNorm(model.d_model).double()


def mixed_kinds(model: Transformer) -> None:
    model.embed.W_E[-1, model.stream["u"].start] = 1.0


def wrong_unembedding(model: Transformer) -> None:
    model.unembed.W_U[model.stream["x"].start] = 1.0


def scaled(model: Transformer) -> None:
    model.interface.scale = 2.0


def with_positions(model: Transformer) -> None:
    model.pos_embed = PosEmbed(torch.ones(9, model.d_model).double())


def with_final_norm(model: Transformer) -> None:
    model.ln_final = LayerNorm(model.d_model).double()


def normalised_between(model: Transformer) -> None:
    model.blocks[1].ln2 = LayerNorm(model.d_model).double()


def with_output_bias(model: Transformer) -> None:
    model.unembed.b_U = torch.nn.Parameter(torch.ones(1).double())


def with_own_score(model: Transformer) -> None:
    model.blocks[1].attn.masks = ("diagonal",)


OUTSIDE = {
    scaled: "divides its inputs",
    with_positions: "adds positions",
    with_final_norm: "final layer norm",
    with_output_bias: "the unembedding has a bias",
    with_own_score: "layer 2, head 1: the score of a token with itself",
    one_entry: "layer 2, head 1: the block of W_V W_O from u to u",
    swapped_entry: "layer 2, head 1: the block of W_Q W_Kᵀ from u to x",
    biased: "layer 2, head 1: the block of W_Q W_Kᵀ from 1 to x",
    masked: "layer 2, head 1: its mask is causal",
    of_softmax: "layer 2, softmax attention",
    with_mlp: "layer 2, MLP neuron 1",
    with_norm: "layer 2, a normalisation",
    normalised_between: "layer 2, a normalisation",
    mixed_kinds: "the block of W_E from y to u",
    wrong_unembedding: "the block of W_U from x to 1",
}


@pytest.mark.parametrize("change", OUTSIDE, ids=lambda change: change.__name__)
def test_what_is_outside_the_theorem_is_undecided_and_named(change):
    def fault(model: Transformer) -> Transformer:
        with torch.no_grad():
            change(model)
        return model

    found = formula(*case(CASES["direct"], fault))
    assert found.verdict is Verdict.UNDECIDED
    assert OUTSIDE[change] in found.detail
    with pytest.raises(NoFormula, match=re.escape(OUTSIDE[change])):
        fault(newton(3, 2, 1 / 32)).formula()


@pytest.mark.parametrize("bias", [-1.0, 1.0])
def test_a_neuron_without_inputs_adds_the_relu_of_its_bias(bias):
    model = newton(3, 2, 1 / 32)
    wanted, D = model.formula(), model.d_model
    out = torch.zeros(1, D).double()
    out[0, model.stream["estimate"]] = 1.0
    zeros = torch.zeros(D, 1).double(), torch.full((1,), bias).double()
    model.blocks[0].mlp = MLP(*zeros, out, torch.zeros(D).double())
    if bias < 0:
        assert model.formula() == wanted
    else:
        assert model.formulas()[1]["estimate"].parts == {"1": 1}
        with pytest.raises(NoFormula, match="constant"):
            model.formula()


@pytest.mark.parametrize(
    "model",
    [
        newton(3, 2, 0.25, interleaved=True),
        newton(3, 2, 0.25, causal=True),
        newton(3, 2, 0.25, "ladder", causal=True),
        gradient_descent(3, 2, 0.25, causal=True),
        newton(1, 2, 0.25),
        induction_heads(4, 6),
    ],
    ids=lambda model: model.name,
)
def test_models_outside_the_theorem_have_no_formula(model):
    for method in (model.formula, model.formulas, model.derivation):
        with pytest.raises(NoFormula) as raised:
            method()
        assert "\n" not in str(raised.value)


def test_a_model_of_many_steps_has_no_printed_formula():
    for k in (20, 300):
        with pytest.raises(InputError, match="degree"):
            newton(2, k, 0.25, "ladder").formula()


def test_the_same_numbers_are_needed_at_every_dimension():
    """A model that is wrong at d = 8 alone is noticed, whatever d the claim runs."""

    def fault(model: Transformer) -> Transformer:
        if model.interface.d == 8:
            with torch.no_grad():
                model.blocks[-1].attn.W_O *= 2
        return model

    found = formula(*case(CASES["ladder"], fault))
    assert found.verdict is Verdict.FAILS
    assert "d = 8" in found.detail


@pytest.mark.parametrize("k", [14, *(pytest.param(k, marks=pytest.mark.slow) for k in (30, 1000))])
@pytest.mark.parametrize("layout", ["direct", "ladder", "paper"])
def test_long_recursions_are_decided_modulo_a_long_prime(layout, k):
    right = Run()
    assert (
        formula(right, newton_statement(right, layout, "gram", 0.25).at(2, 3, k)).verdict
        is Verdict.HOLDS
    )

    def fault(model: Transformer) -> Transformer:
        with torch.no_grad():
            model.blocks[k // 2 + 1 if layout != "ladder" else 3].attn.W_V *= 1 + 2.0**-40
        return model

    wrong = Run(fault=fault)
    found = formula(wrong, newton_statement(wrong, layout, "gram", 0.25).at(2, 3, k))
    assert found.verdict is Verdict.FAILS


@pytest.mark.slow
@pytest.mark.parametrize(
    "build",
    [
        lambda run: newton_statement(run, "direct", "identity", 0.25).at(2, 3, 1000),
        lambda run: newton_statement(run, "ladder", "identity", 0.25).at(2, 3, 1000),
        lambda run: descent_statement(run, "direct", 0.25).at(2, 3, 1000),
        lambda run: descent_statement(run, "ladder", 0.25).at(2, 3, 1000),
        lambda run: chebyshev_statement(run, 1.0, 32.0).at(2, 3, 1000),
    ],
)
def test_a_thousand_steps_of_other_recursions_are_decided(build):
    def fault(model: Transformer) -> Transformer:
        with torch.no_grad():
            model.blocks[-1].attn.W_O *= 1 + 2.0**-40
        return model

    assert formula(*case(build)).verdict is Verdict.HOLDS
    assert formula(*case(build, fault)).verdict is Verdict.FAILS


def test_registers_of_a_derivation_are_compared_with_the_proof():
    def fault(model: Transformer) -> Transformer:
        with torch.no_grad():
            model.blocks[1].attn.W_V *= 2  # the register u, and the prediction
        return model

    for name in CASES:
        _, right = case(CASES[name])
        assert derivation(right).verdict is Verdict.HOLDS
    _, wrong = case(CASES["direct"], fault)
    found = derivation(wrong)
    assert (found.verdict, found.measured) == (Verdict.FAILS, 1)


def test_the_largest_formulas_that_are_printed(monkeypatch):
    model = newton(2, 3, Fraction(1, 4))
    sizes = Sizes()
    contents = [each for now in register_program(model).contents(sizes) for each in now.values()]
    most = max(sizes.all_bits(size) for content in contents for size in content.values())
    monkeypatch.setattr(formulas, "MOST_BITS", most)
    assert model.formulas()
    monkeypatch.setattr(formulas, "MOST_BITS", most - 1)
    with pytest.raises(InputError):
        model.formulas()


def test_an_output_bias_of_zero_is_none():
    model = newton(2, 1, 0.25)
    wanted = str(model.formula())
    model.unembed.b_U = torch.nn.Parameter(torch.zeros(1).double())
    assert str(model.formula()) == wanted
