"""The interface of adders, from two numbers and "=" to their sum."""

from __future__ import annotations

from typing import Any

from constructions.interface import Prompt
from constructions.tokens import Tokens


class Sums(Tokens):
    """The interface from pairs (…, 2) of numbers below `vocabulary_size` to predictions (…, 1).

    The token "=", with index `vocabulary_size`, is appended to the two numbers, and the prediction
    is the candidate with the largest logit at "=".  If several candidates have the largest logit,
    the first of them is predicted.  Raises ValueError unless there are two such numbers.

    violated  how the parameters of the model violate a hypothesis of its theorem, with the remedy
    """

    def __init__(
        self, vocabulary_size: int, answers: int, margin: float | None, violated: str = ""
    ) -> None:
        super().__init__(vocabulary_size, 2, length=2, labels=answers, margin=margin)
        self.context, self.answered = 3, slice(2, 3)
        self.violated = violated

    def outside(self, *inputs: Any) -> str:
        return self.violated

    def write(self, xp: Any, *inputs: Any) -> Prompt:
        (numbers,) = inputs
        equals = xp.full_like(numbers[..., :1], self.vocabulary_size)
        return Prompt(xp.concat([numbers, equals], axis=-1), 0, self.answered)
