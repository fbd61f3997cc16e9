"""Interface of compiled programs: sequences of a vocabulary → values, None for "no value"."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from torch import Tensor

from constructions.interface import Model
from constructions.tokens import Tokens
from theory.kinds import InputError, read, shown
from theory.programs.values import Value, exact


class ProgramTokens(Tokens):
    """The interface of models that map sequences of a vocabulary to values.

    `model("abc")` returns the list of the values at all positions, and `model(["abc", "cba"])` the
    list of these lists; sequences in one call have one length.  A sequence is a text of tokens of
    one character, or a list or tuple of tokens.  Values are exact numbers or other objects; None
    stands for "no value".

    As for other models over tokens, an array (…, T) of integers, of numpy or torch, contains
    indices of `vocabulary`; the answers are then a tensor (…, T) of indices of `values`, −1 for
    None.

    The call raises ValueError for tokens outside the vocabulary, and for an empty or too long
    sequence.
    """

    def __init__(
        self,
        vocabulary: Sequence[Value],
        values: Sequence[Value],
        max_length: int,
        margin: float,
        averages: tuple[float, float],
    ) -> None:
        self.vocabulary, self.values = tuple(vocabulary), tuple(v for v in values if v is not None)
        super().__init__(
            len(self.vocabulary),
            max_length,
            prefix=(len(self.vocabulary),),
            labels=max(1, len(self.values)),
            bottom=None in values,
            margin=margin,
        )
        self.averages = averages
        self.number = {token: i for i, token in enumerate(self.vocabulary)}

    def check(self, like: Tensor, *inputs: Any) -> tuple[Any, ...]:
        """The indices of the tokens and, unless they were given, True: to return values."""
        if len(inputs) > 1:
            raise InputError(f"the model was given {len(inputs)} sequences: give a list of them")
        if inputs and not _is_array(inputs[0]):
            return self.indices(inputs[0]).to(like.device), True
        return super().check(like, *inputs)

    def objects(self) -> tuple[Sequence[Any], Sequence[Any]]:
        return self.vocabulary, self.values

    def read(self, outputs: Tensor, *inputs: Any) -> Any:
        answers = super().read(outputs, inputs[0])
        return self.decoded(answers) if len(inputs) == 2 else answers

    def generate(self, model: Model, tokens: Any, steps: int) -> Any:
        """The next `steps` tokens, each the value at the last token before; a list for a list.

        Decoding ends at the value None, which is no token: it fills the rest of the list.

        Raises ValueError for a program with a value that is not in the vocabulary.
        """
        model = read(Model, "model", model)
        if self.values != self.vocabulary:
            raise InputError(
                f"the values of {model.name} are not tokens of the vocabulary: give a program "
                "whose values are tokens"
            )
        if _is_array(tokens):
            return super().generate(model, tokens, steps)
        return self.decoded(super().generate(model, self.indices(tokens), steps))

    def indices(self, sequences: Any) -> Tensor:
        """The indices (T,) of a sequence of tokens, or (count, T) of a list of such sequences.

        Raises ValueError for tokens outside the vocabulary, and for wrong lengths.
        """
        if isinstance(sequences, np.ndarray):
            sequences = sequences.tolist()
        if not isinstance(sequences, Sequence):
            raise InputError(f"the sequence is {shown(sequences)}: give a list of tokens or a text")
        if not len(sequences):
            raise InputError("the sequence is empty: give at least one token")
        several = not self._is_token(sequences[0]) and not isinstance(sequences, str)
        several = several and isinstance(sequences[0], Sequence | np.ndarray)
        rows = [self._row(each) for each in (sequences if several else [sequences])]
        if len({len(row) for row in rows}) > 1:
            raise InputError("the sequences have different lengths: give sequences of one length")
        n = len(rows[0])
        if n > self.max_length:
            raise InputError(
                f"the sequence has {n} tokens, but the model takes at most {self.max_length}: "
                f"{self._longer(n)}"
            )
        return torch.tensor(rows if several else rows[0])

    def _row(self, sequence: Any) -> list[int]:
        if isinstance(sequence, np.ndarray):
            sequence = sequence.tolist()
        if not isinstance(sequence, Sequence):
            raise InputError(f"a sequence is {shown(sequence)}: give a list of tokens or a text")
        if not len(sequence):
            raise InputError("a sequence is empty: give at least one token")
        for token in sequence:
            if not self._is_token(token):
                raise InputError(
                    f"token {shown(token)} is not in the vocabulary: give tokens of "
                    f"{shown(list(self.vocabulary))}"
                )
        return [self.number[exact(token)] for token in sequence]

    def _is_token(self, token: Any) -> bool:
        try:
            return exact(token) in self.number
        except InputError:
            return False

    def decoded(self, answers: Tensor) -> Any:
        """The values, in lists as nested as the answers (…, T) of indices."""
        if answers.ndim > 1:
            return [self.decoded(each) for each in answers]
        return [None if i < 0 else self.values[i] for i in answers.tolist()]


def _is_array(tokens: Any) -> bool:
    """Whether it is an array of numbers, of torch or numpy."""
    return isinstance(tokens, Tensor) or (
        isinstance(tokens, np.ndarray) and tokens.dtype.kind in "biuf"
    )
