"""The claim on models trained on graphs: its measures, and models that contradict it."""

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions.graphs import disentangled
from constructions.trained import load
from theory.graphs import (
    Channels,
    beyond,
    connected,
    kronecker,
)
from verify.claim import Run
from verify.finding import Verdict
from verify.graphs.trained import connectivity_trained as module
from verify.graphs.trained.connectivity_trained import (
    by_name,
    free_findings,
    little_j,
    much_j,
    two_channels_findings,
)
from verify.graphs.trained.trial import (
    Parts,
    Right,
    Seen,
    Trial,
    all_right,
    before_training,
    evaluated,
    grids_of,
    parts_of,
    untrained_accuracy,
)

HOLDS, FAILS = Verdict.HOLDS, Verdict.FAILS


@pytest.fixture(scope="module")
def trial():
    return Trial.of(Run(seed=3, quick=True), 100)


def test_the_built_model_is_right_within_its_capacity(trial):
    """One layer, within distance 3 and nowhere else; two, to whose 9 all are near, everywhere."""
    one, two = (trial.right(disentangled(8, layers), "all") for layers in (1, 2))
    near = ~beyond(trial.fresh, 1).any((-1, -2))
    assert one[:5] == (near.mean(), 1, 0, 1, 1)
    assert one.errors[0] == pytest.approx((near.mean() * (1 - near.mean()) / 99) ** 0.5)
    assert two == (1, 1, 1, 1, 1, (0, 0, 0))
    assert (all_right(disentangled(8, 1), trial.fresh) == near).all()


def test_parts_of_a_model_are_those_of_its_weights():
    rng = np.random.default_rng(0)
    A, B, c, d = (rng.normal(size=size) for size in ((2, 2), (2, 2), (4, 1), (4, 1)))
    W, C = kronecker(Channels(A, B), 6), kronecker(Channels(c, d), 6)
    model = disentangled(6, 1, [W], C)
    grids = grids_of(model)
    np.testing.assert_array_equal(grids[0], W)
    np.testing.assert_array_equal(grids[1], C)
    found = parts_of(model)
    in_I, in_J = 6 * ((A**2).sum() + (c**2).sum()), 36 * ((B**2).sum() + (d**2).sum())
    assert found.j == pytest.approx(in_J / (in_I + in_J))
    in_I, in_J = 6 * (A**2).sum(), 36 * (B**2).sum()
    assert found.j_in_W == pytest.approx(in_J / (in_I + in_J))
    total = (W**2).sum() + (C**2).sum()
    assert found.off_diagonal == pytest.approx(30 * ((B**2).sum() + (d**2).sum()) / total)
    assert found.rest == pytest.approx(0, abs=1e-12)
    # What depends on names: a grid whose blocks have neither a trace nor a sum.
    X = np.kron(np.ones((2, 2)), np.diag([1.0, -1, 0, 0, 0, 0]))
    other = parts_of(disentangled(6, 1, [W + X], C))
    assert other.rest == pytest.approx(8 / (total + 8))
    assert other.j == pytest.approx(found.j)


@pytest.fixture
def parts_for_models(monkeypatch):
    """Models of `seen` are their parts."""
    monkeypatch.setattr(module, "parts_of", lambda model: model)


def seen(name, share=1.0, clique=1.0, j=0.0, rest=0.0):
    return Seen(name, Parts(j, j, j, rest), Right(share, share, share, share, clique))


GOOD = {
    "within": [seen(f"within-{i}", j=0.005) for i in range(3)],
    "all": [seen(f"all-{i}", 0.5, 0.0, 0.05) for i in range(3)],
}
AMISS = {
    # a model with something amiss in the place of one that is as stated, and what then fails
    "learns less": ("within", seen("x", 0.98, j=0.005), {"x/graphs", "x/two-chain"}),
    "not 2Clique": ("within", seen("x", clique=0.9, j=0.005), {"x/two-clique"}),
    "much J": ("within", seen("x", j=0.011), {"x/J"}),
    "more J than others": ("within", seen("x", j=0.06), {"x/J", "all-0/J", "all-1/J", "all-2/J"}),
    "learns little": (
        "within",
        seen("x", 0.4, j=0.005),
        {"x/graphs", "x/two-chain", *(f"all-{i}/graphs" for i in range(3))},
    ),
    "learns all": ("all", seen("x", 1.0, 0.0, 0.05), {"x/graphs"}),
    "a 2Clique": ("all", seen("x", 0.5, 1 / 35, 0.05), {"x/two-clique"}),
    "little J": ("all", seen("x", 0.5, 0.0, 0.005), {"x/J"}),
}


def failing(findings):
    return {finding.id for finding in findings if finding.verdict is not HOLDS}


@pytest.mark.usefixtures("parts_for_models")
@pytest.mark.parametrize("what", AMISS)
def test_each_finding_can_fail(what):
    kind, model, wanted = AMISS[what]
    by = {**GOOD, kind: [model, *GOOD[kind][1:]]}
    assert failing(two_channels_findings(GOOD)) == set()
    assert failing(two_channels_findings(by)) == wanted
    assert failing(free_findings(GOOD)) == set()
    assert failing(free_findings(by)) == wanted


@pytest.mark.usefixtures("parts_for_models")
def test_free_weights_outside_two_channels():
    by = {**GOOD, "all": [seen("x", 0.5, 0.0, 0.05, rest=0.011), *GOOD["all"][1:]]}
    assert failing(free_findings(by)) == {"x/channels"}


def test_accuracy_before_training(trial):
    model = before_training("connectivity-dense-1-layer")
    assert untrained_accuracy(model, trial).verdict is HOLDS
    assert by_name(parts_of(model)).verdict is HOLDS
    assert parts_of(model).rest > 0.8


@pytest.mark.parametrize(("share", "verdict"), [(0.009, HOLDS), (0.011, FAILS)])
def test_planted_J_is_measured(share, verdict):
    """Weights A ⊗ I + B ⊗ J with this fraction in J, in W, in the unembedding, and in both."""
    n, A, c = 8, np.eye(2), np.ones((4, 1))
    for inside, outside in ((1, 0), (0, 1), (1, 1)):
        counted = inside * A.sum() + outside * c.sum()  # of squared entries, which are 0 and 1
        size = np.sqrt(share / (1 - share) * n * 6 / (n * n * counted))
        W = kronecker(Channels(A, size * inside * A), n)
        model = disentangled(n, 1, [W], kronecker(Channels(c, size * outside * c), n))
        assert little_j(parts_of(model)).verdict is verdict
        assert little_j(parts_of(model)).measured == pytest.approx(share)
        assert (much_j(parts_of(model)).verdict is HOLDS) == (verdict is FAILS)


def test_two_channels_without_J_are_right_on_every_graph(trial):
    """The model trained within capacity, with J set to 0: unconnected pairs have output −θ."""
    model = load("connectivity-channels-1-layer-within-seed0")
    for name, W in model.named_parameters():
        if name.endswith("original1"):
            W.zero_()
    outputs = model.logits(trial.fresh)
    theta = -model.unembed.b_U[0]
    assert (outputs[torch.as_tensor(connected(trial.fresh)) == 0] == -theta).all()


@pytest.mark.parametrize("prefix", ["connectivity-none", "induction-small-2-layers"])
def test_missing_checkpoints(prefix, trial):
    with rejects(f"{prefix}-all"):
        evaluated(prefix, "disentangled", ("all",), trial)
