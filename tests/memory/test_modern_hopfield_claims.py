"""The claims about modern Hopfield networks: extreme options, deviations, verdicts on balls."""

import numpy as np
import pytest
from flint import arb

from theory.balls import exactly, norm
from theory.memory.hopfield_balls import ModernNetwork, spectral_bound
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS
from verify.finding import Verdict
from verify.memory import modern_hopfield_bounds, modern_hopfield_energy
from verify.memory.attention_is_hopfield import attention_is_hopfield
from verify.memory.modern_hopfield import modern_hopfield

SMALL = {"d": 2, "n_patterns": 3}


@pytest.mark.parametrize(
    ("claim", "options"),
    [
        (modern_hopfield, {"d": 1, "n_patterns": 1, "beta": 1e-6, "samples": 2}),
        (attention_is_hopfield, {"d": 1, "n_patterns": 1, "beta": 1e-6}),
        (attention_is_hopfield, {**SMALL, "beta": 1e6}),
    ],
)
def test_claims_hold_at_extreme_options(claim, options):
    findings = claim.findings(Run(quick=True), **options)
    assert [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS] == []


@pytest.mark.parametrize(
    ("claim", "beta", "undecided"),
    [
        (attention_is_hopfield, 1e16, ["torch/update", "torch/layer"]),
        (attention_is_hopfield, 1e308, ["torch/update", "torch/layer"]),
        (modern_hopfield, 1e6, ["float"]),  # five updates multiply rounding by β each
    ],
)
def test_a_vacuous_bound_decides_nothing(claim, beta, undecided):
    findings = claim.findings(Run(quick=True), **SMALL, beta=beta)
    found = {f.id: f.verdict for f in findings if f.verdict is not Verdict.HOLDS}
    assert found == dict.fromkeys(undecided, Verdict.UNDECIDED)


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
def test_the_library_is_compared_with_balls(module, name, factor, monkeypatch):
    """Its energy, update, Jacobian, separation, radius and bounds: small deviations fail."""
    right = getattr(module, name)
    monkeypatch.setattr(module, name, lambda *given: factor * right(*given))
    run = Run(seed=1, quick=True)
    if module is modern_hopfield_energy:
        verdict = next(module.energy(run, 4, 2)).verdict
    else:
        found = module.separation_and_retrieval(run)
        verdict = next(f.verdict for f in found if f.id == "bound/library")
    assert verdict is (Verdict.FAILS if np.isfinite(factor) else Verdict.UNDECIDED)


@pytest.mark.parametrize("factor", [2.0, 1 + 1e-4, 1 - 1e-4])
def test_the_least_beta_is_least(factor, monkeypatch):
    """A larger β is not least, and at a smaller one the patterns are not separated enough."""
    right = modern_hopfield_bounds.least_beta
    X = np.random.default_rng(3).standard_normal((3, 3))
    i = int(modern_hopfield_bounds.separations(X).argmax())
    with Ball.precision(BITS):
        assert modern_hopfield_bounds._is_least(X, i, right(X, i)) is Verdict.HOLDS
        if factor > 1:
            larger = modern_hopfield_bounds._is_least(X, i, factor * right(X, i))
            assert larger is Verdict.FAILS
    monkeypatch.setattr(modern_hopfield_bounds, "least_beta", lambda *given: factor * right(*given))
    found = modern_hopfield_bounds.separation_and_retrieval(Run(seed=1, quick=True))
    assert next(found).verdict is Verdict.FAILS


@pytest.mark.parametrize("factor", [1.5, 1 + 1e-3, 1 - 1e-3])
def test_the_radius_of_a_regime_is_least(factor, monkeypatch):
    assert {f.verdict for f in modern_hopfield_bounds.regimes(Run())} == {Verdict.HOLDS}
    right = modern_hopfield_bounds.cluster_radius
    monkeypatch.setattr(modern_hopfield_bounds, "cluster_radius", lambda *g: factor * right(*g))
    assert {f.verdict for f in modern_hopfield_bounds.regimes(Run())} == {Verdict.FAILS}


def test_two_models_of_the_network_agree():
    """The enclosure over a ball contains the value at each of its points."""
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
