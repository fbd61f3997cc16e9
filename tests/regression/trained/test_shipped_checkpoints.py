"""Claims on the shipped checkpoints: untrained models do not pass, and others are rejected.

What the models show is on record; `verify all` and the test of conformance compare it.
"""

import pytest
from refusals import rejects

from constructions.trained import configuration_of, shipped, untrained
from verify.claim import Run
from verify.finding import Verdict
from verify.regression.trained.ill_conditioned import ill_conditioned
from verify.regression.trained.layers import layers
from verify.regression.trained.linear_depth import linear_depth
from verify.regression.trained.lstm import lstm
from verify.regression.trained.newton_or_gd import newton_or_gd
from verify.regression.trained.noisy import noisy
from verify.regression.trained.probes import Probed
from verify.regression.trained.trained_formulas import trained_formulas

ONE = "regression-small-seed0"
SEED0 = {"checkpoint": ONE}
CLAIMS = {
    "layers": (layers, SEED0),
    "newton-or-gd": (newton_or_gd, SEED0),
    "ill-conditioned": (ill_conditioned, {}),
    "noisy": (noisy, {"noiseless": ONE}),
    "lstm": (lstm, {"transformer": ONE}),
    "linear-depth": (linear_depth, {}),
    "trained-formulas": (trained_formulas, {}),
}


@pytest.fixture(scope="module")
def random_probed():
    """A cache of probed models with random weights."""
    return {}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.slow] * (name == "lstm")) for name in CLAIMS]
)
def test_untrained_models_do_not_pass(name, monkeypatch, random_probed):
    """The same shapes with random weights; planted models test each finding separately."""

    def random(each):
        return untrained(configuration_of(each)).requires_grad_(False)

    def probed(run, trained, samples):
        if trained.name not in random_probed:
            random_probed[trained.name] = original(run, trained, samples)
        return random_probed[trained.name]

    original = Probed.of
    monkeypatch.setattr(Probed, "of", probed)
    monkeypatch.setattr("verify.evidence.checkpoints.load", random)
    claim, options = CLAIMS[name]
    few = {**options, "samples": 200}
    assert claim.verdict(Run(seed=1, quick=True), **few) is not Verdict.HOLDS


@pytest.mark.parametrize(
    ("claim", "options", "names"),
    [
        (layers, {"checkpoint": "regression-smal"}, ["'regression-smal'", "regression-small,"]),
        (layers, {"checkpoint": "regression-small-lstm"}, ["regression-small-lstm-seed0"]),
        (layers, {"checkpoint": "induction-small-1-layer"}, ["hop"]),
        (layers, {"checkpoint": "regression-linear-2-layers"}, ["linear"]),
        (layers, {"checkpoint": "no/such.safetensors"}, ["no/such.safetensors"]),
        (lstm, {"checkpoint": "regression-small"}, ["LSTM"]),
        (lstm, {"transformer": "regression-small-ill-conditioned"}, ["prompts"]),
        (noisy, {"checkpoint": ONE}, [ONE]),
        (noisy, {"noiseless": "regression-small-noise0.5"}, ["prompts"]),
        (noisy, {"noiseless": "regression-small-ill-conditioned"}, ["prompts"]),
        (ill_conditioned, {"checkpoint": ONE}, [ONE]),
    ],
)
def test_other_models_are_rejected(claim, options, names):
    with rejects(*names):
        list(claim.findings(Run(), **options))


def test_all_seeds_are_reported(monkeypatch):
    monkeypatch.setattr("verify.regression.trained.probes.FITTED", 100)
    isotropic = [name for name in shipped() if name.startswith("regression-small-seed")]
    found = [finding.id for finding in layers.findings(Run(), samples=50)]
    assert {id.split("/")[0] for id in found} == {*isotropic}
    assert len(isotropic) > 1
