"""The claim `induction-trained`: on the shipped models, and on models with something amiss."""

import runpy
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from refusals import rejects

from constructions import induction_heads
from constructions.trained import checkpoint, configuration_of, load, untrained
from theory.retrieval import find
from verify.claim import Run
from verify.evidence.checkpoints import Trained
from verify.finding import Verdict
from verify.retrieval.trained import induction_trained as module
from verify.retrieval.trained.circuits import attended, attention_of
from verify.retrieval.trained.induction_trained import induction_trained, interventions, transition

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS
ONE, TWO = "induction-small-1-layer-seed0", "induction-small-2-layers-seed0"


@pytest.fixture
def verdicts(monkeypatch):
    """The verdicts on these models in place of those of two layers and of one, by ids."""
    task = configuration_of(TWO).task

    def run(two, one=None):
        models = {TWO: two, ONE: load(ONE) if one is None else one}
        monkeypatch.setattr(
            module,
            "models_of",
            lambda name, kind: [Trained(k, m, task) for k, m in models.items() if name in k],
        )
        found = [*induction_trained.findings(Run(seed=0, quick=True), samples=40)]
        assert len({finding.id for finding in found}) == len(found)
        return {finding.id.removeprefix(f"{TWO}/"): finding.verdict for finding in found}

    return run


def test_what_does_not_hold_of_the_shipped_checkpoints():
    claim = induction_trained.findings(Run(seed=1, quick=True), samples=40)
    lost = [finding.id for finding in claim if finding.verdict is not HOLDS]
    assert len(lost) == 3
    assert all(id.endswith("intervention/layer-1") for id in lost)


def test_places_of_interventions_are_any_before(monkeypatch):
    seen = []
    monkeypatch.setattr(
        module, "redirected", lambda model, layer, places: seen.append(places) or model
    )
    tokens = np.random.default_rng(0).integers(0, 16, (300, 64))
    built = induction_heads(16, 64)
    assert len([*interventions(Run(seed=0), built, built, tokens)]) == 2
    for places in seen:
        assert (places < np.maximum(np.arange(64), 1)).all()
        assert abs(places[:, 1:].mean(0) - (np.arange(1, 64) - 1) / 2).max() < 5
        assert places[:, 40:].max() > 55


KNOCKED_OUT = {
    # which weights are 0, and what no longer holds
    "blocks.0.attn.W_Q": ("right", "previous-token", "matching", "circuit/position"),
    "blocks.0.attn.W_O": ("right", "matching", "circuit/match"),
    "blocks.1.attn.W_Q": ("right", "matching", "circuit/match"),
    "blocks.1.attn.W_O": ("right", "circuit/copy", "intervention/layer-2"),
    "pos_embed.W_pos": ("right", "previous-token", "matching", "circuit/position"),
}


@pytest.mark.parametrize("weights", KNOCKED_OUT)
def test_without_some_weights(weights, verdicts):
    two = load(TWO)
    for name in {weights, weights.replace("W_Q", "b_Q")}:
        two.get_parameter(name).zero_()
    found = verdicts(two)
    assert len(found) == 10
    lost = {id for id, verdict in found.items() if verdict is not HOLDS}
    assert lost == {"intervention/layer-1", *KNOCKED_OUT[weights]}


def test_a_head_that_looks_elsewhere_too(verdicts):
    """About half of its attention is where the built head's is."""
    two = load(TWO)
    two.get_parameter("blocks.1.attn.W_Q").mul_(0.1)
    two.get_parameter("blocks.1.attn.b_Q").mul_(0.1)
    tokens = np.random.default_rng(0).integers(0, 16, (20, 64))
    share = attended(attention_of(two, tokens)[1], find(tokens)).mean()
    assert 0.4 < share < 0.7
    assert verdicts(two)["matching"] is FAILS


def test_a_built_head_that_is_none(verdicts, monkeypatch):
    monkeypatch.setattr(
        "verify.retrieval.trained.induction_trained.induction_heads",
        partial(induction_heads, sharpness=4.0),
    )
    assert verdicts(load(TWO))["matching"] is FAILS


def test_interventions_tell_models_apart_that_answer_the_same():
    """The built model does as it does; one that takes the first copy, only in layer 2."""
    tokens = np.random.default_rng(0).integers(0, 16, (40, 64))

    def found(model):
        built = induction_heads(16, 64)
        findings = [*interventions(Run(seed=0), model, built, tokens)]
        assert [finding.id[-1] for finding in findings] == ["1", "2"]
        return [finding.verdict for finding in findings], findings[0].words

    verdicts, words = found(induction_heads(16, 64))
    assert verdicts == [HOLDS, HOLDS]
    assert words.startswith("100.00%")
    verdicts, words = found(induction_heads(16, 64, match="first"))
    assert verdicts == [FAILS, HOLDS]
    assert "100.00% ± 0.00%" in words
    assert found(untrained(configuration_of(TWO)).requires_grad_(False))[0] == [FAILS, FAILS]


def test_a_checkpoint_without_its_log(tmp_path):
    for name in (f"{ONE}.safetensors", f"{ONE}.json"):
        (tmp_path / name).write_bytes((checkpoint.SHIPPED / name).read_bytes())
    with rejects("log"):
        transition(str(tmp_path / f"{ONE}.safetensors"))


def test_a_convex_loss_is_no_transition(monkeypatch):
    def verdict(losses):
        log = [{"step": 20 * i, "loss": loss} for i, loss in enumerate(losses)]
        monkeypatch.setattr("verify.retrieval.trained.induction_trained.log_of", lambda name: log)
        return transition("a").verdict

    rng, i = np.random.default_rng(0), np.arange(300)
    decay = 3 * 0.98**i
    assert verdict(2.7 + 0.01 * rng.standard_normal(300)) is FAILS
    assert verdict(decay) is FAILS
    for size in (0.02, 0.05, 0.1):
        for floor in (0.0, 0.02):
            noise = 1 + size * rng.standard_normal(300)
            assert verdict((floor + decay) * noise) is FAILS
    assert verdict(3.0 - 2.5 * (i > 150) - 1e-4 * i) is HOLDS
    assert verdict(3.0 - 2.5 * (i[:50] > 25) - 1e-4 * i[:50]) is HOLDS
    with rejects("log"):
        verdict(decay[:49])


PRINTED = [
    "induction_heads(vocabulary_size=16, max_length=64)",
    "right answers",
    "100.00%",
    "  match       100.0% of 16",
    "  previous  ",
]


def test_the_example_prints_what_it_promises(tmp_path, monkeypatch, capsys):
    """`newton_vs_trained.py` takes half a minute: it runs with the README's commands."""
    example = Path(__file__).parents[3] / "examples" / "induction_trained_vs_built.py"
    picture = tmp_path / "picture.png"
    monkeypatch.setattr(sys, "argv", ["", str(picture)])
    runpy.run_path(str(example), run_name="__main__")
    printed = capsys.readouterr().out
    assert [text for text in PRINTED if text not in printed] == []
    assert picture.stat().st_size > 10_000
