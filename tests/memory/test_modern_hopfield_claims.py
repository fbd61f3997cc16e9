"""The claims about modern Hopfield networks: extreme options, deviations, verdicts on balls."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest
from flint import arb

from theory.balls import exactly, norm
from theory.memory.hopfield_balls import ModernNetwork, spectral_bound
from theory.memory.retrieval_bounds import rounding_bound
from verify.claim import Run
from verify.domains import Ball
from verify.evidence.enclosure import BITS
from verify.finding import Verdict
from verify.memory import attention_is_hopfield as attention_module
from verify.memory import modern_hopfield as claim_module
from verify.memory import (
    modern_hopfield_bounds,
    modern_hopfield_energy,
    modern_hopfield_retrieve,
    modern_hopfield_storage,
    updates,
)
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
        (attention_is_hopfield, 1e100, ["torch/update", "torch/layer"]),
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


def test_bounds_on_the_rounding_of_the_library():
    """By hand for N = d = 2, M = 4, β = ½: Δ = 16, (2/2 + ln 32)/β and 1/(βNM) = ¼."""
    X, u = np.array([[3.0, 0.0], [0.0, 4.0]]), 2.0**-53
    with Ball.precision(BITS):
        found = modern_hopfield_bounds._library_sizes(X, 1, ModernNetwork(X, 0.5))
        log = arb(2).log()
        wanted = [
            (16, 16, 2 * (2 + 2) * u * 16),
            (2 + 10 * log, 2 + 10 * float(log), 16 * u * (1 + 7 * float(log)) / 0.5),
            (arb(0.25), 0.25, 8 * u / 4),
        ]
        for (exact, made, bound), (ball, number, by_hand) in zip(found, wanted, strict=True):
            assert exact.overlaps(arb(ball))
            assert made == pytest.approx(number, rel=1e-15)
            assert float(bound) == pytest.approx(by_hand, rel=1e-12, abs=0)
        # ξ = (0, 3): the gap is 12, the distances to x and to z = (0, 4) are 1.
        bounds = modern_hopfield_bounds._library_bounds(
            X, 1, ModernNetwork(X, 0.5), exactly([0.0, 3.0]), exactly([0.0, 4.0])
        )
        stated = [8 * np.exp(-6), 8 * np.exp(-0.5 * 8), 4 * 8 * np.exp(-0.5 * 8)]
        sizes = [12, 16 + 8, 16 + 8]
        for (exact, made, bound), value, size in zip(bounds, stated, sizes, strict=True):
            assert float(exact) == pytest.approx(value, rel=1e-12)
            assert made == pytest.approx(value, rel=1e-12)
            assert float(bound) == pytest.approx(8 * u * (2 + size / 2) * value, rel=1e-12, abs=0)


def test_numbers_of_updates_are_told_apart_within_rounding(monkeypatch):
    """The bound for s updates is twice that for s + 1 updates of either side."""
    seen = []
    right = updates.numbers_of_updates
    monkeypatch.setattr(
        updates, "numbers_of_updates", lambda *given: seen.extend(given[-2:]) or right(*given)
    )
    X, query = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([[0.5, 0.25]])
    updates.updates_against_torch(Run(), X, query)
    applied, bounds = seen
    patterns, beta = np.array([[1.0, 0.0], [0.0, 1.0], [-2.0, 0.0]]), 0.25
    state = query
    for after in applied:
        assert np.allclose(after, state, atol=1e-15)
        weights = np.exp(beta * state @ patterns.T)
        state = weights / weights.sum() @ patterns
    size = float(np.linalg.norm(query))
    assert bounds == [2 * rounding_bound(patterns, beta, s, size) for s in (1, 2, 3)]


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


def storage_bound(**factors):
    """A change of numbers of the bound of the theorem by these factors."""

    def change(bound):
        with mpmath.workdps(60):
            return replace(bound, **{n: getattr(bound, n) * f for n, f in factors.items()})

    return {"stored_patterns_bound": change}


with mpmath.workdps(60):
    NEAR = 1 + mpmath.mpf("1e-20")
STORAGE_FAULTS = [
    storage_bound(c_required=10**9),
    storage_bound(c=NEAR),
    storage_bound(n_patterns=NEAR),
    {"union_bound_patterns": lambda count: count + 1},
    {"union_bound_patterns": lambda count: count - 1},
    {
        **storage_bound(n_patterns=10**6),
        "storage_constants": lambda found: (found[0], found[1] * 10**6),
    },
]


@pytest.mark.parametrize("faults", [{}, *STORAGE_FAULTS])
def test_each_part_of_the_storage_bound_is_checked(faults, monkeypatch):
    """The last fault is a bound that is too large, both in the library and in balls."""
    for name, change in faults.items():
        right = getattr(modern_hopfield_storage, name)
        changed = lambda *given, right=right, change=change: change(right(*given))  # noqa: E731
        monkeypatch.setattr(modern_hopfield_storage, name, changed)
    for example, printed in modern_hopfield_storage.EXAMPLES:
        found = modern_hopfield_storage._example(*example, printed)
        assert found.verdict is (Verdict.FAILS if faults else Verdict.HOLDS)


def test_other_digits_than_the_printed_ones_fail():
    (example, _), *_ = modern_hopfield_storage.EXAMPLES
    assert modern_hopfield_storage._example(*example, "3.15462").verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("name", "changed"),
    [
        ("stored_patterns_bound", storage_bound(c_required=10**9)["stored_patterns_bound"]),
        ("storage_constants", lambda found: (found[0], arb(2))),
    ],
)
def test_the_theorem_has_to_guarantee_two_patterns(name, changed, monkeypatch):
    right = getattr(modern_hopfield_storage, name)
    monkeypatch.setattr(modern_hopfield_storage, name, lambda *given: changed(right(*given)))
    assert modern_hopfield_storage._shared_fixed_point().verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("where", "name", "change"),
    [
        (modern_hopfield_bounds, "required_in_balls", lambda value: value + 100),
        (ModernNetwork, "image", lambda value: value + 8),
        (ModernNetwork, "slope_on", lambda value: value + 1),
        (ModernNetwork, "update", lambda value: [x + 1e-30 for x in value]),
    ],
)
def test_each_condition_at_a_small_beta_is_checked(where, name, change, monkeypatch):
    assert modern_hopfield_bounds.small_beta().verdict is Verdict.HOLDS
    right = getattr(where, name)
    monkeypatch.setattr(where, name, lambda *given: change(right(*given)))
    assert modern_hopfield_bounds.small_beta().verdict is Verdict.FAILS


def least_energy(self, xi):
    return arb(0.5) * (norm(xi) - self.M) ** 2


@pytest.mark.parametrize(
    ("every", "change"),
    [
        (0, lambda net, xi, E: 0.999 * least_energy(net, xi)),
        (1, lambda net, xi, E: arb(-1e-9)),
        (1, lambda net, xi, E: 2 * net.M**2 + 1e-9),
    ],
)
def test_each_bound_on_the_energy_is_checked(every, change, monkeypatch):
    """The energy is changed at the states, or only at the points inside the ball."""
    right, calls = ModernNetwork.energy, []

    def energy(net, xi):
        calls.append(xi)
        E = right(net, xi)
        return change(net, xi, E) if len(calls) % 2 != every and len(xi) > 1 else E

    networks = [(ModernNetwork(np.eye(3, 2), 2.0), [[arb(1), arb(3)], [arb(2), arb(-1)]])]
    assert modern_hopfield_energy._range(Run(), networks).verdict is Verdict.HOLDS
    monkeypatch.setattr(ModernNetwork, "energy", energy)
    assert modern_hopfield_energy._range(Run(), networks).verdict is Verdict.FAILS


@pytest.mark.parametrize("order", [1, 2])
def test_both_derivatives_of_the_energy_are_checked(order, monkeypatch):
    right = ModernNetwork.energy_along
    networks = [(ModernNetwork(np.eye(3, 2), 2.0), [[arb(1), arb(3)]])]
    assert modern_hopfield_energy._gradient(networks).verdict is Verdict.HOLDS

    def along(net, xi, v):
        return [c * (1 + 1e-12 * (k == order)) for k, c in enumerate(right(net, xi, v))]

    monkeypatch.setattr(ModernNetwork, "energy_along", along)
    assert modern_hopfield_energy._gradient(networks).verdict is Verdict.FAILS


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


def planted(right, change):
    """The function, with its result changed."""
    return lambda *given, **options: change(right(*given, **options))


INSTANCES = [(ModernNetwork(np.eye(3, 2), 2.0), [[arb(1), arb(3)]])]


def descent():
    return list(modern_hopfield_energy._descent(Run(), INSTANCES))


def convergence():
    return [modern_hopfield_energy._convergence(Run(), INSTANCES)]


FAULTS = {
    "divergence": (ModernNetwork, "energy", lambda E: 2 * E, descent),
    "rise": (ModernNetwork, "energy", lambda E: -E, descent),
    "residual": (ModernNetwork, "energy", lambda E: 0 * E, convergence),
    "crowded": (
        modern_hopfield_storage,
        "separations",
        lambda found: 0 * found,
        lambda: [modern_hopfield_storage._many(Run(quick=True))],
    ),
    "not separated": (
        modern_hopfield_storage,
        "separations",
        lambda found: found / 2,
        lambda: [modern_hopfield_storage._separated_patterns(Run())],
    ),
    "float32": (
        modern_hopfield_retrieve,
        "retrieve",
        lambda found: found * 1.01,
        lambda: [modern_hopfield_retrieve.in_float32(Run())],
    ),
    "pruned too much": (
        modern_hopfield_retrieve,
        "_retrieved",
        lambda found: found * (1 + 1e-3),
        lambda: list(modern_hopfield_retrieve.pruning(Run(quick=True))),
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_of_these_findings_can_fail(fault, monkeypatch):
    where, name, change, find = FAULTS[fault]
    assert {finding.verdict for finding in find()} == {Verdict.HOLDS}
    monkeypatch.setattr(where, name, planted(getattr(where, name), change))
    assert {finding.verdict for finding in find()} == {Verdict.FAILS}


@pytest.mark.parametrize("name", ["_limit", "_number_of_updates"])
def test_outputs_that_are_twice_as_large_fail(name):
    def twice(model):
        for attn in model.attentions:
            attn.W_O *= 2
        return model

    find = getattr(claim_module, name)
    assert find(Run(), 2, 3).verdict is Verdict.HOLDS
    assert find(Run(fault=twice), 2, 3).verdict is Verdict.FAILS


def test_two_heads_of_one_beta_do_not_differ(monkeypatch):
    given = Run(), np.eye(3, 2), np.array([[1.0, 2.0]])
    assert {f.verdict for f in attention_module._two_heads(*given)} == {Verdict.HOLDS}
    monkeypatch.setattr(attention_module, "BETAS", (1.0, 1.0))
    own, other = attention_module._two_heads(*given)
    assert (own.verdict, other.verdict) == (Verdict.HOLDS, Verdict.FAILS)


@pytest.mark.parametrize("name", ["W_Q", "W_V"])
def test_one_head_of_the_two_with_other_weights_fails(name):
    def fault(model):
        getattr(model.blocks[0].attn, name)[1] *= 1 + 2.0**-30
        return model

    given = np.eye(3, 2), np.array([[1.0, 2.0]])
    own, _ = attention_module._two_heads(Run(fault=fault), *given)
    assert own.verdict is Verdict.FAILS


def test_a_slope_that_may_be_one_near_the_patterns_leaves_the_number_undecided(monkeypatch):
    """Near the fixed points the map still contracts, so that they are enclosed."""
    right = ModernNetwork.slope_on

    def steeper(network, centre, radius):
        return right(network, centre, radius) + (1 if radius > 2.0**-40 else 0)

    monkeypatch.setattr(ModernNetwork, "slope_on", steeper)
    found = next(iter(modern_hopfield_bounds.separation_and_retrieval(Run(quick=True))))
    assert (found.id, found.verdict) == ("separation", Verdict.UNDECIDED)


def test_at_a_small_beta_no_separation_is_required():
    """There the required separation is negative, and does not decrease in β."""
    X = np.random.default_rng(3).standard_normal((3, 3))
    with Ball.precision(BITS):
        assert modern_hopfield_bounds._is_least(X, 0, 2.0**-20) is Verdict.HOLDS
