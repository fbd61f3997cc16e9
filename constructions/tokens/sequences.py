"""Sequences of tokens: `model(tokens)` → answer tokens, −1 for "no answer" (⊥)."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import unembed
from constructions.interface import Interface, Model, Prompt, as_many
from constructions.stream import Map, Reading, Stream
from constructions.transformer import Unembed
from theory import checks, machine
from theory.checks import InputError

LARGE = 2**30  # bytes of scores, from which on it is asked whether the memory holds them


class Tokens(Interface):
    """Whole-number tokens (…, T), T ≤ max_length → answers (…, T), int64, −1 for ⊥.

    `prefix` holds the tokens that the model puts in front of every sequence, numbered from
    `vocabulary_size` on: a token BOS that stands for ⊥, or virtual observations.  `length` fixes
    the number of tokens; otherwise any number up to `max_length` is taken.  `n_examples` tokens are
    examples, for the mask of that name.  With `whole` there is one answer (…, 1) for the sequence,
    at the first token of the prompt.

    Answers are tokens of the vocabulary, or numbers below `answers` if that is given.  Logits
    (…, T, columns) have a column for each of them and, with `bottom`, a last one for ⊥.  Answers
    are right as long as every logit is within `margin`/2 of its hardmax value: it is at most the
    smallest difference between the largest logit and another, over all prompts.  With
    `frequencies`, logits are relative frequencies among the tokens of the prompt, so they differ by
    at least 1/T or are equal: those closer than 1/(2T) count as equal, and the smallest token wins.
    Their margin is half the smallest difference, because equal ones move apart too.

    Raises ValueError for tokens outside the vocabulary, an empty or too long sequence.
    """

    context: int

    def __init__(
        self,
        vocabulary_size: int,
        max_length: int,
        *,
        prefix: tuple[int, ...] = (),
        length: int | None = None,
        answers: int | None = None,
        n_examples: int = 0,
        margin: float | None = None,
        bottom: bool = False,
        frequencies: bool = False,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self.vocabulary_size, self.max_length = vocabulary_size, max_length
        self.prefix, self.length, self.n_examples = prefix, length, n_examples
        self.n_answers = vocabulary_size if answers is None else answers
        self.context, self.bottom, self.frequencies = len(prefix) + max_length, bottom, frequencies
        self.margin = 0.5 / self.context if frequencies else margin
        self.answered = slice(1) if whole else slice(len(prefix), None)

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        (tokens,) = as_many(inputs, "one array of tokens")
        if isinstance(tokens, Tensor) and tokens.is_floating_point():  # bfloat16, which numpy lacks
            kind = str(tokens.dtype).removeprefix("torch.")
            raise InputError(f"tokens have dtype {kind}: give integers that are at least 0")
        array = checks.tokens("tokens", tokens, self.vocabulary_size)
        n_tokens = array.shape[-1]
        if self.length is not None and n_tokens != self.length:
            raise InputError(f"the sequence has {n_tokens} tokens: this model takes {self.length}")
        if n_tokens > self.max_length:
            raise InputError(
                f"the sequence has {n_tokens} tokens but the model was built for max_length = "
                f"{self.max_length}: build it again with max_length={n_tokens}"
            )
        if (scores := 16 * array.size * (n_tokens + len(self.prefix))) > LARGE:
            what = f"the scores of {array.size / n_tokens:.4g} sequences of {n_tokens} tokens"
            machine.fits_in_memory(what, scores, "give fewer or shorter ones")
        return (torch.from_numpy(np.ascontiguousarray(array)).to(like.device),)

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (tokens,) = inputs
        ahead = xp.asarray(self.prefix, dtype=xp.int64, device=tokens.device)
        ahead = xp.broadcast_to(ahead, (*tokens.shape[:-1], len(self.prefix)))
        written = xp.concat([ahead, tokens], axis=-1)
        return Prompt(written, self.n_examples, self.answered)

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        if self.frequencies:
            counted = outputs.shape[-2] + len(self.prefix)
            outputs = outputs >= outputs.amax(-1, keepdim=True) - 0.5 / counted
        answers = outputs.to(torch.float32).argmax(-1)  # the first of equal ones
        return answers.where(answers < self.n_answers, -1)

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        if self.length is not None:
            return super().generate(model, tokens, steps)
        steps = checks.step_count("steps", steps)
        (sequence,) = self.check(model.like, tokens)
        given, ended = sequence.shape[-1], torch.zeros(sequence.shape[:-1], dtype=torch.bool)
        said = []
        for _ in range(steps):
            if sequence.shape[-1] > self.max_length:
                raise InputError(
                    f"{given} tokens and {steps} steps are more than max_length = "
                    f"{self.max_length}: build the model again with "
                    f"max_length={given + steps - 1}"
                )
            answer = model(sequence)[..., -1].cpu()
            ended = ended | (answer < 0)
            said.append(answer.where(~ended, -1))
            following = said[-1].clamp(min=0).to(sequence.device)  # ⊥ is no token; nobody reads on
            sequence = torch.cat([sequence, following.unsqueeze(-1)], dim=-1)
        return torch.stack(said, dim=-1) if said else sequence[..., :0].cpu()


def decode(
    stream: Stream,
    reading: Reading,
    codes: np.ndarray,
    bottom: float | None = None,
    bias: np.ndarray | None = None,
) -> Unembed:
    """Logits ⟨reading, codes_v⟩ + bias_v for each token v, and the constant `bottom` for ⊥."""
    columns = codes.T.astype(np.float64)
    if bottom is not None:
        columns = np.pad(columns, ((0, 0), (0, 1)))
        bias = np.append(np.zeros(len(codes)) if bias is None else bias, bottom)
    return unembed(stream, reading @ Map(columns, "codes"), bias=bias)
