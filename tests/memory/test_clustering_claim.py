"""The claim `clustering`: it holds, notices every fault, draws, and says no to bad options."""

import sys
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Run
from verify.finding import Verdict
from verify.ledger.theorems import ledger
from verify.memory import hemisphere, hopfield_capacity, orthogonal_start
from verify.memory import printed as printed_findings
from verify.memory.clustering import clustering
from verify.memory.hemisphere import patterns_in_a_hemisphere
from verify.memory.particles import uniform_tokens
from verify.memory.sphere_dynamics import euler_findings
from verify.selftest.tensor_mutations import FAULTS

claim_module = sys.modules["verify.memory.clustering"]  # the package's claim has its name
SMALL = {"n": 4, "d": 2, "samples": 20}


@pytest.mark.parametrize("options", [SMALL, {"n": 2, "d": 3, "beta": 5.0}])
def test_it_holds(options):
    findings = list(clustering.findings(Run(quick=True, seed=1), **options))
    assert [(f.id, f.measured) for f in findings if f.verdict is not Verdict.HOLDS] == []
    assert len({finding.id for finding in findings}) == len(findings)


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("options", clustering.faults_seen, ids=str)
def test_it_sees_every_fault(options, fault):
    run = Run(seed=1, quick=True, fault=FAULTS[fault])
    X = uniform_tokens(run.rng, options["n"], options["d"])
    assert Verdict.FAILS in [finding.verdict for finding in euler_findings(run, X, 1.0)]


def test_a_wrong_formula_of_wendel_fails(monkeypatch):
    monkeypatch.setattr(hemisphere, "hemisphere_probability", lambda n, d: Fraction(1, 2))
    assert hemisphere.wendel_counted(True).verdict is Verdict.FAILS
    monkeypatch.setattr(hemisphere, "hemisphere_probability", lambda n, d: Fraction(9, 10))
    assert hemisphere.wendel_sampled(Run(), 6, 3, 100).verdict is Verdict.FAILS


def test_a_wrong_equation_fails(monkeypatch):
    exact = orthogonal_start.orthogonal_start
    monkeypatch.setattr(
        orthogonal_start, "orthogonal_start", lambda n, b, t, k="SA": exact(n, b, t, k) * (1 + 1e-6)
    )
    assert orthogonal_start.all_tokens(Run(quick=True)).verdict is Verdict.FAILS
    assert orthogonal_start.tanh().verdict is Verdict.FAILS
    gap = orthogonal_start.orthogonal_gap
    monkeypatch.setattr(orthogonal_start, "orthogonal_gap", lambda n, b, t: gap(n, b, t) ** 1.001)
    assert orthogonal_start.late_rate(True).verdict is Verdict.FAILS
    time = orthogonal_start.escape_time
    monkeypatch.setattr(orthogonal_start, "escape_time", lambda b: time(b) * (1 + 1e-13))
    verdicts = [finding.verdict for finding in orthogonal_start.slow_phase()]
    assert verdicts == [Verdict.FAILS, Verdict.FAILS]


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


def test_a_step_that_is_a_little_off_is_seen():
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
    with pytest.raises(ValueError, match="lie in one plane through 0"):
        patterns_in_a_hemisphere(np.array([[1, 0], [2, 0], [1, 1]]))


def test_mistakes_in_print_are_shown(monkeypatch):
    found = {finding.id: finding for finding in printed_findings.printed(Run())}
    assert all(finding.verdict is Verdict.HOLDS for finding in found.values())
    assert set(found) > {name for name, entry in ledger().items() if entry.topic == "memory"} & {
        name for name, entry in ledger().items() if entry.kind == "erratum"
    }
    assert found["clustering-decay"].measured[1] < 1
    assert found["clustering-pairs"].measured[-1] == pytest.approx(4, rel=1e-5)
    exact = printed_findings.orthogonal_gap
    monkeypatch.setattr(printed_findings, "orthogonal_gap", lambda n, b, t: 4 * exact(n, b, t))
    assert printed_findings.decay_later().verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 1}, "n is 1: give a number at least 2"),
        ({"d": 1}, "d is 1: give a number at least 2"),
        ({"samples": 0}, "samples is 0: give a number at least 1"),
        ({"beta": 0.0}, "beta is 0: give a number from 0.01 to 5"),
        ({"beta": 6.0}, "beta is 6: give a number from 0.01 to 5"),
        ({"beta": float("nan")}, "beta is nan: give a number from 0.01 to 5"),
    ],
)
def test_bad_options_are_refused(options, message, unchecked):
    with pytest.raises(InputError, match=message):
        list(clustering.findings(Run(quick=True), **options))


def test_the_picture_is_drawn(tmp_path, monkeypatch):
    import matplotlib.image

    from verify.memory import clustering_picture

    monkeypatch.setattr(clustering_picture, "TOKENS", 8)
    monkeypatch.setattr(clustering_picture, "SHOWN", (0.0, 1.0, 2.0, 3.0))
    monkeypatch.setattr(clustering_picture, "BETAS", (1.0, 2.0, 3.0))
    target = tmp_path / "clusters.png"
    clustering_picture.draw(target, np.random.default_rng(0))
    assert np.ptp(matplotlib.image.imread(target)) > 0
