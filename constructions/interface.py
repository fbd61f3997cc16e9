"""One way to call a model: how a prompt is written and an answer is read is a part of the model.

An `Interface` only places numbers, so that it writes the same prompt for torch tensors and for
arrays of exact numbers: `xp` is the module torch or numpy.  The interfaces of the project:

    examples.Examples           (x, y, x_query) → predictions         regression
    tokens.Tokens               whole numbers → whole numbers, −1 for ⊥
    vectors.Memory, Points, …   vectors → vectors                     memories, particles
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from constructions.call import Call
from constructions.tensors import as_tensor, require_finite
from theory.kinds import InputError

ROWS = 4  # of random inputs
BATCH = 2**12  # inputs of which a model runs all

Draw = Callable[[int, int], np.ndarray]


class Prompt(NamedTuple):
    """What a model runs on.

    tokens      (…, T, columns), or whole numbers (…, T) that name the embedding's rows
    n_examples  how many of the first tokens are examples, for the mask of that name
    answers     at which tokens the answers are read
    """

    tokens: Any
    n_examples: int
    answers: slice = slice(None)


class Interface(nn.Module, ABC):
    """How inputs become a prompt, and what the read-out says becomes answers.

    `context` is the largest number of tokens in a prompt (None: any number).  `margin`, for answers
    that are the largest of several logits, says how far apart those are: answers are right as long
    as every logit is within half of it of its exact value.  `chooses`: answers are the largest of
    several logits and nothing more, so that a positive factor of all logits changes none.
    """

    context: int | None = None
    margin: float | None = None
    chooses: bool = False

    @abstractmethod
    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        """The inputs as tensors in the format and on the device of `like`.

        Raises ValueError for what the model does not take.
        """

    @abstractmethod
    def write(self, xp: Any, *inputs: Any) -> Prompt:
        """The prompt, from inputs that `check` has passed, or from arrays of exact numbers."""

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        """The answers, from outputs (…, answers, d_out) on these checked inputs."""
        return outputs

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[Any, ...]] | None:
        """All inputs, in batches, if there are at most `most` of them; else None.

        If the model is `causal`, the longest are enough: it answers for what they begin with, too.
        """
        return None

    def drawn(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, ...] | None:
        """Random inputs for `write`: entries of a number system, of which `draw(rows, columns)` are
        random ones, integers, or weights.  None where inputs are no numbers (tokens, graphs)."""
        return None

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        """`model.generate(tokens, steps)`."""
        raise InputError(
            f"{model.name} is not a model over tokens: give one, such as induction_heads"
        )


class Model(nn.Module, ABC):
    """A model with an interface: the project's transformer, or what is trained beside it.

    `call` is the call of a construction that built it, None for a model of other origin; `name` is
    its text, or says how the model was trained; `source` is the theorem, by key.
    """

    interface: Any  # an Interface; what more it has is known to who builds it and who verifies it
    call: Call | None = None
    name: str
    source: str

    @property
    def construction(self) -> str:
        """The function that built it; of a model of other origin its name."""
        return self.call.builder.__name__ if self.call else self.name

    @property
    @abstractmethod
    def n_layers(self) -> int:
        """The number of layers."""

    @abstractmethod
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        """The stream H (…, T, D) after the embedding and after each layer, one by one."""

    @abstractmethod
    def seen(self, H: Tensor) -> Tensor:
        """The stream as the read-out sees it: through the last layer norm, if there is one."""

    @abstractmethod
    def unembedding(self, H: Tensor) -> Tensor:
        """Outputs (…, d_out) of the stream as the read-out sees it."""

    @property
    def like(self) -> Tensor:
        """A weight: the format and the device that inputs are brought to."""
        return next(self.parameters())

    def prompt(self, *inputs: Any) -> Prompt:
        """The prompt that these inputs become; raises ValueError for inputs that do not fit."""
        return self.interface.write(torch, *self.interface.check(self.like, *inputs))

    def run(self, prompt: Prompt) -> Tensor:
        """Outputs (…, answers, d_out) where the prompt's answers are."""
        for H in self.residual_stream(prompt):  # noqa: B007  the last one is read
            pass
        return self.unembedding(self.seen(H[..., prompt.answers, :]))

    def forward(self, *inputs: Any) -> Any:
        """The answers; what they are and which inputs are refused is said by the interface.

        Raises ValueError for answers that are no finite numbers; `logits` and `streams` show them.
        """
        given = self.interface.check(self.like, *inputs)
        answers = self.interface.read(self.run(self.interface.write(torch, *given)), *given)
        if isinstance(answers, Tensor) and not torch.isfinite(answers).all():
            kind = str(self.like.dtype).removeprefix("torch.")
            raise InputError(
                f"an answer of {self.name} overflows {kind}: give smaller inputs, or build it with "
                "a smaller step (alpha, step_size) or fewer steps"
            )
        return answers

    def logits(self, *inputs: Any) -> Tensor:
        """What the read-out says at the answers, (…, answers, d_out), before they are read."""
        return self.run(self.prompt(*inputs))

    def streams(self, *inputs: Any) -> Iterator[Tensor]:
        """The residual stream (…, T, D) of a prompt after the embedding and after each layer."""
        return self.residual_stream(self.prompt(*inputs))

    def representations(self, *inputs: Any) -> Iterator[Tensor]:
        """What a read-out sees at the answers (…, answers, D): of the embedding, of each layer."""
        prompt = self.prompt(*inputs)
        for H in self.residual_stream(prompt):
            yield self.seen(H[..., prompt.answers, :])

    def decoder(self, leading: Sequence[int], context: int) -> Callable[[Tensor], Tensor] | None:
        """What says the outputs (…, 1, d_out) at the end of prompts that it is given piece by
        piece, of `leading` dimensions and at most `context` tokens; None where there is no such."""
        return None

    def generate(self, tokens: Any, steps: int) -> Tensor:
        """The next `steps` tokens (…, steps), each the answer to all before it; −1 from ⊥ on.

        Raises ValueError for a model that is not over tokens, and as the model does.
        """
        return self.interface.generate(self, tokens, steps)


def all_below(
    sizes: Sequence[int], lengths: Sequence[int], most: int
) -> Iterator[np.ndarray] | None:
    """All sequences (…, length) of these lengths whose i-th number is below sizes[i], in batches;
    None if there are more than `most`."""
    if sum(prod(sizes[:length]) for length in lengths) > most:
        return None
    return (
        np.arange(start, min(start + BATCH, end))[:, None] // np.cumprod([1, *below])[:-1] % below
        for below in (np.array(sizes[:length], dtype=np.int64) for length in lengths)
        for end in [int(below.prod())]
        for start in range(0, end, BATCH)
    )


def as_many(inputs: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """The inputs, one for each of these names; ValueError for more or fewer."""
    if len(inputs) != len(names):
        wanted = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        raise InputError(f"the model was given {len(inputs)} inputs: give {wanted}")
    return inputs


def finite_tensors(like: Tensor, inputs: tuple[Any, ...], *names: str) -> tuple[Tensor, ...]:
    """`as_many`, as tensors like `like`; ValueError for NaN or infinite entries."""
    given = zip(as_many(inputs, *names), names, strict=True)
    tensors = tuple(as_tensor(array, like, name) for array, name in given)
    for name, tensor in zip(names, tensors, strict=True):
        require_finite(name, tensor)
    return tensors
