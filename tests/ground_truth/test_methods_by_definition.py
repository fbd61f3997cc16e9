"""Methods of attribution and the judgement of their scores, by their definitions."""

import numpy as np
import pytest
import torch

pytest.importorskip("transformer_lens", reason="needs the extra [lens]")

from constructions import induction_heads, semiautomaton
from constructions.stock.lens import under_one_mask
from theory.computation import S3
from verify.ground_truth import METHODS, benchmark, methods
from verify.ground_truth.cases import Case
from verify.ground_truth.hooked import Hooked
from verify.ground_truth.methods import at_token
from verify.ground_truth.results import _judged, hooked
from verify.ground_truth.truth import _decides

pytestmark = pytest.mark.filterwarnings("ignore")  # theirs are not ours to mend

INDUCTION = Case("induction", lambda: induction_heads(3, 4), 4)
WITH_MLP = Case("S3", lambda: semiautomaton(S3, 4), 4)


@pytest.fixture(scope="module")
def of():
    return hooked(under_one_mask(INDUCTION.model()), INDUCTION.prompts(), 0)


@pytest.fixture(scope="module")
def random_of():
    """A model with MLPs and random weights, at which no attention is saturated."""
    return hooked(under_one_mask(WITH_MLP.model()), WITH_MLP.prompts(), 0, untrained=True)


@pytest.mark.parametrize("name", ["mean ablation", "resample ablation", "zero ablation"])
def test_ablations_of_a_link(random_of, name):
    of = random_of
    clean, found = of.outputs(of.clean), METHODS[name](of)
    for link in (of.links[0], of.links[-1]):
        own = clean[link.source]
        new = {
            "mean ablation": own.mean(0).expand_as(own),
            "resample ablation": torch.stack([own[i - 1] for i in range(len(own))]),
            "zero ablation": torch.zeros_like(own),
        }[name]
        hook = of.changed_input(link.target, link.port, new - own)
        with torch.no_grad():
            fall = (of.metric(of.clean) - of.metric(of.clean, hook)).mean()
        assert found[link] == pytest.approx(float(fall), rel=1e-9)
        assert abs(found[link]) > 1e-6


def test_node_attribution_is_a_derivative_by_the_output(random_of):
    of, step = random_of, 1e-5
    found = METHODS["attribution patching of nodes"](of)
    clean, other = of.outputs(of.clean), of.outputs(of.corrupted)
    largest = max(float(each.abs().max()) for each in found.values())
    for node in of.sources:
        change = at_token(other[node] - clean[node], -2)
        with torch.no_grad():
            up, down = (
                of.metric(of.clean, of.changed_output(node, s * step * change)) for s in (1, -1)
            )
        wanted = (down - up) / (2 * step)
        assert torch.allclose(found[node][:, -2], wanted, rtol=1e-4, atol=1e-6 * largest)


def test_direct_logits_of_all_nodes_and_the_biases_are_the_metric(random_of):
    """The metric is linear in the last stream, to which biases of the MLPs belong, here 0."""
    of = random_of
    found = METHODS["direct logit attribution"](of)
    assert sum(found.values()) == pytest.approx(float(of.metric(of.clean).mean()), rel=1e-9)
    assert min(found.values()) < 0 < max(found.values())


def test_integrated_gradients_end_at_the_clean_prompt(random_of, monkeypatch):
    """With one step they are those of attribution patching."""
    monkeypatch.setattr(methods, "STEPS", 1)
    one, plain = (
        METHODS[n](random_of) for n in ("EAP, integrated gradients", "attribution patching")
    )
    assert one == pytest.approx(plain, rel=1e-9, abs=1e-12)


def test_probes_are_tested_on_other_prompts():
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((40, 30)), rng.integers(0, 2, 40)
    assert 0.1 < methods._accuracy(X, labels) < 0.9  # on its own 20 prompts it is 1
    separable = np.where(labels[:, None] == 1, 1.0, -1.0) * np.ones(3)
    assert methods._accuracy(separable, labels) == 1


def test_controls_are_labels_of_tokens_and_are_subtracted(of, monkeypatch):
    seen = []

    def probed(of, wanted):
        seen.append(wanted)
        return {node: torch.tensor(float(10 ** (2 - len(seen)))) for node in of.sources}

    monkeypatch.setattr(methods, "_probed", probed)
    found = METHODS["linear probes with controls"](of)
    assert {float(each) for each in found.values()} in ({9.0}, {-9.0})
    rows, columns = methods._places(of)
    tokens = of.clean[rows, columns].tolist()
    answers = of.weights[rows, columns].argmax(-1).tolist()
    control = next(each for each in seen if each.tolist() != answers)
    assert sum(each.tolist() == answers for each in seen) == 1
    assert len({*zip(tokens, control.tolist(), strict=True)}) == len({*tokens})
    assert {*control.tolist()} <= {*answers}
    sign = 1 if seen[0].tolist() == answers else -1
    assert {float(each) for each in found.values()} == {9.0 * sign}


def test_other_seeds_have_other_pairs():
    model, pool = under_one_mask(INDUCTION.model()), INDUCTION.prompts()
    first, again, other = (hooked(model, pool, seed) for seed in (0, 0, 1))
    assert torch.equal(first.clean, again.clean)
    assert not torch.equal(first.clean, other.clean)


def test_the_metric_is_the_clean_logit_less_the_corrupted_one(of):
    model, front = INDUCTION.model(), of.clean.shape[1] - 4
    clean, corrupted = (each[:, front:].numpy() for each in (of.clean, of.corrupted))
    ours, theirs, logits = model(clean), model(corrupted), model.logits(clean)
    columns = lambda answers: answers % logits.shape[-1]  # noqa: E731  (⊥ is the last one)
    apart = logits.gather(-1, columns(ours)[..., None]) - logits.gather(
        -1, columns(theirs)[..., None]
    )
    assert torch.allclose(of.metric(of.clean), apart.sum((1, 2)), atol=1e-6)
    assert bool((ours != theirs).any(-1).all())


def test_entries_are_judged_by_hand():
    """Five entries: two true, one that exists and does not matter, two that do not exist."""
    true = np.array([True, True, False, False, False])
    exist = np.array([True, True, True, False, False])
    content = np.array([True, False, True, True, True])
    decoys = np.array([False, False, True, False, True])
    scores, control = np.array([-3.0, 0.0, 2.0, 2.0, 0.0]), np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    found = _judged(scores, control, true, exist, content, decoys, 0)
    # It names the first entry, and one of two others.
    assert (found["entries"], found["true"]) == (5, 2)
    assert (found["right"], found["unused"], found["absent"]) == (0.5, 0.25, 0.25)
    assert (found["unnamed"], found["decoys"]) == (0.0, 0.25)
    assert found["auc"] == pytest.approx((3 + 0.5) / 6)
    assert found["content"] == 1.0
    assert found["null"] == 0.0


def test_the_null_is_the_method_on_a_random_model():
    known = INDUCTION.truth(under_one_mask(INDUCTION.model()))
    logits = INDUCTION.model().unembed.W_U.abs().sum()

    def by_weights(of):
        """The truth on the model, and nothing on another."""
        trained = torch.isclose(of.bridge.unembed.W_U.abs().sum(), logits)
        return dict.fromkeys(of.links, 1.0) | dict.fromkeys(known.matter, 1.0 + float(trained))

    (result,) = benchmark({"mine": by_weights}, cases=[INDUCTION], seeds=1)
    assert (result.auc, result.null) == (1.0, 0.5)


def test_every_value_of_an_output_is_tried(of):
    """The last of many values decides, and those before are the clean one."""
    embed = next(node for node in of.sources if node.kind == "embed")
    own, clean = of.outputs(of.clean)[embed][:8], of.answers(of.clean)[:8]
    decided = 0
    for i in range(8):
        here, now = own[i : i + 1], clean[i : i + 1]
        part = (each[i : i + 1] for each in (of.clean, of.corrupted, of.weights))
        one = Hooked(of.bridge, of.nodes, *part, of.answered)
        same = here[0, -1].expand(20, -1)
        assert not _decides(one, now, embed, here, same)[0, -1]
        for other in own[:, -1].unique(dim=0):
            change = at_token(other - here, here.shape[1] - 1)
            after = of.answers(one.clean, of.changed_output(embed, change))
            found = _decides(one, now, embed, here, torch.cat([same, other[None]]))
            assert found[0, -1] == bool((after != now).any())
            decided += found[0, -1]
    assert decided
