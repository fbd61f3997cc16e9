"""Interface of sequences of tokens: `model(tokens)` → answer tokens, −1 for "no answer" (⊥)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.assembly import unembed
from constructions.blocks import Unembed
from constructions.interface import Interface, Model, OneSequence, Prompt, all_below, as_many
from constructions.stream import LinearRead, Map, Stream
from theory.kinds import Count, InputError, Integers, NonNegative, Steps, Within, checked, read
from theory.kinds.errors import shown
from theory.waiting import Pace

ONE_BY_ONE = 2048  # tokens from which on caching all keys of a batch takes longer than pruning them


class Tokens(Interface):
    """The interface of models that map tokens (…, T) to answers (…, T).

    An interface encodes inputs as the prompt of a model, and decodes the model's outputs as
    answers. Tokens and answers are integers (int64), and T ≤ max_length. The answer −1 stands for ⊥
    ("no answer").

    `prefix` contains the tokens that the model puts in front of every sequence, such as BOS. They
    are numbered from `vocabulary_size` on. If `length` is given, T = `length`; otherwise T is
    between `least` and `max_length`. If some tokens are not allowed at some positions, `slots`
    contains the allowed range of tokens for each position. Under a context-only mask, all tokens
    attend to the first `n_examples` tokens only. If `whole` is true, there is one answer (…, 1) for
    the whole sequence, at the first token of the prompt.

    Answers are tokens of the vocabulary; if `answers` is given, only the tokens below `answers`. If
    `labels` is given, answers are labels below `labels`, such as states, which are not tokens.
    Logits (…, T, columns) have one column for each possible answer. If `bottom` is true, a last
    column is the logit of ⊥. `margin` is a lower bound on the difference between the largest logit
    and any other, over all prompts. So answers are right if every logit is within `margin`/2 of its
    value with hardmax attention.

    If `frequencies` is true, logits are relative frequencies among at most N tokens of the prompt,
    where N is the number of tokens including `prefix`. Two different frequencies of one position
    differ by at least 1/N. Logits that differ by less than 1/(2N) therefore count as equal, and the
    smallest token with a largest logit is the answer. The margin is then 1/(2N) for the longest
    prompt: if the errors of all logits are below half the margin, exactly the logits of equal
    frequencies count as equal.

    The attribute `sample` is a sequence of tokens to show, or None. It is no parameter: a
    construction with few meaningful sequences sets it.

    The call raises ValueError for tokens outside the vocabulary or not allowed at their position,
    and for an empty, too short or too long sequence.
    """

    context: int
    n_tokens: int
    sample: tuple[int, ...] | None = None

    @checked
    def __init__(
        self,
        vocabulary_size: Count,
        max_length: Count,
        *,
        prefix: tuple[Steps, ...] = (),
        length: Count | None = None,
        least: Steps = 1,
        slots: Sequence[range] | None = None,
        answers: Count | None = None,
        labels: Count | None = None,
        n_examples: Steps = 0,
        margin: NonNegative | None = None,
        bottom: bool = False,
        frequencies: bool = False,
        whole: bool = False,
    ) -> None:
        super().__init__()
        self.vocabulary_size, self.max_length = vocabulary_size, max_length
        self.prefix, self.length, self.n_examples = prefix, length, n_examples
        self.n_tokens = max(vocabulary_size, 1 + max(prefix, default=0))
        self.slots, self.least, self.labels = slots, least, labels
        self.n_answers = labels or answers or vocabulary_size
        self.context, self.bottom, self.frequencies = len(prefix) + max_length, bottom, frequencies
        self.margin = 0.5 / self.context if frequencies else margin
        self.chooses = not frequencies
        self.answered = slice(1) if whole else slice(len(prefix), None)

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        (tokens,) = as_many(inputs, "one array of tokens")
        if isinstance(tokens, Tensor) and tokens.is_floating_point():  # bfloat16, which numpy lacks
            kind = str(tokens.dtype).removeprefix("torch.")
            raise InputError(f"tokens have dtype {kind}: give an array of nonnegative integers")
        vocabulary = Within(least=0, below=self.vocabulary_size)
        array = Integers("... T", vocabulary).read("tokens", tokens)
        n_tokens = array.shape[-1]
        if self.length is not None and n_tokens != self.length:
            raise InputError(
                f"the sequence has {n_tokens} tokens, but this model takes {self.length}: "
                f"give a sequence of {self.length} tokens"
            )
        if n_tokens > self.max_length:
            raise InputError(
                f"the sequence has {n_tokens} tokens, but the model takes at most "
                f"{self.max_length}: {self._longer(n_tokens)}"
            )
        if self.slots is not None:
            _in_place(array, self.slots[:n_tokens])
        if n_tokens < self.least:
            raise InputError(
                f"the prompt has {n_tokens} tokens, fewer than {self.least}{self.lacking(n_tokens)}"
            )
        return (torch.from_numpy(np.ascontiguousarray(array)).to(like.device),)

    def lacking(self, given: int) -> str:
        """The part of an error message that names the tokens that a short sequence lacks.

        The sequence has `given` tokens.
        """
        return f": give all {self.least} tokens"

    def _longer(self, n_tokens: int) -> str:
        """The remedy for sequences that are too long."""
        if self.slots is None:
            return f"build the model with max_length={n_tokens}"
        return "build a model for longer sequences"

    def ends(self, n: int) -> tuple[tuple[int, ...], slice]:
        """The tokens that the model puts behind a sequence of n tokens, and the answered tokens."""
        return (), self.answered

    def objects(self) -> tuple[Sequence[Any], Sequence[Any]] | None:
        """The tokens and the answers, if the model also takes and returns objects that they number.

        The result is None for a model whose tokens and answers are always integers.
        """
        return None

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        tokens: Any = inputs[0] if inputs else None
        if not getattr(tokens, "shape", ()):
            raise InputError(f"tokens are {shown(tokens)}: give an array of shape (…, T)")
        behind, answered = self.ends(tokens.shape[-1])
        ahead, behind = (
            xp.broadcast_to(
                xp.asarray(each, dtype=xp.int64, device=tokens.device),
                (*tokens.shape[:-1], len(each)),
            )
            for each in (self.prefix, behind)
        )
        return Prompt(xp.concat([ahead, tokens, behind], axis=-1), self.n_examples, answered)

    @checked
    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        if self.frequencies:
            (tokens,) = inputs
            counted = tokens.shape[-1] + len(self.prefix)
            outputs = outputs >= outputs.amax(-1, keepdim=True) - 0.5 / counted
        kind = torch.promote_types(outputs.dtype, torch.float32)
        answers = outputs.to(kind).argmax(-1)  # the first of equal logits
        return answers.where(answers < self.n_answers, -1)

    def all_inputs(self, most: int, causal: bool) -> Iterator[tuple[np.ndarray]] | None:
        n = self.length or self.max_length
        lengths = [n] if self.length or causal else range(self.least, n + 1)
        slots = self.slots or [range(self.vocabulary_size)] * n
        first = np.array([slot.start for slot in slots])
        rows = all_below([len(slot) for slot in slots], lengths, most)
        return None if rows is None else ((each + first[: each.shape[1]],) for each in rows)

    def generate(self, model: Model, tokens: Any, steps: int) -> Tensor:
        """Returns the result of `model.generate(tokens, steps)`: the next `steps` tokens.

        A causal model caches keys and values, so that a step takes time O(T). For one sequence, or
        long ones, and hardmax attention it caches only keys that can be attended
        (`constructions.decoding`): often a step then takes O(log T). Each step adds the same terms
        as a run on the whole sequence, in another order. If no partial sum is rounded
        (`exactness.exact_in`), as in hardmax attention without averages, answers and logits are
        those of this run. With averages or softmax, logits may differ in their last bits; answers
        are those of this run if the difference is below half the margin of the logits.
        """
        model = read(Model, "model", model)
        if self.length is not None:
            return super().generate(model, tokens, steps)
        if self.n_answers > self.vocabulary_size:
            raise InputError(
                f"{model.name} has {self.n_answers} answers but {self.vocabulary_size} "
                "tokens: give a model whose answers are tokens"
            )
        steps = read(Steps, "steps", steps)
        (sequence,) = self.check(model.like, tokens)
        given, ended = sequence.shape[-1], torch.zeros(sequence.shape[:-1], dtype=torch.bool)
        if given + steps - 1 > self.max_length:
            raise InputError(
                f"{given} tokens and {steps} steps need sequences of {given + steps - 1} tokens, "
                f"but the model takes at most {self.max_length}: give at most "
                f"{self.max_length - given + 1} steps, or {self._longer(given + steps - 1)}"
            )
        context = len(self.prefix) + given + max(steps - 1, 0)
        one_by_one = sequence.ndim == 1 or context >= ONE_BY_ONE
        if one_by_one and type(self).read is Tokens.read and not self.frequencies:
            pruned = model.pruned_decoder(context)
            if pruned is not None:
                return self._continued(pruned, sequence, steps)
        said = torch.full((*sequence.shape[:-1], steps), -1)
        sequence = torch.cat([sequence, sequence.new_zeros(said.shape)], dim=-1)
        decoder = model.decoder(ended.shape, context)
        following = self.write(torch, sequence[..., :given]).tokens
        for step in range(steps):
            known = sequence[..., : given + step]
            if decoder is None:
                answer = model(known)[..., -1].cpu()
            else:
                answer = self.read(decoder(following), known)[..., -1].cpu()
            ended |= answer < 0
            said[..., step] = answer.where(~ended, -1)
            if ended.all():
                break
            # ⊥ is not a token; all outputs after it are overwritten with −1.
            following = said[..., step : step + 1].clamp(min=0).to(sequence.device)
            sequence[..., given + step] = following[..., 0]
        return said

    def _continued(self, decoder: OneSequence, sequences: Tensor, steps: int) -> Tensor:
        """The next tokens (…, steps) of sequences (…, T), decoded one after the other."""
        rows = self.write(torch, sequences).tokens
        rows = rows.reshape(-1, rows.shape[-1])
        pace = Pace("decoding", len(rows) * (rows.shape[1] + steps))
        found = [self._next(decoder, row, steps, pace) for row in rows.tolist()]
        return torch.tensor(found, dtype=torch.int64).view(*sequences.shape[:-1], steps)

    def _next(self, decoder: OneSequence, row: list[int], steps: int, pace: Pace) -> list[int]:
        """The next tokens of one sequence, and −1 for all tokens after its end."""
        decoder.clear()
        for token in row:
            decoder.append(token)
            pace.done(1)
        said = list[int]()
        for _ in range(steps):
            if said:
                decoder.append(said[-1])
            answer = int(decoder.outputs().argmax())  # the first of equal logits
            if answer >= self.n_answers:
                break
            said.append(answer)
            pace.done(1)
        pace.total -= steps - len(said)
        return said + [-1] * (steps - len(said))


def in_front(model: Model) -> int:
    """Returns the number of tokens that a model over tokens puts in front, such as 1 for BOS.

    Raises ValueError for a model that is not over tokens.
    """
    if not isinstance(model.interface, Tokens):
        raise InputError(f"model is {model.name}: give a model over tokens")
    return len(model.interface.prefix)


def _in_place(tokens: np.ndarray, slots: Sequence[range]) -> None:
    """Raises ValueError for a token (…, T) outside the range of its position."""
    low, end = np.array([(slot.start, slot.stop) for slot in slots]).T
    if (astray := np.argwhere((tokens < low) | (tokens >= end))).size:
        *_, place = where = tuple(astray[0].tolist())
        raise InputError(
            f"token {tokens[where]} is at place {place + 1} of the sequence: at this "
            f"place, give a token from {low[place]} to {end[place] - 1}"
        )


def decode(
    stream: Stream,
    reading: LinearRead,
    codes: np.ndarray,
    bottom: float | None = None,
    bias: np.ndarray | None = None,
) -> Unembed:
    """Returns the unembedding with logits ⟨u, codes_v⟩ + bias_v for all tokens v.

    Here u is the vector that `reading` reads from the residual stream, and codes_v is row v of
    `codes`. If `bottom` is given, it is the logit of ⊥ (no answer), in a last column.
    """
    columns = codes.T.astype(np.float64)
    if bottom is not None:
        columns = np.pad(columns, ((0, 0), (0, 1)))
        bias = np.append(np.zeros(len(codes)) if bias is None else bias, bottom)
    return unembed(stream, reading @ Map(columns, "codes"), bias=bias)
