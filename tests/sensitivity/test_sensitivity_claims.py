"""The claims on sensitivity: their parts, a function of one's own, and what they reject."""

import json
import re
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from refusals import rejected, rejects

from theory import computation
from theory.sensitivity import is_linear_threshold, tabulated
from verify.claim import Run
from verify.finding import Verdict
from verify.sensitivity import random_table
from verify.sensitivity import random_weights as random
from verify.sensitivity import sensitivity as module
from verify.sensitivity.sensitivity import sensitivity
from verify.sensitivity.spectral_bias import _lemma, spectral_bias


def verdicts(claim, run, **options):
    return {finding.id: finding.verdict for finding in claim.findings(run, **options)}


def test_spectral_bias_at_the_least_size():
    assert spectral_bias.verdict(Run(quick=True), d=6, draws=20) is Verdict.HOLDS


def test_an_estimate_wider_than_half_of_it_is_undecided():
    found = {each.id: each.verdict for each in module._estimated(Run(quick=True), 5, 100)}
    assert found["and-3"] is Verdict.UNDECIDED
    assert found["coverage"] is Verdict.HOLDS


def test_a_function_of_ones_own(tmp_path):
    path, picture = tmp_path / "vote.json", tmp_path / "vote.png"
    values = tabulated(lambda words: computation.majority(words)[..., -1], 3)
    path.write_text(json.dumps({"table": values.tolist(), "name": "vote"}))
    run = Run(quick=True, plot=picture)
    found = {each.id: each for each in sensitivity.findings(run, table=path)}
    assert {each.verdict for each in found.values()} == {Verdict.HOLDS}
    figures = {"Sens": "1/2", "I": "3/2", "Var": "1", "degree": "3", "s": "2"}
    assert found["model/figures"].measured == figures
    chances = [(float(x), str(x)) for x in map(Fraction, ("1/20", "1/4", "1/2", "9/10"))]
    stability = {x: 3 / 4 * (1 - 2 * x) + 1 / 4 * (1 - 2 * x) ** 3 for x, _ in chances}
    for x, name in chances:
        assert {f"{(1 - stability[x]) / 2:.4g}", name} <= set(
            re.split("[ ,]", found["noise-bound"].words)
        )
    assert picture.stat().st_size > 1000
    path.write_text("[0, 1, 1, 0]")
    assert verdicts(sensitivity, Run(), table=path)["model/words"] == "holds"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("[[1, -1], [1]]", "values"),
        ("[null, 1]", "values"),
        ("[NaN, 1]", "values"),
        ("[1" + "0" * 400 + ", 1]", "values"),
        ("7", "table"),
        ("{}", "table"),
        ('{"table": [1, -1], "more": 1}', "more"),
        ("not JSON", "JSON"),
    ],
)
def test_files_that_hold_no_table(text, names, tmp_path, capsys):
    path = tmp_path / "f.json"
    path.write_text(text)
    rejected(capsys, ["sensitivity", "--table", str(path)], names)


def test_a_missing_table_is_rejected(tmp_path, capsys):
    rejected(capsys, ["sensitivity", "--table", str(tmp_path / "none.json")], "none.json")
    rejected(capsys, ["sensitivity", "--table", str(tmp_path)], tmp_path.name)


def test_of_no_sizes_the_steps_of_a_proof_are_undecided():
    from verify.sensitivity.spectral_bias import _steps

    found = {each.id: each.verdict for each in _steps(range(1, 3))}
    assert found["smaller-cube"] is Verdict.UNDECIDED
    assert found["shifts"] is Verdict.HOLDS


@pytest.mark.parametrize(
    ("eigenvalues", "failing"),
    [
        ([2, 3, 2, 1], set()),
        ([3, 1, 2, 2], {"lemma"}),
        ([1, 2, 1, -1], {"positive"}),
        ([3, 2, 1, 0], {"not-monotone"}),
    ],
)
def test_eigenvalues_that_contradict_the_lemma_fail(eigenvalues, failing):
    of_all = [list(map(Fraction, each)) for each in ([2, 1, 1, 0], eigenvalues, [1, 1, 0, 0])]
    found = _lemma(of_all)
    assert {each.id for each in found if each.verdict is Verdict.FAILS} == failing


def test_half_spaces_are_told_from_others():
    words = tabulated(lambda words: computation.majority(words)[..., -1], 5) < 0
    parity = tabulated(lambda words: computation.parity(words)[..., -1], 3) < 0
    assert is_linear_threshold(words)
    assert not is_linear_threshold(parity)
    table = np.array([False, True])
    for bit in range(8):  # x₁ ∧ (x₂ ∨ (x₃ ∧ …)) has the Fibonacci numbers as weights
        fixed = np.full_like(table, bit % 2)
        table = np.concatenate([table, fixed] if fixed[0] else [fixed, table])
    assert is_linear_threshold(table)
    assert random.linear_fraction(np.array([parity, np.zeros(8, bool)])) == 0.5


def test_rows_have_constants_and_leave_out_what_does_not_vary():
    found = np.array([np.arange(8) - 3.5, np.full(8, 2.0)])
    row = random_table.row_of(found)
    assert row.constant == 0.5
    assert row.at["0"].tolist() == [1 / 3, 0]
    assert row.at["median"].tolist() == [1 / 3]
    half = np.array([np.arange(8) % 4, np.arange(8) % 5])  # 4 different outputs, and 5
    assert len(random_table.row_of(half).balanced) == 1
    apart = np.array([np.arange(8), 100 - np.arange(8)])  # each has its own median
    assert random_table.row_of(apart).balanced.sum(axis=1).tolist() == [4, 4]


def test_differences_of_means_have_the_errors_of_both():
    low, high = np.array([0.0, 0.2]), np.array([0.4, 0.6, 0.5])
    found = random.difference(low, high)
    assert found.mean == pytest.approx(0.4)
    assert found.error == pytest.approx(np.hypot(0.1, 0.1 / np.sqrt(3)))
    assert found.freedom == 1
    assert np.isnan(random.difference(low[:1], high).mean)


@pytest.mark.parametrize("distribution", random_table.DISTRIBUTIONS)
def test_networks_are_drawn_by_their_seed(distribution):
    from verify.sensitivity.random_networks import ARCHITECTURES, outputs

    for kind, layers in ARCHITECTURES:
        first, again, other = (outputs(kind, layers, distribution, 3, seed) for seed in (0, 0, 1))
        assert first.shape == (8,)
        assert (first == again).all()
        assert (first != other).any()


def test_weights_are_of_their_law_and_of_networks_of_other_kinds():
    import torch

    from verify.sensitivity.random_networks import draw

    def drawn(distribution):
        module = torch.nn.Linear(300, 100)
        draw(module, distribution, torch.Generator().manual_seed(0))
        return module.weight.numpy(), module.bias.numpy()

    weights, biases = drawn("uniform")
    assert 9.9 < weights.max() <= 10
    assert -10 <= weights.min() < -9.9
    assert biases.any()
    limit = np.sqrt(6 / 400)
    weights, biases = drawn("Xavier")
    assert 0.99 * limit < abs(weights).max() <= limit * 1.000001
    assert not biases.any()
    weights, biases = drawn("normal")
    assert abs(weights.std() - 0.02) < 6 * 0.02 / np.sqrt(2 * weights.size)
    assert abs(weights).max() > 0.06  # beyond a uniform distribution of the same deviation
    assert not biases.any()


def test_random_transformers_see_their_first_symbol():
    from verify.sensitivity.random_networks import outputs

    found = outputs("transformer", 2, "normal", 3, 0)
    for bit in (1, 2, 4):
        words = np.arange(8)
        assert (found[words] != found[words ^ bit]).any()


def test_no_draws_are_undecided():
    few, many = np.array([0.1] * 4), np.linspace(0.2, 0.3, 20)
    found = random._below("deep", ("a", "b"), few, many, "")
    assert found.verdict is Verdict.UNDECIDED
    assert {"4", "20"} <= set(found.words.split())
    assert random._below("deep", ("a", "b"), many / 2, many, "").verdict is Verdict.HOLDS
    assert random._below("deep", ("a", "b"), many, many / 2, "").verdict is Verdict.FAILS


def test_functions_and_their_sums_with_parity_are_told_apart():
    rng = np.random.default_rng(0)
    words = np.arange(256)
    places = rng.permuted(np.tile(1 << np.arange(8), (20, 1)), axis=1)[:, :2]
    balanced = (words & places.sum(axis=1)[:, None]) == 0
    row = random_table.Row(
        {"0": None, "median": random_table.sensitivities(balanced)}, 0.0, balanced
    )
    table = {
        distribution: {name: row for name, _ in random.PAIRS.values()}
        for distribution in random_table.DISTRIBUTIONS
    }
    assert random._planted(table).verdict is Verdict.HOLDS
    wrong = row._replace(at={"median": row.at["median"] + 0.01})
    table["normal"]["transformer 6"] = wrong
    assert random._planted(table).verdict is Verdict.FAILS


def test_architectures_of_which_no_draw_is_left_are_said_to_have_none():
    few = {"0": np.array([0.25, 0.5]), "median": np.array([])}
    rows = {"LSTM 1": random_table.Row(few, 0.5, np.zeros((0, 256), dtype=bool))}
    assert "not defined" in random.shown(rows, "median")
    assert "50%" in random.shown(rows, "0")


def test_a_table_leaves_the_options_of_the_standard_functions_without_a_part(tmp_path):
    table = tmp_path / "table.json"
    table.write_text("[0, 0, 0, 1, 0, 1, 1, 1]", encoding="utf-8")
    for other in ({"d": 8}, {"samples": 200}):
        with rejects(*other, "table"):
            list(sensitivity.findings(Run(quick=True), table=table, **other))


@pytest.mark.parametrize("shift", [0.0, 0.3, -0.3])
def test_estimates_must_not_be_too_large_or_too_small(shift, monkeypatch):
    """An interval that misses the exact value counts on either side."""
    right = module.estimate

    def shifted(*given, **more):
        found = right(*given, **more)
        return replace(found, by_place=np.clip(found.by_place + shift, 0, 1))

    monkeypatch.setattr(module, "QUICK_SEEDS", 6)
    monkeypatch.setattr(module, "estimate", shifted)
    verdicts = [f.verdict is Verdict.FAILS for f in module._of_tokens(Run(quick=True), 100)]
    assert verdicts == [bool(shift)] * 3
