"""The task of a parity with or without a chain of thought, and measures of trained models."""

import numpy as np
import pytest
import torch
from refusals import rejects

from constructions import parity_with_steps
from constructions.trained import preset, untrained
from constructions.trained.tasks.parity import Parity
from theory.language import with_steps
from theory.sequences import all_sequences
from verify.evidence.checkpoints import Trained
from verify.language.trained.parity_trained import Seen, by_guessing, learned, seen
from verify.language.trained.planted import built

TASK = Parity(6, 4, world=1)
ANSWER = Parity(6, 4, say="answer", world=1)
WORDS = torch.from_numpy(all_sequences(6, 2))


def test_nodes_are_those_of_the_tree():
    steps = with_steps(TASK.tree, 1 - 2 * WORDS.numpy())
    assert (1 - 2 * TASK.nodes(WORDS).numpy() == steps[:, 6:]).all()
    positions = list(TASK.tree.positions)
    assert torch.equal(TASK.nodes(WORDS)[:, -1], WORDS[:, positions].sum(-1) % 2)


@pytest.mark.parametrize("task", [TASK, ANSWER])
def test_targets_follow_the_bits(task):
    tokens, wanted = task.sequences(50, torch.Generator().manual_seed(0))
    nodes = TASK.nodes(tokens[:, :6])
    assert tokens.shape == wanted.shape == (50, 5 + task.n_generated)
    assert (wanted[:, :5] == -1).all()
    assert torch.equal(wanted[:, 5:], nodes[:, -task.n_generated :])
    assert torch.equal(tokens[:, 6:], nodes[:, -task.n_generated : -1])


def test_the_loss_is_the_entropy_of_what_is_wanted():
    task, made = TASK, preset("parity")
    model = made.shape.build(task.form(made.shape), 0, "parity").float().requires_grad_(False)
    tokens, wanted = task.sequences(9, torch.Generator().manual_seed(0))
    log_probabilities = model.logits(tokens).log_softmax(-1)[:, 5:]
    entropy = -log_probabilities.gather(-1, wanted[:, 5:, None]).mean()
    assert torch.isclose(task.loss(model, tokens, wanted), entropy)
    assert len(list(task.evaluate(model, 9, 0))) == 3


def test_the_built_model_is_right_and_looks_at_the_children():
    found = seen(parity_with_steps(6, 4, TASK.tree.positions), TASK, WORDS)
    assert (found.parity, found.children) == (1.0, 1.0)
    assert (found.nodes == 1).all()
    assert found.others == 0.5
    right = list(learned({"seed0": found, "seed1": found._replace(parity=0.5)}))
    assert [str(each.verdict) for each in right] == ["holds", "fails", "holds"]  # it has 3 steps
    assert str(by_guessing("x", "", {"seed0": found}, "parity").verdict) == "fails"


def test_every_seed_has_to_learn_most_steps():
    """And each seed that learns the parity attends to the children."""
    nodes = np.array([1.0] * 5 + [0.5, 0.5])
    with_cot = {f"seed{i}": Seen(1.0, 0.5, nodes, 0.75) for i in range(3)}
    assert [str(each.verdict) for each in learned(with_cot)] == ["holds"] * 3
    fewer, elsewhere = (
        with_cot["seed0"]._replace(nodes=nodes[::-1] / 2),
        Seen(1.0, 0.5, nodes, 0.25),
    )
    for other, verdicts in ((fewer, "holds fails holds"), (elsewhere, "holds holds fails")):
        found = learned(with_cot | {"seed1": other})
        assert " ".join(str(each.verdict) for each in found) == verdicts


def test_without_cot_only_the_parity_is_generated():
    model = preset("parity", say="answer")
    null = untrained(model).requires_grad_(False)
    words = torch.from_numpy(np.random.default_rng(0).integers(2, size=(500, 16)))
    found = seen(null, model.task, words)
    assert found.nodes.shape == (1,)
    assert found.parity == found.nodes[0]
    assert str(by_guessing("x", "", {"seed0": found}, "parity").verdict) == "holds"


def test_planted_models_are_in_the_place_of_trained_ones():
    [(name, model, task)] = built([Trained("parity-small-steps-seed0", None, TASK)])
    assert (name, task) == ("parity-small-steps-seed0", TASK)
    assert torch.equal(model.generate(WORDS, 3), TASK.nodes(WORDS))


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Parity(16, 6), "k"),
        (lambda: preset("hop", say="steps"), "say"),
    ],
)
def test_bad_input_is_rejected_in_one_line(make, parameter):
    with rejects(*parameter.split()):
        make()
