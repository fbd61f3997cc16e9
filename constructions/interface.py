"""Models and their interfaces: a model encodes its prompts and decodes its answers.

An `Interface` only places numbers, so that it writes the same prompt for torch tensors and for
arrays of exact numbers: `xp` is the module torch or numpy.  The interfaces of the project:

    examples.Examples           (x, y, x_query) → predictions         regression
    tokens.Tokens               integers → integers, −1 for ⊥         sequences
    vectors.Memory, Points, …   vectors → vectors                     memories, particles
"""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any, NamedTuple, Protocol, TypeVar, runtime_checkable
from weakref import WeakSet

import numpy as np
import torch
from torch import Tensor, nn

from constructions.call import Call
from constructions.tensors import as_tensor, require_finite
from theory.kinds import InputError, OutsideHypotheses, Steps, checked, read, shown

ROWS = 4  # the number of random inputs
BATCH = 2**12  # the number of inputs in a batch of `all_inputs`

Draw = Callable[[int, int], np.ndarray]
M = TypeVar("M", bound=nn.Module)

WARNED = WeakSet[nn.Module]()  # models that have warned


class Prompt(NamedTuple):
    """The tokens on which a model runs, and the tokens at which its answers are read.

    `Model.prompt` makes prompts of inputs that it checks.  The methods of a model that take a
    prompt do not check its tokens.

    tokens      (…, T, columns), or integers (…, T), indices of the embedding's rows
    n_examples  the number of tokens at the beginning that a context-only mask admits
    answers     the tokens at which the answers are read
    """

    tokens: Any
    n_examples: int
    answers: slice = slice(None)


class Interface(nn.Module, ABC):
    """The encoding of inputs as a prompt, and the decoding of outputs as answers.

    `context` is the largest number of tokens in a prompt (None: any number).  `n_tokens` is the
    number of different tokens (None: tokens are vectors, or their number is not fixed).  If answers
    are an argmax of logits, `margin` is a lower bound on the gap between the largest logit and all
    other logits: answers are right if every logit is within margin/2 of its exact value. `chooses`
    is True if answers depend only on the argmax of the logits: then no answer changes if all logits
    are multiplied by a positive number. `averages`, if given, is an upper bound on the values that
    heads average, and the error of an average with which all answers are still right.
    """

    context: int | None = None
    n_tokens: int | None = None
    margin: float | None = None
    chooses: bool = False
    averages: tuple[float, float] | None = None

    @abstractmethod
    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        """Returns the inputs as tensors with the dtype and on the device of the tensor `like`.

        Raises ValueError for inputs for which the model is not defined.
        """

    @abstractmethod
    def write(self, xp: Any, *inputs: Any) -> Prompt:
        """The prompt (the tokens on which the model runs) of inputs that `check` has returned.

        The inputs can also be arrays of exact numbers. `xp` is the module torch or numpy, with
        whose functions the prompt is computed.
        """

    @property
    def hard(self) -> bool:
        """Whether no softmax attention is known with which the answers are right."""
        return False

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        """The answers, from the outputs of the model on the prompt of the inputs.

        `outputs` has shape (…, answers, d_out): d_out numbers, such as logits, for each answer.
        """
        return outputs

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[Any, ...]] | None:
        """All inputs of the model, in batches, or None if there are more than `most` inputs.

        If the model is `causal`, only the longest inputs are returned, since the answers to an
        input include the answers to all prefixes of this input.
        """
        return None

    def outside(self, *inputs: Any) -> str:
        """How inputs violate a hypothesis of a theorem about the model, with the remedy.

        The inputs are those that `check` has returned. The result is "" if they satisfy all
        hypotheses that are checked.
        """
        return ""

    def requirement(self) -> str:
        """The hypothesis on the inputs that `outside` checks, as `print` shows it, or ""."""
        return ""

    def random_inputs(self, draw: Draw, rng: np.random.Generator) -> tuple[Any, ...] | None:
        """Random inputs for `write`, whose entries in some number system are returned by `draw`.

        `draw(rows, columns)` returns a matrix. The result is None if the inputs of the model are
        not numbers but tokens or graphs.
        """
        return None

    def generate(self, model: Model, tokens: Any, steps: int) -> Any:
        """Returns the result of `model.generate(tokens, steps)`.

        Raises ValueError for an interface that is not over tokens.
        """
        model = read(Model, "model", model)
        raise InputError(
            f"{model.name} is not a model over tokens: give a model over tokens, such as "
            "induction_heads"
        )


@runtime_checkable
class OneSequence(Protocol):
    """A model on one growing sequence."""

    def clear(self) -> None:
        """Begins a new sequence."""

    def append(self, token: int) -> None:
        """Appends a token."""

    def outputs(self) -> np.ndarray:
        """The outputs (d_out,) at the last token."""


class Model(nn.Module, ABC):
    """A model with an interface: the library's transformer, or another trained network.

    `call` is the call of the construction that built the model, or None for a trained model. `name`
    is the text of the call, or the name of the training run. `source` is the theorem, by
    bibliography key.
    """

    interface: Any  # an Interface, with further attributes of its class
    call: Call | None = None
    name: str
    source: str

    @property
    def construction(self) -> str:
        """The name of the construction that built the model; for other models, the model's name."""
        return self.call.builder.__name__ if self.call else self.name

    @property
    @abstractmethod
    def n_layers(self) -> int:
        """The number of layers."""

    @abstractmethod
    def residual_stream(self, prompt: Prompt) -> Iterator[Tensor]:
        """Yields the residual stream (…, T, D) after the embedding and after each layer.

        T is the number of tokens of the prompt, and D is the width of the residual stream.
        """

    @abstractmethod
    def seen(self, H: Tensor) -> Tensor:
        """The input of the unembedding: the residual stream H (…, D) after the final layer norm.

        The result is H if the model has no final layer norm.
        """

    @abstractmethod
    def unembedding(self, H: Tensor) -> Tensor:
        """The outputs (…, d_out) of the unembedding for its input H (…, D).

        H is a result of `seen`, the residual stream (of width D) after the final layer norm, if
        any. For models over tokens, the d_out outputs are logits.
        """

    @property
    def like(self) -> Tensor:
        """A weight of the model; inputs are converted to the dtype and device of this weight."""
        return next(self.parameters())

    def to(self: M, *args: Any, **kwargs: Any) -> M:
        """The model, moved to a device or converted to a dtype in place, as `nn.Module.to` does.

        Raises ValueError for a device that torch does not have and for a dtype that is not a
        floating-point dtype.
        """
        try:
            if any(isinstance(each, float | complex | np.generic) for each in args):
                raise TypeError("it is a number")  # torch ignores it
            dtypes = [getattr(each, "dtype", each) for each in (*args, *kwargs.values())]
            if any(getattr(each, "is_complex", each is complex) is True for each in dtypes):
                raise TypeError("it is complex")  # torch warns only
            return nn.Module.to(self, *args, **kwargs)
        except InputError:
            raise
        except (RuntimeError, TypeError, ValueError, AssertionError) as error:
            given, reason = map(shown, (*args, *kwargs.values())), " ".join(str(error).split())
            raise InputError(
                f"the device or dtype is {', '.join(given)} ({reason[:60]}): give a device of this "
                "machine, such as 'cpu', or a floating-point dtype, such as torch.float32"
            ) from None

    def cuda(self: M, device: Any = None) -> M:
        """The model, moved to a GPU in place; raises ValueError as `to` does."""
        return self.to("cuda" if device is None else device)

    def prompt(self, *inputs: Any) -> Prompt:
        """The prompt of these inputs; raises ValueError as `Interface.check` does."""
        self.check_autocast()
        return self.interface.write(torch, *self.interface.check(self.like, *inputs))

    @checked
    def run(self, prompt: Prompt) -> Tensor:
        """The outputs (…, answers, d_out) of the model on a prompt.

        They are the outputs at the tokens at which the answers are read (`prompt.answers`). Each of
        these tokens has d_out outputs, for example logits.
        """
        for H in self.residual_stream(prompt):  # noqa: B007  the last one is read
            pass
        return self.unembedding(self.seen(H[..., prompt.answers, :]))

    def _outputs(self, prompt: Prompt) -> Tensor:
        """The result of `run`. Raises ValueError if the memory does not suffice."""
        try:
            return self.run(prompt)
        except RuntimeError as error:
            if isinstance(error, torch.OutOfMemoryError) or "can't allocate memory" in str(error):
                raise InputError(
                    f"{self.name} needs more memory than is available for prompts of shape "
                    f"{tuple(prompt.tokens.shape)}: give fewer or shorter prompts"
                ) from None
            raise

    def check_weights(self) -> None:
        """Raises `ValueError` if a weight is NaN or infinite."""
        for name, W in self.named_parameters():
            if not torch.isfinite(W).all():
                raise InputError(
                    f"the weight {name} of {self.name} has NaN or infinite entries: build or load "
                    "the model again"
                )

    def check_autocast(self) -> None:
        """Raises `ValueError` within `torch.autocast`, unless the model was trained."""
        if self.call is None or self.like.is_meta:
            return
        if torch.is_autocast_enabled(self.like.device.type):
            raise InputError(
                f"torch.autocast is enabled, which rounds products in {self.name} to a shorter "
                "dtype, so that answers could be wrong: call the model outside of it"
            )

    def forward(self, *inputs: Any) -> Any:
        """The answers, as the interface defines them.

        Warns once (`OutsideHypotheses`) if the iteration that the model computes diverges on the
        inputs. Raises ValueError for inputs that the interface rejects, for outputs that are NaN,
        for answers that are not finite, and if the memory does not suffice. `logits` and `streams`
        do not warn, and also return numbers that are not finite.
        """
        if self.like.is_meta:
            raise InputError(
                f"{self.name} is on the device meta, without numbers: give a model on the CPU"
            )
        self.check_autocast()
        given = self.interface.check(self.like, *inputs)
        outputs = self._outputs(self.interface.write(torch, *given))
        answers = self.interface.read(outputs, *given)
        overflows = isinstance(answers, Tensor) and not torch.isfinite(answers).all()
        if overflows or torch.isnan(outputs).any():
            self.check_weights()
            kind = str(self.like.dtype).removeprefix("torch.")
            raise InputError(
                f"an answer of {self.name} overflows {kind}: give smaller inputs, or build "
                "the model with a smaller step (alpha, step_size) or fewer steps"
            )
        warns = self not in WARNED and not torch.compiler.is_compiling()
        if words := self.interface.outside(*given) if warns else "":
            WARNED.add(self)
            # The caller's line is above two functions of torch.
            warnings.warn(f"{self.name}: {words}", OutsideHypotheses, stacklevel=4)
        return answers

    def logits(self, *inputs: Any) -> Tensor:
        """The outputs of the unembedding at the answer tokens, (…, answers, d_out)."""
        return self._outputs(self.prompt(*inputs))

    def streams(self, *inputs: Any) -> Iterator[Tensor]:
        """Yields the residual stream (…, T, D) after the embedding and after each layer."""
        return self.residual_stream(self.prompt(*inputs))

    def representations(self, *inputs: Any) -> Iterator[Tensor]:
        """Yields the stream at the answer tokens after each layer, as the unembedding would read
        it.

        The first array is the stream after the embedding. Each array has shape (…, answers, D),
        where D is the width of the stream. If the model has a final layer norm, the norm is applied
        to each array.
        """
        prompt = self.prompt(*inputs)
        for H in self.residual_stream(prompt):
            yield self.seen(H[..., prompt.answers, :])

    def decoder(self, leading: Sequence[int], context: int) -> Callable[[Tensor], Tensor] | None:
        """Returns a function that appends tokens to prompts, or None if the model is not causal.

        The prompts are an array with the leading dimensions `leading`, and each prompt has at most
        `context` tokens. A call of the function with the next tokens (…, t) appends these tokens
        and returns the outputs (…, 1, d_out) of the model at the last token. Raises ValueError for
        a `context` that is too large for the model, and for tokens that the prompts cannot contain.
        """
        return None

    def pruned_decoder(self, context: int) -> OneSequence | None:
        """Returns a decoder of one sequence of at most `context` tokens that keeps few keys.

        The time of a token is given in `constructions.decoding`. The result is None for models that
        have no such decoder, such as models with softmax attention. Raises ValueError if keys may
        not fit in memory.
        """
        return None

    def generate(self, tokens: Any, steps: int) -> Any:
        """The next `steps` tokens (…, steps); each is the model's answer at the last token before.

        The result is a tensor, or for a compiled program and a list of tokens a list. After an
        answer ⊥ all tokens are −1. Raises ValueError for a model that is not over tokens, and in
        the cases in which `forward` does.
        """
        self.check_weights()
        self.check_autocast()
        return self.interface.generate(self, tokens, steps)


def all_below(
    sizes: Sequence[int], lengths: Sequence[int], most: int
) -> Iterator[np.ndarray] | None:
    """All sequences of these lengths whose i-th entry is below sizes[i], in batches (…, length).

    The result is None if there are more than `most` sequences.
    """
    most = read(Steps, "most", most)
    if sum(prod(sizes[:length]) for length in lengths) > most:
        return None
    return (
        np.arange(start, min(start + BATCH, end))[:, None] // np.cumprod([1, *below])[:-1] % below
        for below in (np.array(sizes[:length], dtype=np.int64) for length in lengths)
        for end in [int(below.prod())]
        for start in range(0, end, BATCH)
    )


def as_many(inputs: tuple[Any, ...], *names: str) -> tuple[Any, ...]:
    """Returns the inputs; raises ValueError unless there is one input for each of these names."""
    if len(inputs) != len(names):
        wanted = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
        raise InputError(f"the model was given {len(inputs)} inputs: give the inputs {wanted}")
    return inputs


def finite_tensors(like: Tensor, inputs: tuple[Any, ...], *names: str) -> tuple[Tensor, ...]:
    """Returns the inputs as tensors of the dtype and on the device of `like`.

    Raises ValueError unless there is one input for each of these names, and for entries that are
    NaN or infinite.
    """
    given = zip(as_many(inputs, *names), names, strict=True)
    tensors = tuple(as_tensor(array, like, name) for array, name in given)
    for name, tensor in zip(names, tensors, strict=True):
        require_finite(name, tensor)
    return tensors
