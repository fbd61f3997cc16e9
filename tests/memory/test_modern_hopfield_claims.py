"""The claims about modern Hopfield networks: they hold, see every fault and refuse bad options."""

import functools

import numpy as np
import pytest

from theory.checks import InputError
from verify.claim import Claim, Run
from verify.domains import Ball
from verify.faults import FAULTS
from verify.finding import Verdict
from verify.memory.attention_is_hopfield import attention_is_hopfield
from verify.memory.modern_hopfield import modern_hopfield

SMALL: dict[str, tuple[Claim, dict]] = {
    "modern-hopfield": (modern_hopfield, {"d": 2, "patterns": 4, "samples": 2}),
    "attention-is-hopfield": (attention_is_hopfield, {"d": 2, "patterns": 3}),
}


def not_holding(findings):
    return [(f.name, f.measured, f.detail) for f in findings if f.verdict is not Verdict.HOLDS]


def check(name):
    made, options = SMALL[name]
    return list(made.findings(Run(seed=1, quick=True), **options))


first_time = functools.cache(check)


@pytest.mark.parametrize("name", SMALL)
def test_every_claim_holds(name):
    assert not_holding(first_time(name)) == []


def test_the_claim_holds_in_full():
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


@pytest.mark.parametrize("name", SMALL)
def test_the_same_seed_gives_the_same_evidence(name):
    runs = first_time(name), check(name)
    first, second = ([(f.name, f.measured, f.bound) for f in found] for found in runs)
    assert first == second


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
    assert not_holding(findings) == []
    assert np.ptp(matplotlib.image.imread(target)) > 0


def test_two_models_of_the_network_agree():
    """The enclosure over a whole ball holds the value at each of its points."""
    from flint import arb

    from verify.memory.hopfield_balls import Network, exactly, norm, spectral_bound

    rng = np.random.default_rng(4)
    X, centre = rng.standard_normal((4, 2)), rng.standard_normal(2)
    with Ball.precision(100):
        network, radius = Network(X, 2.0), arb(0.25)
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
    from flint import arb

    from verify.memory.hopfield_balls import UNIT, below, same

    assert below(arb(1), arb(2)) is Verdict.HOLDS
    assert below(arb(2), arb(1)) is Verdict.FAILS
    assert below(UNIT, arb(0)) is Verdict.UNDECIDED
    assert same(arb(1), arb(2)) is Verdict.FAILS
    assert same(UNIT, arb(0)) is Verdict.UNDECIDED
    assert same(arb(1), arb(1)) is Verdict.HOLDS
