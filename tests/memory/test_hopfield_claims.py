"""The claims `hopfield` and `dense-memory`: they hold, see faults, draw, and refuse bad options."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Run
from verify.finding import Verdict
from verify.memory import hopfield_capacity
from verify.memory.chances import covers, mostly
from verify.memory.dense_memory import dense_memory, fixed_points
from verify.memory.hopfield import hopfield
from verify.selftest.tensor_mutations import FAULTS

SMALL = {"d": 24, "samples": 4}


def not_holding(findings):
    return [(f.id, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("d", [1, 2, 24, 600])
def test_hopfield_holds(d, seed):
    assert not_holding(hopfield.findings(Run(seed=seed, quick=True), d=d, samples=20)) == []


def test_dense_memory_holds():
    assert not_holding(dense_memory.findings(Run(seed=1, quick=True), samples=30)) == []


@pytest.mark.parametrize("fault", FAULTS)
def test_every_fault_is_seen(fault):
    run = Run(seed=1, quick=True, fault=FAULTS[fault])
    assert hopfield.faults_seen == (SMALL,)
    assert hopfield.verdict(run, **SMALL) is Verdict.FAILS


def test_a_failing_claim_shows_the_state():
    run = Run(quick=True, fault=FAULTS["wrong sign"])
    found = {f.id: f for f in hopfield.findings(run, **SMALL)}
    failing = [id for id, f in found.items() if f.verdict is Verdict.FAILS]
    assert failing == ["transformer/attention", "transformer/float"]
    assert "hebbian_attention(" in found["transformer/attention"].detail
    assert "instead of" in found["transformer/attention"].detail


def test_the_same_seed_gives_the_same_evidence():
    first, second = (
        [(f.id, f.measured, f.words) for f in hopfield.findings(Run(seed=3, quick=True), **SMALL)]
        for _ in "ab"
    )
    assert first == second


def test_counts_decide_what_they_can():
    verdicts = [mostly("a", "b", k, 60, 0.5, words="").verdict for k in (60, 31, 30, 20, 0)]
    assert verdicts == [Verdict.HOLDS] * 2 + [Verdict.UNDECIDED] * 2 + [Verdict.FAILS]
    stated = (0.1, 0.2, 0.3, 0.35, np.nan)
    verdicts = [covers("a", "b", (0.2, 0.3), value).verdict for value in stated]
    assert verdicts == [
        *(Verdict.FAILS, Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
    ]


def test_a_wrong_probability_is_noticed(monkeypatch):
    """A fifth off is seen by counting and by measuring."""
    right = hopfield_capacity.unstable_bit_probability
    monkeypatch.setattr(
        hopfield_capacity, "unstable_bit_probability", lambda P, d: right(P, d) * 0.8
    )
    counted = hopfield_capacity.every_set_of_patterns(quick=True)
    assert counted.verdict is Verdict.FAILS
    assert "stated" in counted.detail
    measured = hopfield_capacity.unstable_bits(Run(), 0.4, 200, 200)
    assert measured.verdict is Verdict.FAILS


def test_a_wrong_critical_load_is_noticed(monkeypatch):
    right = hopfield_capacity.critical_load

    def off(digits):
        found = right(digits)
        with mpmath.workdps(digits):
            return replace(found, y=found.y + mpmath.mpf("1e-30"))

    monkeypatch.setattr(hopfield_capacity, "critical_load", off)
    assert hopfield_capacity.critical_load_enclosed().verdict is Verdict.FAILS


@pytest.mark.parametrize(
    ("made", "options"),
    [(hopfield, {"d": 0}), (hopfield, {"samples": 0}), (dense_memory, {"samples": 0})],
)
def test_bad_options_are_refused(made, options, unchecked):
    with pytest.raises(InputError, match="is 0: give a number at least 1"):
        list(made.findings(Run(quick=True), **options))


def test_pictures_are_drawn(tmp_path, monkeypatch):
    import matplotlib.image

    from verify.memory import capacity_picture

    monkeypatch.setattr(capacity_picture, "NETWORKS", 8)
    paths, rng = (
        [tmp_path / name for name in ("hopfield.png", "dense.png")],
        np.random.default_rng(0),
    )
    capacity_picture.draw_hopfield(paths[0], 40, rng)
    capacity_picture.draw_dense(paths[1], rng, ((2, 20), (3, 12)), fixed_points)
    for path in paths:
        assert np.ptp(matplotlib.image.imread(path)) > 0
