"""Each finding about sensitivity fails for wrong data, such as one wrong value of many."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from faults import failing, off_by, once, plant

from constructions import hop
from theory.sequences import all_sequences
from verify.claim import Run
from verify.finding import Verdict
from verify.sensitivity import random_table, random_weights, retrieval_profiles, sensitivity
from verify.sensitivity import spectral_bias as bias
from verify.sensitivity.standard_functions import spread, standard_functions

HOLDS, FAILS, UNDECIDED = Verdict.HOLDS, Verdict.FAILS, Verdict.UNDECIDED
ONE_MORE = off_by(1)
TABLE = np.where(np.arange(16) % 3 == 0, -1, 1)  # a function of four bits
HOPS = hop(1, 2, 4)(all_sequences(4, 2))[..., -1].numpy()


def computed(at):
    """The findings on one of the standard functions of five bits."""
    each = [*standard_functions(Run(quick=True), 5)][at]
    return sensitivity._computed(each, each.statement.at(2, each.d).model, True)


@pytest.mark.parametrize(("d", "k"), [(1, 1), (5, 3), (14, 3), (64, 7), (300, 299), (1001, 30)])
def test_positions_are_spread(d, k):
    """k distinct positions that end with the last one, at distances ⌊d/k⌋ and ⌈d/k⌉ on a circle."""
    positions = spread(d, k)
    assert len(set(positions)) == k
    assert max(positions) == positions[0] == d - 1
    assert min(positions) >= 0
    apart = {
        (a - b) % d or d for a, b in zip(positions, [*positions[1:], positions[0]], strict=True)
    }
    assert apart <= {d // k, -(-d // k)}


SERIES = [[Fraction(c) for c in row] for row in ([1, 2, 3], [0, 1, 1], [2, 0, 5])]
CALLS = {
    "two ways": lambda: sensitivity._two_ways(TABLE),
    "random": lambda: sensitivity._random(Run(quick=True)),
    "noise bound": lambda: sensitivity._noise_bound([TABLE, TABLE[:8], TABLE[:4]]),
    "conjunction": lambda: computed(3),
    "steps": lambda: bias._steps(range(1, 6)),
    "cubes": lambda: bias._on_cubes(SERIES, [4, 5, 6], [bias.eigenvalues(c, d) for c, d in CUBES]),
    "counterexample": bias._counterexample,
    "definition": lambda: bias._by_definition(SERIES),
    "eigenfunctions": lambda: bias._eigenfunctions(SERIES[0]),
    "profile": lambda: retrieval_profiles._profile(HOPS, 2, 4, "hop 1"),
    "stated": lambda: retrieval_profiles._stated(HOPS, 2, "7/16"),
    "decomposed": lambda: retrieval_profiles._decomposed(HOPS, 2),
    "chance": lambda: retrieval_profiles._chance(Run()),
    "last but one": lambda: retrieval_profiles._last_but_one(Run(quick=True)),
    "recency": lambda: retrieval_profiles._recency(Run()),
}
CUBES = list(zip(SERIES, [4, 5, 6], strict=True))


@pytest.mark.parametrize(
    ("call", "target", "fault", "ids"),
    [
        ("two ways", "sensitivity.influences", once(ONE_MORE), {"influences"}),
        ("random", "sensitivity.walsh_hadamard", once(ONE_MORE, 4), {"transform"}),
        ("random", "sensitivity.noise_sensitivity_by_definition", once(ONE_MORE, 4), {"noise"}),
        ("noise bound", "sensitivity.noise_sensitivity", once(off_by(9), 7), {"noise-bound"}),
        ("noise bound", "sensitivity.total_influence", once(off_by(-9), 3), {"noise-bound"}),
        (
            "conjunction",
            "sensitivity.figures_of",
            once(lambda found: found | {"s": found["s"] + 1}),
            {"figures"},
        ),
        ("conjunction", "sensitivity.noise_sensitivity", once(ONE_MORE), {"noise"}),
        ("conjunction", "sensitivity.units", once(ONE_MORE), {"units"}),
        ("steps", "spectral_bias.by_minus_ones", once(ONE_MORE, 5), {"shifts"}),
        ("steps", "spectral_bias._difference", once(lambda right: False, 3), {"difference"}),
        ("steps", "spectral_bias._same_points", once(lambda right: False, 3), {"smaller-cube"}),
        ("steps", "spectral_bias.walks", once(ONE_MORE, 40), {"walks"}),
        ("cubes", "spectral_bias.on_two_fewer_bits", once(ONE_MORE, 1), {"differences"}),
        ("counterexample", "spectral_bias.eigenvalues", once(ONE_MORE), {"counterexample"}),
        (
            "definition",
            "spectral_bias.eigenvalues_by_definition",
            once(ONE_MORE, 4),
            {"definition"},
        ),
        ("eigenfunctions", "spectral_bias.eigenvalues", once(ONE_MORE), {"eigenfunctions"}),
        ("profile", "retrieval_profiles.brute_force", once(ONE_MORE), {"profile"}),
        ("stated", "retrieval_profiles.forced_profile", once(ONE_MORE), {"sens"}),
        ("decomposed", "retrieval_profiles.redrawn_profile", once(ONE_MORE), {"efron-stein"}),
        ("decomposed", "retrieval_profiles.change_when_redrawn", once(ONE_MORE, 1), {"hybrid"}),
        ("decomposed", "retrieval_profiles.hybrid_bound", once(ONE_MORE, 2), {"hybrid"}),
        ("chance", "retrieval_profiles.change_when_redrawn", once(ONE_MORE, 2), {"probability"}),
        ("last but one", "retrieval_profiles.last_but_one", once(ONE_MORE, 2), {"two-symbols"}),
        (
            "recency",
            "retrieval_profiles.forced_profile",
            once(lambda found: [*found[:2], found[1], *found[3:]]),
            {"recency"},
        ),
    ],
)
def test_a_wrong_value_fails(call, target, fault, ids, monkeypatch):
    plant(monkeypatch, f"verify.sensitivity.{target}", fault)
    assert failing(CALLS[call]()) == ids


@pytest.mark.parametrize("call", CALLS)
def test_right_values_do_not_fail(call):
    assert failing(CALLS[call]()) == set()


def test_the_noise_sensitivity_of_every_standard_function_is_compared():
    for each in standard_functions(Run(quick=True), 5):
        found = sensitivity._computed(each, each.statement.at(2, each.d).model, True)
        assert "noise" in {finding.id for finding in found}, each.label


@pytest.mark.parametrize(
    ("name", "by", "ids"),
    [
        ("Var", 0, set()),
        ("Var", 2, {"Var-I"}),
        ("degree", -1, {"I-degree"}),
        ("degree", 3, {"degree-s2"}),
    ],
)
def test_one_function_that_contradicts_an_inequality_fails(name, by, ids):
    figures = {each: np.array([0, 1, 1]) for each in ("Var", "I", "degree", "s")}
    assert failing(sensitivity._ordered(figures | {name: off_by(by)(figures[name])}, "")) == ids


@pytest.mark.parametrize("name", ["_difference", "_same_points", "_walks"])
def test_the_steps_of_the_proof_are_compared_for_all_entries(name, monkeypatch):
    of = {"_difference": "shift_polynomial", "_same_points": "Fraction", "_walks": "walks"}[name]
    assert getattr(bias, name)(5, 1)
    fault = once(
        lambda counts: [each + 1 for each in counts] if of == "walks" else ONE_MORE(counts), 2
    )
    plant(monkeypatch, f"verify.sensitivity.spectral_bias.{of}", fault)
    assert not getattr(bias, name)(5, 1)


def weights(**changes):
    """A table of random weights whose sensitivities are all 0.1, 0.2, …, but for these changes."""
    values = np.tile(np.linspace(0.1, 0.2, 20), 1)
    row = random_table.Row({"0": values, "median": values}, 0.0, np.zeros((0, 256), dtype=bool))
    table = {
        distribution: {f"{name} {layers}": row for name, layers in random_table.ARCHITECTURES}
        for distribution in random_table.DISTRIBUTIONS
    }
    table["Xavier"]["transformer 6"] = row._replace(at=row.at | changes)
    return table


@pytest.mark.parametrize(
    ("halves", "verdict"), [((0.1, 0.1), HOLDS), ((0.1, 0.2), FAILS), ((0.2, 0.1), FAILS)]
)
def test_halves_that_differ_in_one_setting_fail(halves, verdict):
    noise = np.repeat(np.linspace(-0.01, 0.01, 10), 2)
    table = weights(median=np.tile(halves, 10) + noise)
    assert random_weights._control(table).verdict is verdict


def test_halves_of_constant_draws_are_undecided():
    table = weights()
    for rows in table.values():
        for name, row in rows.items():
            rows[name] = row._replace(at={each: np.zeros(20) for each in row.at})
    assert random_weights._control(table).verdict is UNDECIDED


@pytest.mark.parametrize(("off", "verdict"), [(0.0, HOLDS), (1e-6, FAILS), (-1e-6, FAILS)])
def test_sensitivities_of_functions_with_parity_are_one_minus_theirs(off, verdict, monkeypatch):
    functions = np.random.default_rng(0).random((random_weights.FEW, 2**random_table.BITS)) < 0.1
    row = weights()["normal"]["MLP 6"]
    row = row._replace(at={"median": random_table.sensitivities(functions)}, balanced=functions)
    table = {each: dict.fromkeys(rows, row) for each, rows in weights().items()}
    right = random_weights.difference

    def shifted(low, high):
        found = right(low, high)
        return found._replace(mean=found.mean + off)

    monkeypatch.setattr(random_weights, "difference", shifted)
    assert random_weights._planted(table).verdict is verdict


@pytest.mark.parametrize("name", ["transformer 2", "LSTM 4", "MLP 6", "LSTM 1"])
def test_one_function_that_is_no_linear_threshold_fails(name):
    """Except for shallow LSTMs, which are left out."""
    parity = all_sequences(3, 2).sum(axis=1) % 2 == 1
    rows = {
        each: row._replace(balanced=np.zeros((3, 8), dtype=bool))
        for each, row in weights()["normal"].items()
    }
    assert random_weights._linear(rows).verdict is HOLDS
    rows[name] = rows[name]._replace(balanced=np.array([0 * parity, parity], dtype=bool))
    expected = HOLDS if name == random_weights.SHALLOW else FAILS
    assert random_weights._linear(rows).verdict is expected


def test_a_declared_gap_above_the_least_fails():
    each = next(standard_functions(Run(quick=True), 5))
    model = each.statement.at(2, 5).model
    assert sensitivity._gaps(each, model).verdict is HOLDS
    margins = model.blocks[0].margins
    for head, margin in enumerate(margins):
        wider = replace(margin, gap=margin.gap + 0.5)
        model.blocks[0].margins = (*margins[:head], wider, *margins[head + 1 :])
        assert sensitivity._gaps(each, model).verdict is FAILS


@pytest.mark.parametrize(("V", "n"), retrieval_profiles.SIZES)
def test_profiles_are_compared_at_each_size(V, n):
    values = retrieval_profiles.last_values(retrieval_profiles.models(Run())["hop 1"], V, n)
    assert retrieval_profiles._profile(values, V, n, "hop 1").verdict is HOLDS
    values[V**n // 3] = (values[V**n // 3] + 1) % V
    assert retrieval_profiles._profile(values, V, n, "hop 1").verdict is FAILS
