"""The checker of formulas: what it verifies, and that changed weights and sizes are rejected."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator
from copy import deepcopy
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from flint import fmpq, fmpq_poly, fmpz
from hypothesis import given
from hypothesis import strategies as st
from refusals import rejects

from constructions import gradient_descent, hyperpower, newton
from constructions.formulas import register_program
from constructions.transformer import Transformer
from theory.regression.register_programs import Polynomials
from verify import formula_checker
from verify.evidence.certificates import Recursion, by_formula, write_certificate
from verify.evidence.statement import OverExamples
from verify.finding import Verdict
from verify.regression.gradient_descent import gradient_descent as descent_claim
from verify.regression.hyperpower import hyperpower as hyperpower_claim
from verify.regression.newton import newton as newton_claim

MODELS: dict[str, tuple[Transformer, Recursion]] = {
    "direct": (newton(2, 1, 0.25), Recursion("one step", 1, 0.25)),
    "direct from I": (newton(3, 3, 0.25, start="identity"), Recursion("", 3, 0.25, "identity")),
    "ladder": (newton(2, 3, 0.25, "ladder"), Recursion("three steps", 3, 0.25)),
    "ladder from I": (
        newton(5, 6, 0.25, "ladder", start="identity"),
        Recursion("", 6, 0.25, "identity"),
    ),
    "long ladder": (newton(2, 20, 0.25, "ladder"), Recursion("", 20, 0.25)),
    "descent": (gradient_descent(2, 5, 0.125), Recursion("", 1, 0.125, "identity", 5)),
    "descent ladder": (
        gradient_descent(2, 14, 0.125, "ladder"),
        Recursion("", 1, 0.125, "identity", 14),
    ),
    "hyperpower": (hyperpower(2, 2, 3, 0.25), Recursion("", 2, 0.25, order=3)),
}


def stated(name: str) -> dict[str, Any]:
    model, of = MODELS[name]
    return by_formula(OverExamples(lambda *_: model, lambda *_: None).at(2, 3, 1), of)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name[:4] == "long")) for name in MODELS]
)
def test_formulas_are_verified_and_those_of_other_recursions_are_not(name: str) -> None:
    statement, (model, _) = stated(name), MODELS[name]
    found = formula_checker.computed(statement)
    assert int(found["prime"]).bit_length() >= 72 + found["degree"].bit_length()
    if name != "long ladder":
        assert found["degree"] >= model.formula().parts["x b"].degree()
    twice = str(2 * Fraction(statement["alpha"]))
    start = {"gram": "identity", "identity": "gram"}[statement["start"]]
    more = {"steps": statement["steps"] + 1}, {"order": statement["order"] + 1}
    for change in (*more, {"alpha": twice}, {"start": start}, {"alpha": "0"}):
        with rejects("differ", error=ArithmeticError):
            formula_checker.computed(statement | change)


def places(weights: Any) -> Iterator[tuple[list[Any], int]]:
    """The numbers in nested lists, each by its list and its index."""
    for i, value in enumerate(weights):
        if isinstance(value, list):
            yield from places(value)
        else:
            yield weights, i


@pytest.mark.parametrize(
    "name",
    [
        "direct",
        "descent",
        *(pytest.param(name, marks=pytest.mark.slow) for name in ("ladder", "hyperpower")),
    ],
)
def test_a_changed_weight_is_rejected_unless_no_prediction_changes(name: str) -> None:
    """Weights that are not 0 are doubled, and zeros become 1."""
    statement, rng, rejected = stated(name), np.random.default_rng(0), 0
    tensors = [
        [statement["model"]["embed"]],
        [statement["model"]["unembed"]],
        *(
            [head[part] for part in ("Q", "K", "V", "O", "b_Q", "b_K")]
            for block in statement["model"]["blocks"]
            for head in block["heads"]
        ),
    ]
    every = [place for tensor in tensors for place in places(tensor)]
    wanted = register_program(MODELS[name][0]).prediction(Polynomials())
    nonzero = [i for i, (row, j) in enumerate(every) if row[j] != "0"]
    nonzero = rng.permutation(nonzero)[:40].tolist()
    for i in {*nonzero, *rng.choice(len(every), 20).tolist()}:
        row, j = every[i]
        before, row[j] = row[j], str(2 * Fraction(row[j]) if row[j] != "0" else 1)
        try:
            formula_checker.computed(statement)
        except ArithmeticError:
            rejected += 1
        else:  # what a ladder computes in its first layers is not always read
            assert before == "0" or name == "ladder"
        row[j] = before
    assert rejected >= 0.9 * len(nonzero)
    assert wanted.degree() > 0
    formula_checker.computed(statement)


@pytest.mark.parametrize(
    ("part", "change"),
    [
        ("Q", lambda rows: rows[:-1]),
        ("K", lambda rows: [[*row, "0"] for row in rows]),
        ("V", lambda rows: [row[:-1] for row in rows]),
        ("O", lambda rows: [[*row, "0"] for row in rows]),
        ("O", lambda rows: [rows[0][:-1], *rows[1:]]),
        ("O", lambda rows: [[*rows[0], "0"], *rows[1:]]),
        ("O", lambda rows: [*rows[:-1], [*rows[-1], "1"]]),
        ("b_K", lambda numbers: numbers[:-1]),
        ("b_Q", lambda numbers: [*numbers, "0"]),
    ],
)
def test_matrices_of_other_shapes_are_rejected(part: str, change: Any) -> None:
    statement = deepcopy(stated("direct"))
    head = statement["model"]["blocks"][0]["heads"][0]
    head[part] = change(head[part])
    with rejects(error=ArithmeticError):
        formula_checker.computed(statement)


@pytest.mark.parametrize("part", ["embed", "unembed"])
def test_embeddings_of_other_shapes_are_rejected(part: str) -> None:
    for change in (lambda rows: rows[:-1], lambda rows: [[*row, "0"] for row in rows]):
        statement = deepcopy(stated("direct"))
        statement["model"][part] = change(statement["model"][part])
        with rejects(error=ArithmeticError):
            formula_checker.computed(statement)


def test_labels_of_a_query_are_zero_and_masks_matter() -> None:
    """Scores that read labels, own heads with varying scores, and other masks are outside."""
    for path, value in (("mask", "diagonal"), ("mask", "full"), ("rule", "relu")):
        statement = deepcopy(stated("direct"))
        statement["model"]["blocks"][0]["heads"][0][path] = value
        with rejects(error=ArithmeticError):
            formula_checker.computed(statement)


@pytest.mark.parametrize(
    ("mask", "query", "key"),
    [
        ("context-only", "y", "y"),
        ("context-only", "1", "y"),
        ("context-only", "y", "1"),
        ("context-only", "1", "1"),
        ("context-only", "x and y", "x and y"),
        ("diagonal", "x", "x"),
        ("diagonal", "1", "y"),
    ],
)
def test_scores_outside_the_theorem_are_rejected(mask: str, query: str, key: str) -> None:
    """The head adds a multiple of a label, or a product of inputs, to the prediction."""
    statement, at = deepcopy(stated("direct")), {"x": (0, 1), "y": (4,), "estimate": (5,)}
    at["x and y"] = (0, 1, 4)
    heads = statement["model"]["blocks"][-1]["heads"]
    width = len(at.get(query, "1"))
    head = {"rule": "linear", "mask": mask, "b_Q": ["0"] * width, "b_K": ["0"] * width}
    for part, register in (("Q", query), ("K", key), ("V", "y")):
        columns = at.get(register, (None,))
        head[part] = [["1" if i == column else "0" for column in columns] for i in range(6)]
    head["O"] = [["1" if (i,) == at["estimate"] else "0" for i in range(6)]]
    head |= {f"b_{part}": ["1"] for part, one in (("Q", query), ("K", key)) if one == "1"}
    heads.append(head)
    with rejects("scores", "outside the theorem", error=ArithmeticError):
        formula_checker.computed(statement)


def test_degrees_that_need_a_prime_of_thousands_of_bits_are_rejected() -> None:
    with rejects("degree", error=ArithmeticError):
        formula_checker.computed(stated("direct") | {"steps": 5000})


def test_its_primes_are_prime() -> None:
    def drawn(*which: Any) -> int:
        return random.Random(repr(which)).getrandbits(200)

    large = [2**127 - 1, 2**89 - 1, (2**61 - 1) * (2**89 - 1), (2**89 - 1) ** 2]
    found = [p for p in (*range(5, 3000), *large) if formula_checker.prime(p, drawn)]
    assert found == [p for p in (*range(5, 3000), *large) if fmpz(p).is_prime()]


DYADIC = st.builds(Fraction, st.integers(-9, 9), st.sampled_from([1, 2, 8]))


@given(st.lists(st.tuples(st.sampled_from("+*"), DYADIC), min_size=1, max_size=8))
def test_its_sizes_bound_polynomials(steps: list[tuple[str, Fraction]]) -> None:
    size: Any = formula_checker.Size((1, 0, 0))
    p = t = fmpq_poly([0, 1])
    for sign, value in steps:
        q = t + fmpq(value.numerator, value.denominator)
        other = formula_checker.Size((1, 0, 0)) + formula_checker.Size.number(value)
        p, size = (p + q, size + other) if sign == "+" else (p * q, size * other)
    degree, twos, bits = size
    coefficients = [Fraction(int(c.p), int(c.q)) for c in p.coeffs()]
    assert p.degree() <= degree
    assert all((c * 2**twos).denominator == 1 for c in coefficients)
    assert sum(map(abs, coefficients)) <= Fraction(2) ** bits


def test_its_random_point_is_as_long_as_its_prime() -> None:
    """The prediction is x_qᵀ S b, and the evidence contains the residue of t."""
    of = OverExamples(lambda *_: newton(2, 0, 1.0), lambda *_: None).at(2, 3, 0)
    found = formula_checker.computed(by_formula(of, Recursion("", 0, 1.0)))
    assert int(found["value"]) > 2**60


def nothing(**change: Any) -> dict[str, Any]:
    """The statement that a model without layers predicts 0 = x_qᵀ (0·S) b."""
    embed, unembed = [["1", "0", "0"], ["0", "1", "0"], ["0", "0", "1"]], [["0"], ["0"], ["1"]]
    model = {"embed": embed, "positions": [], "blocks": [], "unembed": unembed} | change
    sizes = {"registers": [2, 1], "steps": 0, "order": 1, "start": "gram", "alpha": "0"}
    return {"kind": "formula", "name": "", **sizes, "model": model | {"b_unembed": ["0"]}}


def test_its_prime_depends_on_every_weight() -> None:
    """Otherwise, weights could be chosen for a known prime and a known point."""
    changed = [nothing(), *(nothing(unembed=[["0"], ["0"], [weight]]) for weight in ("2", "-1"))]
    assert len({formula_checker.computed(statement)["prime"] for statement in changed}) == 3


def test_weights_are_integers_over_powers_of_two() -> None:
    """The size of a denominator is bounded only then."""
    formula_checker.computed(nothing(unembed=[["0"], ["0"], ["5/8"]]))
    for weight in ("1/3", "5/12"):
        with rejects(weight, error=ArithmeticError):
            formula_checker.computed(nothing(unembed=[["0"], ["0"], [weight]]))


@pytest.mark.parametrize(
    ("layer", "part", "product"), [(1, "Q", "Q K"), (3, "Q", "Q K"), (1, "V", "V O")]
)
def test_a_block_outside_the_theorem_is_named_with_its_place(
    layer: int, part: str, product: str
) -> None:
    statement = deepcopy(stated("direct"))
    head = statement["model"]["blocks"][layer - 1]["heads"][0]
    row = next(row for row in head[part] if {*row} != {"0"})
    row[:] = [str(2 * Fraction(value)) for value in row]
    with rejects(f"layer {layer}", "head 1", product, error=ArithmeticError):
        formula_checker.computed(statement)


def test_steps_are_not_run_beyond_the_largest_degree() -> None:
    start = time.process_time()
    with rejects("degree", error=ArithmeticError):
        formula_checker.computed(stated("direct") | {"steps": 99999, "order": 10})
    assert time.process_time() - start < 5


def test_claims_certify_formulas_beyond_the_sizes_of_the_identity(tmp_path: Path) -> None:
    from verify.claim import Run

    for check, options, kinds in (
        (newton_claim, {"k": 3, "layout": "direct"}, {"formula", "polynomial"}),
        (newton_claim, {"k": 12, "layout": "ladder"}, {"formula"}),
        (newton_claim, {"k": 2, "layout": "causal"}, {"polynomial"}),
        (newton_claim, {"k": 2, "layout": "direct", "d": 1}, {"polynomial"}),
        (hyperpower_claim, {"k": 1, "d": 1}, {"polynomial"}),
        (descent_claim, {"k": 30, "layout": "direct", "d": 1}, {"polynomial"}),
        (descent_claim, {"k": 3, "layout": "direct"}, {"formula", "polynomial"}),
    ):
        run = Run(certificates=[])
        options = {"d": 2, "n": 3, "domain": "modular"} | options
        assert check.verdict(run, **options) is Verdict.HOLDS
        assert {statement["kind"] for statement in run.certificates or []} == kinds
        write_certificate(tmp_path / "c.json", "some", run.certificates or [])
