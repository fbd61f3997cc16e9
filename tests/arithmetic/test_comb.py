"""Combs in Q(√5), the largest α, and separable logits of residues."""

from __future__ import annotations

import math
import sys
from fractions import Fraction

import numpy as np
import pytest
from by_id import not_holding
from hypothesis import example, given
from hypothesis import strategies as st
from refusals import rejects

from theory.arithmetic import (
    ZHOU,
    comb,
    comb_gap,
    cosine,
    halving_closure,
    largest_alpha,
    period,
    separability_inequalities,
)
from theory.arithmetic.adder import adder_logits
from theory.arithmetic.adder_balls import logits
from theory.arithmetic.golden import Golden
from theory.arithmetic.residues import second_differences
from verify.arithmetic.comb import comb as claim
from verify.arithmetic.comb import random_layer, separable, wins
from verify.claim import Run
from verify.finding import Verdict

module = sys.modules["verify.arithmetic.comb"]  # the package's claim has the same name
rationals = st.fractions(min_value=-50, max_value=50, max_denominator=60)
numbers = st.builds(Golden, rationals, rationals)
sets = st.sets(st.integers(1, 5), min_size=1)


@given(numbers, numbers)
def test_golden_numbers_are_a_field_in_order(x, y):
    assert math.isclose(float(x * y), float(x) * float(y), rel_tol=1e-9, abs_tol=1e-9)
    assert (x + y) - y == x
    assert (x * y).conjugate == x.conjugate * y.conjugate
    if abs(float(x) - float(y)) > 1e-9:
        assert (x < y) == (float(x) < float(y))
    assert (x - x).sign == 0
    assert (x * x).sign >= 0


def test_signs_need_no_floats():
    fibonacci = [1, 1]
    while len(fibonacci) < 120:
        fibonacci.append(fibonacci[-1] + fibonacci[-2])
    for n in range(10, 118):  # lucas² − 5·fibonacci² = ±4
        lucas = fibonacci[n - 1] + fibonacci[n + 1]
        close = Golden(Fraction(lucas), Fraction(-fibonacci[n]))
        assert close.sign == (1 if n % 2 else -1)
        assert float(close) == pytest.approx(close.sign * 4 / float(close.conjugate), 1e-15, 0)


@given(st.integers(-200, 200))
def test_cosines(k):
    assert math.isclose(float(cosine(k)), math.cos(math.radians(36 * k)), abs_tol=1e-14)


@given(sets, st.integers(-30, 30))
def test_combs(F, d):
    wanted = sum(math.cos(2 * math.pi * f * d / 10) for f in F)
    assert math.isclose(float(comb(F, d)), wanted, abs_tol=1e-12)
    assert comb(F, d) == comb(F, -d) == comb(F, d + 10)


@given(sets)
def test_the_gap_is_positive_iff_residues_are_separated(F):
    """Residues are separated iff no d other than 0 is a multiple of all periods."""
    apart = all(any(f * d % 10 for f in F) for d in range(1, 10))
    assert (comb_gap(F).sign > 0) == apart


def test_values_by_hand():
    assert comb_gap(ZHOU) == Golden(Fraction(15, 4), Fraction(-1, 4))
    assert period(4) == Fraction(5, 2)


@given(numbers)
@example(Golden(Fraction(0), Fraction(11)))
@example(Golden(Fraction(1), Fraction(-1)))
@example(Golden(Fraction(1, 2), Fraction(-1, 21)))
def test_the_text_of_a_golden_number(x):
    assert read(str(x)) == x


def read(text: str) -> Golden:
    """The number that a text denotes."""
    parts = text.replace("−", "-").replace("- ", "-").replace("+ ", "").split()
    a = [Fraction(part) for part in parts if "√" not in part]
    roots = [part.removesuffix("√5").removesuffix("·") for part in parts if "√" in part]
    b = [Fraction(f"{root}1" if root in ("", "-") else root) for root in roots]
    return Golden(sum(a, Fraction(0)), sum(b, Fraction(0)))


def test_halving_closure():
    assert halving_closure([1]) == (4, 2, 1)
    assert halving_closure([5]) == (5,)
    assert halving_closure([1, 5]) == ZHOU
    assert halving_closure([3]) == (4, 3, 2)


@given(sets, st.sampled_from([20, 30, 100]), st.floats(-4.9, 4.9))
def test_the_limit_of_alpha(F, p, error):
    limit, d = largest_alpha(p, F)
    if not comb_gap(F).sign > 0:
        assert limit < 1e-9
        return
    z = adder_logits(p, 0.99 * limit, 0, error, F)
    assert z.argmax() == 0
    z = adder_logits(p, 1.05 * limit, 0, 4.999, F)
    assert z[d] > z[0]


@given(st.integers(2, 12), st.data())
def test_separability_inequalities_have_no_solution(m, data):
    r = data.draw(st.integers(1, m - 1))
    rows = separability_inequalities(m, r)
    assert rows.shape == (2 * m, 2 * m)
    assert not rows.sum(0).any()
    u, v = np.random.default_rng(m).normal(size=(2, m, m))
    z = u[:, None] + v[None]  # (a, b, c)
    a = np.arange(m)
    wanted = np.concatenate(
        [z[a, -a % m, 0] - z[a, -a % m, r], z[a, (r - a) % m, r] - z[a, (r - a) % m, 0]]
    )
    unknowns = np.concatenate([u[:, 0] - u[:, r], v[:, 0] - v[:, r]])
    assert np.allclose(rows @ unknowns, wanted)
    assert wanted.min() <= 1e-12


def test_second_differences_are_0_for_sums_and_not_for_products():
    rng = np.random.default_rng(0)
    u, v = rng.integers(-9, 10, size=(2, 5, 3))
    sums = u[:, None] + v[None]
    assert second_differences(sums).shape == (4, 4, 3)
    assert not second_differences(sums).any()
    a = np.arange(5)
    assert (second_differences(np.multiply.outer(a, a)) == 1).all()


@pytest.mark.parametrize(
    ("uniform", "at", "holds"),
    [(False, 2, True), (True, 2, True), (True, 1, True), (False, 1, False)],
)
def test_a_layer_is_separable_iff_queries_do_not_depend_on_b(uniform, at, holds):
    model = random_layer(np.random.default_rng(3), uniform)
    assert separable(model, at) is holds


def test_largest_logits():
    from flint import arb

    z = [arb(1), arb(0), arb(1)]
    assert wins(z, [0, 2]) is Verdict.HOLDS
    assert wins(z, [1]) is Verdict.FAILS
    assert wins(z, [0]) is Verdict.UNDECIDED
    assert wins([arb(1), arb(1, 2)], [0]) is Verdict.UNDECIDED
    exact = [float(x) for x in logits(20, arb(3), Fraction(1, 3), ZHOU)]
    assert np.allclose(exact, adder_logits(20, 3.0, 0, 1 / 3))


def test_it_holds_at_the_least_size():
    assert not_holding(claim, p=20) == {}


@pytest.mark.parametrize(
    ("call", "names"),
    [
        (lambda: separability_inequalities(5, 10), "r m"),
        (lambda: list(claim.findings(Run(), p=25)), "p"),
    ],
)
def test_rejected_arguments(call, names):
    with rejects(*names.split()):
        call()


class Opposite:
    """A number of another library, from which numbers with a root can be subtracted."""

    def __neg__(self) -> Golden:
        return Golden(Fraction(0))

    def __rsub__(self, other: Golden) -> str:
        return "a difference"


@pytest.mark.usefixtures("unchecked")
def test_numbers_with_a_root_are_not_mixed_with_others():
    one = Golden(Fraction(1))
    for mixed in (
        lambda: one + 1,
        lambda: one - 1,
        lambda: one * 1,
        lambda: 0.5 * one,
        lambda: one < 1,
    ):
        with pytest.raises(TypeError):
            mixed()
    assert one - Opposite() == "a difference"  # of numbers that know roots
    with rejects("b"):
        Golden(Fraction(1), 0.5)


CONDITIONS = {
    "even": ("C", lambda C: lambda F, d: C(F, d + 5 * (d < 0)), "table"),
    "period": ("C", lambda C: lambda F, d: C(F, d + 5 * (d >= 10)), "table"),
    "both": ("C", lambda C: lambda F, d: C(F, d + 5 * (d < 0 or d > 10)), "table"),
    "sign of cos 36°": ("cosine", lambda cosine: lambda k: cosine(k).conjugate, "cosines"),
    "norms of rows": (
        "separability_inequalities",
        lambda rows: lambda m, r: 2 * rows(m, r),
        "residues",
    ),
    "number of rows": (
        "separability_inequalities",
        lambda rows: lambda m, r: np.concatenate([rows(m, r)] * 2),
        "residues",
    ),
    "sum of rows": (
        "separability_inequalities",
        lambda rows: lambda m, r: abs(rows(m, r)),
        "residues",
    ),
}


@pytest.mark.parametrize("fault", [None, *CONDITIONS])
def test_each_condition_on_exact_values_is_checked(fault, monkeypatch):
    if fault:
        name, change, _ = CONDITIONS[fault]
        monkeypatch.setattr(module, name, change(getattr(module, name)))
    found = [module.cosines(), next(module.table()), module.impossible(4)]
    fails = [f.id.split("/")[0] for f in found if f.verdict is Verdict.FAILS]
    assert fails == ([CONDITIONS[fault][2]] if fault else [])


@pytest.mark.parametrize("empty", [[], (), set(), frozenset(), {}, range(0), np.array([], int)])
@pytest.mark.parametrize("function", [lambda F: comb(F, 1), comb_gap, halving_closure])
def test_no_frequencies_are_rejected_in_any_container(function, empty):
    with rejects("F"):
        function(empty)
