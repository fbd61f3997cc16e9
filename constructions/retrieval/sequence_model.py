"""A transformer that is called on a sequence of tokens: `model(tokens)` → answer tokens."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.retrieval.margins import Margin, SoftmaxError, least_sharpness, softmax_error
from constructions.stream import Reading, Stream
from constructions.transformer import Block, Embed, PosEmbed, Transformer, Unembed
from theory import checks
from theory.checks import InputError


@dataclasses.dataclass(frozen=True)
class Prompt:
    """How token sequences become a prompt.

    `prefix` holds the tokens that the model puts in front of every sequence, numbered from
    `vocabulary_size` on: a token BOS that stands for "no answer" (⊥), or virtual observations.
    `length` fixes the number of tokens; otherwise any number up to `max_length` is taken.
    `n_examples` tokens are examples, for the mask of that name.
    """

    vocabulary_size: int
    max_length: int
    prefix: tuple[int, ...] = ()
    length: int | None = None
    n_examples: int = 0


@dataclasses.dataclass(frozen=True)
class Answers:
    """How logits (…, T, columns) become answers.

    There is a column for each token of the vocabulary and, with `bottom`, a last one for ⊥.
    Answers are right as long as every logit is within `margin`/2 of its hardmax value: `margin` is
    at most the smallest difference between the largest logit and another one, over all prompts.
    With `frequencies`, logits are relative frequencies among T tokens of the prompt, so they differ
    by at least 1/T or are equal: those closer than 1/(2T) count as equal, and the smallest token
    wins.  Their margin is half the smallest difference, because equal ones move apart too.
    """

    margin: float
    bottom: bool = True
    frequencies: bool = False


class SequenceModel(Transformer):
    """A transformer on whole-number tokens; called on (…, T) it returns answers (…, T), −1 for ⊥.

    Attention is hardmax, with which the construction is exact; `sharpened(β)` is the same object
    with softmax attention.  `margins` are the score gaps of each head, layer by layer, and
    `at_most` bounds registers by the construction's proof; see `margins.py`.
    """

    def __init__(
        self,
        embed: Embed,
        blocks: list[Block],
        unembed: Unembed,
        *,
        pos_embed: PosEmbed | None = None,
        stream: Stream,
        prompt: Prompt,
        answers: Answers,
        margins: tuple[tuple[Margin, ...], ...],
        at_most: Mapping[str, float] | None = None,
        name: str,
        source: str,
    ) -> None:
        super().__init__(
            embed, blocks, unembed, pos_embed=pos_embed, stream=stream, name=name, source=source
        )
        self.prompt, self.answers = prompt, answers
        self.margins, self.at_most = margins, dict(at_most or {})

    def forward(self, tokens: Any) -> Tensor:
        """Answers (…, T), int64, −1 for ⊥, for whole-number tokens (…, T), T ≤ max_length.

        Raises ValueError for tokens outside the vocabulary, an empty or too long sequence.
        """
        logits = self.logits(tokens)
        if self.answers.frequencies:
            counted = logits.shape[-2] + len(self.prompt.prefix)
            logits = logits >= logits.amax(-1, keepdim=True) - 0.5 / counted
        answers = logits.to(torch.float32).argmax(-1)  # the first of equal ones
        return answers.where(answers < self.prompt.vocabulary_size, -1)

    def logits(self, tokens: Any) -> Tensor:
        """Scores (…, T, vocabulary_size), with one more column for ⊥ where it can be the answer."""
        written = self.tokens(tokens)
        outputs = self.run(written, self.prompt.n_examples)
        return outputs[..., len(self.prompt.prefix) :, :]

    def streams(self, tokens: Any) -> Iterator[Tensor]:
        """The residual stream (…, prefix + T, D) after the embedding and after each block."""
        return self.residual_stream(self.tokens(tokens), self.prompt.n_examples)

    def tokens(self, tokens: Any) -> Tensor:
        """The prompt: the tokens, checked, with the prefix in front."""
        prompt, device = self.prompt, self.unembed.W_U.device
        if isinstance(tokens, Tensor):
            if tokens.is_floating_point():  # numpy has no bfloat16 to say so
                kind = str(tokens.dtype).removeprefix("torch.")
                raise InputError(f"tokens have dtype {kind}: give integers that are at least 0")
            tokens = tokens.cpu().numpy()
        array = checks.tokens("tokens", tokens, prompt.vocabulary_size)
        n_tokens = array.shape[-1]
        if prompt.length is not None and n_tokens != prompt.length:
            raise InputError(
                f"the sequence has {n_tokens} tokens: this model takes {prompt.length}"
            )
        if n_tokens > prompt.max_length:
            raise InputError(
                f"the sequence has {n_tokens} tokens but the model was built for max_length = "
                f"{prompt.max_length}: build it again with max_length={n_tokens}"
            )
        prefix = np.broadcast_to(
            np.array(prompt.prefix, dtype=np.int64), (*array.shape[:-1], len(prompt.prefix))
        )
        return torch.from_numpy(np.concatenate([prefix, array], axis=-1)).to(device)

    @property
    def context(self) -> int:
        """The largest number of tokens in a prompt, prefix included."""
        return len(self.prompt.prefix) + self.prompt.max_length

    def softmax_error(self, sharpness: float) -> SoftmaxError:
        """Bounds on the distance from hardmax to softmax at this sharpness, for every prompt."""
        return softmax_error(self, sharpness)

    def least_sharpness(self, error: float | None = None) -> float:
        """The smallest sharpness at which all logits are within `error` of the hardmax ones.

        By default, that at which all answers are still right: errors below half the margin.
        """
        return least_sharpness(self, 0.499 * self.answers.margin if error is None else error)

    def sharpened(self, sharpness: float | None) -> SequenceModel:
        """The same weights with softmax attention at sharpness β, or with hardmax for None.

        Raises ValueError for a sharpness at which answers could be wrong, with the smallest that
        works.
        """
        model = super().sharpened(sharpness)
        if (
            sharpness is not None
            and not self.softmax_error(sharpness).logits < self.answers.margin / 2
        ):
            raise InputError(
                f"sharpness {sharpness:g} is too small for sequences of {self.prompt.max_length} "
                f"tokens, whose answers could be wrong: give at least {self._least_shown()}"
            )
        return model

    def _least_shown(self) -> str:
        """The least sharpness, rounded up to what is printed."""
        return f"{np.ceil(self.least_sharpness() * 100) / 100:g}"


def decode(
    stream: Stream, reading: Reading, codes: np.ndarray, bottom: float | None = None
) -> Unembed:
    """Logits ⟨reading, codes_v⟩ for each token v, and the constant `bottom` for ⊥ if given."""
    columns = stream.matrix(reading)[0] @ codes.T
    if bottom is None:
        return Unembed(torch.as_tensor(columns))
    columns = np.pad(columns, ((0, 0), (0, 1)))
    bias = np.zeros(columns.shape[1])
    bias[-1] = bottom
    return Unembed(torch.as_tensor(columns), torch.as_tensor(bias))
