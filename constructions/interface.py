"""Models and their interfaces: a model encodes its prompts and decodes its answers.

An `Interface` only places numbers, so that it writes the same prompt for torch tensors and for
arrays of exact numbers: `xp` is the module torch or numpy.  The interfaces of the project:

    examples.Examples           (x, y, x_query) → predictions         regression
    tokens.Tokens               integers → integers, −1 for ⊥         sequences
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

ROWS = 4  # the number of random inputs
BATCH = 2**12  # the number of inputs in a batch of `all_inputs`

Draw = Callable[[int, int], np.ndarray]


class Prompt(NamedTuple):
    """The tokens on which a model runs, and the tokens at which its answers are read.

    tokens      (…, T, columns), or integers (…, T), indices of the embedding's rows
    n_examples  the number of tokens, from the first, that a context-only mask admits
    answers     the tokens at which the answers are read
    """

    tokens: Any
    n_examples: int
    answers: slice = slice(None)


class Interface(nn.Module, ABC):
    """The encoding of inputs as a prompt, and the decoding of outputs as answers.

    `context` is the largest number of tokens in a prompt (None: any number).  If answers are an
    argmax of logits, `margin` is a lower bound on the gap between the largest logit and the others:
    answers are right if every logit is within margin/2 of its exact value.  `chooses`: answers are
    an argmax of logits and depend on nothing else, so that no answer changes if all logits are
    multiplied by a positive number.
    """

    context: int | None = None
    margin: float | None = None
    chooses: bool = False

    @abstractmethod
    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        """The inputs as tensors of the dtype and on the device of `like`.

        Raises ValueError for inputs for which the model is not defined.
        """

    @abstractmethod
    def write(self, xp: Any, *inputs: Any) -> Prompt:
        """The prompt, from inputs that `check` has passed, or from arrays of exact numbers."""

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        """The answers, from outputs (…, answers, d_out) on these checked inputs."""
        return outputs

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[Any, ...]] | None:
        """All inputs, in batches, if there are at most `most`; else None.

        If the model is `causal`, only the longest inputs are returned, since their answers include
        the answers to all their prefixes.
        """
        return None

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, ...] | None:
        """Random inputs for `write`, with entries `draw(rows, columns)` of a number system.

        None if inputs are not numbers (tokens, graphs).
        """
        return None

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        """`model.generate(tokens, steps)`."""
        raise InputError(
            f"{model.name} is not a model over tokens: give one, such as induction_heads"
        )


class Model(nn.Module, ABC):
    """A model with an interface: the library's transformer, or another trained network.

    `call` is the call of the construction that built the model, or None if none did; `name`
    is the text of the call, or of the training run; `source` is the theorem, by bibliography key.
    """

    interface: Any  # an Interface, with further attributes of its class
    call: Call | None = None
    name: str
    source: str

    @property
    def construction(self) -> str:
        """The name of the function that built the model, or the model's name if none did."""
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
        """The stream after the last layer norm, if there is one: the input of the unembedding."""

    @abstractmethod
    def unembedding(self, H: Tensor) -> Tensor:
        """The outputs (…, d_out) of `seen` streams (…, D)."""

    @property
    def like(self) -> Tensor:
        """A weight; inputs are converted to its dtype and device."""
        return next(self.parameters())

    def prompt(self, *inputs: Any) -> Prompt:
        """The prompt of these inputs; raises ValueError as `Interface.check` does."""
        return self.interface.write(torch, *self.interface.check(self.like, *inputs))

    def run(self, prompt: Prompt) -> Tensor:
        """The outputs (…, answers, d_out) at the prompt's answer tokens."""
        for H in self.residual_stream(prompt):  # noqa: B007  the last one is read
            pass
        return self.unembedding(self.seen(H[..., prompt.answers, :]))

    def forward(self, *inputs: Any) -> Any:
        """The answers, as the interface defines them.

        Raises ValueError for inputs that the interface rejects, and for answers that are not
        finite; `logits` and `streams` return such numbers.
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
        """The outputs of the unembedding at the answer tokens, (…, answers, d_out)."""
        return self.run(self.prompt(*inputs))

    def streams(self, *inputs: Any) -> Iterator[Tensor]:
        """The residual stream (…, T, D) after the embedding and after each layer."""
        return self.residual_stream(self.prompt(*inputs))

    def representations(self, *inputs: Any) -> Iterator[Tensor]:
        """The `seen` stream at the answer tokens (…, answers, D), after each layer."""
        prompt = self.prompt(*inputs)
        for H in self.residual_stream(prompt):
            yield self.seen(H[..., prompt.answers, :])

    def decoder(self, leading: Sequence[int], context: int) -> Callable[[Tensor], Tensor] | None:
        """A function that appends tokens to prompts and returns the last outputs (…, 1, d_out).

        The prompts have these `leading` dimensions and at most `context` tokens.  None if the model
        is not causal.
        """
        return None

    def generate(self, tokens: Any, steps: int) -> Tensor:
        """The next `steps` tokens (…, steps), each the answer to the tokens before; −1 from ⊥ on.

        Raises ValueError for a model that is not over tokens, and as `forward` does.
        """
        return self.interface.generate(self, tokens, steps)


def all_below(
    sizes: Sequence[int], lengths: Sequence[int], most: int
) -> Iterator[np.ndarray] | None:
    """All sequences (…, length) of these lengths whose i-th entry is below sizes[i], in batches.

    None if there are more than `most`.
    """
    if sum(prod(sizes[:length]) for length in lengths) > most:
        return None
    return (
        np.arange(start, min(start + BATCH, end))[:, None] // np.cumprod([1, *below])[:-1] % below
        for below in (np.array(sizes[:length], dtype=np.int64) for length in lengths)
        for end in [int(below.prod())]
        for start in range(0, end, BATCH)
    )


def as_many(inputs: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """The inputs, one for each of these names; raises ValueError for another number of inputs."""
    if len(inputs) != len(names):
        wanted = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        raise InputError(f"the model was given {len(inputs)} inputs: give {wanted}")
    return inputs


def finite_tensors(like: Tensor, inputs: tuple[Any, ...], *names: str) -> tuple[Tensor, ...]:
    """`as_many`, as tensors like `like`; raises ValueError for NaN or infinite entries."""
    given = zip(as_many(inputs, *names), names, strict=True)
    tensors = tuple(as_tensor(array, like, name) for array, name in given)
    for name, tensor in zip(names, tensors, strict=True):
        require_finite(name, tensor)
    return tensors
