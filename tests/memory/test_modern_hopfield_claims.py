"""The claims about modern Hopfield networks: they hold, see every fault and refuse bad options."""

import functools

import numpy as np
import pytest
from flint import arb

from theory.checks import InputError
from verify.claim import Claim, Run
from verify.domains import Ball
from verify.evidence.enclosure import UNIT, all_hold, apart, below, coincide, exactly, same
from verify.finding import Verdict
from verify.memory import (
    modern_hopfield_bounds,
    modern_hopfield_energy,
    modern_hopfield_storage,
)
from verify.memory.attention_is_hopfield import attention_is_hopfield
from verify.memory.hopfield_balls import ModernNetwork, spectral_bound
from verify.memory.modern_hopfield import modern_hopfield
from verify.memory.vectors import norm
from verify.selftest.tensor_mutations import FAULTS

SMALL: dict[str, tuple[Claim, dict]] = {
    "modern-hopfield": (modern_hopfield, {"d": 2, "patterns": 4, "samples": 2}),
    "attention-is-hopfield": (attention_is_hopfield, {"d": 2, "patterns": 3}),
}


def not_holding(findings):
    return [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


def check(name):
    made, options = SMALL[name]
    return list(made.findings(Run(seed=1, quick=True), **options))


first_time = functools.cache(check)


@pytest.mark.parametrize("name", SMALL)
def test_every_claim_holds(name):
    assert not_holding(first_time(name)) == []


def test_the_claim_holds_in_full(monkeypatch):
    monkeypatch.setattr(modern_hopfield_storage, "SETS", 30)
    assert not_holding(modern_hopfield.findings(Run(seed=2))) == []


@pytest.mark.parametrize(
    ("name", "size"),
    [
        *((name, {"d": 1, "patterns": 1, "beta": 1e-6}) for name in SMALL),
        ("attention-is-hopfield", {"beta": 1e6}),
    ],
    ids=str,
)
def test_claims_hold_at_extreme_options(name, size):
    made, options = SMALL[name]
    assert not_holding(made.findings(Run(quick=True), **{**options, **size})) == []


@pytest.mark.parametrize(
    ("beta", "undecided"),
    [(1e16, {"torch/update", "torch/layer"}), (1e308, {"torch/update", "torch/layer"})],
)
def test_a_bound_that_says_nothing_decides_nothing(beta, undecided):
    made, options = SMALL["attention-is-hopfield"]
    found = {f.id: f.verdict for f in made.findings(Run(quick=True), **options, beta=beta)}
    assert {id for id, verdict in found.items() if verdict is Verdict.UNDECIDED} == undecided
    assert Verdict.FAILS not in found.values()


@pytest.mark.parametrize("name", SMALL)
def test_the_same_seed_gives_the_same_evidence(name):
    runs = first_time(name), check(name)
    first, second = ([(f.id, f.measured, f.bound, f.words) for f in found] for found in runs)
    assert first == second
    assert len({id for id, *_ in first}) == len(first)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize(
    ("name", "options"),
    [(name, options) for name, (made, _) in SMALL.items() for options in made.faults_seen],
    ids=str,
)
def test_every_claim_sees_every_fault(name, options, fault):
    run = Run(seed=1, quick=True, fault=FAULTS[fault])
    assert SMALL[name][0].verdict(run, **options) is Verdict.FAILS


@pytest.mark.parametrize("name", SMALL)
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"d": 0}, "d is 0: give a number at least 1"),
        ({"patterns": 0}, "patterns is 0: give a number at least 1"),
        ({"beta": 0.0}, "beta is 0.0: give a finite number greater than 0"),
        ({"beta": float("nan")}, "beta is nan: give a finite number greater than 0"),
    ],
)
def test_bad_options_are_refused(name, options, message, unchecked):
    with pytest.raises(InputError, match=message):
        list(SMALL[name][0].findings(Run(quick=True), **options))


def test_the_picture_is_drawn_at_a_huge_beta(tmp_path):
    import matplotlib.image

    target = tmp_path / "picture.png"
    findings = modern_hopfield.findings(Run(quick=True, plot=target), d=2, patterns=3, beta=1e6)
    # Five updates multiply rounding by β each: the bound on it says nothing.
    undecided = [(f.id, f.verdict) for f in findings if f.verdict is not Verdict.HOLDS]
    assert undecided == [("float", Verdict.UNDECIDED)]
    assert np.ptp(matplotlib.image.imread(target)) > 0


@pytest.mark.parametrize(
    ("module", "name", "factor"),
    [
        (modern_hopfield_energy, "modern_hopfield_energy", 1 + 1e-10),
        (modern_hopfield_energy, "modern_hopfield_step", 1 + 1e-10),
        (modern_hopfield_energy, "jacobian", 1 + 1e-10),
        (modern_hopfield_energy, "jacobian", np.nan),
        (modern_hopfield_bounds, "basin_radius", 1 + 1e-12),
        (modern_hopfield_bounds, "separations", 1 + 1e-12),
        (modern_hopfield_bounds, "contraction_bound", 1 + 1e-10),
        (modern_hopfield_bounds, "retrieval_error_bound", 1 + 1e-10),
        (modern_hopfield_bounds, "gap_error_bound", 1 + 1e-10),
        (modern_hopfield_bounds, "required_separation", 1 - 1e-10),
    ],
    ids=str,
)
def test_the_library_is_held_to_the_balls(module, name, factor, monkeypatch):
    """Its energy, update, Jacobian, separation, radius and bounds: a little off is seen."""
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: factor * right(*given))
    run = Run(seed=1, quick=True)
    if module is modern_hopfield_energy:
        verdict = next(module.energy(run, 4, 2)).verdict
    else:
        found = module.separation_and_retrieval(run)
        verdict = next(f.verdict for f in found if f.id == "bound/library")
    assert verdict is (Verdict.FAILS if np.isfinite(factor) else Verdict.UNDECIDED)


def test_two_models_of_the_network_agree():
    """The enclosure over a whole ball holds the value at each of its points."""
    rng = np.random.default_rng(4)
    X, centre = rng.standard_normal((4, 2)), rng.standard_normal(2)
    with Ball.precision(100):
        network, radius = ModernNetwork(X, 2.0), arb(0.25)
        p = network.weights_on(exactly(centre), radius)
        slope = network.slope_on(exactly(centre), radius)
        for _ in range(20):
            offset = rng.standard_normal(2)
            xi = centre + 0.2 * offset / np.linalg.norm(offset)
            inside = network.weights(exactly(xi))
            assert all(wide.contains(narrow) for wide, narrow in zip(p, inside, strict=True))
            J = network.jacobian(inside)
            assert spectral_bound(J) <= slope
            exact = np.linalg.eigvalsh(np.array([[float(u) for u in row] for row in J]))[-1]
            assert exact <= float(spectral_bound(J)) * (1 + 1e-12)
        assert norm([arb(3), arb(4)]).contains(5)


def test_a_wrong_answer_is_told_from_an_undecided_one():
    assert below(arb(1), arb(2)) is Verdict.HOLDS
    assert below(arb(2), arb(1)) is Verdict.FAILS
    assert below(UNIT, arb(0)) is Verdict.UNDECIDED
    assert same(arb(1), arb(2)) is Verdict.FAILS
    assert same(UNIT, arb(0)) is Verdict.UNDECIDED
    assert same(arb(1), arb(1)) is Verdict.HOLDS
    assert same(arb(1, 2.0**-60), arb(1)) is Verdict.UNDECIDED
    assert same(arb(1, 2.0**-60), arb(1), width=-50) is Verdict.HOLDS


def test_balls_coincide_entry_by_entry():
    narrow, wide = arb(2, 2.0**-120), arb(2, 0.5)
    found = coincide("a", "b", [[arb(1), narrow]], [[1.0, 2.0]], detail="of what")
    assert (found.verdict, found.detail) == (Verdict.HOLDS, "")
    assert 2.0**-120 <= found.measured <= found.bound == 2.0**-99
    assert coincide("a", "b", [arb(1), wide], [1.0, 2.0]).verdict is Verdict.UNDECIDED
    found = coincide("a", "b", [arb(1), arb(3), wide], [1.0, 2.0, 2.0], detail="of what")
    assert (found.verdict, found.detail) == (Verdict.FAILS, "of what: 3 instead of 2")
    assert found.measured == 1.0
    assert coincide("a", "b", [], []).verdict is Verdict.UNDECIDED
    with pytest.raises(ValueError, match="zip"):
        coincide("a", "b", [arb(1)], [1.0, 2.0])
    assert apart([[arb(1)], [wide]], [[0.0], [2.0]]) == 1.0
    assert np.isnan(apart([arb(1), arb("nan")], [1.0, 2.0]))
    assert np.isnan(apart([], []))


def test_comparisons_are_counted():
    found = all_hold("a", "b", [Verdict.HOLDS, Verdict.UNDECIDED])
    assert (found.measured, found.bound, found.verdict) == (1, 2, Verdict.UNDECIDED)
    assert all_hold("a", "b", [Verdict.HOLDS, Verdict.FAILS]).verdict is Verdict.FAILS
    assert all_hold("a", "b", []).verdict is Verdict.UNDECIDED
