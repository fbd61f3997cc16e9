"""The claim on models that add with pretrained embeddings: its measures, and other models."""

import sys

import numpy as np
import pytest
import torch

from constructions.trained import configuration_of, preset, untrained
from verify.arithmetic.trained import number_models as models
from verify.arithmetic.trained.number_models import HEADS, MLPS, Adder, both_orders
from verify.arithmetic.trained.transplant import (
    below_random,
    by_parts,
    few_peaks,
    from_scratch,
    with_rows,
)
from verify.claim import Run
from verify.finding import Verdict

module = sys.modules["verify.arithmetic.trained.transplant"]
HOLDS = Verdict.HOLDS
P = 300
PAIRS = both_orders(np.random.default_rng(0).permutation(np.stack(np.triu_indices(150), 1))[:300])


def adder_of(rows="gaussian", seed=5):
    model = untrained(preset("addition", rows, seed=seed)).requires_grad_(False).double()
    return Adder("x", model, PAIRS)


def test_parts_add_up_to_the_logits_of_the_model():
    adder = adder_of()
    wanted = adder.model.logits(PAIRS)[:, 0].numpy()
    assert np.allclose(adder.logits, wanted, atol=1e-12)
    assert len(adder.parts) == 6
    *_, last = models.by_layer(adder)
    assert last == adder.right.mean.mean == (wanted.argmax(1) == PAIRS.sum(1)).mean()
    H = list(adder.model.streams(PAIRS))
    after_first = adder.model.unembedding(adder.model.seen(H[1][:, 2])).numpy()
    assert models.by_layer(adder)[1] == models.accuracy(after_first, adder.sums)


def test_a_filter_removes_bins_of_contributions():
    """As far as there are dimensions: of 128 the low filter takes 56, the high one all that a layer
    norm passes."""
    adder = adder_of("minilm")
    assert models.rank_of_filter(adder.model, high=False) == 56
    assert models.rank_of_filter(adder.model, high=True) == 127
    rows = models.effective_rows(adder.model)
    P_low = models.null_space_projection(models._removed(adder.model, high=False))
    assert abs(rows[1:57] @ P_low).max() < 1e-9 < abs(rows[57:] @ P_low).max()
    kept = models.trace(
        adder.model, PAIRS, lambda m, added: added @ torch.from_numpy(P_low) if m in MLPS else added
    )
    parts = models.contributions(adder.model, kept.added)
    low = np.fft.rfft(parts["mlp 2"])[:, 1 : models.HIGH]
    assert abs(low).max() < 1e-9 < abs(np.fft.rfft(parts["heads 2"])[:, 1 : models.HIGH]).max()
    nothing = models._projected(adder, MLPS, np.eye(128))
    assert nothing == adder.right.mean.mean


def built(error=0, comb=True, bump=True):
    """Heads contribute a comb and MLPs a bump whose size has this error, at most a tenth of p."""
    adder = Adder("x", None, PAIRS)
    c, s = np.arange(P), PAIRS.sum(1)[:, None]
    off = np.random.default_rng(1).integers(-error, error + 1, s.shape)
    teeth = sum(np.cos(2 * np.pi * f * (c - s) / 10) for f in (1, 2, 4, 5))
    adder.parts = {module: np.zeros((len(PAIRS), P)) for module in (*HEADS, *MLPS)}
    adder.parts["heads 1"] = teeth * comb
    adder.parts["mlp 2"] = 64 * np.cos(2 * np.pi * (c - s - off) / P) * bump
    return adder


def test_masks_of_a_comb_and_a_bump():
    """The theorems of the adder: without low bins errors are multiples of 10, without high ones
    those of the size; and heads have nothing low to lose, MLPs nothing high."""
    adder = built(4)
    assert adder.right.mean.mean == 1
    assert models.masked(adder, HEADS, high=False) == models.masked(adder, MLPS, high=True) == 1
    of_size = models.masked(adder, HEADS, high=True)
    assert of_size == built(4, comb=False).right.mean.mean < 0.2
    assert models.masked(adder, MLPS, high=False) < 0.1  # 30 candidates tie but for rounding
    assert models.high_fraction(adder, HEADS) == pytest.approx(1)
    assert models.high_fraction(adder, MLPS) == pytest.approx(0)
    errors = built(4, comb=False).errors
    assert set((errors + 4) % P - 4) == {-4, -3, -2, -1, 1, 2, 3, 4}
    assert models.near_fraction(errors) == pytest.approx((abs(errors) <= 2).mean())
    assert models.even_fraction(np.array([2, -4, 1, 10, -3])) == 0.6
    assert models.near_fraction(np.array([2, -4, 1, 10, -3])) == 0.4


def test_peaks_are_over_the_median():
    rng = np.random.default_rng(0)
    logits = built(bump=False).logits + 0.3 * rng.standard_normal((len(PAIRS), P))
    found = models.peaks(logits.T)
    assert min(found.values()) > 5
    assert max(models.peaks(rng.standard_normal((P, len(PAIRS)))).values()) < 1.5


def test_accuracy_by_unordered_pairs():
    """By definition; two orders of a pair are one draw, and a difference is of the same pairs."""
    pairs = np.array([[1, 2], [2, 1], [3, 3], [0, 5], [5, 0]])
    one = models.by_pair(pairs, np.array([True, True, False, True, False]))
    assert one.right.tolist() == [1, 2, 0]  # (0, 5), (1, 2), (3, 3)
    assert one.prompts.tolist() == [2, 2, 1]
    assert one.mean.mean == 0.6
    other = models.by_pair(pairs, np.array([False, True, False, True, True]))
    assert one.ahead_of(other).mean == 0
    assert one.ahead_of(other).error > 0 == one.ahead_of(one).error


def test_as_many_random_dimensions_are_removed():
    """Of all of them nothing of the comb is left; others are drawn each time; and what modules do
    not add is not missed."""
    adder, rng = built(4), np.random.default_rng(0)
    assert models._without(adder, HEADS, np.eye(P)) == built(4, comb=False).right.mean.mean < 0.2
    found = [models.masked_at_random(adder, HEADS, False, rng) for _ in range(2)]
    assert 0.2 < found[0] != found[1]
    assert models.masked_at_random(adder, ("heads 2", "mlp 1"), False, rng) == 1


HIGH = {"2": 5.0, "2.5": 3.0, "5": 4.0, "10": 3.0}
LOW = {"2": 0.9, "2.5": 1.0, "5": 1.1, "10": 2.5}
EVEN, NEAR = [2, -2, 10, 4] * 10, [1, -1, 2, -1] * 10


def shares(share):
    """This fraction of 1000 pairs right."""
    return models.Accuracy((np.arange(1000) < 1000 * share).astype(float), np.ones(1000))


def given_rows(errors=EVEN, peaks=HIGH, share=0.9, model=None):
    """A stub of a model: the transpose of `logits` are its peaks."""
    adder = Adder("x", model, PAIRS)
    adder.errors, adder.logits, adder.right = np.array(errors), Peaks(peaks), shares(share)
    return adder


def learned_rows(errors=NEAR, peaks=LOW, share=0.4, rows=LOW):
    adder = given_rows(errors, peaks, share)
    adder.rows = rows
    return adder


class Peaks(dict):
    @property
    def T(self):
        return dict(self)


@pytest.fixture
def said(monkeypatch):
    """Findings on models of `given_rows`; before training all have peaks of 2.5."""
    monkeypatch.setattr(module, "peaks", lambda rows: rows)
    monkeypatch.setattr(module, "tied_embedding", lambda model: model)
    before = given_rows(peaks=dict.fromkeys(LOW, 2.5))
    monkeypatch.setattr(module, "before_training", lambda name, pairs: before)


def lost(findings):
    return {finding.id: str(f) for finding in findings if (f := finding.verdict) is not HOLDS}


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    ("model", "others", "wanted"),
    [
        ({}, {}, {}),
        ({}, {"share": 0.69}, {"accuracy": "undecided"}),
        ({"peaks": HIGH | {"5": 2.4}}, {}, {"learnt": "fails"}),
        ({"errors": [2, 4, 10, 12, 1] * 10}, {}, {"even": "fails"}),
        ({}, {"errors": EVEN}, {"even": "fails"}),
        ({"errors": EVEN[:29]}, {}, {"even": "undecided"}),
    ],
)
def test_each_finding_on_given_rows_can_fail(model, others, wanted):
    assert lost(with_rows(given_rows(**model), [learned_rows(), learned_rows(**others)])) == wanted


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize(
    ("model", "others", "wanted"),
    [
        ({}, {}, {}),
        ({"peaks": LOW | {"2": 2.1}}, {}, {"peaks": "fails"}),
        ({"errors": [1, 2, 3, -1] * 10}, {}, {"near": "fails"}),
        ({}, {"errors": NEAR}, {"near": "fails"}),
        ({"errors": []}, {}, {"near": "undecided"}),
    ],
)
def test_each_finding_on_learned_rows_can_fail(model, others, wanted):
    given = [given_rows(), given_rows(**others)]
    learned = learned_rows(**model)
    learned.model = learned.rows
    assert lost(from_scratch(learned, given)) == wanted


def test_controls_can_fail():
    assert below_random("x", "", 0.1, [0.1, 0.2]).verdict is Verdict.FAILS
    assert few_peaks("x", "", LOW).verdict is HOLDS
    assert few_peaks("x", "", LOW | {"2": 2.1}).verdict is Verdict.FAILS


PARTS = {
    # replaced return values, and the findings that then fail
    "cheap": ("masked", lambda adder, modules, high: MASKS[modules, high] - 0.1, {"cheap"}),
    "nothing left": ("masked_at_random", lambda *_: 0.04, {"low/random", "high/random"}),
    "nothing to compare": ("filtered_at_random", lambda *_: 0.04, {"projection"}),
}
MASKS = {(HEADS, False): 0.8, (HEADS, True): 0.2, (MLPS, False): 0.3, (MLPS, True): 0.88}


@pytest.mark.usefixtures("said")
@pytest.mark.parametrize("what", ["nothing", *PARTS])
def test_each_finding_on_parts_can_fail(what, monkeypatch):
    holds = {
        "by_layer": lambda adder: [0.0, 0.4, 0.9],
        "high_fraction": lambda adder, modules: 0.8 if modules[0] in HEADS else 0.2,
        "masked": lambda adder, modules, high: MASKS[modules, high],
        "masked_at_random": lambda adder, modules, high, rng: 0.5,
        "filtered": lambda adder, modules, high: 0.1,
        "filtered_at_random": lambda adder, modules, rank, rng: 0.2,
        "rank_of_filter": lambda model, high: 56,
    }
    function, instead, wanted = PARTS.get(what, ("filtered", holds["filtered"], set()))
    for name, does in {**holds, function: instead}.items():
        monkeypatch.setattr(module, name, does)

    model = type("Model", (), {"d_model": 128})
    assert lost(by_parts(Run(quick=True), given_rows(model=model))).keys() == wanted


def test_untrained_models_have_the_given_rows():
    name = "addition-minilm-seed0"
    adder = models.before_training(name, PAIRS)
    assert configuration_of(name).shape.rows == "minilm"
    assert adder.right.mean.mean < 0.05
    assert max(models.peaks(adder.logits.T).values()) > 2
