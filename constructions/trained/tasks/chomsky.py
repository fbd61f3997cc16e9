"""The tasks of the Chomsky hierarchy, on inputs of at most T tokens."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
from torch import Generator, Tensor
from torch.nn.functional import cross_entropy

from constructions.interface import Model
from constructions.programs.symbols import Symbols
from constructions.seeds import TorchSeed, torch_generator
from constructions.trained.configuration import presets
from constructions.trained.form import Form
from constructions.trained.models import Shape
from constructions.trained.tasks.task import CHUNK, Batch, FreshPrompts, PromptCount, Task, Training
from constructions.trained.transformers import TransformerShape
from theory.kinds import Choice, Count, Steps, checked
from theory.programs import chomsky
from theory.programs.chomsky.solutions import SOLUTIONS

LONGER = 5  # the length of the longest inputs of a model, in units of that of training inputs


@checked
@dataclass(frozen=True)
class Chomsky(Task, kind="chomsky"):
    """The task `problem` of the Chomsky hierarchy, on inputs of at most T = `length` tokens.

    All inputs of a batch have the same length, which is uniformly distributed over 1, …, T
    [Deletang2023].  The prompt is that of the hand-built model `chomsky_task`: BOS, the input and,
    if the output is a sequence, an empty token for each symbol.  Attention has no mask.

    A model has positions for inputs of 5T tokens.  The prompts of a batch begin at a random
    position, so that all positions are trained although no prompt is longer than that of T tokens.
    The position is −L + 1, …, P − 1 with equal probability, for L tokens and P positions, and is
    replaced by 0 or P − L if the prompt would otherwise leave the positions: so no position is
    trained less often than those in the middle.  Models are evaluated at the first positions.
    """

    problem: Annotated[str, Choice(tuple(SOLUTIONS))]
    length: Count

    one_shape: ClassVar[bool] = False

    @property
    def definition(self) -> chomsky.Task:
        """The task, as a function and a distribution of inputs."""
        return chomsky.TASKS[self.problem]

    @property
    def longest(self) -> int:
        """The length of the longest inputs of a model."""
        return LONGER * self.length

    @property
    def interface(self) -> Symbols:
        """The interface of a model."""
        return Symbols(self.problem, self.longest, range(self.definition.symbols))

    def words(self, name: str, size: str, layers: str) -> list[str]:
        return [layers, self.problem.replace(",", "").replace(" ", "-")]

    def form(self, shape: Shape) -> Form:
        interface = self.interface
        tokens, symbols = interface.n_tokens, self.definition.symbols
        return Form(interface, tokens, symbols, positions=interface.context, mask="full", rows=1)

    @checked
    def inputs(self, length: Count, count: PromptCount, seed: TorchSeed) -> Batch:
        """Returns `count` random inputs of one length, (count, n), and their outputs, (count, m).

        n is `length`, or `length` − 1 if the task has no inputs of even length.
        """
        numbers = int(torch.randint(2**62, (), generator=seed, device=seed.device))
        rng = np.random.default_rng(numbers)
        drawn = [self.definition.draw(length, rng) for _ in range(count)]
        answers = [self.definition.answer(x) for x in drawn]
        return tuple(torch.tensor(rows, device=seed.device) for rows in (drawn, answers))

    def draw(self, made: Training, count: int, seed: int | Generator, *, step: int) -> Batch:
        """Returns prompts, targets and first positions: (count, L), (count, L) and (count,).

        L is the number of tokens of the longest prompt; shorter prompts end with −1. A target of −1
        means no target.
        """
        generator, interface = torch_generator(seed), self.interface
        device, positions = generator.device, interface.context
        L = 1 + self.length + SOLUTIONS[self.problem].empties(self.length)
        tokens, wanted = (torch.full((count, L), -1, device=device) for _ in range(2))
        first = torch.empty(count, dtype=torch.int64, device=device)
        for begin in range(0, count, made.batch_size):
            rows = slice(begin, min(begin + made.batch_size, count))
            length = 1 + int(torch.randint(self.length, (), generator=generator, device=device))
            x, answers = self.inputs(length, rows.stop - begin, generator)
            prompt = interface.write(torch, x)
            width = prompt.tokens.shape[-1]
            tokens[rows, :width] = prompt.tokens
            wanted[rows, :width][:, prompt.answers] = answers
            place = torch.randint(1 - width, positions, (), generator=generator, device=device)
            first[rows] = place.clamp(0, positions - width)
        return tokens, wanted, first

    def loss(self, model: Any, *batch: Tensor) -> Tensor:
        """The mean cross-entropy of the targets of prompts of one length at the same positions."""
        tokens, wanted, first = batch
        width = int((tokens[0] >= 0).sum())
        H = model.embed(tokens[:, :width]) + model.pos_embed(width, int(first[0]))
        for block in model.blocks:
            H = block(H, 0)
        logits = model.unembedding(model.seen(H))
        return cross_entropy(logits.flatten(0, -2), wanted[:, :width].flatten(), ignore_index=-1)

    @checked
    def evaluate(self, model: Model, prompts: FreshPrompts, seed: Steps) -> Iterator[str]:
        """Yields the accuracy on inputs of 1 to T tokens, and on inputs of T + 1 to 5T tokens.

        There are at least `prompts` inputs of each of these kinds.
        """
        T, generator = self.length, torch_generator(seed)
        for lengths in (range(1, T + 1), range(T + 1, self.longest + 1)):
            each, right = -(-prompts // len(lengths)), list[Tensor]()
            for length in lengths:
                x, answers = self.inputs(length, each, generator)
                outputs = torch.cat([model(part) for part in x.split(CHUNK)])
                right.append((outputs == answers).double().mean(1))
            fraction = float(torch.cat(right).mean())
            yield f"inputs of {lengths[0]} to {lengths[-1]} tokens: {fraction:.2%} right"
        yield "best possible: 100.00% right"


PRESETS = presets(
    small=(
        Chomsky("reverse string", 10),
        {"steps": 10_000, "learning_rate": 2e-3, "warmup": 200, "final_rate": 0.01},
        TransformerShape(3, 4, 64, 128),
    ),
)
