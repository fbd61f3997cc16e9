"""The claims `hopfield` and `dense-memory`: other sizes, and counts."""

from dataclasses import replace

import mpmath
import numpy as np
import pytest

from theory.memory.small_networks import random_networks
from verify.claim import Run
from verify.finding import Verdict
from verify.memory import dense_memory, hopfield_capacity, hopfield_dynamics
from verify.memory import hopfield as claim_module
from verify.memory.hopfield import hopfield
from verify.memory.probabilities import covers, mostly


@pytest.mark.parametrize("d", [1, 2, 600])
def test_other_numbers_of_neurons(d):
    findings = hopfield.findings(Run(quick=True), d=d, samples=20)
    assert [(f.id, f.measured) for f in findings if f.verdict is not Verdict.HOLDS] == []


def test_the_most_networks_below_the_thresholds(monkeypatch):
    """The largest count whose probability is above the error, if all unstable bits are disjoint."""
    d, samples = 400, 200
    for count in (0, 3, 4, 40, 41):
        monkeypatch.setattr(hopfield_capacity, "_unstable_networks", lambda *given, c=count: c)
        found = list(hopfield_capacity._thresholds(Run(), d, samples))
        assert [f.bound for f in found] == [3, 40]
        assert [f.verdict is Verdict.HOLDS for f in found] == [count <= 3, count <= 40]


@pytest.mark.parametrize("part", ["y", "load", "overlap"])
@pytest.mark.parametrize("by", ["1e-36", "-1e-36"])
def test_each_part_of_the_critical_load_is_enclosed_from_both_sides(part, by, monkeypatch):
    right = hopfield_capacity.critical_load

    def moved(digits):
        with mpmath.workdps(80):
            found = right(digits)
            found = replace(found, **{part: getattr(found, part) + mpmath.mpf(by)})
            # The overlap follows y, and the load is stationary at y.
            return replace(found, overlap=mpmath.erf(found.y)) if part == "y" else found

    assert hopfield_capacity.critical_load_enclosed().verdict is Verdict.HOLDS
    monkeypatch.setattr(hopfield_capacity, "critical_load", moved)
    assert hopfield_capacity.critical_load_enclosed().verdict is Verdict.FAILS


SMALL = [*random_networks(np.random.default_rng(0), 3, 4)]


def doubled(value):
    return 2 * value


def plus_one(update):
    """The update with sgn 0 = +1."""
    return lambda w, s, order, b: update(2 * np.asarray(w), s, order, 2 * np.asarray(b) + 1)


def backwards(update):
    return lambda w, s, order, b: update(-np.asarray(w), s, order, -np.asarray(b))


def results(**changes):
    """A change of attributes of the result of a run."""

    def change(run):
        def changed(*given, **more):
            found = run(*given, **more)
            new = {name: function(getattr(found, name)) for name, function in changes.items()}
            return replace(found, **new)

        return changed

    return change


BOTH = ("asynchronous_update", "asynchronous_update_by_definition")
DYNAMICS = {
    "energies of all states": ({}, {"energies": doubled}, "_wrong_flips"),
    "fields of all states": ({}, {"fields": doubled}, "_wrong_flips"),
    "flips at fields of 0": (dict.fromkeys(BOTH, plus_one), {}, "_wrong_runs"),
    "flips against the field": (dict.fromkeys(BOTH, backwards), {}, "_wrong_runs"),
    "energies along runs": ({}, {"energies": doubled}, "_wrong_runs"),
    "count": ({BOTH[0]: results(flips=lambda x: x + 1)}, {}, "_wrong_runs"),
    "end": ({BOTH[0]: results(states=np.negative)}, {}, "_wrong_runs"),
    "converged": ({BOTH[0]: results(converged=np.zeros_like)}, {}, "_wrong_runs"),
    "long, converged": ({BOTH[0]: results(converged=np.zeros_like)}, {}, "_wrong_long_runs"),
    "long, count": ({BOTH[0]: results(flips=lambda x: 9999 * x)}, {}, "_wrong_long_runs"),
    "long, stable": ({"hopfield_fields": lambda f: lambda *g: -f(*g)}, {}, "_wrong_long_runs"),
    "period": ({"synchronous_run": results(period=lambda x: x + 1)}, {}, "_wrong_cycles"),
    "steps": ({"synchronous_run": results(steps=lambda x: x + 1)}, {}, "_wrong_cycles"),
    "long cycles": (
        {
            "synchronous_run": results(period=lambda x: 3 * x),
            "walk": lambda walk: lambda w, b: walk(w, b) * [[1], [3], [1]],
        },
        {},
        "_wrong_cycles",
    ),
    "field at a tie": ({}, {"fields": lambda x: x + 1}, "_wrong_zero_flips"),
    "energy at a tie": ({}, {"energies": lambda x: x + np.arange(len(x))}, "_wrong_zero_flips"),
}


@pytest.mark.parametrize("fault", [None, *DYNAMICS])
def test_each_condition_on_updates_is_checked(fault, monkeypatch):
    functions, parts, check = DYNAMICS[fault] if fault else ({}, {}, "")
    given = {
        "_wrong_flips": (SMALL,),
        "_wrong_runs": (Run(), SMALL),
        "_wrong_long_runs": (Run(), 20),
        "_wrong_cycles": (SMALL,),
        "_wrong_zero_flips": (
            [(net, k, i) for net in SMALL for k, i in np.argwhere(net.fields == 0).tolist()],
        ),
    }
    for name, change in functions.items():
        monkeypatch.setattr(hopfield_dynamics, name, change(getattr(hopfield_dynamics, name)))
    for net in SMALL:
        for name, change in parts.items():
            monkeypatch.setitem(net.__dict__, name, change(getattr(net, name)))
    for name in [check] if fault else given:
        found = list(getattr(hopfield_dynamics, name)(*given[name]))
        assert bool(found) == bool(fault), name


@pytest.mark.parametrize("part", [0, 1])
def test_both_energies_of_two_steps_are_checked(part, monkeypatch):
    right = hopfield_dynamics._falls

    def falls(net):
        found = [*right(net)]
        found[part] = -np.ones_like(found[part])
        return tuple(found)

    monkeypatch.setattr(hopfield_dynamics, "_falls", falls)
    found = {f.id: f.verdict for f in hopfield_dynamics.cycles(SMALL)}
    assert found["cycles/energy"] is Verdict.FAILS
    assert found["cycles/symmetric"] is Verdict.HOLDS


@pytest.mark.parametrize("fault", ["", "flips", "energy"])
def test_a_sweep_without_flips_must_not_change_the_energy(fault, monkeypatch):
    """A rise is a fault, even if no flip is counted; so is a flip without a fall."""
    update, energy = dense_memory.dense_update, dense_memory.dense_energy
    if fault:
        count = (lambda x: 0 * x) if fault == "energy" else (lambda x: x + 1)
        monkeypatch.setattr(dense_memory, "dense_update", results(flips=count)(update))
    if fault == "energy":
        monkeypatch.setattr(dense_memory, "dense_energy", lambda *given: -energy(*given))
    assert bool(list(dense_memory._rising_sweeps(Run()))) == bool(fault)


def test_a_run_that_stops_before_its_final_state_fails(monkeypatch):
    """All sweeps lower the energy, but the first one is reported as the last one."""
    early = results(converged=np.ones_like)(dense_memory.dense_update)
    monkeypatch.setattr(dense_memory, "dense_update", early)
    found = list(dense_memory._rising_sweeps(Run()))
    assert found
    assert all(case.startswith("the final state is not stable") for case in found)


@pytest.mark.parametrize("factor", [1, -1])
def test_the_pattern_has_to_be_recovered_without_overflow(factor, monkeypatch):
    right = dense_memory.dense_update
    changed = results(states=lambda s: factor * s)(right)
    monkeypatch.setattr(dense_memory, "dense_update", changed)
    found = dense_memory._no_overflow(Run(), 800)
    assert found.verdict is (Verdict.HOLDS if factor == 1 else Verdict.FAILS)


def test_counts_decide_what_they_can():
    verdicts = [mostly("a", "b", k, 60, 0.5, words="").verdict for k in (60, 31, 30, 20, 0)]
    assert verdicts == [Verdict.HOLDS] * 2 + [Verdict.UNDECIDED] * 2 + [Verdict.FAILS]
    stated = (0.1, 0.2, 0.3, 0.35, np.nan)
    verdicts = [covers("a", "b", (0.2, 0.3), value).verdict for value in stated]
    assert verdicts == [
        *(Verdict.FAILS, Verdict.HOLDS, Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED)
    ]


def of_mean_field():
    return hopfield_capacity._critical_load_by_the_mean_field()


def of_unstable_bits():
    return hopfield_capacity.unstable_bits(Run(), 0.2, 50, 20)


@pytest.mark.parametrize(
    ("find", "name", "change"),
    [
        (of_mean_field, "critical_load", lambda found: replace(found, load=found.load + 1e-9)),
        (
            of_mean_field,
            "critical_load",
            lambda found: replace(found, overlap=found.overlap - 1e-9),
        ),
        (of_unstable_bits, "unstable_bit_limit", lambda p: p * (1 + 1e-9)),
        (of_unstable_bits, "unstable_bit_probability", lambda p: p + 0.1),
    ],
)
def test_a_load_or_a_probability_that_is_off_fails(find, name, change, monkeypatch):
    right = getattr(hopfield_capacity, name)
    assert find().verdict is Verdict.HOLDS
    monkeypatch.setattr(hopfield_capacity, name, lambda *given: change(right(*given)))
    assert find().verdict is Verdict.FAILS


def test_cycles_of_length_2_without_symmetry_fail(monkeypatch):
    right = hopfield_dynamics.walk

    def walk(*given):
        steps, length, end = right(*given)
        return steps, np.minimum(length, 2), end

    monkeypatch.setattr(hopfield_dynamics, "walk", walk)
    found = {f.id: f.verdict for f in hopfield_dynamics.cycles(SMALL)}
    assert found["cycles/asymmetric"] is Verdict.FAILS
    assert found["cycles/symmetric"] is Verdict.HOLDS


@pytest.mark.parametrize(("d", "state"), [(3, 5), (4, 3), (4, 15), (5, 30)])
def test_runs_from_other_states_than_the_first_are_compared(d, state, monkeypatch):
    """All states of up to three neurons, and each third state of more."""
    net = [*random_networks(np.random.default_rng(0), d, 1)][-1]
    right = hopfield_dynamics.asynchronous_update

    def one_more_flip(*given):
        found = right(*given)
        return replace(found, flips=found.flips + (np.arange(2**d) == state))

    assert [*hopfield_dynamics._wrong_runs(Run(), [net])] == []
    monkeypatch.setattr(hopfield_dynamics, "asynchronous_update", one_more_flip)
    assert len([*hopfield_dynamics._wrong_runs(Run(), [net])]) == 1


@pytest.mark.parametrize("name", ["hopfield_update", "hebbian_attention"])
def test_each_model_is_compared_in_float64_and_over_q(name, monkeypatch):
    """The fault is one layer too few, in large models and then in small ones."""
    right = getattr(claim_module, name)
    of = "weights" if name == "hopfield_update" else "attention"

    def failing(large):
        def build(weights, *more):
            one_less = (np.asarray(weights).shape[-1] > 20) == large
            return right(weights, *more[:-1], more[-1] - one_less)

        monkeypatch.setattr(claim_module, name, build)
        findings = claim_module._transformers(Run(quick=True), SMALL)
        return {f.id for f in findings if f.verdict is Verdict.FAILS}

    assert failing(large=False) == {of}
    assert "float" in failing(large=True)
