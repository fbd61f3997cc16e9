"""Formulas read from tensors: the theorem on register programs, and the constructions in it."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
import torch
from flint import fmpq, fmpq_mat, fmpq_poly, fmpz
from hypothesis import given, settings
from hypothesis import strategies as st

from constructions import chebyshev, gradient_descent, hyperpower, induction_heads, newton
from constructions.blocks import MLP, LayerNorm, PosEmbed
from constructions.formulas import register_program
from constructions.transformer import Transformer
from theory.kinds import InputError
from theory.regression import Formula, NoFormula
from theory.regression.formulas import polynomial_text
from theory.regression.polynomial_sizes import VARIABLE, Sizes
from theory.regression.register_programs import (
    Polynomials,
    RegisterHead,
    RegisterLayer,
    RegisterProgram,
)
from verify.claim import Run
from verify.domains.one_variable import long_prime, missed, passes_miller_rabin
from verify.evidence.formula import derivation, formula
from verify.evidence.statement import Case
from verify.finding import Verdict
from verify.regression.statements import chebyshev_statement, descent_statement, newton_statement

S = fmpq_poly([0, 1])
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


NAMES = {"u": "vector", "v": "vector", "s": "scalar", "r": "scalar"}
NUMBERS = st.sampled_from([Fraction(-2), Fraction(-1), Fraction(1, 2), Fraction(1), Fraction(3)])


def pairs(more: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    kinds = {**NAMES, **dict.fromkeys(more, "scalar")}
    return [(a, b) for a, b in product(kinds, kinds) if kinds[a] == kinds[b]]


MAPS = st.dictionaries(st.sampled_from(pairs()), NUMBERS, max_size=2)
HEADS = st.tuples(
    st.dictionaries(st.sampled_from(pairs(("1",))), NUMBERS, min_size=1, max_size=2),
    st.dictionaries(st.sampled_from(pairs()), NUMBERS, min_size=1, max_size=2),
)
LAYERS = st.lists(st.tuples(st.lists(HEADS, max_size=2), MAPS, MAPS), min_size=1, max_size=3)


def program_of(layers: list) -> RegisterProgram:
    embedding = {("x", "u"): Fraction(1), ("x", "v"): Fraction(2), ("y", "s"): Fraction(1)}
    made = (
        RegisterLayer(tuple(RegisterHead(*head) for head in heads), own, mlp)
        for heads, own, mlp in layers
    )
    return RegisterProgram(NAMES, embedding, tuple(made), {"r": Fraction(1)}, n=3)


def by_definition(program: RegisterProgram, X: list, y: list, token: int) -> dict[str, list]:
    """The registers of a token (the last is the query), number by number, over Q."""
    n, tokens = len(X) - 1, len(X)
    state = [
        {
            name: [Fraction(0)] * (len(X[0]) if kind == "vector" else 1)
            for name, kind in NAMES.items()
        }
        for _ in range(tokens)
    ]

    def plus(a: list, c: Fraction, b: list) -> list:
        return [u + c * v for u, v in zip(a, b, strict=True)]

    for t in range(tokens):
        for (column, name), c in program.embedding.items():
            state[t][name] = plus(state[t][name], c, X[t] if column == "x" else [y[t]])
    for layer in program.layers:
        after = [dict(each) for each in state]
        for t in range(tokens):
            for (source, target), c in (layer.own or {}).items():
                after[t][target] = plus(after[t][target], c, state[t][source])
            for head, i in product(layer.heads, range(n)):
                asked, given = {**state[t], "1": [1]}, {**state[i], "1": [1]}
                score = sum(
                    c * sum(a * b for a, b in zip(asked[query], given[key], strict=True))
                    for (query, key), c in head.scores.items()
                )
                for (source, target), c in head.values.items():
                    after[t][target] = plus(after[t][target], score * c, state[i][source])
        state = [dict(each) for each in after]
        for t in range(tokens):
            for (source, target), c in (layer.mlp or {}).items():
                state[t][target] = plus(state[t][target], c, after[t][source])
    return state[token]


@settings(max_examples=200)
@given(layers=LAYERS, seed=st.integers(0, 10**6))
def test_a_program_computes_its_formulas_on_examples(layers, seed):
    """The theorem itself: every register of every token, against sums over the examples."""
    program = program_of(layers)
    try:
        *_, contents = program.contents(Polynomials())
    except NoFormula:
        return
    rng = np.random.default_rng(seed)
    X = [[Fraction(int(v)) for v in row] for row in rng.integers(-3, 4, (4, 2))]
    y = [Fraction(int(v)) for v in rng.integers(-3, 4, 3)] + [Fraction(0)]
    as_matrix = fmpq_mat([[fmpq(v.numerator) for v in row] for row in X[:-1]])
    gram = as_matrix.transpose() * as_matrix
    b = as_matrix.transpose() * fmpq_mat([[fmpq(v.numerator)] for v in y[:-1]])

    def at(p: fmpq_poly) -> fmpq_mat:
        result = fmpq_mat(2, 2)
        for c in reversed(p.coeffs()):
            result = result * gram + c * fmpq_mat([[1, 0], [0, 1]])
        return result

    for token in (1, 3):
        x = fmpq_mat([[fmpq(v.numerator)] for v in X[token]])
        held = by_definition(program, X, y, token)
        for name, content in contents.items():
            if NAMES[name] == "vector":
                value = fmpq_mat(2, 1)
                for part, p in content.items():
                    value = value + at(p) * (x if part == "x" else b)
                found = [value[0, 0], value[1, 0]]
            else:
                number = fmpq(0)
                for part, p in content.items():
                    factor = {"y": fmpq(y[token].numerator), "1": fmpq(1)}.get(part)
                    number += (x.transpose() * at(p) * b)[0, 0] if factor is None else p[0] * factor
                found = [number]
            assert [Fraction(int(v.p), int(v.q)) for v in found] == held[name], name


ONE_OF_S = ([], {("1", "r"): Fraction(1)}, {})  # r = 1
B_IN_V = ([({("1", "s"): Fraction(1)}, {("u", "v"): Fraction(1)})], {("v", "v"): Fraction(-1)}, {})
XB_IN_R = ([({("u", "u"): Fraction(1)}, {("s", "r"): Fraction(1)})], {}, {})


def heads(score: tuple[str, str], value: tuple[str, str]) -> tuple[list, dict, dict]:
    return [({score: Fraction(1)}, {value: Fraction(1)})], {}, {}


@pytest.mark.parametrize(
    ("layers", "reason"),
    [
        ([heads(("1", "1"), ("u", "v"))], "Σ x_i"),
        ([ONE_OF_S, heads(("u", "u"), ("r", "s"))], "Σ x_i"),
        ([ONE_OF_S, heads(("1", "s"), ("r", "s"))], "Σ y_i over"),
        ([heads(("1", "1"), ("s", "r"))], "Σ y_i over"),
        ([heads(("1", "s"), ("s", "r"))], "Σ y_i² over"),
        ([XB_IN_R, heads(("1", "s"), ("r", "r"))], "bᵀ q(S) b"),
        ([B_IN_V, heads(("v", "u"), ("s", "r"))], "bᵀ q(S) b"),
        ([B_IN_V, heads(("v", "v"), ("u", "u"))], "bᵀ q(S) b"),
        ([heads(("s", "s"), ("u", "v"))], "second factor"),
        ([XB_IN_R, heads(("r", "r"), ("u", "u"))], "second factor"),
        ([ONE_OF_S], "constant"),
    ],
)
def test_sums_that_are_no_functions_of_the_moments_are_refused(layers, reason):
    """Each with one head on registers u = x, s = y, and r = 1, v = b or r = xᵀb."""
    with pytest.raises(NoFormula, match=re.escape(reason)):
        program_of(layers).prediction(Polynomials())


def test_the_number_of_examples_is_needed_where_it_is_added():
    layers = [ONE_OF_S, heads(("1", "1"), ("r", "r"))]
    *_, last = program_of(layers).contents(Polynomials())
    assert last["r"] == {"1": 1 + 3}
    with pytest.raises(NoFormula, match="number of examples"):
        [*replace(program_of(layers), n=None).contents(Polynomials())]


def test_many_random_programs_have_formulas_and_many_have_none():
    """So that the property above is no statement about nothing."""
    outcomes = {True: 0, False: 0}

    @settings(max_examples=200)
    @given(LAYERS)
    def count(layers: list) -> None:
        try:
            *_, last = program_of(layers).contents(Polynomials())
            outcomes[any(p.degree() > 0 for c in last.values() for p in c.values())] += 1
        except NoFormula:
            outcomes[False] += 1

    count()
    assert min(outcomes.values()) >= 20


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
    for k in (20, 3000):
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


@pytest.mark.parametrize("k", [11, *(pytest.param(k, marks=pytest.mark.slow) for k in (30, 1000))])
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


RATIONALS = st.fractions(min_value=-4, max_value=4, max_denominator=8)


def evaluated(text: str, at: Fraction) -> Fraction:
    """The value of the text of a polynomial in S, read as a reader does."""
    text = text.replace("−", "-").replace("·", "*").replace("⁻¹", "**-1*")
    raised = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹", "0123456789")
    text = re.sub("[⁰¹²³⁴⁵⁶⁷⁸⁹]+", lambda found: "**" + found[0].translate(raised), text)
    for one, fraction in (("½", "1/2"), ("¼", "1/4"), ("¾", "3/4"), ("⅛", "1/8")):
        text = text.replace(one, fraction)
    text = re.sub(r"(\d+)/(\d+) ?", r"F(\1,\2)", text)
    text = re.sub(r"\)S", ")*S", re.sub(r"(\d) S", r"\1*S", text))
    return eval(text, {"F": Fraction, "S": at})


@given(st.lists(RATIONALS, max_size=5))
def test_the_text_of_a_short_polynomial_is_the_polynomial(coefficients):
    p = fmpq_poly([fmpq(c.numerator, c.denominator) for c in coefficients])
    at = Fraction(3, 7)
    assert evaluated(polynomial_text(p), at) == sum(c * at**i for i, c in enumerate(coefficients))


@given(RATIONALS, RATIONALS, st.integers(1, 3), st.integers(2, 40), st.booleans())
def test_powers_are_recognised(c, alpha, m, N, inverse):
    at = Fraction(2, 5)
    power = fmpq_poly([1, *[0] * (m - 1), fmpq(-alpha.numerator, alpha.denominator)]) ** N
    factor = fmpq(c.numerator, c.denominator)
    p = factor * ((1 - power) // S if inverse else power)
    wanted = c * ((1 - (1 - alpha * at**m) ** N) / at if inverse else (1 - alpha * at**m) ** N)
    text = polynomial_text(p)
    assert evaluated(text, at) == wanted
    assert len(text) < 60


@pytest.mark.parametrize(
    ("parts", "text", "degree"),
    [
        ({}, "0", 0),
        ({"x": S}, "S x", 3),
        ({"x": 1 - S, "b": 2 * S}, "(1 − S) x + 2 S b", 4),
        ({"y": 1 + 0 * S, "x b": -S}, "y − xᵀ S b", 5),
        ({"y": -1 + 0 * S, "1": 3 + 0 * S}, "−y + 3", 1),
        ({"1": 1 + 0 * S}, "1", 0),
        ({"x": 0 * S}, "0", 0),
    ],
)
def test_the_text_of_a_register(parts, text, degree):
    assert str(Formula(parts)) == text
    assert Formula({name: p for name, p in parts.items() if p != 0}).degree == degree


def test_long_polynomials_are_shortened():
    text = polynomial_text(fmpq_poly([fmpq(1, 3 + i) for i in range(30)]))
    assert text == "1/3 + ¼S + 1/5 S² + … + 1/32 S²⁹"


def test_long_fractions_are_rounded():
    """Also those that are no floats, and whose digits Python does not convert."""
    p = fmpq_poly([fmpq(10**5000 + 1, 10**5000), fmpq(1, 3**20000), fmpq(7**9000, 2), fmpq(1, 7)])
    assert polynomial_text(p) == "1 + 10⁻⁹⁵⁴² S + 10⁷⁶⁰⁶ S² + 1/7 S³"


@given(st.lists(st.tuples(st.sampled_from("+-*"), RATIONALS), min_size=1, max_size=8))
def test_sizes_bound_polynomials(steps):
    sizes = Sizes()
    p, size = S, VARIABLE
    for sign, value in steps:
        number = fmpq(value.numerator, value.denominator)
        q, other = S + number, VARIABLE + sizes.number(value.numerator, value.denominator)
        p = p + q if sign == "+" else p - q if sign == "-" else p * q
        size = size + other if sign == "+" else size - other if sign == "-" else size * other
    integral = p * fmpq(sizes.base**size.power)
    assert p.degree() <= size.degree
    assert integral.denom() == 1
    assert sum(abs(int(c.p)) for c in integral.coeffs()) <= 2 ** sizes.coefficient_bits(size)


@pytest.mark.parametrize("bits", [61, 64, 89, 300])
def test_long_primes_are_primes_of_their_length(bits):
    drawn = {long_prime(np.random.default_rng(seed), bits) for seed in range(5)}
    assert len(drawn) == 5
    assert all(fmpz(p).is_prime() and p.bit_length() == bits for p in drawn)


def test_the_test_of_miller_and_rabin():
    """Also products that pass Fermat's test, and that pass its own to the bases 2, 3, 5 and 7."""
    rng = np.random.default_rng(0)
    found = [p for p in range(5, 2000, 2) if passes_miller_rabin(p, rng)]
    assert found == [p for p in range(5, 2000, 2) if fmpz(p).is_prime()]
    assert not any(passes_miller_rabin(n, rng) for n in (561, 211 * 421 * 631, 3215031751))
    assert passes_miller_rabin(2**127 - 1, rng)


def test_the_error_probability_adds_three_bounds():
    root, divides = 1000 / 2**99, -(-(10**6) // 99) * 100 / 2**99
    assert math.isclose(missed(1000, 10**6, 100), root + divides + 10**6 / 4**50)
    assert missed(2**1001, 2**1010, 1100) < 1e-20
