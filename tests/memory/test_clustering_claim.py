"""The claim `clustering`: sizes at the edge, deviations near its bounds, NaN, counts by hand."""

import sys
from copy import deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import cycle
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from refusals import rejects

from theory.memory.hemisphere import patterns_in_a_hemisphere
from theory.memory.sphere import uniform_tokens
from verify.claim import Run
from verify.finding import Verdict
from verify.ledger.theorems import ledger
from verify.memory import hemisphere, hopfield_capacity, orthogonal_start, sphere_dynamics
from verify.memory import printed as printed_bounds
from verify.memory.clustering import clustering
from verify.memory.printed import printed
from verify.memory.sphere_dynamics import euler_findings

claim_module = sys.modules["verify.memory.clustering"]  # the package's claim has the same name


def test_two_tokens_at_the_largest_beta():
    findings = clustering.findings(Run(quick=True, seed=1), n=2, d=3, beta=5.0)
    assert [(f.id, f.measured) for f in findings if f.verdict is not Verdict.HOLDS] == []


@pytest.mark.parametrize(
    ("name", "change", "find"),
    [
        (
            "orthogonal_start",
            lambda value: value * (1 + 1e-6),
            lambda: [orthogonal_start.all_tokens(Run(quick=True)), orthogonal_start.tanh()],
        ),
        ("orthogonal_gap", lambda value: value**1.001, lambda: [orthogonal_start.late_rate(True)]),
        ("escape_time", lambda value: value * (1 + 1e-13), orthogonal_start.slow_phase),
    ],
)
def test_an_orthogonal_start_with_a_small_error_fails(name, change, find, monkeypatch):
    right = getattr(orthogonal_start, name)
    monkeypatch.setattr(orthogonal_start, name, lambda *given: change(right(*given)))
    assert {finding.verdict for finding in find()} == {Verdict.FAILS}


@pytest.mark.parametrize("change", [(0, 1), (1, 2)])
def test_an_energy_that_does_not_change_or_changes_at_another_rate_fails(change, monkeypatch):
    """Velocities 0 agree with the rate 0, which is not a rise; Z changes only the stated rate."""
    right = claim_module.velocity

    def velocity(*given):
        V, Z = right(*given)
        return [[change[0] * x for x in row] for row in V], [change[1] * z for z in Z]

    monkeypatch.setattr(claim_module, "velocity", velocity)
    found = next(claim_module._energy_identity(Run(), 4, 3, 1.0, "SA"))
    assert found.verdict is Verdict.FAILS


@pytest.mark.parametrize("factors", [(2, 1), (1, 0.5)])
def test_both_bounds_on_the_late_time_are_checked(factors, monkeypatch):
    right = orthogonal_start.escape_ratio_bounds

    def bounds(*given):
        return tuple(factor * bound for factor, bound in zip(factors, right(*given), strict=True))

    assert orthogonal_start._asymptotic_time().verdict is Verdict.HOLDS
    monkeypatch.setattr(orthogonal_start, "escape_ratio_bounds", bounds)
    assert orthogonal_start._asymptotic_time().verdict is Verdict.FAILS


@pytest.mark.parametrize("factor", [1e-6, 1e6])
def test_a_late_rate_outside_of_either_end_fails(factor, monkeypatch):
    """Every second diameter, the one at the end of an interval, is wrong."""
    right, factors = hemisphere.cone_diameter, cycle([1.0, factor])
    monkeypatch.setattr(hemisphere, "cone_diameter", lambda *given: right(*given) * next(factors))
    assert hemisphere._late_rate(Run(), 4, 3, 1.0).verdict is Verdict.FAILS


@pytest.mark.parametrize("factor", [1 + 1e-9, 1 - 1e-9])
def test_known_times_are_compared_with_both(factor, monkeypatch):
    """The time by the library and the printed one, which a ball lies within half a digit of."""
    right = orthogonal_start.escape_time
    monkeypatch.setattr(orthogonal_start, "escape_time", lambda *given: factor * right(*given))
    assert {f.verdict for f in orthogonal_start.slow_phase()} == {Verdict.FAILS}
    monkeypatch.undo()
    known = {b: (t + 2.1 * half, half) for b, (t, half) in orthogonal_start.KNOWN_TIMES.items()}
    monkeypatch.setattr(orthogonal_start, "KNOWN_TIMES", known)
    assert {f.verdict for f in orthogonal_start.slow_phase()} == {Verdict.FAILS}


@pytest.mark.parametrize("course", ["still", "falls later", "returns"])
def test_an_energy_that_does_not_rise_fails(course, monkeypatch):
    """Also if it rises from the first time to the last, or in every step but one."""
    right = claim_module.sphere_flow

    def planted(X, beta, times, form):
        flow = right(X, beta, times, form)
        order = {
            "still": np.zeros(len(times), dtype=int),
            "falls later": np.array([*range(5), 3, *range(6, len(times))]),
            "returns": np.array([*range(len(times) - 1), 0]),
        }
        return replace(flow, tokens=flow.tokens[order[course]])

    monkeypatch.setattr(claim_module, "sphere_flow", planted)
    assert claim_module._energy_rises(Run(quick=True), 4, 3, 1.0).verdict is Verdict.FAILS


NAN_LATER = {
    "orthogonal start": (orthogonal_start, "orthogonal_start", orthogonal_start.all_tokens),
    "late rate of equal tokens": (
        orthogonal_start,
        "orthogonal_gap",
        lambda run: orthogonal_start.late_rate(True),
    ),
    "late rate": (hemisphere, "cone_diameter", lambda run: hemisphere._late_rate(run, 4, 3, 1.0)),
    "energy": (claim_module, "sphere_energy", lambda run: claim_module._energy_rises(run, 4, 3, 1)),
    "leaders": (claim_module, "euclidean_flow", lambda run: claim_module._leaders(run, 4)),
    "every set": (
        hopfield_capacity,
        "unstable_bit_probability",
        lambda run: hopfield_capacity.every_set_of_patterns(True),
    ),
}


@pytest.mark.parametrize("finding", NAN_LATER)
def test_a_nan_after_good_values_decides_nothing(finding, monkeypatch):
    module, name, find = NAN_LATER[finding]
    right, calls = getattr(module, name), []

    def later(*given, **options):
        calls.append(given)
        found = right(*given, **options)
        if len(calls) <= 1 + (name == "cone_diameter"):  # two make the first rate
            return found
        if name == "euclidean_flow":
            return replace(found, attention=found.attention * np.nan)
        return found * np.nan

    monkeypatch.setattr(module, name, later)
    assert find(Run(quick=True)).verdict is Verdict.UNDECIDED
    assert len(calls) > 1 + (name == "cone_diameter")


@pytest.mark.parametrize("name", ["sphere_velocity", "sphere_energy"])
def test_the_bounds_on_rounding_are_tight_enough(name, monkeypatch):
    right = getattr(claim_module, name)
    monkeypatch.setattr(claim_module, name, lambda *given: right(*given) * (1 + 1e-11))
    found = {f.id: f for f in claim_module._energy_identity(Run(), 4, 3, 1.0, "SA")}
    assert found["energy/float"].verdict is Verdict.FAILS


def test_a_step_with_a_small_error_fails():
    def plant(model):
        for attn in model.attentions:
            attn.W_O *= 1 + 1e-11
        return model

    run = Run(fault=plant)
    found = {f.id: f for f in euler_findings(run, uniform_tokens(run.rng, 4, 3), 1.0)}
    assert found["layers/float"].verdict is Verdict.FAILS


def test_counting_patterns_by_hand():
    """Two lines have 4 sign patterns, all in half planes; three in the plane 6 of 8."""
    assert patterns_in_a_hemisphere(np.array([[1, 0], [0, 1]])) == 4
    assert patterns_in_a_hemisphere(np.array([[1, 0], [0, 1], [1, 1]])) == 6
    assert patterns_in_a_hemisphere(np.array([[1], [2], [-3]])) == 2
    for parallel in ([[1, 2], [2, 4]], [[1, 2], [-1, -2]], [[1, 0], [0, 1], [0, 3]]):
        with pytest.raises(ValueError, match="general position"):
            patterns_in_a_hemisphere(np.array(parallel))
    with rejects("plane", error=ValueError):
        patterns_in_a_hemisphere(np.array([[1, 0], [2, 0], [1, 1]]))


def test_every_erratum_of_the_ledger_is_shown():
    stated = {
        id for id, each in ledger().items() if (each.topic, each.kind) == ("memory", "erratum")
    }
    assert {finding.id for finding in printed(Run())} >= stated


@pytest.mark.parametrize("beta", [0.0, 6.0, float("nan")])
def test_beta_out_of_range(beta, unchecked):
    with rejects("beta"):
        list(clustering.findings(Run(quick=True), beta=beta))


def planted(right, change):
    """The function, with its result changed."""
    return lambda *given, **options: change(right(*given, **options))


def order():
    X = uniform_tokens(np.random.default_rng(0), 4, 3)
    models = [sphere_dynamics.sphere_dynamics(3, 1.0, 1 / L, L) for L in (16, 32, 64)]
    return [sphere_dynamics._order(models, X, 1.0)]


FAULTS = {
    "Wendel": (
        hemisphere,
        {"hemisphere_probability": lambda p: p + Fraction(1, 10**9)},
        lambda: [hemisphere.wendel_counted(True)],
    ),
    "still": (
        hemisphere,
        {"cone_diameter": lambda size: size * 0 + size[0]},
        lambda: [hemisphere._exponential(Run(), 4, 3, 1.0)],
    ),
    "rate": (
        hemisphere,
        {"hemisphere_rate": lambda rate: rate * (1 - 1e-9)},
        lambda: [hemisphere._exponential(Run(), 4, 3, 1.0)],
    ),
    "antipodal": (
        claim_module,
        {
            "tangential": lambda v: [q + 1 for q in v],
            "smallest_inner_product": lambda least: least - 0.02,
        },
        lambda: claim_module._antipodal(Run(), 3),
    ),
    "late gap": (
        printed_bounds,
        {"orthogonal_gap": lambda gap: gap * 3},
        lambda: [printed_bounds.decay_later()],
    ),
    "order": (
        sphere_dynamics,
        {"sphere_flow": lambda flow: replace(flow, tokens=flow.tokens + 1e-2)},
        order,
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_each_of_these_findings_can_fail(fault, monkeypatch):
    module, changes, find = FAULTS[fault]
    assert {finding.verdict for finding in find()} == {Verdict.HOLDS}
    for name, change in changes.items():
        monkeypatch.setattr(module, name, planted(getattr(module, name), change))
    assert {finding.verdict for finding in find()} == {Verdict.FAILS}


def test_a_pair_that_moves_fails():
    model = sphere_dynamics.sphere_dynamics(3, 1.0, 0.25, 5)
    model.blocks[0].attn.W_O *= torch.arange(model.d_model)  # a different factor for each entry
    assert sphere_dynamics._pair_stays(model, 3).verdict is Verdict.FAILS


@pytest.mark.parametrize("beta", [0.5, 1.0, 3.0])
@pytest.mark.parametrize("layer", [0, 3, 7])
def test_each_layer_is_compared_for_each_beta(beta, layer):
    def plant(model):
        if model.n_layers > layer:
            model.blocks[layer] = deepcopy(model.blocks[layer])
            model.blocks[layer].attn.W_O *= 1 + 1e-10
        return model

    run = Run(fault=plant)
    found = {f.id: f for f in euler_findings(run, uniform_tokens(run.rng, 4, 3), beta)}
    assert found["layers/float"].verdict is Verdict.FAILS


def test_the_energy_may_be_off_by_the_integration_at_both_ends_of_a_step(monkeypatch):
    """The gradient is at most e^β/n for each of n tokens."""
    tokens = uniform_tokens(np.random.default_rng(0), 101, 2, 2)[:, None]
    monkeypatch.setattr(claim_module, "sphere_flow", lambda *_: SimpleNamespace(tokens=tokens))
    bound = claim_module._energy_rises(Run(quick=True), 2, 2, 1.5).bound
    slack = pytest.approx(2 * np.exp(1.5) * claim_module.INTEGRATION, rel=1e-12)
    assert (-bound["smallest step"], bound["smallest gain"]) == (slack, slack)
