"""The training task chomsky: prompts, places of prompts, loss and evaluation."""

from collections import Counter
from dataclasses import replace

import pytest
import torch
from torch.nn.functional import cross_entropy

from constructions.programs import chomsky_task
from constructions.trained import preset, untrained
from constructions.trained.tasks.chomsky import Chomsky
from theory.programs.chomsky import TASKS
from theory.programs.chomsky.solutions import SOLUTIONS

SMALL = replace(preset("chomsky"), batch_size=4)


def drawn(problem, length=4, count=400, seed=0):
    made = replace(SMALL, task=Chomsky(problem, length))
    return made, made.task.draw(made, count, torch.Generator().manual_seed(seed), step=0)


@pytest.mark.parametrize("problem", SOLUTIONS)
def test_prompts_are_those_of_the_hand_built_model(problem):
    """Tokens, places of answers, and targets by the definition of the task."""
    made, (tokens, wanted, _) = drawn(problem, length=2, count=40)
    model, definition = chomsky_task(problem, 10), TASKS[problem]
    assert made.task.interface.context == model.interface.context
    for row, targets in zip(tokens.tolist(), wanted.tolist(), strict=True):
        x = [token for token in row[1:] if 0 <= token < len(definition.tokens)]
        prompt = model.prompt(x)
        width = len(prompt.tokens)
        assert row == [*prompt.tokens.tolist(), *[-1] * (len(row) - width)]
        assert targets[:width][prompt.answers] == definition.answer(x)
        assert sum(target >= 0 for target in targets) == len(definition.answer(x))


def test_batches_have_one_length_and_one_place():
    _, batch = drawn("reverse string")
    for tokens, _, first in zip(*(part.split(4) for part in batch), strict=True):
        assert len(set((tokens >= 0).sum(1).tolist())) == len(set(first.tolist())) == 1
    lengths = Counter(((batch[0][::4] >= 0).sum(1) - 1).floor_divide(2).tolist())
    assert set(lengths) == {1, 2, 3, 4}


def test_no_position_is_trained_less_often_than_those_in_the_middle():
    """Up to six standard errors."""
    made, (tokens, _, first) = drawn("cycle navigation", length=3, count=8000)
    positions = made.task.interface.context
    widths = (tokens >= 0).sum(1)
    assert ((first >= 0) & (first + widths <= positions)).all()
    places = torch.arange(positions)[:, None]
    inside = (first <= places) & (places < first + widths)
    found = inside[:, ::4].double().mean(1)
    expected = sum(width / (positions + width - 1) for width in (2, 3, 4)) / 3
    error = (expected * (1 - expected) / 2000) ** 0.5
    middle = found[4:-4]
    assert ((middle - expected).abs() <= 6 * error).all()
    assert (found >= expected - 6 * error).all()


def test_the_loss_is_that_of_a_prompt_at_its_place():
    """A model whose rows of positions begin with this place has the same loss at position 0."""
    made, batch = drawn("bucket sort", count=4, seed=1)
    model = untrained(made).requires_grad_(False)
    tokens, wanted, first = batch
    assert int(first[0]) > 0
    moved = untrained(made).requires_grad_(False)
    moved.pos_embed.W_pos.copy_(model.pos_embed.W_pos.roll(-int(first[0]), 0))
    n = int((tokens[0] >= 0).sum()) // 2
    logits = moved.logits(tokens[:, 1 : n + 1])
    answers = wanted[wanted >= 0]
    by_definition = cross_entropy(logits.flatten(0, 1), answers)
    assert float(made.task.loss(model, *batch)) == pytest.approx(float(by_definition), rel=1e-5)


def test_the_hand_built_model_is_evaluated_as_right():
    task = Chomsky("odds first", 2)
    lines = [*task.evaluate(chomsky_task("odds first", 10), 10, 0)]
    assert lines == [
        "inputs of 1 to 2 tokens: 100.00% right",
        "inputs of 3 to 10 tokens: 100.00% right",
        "best possible: 100.00% right",
    ]
